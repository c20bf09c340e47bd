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
"""Rounds of the registered attack, where there are so many bi-partitions."""
ASSUMPTION = "every answer has fresh, independent noise of the law of large counts, and the same query the same answer"


@dataclass(frozen=True)
class Averaged:
    """What the answers say.

    Attributes:
        estimate: the total, None if no round was finished.
        confidence: the chance that it is right, given the mean, if all totals are equally likely beforehand.
        rounds: how many were finished.
        queries: how many were asked, the last perhaps in vain.
        cut_off: why it ended before all rounds were done, "" if it did not.
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
        interface: what is asked.
        law: the believed law of one noise on -E .. E.
        rounds: how many bi-partitions are asked for.
        seed: of the splits.
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
        """Give different splits of the categories into two parts, in a random order."""
        random, categories = np.random.default_rng(self.seed), self.interface.categories
        seen: set[bytes] = set()
        while len(seen) < self.rounds:
            # The last category stands for its side: no split comes twice with its parts exchanged.
            first = np.append(random.integers(0, 2, len(categories) - 1, dtype=np.int8), np.int8(0)).astype(bool)
            if not first.any() or first.tobytes() in seen:
                continue
            seen.add(first.tobytes())
            pairs = list(zip(categories, first.tolist(), strict=True))
            yield tuple(code for code, side in pairs if side), tuple(code for code, side in pairs if not side)

    def run(self) -> Averaged:
        """Ask, add, average and round."""
        interface = self.interface
        total = rounds = queries = 0
        for parts in self.splits():
            answers = []
            for part in parts:
                queries += 1
                try:
                    answers.append(interface.query(part))
                except interface.refusal:
                    return self._averaged(total, rounds, queries, f"cut off by the interface after {queries:,} queries")
            total += sum(answers)
            rounds += 1
        return self._averaged(total, rounds, queries)

    def _averaged(self, total: int, rounds: int, queries: int, cut_off: str = "") -> Averaged:
        if not rounds:
            return Averaged(None, 0.0, rounds, queries, cut_off)
        estimate = round(Fraction(int(total), rounds))
        law = sum_law(self.law, 2 * rounds)
        centre = len(law) // 2
        # The sum of all answers is t n + S: each total n that is possible means another S.
        others = np.arange((total - rounds * estimate + centre) % rounds, len(law), rounds)
        own = total - rounds * estimate + centre
        chance = float(law[own] / law[others].sum()) if 0 <= own < len(law) and law[own] > 0 else 0.0
        return Averaged(estimate, chance, rounds, queries, cut_off)


def bi_partitions(categories: int) -> int:
    """Return how many ways there are to split categories into two parts, none empty: 2^(m-1) - 1."""
    return max(2 ** (categories - 1) - 1, 0) if categories else 0


def sum_law(law: Floats, terms: int) -> Floats:
    """Return the law of a sum of independent noises, each given on -E .. E, by Fourier transform."""
    size = terms * (len(law) - 1) + 1
    found: Floats = np.maximum(np.fft.irfft(np.fft.rfft(law, size + 1) ** terms, size + 1)[:size], 0)
    found /= found.sum()
    return found


def exact_success(law: Floats, rounds: int) -> float:
    """Return P(|S| < t / 2), S the sum of 2t noises: the chance that the rounded mean is the total, ties excluded.

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
def bipartitions(sight: AttackerView) -> list[AttackEstimates]:
    """Return the total behind a query interface; nothing where there is none."""
    interface = sight.knowledge.interface
    if interface is None or len(interface.categories) < 2:
        return []
    try:
        plain = interface.query(interface.categories)
    except interface.refusal:
        return []
    law = sight.noise.laws[-1]
    rounds = min(ROUNDS, bi_partitions(len(interface.categories)))
    found = BiPartitions(interface, law, rounds, sight.seed).run()
    if found.estimate is None:
        return []
    predicted = exact_success(law, found.rounds)

    def actual(truth: Truth) -> Ints:
        return np.array([truth.answer], dtype=np.int64)

    def sentence(score: Score) -> str:
        verdict = "right" if score.right[0] else "wrong"
        return (
            f"{found.queries:,} queries for parts of a total, averaged over {found.rounds:,} splits, give it with "
            f"confidence {found.confidence:.0%}: it is {verdict}. The formula gives this a chance of "
            f"{predicted:.1%}; the answer to a single query for the total has {law[len(law) // 2]:.1%}."
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
            method="the mean over many splits of the categories into two parts, each asked for",
            assumptions=(ASSUMPTION,),
            cut_off=found.cut_off,
        )
    ]
