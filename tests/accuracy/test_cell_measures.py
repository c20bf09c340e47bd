"""Tables that go by are gathered and measured together, and every figure says how often a count was taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from discreet.accuracy.cell_errors import distances
from discreet.accuracy.count_pairs import pair_times
from discreet.accuracy.release_areas import AreaFinder
from discreet.accuracy.release_utility import CellTally
from discreet.accuracy.table_pairs import TablePairs
from discreet.mechanisms.coordinates import Coordinates
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release.true_tables import TrueTables
from tests.accuracy import by_hand
from tests.protection.town import SECRET
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.accuracy.release_utility import CellMeasures
    from discreet.engines.engine import Engine
    from discreet.programme.model import Programme
    from discreet.release.release import Release

    Publish = Callable[[Programme], Release]

GEO, SEX, JOB = topic("GEO", "n s w"), topic("SEX", "F M"), topic("JOB", "1 2")
CROSSED = programme([GEO, SEX, JOB], [by(GEO), by(SEX)], [by(SEX), by(JOB)])
PERSONS = [("n", "F", "1")] * 12 + [("n", "M", "1")] * 3 + [("s", "F", "2")] * 7 + [("s", "M", "1")] * 20


@pytest.fixture(scope="module")
def publish(engine: Engine) -> Publish:
    def run(given: Programme) -> Release:
        frame = pa.table(dict(zip(("GEO", "SEX", "JOB"), zip(*PERSONS, strict=True), strict=True)))
        noise = Coordinates(PTable.max_entropy(variance=2, bound=3), SECRET)
        return protect(frame, given, noise, keep_exact=True, engine=engine)

    return run


def gathered(release: Release, *, known: bool = True) -> tuple[CellTally, CellMeasures | None]:
    kept = CellTally(AreaFinder(release.programme))
    for table in TablePairs(release, TrueTables(release) if known else None):
        kept.take(table)
    return kept, kept.measured(kept.finder.found(), release.record.transition_matrix()) if known else None


def test_counts_of_all_tables_are_measured_together(publish: Publish) -> None:
    release = publish(CROSSED)
    kept, found = gathered(release)
    assert found
    pairs = by_hand.all_pairs(release)
    # The total and both sexes stand in both tables: 12 + 9 cells, 3 of them twice.
    assert len(pairs) == 18
    together = pair_times([pair.true for pair in pairs], [pair.published for pair in pairs])
    assert found.distances == distances(together)
    assert (found.zeros.occupied, found.zeros.empty) == (together.among(together.true > 0), 4)
    assert found.held.cells == found.zeros.occupied
    assert sum(each.cells for each in found.by_size.classes) == found.zeros.occupied
    assert [each.table for each in kept.gaps] == [each.table for each in found.apart] == ["1", "2"]


def test_two_way_statistics_are_named_with_their_tables(publish: Publish) -> None:
    _, found = gathered(publish(CROSSED))
    assert found
    assert [each.name for each in found.associations.tables] == ["1: GEO:1 SEX:1", "2: JOB:1 SEX:1"]


def test_areas_are_put_in_an_order(publish: Publish) -> None:
    release = publish(CROSSED)
    _, found = gathered(release)
    assert found
    assert found.ranks
    true, published = by_hand.area_counts(release, "GEO", ())
    there = (true[0] > 0) | (published[0] > 0)
    assert found.ranks.areas == there.sum() == 2
    assert found.ranks.moved == int(np.ptp(np.sign(np.diff(np.stack([true[0], published[0]])[:, there]))) > 0) * 2


def test_a_release_without_areas_or_crossings_has_no_such_figures(publish: Publish) -> None:
    _, found = gathered(publish(programme([GEO, SEX, JOB], [by(GEO), by(SEX, total=False)])))
    assert found
    assert found.ranks is None
    assert found.sections("so")["ranks"] == []
    _, alone = gathered(publish(programme([GEO, SEX, JOB], [by(SEX)])))
    assert alone
    assert alone.sections("so")["association"] == []
    assert alone.to_json()["association"] == []


def test_without_true_counts_gaps_are_gathered_all_the_same(publish: Publish) -> None:
    release = publish(CROSSED)
    without, _ = gathered(release, known=False)
    assert without.gaps == gathered(release)[0].gaps


def test_every_figure_says_how_often_a_count_was_taken(publish: Publish) -> None:
    _, found = gathered(publish(CROSSED))
    assert found
    sections = found.sections("taken so")
    assert list(sections) == ["counts", "zeros", "sizes", "tables", "ranks", "association", "interval"]
    for results in sections.values():
        assert results
        taken = {result.assumptions[0] for result in results if not result.name.startswith("expected")}
        assert taken == {"taken so"}
    assert list(json.loads(json.dumps(found.to_json()))) == ["distances", "by_size", "hellinger", "association"]
