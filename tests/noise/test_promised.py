"""Truncated laws by epsilon and delta: the smallest bound that keeps what is promised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import truncated as promised_module
from discreet.noise.truncated import (
    PROMISED,
    TruncatedGaussian,
    TruncatedLaplace,
    truncated_gaussian_for,
    truncated_laplace_for,
)
from discreet.risk.epsilon_delta import delta_at
from tests.each import each
from tests.quick import up_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.noise.distribution import Noise

every = pytest.mark.parametrize("promised", PROMISED.values(), ids=PROMISED)


def delta(law: Noise, epsilon: float) -> float:
    """Return delta by its definition, the larger of both directions: sum of max(0, p(x) - e^eps p(x - 1))."""
    x = np.arange(-int(law.bound) - 1, int(law.bound) + 2)
    sides = (law.pmf(x - 1), law.pmf(x + 1))
    return max(float(np.maximum(0, law.pmf(x) - math.exp(epsilon) * other).sum()) for other in sides)


def with_bound(law: Noise, epsilon: float, bound: int) -> Noise:
    """Return the law of the same kind and epsilon with another bound."""
    if isinstance(law, TruncatedLaplace):
        return TruncatedLaplace(epsilon=epsilon, bound=bound)
    return TruncatedGaussian(sigma=math.sqrt((2 * bound - 1) / (2 * epsilon)), bound=bound)


@each(
    ("promised", "epsilon", "most", "bound"),
    [
        (truncated_laplace_for, 0.5, 8e-3, 7),
        (truncated_laplace_for, 1.5, 2e-5, 7),
        (truncated_gaussian_for, 0.5, 8e-3, 10),
        (truncated_gaussian_for, 1.5, 2e-5, 12),
    ],
)
def test_bounds_are_those_of_rinott(
    promised: Callable[[float, float], Noise], epsilon: float, most: float, bound: int
) -> None:
    assert promised(epsilon, most).bound == bound


@every
@settings(max_examples=up_to(80))
@given(epsilon=st.floats(0.1, 3), exponent=st.floats(-7, -1))
def test_delta_is_that_of_the_outermost_value_and_a_smaller_bound_would_break_it(
    promised: Callable[[float, float], Noise], epsilon: float, exponent: float
) -> None:
    most = 10**exponent
    law = promised(epsilon, most)
    bound = int(law.bound)
    found = delta(law, epsilon)
    # e^eps is rounded: cancellation has an error of a few units in the last place of every probability.
    assert found == pytest.approx(float(law.pmf(bound)), rel=1e-9, abs=1e-14)
    assert float(law.pmf(bound)) <= most
    assert law == with_bound(law, epsilon, bound)
    if bound > 1:
        assert delta(with_bound(law, epsilon, bound - 1), epsilon) > most


@every
def test_the_risk_measure_agrees(promised: Callable[[float, float], Noise]) -> None:
    law = promised(0.5, 8e-3)
    assert delta_at(law, 0.5).value == pytest.approx(float(law.pmf(int(law.bound))), rel=1e-9)
    # A little less epsilon, and delta is more than that.
    assert delta_at(law, 0.45).value > 1.05 * float(law.pmf(int(law.bound)))


@every
def test_a_large_delta_is_kept_by_a_bound_of_1(promised: Callable[[float, float], Noise]) -> None:
    assert promised(1.0, 0.5).bound == 1


@every
@each(
    ("epsilon", "most", "message"),
    [
        (0.0, 0.1, "truncated noise: epsilon must be a positive number, not 0.0. Typical values: 0.5 to 1.5."),
        (math.inf, 0.1, "epsilon must be a positive number, not inf"),
        (math.nan, 0.1, "epsilon must be a positive number, not nan"),
        (1.0, 0.0, "truncated noise: delta must be above 0 and below 1, not 0.0"),
        (1.0, 1.0, "delta must be above 0 and below 1, not 1.0"),
        (1.0, math.nan, "delta must be above 0 and below 1, not nan"),
        (1e-6, 1e-30, "No bound up to 4096 gives epsilon 1e-06 with delta 1e-30. Choose larger values."),
    ],
)
def test_what_cannot_be_promised_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    promised: Callable[[float, float], Noise],
    epsilon: float,
    most: float,
    message: str,
) -> None:
    # The same refusal as at the real limit, sooner.
    monkeypatch.setattr(promised_module, "WIDEST_BOUND", 4096)
    with pytest.raises(ParameterError) as caught:
        promised(epsilon, most)
    assert message in str(caught.value)
