"""Distortions of small areas, against every noise of a few of them, and the figures made of them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from discreet.accuracy.area_counts import AreaCounts, with_sexes
from discreet.noise.geometric import TwoSidedGeometric
from discreet.paper.small_area_part import Question, area_sizes, distortions, tail_curves

WOMEN, MEN = [3, 8, 30, 200, 1], [4, 12, 31, 280, 0]


@pytest.fixture(scope="module")
def areas() -> AreaCounts:
    return with_sexes(list("abcde"), female=WOMEN, male=MEN, countries=["X", "X", "Y", "Y", "X"])


def chance(epsilon: float, holds: object) -> float:
    """Return the probability of noise values that satisfy a condition, by summing the distribution."""
    law = TwoSidedGeometric(epsilon=epsilon)
    values = np.arange(-600, 601)
    return math.fsum(law.pmf(values[[bool(holds(int(x))) for x in values]]))  # type: ignore[operator]


def test_single_counts_are_summed_one_by_one(areas: AreaCounts) -> None:
    question = Question("off-above-40", 0.1, 0.5, 5, 40)
    sizes = [size for size in (*WOMEN, *MEN, *np.add(WOMEN, MEN).tolist()) if 5 <= size <= 40]
    expected = math.fsum(chance(0.1, lambda x, n=size: abs(x) >= 0.5 * n) for size in sizes)
    assert question.expected(areas).expected == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("down", [False, True])
def test_whole_areas_are_products_of_three(areas: AreaCounts, down: bool) -> None:
    question = Question("broadband-above-40", 0.1, 1.0, 1, 100, broadband=True, down=down)
    expected = 0.0
    for women, men in list(zip(WOMEN, MEN, strict=True))[:3]:
        three = (women, men, women + men)
        below = math.prod(chance(0.1, lambda x, n=n: x <= -n) for n in three)
        above = math.prod(chance(0.1, lambda x, n=n: x >= n) for n in three)
        expected += below if down else below + above
    assert question.expected(areas).expected == pytest.approx(expected, rel=1e-9)


def test_the_bars_count_areas(areas: AreaCounts) -> None:
    found = area_sizes(areas)
    assert found.by_size.sum() == sum(found.by_country.values()) == 5
    assert found.by_size[0] == 3
    assert found.by_country == {"X": 3, "Y": 2}


def test_the_panels_are_those_of_the_figure(areas: AreaCounts) -> None:
    found = distortions(areas)
    assert [(each.epsilon, each.broadband) for each in found] == [
        (0.025, False), (0.025, True), (0.1, False), (0.1, True), (0.4, False)
    ]  # fmt: skip
    for each, share in product(found, (0.2, 0.5, 1.0)):
        assert len(each.estimated[share]) == len(each.limits) == len(each.drawn[share])
        if not each.broadband:
            # The paper's estimate: every count as large as the limit of its bin.
            places = [0 < n <= 20 for n in (*WOMEN, *MEN, *np.add(WOMEN, MEN).tolist())]
            assert each.estimated[share][0] == pytest.approx(sum(places) * math.exp(-each.epsilon * share * 20))


def test_the_tails_are_exponential(areas: AreaCounts) -> None:
    found = tail_curves(areas)
    for error, chances in found.chances.items():
        assert chances == pytest.approx(np.exp(-error * found.epsilons))
    assert found.one_of == {20: 1 / 3, 50: 1 / 3, 100: 1 / 4}
