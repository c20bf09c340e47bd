"""The prior learnt from published counts: against the law the counts were drawn from, and means against convolution."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.attacker_view import AssumedNoise, PopulationCounts, noise_from_record
from discreet.attacks.count_prior import SMALL, empirical_prior, kind_priors, kinds, mean_noise
from discreet.release.record import Record
from discreet.tabulation.cell_vector import CellVector
from tests.programme.small import programme


def law(variance: float = 2, bound: int = 5, *, shared: str = "coordinates", **more: bool) -> AssumedNoise:
    """Return the noise of a p-table."""
    made = noise_from_record(Record(programme="x", parameters={"variance": variance, "bound": bound, **more}))
    return AssumedNoise(made.laws, made.variance, made.bound, shared=shared)


EXACT = AssumedNoise((np.ones(1),), 0.0, 0.0, shared="participants")
NOISY_ZEROS = law(perturb_zeros=True)


def crowded(cells: int, seed: int = 1) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return counts of cells of very different sizes, many of them empty."""
    random = np.random.default_rng(seed)
    return random.poisson(random.gamma(0.4, 5, cells))


@pytest.mark.parametrize("noise", [EXACT, law(), law(10, 9), NOISY_ZEROS])
def test_it_finds_the_shares_of_true_counts(noise: AssumedNoise) -> None:
    counts = crowded(20_000)
    found = empirical_prior(noise.publish(counts, np.random.default_rng(2)).astype(float), noise)
    actual = np.bincount(counts, minlength=SMALL + 1)[: SMALL + 1] / len(counts)
    assert found[: SMALL + 1] == pytest.approx(actual, abs=0.02)
    # Counts that are 30 percent smaller are distinguished from these.
    fewer = np.bincount(np.random.default_rng(3).binomial(counts, 0.7), minlength=4)[:4] / len(counts)
    assert np.abs(found[:4] - actual[:4]).max() < np.abs(found[:4] - fewer).max() / 2


@given(st.lists(st.integers(-5, 60), max_size=12), st.sampled_from([EXACT, law(), NOISY_ZEROS]))
def test_it_is_a_law_that_holds_nothing_to_be_impossible(published: list[int], noise: AssumedNoise) -> None:
    found = empirical_prior(np.array(published, dtype=float), noise)
    assert found.sum() == pytest.approx(1)
    assert (found > 0).all()
    assert len(found) == SMALL + 2 * noise.reach + 1
    assert np.ptp(found[SMALL:]) == 0


def test_a_mean_over_tables_is_told_from_one_value() -> None:
    noise, counts = law(4, 6, shared="nothing"), crowded(8_000)
    random = np.random.default_rng(4)
    mean = np.mean([noise.publish(counts, random) for _ in range(4)], axis=0)
    actual = np.bincount(counts)[:3] / len(counts)
    assert empirical_prior(mean, noise, 4)[:3] == pytest.approx(actual, abs=0.02)
    # Taken for single values, rounded means are much too sure to be near their counts.
    assert np.abs(empirical_prior(mean, noise)[:3] - actual).max() > 0.03


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("non_negative", [False, True])
@pytest.mark.parametrize("repeat", [1, 2])
def test_the_law_of_a_sum_over_tables_is_a_convolution(times: int, non_negative: bool, repeat: int) -> None:
    random = np.random.default_rng(5)
    laws = tuple(row / row.sum() for row in random.random((4, 5)))
    noise = AssumedNoise(laws, 1.0, 2.0, repeat, non_negative, shared="nothing")
    sums = np.arange(-10, 60)
    for count in range(9):
        once = noise.chance(np.array(count), np.arange(-2, 20))
        whole = reduce(np.convolve, [once] * times)
        expected = [whole[s + 2 * times] if 0 <= s + 2 * times < len(whole) else 0.0 for s in sums.tolist()]
        assert mean_noise(noise, times).chance(np.array(count), sums) == pytest.approx(expected, abs=1e-12)


def test_one_table_has_the_noise_itself() -> None:
    assert mean_noise(NOISY_ZEROS, 1) is NOISY_ZEROS


def test_statistics_are_of_one_kind_by_their_share_of_zeros() -> None:
    layout = CellVector("persons", programme([("A", "B")], {"A": (4,), "B": (5,)}), spsn=True)
    lattice, equations = layout.lattice, layout.equations
    published = np.full(layout.cells, 7.0)
    published[equations.cells_of(lattice.position("B1"))] = [0, 0, 0, 0, 7]
    published[equations.cells_of(lattice.position("A1"))] = [0, 0, 0, 7]
    view = PopulationCounts(layout, published)
    # Twentieths, rounded up: 0.8 and 0.75.
    assert dict(zip(layout.names, kinds(view).tolist(), strict=True)) == {"total": 0, "A1": 15, "B1": 16, "A1 B1": 0}
    priors = dict(zip(layout.names, kind_priors(view, law()), strict=True))
    assert np.array_equal(priors["total"], priors["A1 B1"])
    assert priors["B1"][0] > priors["A1"][0] > priors["total"][0]


def test_without_shared_noise_statistics_in_more_tables_are_a_kind_of_their_own() -> None:
    found = []
    for how in ("coordinates", "nothing"):
        made = programme([("A", "B"), ("A",)], {"A": (4,), "B": (5,)})
        layout = CellVector("persons", made, spsn=how != "nothing")
        view = PopulationCounts(layout, np.full(layout.cells, 3.0))
        found.append(dict(zip(layout.names, kind_priors(view, law(shared=how)), strict=True)))
    shared, fresh = found
    assert np.array_equal(shared["A1"], shared["B1"])
    # Two tables show A1 and the total, one shows B1.
    assert np.array_equal(fresh["A1"], fresh["total"])
    assert not np.array_equal(fresh["A1"], fresh["B1"])
