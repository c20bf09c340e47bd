"""Published beside true counts: every noise once, the same cells as in the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.accuracy.table_pairs import TablePairs
from discreet.mechanisms.fresh import Fresh
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.release.true_tables import TrueTables
from tests.attacks.scenes import town_release

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.release.release import Release


@pytest.fixture(scope="module")
def shared(engine: Engine) -> Release:
    return town_release(engine=engine)


@pytest.fixture(scope="module")
def fresh(engine: Engine) -> Release:
    return town_release(Fresh(PTable.max_entropy(variance=2, bound=3), bits=SeededBits(1)), engine=engine)


def names(release: Release) -> list[tuple[str, str]]:
    return [(shown.population, shown.name) for table in TablePairs(release) for shown in table.statistics]


def test_with_shared_noise_a_statistic_is_looked_at_once(shared: Release) -> None:
    found = names(shared)
    assert len(found) == len(set(found))
    assert ("persons", "total") in found


def test_with_noise_of_its_own_a_statistic_is_looked_at_in_every_table(shared: Release, fresh: Release) -> None:
    once, always = names(shared), names(fresh)
    assert set(once) == set(always)
    shown_by = sum(all(b.total for b in table.breakdowns) for table in shared.programme.of("persons"))
    assert always.count(("persons", "total")) == shown_by > 1


def test_cells_are_those_of_the_tables(shared: Release) -> None:
    for table in TablePairs(shared, TrueTables(shared)):
        rows = shared.table(table.grid.plan.table.id).to_pylist()
        exact = shared.exact(table.grid.plan.table.id).to_pylist()
        for shown in table.statistics:
            kept = [table.grid.columns[number].name for number in shown.choice.kept]
            codes = [shown.codes(axis) for axis in range(len(kept))]
            for values, lines in ((shown.published, rows), (shown.true, exact)):
                assert values is not None
                among = [row for row in lines if all(row[n] in c for n, c in zip(kept, codes, strict=True))]
                # Columns that are summed over show the total, or the one category that is the total.
                others = [c for c in table.grid.columns if c.name not in kept]
                totals = {c.name: c.codes[c.levels[0].labels[0]] for c in others}
                among = [row for row in among if all(row[n] == code for n, code in totals.items())]
                assert values.sum() == sum(row["value"] for row in among)


def test_without_true_counts_there_are_none(shared: Release) -> None:
    side = TablePairs(shared)
    assert all(shown.true is None for table in side for shown in table.statistics)
    assert side.tables == len(list(side)) == len(shared.ids)


def test_the_finest_statistic_is_there_also_where_an_earlier_table_showed_it(shared: Release) -> None:
    first, second, *_ = TablePairs(shared, TrueTables(shared))
    assert first.finest.published.size == max(shown.published.size for shown in first.statistics)
    assert second.statistics == ()
    assert (second.finest.topics, second.finest.published.shape) == (("SEX", "GEO"), (2, 3))
    rows = {(row["SEX"], row["GEO.33"]): row["value"] for row in shared.table("2").to_pylist()}
    codes = [second.finest.codes(axis) for axis in range(2)]
    assert second.finest.published.tolist() == [[rows.get((sex, geo), 0) for geo in codes[1]] for sex in codes[0]]
