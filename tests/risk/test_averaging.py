"""Averaging: the paper's counting, and the attackers that beat it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.closed_form import success
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.programme.eu2021.census import census
from discreet.programme.lattice import RULES, lattice
from discreet.programme.model import Programme
from discreet.risk.averaging import (
    Averaging,
    averaging,
    chebyshev,
    epsilon_allowed,
    representations,
    smallest_greedy,
    variance_needed,
)
from discreet.verdicts import ONE_SIGMA
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

FOOTNOTE = programme([("SEX", "AGE")], {"SEX": (2,), "AGE": (2,)})


def of(found: Averaging, name: str) -> dict[str, float]:
    place = found.names.index(name)
    return {
        key: float(getattr(found, key)[place]) for key in ("t", "k", "plain", "greedy", "inverse_variance", "optimal")
    }


def test_the_papers_footnote() -> None:
    found = averaging(lattice(FOOTNOTE))
    total = of(found, "total")
    assert (total["t"], total["k"], total["plain"]) == (4, 9, 9 / 16)
    # Margins: t = 2, k = 3, ratio 3/4; inner cells: 1.
    assert of(found, "SEX1")["plain"] == 3 / 4
    assert of(found, "AGE1 SEX1")["plain"] == 1
    # Greedy stops at 5/9 (research on the paper: .5556); with all margins every cell is known to prod n / (1 + n).
    assert total["greedy"] == pytest.approx(5 / 9)
    assert total["inverse_variance"] == pytest.approx((2 / 3) ** 2)
    assert found.optimal == pytest.approx((2 / 3) ** 2)


def test_representations_are_listed_with_their_sizes() -> None:
    found = representations(lattice(FOOTNOTE), "total")
    assert [(way.statistic, way.terms) for way in found] == [("total", 1), ("SEX1", 2), ("AGE1", 2), ("AGE1 SEX1", 4)]
    twice = programme([("A", "B"), ("A",)], {"A": (2,), "B": (3,)})
    ways = {way.statistic: way.tables for way in representations(lattice(twice), "A1", spsn=False)}
    assert ways == {"A1": 2, "A1 B1": 1}


def test_one_table_with_all_margins_has_one_ratio_for_every_cell() -> None:
    sizes = {"A": (2,), "B": (21,), "C": (8,), "D": (5,)}
    found = averaging(lattice(programme([("A", "B", "C", "D")], sizes)))
    expected = math.prod(n / (1 + n) for (n,) in sizes.values())
    assert found.optimal == pytest.approx(expected)
    assert of(found, "total")["t"] == 16
    assert of(found, "total")["k"] == 3564
    assert of(found, "total")["greedy"] == pytest.approx(0.75)


def brute_force(made: Programme, rule: str, *, spsn: bool) -> dict[str, tuple[int, float, float, float]]:
    """Return t, k, greedy and inverse variance by listing the IRRs of every statistic."""
    found = lattice(made, rule)
    names, result = found.names(), {}
    for a in np.flatnonzero(found.published).tolist():
        sizes, all_sizes = [], []
        for s in np.flatnonzero(found.published).tolist():
            if (found.depths[s] >= found.depths[a]).all():
                times = 1 if spsn else int(found.tables[s])
                size = found.cells[s] / found.cells[a]
                sizes += [size] * (1 if s == a else times)
                all_sizes += [size] * times
        greedy, k = math.inf, 0.0
        for t, size in enumerate(sorted(sizes), start=1):
            k += size
            if k / t**2 > greedy * (1 + 1e-12):
                break
            greedy = k / t**2
        result[names[a]] = (len(sizes), sum(sizes), greedy, 1 / sum(1 / size for size in all_sizes))
    return result


@given(programmes())
@settings(max_examples=up_to(40), deadline=None)
def test_counting_is_that_of_listing_every_representation(made: Programme) -> None:
    for rule in ("levels", "flat"):
        for spsn in (True, False):
            found = averaging(lattice(made, rule), spsn=spsn)
            for name, expected in brute_force(made, rule, spsn=spsn).items():
                row = of(found, name)
                assert (row["t"], row["k"], row["greedy"], row["inverse_variance"]) == pytest.approx(expected)


@given(programmes())
@settings(max_examples=up_to(40), deadline=None)
def test_every_better_attacker_is_better(made: Programme) -> None:
    for spsn in (True, False):
        found = averaging(lattice(made), spsn=spsn)
        assert (found.optimal <= found.inverse_variance * (1 + 1e-9)).all()
        assert (found.inverse_variance <= found.greedy * (1 + 1e-9)).all()
        assert (found.greedy <= 1 + 1e-9).all()


@given(programmes(), st.sampled_from(RULES))
@settings(max_examples=up_to(80), deadline=None)
def test_the_smallest_greedy_ratio_is_that_of_all(made: Programme, rule: str) -> None:
    found = lattice(made, rule)
    ratio, place = smallest_greedy(found)
    everything = averaging(found)
    assert ratio == pytest.approx(everything.greedy.min(), rel=1e-12)
    assert found.published[place]
    assert of(everything, found.names()[place])["greedy"] == pytest.approx(ratio)


@pytest.mark.parametrize("rule", RULES)
def test_the_smallest_greedy_ratio_of_the_census(rule: str) -> None:
    found = lattice(census("MT"), rule)
    assert smallest_greedy(found)[0] == pytest.approx(averaging(found).greedy.min(), rel=1e-12)


@given(programmes())
@settings(max_examples=up_to(40), deadline=None)
def test_adding_a_table_never_helps_to_hide(made: Programme) -> None:
    fewer = Programme("fewer", made.topics, made.tables[:-1]) if len(made.tables) > 1 else made
    before, after = averaging(lattice(fewer)), averaging(lattice(made))
    for name, ratio in zip(before.names, before.optimal, strict=True):
        assert of(after, name)["optimal"] <= ratio * (1 + 1e-9)


def test_known_totals_carry_no_error_and_help_the_rest() -> None:
    found = lattice(FOOTNOTE)
    without, known = averaging(found), averaging(found, known="total")
    assert of(known, "total")["optimal"] == 0
    assert of(known, "SEX1")["optimal"] < of(without, "SEX1")["optimal"]
    # F = (T + d) / 2 with d = F - M seen twice: with variance 2 in the margin, 4 in the inner cells.
    assert of(known, "SEX1")["optimal"] == pytest.approx(1 / (1 / 2 + 1 / 4) / 4)


def test_success_and_its_inverses() -> None:
    # The paper's footnote: V = 2, k/t^2 = 0.1 gives 73.6 %.
    assert success(2, 0.1) == pytest.approx(0.736, abs=5e-4)
    assert success(2, 0) == 1
    assert chebyshev(2, 0.1) == pytest.approx(1 - 2 * 0.1 / 0.25)
    assert chebyshev(2, 10) == 0
    # At one sigma: 0.0867 -> V = 2.88, 0.0118 -> eps = 0.307, 0.0170 -> 0.369.
    assert variance_needed(0.0867) == pytest.approx(2.88, abs=0.01)
    assert epsilon_allowed(0.0118) == pytest.approx(0.307, abs=1e-3)
    assert epsilon_allowed(0.0170) == pytest.approx(0.369, abs=1e-3)
    for confidence in (0.5, ONE_SIGMA, 0.95):
        assert success(variance_needed(0.03, confidence), 0.03) == pytest.approx(confidence)


def test_real_noise_behaves_as_the_formula_says() -> None:
    """Average the IRRs of a footnote total with p-table noise; the optimal weights are 1/k each (Monte Carlo)."""
    ptable, runs = PTable.max_entropy(variance=2, bound=5), 200_000
    noise = ptable.rows[-1].sample(9 * runs, SeededBits(3)).reshape(9, runs)
    total, by_sex, by_age, inner = noise[0], noise[1:3].sum(0), noise[3:5].sum(0), noise[5:9].sum(0)
    weights = np.array([1, 1 / 2, 1 / 2, 1 / 4])
    estimate = weights @ np.stack([total, by_sex, by_age, inner]) / weights.sum()
    ratio = of(averaging(lattice(FOOTNOTE)), "total")["optimal"]
    assert estimate.var() == pytest.approx(2 * ratio, rel=0.02)
    assert estimate.var() != pytest.approx(2 * ratio * 1.3, rel=0.02)
