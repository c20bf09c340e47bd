"""Mean and variance of a published count against brute force over true counts and noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import poisson

from discreet.accuracy.independence_test import PublishedMoments
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable, PTableRow
from tests.accuracy.test_independence_test import LAWS

TILTED = transition_matrix(PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 1, 4), (0.2, 0.5, 0.3)))))


@pytest.mark.parametrize("law", [*LAWS.values(), TILTED], ids=[*LAWS, "biased"])
@pytest.mark.parametrize("mean", [0.3, 1.0, 4.0, 12.0, 90.0])
def test_moments_of_a_published_count_are_those_of_brute_force(law: TransitionMatrix, mean: float) -> None:
    def moments(at: float) -> tuple[float, float]:
        true = np.arange(int(at + 12 * math.sqrt(at) + 30))
        shown = np.arange(-law.reach, len(true) + law.reach)
        chance = poisson.pmf(true, at) @ law.chance(true[:, None], shown[None, :])
        first = float(chance @ shown)
        return first, float(chance @ (shown - first) ** 2)

    found = [float(part[0]) for part in PublishedMoments.of(law).at(np.array([mean]))]
    # Laws that take turns are replaced by their average for large counts.
    close = 3e-3 if law.repeat > 1 else 1e-9
    assert found[:2] == pytest.approx(moments(mean), rel=close)
    slope = (moments(mean * 1.0001)[0] - moments(mean / 1.0001)[0]) / (2 * math.log(1.0001))
    assert found[2] == pytest.approx(slope, rel=1e-5)


def test_a_wide_law_that_is_cut_at_0_takes_no_table_of_all_its_counts() -> None:
    """Noise of some thousands: moments of small means are those of the law cut at 0, far from any bound."""
    law = transition_matrix(TwoSidedGeometric(epsilon=0.01), zeros=True, non_negative=True)
    mean, variance, _ = (float(part[0]) for part in PublishedMoments.of(law).at(np.array([20.0])))
    published = law.publish(np.random.default_rng(1).poisson(20.0, 200_000), np.random.default_rng(2))
    error = published.std() / math.sqrt(len(published))
    assert abs(mean - published.mean()) < 4 * error
    assert variance == pytest.approx(published.var(), rel=0.05)
    assert abs(1.3 * mean - published.mean()) > 10 * error
