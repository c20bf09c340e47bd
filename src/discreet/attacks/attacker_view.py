"""The attacker's view of a release: published tables, assumed noise and knowledge from other sources.

The assumed noise gives a noise distribution for every true count and the cells that share their noise. It is either
known completely (offices publish their settings, and secrecy of a method does not protect), or fitted to what the
release discloses: a typical size and a vague bound.

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
    """The law of noise by true count as an attacker has it.

    Attributes:
        shared: `participants`, `coordinates` or `nothing`: which cells have one noise.
        exactly: whether the law is known, or made up from what a release tells.
    """

    shared: str = "nothing"
    exactly: bool = True


def belief_of(record: Record) -> AssumedNoise:
    """Return the whole law of a record, as an attacker knows it who knows all but the keys."""
    if not record.is_exact and record.largest_variance > record.variance * (1 + 1e-9):
        raise ParameterError(
            "This release spends its privacy budget unevenly: some counts have less noise than others. The attacks "
            "take all counts to have one law and would find less than there is. Attack one with an even budget.",
            parameter="budget",
        )
    return _believed(record.transition_matrix(), record.mechanism_class.same_noise_by if record.spsn else "nothing")


def belief_told(told: dict[str, Any]) -> AssumedNoise:
    """Return a law that fits what a release tells its users."""
    law = disclosed_noise(told)
    if not law.variance:
        return _believed(law, "participants", exactly="typical_noise" not in told)
    shared = "participants" if "cell keys" in str(told.get("method")) else "coordinates"
    return _believed(law, shared if told.get("same_count_same_noise") else "nothing", exactly=False)


def _believed(law: TransitionMatrix, shared: str, *, exactly: bool = True) -> AssumedNoise:
    return AssumedNoise(
        law.laws, law.variance, law.bound, law.repeat, law.non_negative, law.settings, shared=shared, exactly=exactly
    )


@dataclass(frozen=True)
class QueryInterface:
    """What can be asked.

    Attributes:
        query: returns the noisy number of persons in the categories that are named.
        categories: the codes that may be named; together they are everybody the attack is about.
        refusal: what it raises when it answers no more, because a limit of queries is reached.
    """

    query: Callable[[Sequence[str]], int]
    categories: tuple[str, ...]
    refusal: type[Exception] = PermissionError


PUBLIC_TOTALS = "the totals that are given as known are right"
"""What attacks that use them assume."""
SAME_IN_EVERY_RELEASE = ("units", "leverages")
"""What attacks keep that depends on the programme, not on the noise."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackerKnowledge:
    """What an attacker knows beside the release.

    Attributes:
        noise: the law of the noise; None if only what the release tells.
        known: true counts of whole statistics that are public elsewhere, by population and name of the statistic.
        other: a second release of nearly the same population.
        overlaps: which areas of one topic meet which of another, from a map: topics and pairs of their finest codes.
        interface: a flexible query interface to the same persons.
    """

    noise: AssumedNoise | None = None
    known: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    other: AttackerView | None = None
    overlaps: Overlaps | None = None
    interface: QueryInterface | None = None


@dataclass(frozen=True)
class Overlaps:
    """Pairs of areas that meet on the map: codes of the finest level of two topics."""

    topics: tuple[str, str]
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class PopulationCounts:
    """The published counts of one population.

    Attributes:
        layout: where each cell stands.
        published: the value of every cell; without SPSN the mean over the tables that show it.
    """

    layout: CellVector
    published: Floats


@dataclass(frozen=True, eq=False)
class UnitView:
    """The published counts of one unit, all its universes together.

    Attributes:
        layout: where each cell stands.
        views: its populations, whose cells follow each other.
    """

    layout: CellVector | JointLayout
    views: tuple[PopulationCounts, ...]

    @property
    def name(self) -> str:
        """Return what the unit is called."""
        return self.layout.name

    @property
    def equations(self) -> Equations:
        """Return the equations between all cells."""
        return self.layout.equations

    @property
    def statistic_of(self) -> NDArray[np.int32]:
        """Return for every cell the number of its statistic, counted through all populations."""
        return self.layout.statistic_of

    @cached_property
    def published(self) -> Floats:
        """Return the value of every cell; without SPSN the mean over the tables that show it."""
        return np.concatenate([view.published for view in self.views])

    @cached_property
    def pooled(self) -> Floats:
        """Return the same, but for a cell that tables show in the row of a coarser one the mean over all those rows."""
        if self.layout.spsn:
            return self.published
        _, first, unknown = np.unique(self.equations.unknowns, return_index=True, return_inverse=True)
        return self.published[first][unknown]

    @cached_property
    def noises(self) -> Ints:
        """Return for every cell how many noise terms its published value is the mean of."""
        own = [(view.layout.equations, view.layout.statistic_of) for view in self.views]
        return np.concatenate([equations.noises[equations.statistics][number] for equations, number in own])

    def parts(self) -> Iterator[tuple[PopulationCounts, slice]]:
        """Give every population and where its cells stand."""
        start = 0
        for view in self.views:
            yield view, slice(start, start + view.layout.cells)
            start += view.layout.cells


@dataclass(frozen=True, eq=False)
class AttackerView:
    """What an attacker sees.

    Attributes:
        programme: the programme as it was published.
        told: what the release tells of its noise.
        read: gives a published table by its id.
        knowledge: what she knows from elsewhere.
        targets: by population the cells that attacks estimate which work cell by cell; None for all cells.
        seed: of whatever it draws at random.
        tell: called with a stage, what is done and what there is to do.
        simulated: whether this is a simulated release: estimates count, confidence is not needed.
    """

    programme: Programme
    told: dict[str, Any]
    read: Callable[[str], pa.Table] = field(repr=False)
    knowledge: AttackerKnowledge = field(default_factory=AttackerKnowledge)
    targets: Mapping[str, Ints] | None = None
    seed: int = 0
    tell: Progress | None = None
    simulated: bool = False
    _kept: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def spsn(self) -> bool:
        """Say whether the same count has the same noise in every table."""
        return bool(self.told.get("same_count_same_noise", True))

    @cached_property
    def noise(self) -> AssumedNoise:
        """Return what she believes about the noise."""
        return self.knowledge.noise or belief_told(self.told)

    @property
    def populations(self) -> tuple[str, ...]:
        """Return what is counted, the population with most tables first."""
        return tuple(self.programme.populations)

    def view(self, population: str) -> PopulationCounts:
        """Return the published counts of a population, read once."""

        def seen() -> PopulationCounts:
            layout = layouts(self.programme, spsn=self.spsn)[population]
            return PopulationCounts(layout, layout.vector(self.read))

        return self.once("view", population, seen)

    def units(self) -> list[UnitView]:
        """Return the published counts unit by unit, all universes of one together."""

        def seen(layout: CellVector | JointLayout) -> UnitView:
            own = layout.layouts if isinstance(layout, JointLayout) else (layout,)
            return UnitView(layout, tuple(self.view(each.name) for each in own))

        shown = self.once("units", "", lambda: unit_layouts(self.programme, spsn=self.spsn))
        return [self.once("unit", name, partial(seen, layout)) for name, layout in shown.items()]

    def once(self, what: str, population: str, make: Callable[[], Made]) -> Made:
        """Return what attacks of one run share, made by the first of them that needs it."""
        if (what, population) not in self._kept:
            self._kept[what, population] = make()
        found: Made = self._kept[what, population]
        return found

    def views(self) -> list[PopulationCounts]:
        """Return the published counts of all populations."""
        return [self.view(population) for population in self.populations]

    def with_published(self, published: Mapping[str, Floats]) -> AttackerView:
        """Return what an attacker would see if the same tables had other published values, given by population."""
        views = {("view", name): PopulationCounts(self.view(name).layout, values) for name, values in published.items()}
        kept = {key: value for key, value in self._kept.items() if key[0] in SAME_IN_EVERY_RELEASE}
        return replace(self, read=_no_tables, tell=None, simulated=True, _kept=kept | views)

    def random(self, *more: int) -> np.random.Generator:
        """Return random numbers that are the same in every run with this seed."""
        # Trailing zeros say nothing to the generator: how many numbers there are does.
        return np.random.default_rng([self.seed, len(more), *more])


def _no_tables(table: str) -> pa.Table:
    raise InternalError(f"Table {table} was read from a simulated release, which has none.")


def sight_of(release: Release, knowledge: AttackerKnowledge | None = None, *, seed: int = 0) -> AttackerView:
    """Return what everybody sees of a release."""
    return AttackerView(
        release.programme,
        release.description["noise"],
        release.table,
        knowledge or AttackerKnowledge(),
        seed=seed,
    )


EXAMPLE = "Give a CSV with two columns, each named after a topic, as in GEO,GRID."


def read_overlaps(path: Path, programme: Programme) -> Overlaps:
    """Return the pairs of areas in a file, or refuse what the programme does not know."""
    try:
        text = read_named(path).decode("utf-8-sig")
        read = csv.reader(io.StringIO(text, newline=""))
        lines = {number: line for number, line in enumerate(read, start=1) if line}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no CSV in UTF-8"
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
