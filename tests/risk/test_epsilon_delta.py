"""Epsilon and delta of one count against published figures and enumerated likelihood ratios."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import Gaussian, MaxEntropy, PTable, TwoSidedGeometric, Uniform
from discreet.noise.ptable_settings import PTableSettings
from discreet.risk.epsilon_delta import by_threshold, delta_at, epsilon_at, membership_advantage
from discreet.risk.neighbouring_counts import pairs

SMALL, LARGE = MaxEntropy(variance=2, bound=5), MaxEntropy(variance=3, bound=10)
"""The two settings of Bach (2020)."""

# Computed by an independent program to these digits.
CURVES = {
    SMALL: {0: 0.2819, 0.1: 0.2442, 0.3: 0.1709, 0.5: 0.1292, 0.8: 0.0603, 1: 0.04278, 1.5: 0.009821, 2: 0.001685},
    LARGE: {0: 0.2303, 0.1: 0.1899, 0.3: 0.1285, 0.5: 0.0718, 0.8: 0.03049, 1: 0.01665, 1.5: 0.001336, 2: 1.166e-4},
}


@pytest.mark.parametrize(
    ("law", "epsilon", "delta"), [(law, *point) for law, curve in CURVES.items() for point in curve.items()]
)
def test_curve_of_the_two_settings(law: MaxEntropy, epsilon: float, delta: float) -> None:
    assert delta_at(law, epsilon).value == pytest.approx(delta, rel=6e-4)


@pytest.mark.parametrize(("law", "floor", "start"), [(SMALL, 5.486e-4, 2.247), (LARGE, 1.331e-8, 3.167)])
def test_the_curve_ends_in_the_probability_of_the_bound(law: MaxEntropy, floor: float, start: float) -> None:
    assert (2 * law.bound - 1) * law.lam == pytest.approx(start, abs=5e-4)
    assert delta_at(law, start + 0.001).value == pytest.approx(float(law.pmf(law.bound)), rel=1e-12)
    assert float(law.pmf(law.bound)) == pytest.approx(floor, rel=1e-3)
    assert delta_at(law, start - 0.01).value > float(law.pmf(law.bound))
    assert delta_at(LARGE, 3).value == pytest.approx(6.18e-8, rel=1e-3)


@pytest.mark.parametrize(
    ("variance", "bound", "extra", "delta"),
    [
        (2, 5, {}, 0.512),
        (3, 10, {}, 0.501),
        (2, 5, {"equality": True}, 0.4796),
        (3, 10, {"equality": True}, 0.4428),
        # The default of the R package ptable.
        (2, 5, {"monotone": True, "floor": 1e-8}, 0.611),
        (3, 10, {"monotone": True, "floor": 1e-8}, 0.608),
    ],
)
def test_fixed_zeros_leave_one_delta_at_every_epsilon(
    variance: float, bound: int, extra: dict[str, float], delta: float
) -> None:
    ptable = PTable.solve(PTableSettings(variance=variance, bound=bound, **extra))  # type: ignore[arg-type]
    for epsilon in (0.7, 1.0, 5.0, 50.0):
        found = delta_at(ptable, epsilon)
        assert found.worst == "counts 0 and 1"
        assert found.value == pytest.approx(1 - float(ptable.rows[1].pmf(-1)), rel=1e-12)
        assert found.value == pytest.approx(delta, abs=6e-4)
        assert "no larger factor reduces" in found.sentence


@pytest.mark.parametrize(
    ("variance", "bound", "deltas", "last"),
    [(2, 5, [0.480, 0.093, 0.064, 0.048], 0.0428), (3, 10, [0.443, 0.063, 0.034, 0.022], 0.0167)],
)
def test_delta_by_pair_in_the_equality_form(variance: float, bound: int, deltas: list[float], last: float) -> None:
    ptable = PTable.max_entropy(variance=variance, bound=bound, equality=True)
    found = [pair.delta(1.0) for pair in pairs(ptable)]
    assert found[:4] == pytest.approx(deltas, abs=6e-4)
    assert found[-1] == pytest.approx(last, abs=6e-5)


def enumerated(ptable: PTable, epsilon: float) -> float:
    """Return the largest sum_y max(0, P(y) - e^epsilon Q(y)) over counts up to 30, row by row in whole weights."""
    laws = []
    for count in range(31):
        row = ptable.rounded[min(count, len(ptable.rows) - 1)]
        laws.append({count + value: share for value, share in row.law().items()})
    worst = 0.0
    for a, b in itertools.pairwise(laws):
        for p, q in ((a, b), (b, a)):
            gaps = [float(p.get(y, Fraction(0))) - math.exp(epsilon) * float(q.get(y, Fraction(0))) for y in p | q]
            worst = max(worst, math.fsum(gap for gap in gaps if gap > 0))
    return worst


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("key_space", [256, 4096, 2**32])
def test_the_rounded_table_against_an_enumeration_of_its_keys(key_space: int, epsilon: float) -> None:
    for extra in ({}, {"threshold": 1}, {"perturb_zeros": True}):
        ptable = PTable.max_entropy(variance=2, bound=3, key_space=key_space, **extra)
        found = delta_at(ptable, epsilon, key_space=key_space)
        assert found.value == pytest.approx(enumerated(ptable, epsilon), abs=1e-12)
        assert f"noise distribution rounded to {key_space} keys" in found.assumptions


@given(st.floats(0.3, 0.9), st.integers(2, 6), st.integers(0, 1), st.floats(0, 4), st.floats(0, 2))
def test_a_table_is_never_safer_than_its_last_row(
    share: float, bound: int, threshold: int, epsilon: float, more: float
) -> None:
    # A threshold of 1 needs a variance above 1.
    settings = PTableSettings(variance=share * bound**2, bound=bound, threshold=threshold)
    ptable = PTable.solve(settings)
    last = pairs(ptable)[-1]
    assert last.name == f"counts {settings.last_row} and {settings.last_row + 1}"
    assert delta_at(ptable, epsilon).value >= last.delta(epsilon)
    assert delta_at(ptable, epsilon).value >= delta_at(ptable, epsilon + more).value
    assert membership_advantage(ptable).value >= delta_at(ptable, epsilon).value


@given(st.floats(1e-9, 0.99))
def test_epsilon_and_delta_undo_each_other(delta: float) -> None:
    epsilon = epsilon_at(LARGE, delta).value
    if delta < LARGE.pmf(10):
        assert epsilon == math.inf
    elif epsilon > 0:
        assert delta_at(LARGE, epsilon).value == pytest.approx(delta, rel=1e-9)


def test_advantage_is_the_total_variation_distance() -> None:
    # For a law that falls on either side of 0, all p(x) above p(x - 1) lie at x <= 0: they telescope to p(0).
    assert membership_advantage(SMALL).value == pytest.approx(float(SMALL.pmf(0)), rel=1e-12)
    assert membership_advantage(Uniform(bound=3)).value == pytest.approx(1 / 7)
    assert "with probability 0.641." in membership_advantage(SMALL).sentence


def test_an_epsilon_that_does_not_exist_is_said() -> None:
    found = epsilon_at(PTable.max_entropy(variance=3, bound=10), 0.4)
    assert found.value == math.inf
    assert found.worst == "counts 0 and 1"
    assert found.sentence.startswith("No epsilon corresponds to delta 0.4: with probability 0.5, ")


def test_an_epsilon_that_exists() -> None:
    found = epsilon_at(TwoSidedGeometric(epsilon=0.3), 0.0)
    assert found.value == pytest.approx(0.3)
    assert found.worst is None
    assert "at most 1.35 times as likely" in found.sentence


def test_the_cut_of_an_unbounded_law_is_said() -> None:
    found = delta_at(Gaussian(sigma=2.0), 1.0)
    assert any("is added to delta" in assumption for assumption in found.assumptions)


def test_a_law_alone_says_that_small_counts_are_not_meant() -> None:
    assert any("only counts above the bound" in assumption for assumption in delta_at(SMALL, 1.0).assumptions)


def test_a_threshold_helps_the_lone_and_hurts_the_others() -> None:
    effects = by_threshold(PTableSettings(variance=3, bound=10), [0.0, 1.0])
    assert [effect.threshold for effect in effects] == [0, 1, 2]
    alone = [effect.results[1].value for effect in effects]
    others = [effect.from_one[1].value for effect in effects]
    assert alone == sorted(alone, reverse=True)
    assert others == sorted(others)
    assert effects[2].results[1].name == "delta_at_epsilon_1_threshold_2"
    assert effects[2].from_one[1].worst == "counts 2 and 3"


def test_a_threshold_that_cannot_be_is_said() -> None:
    effect = by_threshold(PTableSettings(variance=2, bound=5), [1.0])[2]
    assert effect.results == effect.from_one == ()
    assert effect.infeasible is not None
    assert "row 1 is infeasible" in effect.infeasible


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_an_epsilon_outside_its_domain_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon must be zero or a positive number"):
        delta_at(SMALL, epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.0])
def test_a_delta_outside_its_domain_is_refused(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta must be at least 0 and below 1"):
        epsilon_at(SMALL, delta)
