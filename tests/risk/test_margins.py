"""Forced tuples and posteriors against worked examples, enumeration, and real keyed draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import ParameterError
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable, PTableRow
from discreet.risk.bound_disclosure import bound_disclosure
from discreet.risk.margin_exploitation import forced_truth, forced_tuples, tuple_posterior
from tests.risk.published import joint_law, outcomes

RULES = ("participants", "coordinates")


def test_forced_tuples_are_far_rarer_than_extreme_gaps() -> None:
    # 2 p_E^3 = 3.3e-10 at V = 2, E = 5, while p1 = 1.5e-7; Bach (2020) takes p1 for both.
    law = MaxEntropy(variance=2, bound=5)
    found = forced_tuples(law, tuples=28_000_000)
    assert found.chance == pytest.approx(2 * float(law.pmf(5)) ** 3, rel=1e-13)
    assert found.chance == pytest.approx(3.3e-10, rel=0.01)
    assert found.chance < bound_disclosure(law, tuples=1).chance / 400
    assert found.result().value == pytest.approx(28_000_000 * found.chance)


@pytest.mark.parametrize("categories", [2, 3, 4])
def test_forced_tuples_of_a_lopsided_law(categories: int) -> None:
    law = PTableRow(9, (-2, 0, 1, 2), (0.2, 0.3, 0.4, 0.1))
    expected = 0.1**categories * 0.2 + 0.2**categories * 0.1
    assert forced_tuples(law, tuples=1, categories=categories).chance == pytest.approx(expected, rel=1e-12)


def test_the_worked_example() -> None:
    # Bach (2020): F = 3, M = 2, T = 11 with E = 2 discloses 5, 4 and 9.
    assert forced_truth([3, 2], 11, bound=2) == (5, 4, 9)
    posterior = tuple_posterior(PTable.max_entropy(variance=1, bound=2), [3, 2], 11)
    assert posterior.determined == (5, 4)
    assert posterior.certain == (5, 4, 9)
    assert posterior.joint() == {(5, 4): 1.0}


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("parts", [2, 3])
def test_a_tuple_is_forced_when_every_noise_is_at_the_bound(bound: int, parts: int) -> None:
    truth = (20, 30, 40)[:parts]
    for noise in itertools.product(range(-bound, bound + 1), repeat=parts + 1):
        published = [count + v for count, v in zip(truth, noise[:-1], strict=True)]
        at_bound = set(noise[:-1]) in ({bound}, {-bound}) and noise[-1] == -noise[0]
        found = forced_truth(published, sum(truth) + noise[-1], bound=bound)
        assert found == ((*truth, sum(truth)) if at_bound else None)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(1, 4), st.integers(5, 60), st.integers(5, 60), st.sampled_from([-1, 1]), st.sampled_from(RULES))
def test_a_forced_tuple_has_posterior_1(bound: int, f: int, m: int, up: int, rule: str) -> None:
    ptable = PTable.max_entropy(variance=bound / 2, bound=bound)
    shift = up * bound
    found = tuple_posterior(ptable, [f + shift, m + shift], f + m - shift, noise_by=rule)
    assert found.determined == (f, m)
    assert found.probability.tolist() == [1.0]


TABLES = {
    "E=1": PTable.max_entropy(variance=0.6, bound=1),
    "E=2": PTable.max_entropy(variance=1, bound=2),
    "threshold": PTable.max_entropy(variance=1.5, bound=2, threshold=1),
    "perturbed zeros": PTable.max_entropy(variance=1, bound=2, perturb_zeros=True),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", TABLES)
def test_posteriors_are_those_of_full_enumeration(name: str, parts: int, rule: str) -> None:
    ptable = TABLES[name]
    prior = {0: 4.0, 1: 2.5, 2: 2.0, 3: 1.0, 4: 0.5}
    law = joint_law(ptable, prior, parts, shares=rule == "participants")
    for published, behind in itertools.islice(law.items(), 0, None, 7 if parts == 3 else 1):
        found = tuple_posterior(ptable, published[:-1], published[-1], prior=prior, noise_by=rule)
        chance = math.fsum(behind.values())
        expected = {truth: p / chance for truth, p in behind.items()}
        assert found.joint().keys() == expected.keys()
        assert found.joint() == pytest.approx(expected, rel=1e-9)
        assert (found.determined is not None) == (len(behind) == 1)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 2), st.sampled_from(RULES), st.data())
def test_posteriors_are_laws_that_hold_the_truth(
    f: int, m: int, threshold: int, rule: str, data: st.DataObject
) -> None:
    ptable = PTable.max_entropy(variance=3, bound=4, threshold=threshold)
    possible = [published for published, _ in outcomes(ptable, (f, m), shares=rule == "participants")]
    *parts, total = data.draw(st.sampled_from(possible))
    found = tuple_posterior(ptable, parts, total, noise_by=rule)
    assert found.joint()[f, m] > 0
    assert math.fsum(found.probability) == pytest.approx(1, abs=1e-12)
    assert (np.diff(found.probability) <= 0).all()
    for cell, values in zip(found.marginals(), (*found.truths.T, found.truths.sum(axis=1)), strict=True):
        assert math.fsum(cell.values()) == pytest.approx(1, abs=1e-12)
        assert set(cell) == set(values.tolist())


def test_large_counts_are_all_alike() -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    near, far = (tuple_posterior(ptable, [20 + up, 30], 52 + up) for up in (0, 1000))
    np.testing.assert_allclose(near.probability, far.probability, rtol=1e-9)
    assert far.joint().keys() == {(f + 1000, m) for f, m in near.joint()}


def test_a_published_0_that_must_be_a_1() -> None:
    # Zeros are fixed and E = 2: 0 + 1 with total 0. Were F empty, M and T would have the same participants
    # and be published alike. So F >= 1, and M >= 1; T = 0 comes from 2 at most: both are true 1s.
    ptable = PTable.max_entropy(variance=1, bound=2)
    assert tuple_posterior(ptable, [0, 1], 0).certain == (1, 1, 2)
    # With noise by coordinates F may be empty, and nothing is certain.
    assert tuple_posterior(ptable, [0, 1], 0, noise_by="coordinates").certain == (None, None, None)


def test_a_published_count_proves_that_someone_is_there() -> None:
    ptable = PTable.max_entropy(variance=1, bound=1)
    # M = 1 is 1 or 2 persons, T = 0 is one at most: M = 1, and nobody is left for F.
    assert tuple_posterior(ptable, [0, 1], 0, noise_by="coordinates").determined == (0, 1)


def test_a_published_total_that_equals_a_part_tells_that_the_other_is_empty() -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    shared, apart = (tuple_posterior(ptable, [0, 4], 4, noise_by=rule).marginals()[0][0] for rule in RULES)
    # Odds of an empty F: the noise of T is free of charge, p = 1 instead of p(T stays as M).
    assert shared / (1 - shared) > 3 * apart / (1 - apart)


def test_a_prior_that_knows_the_truth_leaves_it() -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    assert tuple_posterior(ptable, [3, 7], 11, prior={5: 1.0}).joint() == {(5, 5): 1.0}


def test_posteriors_are_the_shares_among_keyed_draws() -> None:
    ptable, size = PTable.max_entropy(variance=1, bound=2), 600_000
    random = np.random.default_rng(3)
    counts = random.integers(0, 4, size=(2, size))
    keys = np.where(counts > 0, random.integers(1, 2**32, size=(2, size)), 0)
    cells = np.vstack([counts, counts.sum(axis=0)])
    cell_keys = np.vstack([keys, keys.sum(axis=0) % 2**32])
    noise = [ptable.draw(n, k, secret=b"sixteen bytes at least") for n, k in zip(cells, cell_keys, strict=True)]
    published = cells + np.stack(noise)

    def p_value(pattern: tuple[int, int, int], rule: str) -> float:
        """Return the p-value of the true parts seen behind a pattern, those expected twenty times or more."""
        here = (published == np.array(pattern)[:, None]).all(axis=0)
        flat = dict.fromkeys(range(4), 1.0)
        law = tuple_posterior(ptable, pattern[:2], pattern[2], prior=flat, noise_by=rule).joint()
        common = {truth: p for truth, p in law.items() if p * here.sum() > 20}
        seen = np.array([(counts[:, here] == np.array(truth)[:, None]).all(axis=0).sum() for truth in common])
        expected = np.array(list(common.values()))
        return float(chisquare(seen, expected / expected.sum() * seen.sum()).pvalue)

    for pattern in ((0, 2, 2), (1, 2, 3), (2, 2, 2), (0, 3, 2)):
        assert p_value(pattern, "participants") > 1e-4
    # A model without shared noise is noticed.
    assert p_value((0, 2, 2), "coordinates") < 1e-12


def test_a_tuple_nobody_can_publish_is_refused() -> None:
    ptable = PTable.max_entropy(variance=2, bound=3, threshold=1)
    with pytest.raises(ParameterError, match=r"No true counts lead to 5 \+ 5 with total 30.*the one that was used"):
        tuple_posterior(ptable, [5, 5], 30)
    with pytest.raises(ParameterError, match=r"No true counts lead to 1 \+ 5 with total 6"):
        tuple_posterior(ptable, [1, 5], 6)
    with pytest.raises(ParameterError, match="No true counts"):
        tuple_posterior(ptable, [-9, 5], 6)
    with pytest.raises(ParameterError, match="with this p-table and prior"):
        tuple_posterior(ptable, [4, 4], 8, prior={20: 1})


def test_mistakes_are_refused() -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    with pytest.raises(ParameterError, match="unbounded"):
        forced_tuples(Laplace(scale=1), tuples=5)
    with pytest.raises(ParameterError, match="misses additivity by 7, more than noise up to 2 can do"):
        forced_truth([3, 2], 12, bound=2)
    with pytest.raises(ParameterError, match="bound must be a positive whole number"):
        forced_truth([3, 2], 12, bound=0)
    with pytest.raises(ParameterError, match="two parts or more"):
        forced_truth([3], 3, bound=2)
    with pytest.raises(ParameterError, match="parts must be whole numbers"):
        tuple_posterior(ptable, [0.5, 2], 3)  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="Join categories until two or three parts are left"):
        tuple_posterior(ptable, [5] * 8, 40)


def test_the_results_name_tuple_and_assumptions() -> None:
    exact, one = tuple_posterior(PTable.max_entropy(variance=1, bound=2), [0, 1], 0).results()
    assert exact.sentence == (
        "Where 0 + 1 with total 0 is published, the true counts are 1 + 1 with total 2 with probability 1."
    )
    assert one.value == 1
    assert any("flat prior" in each for each in one.assumptions)
    assert any("noise of the total" in each for each in exact.assumptions)


def test_the_oracle_adds_up() -> None:
    for truth in ((0, 0), (0, 3), (2, 5)):
        assert math.fsum(p for _, p in outcomes(TABLES["E=2"], truth, shares=True)) == pytest.approx(1)
