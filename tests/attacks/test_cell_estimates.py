"""Estimates settled on counts that can be, and put together population by population."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.attack_estimates import CellEstimates, cells_finding, nearest_possible
from discreet.attacks.attacker_view import AssumedNoise, noise_from_record
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.release.record import Record
from tests.attacks.scenes import KnownTruth, informed_attacker, town_release
from tests.protection.town import SECRET

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release


def belief(mechanism: Mechanism, *, non_negative: bool = False) -> AssumedNoise:
    return noise_from_record(Record(programme="x", **mechanism.described(), non_negative=non_negative))


ZEROS = PTable.max_entropy(variance=2, bound=4, perturb_zeros=True)
BOUNDED = belief(CellKey(PTable.max_entropy(variance=2, bound=4), secret=SECRET))
BELIEFS = {
    "bounded": BOUNDED,
    "noisy zeros": belief(CellKey(ZEROS, secret=SECRET)),
    "not negative": belief(CellKey(ZEROS, secret=SECRET), non_negative=True),
    "unbounded": belief(Coordinates(TwoSidedGeometric(epsilon=0.7), secret=SECRET)),
    "fresh": belief(Fresh(PTable.max_entropy(variance=2, bound=4))),
    "exact": belief(Exact()),
}


def published_of(noise: AssumedNoise, counts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return noise.publish(counts, random).astype(float)


# --- Settling ---


@pytest.mark.parametrize("name", BELIEFS)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=8),
    st.lists(st.floats(-30, 30), min_size=8, max_size=8),
    st.integers(0, 10**6),
)
def test_settling_never_moves_away_from_the_true_count(
    name: str, counts: list[int], off: list[float], seed: int
) -> None:
    noise, true = BELIEFS[name], np.array(counts)
    published = published_of(noise, true, np.random.default_rng(seed))
    estimate = true + np.array(off[: len(true)])
    found = nearest_possible(estimate, published, noise)
    assert (np.abs(found - true) <= np.abs(np.rint(estimate) - true)).all()
    assert found.min() >= 0
    assert np.array_equal(nearest_possible(found.astype(float), published, noise), found)


@pytest.mark.parametrize("name", BELIEFS)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 10**6))
def test_a_right_estimate_stays_right(name: str, counts: list[int], seed: int) -> None:
    noise, true = BELIEFS[name], np.array(counts)
    published = published_of(noise, true, np.random.default_rng(seed))
    assert nearest_possible(true + 0.3, published, noise).tolist() == counts


@pytest.mark.parametrize(
    ("name", "published", "estimate", "count"),
    [
        ("bounded", 10.0, 3.2, 6),  # not below 10 - 4
        ("bounded", 10.0, 19.0, 14),
        ("bounded", 2.0, -1.0, 1),  # zeros stay zeros: what is published as 2 is not empty
        ("bounded", 0.0, -1.0, 0),
        ("bounded", 0.0, 9.0, 4),
        ("noisy zeros", -3.0, 5.0, 1),
        ("noisy zeros", 2.0, -1.0, 0),
        ("not negative", 0.0, 9.0, 4),
        ("unbounded", 10.0, 99.6, 100),
        ("unbounded", -4.0, -3.0, 1),
        ("fresh", 10.5, 3.2, 3),  # a mean over tables has other bounds
        ("fresh", 2.0, -1.0, 0),
        ("exact", 7.0, 2.0, 7),
        ("exact", 0.0, 3.0, 0),
    ],
)
def test_the_nearest_count_that_the_published_one_allows(
    name: str, published: float, estimate: float, count: int
) -> None:
    assert nearest_possible(np.array([estimate]), np.array([published]), BELIEFS[name]).tolist() == [count]


# --- Findings ---


@pytest.fixture(scope="module")
def release(engine: Engine) -> Release:
    return town_release(engine=engine)


ABOUT = {"attack": "guess", "subject": "counts"}


def test_estimates_of_several_populations_are_one_finding(release: Release) -> None:
    attacker = informed_attacker(release)
    parts = [
        CellEstimates(
            view, places := np.array([0, view.layout.cells - 1]), view.published[places] + 0.1, np.array([0.2, 0.3])
        )
        for view in attacker.views()
    ]
    found = cells_finding(attacker, parts, **ABOUT)
    first, second = (view.layout for view in attacker.views())
    assert found.groups[0] == "total of persons"
    assert found.groups[-1] == f"{second.names[-1]} of {second.name}"
    assert found.group_of is not None
    assert [found.groups[number] for number in found.group_of.tolist()] == [
        f"{layout.names[place]} of {layout.name}" for layout in (first, second) for place in (0, -1)
    ]
    assert found.confidence.tolist() == [0.2, 0.3, 0.2, 0.3]
    counts = {layout.name: np.arange(layout.cells) + 1000 * number for number, layout in enumerate((first, second))}
    truth = KnownTruth(attacker.noise, counts)
    assert found.actual(truth).tolist() == [0, first.cells - 1, 1000, 1000 + second.cells - 1]
    # Cells of two populations are never one unknown here; a total and a cell of the finest statistic are not either.
    assert found.unknown_of is not None
    assert len(set(found.unknown_of.tolist())) == 4


def test_the_naive_estimate_is_what_is_published_made_possible(release: Release) -> None:
    attacker = informed_attacker(release)
    (view, _) = attacker.views()
    places = np.arange(view.layout.cells)
    found = cells_finding(
        attacker, [CellEstimates(view, places, np.full(len(places), 5.0), np.zeros(len(places)))], **ABOUT
    )
    assert found.naive is not None
    assert found.naive.tolist() == np.maximum(view.published, 0).tolist()
    assert (
        found.estimate.tolist() == nearest_possible(np.full(len(places), 5.0), view.published, attacker.noise).tolist()
    )


def test_nothing_found_is_a_finding_of_nothing(release: Release) -> None:
    found = cells_finding(informed_attacker(release), [], **ABOUT)
    assert (len(found.estimate), len(found.confidence), found.groups) == (0, 0, ())
