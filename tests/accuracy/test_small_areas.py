"""Small areas: exact figures on a hand-made list, releases drawn, sentences."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from discreet.accuracy.area_counts import AreaCounts, load_areas, with_sexes, with_simulated_sexes
from discreet.accuracy.distortion import LIMITS
from discreet.accuracy.small_areas import SmallAreas, small_areas
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.truncated import PROMISED
from discreet.noise.uniform import Uniform

TOWNS = with_sexes(["a", "b", "c"], female=[2, 0, 0], male=[3, 4, 0], names=["Alt", "Neu", "Leer"])


@cache
def spain() -> AreaCounts:
    return load_areas("lau:by-sex:ES")


def test_single_counts_against_all_outcomes() -> None:
    found = small_areas(TOWNS, Uniform(bound=3), sample=False)
    counts = [2, 3, 5, 4, 4]
    for line in found.single:
        off = [sum(abs(x) > line.relative * n for x in range(-3, 4)) / 7 for n in counts]
        assert line.all.number == len(counts)
        assert line.all.expected == pytest.approx(sum(off))
        assert line.all.standard_error == pytest.approx(math.sqrt(sum(p * (1 - p) for p in off)))
        assert line.bins[0].binned == pytest.approx(5 * (line.relative * 20 < 3))


def test_broadband_against_all_outcomes() -> None:
    found = small_areas(TOWNS, Uniform(bound=3), sample=False)
    for distorted in found.broadband:
        outcomes = list(product(range(-3, 4), repeat=3))
        share = distorted.relative
        off = [
            all(x > share * n for x, n in zip(noise, (2, 3, 5), strict=True))
            or all(x < -share * n for x, n in zip(noise, (2, 3, 5), strict=True))
            for noise in outcomes
        ]
        # The second town has no women, the third nobody.
        assert distorted.all.number == 1
        assert distorted.all.expected == pytest.approx(sum(off) / len(outcomes))


def test_towns_without_residents_are_left_out_counted_and_told() -> None:
    found = small_areas(TOWNS, Uniform(bound=3))
    assert (found.areas, found.unpopulated) == (2, 1)
    for result in found.results[:-1]:
        assert "excluded areas without residents: 1" in result.assumptions


def test_simulated_sexes_are_told_beside_every_figure() -> None:
    areas = with_simulated_sexes(["a"], [], [100], seed=4)
    for result in small_areas(areas, TwoSidedGeometric(epsilon=0.1)).results:
        assert any("sexes are simulated" in words and "seed 4" in words for words in result.assumptions)


def test_binned_as_in_the_paper() -> None:
    found = small_areas(spain(), TwoSidedGeometric(epsilon=0.1), sample=False)
    half = found.single[1]
    counts = spain().counts
    number = int(((counts > 60) & (counts <= 80)).sum())
    assert half.bins[3].number == number
    assert half.bins[3].binned == pytest.approx(number * math.exp(-0.1 * 0.5 * 80))
    own = small_areas(spain(), transition_matrix(TwoSidedGeometric(epsilon=0.1)), sample=False).single[1]
    q = math.exp(-0.1)
    assert own.bins[3].binned == pytest.approx(number * 2 * q**41 / (1 + q))
    assert LIMITS[3] == 80


def zscores(drawn: SmallAreas, expected: SmallAreas) -> list[float]:
    pairs = [
        (a.all, b.all)
        for kind in ("single", "broadband")
        for a, b in zip(getattr(drawn, kind), getattr(expected, kind), strict=True)
    ]
    pairs += [(a, b) for a, b in zip(drawn.lost, expected.lost, strict=True)]
    return [((a.sampled or 0) - b.expected) / b.standard_error for a, b in pairs if b.expected > 10]


def test_a_release_has_what_is_expected_and_one_with_larger_noise_has_not() -> None:
    expected = small_areas(spain(), TwoSidedGeometric(epsilon=0.05), sample=False)
    scores = zscores(small_areas(spain(), TwoSidedGeometric(epsilon=0.05), seed=11), expected)
    assert len(scores) == 8
    assert max(map(abs, scores)) < 4
    larger = zscores(small_areas(spain(), TwoSidedGeometric(epsilon=0.05 / 1.3), seed=11), expected)
    assert min(larger[:3]) > 10
    assert min(larger) > 1


def test_bounded_noise_distorts_no_count_above_its_bound() -> None:
    found = small_areas(spain(), PTable.max_entropy(variance=2, bound=5))
    whole = found.single[-1]
    assert whole.bins[0].expected > 0
    assert not any(line.expected or line.sampled for line in whole.bins[1:])
    largest = found.results[-1]
    assert largest.sentence == (
        "The error of a count is at most 5. The relative error is below 100% for counts above 5, below 50% for counts "
        "above 10, below 20% for counts above 25."
    )
    assert not any("negative" in words for words in found.assumptions)


@pytest.mark.parametrize(
    ("name", "settings", "bound"),
    [
        ("truncated-laplace", (0.5, 8e-3), 7),
        ("truncated-gaussian", (1.5, 2e-5), 12),
    ],
)
def test_truncated_laws_are_bounded_too(name: str, settings: tuple[float, float], bound: int) -> None:
    found = small_areas(spain(), PROMISED[name](*settings))
    assert found.bound == bound
    assert found.lost[0].expected < 20


def test_a_release_is_the_same_for_the_same_seed_and_its_largest_area_is_named() -> None:
    one, two, other = (small_areas(spain(), TwoSidedGeometric(epsilon=0.025), seed=seed) for seed in (1, 1, 2))
    assert one == two != other
    gone = one.lost[0].largest
    assert gone is not None
    place = spain().codes.index(gone.code)
    assert gone.true == tuple(spain().counts[:, place].tolist())
    assert gone.published[2] <= 0
    result = next(result for result in one.results if result.name == "areas_without_residents")
    assert result.worst == gone.code
    assert str(gone) in result.sentence


def test_negative_counts_published_as_0_are_told() -> None:
    law = transition_matrix(TwoSidedGeometric(epsilon=0.025), non_negative=True)
    found = small_areas(spain(), law)
    assert "negative counts are published as 0" in found.assumptions
    assert found.single[-1].all.expected == pytest.approx(found.single[-1].all.up)
    assert found.lost[0].largest is not None
    assert found.lost[0].largest.published[2] == 0


def test_json_holds_everything_and_no_infinity() -> None:
    found = json.loads(json.dumps(small_areas(TOWNS, TwoSidedGeometric(epsilon=1)).to_json(), allow_nan=False))
    assert found["bound"] is None
    assert [line["relative"] for line in found["single"]] == [0.2, 0.5, 1.0]
    assert len(found["single"][0]["bins"]) == 26


def test_names_of_results_are_different() -> None:
    names = [result.name for result in small_areas(TOWNS, Uniform(bound=3)).results]
    assert len(set(names)) == len(names) == 11


def test_without_noise_nothing_is_distorted() -> None:
    found = small_areas(spain(), transition_matrix(None))
    assert not any(distorted.all.expected or distorted.all.sampled for distorted in (*found.single, *found.broadband))
    assert not any(each.expected or each.sampled for each in found.lost)


def test_a_release_that_is_there() -> None:
    published = np.array([[2, 0, 0], [-1, 5, 0], [8, 4, 0]])
    found = small_areas(TOWNS, Uniform(bound=4), published=published)
    # Errors: women 0; men -4 of 3 and 1 of 4; total 3 of 5 and 0.
    assert [line.all.sampled for line in found.single] == [3, 2, 1]
    assert [each.sampled for each in found.lost] == [0, 0, 1]
    assert found.lost[2].largest is not None
    assert found.lost[2].largest.code == "a"
    assert found.seed is None
    assert found.results[0].sentence.endswith(" This release has 3.")
    with pytest.raises(ParameterError, match=r"published must be an array of 3 rows \(women, men, total\) of 3 areas"):
        small_areas(TOWNS, Uniform(bound=4), published=published[:2])


def test_totals_alone() -> None:
    areas = AreaCounts(("a", "b"), None, None, np.array([5, 100]))
    found = small_areas(areas, Uniform(bound=3), published=np.array([[2, 100]]))
    assert found.broadband == ()
    assert [(each.what, each.sampled) for each in found.lost] == [("total", 0)]
    assert found.single[0].all.number == 2
    assert found.single[0].all.expected == pytest.approx(4 / 7)
    assert found.single[1].all.sampled == 1
    assert not any("women" in words for words in found.assumptions)


def test_counts_are_not_changed() -> None:
    before = spain().counts.copy()
    small_areas(spain(), TwoSidedGeometric(epsilon=0.1))
    assert np.array_equal(before, spain().counts)


def test_simulated_sexes_and_drawn_noise_are_independent_under_one_seed() -> None:
    """Areas of twelve: were both drawn from one stream, women would have noise in step with their number."""
    codes = [str(n) for n in range(20_000)]
    areas = with_simulated_sexes(codes, [], np.full(len(codes), 12), seed=0)
    found = small_areas(areas, TwoSidedGeometric(epsilon=0.2), seed=0)
    women = next(each for each in found.lost if each.what == "women")
    assert women.sampled is not None
    assert abs(women.sampled - women.expected) < 4 * women.standard_error


def test_the_chance_that_all_totals_are_accurate() -> None:
    kept, risky = (small_areas(spain(), law) for law in (Uniform(bound=20), TwoSidedGeometric(epsilon=0.1)))
    assert kept.within == 1
    assert risky.within < 1e-6
    assert kept.results[-2].sentence.endswith("are within 20 of the true total with probability 1.")
    assert risky.results[-1].sentence.endswith("with probability less than 1e-06.")


def test_true_counts_can_be_left_out_of_what_is_told() -> None:
    told = small_areas(spain(), TwoSidedGeometric(epsilon=0.1)).without_truth()
    largest = [each.largest for each in told.lost]
    assert all(each is not None and each.true == () and each.published for each in largest)
    assert "published as" in str(largest[0])
    assert "->" not in " ".join(result.sentence for result in told.results)


def test_chances_by_size_are_those_of_the_law() -> None:
    law = TwoSidedGeometric(epsilon=0.1)
    found = {each.count: each.off for each in small_areas(TOWNS, law).chances}
    # P(|x| > E) = 2 q^(E + 1) / (1 + q).
    q = math.exp(-0.1)
    for count, off in found.items():
        assert off == pytest.approx(
            [2 * q ** (int(r * count) + 1) / (1 + q) for r in (0.2, 0.5, 1.0)], rel=1e-6, abs=1e-10
        )
    bounded = small_areas(TOWNS, PTable.max_entropy(variance=2, bound=5)).chances
    assert all(each.off == (0, 0, 0) for each in bounded if each.count > 25)
