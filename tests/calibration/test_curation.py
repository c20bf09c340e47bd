"""Curation: every cut against the programme built without it, and the order in which cuts are taken."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.calibration.constraints import ATTACKERS, OPTIMAL, PAPER
from discreet.calibration.curation import BREAKDOWN, TABLE, Curation, Cut, curate, output_of
from discreet.programme.eu2021.census import census
from discreet.programme.lattice import RULES, lattice
from discreet.risk.averaging import averaging, variance_needed
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.calibration.curation import CuttableOutput
    from discreet.programme.model import Breakdown, Programme

CONFIDENCE = 0.6827
SMALL = programme([("A", "B"), ("A.1", "C"), ("B.1",)], {"A": (2, 6), "B": (3, 12), "C": (4,)})
CENSUS = census("LU")
SOME = ("1.1", "13.4", "21.5", "31.3")
"""Tables of the census: a small one, a large one, and two that greedy cuts begin with."""


def plainly(made: Programme, rule: str, attacker: str, known: str | None = None) -> tuple[float, float]:
    """Return the smallest ratio of a programme and its cells, without any short cut."""
    found = lattice(made, rule)
    ratios = averaging(found, known=known)
    ratio = ratios.greedy if attacker == PAPER else ratios.optimal
    return float(ratio[ratio > 0].min()), float(found.cells[found.published].sum())


def without_table(made: Programme, name: str) -> Programme:
    return replace(made, tables=tuple(table for table in made.tables if table.id != name))


def coarsened(made: Programme, code: str, rule: str) -> Programme:
    """Return the programme with the finest level of one breakdown taken off; a flat breakdown has no other."""

    def cut(breakdown: Breakdown) -> tuple[Breakdown, ...]:
        if breakdown.code != code:
            return (breakdown,)
        coarser = () if rule == "flat" else breakdown.levels[:-1]
        return (replace(breakdown, levels=coarser),) if coarser else ()

    tables = (
        replace(table, breakdowns=tuple(b for each in table.breakdowns for b in cut(each))) for table in made.tables
    )
    return replace(made, tables=tuple(tables))


def swiftly(left: CuttableOutput, attacker: str, known: str | None = None) -> tuple[float, float]:
    return left.worst(attacker, known)[0], float(left.cells)


def run(made: Programme, *, rule: str = "levels", steps: int = 4, least: float = 0.0, **how: object) -> Curation:
    """Return the cuts of a programme; something is left from the variance `least` down."""
    given = {"attacker": OPTIMAL, "known": None, "confidence": CONFIDENCE, **how}
    return curate(
        output_of(made, rule=rule, population=None),
        steps=steps,
        accepts=lambda _, variance: variance <= least,
        **given,  # type: ignore[arg-type]
    )


# --- One cut ---


@given(programmes(), st.sampled_from(RULES), st.sampled_from(ATTACKERS), st.data())
@settings(max_examples=up_to(60), deadline=None)
def test_leaving_out_a_table_is_the_programme_without_it(
    made: Programme, rule: str, attacker: str, data: st.DataObject
) -> None:
    output = output_of(made, rule=rule, population=None)
    assert swiftly(output, attacker) == pytest.approx(plainly(made, rule, attacker))
    first, *others = data.draw(st.permutations([table.id for table in made.tables]))
    if others:
        left, fewer = output.without_table(first), without_table(made, first)
        assert swiftly(left, attacker) == pytest.approx(plainly(fewer, rule, attacker))
        # And another one after it.
        if others[1:]:
            left, fewer = left.without_table(others[0]), without_table(fewer, others[0])
            assert swiftly(left, attacker) == pytest.approx(plainly(fewer, rule, attacker))


@given(programmes(), st.sampled_from(RULES), st.sampled_from(ATTACKERS), st.data())
@settings(max_examples=up_to(60), deadline=None)
def test_coarsening_is_the_programme_with_coarser_breakdowns(
    made: Programme, rule: str, attacker: str, data: st.DataObject
) -> None:
    output, codes = output_of(made, rule=rule, population=None), list(made.breakdowns)
    code = data.draw(st.sampled_from(codes))
    left, coarser = output.coarsened(code), coarsened(made, code, rule)
    assert swiftly(left, attacker) == pytest.approx(plainly(coarser, rule, attacker))
    other = data.draw(st.sampled_from(codes))
    if left.used[other][2]:
        again, coarser = left.coarsened(other), coarsened(coarser, other, rule)
        assert swiftly(again, attacker) == pytest.approx(plainly(coarser, rule, attacker))


@pytest.mark.slow
@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.parametrize("rule", RULES)
def test_cuts_of_the_census_are_those_of_the_census_without_them(rule: str, attacker: str) -> None:
    output = output_of(CENSUS, rule=rule, population=None)
    for name in SOME:
        assert swiftly(output.without_table(name), attacker) == pytest.approx(
            plainly(without_table(CENSUS, name), rule, attacker)
        )
    for code in ("AGE.M", "YAT"):
        assert swiftly(output.coarsened(code), attacker) == pytest.approx(
            plainly(coarsened(CENSUS, code, rule), rule, attacker)
        )


@pytest.mark.parametrize("attacker", ATTACKERS)
def test_the_most_exposed_statistic_is_the_one_with_that_ratio(attacker: str) -> None:
    output = output_of(CENSUS, rule="levels", population=None)
    ratio, name = output.worst(attacker, None)
    found = averaging(output.lattice)
    kind = found.greedy if attacker == PAPER else found.optimal
    assert kind[found.names.index(name)] == pytest.approx(ratio)
    assert ratio == pytest.approx(kind.min())


def test_a_breakdown_without_a_total_goes_with_its_tables() -> None:
    """A breakdown without its only level has no total instead, and a cut adds no statistic."""
    first, second = SMALL.tables[1:]
    by_area = replace(first, breakdowns=(first.breakdowns[0], replace(first.breakdowns[1], total=False)))
    made = replace(SMALL, tables=(by_area, second))
    left = output_of(made, rule="levels", population=None).coarsened("C")
    assert list(left.tables) == [second.id]
    assert swiftly(left, OPTIMAL) == pytest.approx(plainly(replace(made, tables=(second,)), "levels", OPTIMAL))


def test_a_breakdown_is_coarsened_level_by_level_and_then_left_out() -> None:
    output = output_of(SMALL, rule="levels", population=None)
    words = {(kind, name): said for kind, name, said, _ in output.cuts()}
    assert words[TABLE, "2"] == "omit table 2"
    assert words[BREAKDOWN, "A"] == "remove the finest level, A2, of breakdown A"
    assert words[BREAKDOWN, "C"] == "omit breakdown C"
    once = output.coarsened("A")
    assert {name: said for kind, name, said, _ in once.cuts() if kind == BREAKDOWN}["A"] == "omit breakdown A"
    assert "A" not in [name for _, name, _, _ in once.coarsened("A").cuts()]
    # It is the breakdown that is cut, not the topic: the other table has the first level still.
    left = once.coarsened("A").lattice
    assert set(left.depths[left.published][:, 0].tolist()) == {0, 1}


# --- All cuts ---


@given(programmes(), st.sampled_from(RULES), st.sampled_from(ATTACKERS))
@settings(max_examples=up_to(30), deadline=None)
def test_every_cut_costs_cells_and_none_leaves_nothing(made: Programme, rule: str, attacker: str) -> None:
    found = run(made, rule=rule, attacker=attacker)
    assert all(0 < cut.cells < found.whole.cells for cut in found.alone)
    cells = [found.whole.cells, *(cut.cells for cut in found.path)]
    assert all(after < before for before, after in itertools.pairwise(cells))


@given(programmes(), st.sampled_from(RULES))
@settings(max_examples=up_to(30), deadline=None)
def test_no_cut_helps_the_optimal_attacker(made: Programme, rule: str) -> None:
    """Fewer noise terms do not help the attacker: the remaining statistics are not more exposed."""
    found = run(made, rule=rule)
    assert all(cut.variance <= found.whole.variance * (1 + 1e-9) for cut in (*found.alone, *found.path))


def test_variances_are_those_of_the_ratios() -> None:
    found = run(SMALL)
    for cut in (found.whole, *found.alone, *found.path):
        assert cut.variance == variance_needed(cut.ratio, CONFIDENCE)
    assert (found.whole.ratio, found.whole.cells) == pytest.approx(plainly(SMALL, "levels", OPTIMAL))


def test_cuts_alone_are_ranked_by_what_they_buy() -> None:
    found = run(SMALL)
    assert {(cut.kind, cut.name) for cut in found.alone} == {
        *((TABLE, name) for name in "123" if name != "3"),
        *((BREAKDOWN, code) for code in ("A", "B", "A.1", "C")),
    }
    ranks = [(round(cut.variance, 9), -cut.cells) for cut in found.alone]
    assert ranks == sorted(ranks)


def bought(before: Cut, after: Cut) -> float:
    return math.log(before.variance / after.variance) / math.log(before.cells / after.cells)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_each_step_buys_most_for_what_it_gives_up(rule: str, attacker: str) -> None:
    found = run(SMALL, rule=rule, attacker=attacker)
    output, before = output_of(SMALL, rule=rule, population=None), found.whole
    assert found.path
    for step in found.path:
        rates = {}
        for kind, name, _, left in output.cuts():
            ratio, cells = swiftly(left, attacker)
            rates[kind, name] = math.log(before.variance / variance_needed(ratio, CONFIDENCE)) / math.log(
                before.cells / cells
            )
        assert bought(before, step) == pytest.approx(max(rates.values()))
        assert rates[step.kind, step.name] == pytest.approx(max(rates.values()))
        output = output.without_table(step.name) if step.kind == TABLE else output.coarsened(step.name)
        before = step


def test_the_order_is_the_same_again_and_the_first_of_equals_is_taken() -> None:
    assert run(SMALL) == run(SMALL)
    twins = programme([("A", "B"), ("A", "C"), ("B", "C")], {"A": (4,), "B": (4,), "C": (4,)})
    found = run(twins)
    assert found == run(twins)
    first, second, third = found.alone[:3]
    assert first.variance == pytest.approx(second.variance) == pytest.approx(third.variance)
    assert first.cells == second.cells == third.cells
    assert (found.path[0].kind, found.path[0].name) == (first.kind, first.name) == (BREAKDOWN, "A")


def test_cuts_go_on_until_something_is_left_but_not_without_end() -> None:
    all_steps = run(SMALL, steps=20).path
    assert len(all_steps) > 4
    goal = all_steps[3].variance
    found = run(SMALL, steps=1, least=goal, farthest=20)
    assert found.path == found.sufficient
    assert [cut.feasible for cut in found.path] == [False] * (len(found.path) - 1) + [True]
    assert found.path[-1].variance <= goal < found.path[-2].variance
    # If the whole output is feasible, the sequence has the requested length.
    assert len(run(SMALL, steps=5, least=100.0).path) == 5
    # It is not reached within the limit.
    short = run(SMALL, steps=1, least=goal, farthest=2)
    assert len(short.path) == 2
    assert short.sufficient == ()
    none = run(SMALL, steps=0)
    assert none.alone == none.path == ()


@given(programmes(), st.sampled_from(ATTACKERS), st.floats(0.3, 0.95))
@settings(max_examples=up_to(40), deadline=None)
def test_no_single_cut_on_the_way_would_have_ended_it_with_more_cells(
    made: Programme, attacker: str, share: float
) -> None:
    least = share * run(made, attacker=attacker, steps=0).whole.variance
    found = run(made, attacker=attacker, steps=1, least=least, farthest=20)
    assume(found.sufficient)
    at = output_of(made, rule="levels", population=None)
    for cut in found.path:
        for *_, left in at.cuts():
            needed = variance_needed(left.worst(attacker, None)[0], CONFIDENCE)
            # What lies between a cut that is surely enough and one that just is may be passed over.
            assert left.cells <= found.path[-1].cells or needed > least * (1 - 2e-3)
        at = at.without_table(cut.name) if cut.kind == "table" else at.coarsened(cut.name)


def test_progress_counts_steps_and_the_cuts_weighed_in_each() -> None:
    calls: list[tuple[str, int, int | None]] = []
    found = run(SMALL, progress=lambda *call: calls.append(call))
    assert [done for stage, done, _ in calls if stage == "cutting"] == list(range(1, len(found.path) + 1))
    weighed = [(done, total) for stage, done, total in calls if stage == "cuts"]
    assert weighed.count((len(found.alone), len(found.alone))) >= 1
    assert all(total is not None and 0 <= done <= total for done, total in weighed)


# --- Frontier ---


@given(programmes(), st.sampled_from(RULES), st.sampled_from(ATTACKERS))
@settings(max_examples=up_to(30), deadline=None)
def test_the_frontier_has_no_point_that_another_beats(made: Programme, rule: str, attacker: str) -> None:
    found = run(made, rule=rule, attacker=attacker)
    points = [(cut.cells, cut.variance) for cut in (found.whole, *found.alone, *found.path)]
    frontier = [(cut.cells, cut.variance) for cut in found.frontier]
    assert frontier[0][0] == found.whole.cells
    for cells, variance in frontier:
        assert not any(more >= cells and less < variance * (1 - 1e-6) for more, less in points)
    for cells, variance in points:
        assert any(more >= cells and less <= variance * (1 + 1e-6) for more, less in frontier)
    assert [cells for cells, _ in frontier] == sorted({cells for cells, _ in frontier}, reverse=True)


# --- Known totals, small programmes ---


@given(programmes(), st.sampled_from(RULES))
@settings(max_examples=up_to(30), deadline=None)
def test_what_is_known_is_left_out_and_helps_with_the_rest(made: Programme, rule: str) -> None:
    output = output_of(made, rule=rule, population=None)
    expected, _ = plainly(made, rule, OPTIMAL, "total")
    ratio, statistic = output.worst(OPTIMAL, "total")
    assert ratio == pytest.approx(expected)
    assert statistic != "total"


def test_a_programme_of_one_table_can_only_be_coarsened() -> None:
    made = programme([("A", "B")], {"A": (2, 6), "B": (3,)})
    found = run(made, steps=10)
    assert {cut.kind for cut in found.alone} == {BREAKDOWN}
    # A, A, B: then the total alone is left, which nothing is cut from.
    assert len(found.path) == 3
    assert (found.path[-1].cells, found.path[-1].ratio, found.path[-1].statistic) == (1, 1.0, "total")


def test_a_total_alone_cannot_be_cut() -> None:
    found = run(programme([()], {"A": (2,)}))
    assert found.alone == found.path == ()
    assert found.frontier == (found.whole,)
    assert found.whole.ratio == 1


def test_json_has_all_cuts() -> None:
    found = run(SMALL)
    told = found.to_json()
    assert (len(told["alone"]), len(told["path"]), len(told["frontier"])) == (
        len(found.alone),
        len(found.path),
        len(found.frontier),
    )
    assert told["whole"]["variance"] == found.whole.variance
    assert set(told["path"][0]) == {"kind", "name", "words", "variance", "statistic", "ratio", "cells", "feasible"}
