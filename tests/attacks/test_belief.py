"""The assumed noise distribution: it sums to 1, agrees with that of the record, and is the one sampled from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.attacker_view import AssumedNoise, noise_from_disclosure, noise_from_record
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.truncated import TruncatedGaussian
from discreet.release.record import Record
from tests.noise.goodness import ACCEPT, REJECT, chi_square
from tests.protection.town import SECRET

if TYPE_CHECKING:
    from discreet.mechanisms.mechanism import Mechanism

COUNTS = np.arange(40)


def record(mechanism: Mechanism, *, non_negative: bool = False) -> Record:
    return Record(programme="x", **mechanism.described(), non_negative=non_negative)


def two(count: int, size: int) -> PTableRow:
    """Return a row that moves a count up or down by one size."""
    return PTableRow(count, (-size, size), (0.5, 0.5))


TURNS = PTable((PTableRow(0, (0,), (1.0,)), two(1, 1), two(2, 1), two(3, 2), two(4, 3)), repeat=3)
"""Rows 2, 3 and 4 serve larger counts in turn."""
RECORDS = {
    "p-table": record(CellKey(PTable.max_entropy(variance=2, bound=5), secret=SECRET)),
    "j_s": record(CellKey(PTable.max_entropy(variance=3, bound=5, threshold=2), secret=SECRET)),
    "noisy zeros": record(CellKey(PTable.max_entropy(variance=2, bound=4, perturb_zeros=True), secret=SECRET)),
    "not negative": record(
        CellKey(PTable.max_entropy(variance=2, bound=4, perturb_zeros=True), secret=SECRET), non_negative=True
    ),
    "turns": record(CellKey(TURNS, secret=SECRET)),
    "law": record(Coordinates(TruncatedGaussian(sigma=1.5, bound=4), secret=SECRET)),
    "unbounded": record(Fresh(TwoSidedGeometric(epsilon=0.7), perturb_zeros=True)),
    "unbounded, not negative": record(Fresh(Laplace(scale=2.0)), non_negative=True),
    "exact": record(Exact()),
}
DISCLOSED = {"method": "random noise with cell keys", "typical_noise": 1.4, "same_count_same_noise": True}


def values_of(noise: AssumedNoise, counts: np.ndarray) -> np.ndarray:
    """Return every value that any of these counts may be published as."""
    return np.arange(counts.min() - noise.reach, counts.max() + noise.reach + 1)


# --- The law ---


@pytest.mark.parametrize("name", RECORDS)
def test_chances_sum_to_1_over_the_published_values_of_every_count(name: str) -> None:
    noise = noise_from_record(RECORDS[name])
    chance = noise.chance(COUNTS[:, None], values_of(noise, COUNTS)[None, :])
    assert (chance >= 0).all()
    assert chance.sum(axis=1) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", RECORDS)
def test_chances_are_those_of_the_record(name: str) -> None:
    record, noise = RECORDS[name], noise_from_record(RECORDS[name])
    for count in (0, 1, 2, 3, 4, 5, 6, 7, 20):
        law = None if name == "exact" else record.largest_noise.row(count)
        shift = np.arange(-noise.reach, noise.reach + 1)
        expected = (shift == 0).astype(float) if law is None else law.pmf(shift)
        published = count + shift
        if record.non_negative:
            # What would have been negative is published as 0.
            expected = np.where(published == 0, expected[published <= 0].sum(), np.where(published < 0, 0, expected))
        found = noise.chance(np.full(len(shift), count), published)
        assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", RECORDS)
def test_what_no_noise_leads_to_has_no_chance(name: str) -> None:
    noise = noise_from_record(RECORDS[name])
    far = noise.reach + 1
    assert not noise.chance(COUNTS, COUNTS + far).any()
    assert not noise.chance(COUNTS + far, COUNTS)[1:].any()
    assert not noise.chance(np.array([-1, -5]), np.array([0, -5])).any()


@pytest.mark.parametrize("name", RECORDS)
def test_size_bound_and_sharing_are_those_of_the_record(name: str) -> None:
    record, noise = RECORDS[name], noise_from_record(RECORDS[name])
    assert noise.exactly
    if name == "exact":
        assert (noise.variance, noise.bound, noise.zeros_are_noisy, noise.reach) == (0, 0, False, 0)
        return
    assert noise.variance == pytest.approx(record.variance)
    assert noise.bound == record.bound
    assert noise.zeros_are_noisy == record.zeros_are_noisy
    assert noise.non_negative == record.non_negative
    assert noise.shared == {"cell-key": "participants", "coordinates": "coordinates"}.get(record.mechanism, "nothing")


@pytest.mark.parametrize("name", RECORDS)
def test_the_variance_of_every_count_is_that_of_its_law(name: str) -> None:
    record, noise = RECORDS[name], noise_from_record(RECORDS[name])
    laws = [None if name == "exact" else record.largest_noise.row(count) for count in COUNTS.tolist()]
    expected = [law.variance if law else 0.0 for law in laws]
    assert noise.variance_of(COUNTS) == pytest.approx(expected, abs=1e-6)


def test_rows_take_turns_for_large_counts() -> None:
    noise = noise_from_record(RECORDS["turns"])
    assert noise.rows(np.arange(9)).tolist() == TURNS.row_numbers(np.arange(9)).tolist() == [0, 1, 2, 3, 4, 2, 3, 4, 2]
    # A count of 5 is served by row 2, which moves it by 1; one of 6 by row 3.
    assert noise.chance(np.array([5, 5, 6, 6]), np.array([6, 7, 7, 8])).tolist() == [0.5, 0, 0, 0.5]


def test_the_bound_is_that_of_any_count_where_small_ones_have_more_noise() -> None:
    rows = (PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 0, 1, 6), (0.7, 0.18, 0.02, 0.1)), two(2, 1))
    given = record(CellKey(PTable(rows), secret=SECRET))
    assert noise_from_record(given).bound == given.bound == 6


# --- Noise drawn from it ---


def fits(noise: AssumedNoise, drawn: AssumedNoise, count: int, size: int = 40_000) -> float:
    """Return the p-value of counts published with one law under another."""
    published = drawn.publish(np.full(size, count), np.random.default_rng(count))
    values = values_of(noise, np.array([count]))
    expected = size * noise.chance(np.full(len(values), count), values)
    observed = np.bincount(published - values[0], minlength=len(values))
    assert not observed[expected == 0].any()
    return chi_square(observed, expected)


def ptable_belief(variance: float, *, non_negative: bool = False) -> AssumedNoise:
    table = PTable.max_entropy(variance=variance, bound=5, perturb_zeros=non_negative)
    return noise_from_record(record(CellKey(table, secret=SECRET), non_negative=non_negative))


@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.parametrize("non_negative", [False, True])
def test_counts_are_published_with_the_law_and_not_with_30_percent_more(count: int, non_negative: bool) -> None:
    noise, larger = (ptable_belief(variance, non_negative=non_negative) for variance in (2.0, 2.6))
    assert fits(noise, noise, count) > ACCEPT
    # The noise of a true 1 is bounded by the 1 itself: both laws differ little.
    if count > 1 or non_negative:
        assert fits(noise, larger, count) < REJECT


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_published_is_what_has_a_chance(name: str) -> None:
    noise = noise_from_record(RECORDS[name])
    counts = np.repeat(COUNTS, 200)
    published = noise.publish(counts, np.random.default_rng(1))
    assert (noise.chance(counts, published) > 0).all()
    assert published.shape == counts.shape
    if noise.non_negative:
        assert published.min() == 0


def test_the_same_seed_publishes_the_same() -> None:
    noise = ptable_belief(2)
    one, same, other = (noise.publish(COUNTS, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
    assert one == same != other


# --- As a release discloses it ---


@pytest.mark.parametrize(("variance", "bound"), [(0.5, 2), (2, 4), (3, 5), (4, 9), (9, 12), (25, 30), (100, 45)])
def test_of_a_bounded_law_a_release_tells_enough_for_its_size(variance: float, bound: int) -> None:
    known = record(CellKey(PTable.max_entropy(variance=variance, bound=bound), secret=SECRET))
    assumed = noise_from_disclosure(known.public())
    vague = int(known.public()["bound"].rpartition(" ")[2])
    assert bound <= assumed.bound < vague
    # The typical noise is disclosed to one decimal; the largest value that rounds to it is assumed.
    assert -1e-6 <= assumed.variance**0.5 - variance**0.5 <= 0.1 + 1e-6
    assert not assumed.exactly
    assert not assumed.zeros_are_noisy
    assert assumed.shared == "participants"


@pytest.mark.parametrize("epsilon", [0.2, 0.7, 1.5])
def test_of_an_unbounded_law_it_tells_its_size_too(epsilon: float) -> None:
    law = TwoSidedGeometric(epsilon=epsilon)
    assumed = noise_from_disclosure(record(Coordinates(law, secret=SECRET)).public())
    assert assumed.bound == np.inf
    assert -1e-6 <= assumed.variance**0.5 - law.variance**0.5 <= 0.1 + 1e-6
    drawn = assumed.chance(np.full(2 * assumed.reach + 1, 500), 500 + np.arange(-assumed.reach, assumed.reach + 1))
    noise = np.arange(-assumed.reach, assumed.reach + 1)
    assert drawn @ noise**2 == pytest.approx(assumed.variance, rel=1e-6)
    assert assumed.shared == "coordinates"


def test_fresh_noise_is_shared_by_nothing_and_what_is_cut_at_0_is_told() -> None:
    assumed = noise_from_disclosure(record(Fresh(Laplace(scale=2.0)), non_negative=True).public())
    assert assumed.shared == "nothing"
    assert assumed.non_negative
    assert not noise_from_disclosure(DISCLOSED).non_negative


def test_true_counts_are_believed() -> None:
    assumed = noise_from_disclosure(record(Exact()).public())
    assert (assumed.variance, assumed.bound, assumed.reach) == (0, 0, 0)
    assert assumed.chance(np.array([3, 3]), np.array([3, 4])).tolist() == [1, 0]


def test_a_bound_that_is_not_told_is_none() -> None:
    assert noise_from_disclosure(DISCLOSED).bound == np.inf
    assert noise_from_disclosure({**DISCLOSED, "bound": "not more than about 5"}).bound == 4
