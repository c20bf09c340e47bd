"""A programme by its name: a TOML file, an SDMX definition, or one that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import UnknownNameError
from discreet.programme.eu2021.census import census_named, countries
from discreet.programme.eu2021.grid import grid
from discreet.programme.sdmx_definition import programme_from_dsd
from discreet.programme.toml_file import read_programme

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.programme.model import Programme

SHIPPED: dict[str, Callable[[str], Programme]] = {"eu2021": census_named, "grid2021": grid}
"""Programmes that come with the package, by prefix; what follows the colon is a country."""


def load_programme(spec: str | Path) -> Programme:
    """Return a programme from `eu2021:LU` (a shipped one for a country) or from the path of a TOML file.

    The prefix `sdmx:` reads a data structure definition in SDMX-ML: `sdmx:town.xml`.
    Other vintages of the areas: `eu2021:LU:nuts2016:lau2010`. The grid: `grid2021:LU:2500` with its number of cells.

    >>> len(load_programme("eu2021:LU").tables)
    119
    """
    prefix, colon, country = str(spec).partition(":")
    # A single letter before the colon is a drive, not a programme.
    if colon and len(prefix) > 1 and not Path(spec).exists():
        if prefix == "sdmx":
            return programme_from_dsd(country)
        if prefix not in SHIPPED:
            raise UnknownNameError.among("shipped programme", prefix, [*SHIPPED, "sdmx"])
        code = country.partition(":")[0]
        if code not in countries():
            raise UnknownNameError.among(f"country for {prefix}", code, countries())
        return SHIPPED[prefix](country)
    return read_programme(Path(spec))
