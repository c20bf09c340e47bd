"""How many residents the LAUs of a country really have, from Eurostat's list."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Ints
    from discreet.synthetic.randomness import Draws


def lau_sizes(country: str, areas: Sequence[str], draws: Draws) -> Ints:
    """Return the residents of each area; one that the list lacks is as large as another area drawn at random."""
    known = _listed(country)
    sizes = np.array([known.get(area, -1) for area in areas], dtype=np.int64)
    lacking, others = np.flatnonzero(sizes < 0), sizes[sizes >= 0]
    sizes[lacking] = others[draws.below(len(others), len(lacking))]
    return sizes


def _listed(country: str) -> dict[str, int]:
    """Return the residents of the areas of a country that the list has."""
    data = files("discreet.synthetic").joinpath("lau_sizes.csv.gz").read_bytes()
    lines = gzip.decompress(data).decode().splitlines()
    rows = (line.split(",") for line in lines if line.startswith(f"{country}_"))
    return {area: int(residents) for area, residents in rows}
