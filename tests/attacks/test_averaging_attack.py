"""Averages over all ways to compute a count, against ways listed by hand and the ratios of the risk measure."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.attack_estimates import nearest_possible
from discreet.attacks.attacker_view import PopulationCounts
from discreet.attacks.averaging_attack import VARIANTS, Averages, averaging, chance_right
from discreet.attacks.scoring import TrueCounts, score
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.random_bits import SeededBits
from discreet.risk.averaging import averaging as ratios
from discreet.tabulation.cell_vector import CellVector, layouts
from tests.attacks.scenes import PTABLE, cells_by_hand, informed_attacker, town_release
from tests.programme.small import programme as sized
from tests.programme.test_lattice import programmes as equal_programmes
from tests.protection.town import SECRET
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme

# --- A programme of nine cells, worked out by hand ---

A, B = topic("A", "a b"), topic("B", "x y")
SQUARE = programme([A, B], [by(A), by(B)])
NINE = {"total": [10], "A:1": [4, 7], "B:1": [5, 6], "A:1 B:1": [1, 2, 3, 5]}
"""Published counts by statistic, a before b and x before y."""
BY_HAND = {
    # All ways: 10 as published, 4 + 7, 5 + 6, 1 + 2 + 3 + 5; k = 1 + 2 + 2 + 4 terms in t = 4 ways.
    ("plain", "total"): ([(10 + 11 + 11 + 11) / 4], 9 / 16),
    # k / t^2 is 1, 3/4, 5/9 and then 9/16: the last way is left out.
    ("greedy", "total"): ([(10 + 11 + 11) / 3], 5 / 9),
    ("inverse variance", "total"): ([(10 + 11 / 2 + 11 / 2 + 11 / 4) / (9 / 4)], 4 / 9),
    ("plain", "A:1"): ([(4 + 3) / 2, (7 + 8) / 2], 3 / 4),
    ("greedy", "A:1"): ([(4 + 3) / 2, (7 + 8) / 2], 3 / 4),
    ("inverse variance", "A:1"): ([(4 + 3 / 2) / 1.5, (7 + 8 / 2) / 1.5], 2 / 3),
    ("plain", "B:1"): ([(5 + 4) / 2, (6 + 7) / 2], 3 / 4),
    ("plain", "A:1 B:1"): ([1, 2, 3, 5], 1),
    ("inverse variance", "A:1 B:1"): ([1, 2, 3, 5], 1),
}


def only_layout(made: Programme, *, spsn: bool = True) -> CellVector:
    (name, tables), *_ = made.populations.items()
    return CellVector(name, replace(made, tables=tables), spsn)


def square() -> Averages:
    layout = only_layout(SQUARE)
    assert set(layout.names) == set(NINE)
    return Averages(
        PopulationCounts(layout, np.array([value for name in layout.names for value in NINE[name]], dtype=float))
    )


def row(averages: Averages, place: int, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the published cells in the estimate of one, with their weights."""
    layout = averages.view.layout
    equations = layout.equations
    statistic = int(equations.statistics[layout.statistic_of[place]])
    inside = place - equations.place(statistic)
    ways = averages.representations(statistic)
    weights = VARIANTS[variant](ways)[:, inside]
    below = [np.flatnonzero(equations.parents(fine, statistic) == inside) for fine in ways.statistics]
    places = [equations.place(fine) + those for fine, those in zip(ways.statistics, below, strict=True)]
    return np.concatenate(places), np.repeat(weights, [len(those) for those in below])


@pytest.mark.parametrize(("variant", "statistic"), BY_HAND)
def test_nine_cells_by_hand(variant: str, statistic: str) -> None:
    averages = square()
    ways = averages.representations(averages.view.layout.lattice.position(statistic))
    weights = VARIANTS[variant](ways)
    values, ratio = BY_HAND[variant, statistic]
    assert (weights * ways.sums).sum(axis=0) == pytest.approx(values)
    assert ways.ratio(weights) == pytest.approx(ratio)


# --- Random programmes against plain enumeration ---


def ways_by_hand(layout: CellVector, published: np.ndarray, place: int) -> list[tuple[float, int, int, float]]:
    """Return all ways to compute a cell: sum, terms, tables and terms on average, by rising number of cells."""
    cells = cells_by_hand(layout)
    number = layout.statistic_of[place]
    own = [cell for cell, other in zip(cells, layout.statistic_of, strict=True) if other == number]

    def inside(fine: dict[str, frozenset[str]], coarse: dict[str, frozenset[str]]) -> bool:
        return all(fine[name] <= coarse[name] for name in fine)

    found = []
    for other in range(len(layout.names)):
        places = np.flatnonzero(layout.statistic_of == other).tolist()
        if not all(any(inside(cells[p], coarse) for coarse in own) for p in places):
            continue
        terms = [p for p in places if inside(cells[p], cells[place])]
        tables = 1 if layout.spsn else int(layout.lattice.tables[layout.equations.statistics[other]])
        found.append((len(places), (published[terms].sum(), len(terms), tables, len(places) / len(own))))
    return [way for _, way in sorted(found, key=lambda each: each[0])]


def greedy_by_hand(ways: list[tuple[float, int, int, float]]) -> float:
    """Return the mean of the first ways, one more as long as k / t^2 does not rise."""
    each = [(total, average) for total, _, tables, average in ways for _ in range(tables)]
    taken = 1
    while taken < len(each):
        before, after = (sum(size for _, size in each[:t]) / t**2 for t in (taken, taken + 1))
        if after > before * (1 + 1e-12):
            break
        taken += 1
    return sum(total for total, _ in each[:taken]) / taken


@given(programmes(most=3, universes=False), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=up_to(25))
def test_estimates_are_the_means_of_all_ways_listed_by_hand(made: Programme, spsn: bool, seed: int) -> None:
    layout = only_layout(made, spsn=spsn)
    random = np.random.default_rng(seed)
    published = random.integers(-3, 30, layout.cells).astype(float)
    averages = Averages(PopulationCounts(layout, published))
    for place in random.choice(layout.cells, min(layout.cells, 6), replace=False).tolist():
        statistic = int(layout.equations.statistics[layout.statistic_of[place]])
        inside = place - layout.equations.place(statistic)
        ways = averages.representations(statistic)
        by_hand = ways_by_hand(layout, published, place)
        times = np.array([tables for _, _, tables, _ in by_hand])
        sums, terms = (np.array([way[n] for way in by_hand]) for n in (0, 1))
        expected = {
            "plain": (times * sums).sum() / times.sum(),
            "inverse variance": (times / terms * sums).sum() / (times / terms).sum(),
        }
        for name, weigh in VARIANTS.items():
            weights = weigh(ways)[:, inside]
            found = weights @ ways.sums[:, inside]
            # Ways of the same number of cells may stand in any order: only their sums show which were used.
            if name != "greedy" or len(set(layout.lattice.cells[ways.statistics].tolist())) == len(by_hand):
                assert found == pytest.approx(expected.get(name, greedy_by_hand(by_hand)))
            assert weights.sum() == pytest.approx(1)
            places, summed = row(averages, place, name)
            assert summed @ published[places] == pytest.approx(found)
        assert ways.ratio(ways.plain())[inside] == pytest.approx((times * terms).sum() / times.sum() ** 2)
        assert ways.ratio(ways.inverse_variance())[inside] == pytest.approx(1 / (times / terms).sum())


@given(equal_programmes(largest=3, topics=3))
@settings(max_examples=up_to(25))
def test_variance_ratios_are_those_of_the_risk_measure_where_blocks_are_equal(made: Programme) -> None:
    layout = only_layout(made)
    averages = Averages(PopulationCounts(layout, np.zeros(layout.cells)))
    expected = ratios(layout.lattice)
    for number, statistic in enumerate(layout.equations.statistics.tolist()):
        assert expected.names[number] == layout.names[number]
        ways = averages.representations(statistic)
        assert len(ways.statistics) == expected.t[number]
        assert ways.sizes.sum(axis=0) == pytest.approx(expected.k[number])
        assert ways.ratio(ways.plain()) == pytest.approx(expected.k[number] / expected.t[number] ** 2)
        assert ways.ratio(ways.greedy()) == pytest.approx(expected.greedy[number])
        assert ways.ratio(ways.inverse_variance()) == pytest.approx(expected.inverse_variance[number])


def test_without_spsn_a_statistic_counts_once_per_table() -> None:
    layout = only_layout(sized([("A", "B"), ("A",), ("A", "B")], {"A": (2,), "B": (3,)}), spsn=False)
    ways = Averages(PopulationCounts(layout, np.zeros(layout.cells))).representations(layout.lattice.position("A1"))
    assert ways.tables.tolist() == [3, 2]
    assert ways.plain()[:, 0].tolist() == [3 / 5, 2 / 5]
    # Three times itself, twice a sum of three: 1 / (3 + 2/3).
    assert ways.ratio(ways.inverse_variance()) == pytest.approx(1 / (3 + 2 / 3))
    assert ways.ratio(ways.inverse_variance()) == pytest.approx(
        ratios(layout.lattice, spsn=False).inverse_variance[layout.names.index("A1")]
    )
    assert ways.ratio(ways.plain()) == pytest.approx((3 * 1 + 2 * 3) / 5**2)


def test_the_mean_of_noise_has_the_variance_that_is_said_and_not_30_percent_more() -> None:
    averages, runs = square(), 20_000
    layout = averages.view.layout
    noise = np.random.default_rng(3).normal(0, 2, (runs, layout.cells))
    for place in (0, 1, layout.cells - 1):
        statistic = int(layout.equations.statistics[layout.statistic_of[place]])
        ways = averages.representations(statistic)
        for name, weigh in VARIANTS.items():
            places, weights = row(averages, place, name)
            claimed = 4 * ways.ratio(weigh(ways))[place - layout.equations.place(statistic)]
            # A variance of 20,000 errors is known to 1 percent.
            found = (noise[:, places] @ weights).var()
            assert found == pytest.approx(claimed, rel=0.05)
            assert found != pytest.approx(1.3 * claimed, rel=0.05)


# --- The attack ---


@pytest.mark.parametrize(
    "mechanism",
    [None, Coordinates(PTABLE, secret=SECRET), Fresh(PTABLE, bits=SeededBits(2))],
    ids=["cell keys", "coordinates", "fresh"],
)
def test_sums_times_the_published_vector_are_the_estimates(mechanism: Mechanism | None, engine: Engine) -> None:
    attacker = informed_attacker(town_release(mechanism, engine=engine))
    found = averaging(attacker)
    assert [finding.name for finding in found] == [f"averaging: {name}" for name in VARIANTS]
    random = np.random.default_rng(5)
    for finding in found:
        assert len(finding.estimate) == sum(view.layout.cells for view in attacker.views())
        population, targets = finding.cells[0]
        view = attacker.view(population)
        for number in random.choice(len(targets), 40, replace=False).tolist():
            places, weights = row(Averages(view), int(targets[number]), finding.variant)
            value = weights @ view.published[places]
            expected = nearest_possible(np.array([value]), view.published[[targets[number]]], attacker.noise)
            # A half is rounded one way or the other by the order of its terms.
            assert finding.estimate[number] == expected[0] or abs(value % 1 - 0.5) < 1e-9


def test_without_noise_everything_is_known(engine: Engine) -> None:
    release = town_release(Exact(), engine=engine)
    for finding in averaging(informed_attacker(release)):
        scored = score(finding, TrueCounts(release))
        assert scored.whole.achieved == 1
        assert finding.certain.all()


def test_with_huge_noise_hardly_anything_is(engine: Engine) -> None:
    release = town_release(Coordinates(TwoSidedGeometric(epsilon=0.01), secret=SECRET), engine=engine)
    for finding in averaging(informed_attacker(release)):
        # A true 1 is guessed where a negative value is published: the cell is not empty.
        large = {share.name: share for share in score(finding, TrueCounts(release)).by_count()}["21+"]
        assert large.achieved < 0.05
        assert finding.confidence.max() < 0.05


def test_the_confidence_is_that_of_a_normal_error_of_the_ratio(engine: Engine) -> None:
    attacker = informed_attacker(town_release(engine=engine))
    found = {finding.variant: finding for finding in averaging(attacker)}["inverse variance"]
    population, places = found.cells[0]
    for number in (0, 5, 50, len(places) - 1):
        _, weights = row(Averages(attacker.view(population)), int(places[number]), found.variant)
        variance = attacker.noise.variance * (weights**2).sum()
        assert found.confidence[number] == pytest.approx(math.erf(0.5 / math.sqrt(2 * variance)))


@pytest.mark.parametrize(("variance", "chance"), [(0.0, 1.0), (0.25, 0.6827), (1e12, 0.0)])
def test_the_chance_to_be_right(variance: float, chance: float) -> None:
    # One standard deviation is a half: the paper's 68 percent.
    assert chance_right(np.array([variance]))[0] == pytest.approx(chance, abs=1e-4)


def test_with_time_nothing_is_cut_off(engine: Engine) -> None:
    release = town_release(engine=engine)
    (first, *_) = averaging(informed_attacker(release))
    assert first.cut_off == ""
    assert first.group_of is not None
    assert set(first.group_of.tolist()) == set(range(len(first.groups)))
    assert sum(len(layout.names) for layout in layouts(release.programme, spsn=True).values()) == len(first.groups)
