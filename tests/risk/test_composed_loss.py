"""The composed loss against direct convolution, big whole numbers, binomial sums and dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian, MaxEntropy, TwoSidedGeometric
from discreet.risk.neighbouring_counts import law_pair
from discreet.risk.privacy_loss import ComposedLoss, PrivacyLoss, SteppedLoss, spacing

SMALL, LARGE = MaxEntropy(variance=2, bound=5), MaxEntropy(variance=3, bound=10)
"""The two settings of Bach (2020)."""

STATISTICS = 2775
"""The independent representations of the total in the EU census output, after Bach (2020)."""


def composed(law: MaxEntropy | TwoSidedGeometric | DiscreteGaussian, times: int) -> ComposedLoss:
    step = spacing(law)
    assert step is not None
    return ComposedLoss(SteppedLoss.exact(law_pair(law).up, step), times)


@cache
def power(single: tuple[tuple[int, float], ...], times: int) -> dict[int, float]:
    """Return the convolution power in whole numbers: doubles are fractions, so nothing is rounded before the end."""
    scale = max(Fraction(p).denominator for _, p in single)
    whole = {k: int(Fraction(p) * scale) for k, p in single}
    total = {0: 1}
    for _ in range(times):
        step: dict[int, int] = {}
        for a, p in total.items():
            for b, q in whole.items():
                step[a + b] = step.get(a + b, 0) + p * q
        total = step
    return {k: float(Fraction(p, scale**times)) for k, p in total.items()}


def exact_excess(loss: ComposedLoss, epsilon: float) -> float:
    """Return sum of P(loss) (1 - e^(epsilon - loss)) from the exact power."""
    single = tuple(zip(loss.single.k.tolist(), loss.single.probabilities.tolist(), strict=True))
    lowest, step = loss.times * loss.single.lowest, loss.single.step
    terms = {lowest + step * k: p for k, p in power(single, loss.times).items()}
    return math.fsum(-math.expm1(epsilon - value) * p for value, p in terms.items() if value > epsilon)


@pytest.mark.parametrize("times", [1, 2, 3, 6])
@pytest.mark.parametrize("law", [SMALL, LARGE, MaxEntropy(variance=11, bound=5)], ids=repr)
def test_few_counts_against_direct_convolution(law: MaxEntropy, times: int) -> None:
    loss = composed(law, times)
    for share in (0.0, 0.1, 0.3, 0.6, 0.9, 0.99):
        epsilon = share * loss.largest
        assert loss.excess(epsilon) == pytest.approx(exact_excess(loss, epsilon), rel=1e-10)


def test_far_tails_against_whole_numbers() -> None:
    loss = composed(LARGE, 24)
    smallest = 1.0
    for share in np.linspace(0, 0.95, 20):
        epsilon = float(share) * loss.largest
        smallest = min(smallest, exact_excess(loss, epsilon))
        assert loss.excess(epsilon) == pytest.approx(exact_excess(loss, epsilon), rel=1e-10)
    assert smallest < 1e-130


def binomial_excess(epsilon: float, rate: float, times: int) -> float:
    """Return the excess of the two-sided geometric law: k losses of +rate among t, the others -rate."""
    up = 1 / (1 + math.exp(-rate))
    terms = []
    for k in range(times + 1):
        value = (2 * k - times) * rate
        if value > epsilon:
            log_choose = math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1)
            log_p = log_choose + k * math.log(up) + (times - k) * math.log1p(-up)
            terms.append(-math.expm1(epsilon - value) * math.exp(log_p))
    return math.fsum(terms)


@pytest.mark.parametrize("epsilon", [0.0, 100.0, 150.0, 196.99, 300.0, 500.0, 620.0])
def test_geometric_noise_against_the_binomial_sum(epsilon: float) -> None:
    loss = composed(TwoSidedGeometric(epsilon=0.3), STATISTICS)
    assert loss.excess(epsilon) == pytest.approx(binomial_excess(epsilon, 0.3, STATISTICS), rel=1e-10)


def test_the_binomial_test_reaches_far() -> None:
    assert 0 < binomial_excess(620.0, 0.3, STATISTICS) < 1e-250


# Computed by an independent binomial program to these digits.
@pytest.mark.parametrize(("rate", "epsilon"), [(0.3, 196.99), (0.7954, 1015.5), (0.9624, 1405.7)])
def test_published_epsilon_of_geometric_noise(rate: float, epsilon: float) -> None:
    loss = composed(TwoSidedGeometric(epsilon=rate), STATISTICS)
    assert loss.epsilon(1e-6) == pytest.approx(epsilon, abs=0.05)
    assert loss.floor == 0


@pytest.mark.parametrize(
    ("law", "mean", "deviation"), [(SMALL, 689.07, 37.08), (LARGE, 462.50, 30.41)], ids=["small", "large"]
)
def test_moments_of_the_composed_loss(law: MaxEntropy, mean: float, deviation: float) -> None:
    # The mean of the finite part, given that no loss is infinite.
    single = law_pair(law).up
    share = single.probabilities / single.probabilities.sum()
    expected = float(share @ single.losses)
    assert STATISTICS * expected == pytest.approx(mean, abs=0.01)
    assert math.sqrt(STATISTICS * float(share @ (single.losses - expected) ** 2)) == pytest.approx(deviation, abs=0.01)


@pytest.mark.parametrize("law", [SMALL, LARGE], ids=["small", "large"])
def test_dp_accounting_agrees(law: MaxEntropy) -> None:
    # On whole multiples of lambda: given the step lambda itself, its rounding moves atoms by a whole step.
    x = np.arange(-law.bound + 1, law.bound + 1)
    masses = {int(-(2 * v - 1)): float(law.pmf(v)) for v in x}
    single = privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
        masses, float(law.pmf(law.bound)), law.lam
    )
    other, ours = single.self_compose(STATISTICS), composed(law, STATISTICS)
    for epsilon in (100.0, 400.0, 500.0, 600.0, 650.0):
        assert ours.delta(epsilon) == pytest.approx(other.get_delta_for_epsilon(epsilon), abs=1e-11)
    # Above about 700 its inverse underflows (version 0.6.0), so only smaller epsilons are compared.
    delta = ours.floor + 1e-6
    if law is LARGE:
        assert ours.epsilon(1e-6) == pytest.approx(other.get_epsilon_for_delta(delta), abs=1e-3)


def test_dp_accounting_agrees_on_geometric_noise() -> None:
    # The step 0.3 holds the losses +-0.3 as they are.
    single = privacy_loss_distribution.from_discrete_laplace_mechanism(0.3, value_discretization_interval=0.3)
    other, ours = single.self_compose(100), composed(TwoSidedGeometric(epsilon=0.3), 100)
    for epsilon in (0.0, 1.0, 5.0, 12.0):
        assert ours.delta(epsilon) == pytest.approx(other.get_delta_for_epsilon(epsilon), abs=1e-12)


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0, 60), st.floats(0, 20))
def test_delta_rises_with_the_counts_and_falls_with_epsilon(
    times: int, more: int, epsilon: float, further: float
) -> None:
    delta = composed(LARGE, times).delta(epsilon)
    assert delta <= composed(LARGE, times + more).delta(epsilon) + 1e-12
    assert delta >= composed(LARGE, times).delta(epsilon + further) - 1e-15


@given(st.integers(1, 300), st.floats(-120, -0.1))
def test_epsilon_is_the_smallest_that_goes_with_delta(times: int, log_excess: float) -> None:
    loss, excess = composed(LARGE, times), math.exp(log_excess)
    epsilon = loss.epsilon(excess)
    assert loss.excess(epsilon) <= excess * (1 + 1e-8)
    if epsilon > 0:
        assert loss.excess(epsilon * (1 - 1e-6)) >= excess * (1 - 1e-8)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta of two Gaussians mu standard deviations apart."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


@pytest.mark.parametrize("epsilon", [480.0, 520.0, 555.53, 580.0])
def test_a_wide_bound_gives_the_gaussian_curve(epsilon: float) -> None:
    # The central limit of the losses; with V = 3 and E = 10 the law is all but the discrete Gaussian.
    assert composed(LARGE, STATISTICS).excess(epsilon) == pytest.approx(
        gaussian_delta(epsilon, math.sqrt(STATISTICS / 3)), rel=2e-3
    )


def test_the_floor_comes_from_the_bound_alone() -> None:
    for times in (1, 10, 2775):
        floor = composed(SMALL, times).floor
        assert floor == pytest.approx(1 - (1 - float(SMALL.pmf(5))) ** times, rel=1e-10)
        assert composed(SMALL, times).delta(composed(SMALL, times).largest) == floor


def test_without_excess_epsilon_is_the_largest_loss() -> None:
    loss = composed(SMALL, 3)
    assert loss.epsilon(0.0) == pytest.approx(3 * 9 * SMALL.lam, rel=1e-12)


def test_a_loss_that_is_always_infinite() -> None:
    loss = ComposedLoss(SteppedLoss.exact(PrivacyLoss(np.empty(0), np.empty(0), 1.0), 1.0), 5)
    assert loss.floor == 1
    assert loss.delta(3.0) == 1
    assert loss.epsilon(0.1) == 0


def test_a_step_too_fine_is_refused() -> None:
    loss = ComposedLoss(SteppedLoss.pessimistic(law_pair(SMALL).up, 1e-8), 10)
    with pytest.raises(ParameterError, match="step must be wide enough"):
        loss.delta(1.0)
