"""What an attacker sees: published tables, what their release tells, and what she knows from elsewhere.

Nothing in here can be asked for a true count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.attacks.belief import belief_told
from discreet.errors import InternalError
from discreet.tabulation.layout import JointLayout, layouts, unit_layouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.attacks.belief import CountNoise
    from discreet.attacks.interface import Interface
    from discreet.equations.leverage import Equations
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.release.release import Release
    from discreet.tabulation.layout import Layout

    Made = TypeVar("Made")

PUBLIC_TOTALS = "the totals that are given as known are right"
"""What attacks that use them assume."""
SAME_IN_EVERY_RELEASE = ("units", "leverages")
"""What attacks keep that depends on the programme, not on the noise."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Knowledge:
    """What an attacker knows beside the release.

    Attributes:
        noise: the law of the noise; None if only what the release tells.
        known: true counts of whole statistics that are public elsewhere, by population and name of the statistic.
        other: a second release of nearly the same population.
        overlaps: which areas of one topic meet which of another, from a map: topics and pairs of their finest codes.
        interface: a flexible query interface to the same persons.
    """

    noise: CountNoise | None = None
    known: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    other: Sight | None = None
    overlaps: Overlaps | None = None
    interface: Interface | None = None


@dataclass(frozen=True)
class Overlaps:
    """Pairs of areas that meet on the map: codes of the finest level of two topics."""

    topics: tuple[str, str]
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class View:
    """The published counts of one population.

    Attributes:
        layout: where each cell stands.
        published: the value of every cell; without SPSN the mean over the tables that show it.
    """

    layout: Layout
    published: Floats


@dataclass(frozen=True, eq=False)
class UnitView:
    """The published counts of one unit, all its universes together.

    Attributes:
        layout: where each cell stands.
        views: its populations, whose cells follow each other.
    """

    layout: Layout | JointLayout
    views: tuple[View, ...]

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

    def parts(self) -> Iterator[tuple[View, slice]]:
        """Give every population and where its cells stand."""
        start = 0
        for view in self.views:
            yield view, slice(start, start + view.layout.cells)
            start += view.layout.cells


@dataclass(frozen=True, eq=False)
class Sight:
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
    knowledge: Knowledge = field(default_factory=Knowledge)
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
    def noise(self) -> CountNoise:
        """Return what she believes about the noise."""
        return self.knowledge.noise or belief_told(self.told)

    @property
    def populations(self) -> tuple[str, ...]:
        """Return what is counted, the population with most tables first."""
        return tuple(self.programme.populations)

    def view(self, population: str) -> View:
        """Return the published counts of a population, read once."""

        def seen() -> View:
            layout = layouts(self.programme, spsn=self.spsn)[population]
            return View(layout, layout.vector(self.read))

        return self.once("view", population, seen)

    def units(self) -> list[UnitView]:
        """Return the published counts unit by unit, all universes of one together."""

        def seen(layout: Layout | JointLayout) -> UnitView:
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

    def views(self) -> list[View]:
        """Return the published counts of all populations."""
        return [self.view(population) for population in self.populations]

    def with_published(self, published: Mapping[str, Floats]) -> Sight:
        """Return what an attacker would see if the same tables had other published values, given by population."""
        views = {("view", name): View(self.view(name).layout, values) for name, values in published.items()}
        kept = {key: value for key, value in self._kept.items() if key[0] in SAME_IN_EVERY_RELEASE}
        return replace(self, read=_no_tables, tell=None, simulated=True, _kept=kept | views)

    def random(self, *more: int) -> np.random.Generator:
        """Return random numbers that are the same in every run with this seed."""
        # Trailing zeros say nothing to the generator: how many numbers there are does.
        return np.random.default_rng([self.seed, len(more), *more])


def _no_tables(table: str) -> pa.Table:
    raise InternalError(f"Table {table} was read from a simulated release, which has none.")


def sight_of(release: Release, knowledge: Knowledge | None = None, *, seed: int = 0) -> Sight:
    """Return what everybody sees of a release."""
    return Sight(
        release.programme,
        release.description["noise"],
        release.table,
        knowledge or Knowledge(),
        seed=seed,
    )
