"""Bi-partition attack: average many noisy answers of a flexible query interface to recover one total.

Asghar and Kaafar, "Averaging attacks on bounded noise-based disclosure control algorithms" (PoPETs 2020). Each round
splits the categories of an attribute into two parts, at random and always differently. The two answers add up to
the total n plus two noise terms. The mean over t rounds is n + S / t, S the sum of 2t independent noise terms. Rounded,
it is correct if

    |S| < t / 2;

a tie counts as a failure. The distribution of S follows exactly from that of one noise term. For uniform noise within 2
the attack succeeds with probability .521, .711, .917, .987 after 10, 20, 50, 100 rounds. m categories have
2^(m-1) - 1 bi-partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, AttackEstimates
from discreet.attacks.scoring import CLASSES
from discreet.errors import ParameterError
from discreet.noise.parameters import positive_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AttackerView, QueryInterface
    from discreet.attacks.scoring import Score

ROUNDS = 100
"""Number of rounds of the registered attack, if there are that many bi-partitions."""
ASSUMPTION = "answers have independent noise with the distribution of large counts; equal queries have equal answers"


@dataclass(frozen=True)
class Averaged:
    """The estimate from the averaged answers.

    Attributes:
        estimate: the total; None if no round was completed.
        confidence: the posterior probability that it is correct, given the mean, under a flat prior on the total.
        rounds: the number of completed rounds.
        queries: the number of queries, including a refused one.
        cut_off: the reason for stopping before all rounds were completed; "" otherwise.
    """

    estimate: int | None
    confidence: float
    rounds: int
    queries: int
    cut_off: str = ""


@dataclass(frozen=True, eq=False)
class BiPartitions:
    """The averaging attack on a query interface.

    Attributes:
        interface: the query interface.
        law: the assumed distribution of one noise term on -E .. E.
        rounds: the number of bi-partitions to query.
        seed: the seed of the random splits.
    """

    interface: QueryInterface
    law: Floats
    rounds: int = ROUNDS
    seed: int = 0

    def __post_init__(self) -> None:
        if not positive_whole.contains(self.rounds):
            raise ParameterError.outside("bi-partitions", "rounds", self.rounds, positive_whole.words)
        categories = len(self.interface.categories)
        most = bi_partitions(categories)
        if self.rounds > most:
            raise ParameterError.outside(
                "bi-partitions", "rounds", self.rounds, f"at most {most:,}: {categories} categories have no more splits"
            )

    def splits(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield different splits of the categories into two parts, in random order."""
        random, categories = np.random.default_rng(self.seed), self.interface.categories
        seen: set[bytes] = set()
        while len(seen) < self.rounds:
            # The last category is always in the second part, so that no split occurs twice with exchanged parts.
            first = np.append(random.integers(0, 2, len(categories) - 1, dtype=np.int8), np.int8(0)).astype(bool)
            if not first.any() or first.tobytes() in seen:
                continue
            seen.add(first.tobytes())
            pairs = list(zip(categories, first.tolist(), strict=True))
            yield tuple(code for code, side in pairs if side), tuple(code for code, side in pairs if not side)

    def run(self) -> Averaged:
        """Query all parts, and return the rounded mean of the sums."""
        interface = self.interface
        total = rounds = queries = 0
        for parts in self.splits():
            answers = []
            for part in parts:
                queries += 1
                try:
                    answers.append(interface.query(part))
                except interface.refusal:
                    return self._averaged(total, rounds, queries, f"the interface stopped after {queries:,} queries")
            total += sum(answers)
            rounds += 1
        return self._averaged(total, rounds, queries)

    def _averaged(self, total: int, rounds: int, queries: int, cut_off: str = "") -> Averaged:
        if not rounds:
            return Averaged(None, 0.0, rounds, queries, cut_off)
        estimate = round(Fraction(int(total), rounds))
        law = sum_law(self.law, 2 * rounds)
        centre = len(law) // 2
        # The sum of all answers is t n + S: each possible total n implies a different S.
        others = np.arange((total - rounds * estimate + centre) % rounds, len(law), rounds)
        own = total - rounds * estimate + centre
        chance = float(law[own] / law[others].sum()) if 0 <= own < len(law) and law[own] > 0 else 0.0
        return Averaged(estimate, chance, rounds, queries, cut_off)


def bi_partitions(categories: int) -> int:
    """Return the number of splits of m categories into two non-empty parts: 2^(m-1) - 1."""
    return max(2 ** (categories - 1) - 1, 0) if categories else 0


def sum_law(law: Floats, terms: int) -> Floats:
    """Return the distribution of a sum of independent noise terms on -E .. E, by Fourier transform."""
    size = terms * (len(law) - 1) + 1
    found: Floats = np.maximum(np.fft.irfft(np.fft.rfft(law, size + 1) ** terms, size + 1)[:size], 0)
    found /= found.sum()
    return found


def exact_success(law: Floats, rounds: int) -> float:
    """Return P(|S| < t / 2), S the sum of 2t noise terms: the rounded mean is the total. Ties are failures.

    >>> uniform = np.full(5, 0.2)
    >>> [round(exact_success(uniform, rounds), 3) for rounds in (10, 20, 50, 100)]
    [0.521, 0.711, 0.917, 0.987]
    """
    if not positive_whole.contains(rounds):
        raise ParameterError.outside("exact_success", "rounds", rounds, positive_whole.words)
    found = sum_law(law, 2 * rounds)
    error = np.abs(np.arange(len(found)) - len(found) // 2)
    return float(found[2 * error < rounds].sum())


@ATTACKS.register("bi-partitions")
def bipartitions(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the total behind a query interface; empty without an interface."""
    interface = attacker.knowledge.interface
    if interface is None or len(interface.categories) < 2:
        return []
    try:
        plain = interface.query(interface.categories)
    except interface.refusal:
        return []
    law = attacker.noise.laws[-1]
    rounds = min(ROUNDS, bi_partitions(len(interface.categories)))
    found = BiPartitions(interface, law, rounds, attacker.seed).run()
    if found.estimate is None:
        return []
    predicted = exact_success(law, found.rounds)

    def actual(truth: Truth) -> Ints:
        return np.array([truth.answer], dtype=np.int64)

    def sentence(score: Score) -> str:
        verdict = "correct" if score.right[0] else "wrong"
        return (
            f"{found.queries:,} queries for parts of a total, averaged over {found.rounds:,} splits, estimate it with "
            f"confidence {found.confidence:.0%}. The estimate is {verdict}. Predicted probability of success: "
            f"{predicted:.1%}; from a single query for the total: {law[len(law) // 2]:.1%}."
        )

    return [
        AttackEstimates(
            attack="bi-partitions",
            subject="total behind a query interface",
            estimate=np.array([found.estimate]),
            confidence=np.array([found.confidence]),
            actual=actual,
            naive=np.array([plain]),
            predicted=dict.fromkeys(CLASSES, predicted),
            sentence=sentence,
            method="the mean over many splits of the categories into two queried parts",
            assumptions=(ASSUMPTION,),
            cut_off=found.cut_off,
        )
    ]
