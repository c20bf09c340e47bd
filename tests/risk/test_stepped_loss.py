"""Losses with equal steps: which laws have them, and how others are rounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.noise import DiscreteGaussian, Gaussian, Laplace, MaxEntropy, Truncated, TwoSidedGeometric, Uniform
from discreet.risk.neighbouring_counts import law_pair
from discreet.risk.privacy_loss import PrivacyLoss, SteppedLoss, spacing

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

EXACT = [
    MaxEntropy(variance=2, bound=5),
    MaxEntropy(variance=11, bound=5),
    MaxEntropy(variance=10, bound=5),
    DiscreteGaussian(sigma=1.3),
    TwoSidedGeometric(epsilon=0.4, sensitivity=2),
    Uniform(bound=4),
    Truncated(DiscreteGaussian(sigma=2.0), 6),
    Truncated(TwoSidedGeometric(epsilon=0.7), 6),
]


def losses(stepped: SteppedLoss) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the losses that a stepped loss stands for."""
    return np.asarray(stepped.lowest + stepped.step * stepped.k)


@pytest.mark.parametrize("shift", [1, 2, 4])
@pytest.mark.parametrize("law", EXACT, ids=repr)
def test_steps_hold_every_loss_exactly(law: Noise, shift: int) -> None:
    loss, step = law_pair(law, shift).up, spacing(law, shift)
    assert step is not None
    stepped = SteppedLoss.exact(loss, step)
    nearest = np.abs(losses(stepped)[:, None] - loss.losses[None, :]).min(axis=0)
    assert nearest.max() < 1e-9
    assert math.fsum(stepped.probabilities) + stepped.infinite == pytest.approx(1, abs=1e-12)


def test_losses_of_the_maximum_entropy_law_are_odd_multiples_of_lambda() -> None:
    law = MaxEntropy(variance=3, bound=10)
    multiples = law_pair(law).up.losses / law.lam
    np.testing.assert_allclose(np.sort(multiples), np.arange(-19, 20, 2), atol=1e-9)


@pytest.mark.parametrize("law", [Gaussian(sigma=2.0), Laplace(scale=2.0), Truncated(Laplace(scale=2.0), 5)], ids=repr)
def test_other_laws_have_no_steps(law: Noise) -> None:
    assert spacing(law) is None


def test_rounding_goes_up_and_down() -> None:
    loss = PrivacyLoss(np.array([-0.25, 0.31, 0.39]), np.array([0.3, 0.4, 0.2]), infinite=0.06, beyond=0.04)
    above, below = SteppedLoss.pessimistic(loss, 0.1), SteppedLoss.optimistic(loss, 0.1)
    np.testing.assert_allclose(losses(above), [-0.2, 0.4], atol=1e-12)
    np.testing.assert_allclose(above.probabilities, [0.3, 0.6])
    np.testing.assert_allclose(losses(below), [-0.3, 0.3], atol=1e-12)
    assert above.infinite == pytest.approx(0.1)
    assert below.infinite == 0.06
    assert above.largest == pytest.approx(0.4)


@pytest.mark.parametrize("kind", [SteppedLoss.exact, SteppedLoss.pessimistic, SteppedLoss.optimistic])
def test_a_loss_that_is_always_infinite(kind: type[SteppedLoss]) -> None:
    stepped = kind(PrivacyLoss(np.empty(0), np.empty(0), infinite=1.0), 0.1)  # type: ignore[call-arg, arg-type]
    assert stepped.largest == -math.inf
    assert stepped.infinite == 1
