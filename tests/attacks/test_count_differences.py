from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.attacker_view import noise_from_record
from discreet.attacks.count_differences import ADDED, Differences, averaged, kinds, predicted, skellam, turnover
from discreet.attacks.count_prior import empirical_prior
from discreet.release.record import Record

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.attacks.attacker_view import AssumedNoise

PTABLE = noise_from_record(Record(programme="town", parameters={"variance": 2, "bound": 4}))
GEOMETRIC = noise_from_record(Record(programme="town", law="geometric", parameters={"epsilon": 0.7}, non_negative=True))
NOISY_ZEROS = noise_from_record(
    Record(programme="town", law="geometric", parameters={"epsilon": 0.7}, perturb_zeros=True)
)


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- The chance of two published counts ---


@pytest.mark.parametrize("noise", [PTABLE, GEOMETRIC, NOISY_ZEROS])
def test_the_chance_of_a_pair_is_the_sum_over_true_counts(noise: AssumedNoise) -> None:
    random = generator()
    true = random.poisson(2, 400)
    first, second = noise.publish(true, random), noise.publish(true, random)
    model = Differences(first, second, noise, noise, random, turnover(noise))
    prior = empirical_prior(first.astype(float), noise)
    a, b = np.array([0, 0, 1, 3, 5]), np.array([0, 2, 0, 4, 2])
    chance, _ = model.likelihood(a, b)
    window = np.arange(chance.shape[1]) - chance.shape[1] // 2
    for pair, offset in product(range(len(a)), range(0, len(window), 3)):
        change = b[pair] - a[pair] + window[offset]
        n = np.arange(len(prior))
        wanted = (prior * noise.chance(n, a[pair : pair + 1]) * noise.chance(n + change, b[pair : pair + 1])).sum()
        assert chance[pair, offset] == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_large_counts_have_the_law_of_the_difference_of_two_noises() -> None:
    law = PTABLE.laws[-1]
    far = Differences(np.array([500]), np.array([900]), PTABLE, PTABLE, generator(), turnover(PTABLE)).guesses()
    # With a flat prior the published difference is right with probability sum_x p(x)^2.
    assert far.estimate.tolist() == [400]
    assert far.confidence[0] == pytest.approx(law @ law)


@given(st.integers(-40, 40), st.floats(0.01, 30), st.floats(0.01, 30))
def test_the_law_of_coming_and_going_is_that_of_two_poisson_counts(change: int, come: float, go: float) -> None:
    from scipy.stats import skellam as known

    assert skellam(np.array(change), np.array(come), np.array(go)) == pytest.approx(
        known.pmf(change, come, go), rel=1e-6, abs=1e-12
    )


def test_nobody_goes_where_the_rate_is_none() -> None:
    from scipy.stats import poisson

    change = np.arange(-3, 9)
    found = skellam(change, np.array(2.5), np.array(0.0))
    assert found == pytest.approx(poisson.pmf(change, 2.5))


# --- Guesses ---


def published(true: Ints, later: Ints, *, alike: bool, random: np.random.Generator) -> tuple[Ints, Ints]:
    first = PTABLE.publish(true, random)
    again = PTABLE.publish(later, random)
    return first, np.where(alike & (true == later), first, again)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("size", [(0, 8), (40, 400)])
def test_confidence_is_the_share_that_is_right(alike: bool, size: tuple[int, int]) -> None:
    random = generator(3)
    true = random.integers(*size, 6000)
    later = true - random.binomial(true, 0.02) + random.poisson(0.01 * true)
    first, second = published(true, later, alike=alike, random=random)
    model = Differences(first, second, PTABLE, PTABLE, random, turnover(PTABLE), alike=alike, exchange=False)
    guesses = model.guesses()
    right = guesses.estimate == later - true
    assert right.mean() >= (later == true).mean() - 0.01
    assert guesses.confidence.mean() == pytest.approx(right.mean(), abs=0.05)
    for name, change in (("0", 0), ("1", 1)):
        here = np.abs(later - true) == change
        assert predicted([guesses])[name] == pytest.approx(right[here].mean(), abs=0.12)


def test_where_what_stays_is_published_alike_a_difference_excludes_no_change() -> None:
    random = generator(4)
    true = random.integers(20, 60, 3000)
    later = true - (random.random(3000) < 0.1)
    first, second = published(true, later, alike=True, random=random)
    guesses = Differences(first, second, PTABLE, PTABLE, random, turnover(PTABLE), alike=True, exchange=False).guesses()
    assert (guesses.estimate[first != second] != 0).all()
    assert (guesses.alike[first != second] == 0).all()
    assert guesses.alike[first == second].mean() > 0.9


def test_who_is_added_is_never_negative() -> None:
    random = generator(5)
    true = random.integers(0, 50, 3000)
    later = true + random.poisson(0.05 * true)
    first, second = PTABLE.publish(true, random), PTABLE.publish(later, random)
    guesses = Differences(first, second, PTABLE, PTABLE, random, ADDED).guesses()
    assert guesses.estimate.min() >= 0
    assert guesses.confidence.mean() == pytest.approx((guesses.estimate == later - true).mean(), abs=0.05)


def test_without_noise_every_difference_is_certain() -> None:
    exact = noise_from_record(Record(programme="town", mechanism="exact", law="none", parameters={}))
    first, second = np.array([0, 3, 700]), np.array([1, 3, 20])
    guesses = Differences(first, second, exact, exact, generator(), turnover(exact)).guesses()
    assert guesses.estimate.tolist() == [1, 0, -680]
    assert guesses.confidence.tolist() == [1, 1, 1]


def test_what_the_law_cannot_explain_has_no_confidence() -> None:
    guesses = Differences(np.array([0, -30]), np.array([0, 0]), PTABLE, PTABLE, generator(), turnover(PTABLE)).guesses()
    assert guesses.confidence[1] == 0
    assert guesses.estimate[1] == 30


# --- Kinds and means ---


@pytest.mark.parametrize("tables", [1, 2, 3])
def test_a_mean_of_several_noises_keeps_its_law(tables: int) -> None:
    found = averaged(PTABLE, tables)
    random = generator(6)
    counts = np.full((tables, 200_000), 100)
    mean = (PTABLE.publish(counts, random) - counts).mean(axis=0)
    # Half of what lies between two counts goes to each.
    rounded = np.rint(mean + random.choice([-1e-6, 1e-6], len(mean))).astype(int)
    seen = np.bincount(rounded + 4, minlength=9) / len(mean)
    assert np.abs(seen - found.laws[-1]).max() < 0.006
    assert found.laws[-1].sum() == pytest.approx(1)
    assert found.variance == pytest.approx(PTABLE.variance / tables)
    # An empty cell has no noise in any table.
    assert found.laws[0].tolist() == PTABLE.laws[0].tolist()


def test_statistics_of_one_size_are_one_kind() -> None:
    counts, statistic = np.array([100, 120, 90, 1, 0]), np.array([0, 0, 1, 2, 2])
    assert kinds(counts, statistic).tolist() == [1, 1, 1, 0, 0]
    assert len(set(kinds(counts, statistic, np.array([1, 2, 1])).tolist())) == 3
