"""Bi-partitions against simulated interfaces: success as predicted by the distribution of the sum, and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.attacker_view import AssumedNoise, AttackerKnowledge, AttackerView, QueryInterface
from discreet.attacks.bipartition_attack import BiPartitions, bi_partitions, bipartitions, exact_success, sum_law
from discreet.attacks.scoring import score
from discreet.errors import ParameterError
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from discreet.arrays import Floats
    from discreet.attacks.attack_estimates import Truth

SEX = topic("SEX", "F M")
CODES = tuple(f"c{n}" for n in range(12))
UNIFORM = np.full(5, 0.2)
SKEWED = np.array([0.05, 0.25, 0.4, 0.25, 0.05])


@dataclass
class Server:
    """An interface that answers the same question the same way, up to a number of questions."""

    law: Floats
    seed: int = 0
    most: int | None = None
    counts: dict[str, int] = field(default_factory=lambda: {code: 7 * n for n, code in enumerate(CODES)})
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._noise: dict[frozenset[str], int] = {}
        self._upper = np.cumsum(self.law)[:-1]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def query(self, codes: Sequence[str]) -> int:
        self.asked.append(tuple(codes))
        if self.most is not None and len(self.asked) > self.most:
            raise PermissionError
        reach = len(self.law) // 2
        drawn = int(np.searchsorted(self._upper, self._random.random(), side="right")) - reach
        return sum(self.counts[code] for code in codes) + self._noise.setdefault(frozenset(codes), drawn)

    @property
    def interface(self) -> QueryInterface:
        return QueryInterface(self.query, tuple(self.counts))


# --- The law of success ---


@pytest.mark.parametrize(("rounds", "success"), [(10, 0.521), (20, 0.711), (50, 0.917), (100, 0.987)])
def test_the_published_values(rounds: int, success: float) -> None:
    """Asghar and Kaafar (2020), uniform noise within 2."""
    assert round(exact_success(UNIFORM, rounds), 3) == success


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("law", [[0.3, 0.5, 0.2], [0.1, 0.2, 0.3, 0.4, 0.0]])
def test_success_over_all_combinations(law: list[float], rounds: int) -> None:
    reach = len(law) // 2
    found = 0.0
    for noise in product(range(-reach, reach + 1), repeat=2 * rounds):
        if abs(sum(noise)) < rounds / 2:
            found += float(np.prod([law[x + reach] for x in noise]))
    assert exact_success(np.array(law), rounds) == pytest.approx(found)


@settings(max_examples=up_to(50), deadline=None)
@given(weights=st.lists(st.integers(1, 9), min_size=1, max_size=5), rounds=st.integers(1, 300))
def test_success_is_a_chance_and_the_law_of_a_sum_has_its_moments(weights: list[int], rounds: int) -> None:
    law = np.array([*weights, *weights[-2::-1]], dtype=float)
    law /= law.sum()
    x = np.arange(len(law)) - len(law) // 2
    found = sum_law(law, 2 * rounds)
    y = np.arange(len(found)) - len(found) // 2
    assert found.sum() == pytest.approx(1)
    assert found @ y == pytest.approx(0, abs=1e-6)
    assert found @ y**2 == pytest.approx(2 * rounds * (law @ x**2), abs=1e-6)
    assert 0 <= exact_success(law, rounds) <= 1 + 1e-12


def test_impossible_rounds_are_refused() -> None:
    assert [bi_partitions(m) for m in (0, 1, 2, 3, 12)] == [0, 0, 1, 3, 2047]
    three = QueryInterface(lambda _: 0, ("a", "b", "c"))
    assert len(list(BiPartitions(three, UNIFORM, 3).splits())) == 3
    with pytest.raises(ParameterError, match="rounds must be at most 3: 3 categories have no more splits, not 4"):
        BiPartitions(three, UNIFORM, 4)
    with pytest.raises(ParameterError, match="rounds must be"):
        BiPartitions(three, UNIFORM, 0)
    with pytest.raises(ParameterError, match="rounds must be"):
        exact_success(UNIFORM, 0)


# --- Splits ---


@settings(max_examples=up_to(50), deadline=None)
@given(categories=st.integers(2, 80), seed=st.integers(0, 1000), rounds=st.integers(1, 60))
def test_splits_are_bi_partitions_and_none_comes_twice(categories: int, seed: int, rounds: int) -> None:
    codes = tuple(f"c{n}" for n in range(categories))
    rounds = min(rounds, bi_partitions(categories))
    seen = set()
    for first, second in BiPartitions(QueryInterface(lambda _: 0, codes), UNIFORM, rounds, seed).splits():
        assert first
        assert second
        assert sorted([*first, *second]) == sorted(codes)
        seen.add(frozenset([frozenset(first), frozenset(second)]))
    assert len(seen) == rounds


# --- Simulated interfaces ---


@pytest.mark.slow
@pytest.mark.parametrize(("law", "rounds"), [(UNIFORM, 9), (UNIFORM, 21), (SKEWED, 5)])
def test_the_total_is_found_as_often_as_predicted(law: Floats, rounds: int) -> None:
    """An odd number of rounds has no ties; rejects a success that is 30 % off."""
    hits, sure = [], []
    for seed in range(1000):
        server = Server(law, seed)
        found = BiPartitions(server.interface, law, rounds, seed).run()
        assert (found.rounds, found.queries, found.cut_off) == (rounds, 2 * rounds, "")
        hits.append(found.estimate == server.total)
        sure.append(found.confidence)
    predicted = exact_success(law, rounds)
    achieved, error = np.mean(hits), np.std(hits) / len(hits) ** 0.5
    assert abs(achieved - predicted) < 4 * error
    for off in (0.7, 1.3):
        assert abs(achieved - off * predicted) > 4 * error
    # The confidence depends on the observed mean, and is calibrated on average.
    assert abs(achieved - np.mean(sure)) < 4 * error
    assert np.std(sure) > 0.02


def test_of_a_tie_she_is_at_most_half_sure() -> None:
    # All answers of two rounds add up to 61: S is 1 for a total of 30, -1 for 31, and odd for any other.
    answers = iter([10, 20, 15, 16])
    found = BiPartitions(QueryInterface(lambda _: next(answers), ("a", "b", "c")), UNIFORM, 2).run()
    assert found.estimate in {30, 31}
    sums = [sum(noise) for noise in product(range(-2, 3), repeat=4)]
    assert found.confidence == pytest.approx(sums.count(1) / sum(value % 2 for value in sums))
    assert found.confidence < 0.5


def test_without_noise_one_round_is_enough() -> None:
    server = Server(np.ones(1))
    found = BiPartitions(server.interface, server.law, 1).run()
    assert (found.estimate, found.confidence) == (server.total, 1.0)
    assert exact_success(np.ones(1), 1) == 1


@pytest.mark.slow
def test_huge_noise_leaves_chance() -> None:
    law = np.full(2001, 1 / 2001)
    hits = 0
    for seed in range(200):
        server = Server(law, seed)
        hits += BiPartitions(server.interface, law, 10, seed).run().estimate == server.total
    assert exact_success(law, 10) < 0.01
    assert hits <= 6


def test_an_impossible_mean_leaves_no_confidence() -> None:
    found = BiPartitions(QueryInterface(lambda codes: 10 * len(codes) + 3, CODES), np.ones(1), 5).run()
    assert found.estimate == 126
    assert found.confidence == 1
    answers = iter([10, 20, 15, 16, 10, 20])
    found = BiPartitions(QueryInterface(lambda _: next(answers), ("a", "b", "c")), np.ones(1), 3).run()
    assert (found.estimate, found.confidence) == (30, 0.0)


@pytest.mark.parametrize(("most", "rounds"), [(0, 0), (1, 0), (2, 1), (7, 3)])
def test_a_refusal_ends_the_attack_with_what_was_answered(most: int, rounds: int) -> None:
    server = Server(UNIFORM, most=most)
    found = BiPartitions(server.interface, UNIFORM, 50).run()
    assert (found.rounds, found.queries) == (rounds, most + 1)
    assert found.cut_off == f"the interface stopped after {most + 1:,} queries"
    assert (found.estimate is None) == (rounds == 0)


def test_another_error_of_the_interface_is_not_swallowed() -> None:
    def fails(_: Sequence[str]) -> int:
        raise OSError("no connection")

    with pytest.raises(OSError, match="no connection"):
        BiPartitions(QueryInterface(fails, CODES), UNIFORM, 5).run()
    refusing = QueryInterface(fails, CODES, refusal=OSError)
    assert BiPartitions(refusing, UNIFORM, 5).run().estimate is None


# --- As a registered attack ---


@dataclass(frozen=True)
class Total:
    """The true values that these tests use."""

    answer: int


def attacker(interface: QueryInterface | None, **more: Any) -> AttackerView:  # noqa: ANN401 - as in AttackerView
    noise = AssumedNoise((UNIFORM,), 2.0, 2.0, shared="participants")
    return AttackerView(
        programme([SEX], [by(SEX)]), {}, no_files, AttackerKnowledge(noise=noise, interface=interface), **more
    )


def no_files(table: str) -> pa.Table:
    raise AssertionError(f"table {table} was read")


def test_the_finding_of_an_interface() -> None:
    server = Server(UNIFORM, 4)
    (found,) = bipartitions(attacker(server.interface))
    scored = score(found, cast("Truth", Total(server.total)))
    assert scored.right.tolist() == [True]
    assert server.asked[0] == CODES
    assert len(server.asked) == 1 + 2 * 100
    assert found.naive is not None
    assert abs(found.naive[0] - server.total) <= 2
    assert found.confidence[0] > 0.8
    assert found.sentence
    words = found.sentence(scored)
    assert words.startswith("200 queries for parts of a total, averaged over 100 splits, estimate it with confidence ")
    assert "The estimate is correct. Predicted probability of success: 98.7%; from a single query" in words
    assert found.predicted["21+"] == pytest.approx(0.987, abs=5e-4)
    assert found.cut_off == ""


def test_few_categories_allow_few_rounds() -> None:
    server = Server(UNIFORM, counts={"a": 50, "b": 60, "c": 70})
    (found,) = bipartitions(attacker(server.interface))
    assert len(server.asked) == 1 + 2 * 3
    assert found.predicted["21+"] == pytest.approx(exact_success(UNIFORM, 3))


def test_nothing_is_said_of_a_static_release_or_by_an_interface_that_refuses() -> None:
    assert bipartitions(attacker(None)) == []
    assert bipartitions(attacker(QueryInterface(lambda _: 5, ("a",)))) == []
    for most in (0, 1, 2):
        assert bipartitions(attacker(Server(UNIFORM, most=most).interface)) == []
    (found,) = bipartitions(attacker(Server(UNIFORM, most=3).interface))
    assert found.cut_off.startswith("the interface stopped after")
