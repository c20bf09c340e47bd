"""The attacker's view of a release: published tables, assumed noise and knowledge from other sources.

The assumed noise gives a noise distribution for every true count and the cells that share their noise. It is either
known completely, or fitted to the disclosed parameters: a typical size and a vague bound. The first case is realistic,
since offices publish their settings, and secrecy of a method does not protect.

Other sources are public totals, a second release, a map of overlapping areas and a flexible query interface, which
returns a noisy count for a choice of categories. The map is a CSV file with a column per topic and a pair of areas per
line. Apart from public totals, the view gives no access to true counts.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.errors import DataFileError, InternalError, ParameterError, UnknownNameError
from discreet.limits import read_named
from discreet.noise.by_count import TransitionMatrix
from discreet.release.disclosed_noise import disclosed_noise
from discreet.tabulation.cell_vector import JointLayout, layouts, unit_layouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.equations.leverage import Equations
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.release.record import Record
    from discreet.release.release import Release
    from discreet.tabulation.cell_vector import CellVector

    Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class AssumedNoise(TransitionMatrix):
    """The noise distribution by true count that an attacker assumes.

    Attributes:
        shared: the cells that share one noise term, by `participants`, by `coordinates` or `nothing`.
        exactly: whether the distribution is known; False if it was fitted to disclosed parameters.
    """

    shared: str = "nothing"
    exactly: bool = True


def noise_from_record(record: Record) -> AssumedNoise:
    """Return the noise distribution of a record, for an attacker who knows everything except the keys."""
    if not record.is_exact and record.largest_variance > record.variance * (1 + 1e-9):
        raise ParameterError(
            "The privacy budget of this release is unequal: some counts have less noise than others. The attacks "
            "assume one noise distribution and would understate the risk. Attack a release with equal budgets.",
            parameter="budget",
        )
    return _believed(record.transition_matrix(), record.mechanism_class.same_noise_by if record.spsn else "nothing")


def noise_from_disclosure(disclosed: dict[str, Any]) -> AssumedNoise:
    """Return a noise distribution that fits the disclosed noise parameters of a release."""
    law = disclosed_noise(disclosed)
    if not law.variance:
        return _believed(law, "participants", exactly="typical_noise" not in disclosed)
    shared = "participants" if "cell keys" in str(disclosed.get("method")) else "coordinates"
    return _believed(law, shared if disclosed.get("same_count_same_noise") else "nothing", exactly=False)


def _believed(law: TransitionMatrix, shared: str, *, exactly: bool = True) -> AssumedNoise:
    return AssumedNoise(
        law.laws, law.variance, law.bound, law.repeat, law.non_negative, law.settings, shared=shared, exactly=exactly
    )


@dataclass(frozen=True)
class QueryInterface:
    """A flexible query interface: a noisy count for any choice of categories.

    Attributes:
        query: returns the noisy number of persons in the given categories.
        categories: the codes that can be queried; together they include every person of the attacked total.
        refusal: the exception that the interface raises when the limit of queries is reached.
    """

    query: Callable[[Sequence[str]], int]
    categories: tuple[str, ...]
    refusal: type[Exception] = PermissionError


PUBLIC_TOTALS = "the totals given as known are correct"
"""The assumption of attacks that use public totals."""
SAME_IN_EVERY_RELEASE = ("units", "leverages")
"""Kinds of cached values that depend on the programme and not on the noise."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackerKnowledge:
    """What an attacker knows in addition to the release.

    Attributes:
        noise: the noise distribution; None if the attacker knows only the disclosed parameters.
        known: true counts of whole statistics from public sources, by population and name of the statistic.
        other: a second release of nearly the same population.
        overlaps: the pairs of overlapping areas of two topics, from a map; codes of the finest levels.
        interface: a flexible query interface to the same persons.
    """

    noise: AssumedNoise | None = None
    known: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    other: AttackerView | None = None
    overlaps: Overlaps | None = None
    interface: QueryInterface | None = None


@dataclass(frozen=True)
class Overlaps:
    """Pairs of areas that overlap on the map: codes of the finest level of two topics."""

    topics: tuple[str, str]
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class PopulationCounts:
    """The published counts of one population.

    Attributes:
        layout: the order of the cells.
        published: the value of every cell; without SPSN the mean over the tables that contain it.
    """

    layout: CellVector
    published: Floats


@dataclass(frozen=True, eq=False)
class UnitView:
    """The published counts of one unit, all its universes together.

    Attributes:
        layout: the order of the cells.
        views: the populations of the unit, in the order of the cells.
    """

    layout: CellVector | JointLayout
    views: tuple[PopulationCounts, ...]

    @property
    def name(self) -> str:
        """Return the name of the unit."""
        return self.layout.name

    @property
    def equations(self) -> Equations:
        """Return the equations that relate the cells."""
        return self.layout.equations

    @property
    def statistic_of(self) -> NDArray[np.int32]:
        """Return the number of the statistic of every cell, numbered across all populations."""
        return self.layout.statistic_of

    @cached_property
    def published(self) -> Floats:
        """Return the value of every cell; without SPSN the mean over the tables that contain it."""
        return np.concatenate([view.published for view in self.views])

    @cached_property
    def pooled(self) -> Floats:
        """Return the same values, with the mean over all rows for a cell published in the rows of coarser cells."""
        if self.layout.spsn:
            return self.published
        _, first, unknown = np.unique(self.equations.unknowns, return_index=True, return_inverse=True)
        return self.published[first][unknown]

    @cached_property
    def noise_terms(self) -> Ints:
        """Return for every cell the number of noise terms that its published value averages."""
        own = [(view.layout.equations, view.layout.statistic_of) for view in self.views]
        return np.concatenate([equations.noise_term_counts[equations.statistics][number] for equations, number in own])

    def parts(self) -> Iterator[tuple[PopulationCounts, slice]]:
        """Yield every population and the slice of its cells."""
        start = 0
        for view in self.views:
            yield view, slice(start, start + view.layout.cells)
            start += view.layout.cells


@dataclass(frozen=True, eq=False)
class AttackerView:
    """The attacker's view of a release: published tables, disclosed noise and other knowledge.

    Attributes:
        programme: the published programme.
        disclosed: the noise parameters that the release discloses.
        read: returns a published table by its id.
        knowledge: the attacker's knowledge from other sources.
        targets: the target cells of attacks that work cell by cell, by population; None for all cells.
        seed: the seed of all random numbers.
        progress: called with the stage, the work done and the total work.
        simulated: whether the release is simulated; only estimates are then needed, no confidence.
    """

    programme: Programme
    disclosed: dict[str, Any]
    read: Callable[[str], pa.Table] = field(repr=False)
    knowledge: AttackerKnowledge = field(default_factory=AttackerKnowledge)
    targets: Mapping[str, Ints] | None = None
    seed: int = 0
    progress: Progress | None = None
    simulated: bool = False
    _kept: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def spsn(self) -> bool:
        """Return whether the same count has the same noise in every table."""
        return bool(self.disclosed.get("same_count_same_noise", True))

    @cached_property
    def noise(self) -> AssumedNoise:
        """Return the noise distribution that the attacker assumes."""
        return self.knowledge.noise or noise_from_disclosure(self.disclosed)

    @property
    def populations(self) -> tuple[str, ...]:
        """Return the populations, the one with most tables first."""
        return tuple(self.programme.populations)

    def view(self, population: str) -> PopulationCounts:
        """Return the published counts of a population; they are read once."""

        def seen() -> PopulationCounts:
            layout = layouts(self.programme, spsn=self.spsn)[population]
            return PopulationCounts(layout, layout.vector(self.read))

        return self.once("view", population, seen)

    def units(self) -> list[UnitView]:
        """Return the published counts by unit, with all universes of a unit together."""

        def seen(layout: CellVector | JointLayout) -> UnitView:
            own = layout.layouts if isinstance(layout, JointLayout) else (layout,)
            return UnitView(layout, tuple(self.view(each.name) for each in own))

        shown = self.once("units", "", lambda: unit_layouts(self.programme, spsn=self.spsn))
        return [self.once("unit", name, partial(seen, layout)) for name, layout in shown.items()]

    def once(self, what: str, population: str, make: Callable[[], Made]) -> Made:
        """Return a value that the attacks of one run share; compute it on first use."""
        if (what, population) not in self._kept:
            self._kept[what, population] = make()
        found: Made = self._kept[what, population]
        return found

    def views(self) -> list[PopulationCounts]:
        """Return the published counts of all populations."""
        return [self.view(population) for population in self.populations]

    def with_published(self, published: Mapping[str, Floats]) -> AttackerView:
        """Return the view of the same tables with other published values, given by population."""
        views = {("view", name): PopulationCounts(self.view(name).layout, values) for name, values in published.items()}
        kept = {key: value for key, value in self._kept.items() if key[0] in SAME_IN_EVERY_RELEASE}
        return replace(self, read=_no_tables, progress=None, simulated=True, _kept=kept | views)

    def random(self, *more: int) -> np.random.Generator:
        """Return a random generator that repeats in every run with this seed."""
        # The generator ignores trailing zeros; the length makes seeds of different lengths differ.
        return np.random.default_rng([self.seed, len(more), *more])


def _no_tables(table: str) -> pa.Table:
    raise InternalError(f"Table {table} was read from a simulated release, which has no tables.")


def attacker_view(release: Release, knowledge: AttackerKnowledge | None = None, *, seed: int = 0) -> AttackerView:
    """Return the attacker's view of a release."""
    return AttackerView(
        release.programme,
        release.description["noise"],
        release.table,
        knowledge or AttackerKnowledge(),
        seed=seed,
    )


EXAMPLE = "Give a CSV file with two columns, each named after a topic, e.g. GEO,GRID."


def read_overlaps(path: Path, programme: Programme) -> Overlaps:
    """Return the pairs of areas in a file; raise an error for topics or codes that the programme does not have."""
    try:
        text = read_named(path).decode("utf-8-sig")
        read = csv.reader(io.StringIO(text, newline=""))
        lines = {number: line for number, line in enumerate(read, start=1) if line}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is not a CSV file in UTF-8"
        raise DataFileError.at(path, f"cannot be read: {why}.", EXAMPLE) from error
    topics = lines.pop(min(lines), []) if lines else []
    if len(topics) != 2:
        raise DataFileError.at(path, "does not begin with the names of two topics.", EXAMPLE)
    for topic in topics:
        if topic not in programme.topics:
            raise UnknownNameError.among(f"topic in {path}", topic, programme.topics)
    known = [dict.fromkeys(programme.topics[topic].levels[-1].codes or ()) for topic in topics]
    for number, line in lines.items():
        if len(line) != 2:
            raise DataFileError.at(path, f"has {len(line)} values in line {number}.", EXAMPLE)
        for topic, code, codes in zip(topics, line, known, strict=True):
            if code not in codes:
                raise UnknownNameError.among(f"code of topic {topic} (line {number} of {path})", code, codes)
    first, second = topics
    return Overlaps((first, second), [(a, b) for a, b in lines.values()])
