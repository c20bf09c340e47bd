"""Counting: every statistic equals a direct count, is counted once, and is forgotten when it is no longer needed."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import EngineError
from discreet.tabulation import cell_counts as cells_module
from discreet.tabulation import counting as tabulate_module
from discreet.tabulation.cell_counts import counts_of, keys_of, roll_up
from discreet.tabulation.counting import AHEAD, tabulate
from discreet.tabulation.plan import plan as plan_tables
from tests.each import each
from tests.quick import up_to
from tests.tabulation.small_data import by, cell_of, in_engine, programme, programmes, records, topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from discreet.engines.duckdb import DuckDB
    from discreet.engines.engine import Engine
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Programme
    from discreet.tabulation.cell_counts import Cells, Step
    from discreet.tabulation.plan import Plan
    from tests.tabulation.small_data import Record

KEY_SPACES = [2**32, 10**8, 256]
DENSE = {"dense": 20_000_000, "sparse": 2}
"""With more than two cells a statistic is kept sparse, and the engine sums it up."""


@dataclass
class Watched:
    """The shared engine, and every query it was asked."""

    engine: Engine
    asked: list[str] = field(default_factory=list)

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        self.engine.append(name, batch)

    def table(self, sql: str) -> pa.Table:
        self.asked.append(sql)
        return self.engine.table(sql)

    def drop(self, name: str) -> None:
        self.engine.drop(name)

    def close(self) -> None:
        raise AssertionError

    @property
    def from_records(self) -> list[str]:
        return [sql for sql in self.asked if "FROM micro" in sql]


def by_cell(cells: Cells) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return count and key of every occupied cell by its positions."""
    index, words = cells.occupied()
    assert (np.diff(index) > 0).all()
    where = zip(*np.unravel_index(index, cells.shape), strict=True) if cells.shape else [()] * len(index)
    places = [tuple(map(int, place)) for place in where]
    return dict(zip(places, zip(counts_of(words).tolist(), keys_of(words).tolist(), strict=True), strict=True))


def direct(
    spec: Programme, plan: Plan, statistic: Statistic, people: Sequence[Record], keys: Sequence[int], key_space: int
) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return the same, record by record."""
    places = [cell_of(spec, plan, statistic, record) for record in people]
    key: Counter[tuple[int, ...]] = Counter()
    for place, own in zip(places, keys, strict=True):
        key[place] += own
    return {place: (times, key[place] % key_space) for place, times in Counter(places).items()}


def sources(plan: Plan) -> dict[Statistic, Statistic]:
    """Return which maximal statistic every finest one must come from that no earlier table shows."""
    shown: set[Statistic] = set()
    found = {}
    for table in plan.tables:
        if table.base not in shown:
            above = [m for m in plan.maximal if all(a >= b for a, b in zip(m, table.base, strict=True))]
            found[table.base] = min(above, key=plan.size)
        shown |= set(table.statistics)
    return found


def everything(data: st.DataObject, key_space: int) -> tuple[Programme, Plan, list[Record], list[int]]:
    spec = data.draw(programmes(shuffled=True, universes=False, most=7))
    people = data.draw(records(spec))
    keys = data.draw(st.lists(st.integers(0, key_space - 1), min_size=len(people), max_size=len(people)))
    return spec, plan_tables(spec, spec.tables), people, keys


# --- Counts and keys ---


@each("key_space", KEY_SPACES, every=2)
@each("kept", DENSE)
@settings(max_examples=up_to(25))
@given(st.data())
def test_every_statistic_has_the_counts_and_keys_of_a_direct_count(
    kept: str, key_space: int, engine: DuckDB, data: st.DataObject
) -> None:
    spec, plan, people, keys = everything(data, key_space)
    found = in_engine(spec, plan, people, keys, key_space, engine=engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells_module, "DENSE_MOST", DENSE[kept])
        for counted in tabulate(plan, found):
            for statistic, cells in counted.cells.items():
                assert cells.shape == plan.shape(statistic)
                assert (cells.index is not None) == (plan.size(statistic) > DENSE[kept])
                assert by_cell(cells) == direct(spec, plan, statistic, people, keys, key_space)


def test_only_records_of_the_population_are_counted(engine: DuckDB) -> None:
    a, b = topic("A", "a0 a1"), topic("B", "b0 b1 b2")
    spec = programme([a, b], [by(a), by(b)])
    plan = plan_tables(spec, spec.tables)
    people = [{"A": f"a{n % 2}", "B": f"b{n % 3}"} for n in range(12)]
    keys = [7 * n for n in range(12)]
    for condition, chosen in (("number >= 5", range(5, 12)), ("number > 20", range(0)), (None, range(12))):
        found = in_engine(spec, plan, people, keys, 256, condition=condition, engine=engine)
        (counted,) = tabulate(plan, found)
        some, own = [people[n] for n in chosen], [keys[n] for n in chosen]
        for statistic, cells in counted.cells.items():
            assert by_cell(cells) == direct(spec, plan, statistic, some, own, 256)


def test_statistics_of_more_cells_than_32_bits_can_number(engine: DuckDB) -> None:
    wide = [topic(name, " ".join(f"{name}{number}" for number in range(2000))) for name in "XYZ"]
    spec = programme(wide, [by(given_topic) for given_topic in wide])
    plan = plan_tables(spec, spec.tables)
    places = [(0, 0, 0), (1999, 1999, 1999), (1999, 0, 1), (1999, 0, 1), (700, 1, 1999)]
    people = [dict(zip("XYZ", (f"X{x}", f"Y{y}", f"Z{z}"), strict=True)) for x, y, z in places]
    keys = [5, 6, 200, 100, 8]
    (counted,) = tabulate(plan, in_engine(spec, plan, people, keys, 256, engine=engine))
    assert plan.size((1, 1, 1)) > 2**32
    assert counted.cells[1, 1, 1].index is not None
    for statistic, cells in counted.cells.items():
        assert by_cell(cells) == direct(spec, plan, statistic, people, keys, 256)


def test_the_largest_keys_of_many_records_do_not_run_over(engine: DuckDB) -> None:
    a = topic("A", "a0 a1")
    spec = programme([a], [by(a)])
    plan = plan_tables(spec, spec.tables)
    people = [{"A": "a0"}] * 1000
    for key_space in KEY_SPACES:
        keys = [key_space - 1] * 1000
        (counted,) = tabulate(plan, in_engine(spec, plan, people, keys, key_space, engine=engine))
        assert by_cell(counted.cells[0,]) == {(): (1000, -1000 % key_space)}


# --- Each once ---


@settings(max_examples=up_to(25))
@given(st.data())
@pytest.mark.parametrize("kept", DENSE)
def test_nothing_is_computed_twice(kept: str, engine: DuckDB, data: st.DataObject) -> None:
    spec, plan, people, keys = everything(data, 256)
    watched, steps = Watched(engine), []

    def noted(cells: Cells, step: Step, key_space: int, where: Engine) -> Cells:
        steps.append(step)
        return roll_up(cells, step, key_space, where)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells_module, "DENSE_MOST", DENSE[kept])
        patch.setattr(tabulate_module, "roll_up", noted)
        seen = list(tabulate(plan, in_engine(spec, plan, people, keys, 256, engine=watched)))

    all_statistics = {statistic for table in plan.tables for statistic in table.statistics}
    # From records: the maximal tables, and nothing else.
    assert len(watched.from_records) == len(set(watched.from_records)) == len(plan.maximal)
    # From finer cells: one step for every other statistic, and for a contained table those down to its finest.
    taken = sources(plan)
    down = sum(sum(a != b for a, b in zip(base, source, strict=True)) for base, source in taken.items())
    assert len(steps) == len(all_statistics) - len(taken) + down
    # And given out once, by the first table that shows it.
    assert [counted.table for counted in seen] == list(plan.tables)
    before: set[Statistic] = set()
    for counted in seen:
        assert counted.new == [statistic for statistic in counted.table.statistics if statistic not in before]
        assert set(counted.cells) == set(counted.table.statistics)
        before |= set(counted.new)
    assert before == all_statistics


def test_a_table_contained_in_another_is_not_counted_from_records(engine: DuckDB) -> None:
    a, b = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"}), topic("B", "b0 b1")
    # Contained in the first, though not one of its margins; then one of its margins; both before and after it.
    part, margin, whole = [by(a, 1, 1), by(b)], [by(a)], [by(a, 2), by(b)]
    for tables in ([whole, part, margin], [part, margin, whole], [margin, whole, part]):
        spec = programme([a, b], *tables)
        plan = plan_tables(spec, spec.tables)
        watched = Watched(engine)
        records = in_engine(spec, plan, [{"A": "a00", "B": "b1"}], [5], 256, engine=watched)
        list(tabulate(plan, records))
        assert len(watched.from_records) == 1


def crossing() -> Programme:
    """Return tables of which the second and third are margins of the first, but would be summed from later ones.

    Those later ones are smaller than the first; were they counted on behalf of the second and third,
    the fourth would wait behind them for ever.
    """
    a, b, c, d, e = (
        topic(name, " ".join(f"{name}{n}" for n in range(size)))
        for name, size in zip("ABCDE", (5, 5, 2, 2, 2), strict=True)
    )
    return programme([a, b, c, d, e], [by(a), by(b)], [by(a)], [by(b)], [by(e)], [by(a), by(c)], [by(b), by(d)])


def test_a_margin_of_an_earlier_table_is_not_summed_from_a_later_one(engine: DuckDB) -> None:
    spec = crossing()
    plan = plan_tables(spec, spec.tables)
    people = [{name: f"{name}{n % 2}" for name in spec.topics} for n in range(4)]
    watched = Watched(engine)
    seen = list(tabulate(plan, in_engine(spec, plan, people, [1, 2, 3, 4], 256, engine=watched)))
    assert len(watched.from_records) == 4
    for counted in seen:
        for statistic, cells in counted.cells.items():
            assert by_cell(cells) == direct(spec, plan, statistic, people, [1, 2, 3, 4], 256)


# --- And no longer than needed ---


@settings(max_examples=up_to(25))
@given(st.data())
def test_what_no_later_table_needs_is_forgotten(engine: DuckDB, data: st.DataObject) -> None:
    check_forgotten(engine, *everything(data, 256))


def test_what_no_later_table_needs_is_forgotten_where_tables_cross(engine: DuckDB) -> None:
    spec = crossing()
    people = [{name: f"{name}0" for name in spec.topics}]
    check_forgotten(engine, spec, plan_tables(spec, spec.tables), people, [1])


def check_forgotten(engine: DuckDB, spec: Programme, plan: Plan, people: list[Record], keys: list[int]) -> None:
    taken, shown_last, needed_last = sources(plan), {}, {}
    for number, table in enumerate(plan.tables):
        shown_last.update(dict.fromkeys(table.statistics, number))
        needed_last.update(dict.fromkeys(table.statistics, number))
        if table.base in taken:
            needed_last[taken.pop(table.base)] = number
    kept: dict[Statistic, weakref.ref[Cells]] = {}
    run = tabulate(plan, in_engine(spec, plan, people, keys, 256, engine=engine))
    for number in range(len(plan.tables)):
        counted = next(run)
        assert sorted(counted.last) == sorted(s for s, last in shown_last.items() if last == number)
        kept.update({statistic: weakref.ref(cells) for statistic, cells in counted.cells.items()})
        del counted
        alive = {statistic for statistic, cells in kept.items() if cells() is not None}
        assert alive <= {statistic for statistic, last in needed_last.items() if last >= number}
    with pytest.raises(StopIteration):
        next(run)
    assert not any(cells() for cells in kept.values())


def test_the_engine_is_not_far_ahead_of_who_takes_the_tables(engine: DuckDB) -> None:
    given_topics = [topic(f"T{n}", "x y") for n in range(6)]
    spec = programme(given_topics, *[[by(given)] for given in given_topics])
    plan = plan_tables(spec, spec.tables)
    watched = Watched(engine)
    people = [{given.name: "x" for given in given_topics}]
    run = tabulate(plan, in_engine(spec, plan, people, [1], 256, engine=watched))
    for number in range(1, 7):
        next(run)
        assert number <= len(watched.from_records) <= number + AHEAD


# --- When the engine fails ---


@dataclass
class Failing(Watched):
    """An engine that fails at one query."""

    at: int = 0

    def table(self, sql: str) -> pa.Table:
        if len(self.asked) == self.at:
            raise EngineError.refused("a query", MemoryError())
        return super().table(sql)


def within(seconds: float, action: Callable[[], object]) -> object:
    """Do something in another thread, and fail if it takes too long."""
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        return pool.submit(action).result(seconds)
    finally:
        pool.shutdown(wait=False)


@each("at", range(4))
def test_an_error_of_the_engine_surfaces_and_nothing_hangs(at: int, engine: DuckDB) -> None:
    spec = crossing()
    plan = plan_tables(spec, spec.tables)
    people = [{name: f"{name}0" for name in spec.topics}]
    watched = Failing(engine, at=at)
    found = in_engine(spec, plan, people, [1], 256, engine=watched)
    seen: list[object] = []

    def run() -> None:
        seen.extend(tabulate(plan, found))

    with pytest.raises(EngineError, match="The engine stopped at a query: MemoryError"):
        within(60, run)
    assert len(seen) < len(plan.tables)


def test_whoever_stops_early_does_not_wait_for_ever(engine: DuckDB) -> None:
    spec = crossing()
    plan = plan_tables(spec, spec.tables)
    found = in_engine(spec, plan, [{name: f"{name}0" for name in spec.topics}], [1], 256, engine=engine)

    def run() -> object:
        tables = tabulate(plan, found)
        first = next(tables)
        assert isinstance(tables, Generator)
        tables.close()
        return first

    assert within(60, run)
