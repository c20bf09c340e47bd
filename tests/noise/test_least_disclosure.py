"""The row with the smallest posterior of true 1s: feasible, optimal, and the only row that changes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.noise import PTable
from discreet.noise.dual import solve
from discreet.noise.least_disclosure import LEEWAY, crowd, least_disclosure_laws, least_odds
from discreet.noise.ptable_settings import PTableSettings
from discreet.noise.published_counts import posteriors_of_one
from tests.each import each
from tests.noise.programs import polytope

WISHES: list[dict[str, Any]] = [
    {"variance": 2, "bound": 5},
    {"variance": 3, "bound": 10},
    {"variance": 1, "bound": 3},
    {"variance": 0.5, "bound": 2},
    {"variance": 2, "bound": 5, "equality": True},
    {"variance": 3, "bound": 5, "threshold": 1},
    {"variance": 3, "bound": 4, "threshold": 2},
    {"variance": 2, "bound": 4, "perturb_zeros": True},
    {"variance": 6, "bound": 30},
]


def worst_posterior(table: PTable) -> float:
    """Return the largest posterior of a true 1 over all published counts."""
    return max(posteriors_of_one(table).values())


every_wish = each("wishes", WISHES, ids=str)


@every_wish
def test_worst_posterior_is_not_above_that_of_the_entropy_table(wishes: dict[str, Any]) -> None:
    least, entropy = PTable.least_disclosure(**wishes), PTable.max_entropy(**wishes)
    assert worst_posterior(least) <= worst_posterior(entropy) * (1 + 1e-9)


def test_worst_posterior_falls_where_there_is_room() -> None:
    least, entropy = PTable.least_disclosure(variance=2, bound=5), PTable.max_entropy(variance=2, bound=5)
    assert worst_posterior(least) < 0.99 * worst_posterior(entropy)


@every_wish
def test_other_rows_are_those_of_the_entropy_table(wishes: dict[str, Any]) -> None:
    least, entropy = PTable.least_disclosure(**wishes), PTable.max_entropy(**wishes)
    assert len(least.rows) == len(entropy.rows)
    for ours, theirs in zip(least.rows, entropy.rows, strict=True):
        assert ours.values == theirs.values
        if ours.count != 1:
            np.testing.assert_allclose(ours.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-15)


@every_wish
def test_mean_variance_and_bound_are_kept(wishes: dict[str, Any]) -> None:
    table = PTable.least_disclosure(**wishes)
    row = table.rows[1]
    assert math.fsum(row.probabilities) == pytest.approx(1, abs=1e-12)
    assert row.mean == pytest.approx(0, abs=1e-10)
    assert row.variance <= wishes["variance"] * (1 + 1e-9)
    if wishes.get("equality"):
        assert row.variance == pytest.approx(wishes["variance"], rel=1e-9)
    assert row.bound <= wishes["bound"]
    assert all(p >= 0 for p in row.probabilities)
    assert {rounded.moment(1) for rounded in table.rounded} == {0}


@every_wish
def test_crowd_is_the_sum_over_all_other_true_counts(wishes: dict[str, Any]) -> None:
    table = PTable.max_entropy(**wishes)
    problems = PTableSettings(**wishes).row_problems()
    laws = {count: np.array(table.rows[count].probabilities) for count in problems}
    expected = []
    for published in (1 + problems[1].values).tolist():
        total = 0.0
        for count in range(0 if wishes.get("perturb_zeros") else 1, published + wishes["bound"] + 5):
            row = table.rows[min(count, len(table.rows) - 1)]
            reached = dict(zip(row.values, row.probabilities, strict=True))
            total += reached.get(published - count, 0.0) if count != 1 else 0.0
        expected.append(total)
    np.testing.assert_allclose(crowd(problems, laws), expected, rtol=1e-12, atol=1e-15)


def row_and_crowd(wishes: dict[str, Any]) -> tuple[Any, Any]:
    problems = PTableSettings(**wishes).row_problems()
    laws = dict(zip(problems, (found.probability for found in solve(list(problems.values()))), strict=True))
    return problems[1], crowd(problems, laws)


@pytest.mark.slow
@every_wish
def test_no_feasible_law_has_smaller_odds(wishes: dict[str, Any]) -> None:
    row, others = row_and_crowd(wishes)
    least, published = least_odds(row, others), row.values >= 0
    laws, rng = polytope(row), np.random.default_rng(1)
    corners = [laws.best(rng.normal(size=len(row.values))) for _ in range(30)]
    corners += [laws.best(-np.where(published, rng.exponential(size=len(published)), 0.0)) for _ in range(30)]
    for _ in range(200):
        mixture = rng.dirichlet(np.full(len(corners), 0.05)) @ np.array(corners)
        assert (mixture[published] / others[published]).max() >= least * (1 - 1e-7)


@every_wish
def test_least_odds_are_attained_and_nothing_below_them_is(wishes: dict[str, Any]) -> None:
    row, others = row_and_crowd(wishes)
    least, published = least_odds(row, others), row.values >= 0
    for odds, feasible in ((least * (1 + 1e-6), True), (least * (1 - 1e-4), False)):
        capped = replace(row, ceiling=np.where(published, odds * others, 1.0))
        assert (polytope(capped).best(np.ones(len(published))) is not None) == feasible


@every_wish
def test_posterior_is_that_of_the_least_odds_within_the_leeway(wishes: dict[str, Any]) -> None:
    odds = least_odds(*row_and_crowd(wishes))
    posterior = worst_posterior(PTable.least_disclosure(**wishes))
    assert odds / (1 + odds) * (1 - 1e-7) <= posterior <= odds * (1 + LEEWAY) / (1 + odds * (1 + LEEWAY)) * (1 + 1e-9)


@every_wish
def test_among_equally_safe_laws_the_one_of_largest_entropy_is_taken(wishes: dict[str, Any]) -> None:
    row, others = row_and_crowd(wishes)
    ceiling = np.where(row.values >= 0, least_odds(row, others) * (1 + LEEWAY) * others, 1.0)
    safe = polytope(replace(row, ceiling=ceiling))
    p = np.array(PTable.least_disclosure(**wishes).rows[1].probabilities)
    assert safe.violation(p) < 1e-9 * wishes["bound"] ** 2
    # Entropy is concave, so that no safe law gains more than its gradient promises.
    gradient = -np.log(np.maximum(p, 1e-300)) - 1
    best = safe.best(gradient)
    assert best is not None
    assert gradient @ (best - p) < 1e-6


def test_laws_come_in_the_order_of_the_rows() -> None:
    problems = PTableSettings(variance=2, bound=4, perturb_zeros=True).row_problems()
    laws = least_disclosure_laws(problems)
    table = PTable.least_disclosure(variance=2, bound=4, perturb_zeros=True)
    for row, law in zip(table.rows, laws, strict=True):
        assert list(row.probabilities) == law.tolist()
