"""What is certain: brute force over one equation, and true counts that never lie outside."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.attacker_view import AssumedNoise, PopulationCounts, noise_from_record
from discreet.attacks.feasible_counts import SWEEPS, UNBOUNDED, allowed, forced_tuples, intervals, propagated
from discreet.equations.least_squares import Link
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.release.record import Record
from discreet.risk.margin_exploitation import forced_truth
from discreet.risk.margin_exploitation import forced_tuples as forced_formula
from discreet.tabulation.cell_vector import CellVector
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.programme.model import Programme

LAWS = {
    "plain": {"variance": 2.0, "bound": 4},
    "tight": {"variance": 0.6, "bound": 1},
    "threshold": {"variance": 3.0, "bound": 4, "threshold": 2},
    "noisy zeros": {"variance": 1.5, "bound": 2, "perturb_zeros": True},
}
SHARED = ("participants", "coordinates", "nothing")


def law(name: str = "plain", shared: str = "participants", *, non_negative: bool = False) -> AssumedNoise:
    """Return one of the laws, with noise shared in one of the ways."""
    made = noise_from_record(Record(programme="x", parameters=LAWS[name]))
    return AssumedNoise(made.laws, made.variance, made.bound, non_negative=non_negative, shared=shared)


def uniform(bound: int, shared: str = "coordinates") -> AssumedNoise:
    """Return noise that is equally likely up to a bound, for all counts but 0."""
    row = np.full(2 * bound + 1, 1 / (2 * bound + 1))
    return AssumedNoise((np.eye(2 * bound + 1)[bound], row), bound * (bound + 1) / 3, float(bound), shared=shared)


def drawn_counts(layout: CellVector, random: np.random.Generator, mean: float) -> Ints:
    """Return counts of all cells that add up: those of the finest cross are drawn, all others are sums."""
    lattice = layout.lattice
    finest = [len(axis.sizes) for axis in lattice.axes]
    shape = [axis.sizes[-1] for axis in lattice.axes]
    base = random.poisson(random.gamma(0.5, 2 * mean, shape))
    found = np.zeros(layout.cells, dtype=np.int64)
    for statistic in layout.equations.statistics.tolist():
        parent = np.zeros((1,), dtype=np.int64)
        for axis, deep, depth in zip(lattice.axes, finest, lattice.depths[statistic].tolist(), strict=True):
            size = 1 if depth == 0 else axis.sizes[depth - 1]
            # Blocks as equal as can be, as the equations have them.
            above = np.arange(axis.sizes[-1])
            for level in range(deep - 1, depth - 1, -1):
                above = above * (1 if level == 0 else axis.sizes[level - 1]) // axis.sizes[level]
            parent = (parent[:, None] * size + above[None, :]).ravel()
        cells = layout.equations.cells_of(statistic)
        found[cells] = np.bincount(parent, base.ravel(), cells.stop - cells.start)
    return found


def published(layout: CellVector, counts: Ints, noise: AssumedNoise, random: np.random.Generator) -> PopulationCounts:
    """Return the counts with noise, shared as the mechanism defines."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if noise.shared == "nothing":
        times = layout.lattice.tables[layout.equations.statistics][layout.statistic_of]
        draws = [noise.publish(counts, random) * (number < times) for number in range(int(times.max()))]
        return PopulationCounts(layout, np.sum(draws, axis=0) / times)
    same = layout.equations.unknowns
    if noise.shared == "participants":
        pairs = [(0, 0)]
        for link in layout.equations.links:
            above, below = link.coarse + link.parent, link.fine + np.arange(len(link.parent))
            all_of_it = (counts[above] == counts[below]) & (counts[above] > 0)
            pairs += zip(above[all_of_it].tolist(), below[all_of_it].tolist(), strict=True)
        ends = tuple(np.array(pairs).T)
        alike = csr_array((np.ones(len(pairs)), ends), shape=(len(counts),) * 2)
        same = connected_components(alike, directed=False)[1].astype(np.int64)
    shown, first = noise.publish(counts, random), np.unique(same, return_index=True)[1]
    return PopulationCounts(layout, shown[first][same].astype(float))


@given(programmes(largest=3, topics=2), st.sampled_from(list(LAWS)), st.sampled_from(SHARED), st.integers(0, 999))
@settings(max_examples=up_to(60))
def test_true_counts_are_always_inside(made: Programme, name: str, shared: str, seed: int) -> None:
    random, noise = np.random.default_rng(seed), law(name, shared)
    layout = CellVector("persons", made, spsn=shared != "nothing")
    counts = drawn_counts(layout, random, float(random.choice([0.2, 2, 20])))
    found = intervals(published(layout, counts, noise, random), noise, {})
    assert found.consistent
    assert (found.low <= counts).all()
    assert (counts <= found.high).all()


@pytest.mark.parametrize("shared", SHARED[:2])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("non_negative", [False, True])
def test_one_value_allows_the_counts_that_can_lead_to_it(name: str, shared: str, non_negative: bool) -> None:
    noise, counts = law(name, shared, non_negative=non_negative), np.arange(80)
    for y in range(-4, 50):
        possible = np.flatnonzero(noise.chance(counts, np.array(y)) > 0)
        found = allowed(np.array([float(y)]), noise)
        assert found.consistent == (len(possible) > 0)
        if len(possible):
            assert (found.low[0], found.high[0]) == (possible[0], possible[-1])


def test_laws_that_take_turns_are_kept_apart() -> None:
    # Even counts keep their value, odd ones move by one: a rounding to odd numbers for large counts.
    still, moved = np.array([0.0, 1.0, 0.0]), np.array([0.5, 0.0, 0.5])
    noise = AssumedNoise((still, moved, still, moved), 1.0, 1.0, repeat=2, shared="coordinates")
    counts = np.arange(80)
    for y in range(60):
        possible = np.flatnonzero(noise.chance(counts, np.array(y)) > 0)
        found = allowed(np.array([float(y)]), noise)
        if len(possible):
            assert (found.low[0], found.high[0]) == (possible[0], possible[-1])


def test_without_a_bound_only_what_is_there_is_certain() -> None:
    made = noise_from_record(Record(programme="x", law="geometric", parameters={"epsilon": 1.0}))
    found = allowed(np.array([0.0, 3.0, -2.0]), made)
    assert found.low.tolist() == [0, 1, 1]
    assert (found.high == UNBOUNDED).all()


def test_a_mean_over_tables_is_within_the_bound() -> None:
    found = allowed(np.array([0.0, 0.5, 7 / 3, 20.0]), law("plain", "nothing"))
    assert found.low.tolist() == [0, 1, 1, 16]
    assert found.high.tolist() == [4, 4, 6, 24]


def test_a_value_that_nothing_leads_to_contradicts_the_law() -> None:
    assert not allowed(np.array([-9.0]), law()).consistent
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    found = intervals(PopulationCounts(layout, np.array([90.0, 3.0, 2.0])), uniform(2), {})
    assert not found.consistent


def test_the_worked_example_of_a_forced_tuple() -> None:
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    view = PopulationCounts(layout, np.array([11.0, 3.0, 2.0]))
    found = intervals(view, uniform(2), {})
    assert found.certain.all()
    assert (found.low[1], found.low[2], found.low[0]) == forced_truth([3, 2], 11, bound=2) == (5, 4, 9)
    assert forced_tuples(view, uniform(2)).found == 1
    # One less apart, and more than one truth fits.
    near = PopulationCounts(layout, np.array([10.0, 3.0, 2.0]))
    assert not intervals(near, uniform(2), {}).certain.any()
    assert forced_tuples(near, uniform(2)).found == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4),
    st.tuples(st.integers(0, 12), st.integers(0, 4)),
)
def test_one_equation_is_used_up_at_once(parts: list[tuple[int, int]], total: tuple[int, int]) -> None:
    low = np.array([total[0], *(least for least, _ in parts)])
    high = np.array([sum(total), *(least + more for least, more in parts)])
    truths = [
        (sum(truth), *truth)
        for truth in product(*(range(a, b + 1) for a, b in zip(low[1:].tolist(), high[1:].tolist(), strict=True)))
        if low[0] <= sum(truth) <= high[0]
    ]
    link = Link(1, 0, 1, np.zeros(len(parts), dtype=np.int64))
    found = propagated(low, high, [link])
    assert found.consistent == bool(truths)
    if truths:
        assert found.low.tolist() == np.min(truths, axis=0).tolist()
        assert found.high.tolist() == np.max(truths, axis=0).tolist()


def test_a_part_published_otherwise_does_not_hold_everybody() -> None:
    # Published 1 and 0 with the total 2: a person is in the second part, or the first has the total's noise.
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    view = PopulationCounts(layout, np.array([2.0, 1.0, 0.0]))
    by_persons, by_place = (intervals(view, law("tight", shared), {}) for shared in SHARED[:2])
    assert (by_place.low[0], by_persons.low[0]) == (1, 2)
    assert by_persons.low.tolist() == [2, 1, 0]
    # Empty cells that have noise draw it by coordinates: nothing follows.
    zeros = intervals(view, law("noisy zeros"), {})
    assert zeros.low[0] == 0


def test_it_ends_where_noise_is_shared_otherwise_than_believed() -> None:
    # A single child with another published value than its parent: each would need one person more than the other.
    link = Link(1, 0, 1, np.zeros(1, dtype=np.int64))
    low, high = np.ones(2, dtype=np.int64), np.full(2, UNBOUNDED)
    found = propagated(low, high, [link], np.array([3.0, 4.0]))
    assert found.low.max() <= SWEEPS + 1


def test_known_totals_are_taken_as_they_are() -> None:
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    view = PopulationCounts(layout, np.array([11.0, 3.0, 2.0]))
    geometric = noise_from_record(Record(programme="x", law="geometric", parameters={"epsilon": 1.0}))
    found = intervals(view, geometric, {"total": np.array([2.0])})
    assert found.low.tolist() == [2, 1, 1]
    assert found.certain.all()


@pytest.mark.parametrize("shared", ["coordinates", "nothing"])
def test_forced_tuples_are_as_many_as_the_formula_says(shared: str) -> None:
    made = programme([("A", "B")], {"A": (4000,), "B": (2,)})
    layout, noise = CellVector("persons", made, spsn=shared != "nothing"), uniform(1, shared)
    random = np.random.default_rng(2)
    counts = drawn_counts(layout, random, 1.0)
    # Large everywhere: the formula is for counts above the bound.
    counts += 50 * np.bincount(layout.statistic_of).max() // np.bincount(layout.statistic_of)[layout.statistic_of]
    found = forced_tuples(published(layout, counts, noise, random), noise)
    chance = forced_formula(PTable.max_entropy(variance=2 / 3, bound=1).large, tuples=1).chance
    assert chance == pytest.approx(2 / 27)
    assert found.tuples == pytest.approx(4000, abs=4)
    assert found.expected == pytest.approx(4000 * chance, rel=1e-3)
    error = found.expected**0.5
    assert abs(found.found - found.expected) < 4 * error
    assert abs(found.found - 1.3 * found.expected) > 4 * error


def test_there_are_no_forced_tuples_without_noise_or_without_a_bound() -> None:
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    view = PopulationCounts(layout, np.array([5.0, 3.0, 2.0]))
    exact = AssumedNoise((np.ones(1),), 0.0, 0.0, shared="participants")
    endless = noise_from_record(Record(programme="x", law="geometric", parameters={"epsilon": 1.0}))
    assert TwoSidedGeometric(epsilon=1.0).bound == endless.bound == np.inf
    assert forced_tuples(view, exact).tuples == forced_tuples(view, endless).tuples == 0
