"""Averages of noise, against dense convolution, and the contours of figure 2."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from discreet.equations.closed_form import success
from discreet.noise.max_entropy import MaxEntropy
from discreet.paper.risk_part import average_right, averaging_map, published_maps
from discreet.risk.averaging import chebyshev


@pytest.mark.parametrize(("terms", "representations"), [(1, 1), (7, 3), (20, 12)])
def test_the_chance_of_a_right_average_is_that_of_a_convolution(terms: int, representations: int) -> None:
    law = MaxEntropy(variance=1.5, bound=3)
    p = law.pmf(np.arange(-3, 4))
    total = reduce(np.convolve, [p] * terms)
    values = np.arange(len(total)) - 3 * terms
    expected = total[np.abs(values) / representations < 0.5].sum()
    assert average_right(law, terms, representations) == pytest.approx(expected, rel=1e-10)


def test_many_terms_are_gaussian_with_a_correction_for_whole_numbers() -> None:
    # P(|S| <= 49), taken at 49.5.
    law = MaxEntropy(variance=2, bound=5)
    assert average_right(law) == pytest.approx(success(2 * 1000, 1 / (4 * 49.5**2)), abs=1e-4)


@pytest.mark.parametrize("parameter", ["V", "eps"])
def test_on_the_contours_the_success_is_the_confidence(parameter: str) -> None:
    found = averaging_map(parameter, {}, 0.1, steps=7)
    variances = found.values if parameter == "V" else 2 / found.values**2
    for variance, gaussian, lower in zip(variances, found.gaussian, found.chebyshev, strict=True):
        assert success(variance, gaussian) == pytest.approx(found.confidence, abs=1e-9)
        assert chebyshev(variance, lower) == pytest.approx(found.confidence, abs=1e-9)
    for row, ratio in enumerate(found.ratios):
        for column, variance in enumerate(variances):
            assert found.success[row, column] == pytest.approx(success(variance, ratio))


def test_the_published_ratios_meet_their_limits() -> None:
    variance, epsilon = published_maps()
    assert round(variance.meets(variance.decisive), 2) == 2.88
    assert round(epsilon.meets(epsilon.decisive), 3) == 0.307
