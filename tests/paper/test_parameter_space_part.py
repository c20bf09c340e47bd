"""The edges of the final figure are the closed formulas, strict and relaxed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from discreet.paper.parameter_space_part import ConstraintReading, numbers, programme_space, published_space
from discreet.risk.bound_disclosure import disclosure_at

if TYPE_CHECKING:
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.paper_inputs import Sources


@pytest.fixture(scope="module")
def readings() -> tuple[ConstraintReading, ConstraintReading]:
    space = published_space()
    return space.strict, space.relaxed


@pytest.mark.slow
def test_averaging_is_a_quarter_over_the_ratio(readings: tuple[ConstraintReading, ConstraintReading]) -> None:
    for reading, ratio in zip(readings, (0.0867, 0.112), strict=True):
        # z of 0.6827 is 1 to four digits.
        assert reading.plane.needed == pytest.approx(0.25 / ratio, rel=1e-4)


@pytest.mark.slow
def test_epsilon_is_limited_by_both_formulas(readings: tuple[ConstraintReading, ConstraintReading]) -> None:
    for reading, ratio, areas in zip(readings, (0.0118, 0.0170), (37_000, 68), strict=True):
        assert reading.line.high == pytest.approx(math.sqrt(8 * ratio), rel=1e-4)
        assert reading.line.low == pytest.approx(math.log(areas / 0.32) / 20)
        assert reading.errors([0.5])[0] == pytest.approx(math.log(areas / 0.32) / 0.5)
    assert not readings[0].line.feasible
    assert [round(end, 2) for end in (readings[1].line.low, readings[1].line.high)] == [0.27, 0.37]


@pytest.mark.slow
def test_the_upper_edge_is_where_the_sets_begin_to_suffice(
    readings: tuple[ConstraintReading, ConstraintReading],
) -> None:
    for reading in readings:
        for row in reading.plane.rows[4::2]:
            assert not disclosure_at(row.high, row.bound, tuples=reading.tuples).inferable
            assert disclosure_at(row.high * (1 + 1e-6), row.bound, tuples=reading.tuples).inferable


@pytest.mark.slow
def test_strictly_the_region_begins_at_seven_and_relaxed_at_five(
    readings: tuple[ConstraintReading, ConstraintReading],
) -> None:
    strict, relaxed = (reading.plane.feasible for reading in readings)
    assert [row.bound for row in strict] == [7, 8, 9, 10]
    assert relaxed[0].bound == 5
    # The bounds of 5 and 6 fail because Germany has too many sets.
    assert [round(readings[0].plane.at(bound).high, 2) for bound in (5, 6)] == [1.82, 2.84]


@pytest.mark.slow
def test_each_attacker_is_told_by_the_constraints(readings: tuple[ConstraintReading, ConstraintReading]) -> None:
    averages = [each for each in readings[0].constraints if each.name == "averaging"]
    assert len(averages) == 2
    assert all(each.reason.startswith("the paper's averaging attack") for each in averages)
    optimal = ConstraintReading("strict", 0.0124, 47_000_000, 0.0014, "France", "optimal")
    assert all("the optimal linear attack" in each.reason for each in optimal.constraints if each.name == "averaging")


@pytest.fixture(scope="module")
def found(sources: Sources) -> dict[str, NumberComparison]:
    return {each.id: each for each in numbers(sources)}


@pytest.mark.slow
def test_the_window_has_both_ends_of_one_reading(
    found: dict[str, NumberComparison], readings: tuple[ConstraintReading, ConstraintReading]
) -> None:
    ends = [math.log(68 / 0.32) / 20, math.sqrt(8 * 0.0170)]
    assert found["window-middle"].ours == pytest.approx(sum(ends) / 2, rel=1e-4)
    assert "both relaxed" in found["window-middle"].note
    assert not readings[0].line.feasible


@pytest.mark.slow
def test_the_band_has_averaging_below_and_areas_above(found: dict[str, NumberComparison]) -> None:
    assert found["band-least"].ours == pytest.approx(math.sqrt(8 * 0.0118), rel=1e-4)
    assert found["band-most"].ours == pytest.approx(math.log(1000 / 0.32) / 20)
    assert found["band-least"].agrees
    assert found["band-most"].agrees


@pytest.mark.slow
def test_the_programme_is_compared_with_levels_of_one_category_kept(
    sources: Sources, found: dict[str, NumberComparison]
) -> None:
    kept, merged = (programme_space(sources, "flat", "paper", keep_single=keep).strict for keep in (True, False))
    assert kept.ratio < merged.ratio
    assert found["variance-range/flat"].ours == kept.plane.needed
    assert "levels of one category kept" in found["variance-range/flat"].note
    ratios = sorted(
        {
            name: min(
                dict(zip(counted.names, counted.greedy.tolist(), strict=True))[name]
                for counted in (sources.averaging(c, "flat", spsn=False, keep_single=True) for c in ("MT", "IE"))
            )
            for name in sources.averaging("MT", "flat", spsn=False, keep_single=True).names
        }.values()
    )
    assert found["window-most/flat"].ours == pytest.approx(math.sqrt(8 * ratios[1]), rel=1e-4)


@pytest.mark.slow
def test_the_optimal_attacker_leaves_less(sources: Sources) -> None:
    paper, optimal = (
        programme_space(sources, "flat", attacker, keep_single=False) for attacker in ("paper", "optimal")
    )
    assert optimal.strict.plane.needed > paper.strict.plane.needed
    for mine, hers in zip(paper.strict.plane.rows, optimal.strict.plane.rows, strict=True):
        # Limits are found to nine digits.
        assert hers.high <= mine.high * (1 + 1e-8)
    assert optimal.strict.line.high < paper.strict.line.high
