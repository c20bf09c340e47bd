"""Bound disclosure by additive tuples: how surely the gaps between totals and their parts reveal the noise bound E.

The true counts of c parts and their total add up. The gap of the published counts,

    g = sum of the published parts - published total,

therefore contains noise only and lies within +-(c + 1) E. A gap beyond (c + 1)(E - 1) is too wide for a smaller bound:
the estimate ceil(|g| / (c + 1)) then equals E (Bach 2020, section "Revealing the bound", after Asghar and Kaafar 2019).

Beyond the paper: tuples of small counts, whose p-table rows have fatter tails, and a likelihood attack that weighs all
gaps instead of waiting for an extreme one. Gaps are only part of the published information: `residual_bound` uses all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.parameters import non_negative_whole, positive_whole
from discreet.noise.ptable import PTable
from discreet.noise.rounded import RoundedRow
from discreet.noise.uniform import Uniform
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discreet.arrays import Floats
    from discreet.noise.distribution import Noise


def largest_noise(law: Noise | RoundedRow) -> int:
    """Return the largest absolute noise that occurs."""
    if isinstance(law, RoundedRow):
        return law.bound
    if math.isinf(law.bound):
        raise ParameterError(
            f"{type(law).__name__} is unbounded: it has no bound to reveal. Cut it with Truncated(law, bound=E), "
            "or look at the (epsilon, delta) of the law instead.",
            parameter="law",
        )
    x = np.arange(-int(law.bound), int(law.bound) + 1)
    # A probability that underflows is still one that occurs: its logarithm is finite.
    return int(np.abs(x[np.isfinite(law.log_pmf(x))]).max())


def probabilities(law: Noise | RoundedRow, bound: int | None = None) -> Floats:
    """Return the probabilities of -E .. E; E is the law's largest noise unless a wider bound is given."""
    edge = bound or largest_noise(law)
    if edge == 0:
        raise ParameterError("This law never changes a count: there is no bound to reveal.", parameter="law")
    x = np.arange(-edge, edge + 1)
    if isinstance(law, RoundedRow):
        found = law.law()
        return np.array([float(found.get(value, 0)) for value in x.tolist()])
    return law.pmf(x)


def gap_law(parts: Sequence[Floats], total: Floats) -> Floats:
    """Return the law of g on -(c + 1)E .. (c + 1)E for laws of parts and total given on -E .. E.

    By convolution: sums of products of probabilities, without cancellation.
    """
    return reduce(np.convolve, parts, total[::-1])


def extreme_gap(parts: Sequence[Floats], total: Floats) -> float:
    """Return P(|g| > (c + 1)(E - 1)), both tails.

    The c + 1 outermost values on each side are summed, so tiny chances keep their digits.
    """
    gap, outer = gap_law(parts, total), len(parts) + 1
    return min(1.0, math.fsum(gap[:outer]) + math.fsum(gap[-outer:]))


def check_tuples(*, tuples: int, categories: int) -> None:
    """Raise ParameterError unless there are no tuples or more, of two parts or more."""
    if not non_negative_whole.contains(tuples):
        raise ParameterError.outside("additive tuples", "tuples", tuples, non_negative_whole.words)
    if not positive_whole.contains(categories) or categories < 2:
        raise ParameterError.outside("additive tuples", "categories", categories, "a whole number from 2 on")


PARTS = "independent noise of parts and total"
"""What sets of parts and their total are taken to have."""
CONFIDENCE = 0.6827
"""The paper's 68 %: one standard deviation of a Gaussian."""

LEAST_SURE = 0.55
"""The least confidence to which who tells two bounds apart is held: the toss of a coin gives 0.5."""

GAP, LIKELIHOOD, RESIDUALS, NOISES = "gap", "likelihood", "residuals", "noises"
ATTACKERS = {
    GAP: "waits for an extreme gap between a total and its parts",
    LIKELIHOOD: "knows the noise distribution and weighs every gap between a total and its parts",
    RESIDUALS: "compares the residuals of all published counts with the bounds {bound} and {wider}",
    NOISES: "knows all true counts, and so every noise,",
}
"""How an attacker looks for the bound."""

EXTREME = "1 - prod (1 - p1)^sets, p1 = P(|sum x - x_T| > (c + 1)(E - 1))"
"""How surely an extreme gap shows the bound."""

MOST_TUPLES = 20_000
"""The most combinations of true parts that are searched for the worst; a few seconds."""


@dataclass(frozen=True, kw_only=True)
class BoundDisclosure:
    """How surely the bound is found from independent tuples.

    After m tuples, with q = (1 - chance)^m, who waits for an extreme gap has found it with probability 1 - q. Who
    weighs every gap is right with probability (1 + sqrt(1 - q^2)) / 2 at most; see `likelihood_disclosure`.

    Attributes:
        bound: the largest noise E that is to stay unknown.
        categories: the number c of parts of a tuple.
        tuples: how many independent tuples the output holds.
        confidence: alpha, from which on the bound counts as found.
        chance: what one tuple adds; for the extreme gap the paper's p1, for all gaps the squared distance H^2.
        attacker: who looks for the bound, one of ATTACKERS.
        worst: the tuples that the chance is for.
        assumptions: what must be true for the figures to hold.
    """

    bound: int
    categories: int
    tuples: int
    confidence: float
    chance: float
    attacker: str
    worst: str
    assumptions: tuple[str, ...]

    @property
    def needed(self) -> float:
        """Return m = ceil(log q / log(1 - chance)), q as alpha asks for it; infinite if the chance is 0.

        Fewer tuples than these do not reach the confidence; of all gaps, even these may not.
        """
        if self.chance >= 1:
            return 1
        each = math.log1p(-self.chance)
        # A chance of next to nothing would take more tuples than there are numbers.
        many = _unseen_at(self.confidence, self.attacker) / each if each else math.inf
        return math.ceil(many) if math.isfinite(many) else math.inf

    @property
    def reached(self) -> float:
        """Return the confidence that the available tuples give, of all gaps at most."""
        return reached_together([self])

    @property
    def inferable(self) -> bool:
        """Say whether the available tuples may suffice to find the bound."""
        return self.tuples >= self.needed

    def result(self) -> Result:
        """Return the confidence reached in words."""
        return result_of_sets([self])


def result_of_sets(found: Sequence[BoundDisclosure], name: str = "bound_revealed_by_gap") -> Result:
    """Return how surely sets of several sizes together reveal the bound to one attacker, in words."""
    first = found[0]
    counted = " and ".join(f"{_number(each.tuples)} sets of {each.categories} parts and their total" for each in found)
    needed = f"; {_number(first.needed)} are needed" if len(found) == 1 else ""
    weighs = first.attacker == LIKELIHOOD
    return replace(
        identified(
            first.attacker,
            reached_together(found),
            first.bound,
            first.confidence,
            evidence=f"from {counted} alone{needed}",
            assumptions=(*first.assumptions, "other published counts reveal more"),
            equation="(1 + sqrt(1 - prod (1 - H^2)^(2 sets))) / 2" if weighs else EXTREME,
        ),
        name=name,
        worst=first.worst,
    )


def identified(
    attacker: str,
    probability: float,
    bound: int,
    confidence: float | None,
    *,
    evidence: str,
    assumptions: tuple[str, ...],
    equation: str,
) -> Result:
    """Return how surely an attacker identifies the bound, in words.

    Args:
        attacker: one of ATTACKERS.
        probability: of being right.
        bound: E.
        confidence: from which on the bound counts as found, None where nothing depends on the figure.
        evidence: what the attacker uses, and what kind of figure this is.
        assumptions: what must be true for the figure to hold.
        equation: its formula.
    """
    who = ATTACKERS[attacker].format(bound=bound, wider=bound + 1)
    target = "" if confidence is None else f" (target: below {confidence:.3g})"
    return Result(
        name="bound_revealed",
        value=probability,
        unit="1",
        sentence=f"An attacker who {who} identifies the bound {bound} with probability "
        f"{probability:.3g}{target}, {evidence}.",
        assumptions=assumptions,
        equation=equation,
    )


def bound_disclosure(
    law: Noise | RoundedRow | PTable, *, tuples: int, categories: int = 2, confidence: float = CONFIDENCE
) -> BoundDisclosure:
    """Return how surely an extreme gap gives the bound away.

    p1 = P(|g| > (c + 1)(E - 1)), both tails, by convolution of the law with
    itself; m = ceil(log(1 - alpha) / log(1 - p1)).

    A law (or a row on its key grid) stands for every part and the total, as in the
    paper: true for counts above the bound, for which the last row of a p-table
    serves. A whole p-table is searched for the true counts with the largest p1:
    small counts have fatter tails, so its figure is an upper limit for a real mix.

    >>> law = MaxEntropy(variance=2, bound=5)
    >>> found = bound_disclosure(law, tuples=28_000_000)
    >>> f"{found.chance:.3g} {found.needed} {found.inferable}"
    '1.52e-07 7543724 True'
    """
    check_tuples(tuples=tuples, categories=categories)
    _check_confidence(confidence)
    if isinstance(law, PTable):
        bound, chance, worst = _worst_tuple(law, categories)
        which = "every tuple of the worst kind; others reveal less"
    else:
        p = probabilities(law)
        bound, worst = len(p) // 2, "tuples of counts above the bound"
        chance = extreme_gap([p] * categories, p)
        which = "all counts above the bound; tuples of small counts reveal more"
    return BoundDisclosure(
        bound=bound,
        categories=categories,
        tuples=tuples,
        confidence=confidence,
        chance=chance,
        attacker=GAP,
        worst=worst,
        assumptions=(
            which,
            f"{PARTS}, independent tuples",
            "the attacker waits for an extreme gap; weighing all gaps can take fewer tuples",
            "no true count is known from elsewhere",
        ),
    )


def likelihood_disclosure(
    law: Noise | RoundedRow,
    other: Noise | RoundedRow,
    *,
    tuples: int,
    categories: int = 2,
    confidence: float = CONFIDENCE,
) -> BoundDisclosure:
    """Return how surely the likelihood of all gaps tells a law from another with a different bound.

    Beyond the paper. Whoever weighs both laws g, h of the gap equally and chooses
    the likelier is right with probability (1 + d) / 2 after m tuples, and nobody is
    right more often. Their distance d in variation is at most sqrt(1 - (1 - H^2)^(2m)),
    with the squared Hellinger distance H^2 = sum (sqrt g - sqrt h)^2 / 2 of one
    tuple (Le Cam). So `reached` is never too low; where the laws differ in many small
    ways it is a few points too high.

    >>> laws = [MaxEntropy(variance=2, bound=bound) for bound in (5, 6)]
    >>> likelihood_disclosure(*laws, tuples=28_000_000).needed < 3_000_000
    True
    """
    check_tuples(tuples=tuples, categories=categories)
    _check_confidence(confidence)
    if confidence <= 0.5:
        raise ParameterError.outside(
            "bounds_told_apart", "confidence", confidence, "above 0.5, which the toss of a coin gives"
        )
    p, q = probabilities(law), probabilities(other)
    if len(p) == len(q):
        raise ParameterError("bounds_told_apart: both laws have the same bound. Give two bounds.", parameter="other")
    gaps = [gap_law([each] * categories, each) for each in (p, q)]
    width = max(map(len, gaps))
    g, h = (np.pad(gap, (width - len(gap)) // 2) for gap in gaps)
    return BoundDisclosure(
        bound=len(p) // 2,
        categories=categories,
        tuples=tuples,
        confidence=confidence,
        chance=min(1.0, float(np.square(np.sqrt(g) - np.sqrt(h)).sum()) / 2),
        attacker=LIKELIHOOD,
        worst=f"bound {len(p) // 2} against {len(q) // 2}",
        assumptions=(
            "the attacker knows both laws, variance included, and weighs the two bounds equally beforehand",
            "all counts above the bound",
            f"{PARTS}, independent tuples",
            "an upper limit of how often the attacker is right, and a lower one of what she needs",
        ),
    )


def disclosures_at(
    variance: float, bound: int, tuples: Mapping[int, int], *, confidence: float = CONFIDENCE, attacker: str = "gap"
) -> list[BoundDisclosure]:
    """Return how surely an attacker finds the bound of maximum-entropy noise from tuples of each size by themselves.

    The attacker "gap" is the paper's; "likelihood" tells E from E + 1 at the same, public V. By guessing alone she is
    right in half of the cases, so that she cannot be held to less than LEAST_SURE.

    Args:
        variance: V.
        bound: E.
        tuples: by number of parts, how many tuples there are.
        confidence: from which on the bound counts as found.
        attacker: one of ATTACKERS.
    """
    if attacker not in {GAP, LIKELIHOOD}:
        raise UnknownNameError.among("attacker", attacker, (GAP, LIKELIHOOD))
    _check_confidence(confidence)
    law = MaxEntropy(variance=variance, bound=bound)
    if attacker == GAP:
        return [bound_disclosure(law, tuples=n, categories=c, confidence=confidence) for c, n in tuples.items()]
    wider, sure = MaxEntropy(variance=variance, bound=bound + 1), max(confidence, LEAST_SURE)
    return [likelihood_disclosure(law, wider, tuples=n, categories=c, confidence=sure) for c, n in tuples.items()]


def disclosure_at(
    variance: float,
    bound: int,
    *,
    tuples: int,
    categories: int = 2,
    confidence: float = CONFIDENCE,
    attacker: str = "gap",
) -> BoundDisclosure:
    """Return how surely an attacker finds the bound of maximum-entropy noise from tuples of one size."""
    (found,) = disclosures_at(variance, bound, {categories: tuples}, confidence=confidence, attacker=attacker)
    return found


def reached_together(found: Sequence[BoundDisclosure]) -> float:
    """Return how surely tuples of several sizes give one bound away to one attacker, q = prod (1 - chance)^tuples."""
    if any(each.chance >= 1 and each.tuples for each in found):
        return 1.0
    unseen = sum(each.tuples * math.log1p(-each.chance) for each in found if each.tuples)
    return upper_limit(-unseen) if found[0].attacker == LIKELIHOOD else -math.expm1(unseen)


def upper_limit(exponent: float) -> float:
    """Return (1 + sqrt(1 - exp(-2 B))) / 2: no comparison of two distributions is right more often (Le Cam).

    >>> upper_limit(0.0), round(upper_limit(0.1), 3)
    (0.5, 0.713)
    """
    return (1 + math.sqrt(-math.expm1(-2 * exponent))) / 2


def _unseen_at(confidence: float, attacker: str) -> float:
    """Return log q at which an attacker reaches a confidence: q = 1 - alpha, or q^2 = 1 - (2 alpha - 1)^2."""
    if attacker == LIKELIHOOD:
        return math.log1p(-((2 * confidence - 1) ** 2)) / 2
    return math.log1p(-confidence)


def largest_variance(
    bound: int, *, tuples: int, categories: int = 2, confidence: float = CONFIDENCE, attacker: str = "gap"
) -> Result:
    """Return the largest variance V at which the tuples do not reveal the bound of maximum-entropy noise.

    By bisection on V, up to E (E + 1) / 3, where the law is uniform. Of the attackers
    "gap" and "likelihood" neither is always the stronger: a design takes the smaller of both variances.
    """

    def disclosure(variance: float) -> BoundDisclosure:
        kind = {"tuples": tuples, "categories": categories}
        return disclosure_at(variance, bound, confidence=confidence, attacker=attacker, **kind)

    uniform = Uniform(bound=bound).variance
    variance = largest_holding(lambda v: not disclosure(v).inferable, uniform)
    held = disclosure(variance)
    limit = ", the variance of uniform noise" if variance == uniform else ""
    return Result(
        name="largest_variance",
        equation="largest V with (1 + sqrt(1 - (1 - H^2)^(2 tuples))) / 2 < alpha"
        if attacker == LIKELIHOOD
        else "largest V with m(V, E) > tuples, m = ceil(log(1 - alpha) / log(1 - p1))",
        value=variance,
        unit="persons squared",
        sentence=f"With {_number(tuples)} sets of {categories} parts and their total alone, an attacker who "
        f"{ATTACKERS[attacker]} reaches a confidence of {confidence:.2%} in the bound {bound} from a noise variance of "
        f"{variance:.3g} on{limit}.",
        worst=held.worst,
        assumptions=("maximum-entropy noise", *held.assumptions),
    )


def _worst_tuple(ptable: PTable, categories: int) -> tuple[int, float, str]:
    """Return the bound, the largest chance of an extreme gap, and the true parts that have it."""
    bound = max(largest_noise(row) for row in ptable.rows)
    laws = [probabilities(row, bound) for row in ptable.rows]
    # A fixed 0 adds no noise: a tuple that holds one is a tuple of fewer parts.
    counts = range(0 if ptable.perturbs_zeros else 1, len(ptable.rows))
    if math.comb(len(counts) + categories - 1, categories) > MOST_TUPLES:
        raise ParameterError(
            f"{categories} categories are too many to search a whole p-table. Pass its last row, ptable.rows[-1].",
            parameter="categories",
        )
    found = {}
    for truth in combinations_with_replacement(counts, categories):
        total = int(ptable.row_numbers(sum(truth)))
        found[truth] = extreme_gap([laws[count] for count in truth], laws[total])
    worst = max(found, key=lambda truth: found[truth])
    return bound, found[worst], f"true parts {', '.join(map(str, worst))}"


def largest_holding(holds: Callable[[float], bool], highest: float) -> float:
    """Return the largest number up to the highest that holds, from below, to nine digits."""
    if holds(highest):
        return highest
    low, high = 0.0, highest
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ParameterError.outside("revealing the bound", "confidence", confidence, "between 0 and 1", "0.68 to 0.99")


def _number(value: float) -> str:
    """Return a count that may be huge.

    >>> _number(7543724), _number(8.2e19), _number(math.inf)
    ('7,543,724', '8.2e+19', 'endlessly many')
    """
    if math.isinf(value):
        return "endlessly many"
    return f"{value:,.0f}" if value < 1e12 else f"{value:.2g}"
