from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.calibration.constraints import (
    ATTACKERS,
    OPTIMAL,
    PAPER,
    Constraint,
    acceptable_bound,
    accurate_areas,
    as_published,
    averaging_epsilon,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.noise.max_entropy import MaxEntropy
from discreet.risk.bound_disclosure import combined_confidence, disclosure_at, disclosures_at, largest_variance
from tests.quick import up_to

ONE_SIGMA = 0.6827
GERMANY, MALTA = 28_000_000, 710_000
"""Sets of two sexes and their total, as the paper counts them."""

ratios = st.floats(1e-4, 1)
confidences = st.floats(0.05, 0.99)


@given(ratios, confidences)
def test_the_least_variance_is_that_at_which_a_gaussian_estimate_is_right_as_often_as_accepted(
    ratio: float, confidence: float
) -> None:
    edge = averaging_variance(ratio, "total", confidence).limit(5)
    error = math.sqrt(edge * ratio)
    assert norm.cdf(0.5, scale=error) - norm.cdf(-0.5, scale=error) == pytest.approx(confidence, abs=1e-9)


def test_the_published_ratios_give_the_edges_of_the_papers_last_figure() -> None:
    assert averaging_variance(0.0867, "AGE.M", ONE_SIGMA).limit(1) == pytest.approx(1 / (4 * 0.0867), rel=2e-4)
    for ratio in (0.0118, 0.0170):
        edge = averaging_epsilon(ratio, "total", ONE_SIGMA).limit(1)
        assert edge == pytest.approx(math.sqrt(8 * ratio), rel=2e-4)
    for areas in (68, 37_000):
        assert accurate_areas(areas, 0.68).limit(1) == pytest.approx(math.log(areas / 0.32) / 20)


@pytest.mark.parametrize(("tuples", "bound", "limit"), [(GERMANY, 5, 1.82), (GERMANY, 6, 2.84)])
def test_the_papers_attacker_gives_variance_an_upper_limit_that_the_number_of_tuples_sets(
    tuples: int, bound: int, limit: float
) -> None:
    found = bound_disclosure_limit({2: tuples}, ONE_SIGMA, PAPER).limit(bound)
    assert found == largest_variance(bound, tuples=tuples, confidence=ONE_SIGMA).value
    assert found == pytest.approx(limit, abs=0.005)
    below, above = (disclosure_at(found * by, bound, tuples=tuples, confidence=ONE_SIGMA) for by in (0.999, 1.001))
    assert not below.inferable
    assert above.inferable


@pytest.mark.slow
@settings(max_examples=up_to(25))
@given(
    st.dictionaries(st.integers(2, 4), st.integers(1, 10**8), min_size=1),
    st.integers(1, 8),
    st.sampled_from(ATTACKERS),
    confidences,
)
def test_a_hidden_bound_stays_hidden_from_sets_of_all_sizes_together(
    tuples: dict[int, int], bound: int, attacker: str, confidence: float
) -> None:
    found = bound_disclosure_limit(tuples, confidence, attacker).limit(bound)
    ways = ["gap"] if attacker == PAPER else ["gap", "likelihood"]
    alone = [
        largest_variance(bound, tuples=many, categories=parts, confidence=confidence, attacker=way).value
        for parts, many in tuples.items()
        for way in ways
    ]
    assert found <= min(alone) * (1 + 1e-8)
    if len(tuples) == 1:
        assert found == pytest.approx(min(alone), rel=1e-8)
    for way in ways:
        sure = confidence if way == "gap" else max(confidence, 0.55)
        together = combined_confidence(
            disclosures_at(found * 0.999, bound, tuples, confidence=confidence, attacker=way)
        )
        assert together < sure


@cache
def hidden(attacker: str, bound: int, *more: tuple[int, int]) -> tuple[Constraint, float]:
    """Return what keeps the bound hidden where the sets of Malta are published, and its limit at a bound."""
    found = bound_disclosure_limit({2: MALTA, **dict(more)}, ONE_SIGMA, attacker)
    return found, found.limit(bound)


@given(st.floats(0.01, 1), st.integers(1, 10), st.sampled_from(ATTACKERS))
def test_a_variance_is_allowed_if_it_is_within_the_limit(share: float, bound: int, attacker: str) -> None:
    found, limit = hidden(attacker, bound, (3, 1000))
    variance = share * bound * (bound + 1) / 3
    if abs(variance / limit - 1) > 1e-6:
        assert found.allows(variance, bound) == (variance < limit)


def test_more_than_fits_the_bound_is_not_allowed() -> None:
    assert not bound_disclosure_limit({2: 1}, ONE_SIGMA, PAPER).allows(2.01, 2)


@given(st.integers(1, 9), st.sampled_from(ATTACKERS))
def test_a_larger_bound_allows_more_variance(bound: int, attacker: str) -> None:
    assert hidden(attacker, bound)[1] < hidden(attacker, bound + 1)[1]


def test_the_optimal_attacker_is_never_the_weaker_one() -> None:
    for bound in range(1, 11):
        paper, optimal = (bound_disclosure_limit({2: GERMANY}, ONE_SIGMA, who).limit(bound) for who in (PAPER, OPTIMAL))
        assert optimal <= paper * (1 + 1e-9)


@pytest.mark.parametrize(
    ("constraint", "kept", "broken"),
    [
        (averaging_variance(0.1, "total", ONE_SIGMA), 2.6, 2.4),
        (averaging_epsilon(0.0118, "total", ONE_SIGMA), 0.30, 0.32),
        (accurate_areas(68, 0.68), 0.28, 0.26),
        (acceptable_bound(10), 10, 11),
    ],
)
def test_what_is_within_the_limit_is_allowed(constraint: Constraint, kept: float, broken: float) -> None:
    assert constraint.allows(kept)
    assert not constraint.allows(broken)


def test_a_bound_has_room_for_the_variance_of_all_noises_equally_likely() -> None:
    for bound in range(1, 12):
        assert variance_limit().limit(bound) == pytest.approx(
            sum(x * x for x in range(-bound, bound + 1)) / (2 * bound + 1)
        )


def test_every_constraint_tells_its_formula_and_why() -> None:
    every = (
        averaging_variance(0.1, "AGE.M", ONE_SIGMA),
        bound_disclosure_limit({2: 1000}, ONE_SIGMA, OPTIMAL),
        variance_limit(),
        acceptable_bound(10),
        averaging_epsilon(0.01, "AGE.M", ONE_SIGMA),
        accurate_areas(68, ONE_SIGMA),
    )
    for each in every:
        assert any(sign in each.formula for sign in ("<=", ">=", "<"))
        assert each.reason
        assert each.about in {"variance", "bound", "epsilon"}
    assert "counts of AGE.M exactly in at most 68%" in every[0].reason
    assert "the totals of all 68 areas have an error of at most 20" in every[-1].reason


def test_a_closed_form_for_even_levels_says_so() -> None:
    even = "every level divides evenly"
    assert not any(even in text for text in averaging_variance(0.1, "total", ONE_SIGMA).assumptions)
    for made in (averaging_variance, averaging_epsilon):
        assert any(even in text for text in made(0.1, "total", ONE_SIGMA, surrogate=True).assumptions)


@given(st.floats(0.05, 0.98))
def test_counts_are_published_as_they_are_as_often_as_is_accepted_at_most(confidence: float) -> None:
    needed = as_published(confidence).limit(1)
    for bound in range(1, 12):
        if needed < bound * (bound + 1) / 3:
            assert MaxEntropy(variance=needed, bound=bound).pmf(0) <= confidence + 1e-6
    wide = math.ceil(12 * math.sqrt(needed)) + 2
    assert MaxEntropy(variance=needed, bound=wide).pmf(0) == pytest.approx(confidence, abs=1e-6)


def test_the_reason_names_the_attacker() -> None:
    assert "the paper's averaging attack" in averaging_variance(0.1, "total", ONE_SIGMA, attacker=PAPER).reason
    assert "the optimal linear attack" in averaging_epsilon(0.1, "total", ONE_SIGMA).reason
