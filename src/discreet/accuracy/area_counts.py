"""True counts of residents by area and sex, from lists that ship with the package or from files.

Women (F), men (M) and the total (T) of every local administrative unit (LAU) are the basis of all tables on small areas
in the paper: three counts, each with its own noise. True counts are confidential.

`lau:by-sex` has the municipalities of Germany, Spain, Italy and Portugal by sex, `lau:2016` the LAUs of the EU-28 with
totals only, for which sexes are simulated; sources and licences: `lau/README.md`. `lau:2016:FR,BE` selects countries
of a list. A file has the column `area`, and `F` and `M`, or only `T`; `name` and `country` are optional.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DataFileError, InputError, ParameterError, UnknownNameError
from discreet.sources.column_values import as_text
from discreet.sources.data_files import open_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from discreet.arrays import Flags, Floats, Ints

    Given = ArrayLike | Sequence[int | None]
    Columns = dict[str, list[str | None]]

SEXES = ("women", "men", "total")
"""The three counts of an area, in storage order."""
COLUMNS = {"women": "female", "men": "male", "total": "total"}
SEX_STREAM = 1
"""The random stream of simulated sexes, independent of that of noise with the same seed."""
LARGEST = 2**53
"""The largest count that is exact as a floating-point number."""


class AreasError(InputError):
    """Invalid areas, with the first of them; the message never contains a count."""

    def __init__(self, message: str, *, area: str, record: int) -> None:
        super().__init__(message)
        self.area = area
        self.record = record

    @classmethod
    def at(cls, source: str, place: int, area: str, what: str, todo: str) -> AreasError:
        """Return the error for an area, given its position from 0 on."""
        return cls(f"{source}, record {place + 1:,}: area {area} {what} {todo}", area=area, record=place + 1)


@dataclass(frozen=True, eq=False)
class AreaCounts:
    """Disjoint areas with the numbers of women, men and all residents.

    Attributes:
        codes: the unique code of every area.
        female: the numbers of women; None if sexes are not available.
        male: the numbers of men; None if sexes are not available.
        total: the numbers of residents, the sum of both.
        names: the names of the areas; empty if unavailable.
        countries: the countries or other groups of the areas; empty if unavailable.
        source: the name of the list of areas in messages.
        simulated: whether the sexes were simulated.
        notes: assumptions to report with every figure based on these counts.
    """

    codes: tuple[str, ...]
    female: Ints | None
    male: Ints | None
    total: Ints
    names: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    source: str = "areas"
    simulated: bool = False
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"AreaCounts({self.source!r}, {len(self.codes):,} areas)"

    def __post_init__(self) -> None:
        for name in self.sexes:
            _check_length(self.source, self.codes, getattr(self, COLUMNS[name]), name)
        for name in ("names", "countries"):
            _check_length(self.source, self.codes, getattr(self, name) or self.codes, name)
        below = self.counts.min(axis=0, initial=0) < 0
        self._refuse(below, "has a negative count.", "Counts of residents must be 0 or more: correct it.")
        apart = self.counts[:-1].sum(axis=0) != self.total if self.has_sexes else np.zeros(len(self), dtype=bool)
        self._refuse(apart, "has women and men that do not sum to its total.", "Correct it, or leave the total out.")
        _check_different(self)
        if not self.total.any():
            raise InputError(f"{self.source}: all areas are empty. Give areas with counts above 0.")

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def has_sexes(self) -> bool:
        """Return whether women and men are available in addition to the total."""
        return self.female is not None and self.male is not None

    @property
    def sexes(self) -> tuple[str, ...]:
        """Return the names of the rows of `counts`: women, men, total, or only the total."""
        return SEXES if self.has_sexes else SEXES[-1:]

    @cached_property
    def counts(self) -> Ints:
        """Return women and men, if available, and totals, one row each."""
        return np.stack([getattr(self, COLUMNS[name]) for name in self.sexes])

    @property
    def unpopulated(self) -> int:
        """Return the number of areas without residents."""
        return int((self.total == 0).sum())

    def title(self, place: int) -> str:
        """Return code and name of an area."""
        return title(self.codes, self.names, place)

    @cached_property
    def populated(self) -> AreaCounts:
        """Return the areas with residents."""
        return self._where(self.total > 0)

    def of_countries(self, countries: Sequence[str]) -> AreaCounts:
        """Return the areas of some countries."""
        return self._where(np.isin(np.array(self.countries), list(countries)))

    def _where(self, chosen: Flags) -> AreaCounts:
        places = np.flatnonzero(chosen).tolist()
        return replace(
            self,
            codes=tuple(self.codes[place] for place in places),
            female=None if self.female is None else self.female[chosen],
            male=None if self.male is None else self.male[chosen],
            total=self.total[chosen],
            names=tuple(self.names[place] for place in places) if self.names else (),
            countries=tuple(self.countries[place] for place in places) if self.countries else (),
        )

    def _refuse(self, wrong: Flags, what: str, todo: str) -> None:
        if wrong.any():
            first = int(wrong.argmax())
            raise AreasError.at(self.source, first, self.title(first), what, todo)


def with_sexes(
    codes: Sequence[str],
    *,
    female: Given,
    male: Given,
    total: Given | None = None,
    names: Sequence[str] = (),
    countries: Sequence[str] = (),
    source: str = "areas",
) -> AreaCounts:
    """Return areas with counts of women and men; the total defaults to their sum.

    Counts may be floating-point, as in data frames, but must be whole numbers and not missing.

    >>> with_sexes(["A", "B"], female=[3, 0], male=[4, 0]).total.tolist()
    [7, 0]
    """
    women, men = (
        whole_counts(counts, codes, names, source, what)
        for counts, what in ((female, "number of women"), (male, "number of men"))
    )
    both = women + men if total is None else whole_counts(total, codes, names, source, "population")
    return AreaCounts(tuple(codes), women, men, both, tuple(names), tuple(countries), source)


def with_totals(
    codes: Sequence[str],
    *,
    total: ArrayLike,
    names: Sequence[str] = (),
    countries: Sequence[str] = (),
    source: str = "areas",
) -> AreaCounts:
    """Return areas with total residents only, without women and men."""
    both = whole_counts(total, codes, names, source, "population")
    return AreaCounts(tuple(codes), None, None, both, tuple(names), tuple(countries), source)


def with_simulated_sexes(
    codes: Sequence[str],
    names: Sequence[str],
    total: Given,
    seed: int = 0,
    *,
    female_share: float = 0.5,
    countries: Sequence[str] = (),
    source: str = "areas",
) -> AreaCounts:
    """Return areas with known totals and simulated sexes: every resident is a woman with the same probability.

    Args:
        codes: the code of every area.
        names: the names of the areas; may be empty.
        total: the numbers of residents.
        seed: the seed of the simulation.
        female_share: the probability that a resident is a woman.
        countries: the countries or other groups of the areas; may be empty.
        source: the name of the list of areas in messages.
    """
    if not 0 <= female_share <= 1:
        raise ParameterError.outside("simulated sexes", "female_share", female_share, "from 0 to 1", "0.48 to 0.53")
    both = whole_counts(total, codes, names, source, "population")
    # A negative total is set to 0 here; the check of all areas rejects it later, with its name.
    # A separate random stream: noise drawn with the same seed must not depend on the simulated sexes.
    women = np.random.default_rng([seed, SEX_STREAM]).binomial(np.maximum(both, 0), female_share).astype(np.int64)
    note = (
        f"sexes are simulated: every resident is independently a woman with probability {female_share:g} (seed "
        f"{seed}), so the numbers of women and men of an area are closer to each other than in reality"
    )
    return AreaCounts(
        tuple(codes), women, both - women, both, tuple(names), tuple(countries), source, simulated=True, notes=(note,)
    )


def whole_counts(values: Given, codes: Sequence[str], names: Sequence[str], source: str, what: str) -> Ints:
    """Return values as whole numbers; raise AreasError for the first area with a missing or fractional value."""
    given = np.atleast_1d(np.asarray(values))
    _check_length(source, codes, given, what)
    if given.dtype.kind in "iu":
        return given.astype(np.int64)
    try:
        numbers: Floats = given.astype(np.float64)
    except (TypeError, ValueError):
        # The error message of the library would contain the value.
        raise InputError(f"{source}: each {what} must be a whole number, not text.") from None
    wrong = np.isnan(numbers)
    if wrong.any():
        first = int(wrong.argmax())
        todo = "Add it (0 for an empty area), or leave the area out."
        raise AreasError.at(source, first, title(codes, names, first), f"has no {what}.", todo)
    wrong = (numbers != np.floor(numbers)) | (np.abs(numbers) > LARGEST)
    if wrong.any():
        first = int(wrong.argmax())
        what = f"has a {what} that is not a whole number."
        raise AreasError.at(source, first, title(codes, names, first), what, "Correct it.")
    return numbers.astype(np.int64)


def title(codes: Sequence[str], names: Sequence[str], place: int) -> str:
    """Return code and name of an area, or only the code if it has no name."""
    name = names[place] if names else ""
    return f"{codes[place]} ({name})" if name else codes[place]


def _check_length(source: str, codes: Sequence[str], values: Sequence[str] | NDArray[Any], what: str) -> None:
    """Raise InputError for a column of another length."""
    if len(values) != len(codes):
        raise InputError(
            f"{source}: {len(codes):,} codes, but {len(values):,} values of {what}. Give one value for every area."
        )


def _check_different(areas: AreaCounts) -> None:
    """Raise AreasError for a duplicate code."""
    seen: dict[str, int] = {}
    for place, code in enumerate(areas.codes):
        before = seen.setdefault(code, place)
        if before != place:
            what = f"already occurs in record {before + 1:,}."
            todo = "Give every area once; areas of different countries need different codes."
            raise AreasError.at(areas.source, place, areas.title(place), what, todo)


PREFIX = "lau:"
LISTS = {"by-sex": "by_sex.csv.gz", "2016": "edition_2016.csv.gz"}
"""The built-in lists and their files."""
NEEDED = "Required columns: area, and F and M (women, men) or T (residents). Optional: name, country."
GROUPS = ("country", "group")
WHOLE_NUMBER = re.compile(r"(-?[0-9]{1,15})(\.0*)?")


def load_areas(source: str | Path, *, seed: int = 0, female_share: float = 0.5) -> AreaCounts:
    """Return the areas of a built-in list or of a file.

    Args:
        source: `lau:by-sex` or `lau:2016`, optionally followed by a colon and countries; or a CSV or Parquet file.
        seed: the seed of the simulated sexes of `lau:2016`, which has totals only; sexes of a file are not simulated.
        female_share: the probability that a resident of `lau:2016` is a woman.

    >>> len(load_areas("lau:by-sex:DE"))
    11237
    """
    draw = partial(with_simulated_sexes, seed=seed, female_share=female_share)
    if isinstance(source, str) and source.startswith(PREFIX):
        return _listed(source, draw)
    return _from_file(Path(source))


def _listed(source: str, draw: Callable[..., AreaCounts]) -> AreaCounts:
    """Return a built-in list of areas."""
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


def _of_countries(areas: AreaCounts, wanted: str) -> AreaCounts:
    known = dict.fromkeys(areas.countries)
    countries = [country.strip().upper() for country in wanted.split(",")]
    for country in countries:
        if country not in known:
            raise UnknownNameError.among(f"country in {areas.source.rpartition(':')[0]}", country, known)
    return areas.of_countries(countries)


# --- User files ---


def _from_file(path: Path) -> AreaCounts:
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
    """Return the column names of a file by expected name, ignoring case and surrounding blanks."""
    known = ("area", "F", "M", "T", "name", *GROUPS)
    plain = {column.strip().casefold(): column for column in reversed(columns)}
    return {name: plain[name.casefold()] for name in known if name.casefold() in plain}


def _count_columns(source: str, called: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the count columns of a file; raise UnknownNameError if a required column is missing."""
    by_sex = "F" in called or "M" in called
    for needed in ("area", "F", "M") if by_sex else ("area", "T"):
        if needed not in called:
            found = UnknownNameError.column(f"column of {source}", needed, columns)
            raise UnknownNameError(f"{found} {NEEDED}", name=needed, available=found.available)
    return [name for name in ("F", "M", "T") if name in called]


def _read(path: Path, batches: Iterator[pa.RecordBatch], asked: Sequence[str]) -> Columns:
    """Return columns as text; None for missing values."""
    found: Columns = {name: [] for name in asked}
    for batch in batches:
        for name, values in zip(asked, batch.columns, strict=True):
            texts = as_text(values)
            if texts is None:
                what = f"has a column {name} with values that are neither text nor numbers."
                raise DataFileError.at(path, what, "Write it as text or whole numbers.")
            found[name] += texts.to_pylist()
    return found


def _codes(source: str, codes: list[str | None]) -> list[str]:
    for place, code in enumerate(codes):
        if not code:
            raise AreasError.at(source, place, "without a code", "cannot be identified.", "Fill the column area.")
    return [code for code in codes if code]


def _whole(
    source: str, codes: Sequence[str], names: Sequence[str], texts: Sequence[str | None], column: str
) -> list[int | None]:
    """Return text as whole numbers, None for missing values; raise AreasError for the first other value."""
    found: list[int | None] = []
    for place, text in enumerate(texts):
        number = WHOLE_NUMBER.fullmatch((text or "").strip())
        if text is not None and number is None:
            what = f"has a value that is not a whole number in column {column}."
            raise AreasError.at(source, place, title(codes, names, place), what, "Write counts with digits only.")
        found.append(None if number is None else int(number[1]))
    return found
