"""The law that fits what a release tells: its size, and a bound where one is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.accuracy.noisy_counts import NoisyCount
from discreet.errors import ParameterError
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import published_counts
from discreet.release.disclosed_noise import CountIntervals, deviation_range, disclosed_noise
from discreet.release.record import Record
from tests.each import each
from tests.quick import up_to


def test_within_a_bound_it_has_the_largest_size_that_is_told_so() -> None:
    law = disclosed_noise(Record(programme="x", parameters={"variance": 2, "bound": 5}).public())
    # A bound of 5 is told as not more than about 10, a size of 1.41 as 1.4: it may be up to 1.45.
    assert law.bound == 9
    assert law.variance == pytest.approx(1.45**2)
    assert law.laws == tuple(
        pytest.approx(row.pmf(range(-9, 10))) for row in PTable.max_entropy(variance=1.45**2, bound=9).rows
    )


def test_without_a_bound_it_is_geometric() -> None:
    law = disclosed_noise({"typical_noise": 3.0, "negative": "..."})
    assert law.variance == pytest.approx(3.05**2)
    assert law.bound == float("inf")
    assert law.non_negative


@pytest.mark.parametrize("bound", [None, 5])
def test_noise_on_empty_cells_is_told(bound: int | None) -> None:
    parameters = {"epsilon": 0.5} if bound is None else {"variance": 2, "bound": bound, "perturb_zeros": True}
    law = "geometric" if bound is None else "max-entropy"
    record = Record(programme="x", law=law, parameters=parameters, perturb_zeros=bound is None)
    assert disclosed_noise(record.public()).zeros_are_noisy
    still = Record(programme="x", parameters={"variance": 2, "bound": 5}).public()
    assert "zeros" not in still
    assert not disclosed_noise(still).zeros_are_noisy


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_small_counts_that_are_never_published_are_told(threshold: int) -> None:
    record = Record(programme="x", parameters={"variance": 5, "bound": 8, "threshold": threshold})
    told = record.public()
    assert told["smallest_published"] == threshold + 1
    law, counts = disclosed_noise(told), np.arange(60)[:, None]
    assert not law.chance(counts, np.arange(1, threshold + 1)[None, :]).any()
    assert (law.chance(counts, np.array([[threshold + 1]])) > 0).any()
    assert "smallest_published" not in Record(programme="x", parameters={"variance": 4, "bound": 8}).public()


def test_where_there_is_no_room_for_it_the_size_counts() -> None:
    told = {"typical_noise": 1.0, "bound": "not more than about 5", "smallest_published": 4}
    assert disclosed_noise(told).variance == pytest.approx(1.05**2)


def test_no_noise_is_told_by_no_size() -> None:
    assert disclosed_noise({"method": "none"}).variance == 0


@given(variance=st.floats(0.01, 400))
def test_the_range_that_is_told_holds_the_size(variance: float) -> None:
    record = Record(programme="x", law="geometric", parameters={"epsilon": float(np.arccosh(1 + 1 / variance))})
    least, largest = deviation_range(record.public()) or (0.0, 0.05)
    assert least - 1e-6 <= record.variance**0.5 <= largest + 1e-6
    assert largest - least == pytest.approx(0.1) or least == 0.05 or not least


def test_noise_that_fills_its_bound_has_a_law() -> None:
    # A size of 2.6 within a bound of 4 is more than there is room for.
    law = disclosed_noise({"typical_noise": 2.6, "bound": "not more than about 5"})
    assert law.bound == 4
    assert law.variance == pytest.approx(20 / 3)


def told_of(variance: float, bound: int) -> tuple[float, str]:
    told = Record(programme="x", parameters={"variance": variance, "bound": bound}).public()
    return told["typical_noise"], told.get("bound", "")


@settings(max_examples=up_to(25))
@given(bound=st.integers(1, 12), share=st.floats(0.05, 1.0))
@example(bound=4, share=0.34375)
def test_size_and_vague_bound_together_leave_several_bounds_possible(bound: int, share: float) -> None:
    told = told_of(share * bound * (bound + 1) / 3, bound)
    # Who knows how this is made tries every bound, with every size that is told so; more than two give the same.
    sizes = (told[0] - 0.049, told[0], told[0] + 0.049)
    alike = {
        other
        for other in range(1, 20)
        for size in sizes
        if size > 0 and size**2 <= other * (other + 1) / 3 and told_of(size**2, other) == told
    }
    assert len(alike) >= 3


SIZES = [
    (variance, bound) for bound in (3, 4, 5, 6, 9, 12, 20) for variance in (0.7, 1.3, 1.8, 2.0, 2.2, 3.4, 5.1, 8.9)
]


@each(("variance", "bound"), [each for each in SIZES if each[0] <= each[1] * (each[1] + 1) / 3])
def test_ranges_hold_at_least_as_often_as_they_say(variance: float, bound: int) -> None:
    _holds(Record(programme="x", parameters={"variance": variance, "bound": bound}))


@each("epsilon", [0.15, 0.3, 0.5, 0.7, 1.0, 1.5])
def test_so_they_do_without_a_bound(epsilon: float) -> None:
    _holds(Record(programme="x", law="geometric", parameters={"epsilon": epsilon}))


def _holds(record: Record) -> None:
    law, told = record.transition_matrix(), disclosed_noise(record.public())
    for count in (3, 5, 12, 40):
        usual = published_counts(told, count).usual
        inside = np.arange(usual.low, usual.high + 1)
        assert law.chance(np.full(len(inside), count), inside).sum() >= usual.probability - 1e-9


@each(
    "told",
    [
        {"typical_noise": 1.4, "bound": "not more than about 10"},
        {"typical_noise": 1.4, "bound": "not more than about 10", "smallest_published": 3},
        {"typical_noise": 2.0, "zeros": "Empty cells have noise, too:"},
        {"typical_noise": 2.0, "bound": "not more than about 10", "negative": "published as 0"},
        {},
    ],
)
def test_intervals_of_counts_are_quantiles_of_the_posterior(told: dict[str, Any]) -> None:
    noise, made = disclosed_noise(told), CountIntervals(told)
    published = np.array([0, 1, 2, 3, 5, 9, 40, 1000, 1_000_000])
    for value, lower, upper in zip(published.tolist(), *(ends.tolist() for ends in made.of(published)), strict=True):
        posterior = NoisyCount(value, noise)
        try:
            reached = posterior.at_most(np.array([lower - 1, lower, upper - 1, upper]))
        except ParameterError:
            # A count that this noise never publishes: 1 or 2 under a threshold.
            assert told.get("smallest_published", 0) > value
            assert lower <= value <= upper
            continue
        assert reached[0] <= 0.025 + 1e-9 < reached[1] + 1e-9
        assert reached[2] < 0.975 <= reached[3] + 1e-9
