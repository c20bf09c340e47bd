"""Pattern tables against single posteriors and full enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.errors import InfeasibleError, ParameterError
from discreet.noise.ptable import PTable
from discreet.risk.margin_exploitation import tuple_posterior
from discreet.risk.tuple_patterns import pattern_table, patterns_by_threshold
from tests.risk.published import joint_law

RULES = ("participants", "coordinates")
PRIOR = {0: 5.0, 1: 3.0, 2: 2.0, 3: 1.0, 7: 1.0}
TABLES = {
    "E=1": PTable.max_entropy(variance=0.6, bound=1),
    "E=2": PTable.max_entropy(variance=1, bound=2),
    "threshold": PTable.max_entropy(variance=1.5, bound=2, threshold=1),
    "perturbed zeros": PTable.max_entropy(variance=1, bound=2, perturb_zeros=True),
}


@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TABLES)
def test_every_pattern_is_that_of_full_enumeration(name: str, rule: str, prior: dict[int, float] | None) -> None:
    ptable, largest = TABLES[name], 4
    found = pattern_table(ptable, largest=largest, prior=prior, noise_by=rule)
    flat = dict.fromkeys(range(largest + ptable.bound + 1), 1.0)
    law = joint_law(ptable, prior or flat, 2, shares=rule == "participants")
    for pattern in itertools.product(range(largest + 1), repeat=3):
        behind = law.get(pattern, {})
        chance = math.fsum(behind.values())
        assert found.chance[pattern] == pytest.approx(chance, rel=1e-9)
        someone = {truth: p / chance for truth, p in behind.items() if sum(truth)}
        ones = [math.fsum(p for truth, p in someone.items() if truth[place] == 1) for place in (0, 1)]
        ones.append(math.fsum(p for truth, p in someone.items() if sum(truth) == 1))
        assert found.one[pattern] == pytest.approx(max(ones), rel=1e-9)
        assert found.exact[pattern] == pytest.approx(max(someone.values(), default=0), rel=1e-9)
        assert found.determined[pattern] == (len(behind) == 1 and len(someone) == 1)


@pytest.mark.parametrize("rule", RULES)
def test_every_pattern_is_that_of_its_own_posterior(rule: str) -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    found = pattern_table(ptable, largest=3, noise_by=rule)
    for pattern in itertools.product(range(4), repeat=3):
        if found.chance[pattern]:
            single = tuple_posterior(ptable, pattern[:2], pattern[2], noise_by=rule)
            assert found.one[pattern] == pytest.approx(single.one, rel=1e-9)


def test_a_table_wide_enough_holds_every_pattern() -> None:
    ptable = TABLES["E=2"]
    found = pattern_table(ptable, largest=8, prior={0: 1, 1: 1, 2: 1, 3: 1})
    assert found.chance.sum() == pytest.approx(1, rel=1e-12)


def test_parts_can_change_places() -> None:
    found = pattern_table(PTable.max_entropy(variance=3, bound=5), largest=8)
    for each in (found.chance, found.one, found.exact):
        np.testing.assert_allclose(each, each.transpose(1, 0, 2), rtol=1e-9)


def test_the_worst_pattern_is_the_commonest_of_equals() -> None:
    found = pattern_table(TABLES["E=2"], largest=4)
    worst = found.worst_one()
    assert worst.posterior == 1
    assert (worst.parts, worst.total) == ((0, 1), 0)
    assert worst.chance == found.chance[np.isclose(found.one, 1, rtol=1e-12)].max()


def test_worst_patterns_can_be_sought_among_the_common_ones() -> None:
    found = pattern_table(PTable.max_entropy(variance=2, bound=5), largest=10)
    rare, common = found.worst_one(), found.worst_one(at_least=1e-5)
    assert rare.posterior == 1
    assert rare.chance < 1e-8
    assert common.posterior < 1
    assert common.chance >= 1e-5
    assert found.worst_exact(at_least=1e-5).posterior <= found.worst_exact().posterior
    with pytest.raises(ParameterError, match=r"No pattern has a probability of at least 0\.9\. Use at most"):
        found.worst_one(at_least=0.9)


def test_patterns_that_leave_no_doubt() -> None:
    found = pattern_table(TABLES["E=2"], largest=6)
    patterns = found.determined_patterns()
    assert len(patterns) == found.determined.sum()
    assert all(pattern.posterior == pytest.approx(1) for pattern in patterns)
    # A tuple with all noises at the bound is one of them: 2 + 2 with total 4.
    assert ((4, 4), 2) in {(pattern.parts, pattern.total) for pattern in patterns}
    chances = [pattern.chance for pattern in patterns]
    assert chances == sorted(chances, reverse=True)


def test_fixed_zeros_force_more_patterns() -> None:
    # Enderle, Giessing and Tent (2020): more patterns disclose when true zeros are not perturbed.
    fixed, perturbed = (
        pattern_table(PTable.max_entropy(variance=1, bound=2, perturb_zeros=zeros), largest=6)
        for zeros in (False, True)
    )
    assert fixed.determined.sum() > perturbed.determined.sum()


def test_thresholds_take_small_counts_out_of_print() -> None:
    found = patterns_by_threshold(variance=3, bound=5, largest=6)
    assert list(found) == [0, 1, 2]
    for threshold, table in found.items():
        small = np.arange(7)
        hidden = (small >= 1) & (small <= threshold)
        assert table.chance[hidden].sum() == table.chance[:, hidden].sum() == table.chance[..., hidden].sum() == 0
        assert table.chance.sum() > 0
    # Fewer patterns are left, and fewer of them are certain.
    determined = [table.determined.sum() for table in found.values()]
    assert determined == sorted(determined, reverse=True)


def test_a_threshold_without_ptable_is_named() -> None:
    with pytest.raises(InfeasibleError, match="variance above 2"):
        patterns_by_threshold(variance=2, bound=5, largest=3)


def test_results_give_the_posterior_and_how_often_it_occurs() -> None:
    one, exact, sure = pattern_table(TABLES["E=2"], largest=4).results()
    assert one.name == "worst_posterior_of_one"
    assert one.worst == "0 + 1 with total 0"
    assert "the probability of this pattern is" in one.sentence
    assert exact.value == 1
    assert 0 < sure.value < 1e-2
    assert any("equally likely from 0 to 6" in each for each in sure.assumptions)


def test_no_noise_leaves_no_doubt() -> None:
    still = PTable((PTable.max_entropy(variance=1, bound=2).rows[0],))
    found = pattern_table(still, largest=3)
    occurs = found.chance > 0
    occurs[0, 0, 0] = False
    assert (found.determined == occurs).all()


@pytest.mark.parametrize("largest", [0, -1, 2.5])
def test_a_largest_count_that_is_none_is_refused(largest: int) -> None:
    with pytest.raises(ParameterError, match="largest must be a positive whole number"):
        pattern_table(TABLES["E=1"], largest=largest)


def test_a_table_that_is_too_large_is_refused() -> None:
    with pytest.raises(ParameterError, match="Use a smaller largest"):
        pattern_table(TABLES["E=1"], largest=200)
