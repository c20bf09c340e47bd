"""Bound disclosure by additive tuples: the probability that gaps between totals and parts reveal the noise bound E.

The true counts of c parts and their total add up. The gap of the published counts,

    g = sum of the published parts - published total,

therefore contains noise only and lies within +-(c + 1) E. A gap beyond (c + 1)(E - 1) is too wide for a smaller bound:
the estimate ceil(|g| / (c + 1)) then equals E (Bach 2020, section "Revealing the bound", after Asghar and Kaafar 2019).

Beyond the paper: tuples of small counts, whose p-table rows have heavier tails, and a likelihood attack that uses all
gaps instead of an extreme one. Gaps are only part of the published information: `residual_bound` uses all of it.
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
    """Return the largest absolute value of the noise with positive probability."""
    if isinstance(law, RoundedRow):
        return law.bound
    if math.isinf(law.bound):
        raise ParameterError(
            f"{type(law).__name__} is unbounded: it has no bound to reveal. Truncate it with Truncated(law, bound=E), "
            "or compute its epsilon and delta instead.",
            parameter="law",
        )
    x = np.arange(-int(law.bound), int(law.bound) + 1)
    # A probability that underflows is positive: its logarithm is finite.
    return int(np.abs(x[np.isfinite(law.log_pmf(x))]).max())


def probabilities(law: Noise | RoundedRow, bound: int | None = None) -> Floats:
    """Return the probabilities of -E .. E; E is the largest noise of the distribution unless a wider bound is given."""
    edge = bound or largest_noise(law)
    if edge == 0:
        raise ParameterError("This noise distribution is always 0: it has no bound to reveal.", parameter="law")
    x = np.arange(-edge, edge + 1)
    if isinstance(law, RoundedRow):
        found = law.law()
        return np.array([float(found.get(value, 0)) for value in x.tolist()])
    return law.pmf(x)


def gap_law(parts: Sequence[Floats], total: Floats) -> Floats:
    """Return the distribution of g on -(c + 1)E .. (c + 1)E, given those of parts and total on -E .. E.

    Computed by convolution: sums of products of probabilities, without cancellation.
    """
    return reduce(np.convolve, parts, total[::-1])


def extreme_gap(parts: Sequence[Floats], total: Floats) -> float:
    """Return P(|g| > (c + 1)(E - 1)), both tails.

    The c + 1 outermost values on each side are summed, so tiny probabilities keep their digits.
    """
    gap, outer = gap_law(parts, total), len(parts) + 1
    return min(1.0, math.fsum(gap[:outer]) + math.fsum(gap[-outer:]))


def check_tuples(*, tuples: int, categories: int) -> None:
    """Raise ParameterError unless the number of tuples is at least 0 and the number of parts at least 2."""
    if not non_negative_whole.contains(tuples):
        raise ParameterError.outside("additive tuples", "tuples", tuples, non_negative_whole.words)
    if not positive_whole.contains(categories) or categories < 2:
        raise ParameterError.outside("additive tuples", "categories", categories, "a whole number from 2 on")


PARTS = "independent noise of parts and total"
"""An assumption of all figures on tuples."""
CONFIDENCE = 0.6827
"""The paper's 68 %: one standard deviation of a Gaussian."""

MIN_CONFIDENCE = 0.55
"""The minimum target for an attacker who distinguishes two bounds: random guessing gives 0.5."""

GAP, LIKELIHOOD, RESIDUALS, NOISE_TERMS = "gap", "likelihood", "residuals", "noise terms"
ATTACKERS = {
    GAP: "waits for an extreme gap between a total and its parts",
    LIKELIHOOD: "knows the noise distribution and uses the likelihood of all gaps between totals and parts",
    RESIDUALS: "tests the residuals of all published counts for the bounds {bound} and {wider}",
    NOISE_TERMS: "knows all true counts, and therefore every noise term,",
}
"""Attacker models of bound disclosure: the end of the phrase "an attacker who ..."."""

EXTREME = "1 - prod (1 - p1)^sets, p1 = P(|sum x - x_T| > (c + 1)(E - 1))"
"""The probability that an extreme gap reveals the bound."""

MOST_TUPLES = 20_000
"""The largest number of combinations of true parts in the search for the worst; a few seconds."""


@dataclass(frozen=True, kw_only=True)
class BoundDisclosure:
    """The probability that independent tuples disclose the bound.

    Let q = (1 - chance)^m for m tuples. An attacker who waits for an extreme gap identifies the bound with
    probability 1 - q. A likelihood attacker is right with probability at most (1 + sqrt(1 - q^2)) / 2; see
    `likelihood_disclosure`.

    Attributes:
        bound: the noise bound E to be kept secret.
        categories: the number c of parts of a tuple.
        tuples: the number of independent tuples in the output.
        confidence: alpha, the probability from which on the bound counts as disclosed.
        chance: the contribution of one tuple: the paper's p1 for the extreme gap, the squared distance H^2 otherwise.
        attacker: the attacker model, one of ATTACKERS.
        worst: the tuples to which `chance` refers.
        assumptions: the assumptions of the figures.
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
        """Return m = ceil(log q / log(1 - chance)), with q from alpha; infinite if the chance is 0.

        Fewer tuples do not reach the confidence. For the likelihood attacker even m tuples may not reach it.
        """
        if self.chance >= 1:
            return 1
        each = math.log1p(-self.chance)
        # With a tiny chance the number of tuples overflows.
        many = _unseen_at(self.confidence, self.attacker) / each if each else math.inf
        return math.ceil(many) if math.isfinite(many) else math.inf

    @property
    def reached(self) -> float:
        """Return the confidence reached with the available tuples; an upper bound for the likelihood attacker."""
        return combined_confidence([self])

    @property
    def inferable(self) -> bool:
        """Return whether the available tuples may suffice to disclose the bound."""
        return self.tuples >= self.needed

    def result(self) -> Result:
        """Return the confidence reached as a result."""
        return result_of_sets([self])


def result_of_sets(found: Sequence[BoundDisclosure], name: str = "bound_revealed_by_gap") -> Result:
    """Return the probability that tuples of several sizes together disclose the bound to one attacker."""
    first = found[0]
    counted = " and ".join(f"{_number(each.tuples)} sets of {each.categories} parts and their total" for each in found)
    needed = f"; {_number(first.needed)} are needed" if len(found) == 1 else ""
    weighs = first.attacker == LIKELIHOOD
    return replace(
        identified(
            first.attacker,
            combined_confidence(found),
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
    """Return the probability that an attacker identifies the bound, as a result.

    Args:
        attacker: one of ATTACKERS.
        probability: the probability of identifying the bound.
        bound: E.
        confidence: the probability from which on the bound counts as disclosed; None without a target.
        evidence: the data that the attacker uses, and the kind of the figure.
        assumptions: the assumptions of the figure.
        equation: the formula of the figure.
    """
    attack = ATTACKERS[attacker].format(bound=bound, wider=bound + 1)
    target = "" if confidence is None else f" (target: below {confidence:.3g})"
    return Result(
        name="bound_revealed",
        value=probability,
        unit="1",
        sentence=f"An attacker who {attack} identifies the bound {bound} with probability "
        f"{probability:.3g}{target}, {evidence}.",
        assumptions=assumptions,
        equation=equation,
    )


def bound_disclosure(
    law: Noise | RoundedRow | PTable, *, tuples: int, categories: int = 2, confidence: float = CONFIDENCE
) -> BoundDisclosure:
    """Return the probability that an extreme gap reveals the bound.

    p1 = P(|g| > (c + 1)(E - 1)), both tails, by convolution of the distribution with
    itself; m = ceil(log(1 - alpha) / log(1 - p1)).

    A distribution (or a row on its key grid) applies to every part and the total, as in
    the paper. This holds for counts above the bound, for which a p-table uses its last
    row. A whole p-table is searched for the true counts with the largest p1: small counts
    have heavier tails, so the figure is an upper bound for a real mix of counts.

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
            "the attacker waits for an extreme gap; a likelihood attack on all gaps can need fewer tuples",
            "the attacker knows no true count from other sources",
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
    """Return the probability that the likelihood of all gaps distinguishes two distributions with different bounds.

    Beyond the paper. An attacker who gives both distributions g, h of the gap equal prior
    probability and chooses the likelier one is right with probability (1 + d) / 2 after m tuples.
    No attacker is right more often. The total variation distance d is at most
    sqrt(1 - (1 - H^2)^(2m)), with the squared Hellinger distance H^2 = sum (sqrt g - sqrt h)^2 / 2
    of one tuple (Le Cam). `reached` is therefore an upper bound. It is a few percentage points too
    high if the distributions differ in many small ways.

    >>> laws = [MaxEntropy(variance=2, bound=bound) for bound in (5, 6)]
    >>> likelihood_disclosure(*laws, tuples=28_000_000).needed < 3_000_000
    True
    """
    check_tuples(tuples=tuples, categories=categories)
    _check_confidence(confidence)
    if confidence <= 0.5:
        raise ParameterError.outside(
            "likelihood_disclosure", "confidence", confidence, "above 0.5, the success of random guessing"
        )
    p, q = probabilities(law), probabilities(other)
    if len(p) == len(q):
        raise ParameterError(
            "likelihood_disclosure: both distributions have the same bound. Give two different bounds.",
            parameter="other",
        )
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
            "the attacker knows both noise distributions, including the variance; prior probability 0.5 for each bound",
            "all counts above the bound",
            f"{PARTS}, independent tuples",
            "an upper bound of the attacker's success, and a lower bound of the number of tuples needed",
        ),
    )


def disclosures_at(
    variance: float, bound: int, tuples: Mapping[int, int], *, confidence: float = CONFIDENCE, attacker: str = "gap"
) -> list[BoundDisclosure]:
    """Return the disclosure of the bound of maximum-entropy noise, separately for tuples of each size.

    The attacker "gap" is the paper's. The attacker "likelihood" distinguishes E from E + 1 at the same, public V.
    Random guessing is right in half of the cases, so the target for this attacker is at least MIN_CONFIDENCE.

    Args:
        variance: V.
        bound: E.
        tuples: the number of tuples by number of parts.
        confidence: the probability from which on the bound counts as disclosed.
        attacker: one of ATTACKERS.
    """
    if attacker not in {GAP, LIKELIHOOD}:
        raise UnknownNameError.among("attacker", attacker, (GAP, LIKELIHOOD))
    _check_confidence(confidence)
    law = MaxEntropy(variance=variance, bound=bound)
    if attacker == GAP:
        return [bound_disclosure(law, tuples=n, categories=c, confidence=confidence) for c, n in tuples.items()]
    wider, sure = MaxEntropy(variance=variance, bound=bound + 1), max(confidence, MIN_CONFIDENCE)
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
    """Return the disclosure of the bound of maximum-entropy noise by tuples of one size."""
    (found,) = disclosures_at(variance, bound, {categories: tuples}, confidence=confidence, attacker=attacker)
    return found


def combined_confidence(found: Sequence[BoundDisclosure]) -> float:
    """Return the confidence that tuples of several sizes give one attacker, with q = prod (1 - chance)^tuples."""
    if any(each.chance >= 1 and each.tuples for each in found):
        return 1.0
    unseen = sum(each.tuples * math.log1p(-each.chance) for each in found if each.tuples)
    return le_cam_bound(-unseen) if found[0].attacker == LIKELIHOOD else -math.expm1(unseen)


def le_cam_bound(exponent: float) -> float:
    """Return (1 + sqrt(1 - exp(-2 B))) / 2, an upper bound of the success of any test of two distributions (Le Cam).

    >>> le_cam_bound(0.0), round(le_cam_bound(0.1), 3)
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

    Found by bisection on V up to E (E + 1) / 3, where the distribution is uniform. Neither of the attackers
    "gap" and "likelihood" is always the stronger one: a design uses the smaller of both variances.
    """

    def disclosure(variance: float) -> BoundDisclosure:
        kind = {"tuples": tuples, "categories": categories}
        return disclosure_at(variance, bound, confidence=confidence, attacker=attacker, **kind)

    uniform = Uniform(bound=bound).variance
    variance = largest_satisfying(lambda v: not disclosure(v).inferable, uniform)
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
        f"{ATTACKERS[attacker]} reaches a confidence of {confidence:.2%} in the bound {bound} at noise variances from "
        f"{variance:.3g} on{limit}.",
        worst=held.worst,
        assumptions=("maximum-entropy noise", *held.assumptions),
    )


def _worst_tuple(ptable: PTable, categories: int) -> tuple[int, float, str]:
    """Return the bound, the largest probability of an extreme gap, and the true parts that attain it."""
    bound = max(largest_noise(row) for row in ptable.rows)
    laws = [probabilities(row, bound) for row in ptable.rows]
    # A fixed 0 adds no noise: a tuple with a fixed 0 is a tuple of fewer parts.
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


def largest_satisfying(holds: Callable[[float], bool], highest: float) -> float:
    """Return the largest number up to `highest` that satisfies a condition, rounded down at nine digits."""
    if holds(highest):
        return highest
    low, high = 0.0, highest
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ParameterError.outside("bound disclosure", "confidence", confidence, "between 0 and 1", "0.68 to 0.99")


def _number(value: float) -> str:
    """Return a count as text, also if it is very large or infinite.

    >>> _number(7543724), _number(8.2e19), _number(math.inf)
    ('7,543,724', '8.2e+19', 'infinitely many')
    """
    if math.isinf(value):
        return "infinitely many"
    return f"{value:,.0f}" if value < 1e12 else f"{value:.2g}"
