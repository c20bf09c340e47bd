"""Areas from lists that come with discreet, and from files.

`lau:by-sex` has the municipalities of Germany, Spain, Italy and Portugal with women and men, `lau:2016` all LAUs of the
EU-28 with totals alone; sources and licences stand in `lau/README.md`. `lau:2016:FR,BE` takes some countries of a list.
A file has the columns `area`, and `F` and `M`, or `T` alone; `name` and `country` may be there.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.areas import AreasError, title, with_sexes, with_simulated_sexes, with_totals
from discreet.errors import DataFileError, UnknownNameError
from discreet.sources.files import open_files
from discreet.sources.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from discreet.accuracy.areas import Areas

    Columns = dict[str, list[str | None]]

PREFIX = "lau:"
LISTS = {"by-sex": "by_sex.csv.gz", "2016": "edition_2016.csv.gz"}
"""The lists that come with discreet, and their files."""
NEEDED = "Areas need the columns area, and F and M (women, men) or T alone (residents); name and country are welcome."
GROUPS = ("country", "group")
WHOLE_NUMBER = re.compile(r"(-?[0-9]{1,15})(\.0*)?")


def load_areas(source: str | Path, *, seed: int = 0, female_share: float = 0.5) -> Areas:
    """Return the areas of a list that comes with discreet, or of a file.

    Args:
        source: `lau:by-sex` or `lau:2016`, with countries behind another colon if not all; or a CSV or Parquet file.
        seed: of the draw of sexes in `lau:2016`, which has totals alone; of a file with totals these alone are taken.
        female_share: the probability that a resident is a woman, for the same.

    >>> len(load_areas("lau:by-sex:DE"))
    11237
    """
    draw = partial(with_simulated_sexes, seed=seed, female_share=female_share)
    if isinstance(source, str) and source.startswith(PREFIX):
        return _listed(source, draw)
    return _from_file(Path(source))


def _listed(source: str, draw: Callable[..., Areas]) -> Areas:
    """Return a list that comes with discreet."""
    name, _, wanted = source.removeprefix(PREFIX).partition(":")
    if name not in LISTS:
        raise UnknownNameError.among("list of areas", source, [PREFIX + known for known in LISTS])
    text = gzip.decompress(files("discreet.accuracy").joinpath("lau", LISTS[name]).read_bytes()).decode()
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    codes, names = columns["area"], columns["name"]
    countries = [code.partition("_")[0] for code in codes]
    counts = {column: [int(number) for number in columns[column]] for column in "FMT" if column in columns}
    areas = (
        draw(codes, names, counts["T"], countries=countries, source=source)
        if "T" in counts
        else with_sexes(codes, female=counts["F"], male=counts["M"], names=names, countries=countries, source=source)
    )
    return _of_countries(areas, wanted) if wanted else areas


def _of_countries(areas: Areas, wanted: str) -> Areas:
    known = dict.fromkeys(areas.countries)
    countries = [country.strip().upper() for country in wanted.split(",")]
    for country in countries:
        if country not in known:
            raise UnknownNameError.among(f"country in {areas.source.rpartition(':')[0]}", country, known)
    return areas.of_countries(countries)


# --- Files of the user ---


def _from_file(path: Path) -> Areas:
    """Return the areas of a CSV or Parquet file."""
    opened = open_files([path])
    called = _called(opened.columns)
    counted = _count_columns(path.name, list(called), opened.columns)
    group = next((name for name in GROUPS if name in called), None)
    wanted = ["area", *counted, *(name for name in ("name", group) if name in called)]
    columns = _read(path, opened.batches([called[name] for name in wanted]), wanted)
    codes = _codes(path.name, columns["area"])
    names, countries = ([text or "" for text in columns.get(name or "", [])] for name in ("name", group))
    counts = {name: _whole(path.name, codes, names, columns[name], name) for name in counted}
    if "F" not in counts:
        return with_totals(
            codes, total=np.array(counts["T"], dtype=float), names=names, countries=countries, source=path.name
        )
    return with_sexes(
        codes,
        female=counts["F"],
        male=counts["M"],
        total=counts.get("T"),
        names=names,
        countries=countries,
        source=path.name,
    )


def _called(columns: Sequence[str]) -> dict[str, str]:
    """Return, by the names that are looked for, how a file calls its columns: with other blanks and in any case."""
    known = ("area", "F", "M", "T", "name", *GROUPS)
    plain = {column.strip().casefold(): column for column in reversed(columns)}
    return {name: plain[name.casefold()] for name in known if name.casefold() in plain}


def _count_columns(source: str, called: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the columns of counts that a file has, if they are enough."""
    by_sex = "F" in called or "M" in called
    for needed in ("area", "F", "M") if by_sex else ("area", "T"):
        if needed not in called:
            found = UnknownNameError.column(f"column of {source}", needed, columns)
            raise UnknownNameError(f"{found} {NEEDED}", name=needed, available=found.available)
    return [name for name in ("F", "M", "T") if name in called]


def _read(path: Path, batches: Iterator[pa.RecordBatch], asked: Sequence[str]) -> Columns:
    """Return columns as text, None for what is missing."""
    found: Columns = {name: [] for name in asked}
    for batch in batches:
        for name, values in zip(asked, batch.columns, strict=True):
            texts = as_text(values)
            if texts is None:
                what = f"has a column {name} whose values are neither text nor numbers."
                raise DataFileError.at(path, what, "Write it as text or whole numbers.")
            found[name] += texts.to_pylist()
    return found


def _codes(source: str, codes: list[str | None]) -> list[str]:
    for place, code in enumerate(codes):
        if not code:
            raise AreasError.at(source, place, "without a code", "cannot be told from others.", "Fill the column area.")
    return [code for code in codes if code]


def _whole(
    source: str, codes: Sequence[str], names: Sequence[str], texts: Sequence[str | None], column: str
) -> list[int | None]:
    """Return text as whole numbers, None for what is missing; the first area with anything else is named."""
    found: list[int | None] = []
    for place, text in enumerate(texts):
        number = WHOLE_NUMBER.fullmatch((text or "").strip())
        if text is not None and number is None:
            what = f"has something else than a whole number in column {column}."
            raise AreasError.at(source, place, title(codes, names, place), what, "Write counts with digits alone.")
        found.append(None if number is None else int(number[1]))
    return found
