"""Small scenes for tests of attacks: cells of table files by their codes, and towns published many times."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.attacks.attacker_view import (
    AttackerKnowledge,
    AttackerView,
    PopulationCounts,
    attacker_view,
    noise_from_record,
)
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release.record import Record
from discreet.tabulation.cell_vector import CellVector, layouts
from tests.protection.town import SECRET, TOWN, people
from tests.tabulation.small_data import by, in_universe, programme, topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AssumedNoise
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Breakdown, Level, Programme, Table
    from discreet.release.release import Release

Area = frozenset[str]
"""A category as the finest codes it holds."""
Cell = dict[str, Area]
"""A cell as its category of every topic."""
PTABLE = PTable.max_entropy(variance=2, bound=4)
BELIEF = noise_from_record(Record(programme="town", parameters={"variance": 2, "bound": 4}))


# --- Releases ---


def town_release(mechanism: Mechanism | None = None, *, engine: Engine | None = None, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    """Return a release of the town, in memory or in `out`, with its true counts."""
    used = mechanism or CellKey(PTABLE, secret=SECRET)
    settings = {"id": "ID" if used.needs_keys else None, "keep_exact": True, **how}
    given = settings.pop("programme", TOWN)
    return protect(settings.pop("data", people(300)), given, used, engine=engine, **settings)


def informed_attacker(release: Release, **more: Any) -> AttackerView:  # noqa: ANN401 - as in attacker_view
    """Return the view of an attacker who knows the noise distribution."""
    return attacker_view(release, AttackerKnowledge(noise=noise_from_record(release.record)), **more)


# --- Cells by their codes, the plainest way ---


def area(given: Programme, name: str, code: str) -> Area:
    """Return the finest codes of a topic inside a category; all of them for the total."""
    topic = given.topics[name]
    assert topic.tree
    finest = topic.levels[-1].codes or ()
    return frozenset(leaf for leaf in finest if code == "_T" or code in topic.tree.path(leaf))


def cells_by_hand(layout: CellVector) -> list[Cell]:
    """Return every cell of a layout, statistic by statistic and within one by the categories of its axes."""
    found = []
    for statistic in layout.equations.statistics.tolist():
        depths = layout.lattice.depths[statistic].tolist()
        codes = [
            axis.codes[depth - 1] if depth else ("_T",) for axis, depth in zip(layout.lattice.axes, depths, strict=True)
        ]
        for cell in product(*(listed or () for listed in codes)):
            named = dict(zip((axis.name for axis in layout.lattice.axes), cell, strict=True))
            found.append(
                {name: area(layout.programme, name, named.get(name, "_T")) for name in layout.programme.topics}
            )
    return found


def cell_codes(layout: CellVector, place: int) -> str:
    """Return what a cell is called: its topics with their codes."""
    statistic = int(layout.equations.statistics[layout.statistic_of[place]])
    inside = np.unravel_index(place - layout.equations.place(statistic), layout.equations.shape(statistic))
    words = []
    for axis, depth, at in zip(layout.lattice.axes, layout.lattice.depths[statistic].tolist(), inside, strict=True):
        codes = axis.codes[depth - 1] if depth else None
        if codes:
            words.append(f"{axis.name}={codes[int(at)]}")
    return " ".join(words) or "the total"


def vector_by_hand(layout: CellVector, read: Callable[[str], Mapping[tuple[str, ...], int]]) -> Floats:
    """Return the mean over the tables that show a cell's statistic, looked up code by code."""
    cells = cells_by_hand(layout)
    found = np.zeros(len(cells))
    for number in range(len(layout.names)):
        places = np.flatnonzero(layout.statistic_of == number)
        here = [cells[place] for place in places.tolist()]
        seen = [
            [read(table.id).get(row, 0) for row in rows]
            for table in layout.programme.tables
            if (rows := _rows(layout.programme, table, here)) is not None
        ]
        assert seen
        if layout.spsn:
            assert all(values == seen[0] for values in seen)
        found[places] = np.mean(seen, axis=0)
    return found


def _rows(given: Programme, table: Table, cells: Sequence[Cell]) -> list[tuple[str, ...]] | None:
    """Return the codes of every cell of a statistic in a table; None where the table does not show them all."""
    columns: list[dict[Area, str]] = []
    for breakdown in table.breakdowns:
        wanted = {cell[breakdown.topic] for cell in cells}
        codes = _codes_for(given, breakdown, wanted)
        if codes is None:
            return None
        columns.append(codes)
    shown = {breakdown.topic for breakdown in table.breakdowns}
    for name in given.topics:
        if name not in shown and any(cell[name] != area(given, name, "_T") for cell in cells):
            return None
    topics = [breakdown.topic for breakdown in table.breakdowns]
    return [tuple(codes[cell[name]] for name, codes in zip(topics, columns, strict=True)) for cell in cells]


def _codes_for(given: Programme, breakdown: Breakdown, wanted: set[Area]) -> dict[Area, str] | None:
    """Return the codes under which one partition stands in a column: those of its first level that is it."""
    if wanted == {area(given, breakdown.topic, "_T")} and (breakdown.total or not breakdown.levels):
        return {next(iter(wanted)): "_T"}
    for level in breakdown.levels:
        codes = {area(given, breakdown.topic, code): code for code in level.codes or ()}
        if set(codes) == wanted:
            return codes
    return None


def listed(table: Table) -> list[tuple[str, ...]]:
    """Return the codes of every row a table may have."""
    return list(product(*(_listed_codes(breakdown) for breakdown in table.breakdowns)))


def _listed_codes(breakdown: Breakdown) -> list[str]:
    total = ["_T"] if breakdown.total or not breakdown.levels else []
    levels: tuple[Level, ...] = breakdown.levels
    return list(dict.fromkeys([*total, *(code for level in levels for code in level.codes or ())]))


# --- A town published many times ---

GEO = topic("GEO", {"n": "", "s": "", "e": "", "n1": "n", "n2": "n", "s1": "s", "s2": "s", "s3": "s"})
AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y"})
SEX = topic("SEX", "F M")
HAMLET = programme([GEO, AGE, SEX], [by(GEO), by(SEX)], [by(AGE), by(GEO, 1, 1)], [by(SEX), by(AGE)])
"""Three areas, of which one is not split again, by sex and by age."""
SPARSE = programme([GEO, AGE, SEX], [by(GEO), by(AGE), by(SEX)])
"""The same three topics crossed: cells of few persons, and of none."""
LARGE = (25, 60)
SMALL = (0, 4)


def residents(sizes: tuple[int, int], seed: int = 1) -> pa.Table:
    """Return persons of the hamlet: a random number of them, between two sizes, in every finest cell."""
    random = np.random.default_rng(seed)
    finest = list(product(*(given.levels[-1].codes or () for given in (GEO, AGE, SEX))))
    times = random.integers(*sizes, len(finest))
    rows = [codes for codes, count in zip(finest, times.tolist(), strict=True) for _ in range(count)]
    geo, age, sex = zip(*rows, strict=True)
    return pa.table({"ID": [f"person {n}" for n in range(len(rows))], "GEO": geo, "AGE": age, "SEX": sex})


@dataclass(frozen=True, eq=False)
class Scene:
    """A town whose counts are published again and again, each time with new noise.

    Attributes:
        persons: the persons of the town.
        noise: the p-table.
        mechanism: what shares its noise, by the name of its mechanism in a record.
        given: the programme, of one population.
    """

    persons: pa.Table
    noise: PTable = PTABLE
    mechanism: str = "cell-key"
    given: Programme = field(default=HAMLET)

    @property
    def spsn(self) -> bool:
        return self.mechanism != "fresh"

    @cached_property
    def layout(self) -> CellVector:
        (found,) = layouts(self.given, spsn=self.spsn).values()
        return found

    @cached_property
    def record(self) -> Record:
        settings = self.noise.settings
        assert settings
        return Record(
            programme="hamlet",
            mechanism=self.mechanism,
            spsn=self.spsn,
            parameters={"variance": settings.variance, "bound": settings.bound},
        )

    @cached_property
    def belief(self) -> AssumedNoise:
        return noise_from_record(self.record)

    @cached_property
    def who(self) -> list[frozenset[int]]:
        """Return who is counted in every cell, by number."""
        people = self.persons.to_pylist()
        table = self.given.tables[0]
        those = [n for n, record in enumerate(people) if in_universe(self.given, table, record)]
        return [
            frozenset(n for n in those if all(people[n][name] in codes for name, codes in cell.items()))
            for cell in cells_by_hand(self.layout)
        ]

    @cached_property
    def counts(self) -> Ints:
        """Return the true counts."""
        return np.array([len(inside) for inside in self.who])

    @cached_property
    def groups(self) -> Ints:
        """Return a number for every cell, the same for cells with one noise."""
        areas = [tuple(cell.values()) for cell in cells_by_hand(self.layout)]
        keys: Sequence[object] = self.who if self.mechanism == "cell-key" else areas
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys])

    def publish(self, random: np.random.Generator) -> Floats:
        """Return one release: with SPSN one draw per group, else the mean of one draw per group and table."""
        times = self.layout.lattice.tables[self.layout.equations.statistics][self.layout.statistic_of]
        times = np.ones_like(times) if self.spsn else times
        draws = np.zeros(len(self.counts))
        for number in range(int(times.max())):
            words = random.integers(0, 2**64, self.groups.max() + 1, dtype=np.uint64)[self.groups]
            draws += np.where(number < times, self.noise.draw_words(self.counts, words), 0)
        return self.counts + draws / times

    def attacker(self, published: Floats, **knowledge: Any) -> AttackerView:  # noqa: ANN401 - as in Knowledge
        """Return what an attacker sees of one release."""
        known = AttackerKnowledge(**{"noise": self.belief, **knowledge})
        found = AttackerView(self.given, self.record.public(), _no_files, known)
        found.once("view", self.layout.name, lambda: PopulationCounts(self.layout, published))
        return found

    @property
    def truth(self) -> Truth:
        return KnownTruth(self.belief, {self.layout.name: self.counts})


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """True counts that are at hand."""

    noise: AssumedNoise
    by_population: Mapping[str, Ints]

    @property
    def bound(self) -> float:
        return self.noise.bound

    @property
    def other(self) -> Truth:
        raise NotImplementedError

    @property
    def answer(self) -> int:
        raise NotImplementedError

    def counts(self, population: str) -> Ints:
        return self.by_population[population]


def _no_files(table: str) -> pa.Table:
    raise AssertionError(f"table {table} was read")
