"""Exploiting margins: what the published parts and total of a tuple tell about the true counts.

Bach (2020), section "Exploiting margins". The true counts of c parts and their
total add up; the published ones need not. Where parts and total all moved by the
full bound, in opposite directions, one truth alone is possible: a forced tuple.

Beyond the paper: the posterior of every possible truth by exact enumeration with
the rows of a p-table, so that fixed zeros, the rows of small counts and a threshold
are all used, as by Enderle, Giessing and Tent (2020); also for every small pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.arrays import whole
from discreet.noise.parameters import non_negative, non_negative_whole, positive_whole
from discreet.noise.ptable import PTable
from discreet.results import Result
from discreet.risk.bound import check_tuples, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.noise.arrays import Floats, Ints
    from discreet.noise.base import Noise
    from discreet.noise.rounded import RoundedRow

Prior: TypeAlias = Mapping[int, float]
"""How often true counts occur: count to weight, for every part alike."""

NOISE_BY = ("participants", "coordinates")
"""What shares its noise: cells with the same participants (cell keys), or no two cells of a tuple."""

MOST_TRUTHS = 4_000_000
"""The most truths that are enumerated for one tuple."""


@dataclass(frozen=True, kw_only=True)
class ForcedTuples:
    """How often all noises of a tuple sit at the bound, which gives its true counts away.

    Attributes:
        bound: the largest noise E.
        categories: the number c of parts.
        tuples: how many tuples are published.
        chance: P(all parts at +E and the total at -E, or the reverse): 2 p_E^(c + 1) for a symmetric law.
    """

    bound: int
    categories: int
    tuples: int
    chance: float

    @property
    def expected(self) -> float:
        """Return the expected number of forced tuples."""
        return self.tuples * self.chance

    def result(self) -> Result:
        """Return the expected number of tuples given away."""
        return Result(
            name="forced_tuples",
            value=self.expected,
            unit="tuples",
            sentence=f"Of {self.tuples:,} sets of {self.categories} parts and their total, {self.expected:.2g} are "
            f"expected to give their true counts away with certainty, because every noise is at the bound of "
            f"{self.bound}: each set with probability {self.chance:.2g}.",
            assumptions=(
                "the attacker knows the bound",
                "all counts above the bound; small counts force more patterns (pattern_table)",
                "independent noise of parts and total",
                "counts certainty alone: a near-certain guess is not in this number",
            ),
        )


def forced_tuples(law: Noise | RoundedRow, *, tuples: int, categories: int = 2) -> ForcedTuples:
    """Return how many tuples are forced: p(E)^c p(-E) + p(-E)^c p(E) each, 2 p_E^3 for F, M and T.

    >>> from discreet.noise.max_entropy import MaxEntropy
    >>> f"{forced_tuples(MaxEntropy(variance=2, bound=5), tuples=1).chance:.1e}"
    '3.3e-10'
    """
    check_tuples(tuples=tuples, categories=categories)
    p = probabilities(law)
    low, high = float(p[0]), float(p[-1])
    chance = high**categories * low + low**categories * high
    return ForcedTuples(bound=len(p) // 2, categories=categories, tuples=tuples, chance=chance)


def forced_truth(parts: Sequence[int], total: int, *, bound: int) -> tuple[int, ...] | None:
    """Return the true parts and total of a tuple whose gap is (c + 1) E, or None if it is not forced.

    >>> forced_truth([3, 2], 11, bound=2)
    (5, 4, 9)
    """
    published = _published(parts, total)
    if not positive_whole.contains(bound):
        raise ParameterError.outside("forced_truth", "bound", bound, positive_whole.words)
    gap, widest = sum(parts) - total, len(published) * bound
    if abs(gap) > widest:
        raise ParameterError(
            f"This tuple misses additivity by {abs(gap)}, more than noise up to {bound} can do ({widest}). "
            "The bound is larger, or the counts do not belong together.",
            parameter="bound",
        )
    if abs(gap) < widest:
        return None
    up = bound if gap > 0 else -bound
    return (*(part - up for part in parts), total + up)


@dataclass(frozen=True, kw_only=True, eq=False)
class TuplePosterior:
    """The probability of every truth behind one published tuple.

    Attributes:
        parts: the published parts.
        total: the published total.
        truths: the possible true parts, one row per truth, likeliest first; their sum is the true total.
        probability: the posterior of each truth; sums to 1.
        assumptions: the prior and the noise that were assumed.
    """

    parts: tuple[int, ...]
    total: int
    truths: Ints
    probability: Floats
    assumptions: tuple[str, ...]

    def joint(self) -> dict[tuple[int, ...], float]:
        """Return the posterior by true parts, likeliest first."""
        return dict(zip(map(tuple, self.truths.tolist()), self.probability.tolist(), strict=True))

    def marginals(self) -> tuple[dict[int, float], ...]:
        """Return the posterior of the true count of every part and, last, of the total."""
        cells = np.column_stack([self.truths, self.truths.sum(axis=1)]).T
        return tuple(_by_count(cell, self.probability) for cell in cells)

    @property
    def determined(self) -> tuple[int, ...] | None:
        """Return the true parts if only one truth is possible."""
        return tuple(self.truths[0].tolist()) if len(self.truths) == 1 else None

    @property
    def certain(self) -> tuple[int | None, ...]:
        """Return, per part and for the total, the true count if it is certain and None if not."""
        return tuple(next(iter(cell)) if len(cell) == 1 else None for cell in self.marginals())

    @property
    def one(self) -> float:
        """Return the largest posterior that a part or the total is a true 1."""
        return max(cell.get(1, 0.0) for cell in self.marginals())

    def results(self) -> list[Result]:
        """Return the likeliest truth and the likeliest true 1."""
        published = f"Where {_words(self.parts, self.total)} is published"
        truth = tuple(self.truths[0].tolist())
        return [
            Result(
                name="posterior_of_truth",
                value=float(self.probability[0]),
                unit="1",
                sentence=f"{published}, the true counts are {_words(truth, sum(truth))} "
                f"with probability {self.probability[0]:.3g}.",
                worst=_words(truth, sum(truth)),
                assumptions=self.assumptions,
            ),
            Result(
                name="posterior_of_one_in_tuple",
                value=self.one,
                unit="1",
                sentence=f"{published}, one of these counts stands for a single person with probability "
                f"{self.one:.3g} at most.",
                assumptions=self.assumptions,
            ),
        ]


def tuple_posterior(
    ptable: PTable, parts: Sequence[int], total: int, *, prior: Prior | None = None, noise_by: str = "participants"
) -> TuplePosterior:
    """Return the posterior of the true parts of a tuple, by enumeration of every truth within the bound.

    P(i_1 .. i_c | y) is proportional to the product of w(i_k) p(i_k -> y_k) over
    the parts, times p(i_1 + .. + i_c -> y_T).

    With noise by participants (cell keys) a part that holds everybody has the
    total's participants and so the total's noise: that factor is then 1 if the
    two are published alike and 0 if not.

    Args:
        ptable: the law of noise per true count; its zeros may be fixed or not.
        parts: the published parts, two or more.
        total: the published total.
        prior: weight of every true count, for independent parts; None weighs all counts equally.
        noise_by: "participants" or "coordinates", see NOISE_BY.

    >>> ptable = PTable.max_entropy(variance=1, bound=2)
    >>> tuple_posterior(ptable, [3, 2], 11).determined
    (5, 4)
    """
    published = _published(parts, total)
    _check_rule(noise_by)
    _check_prior(prior)
    bound = ptable.bound
    if (2 * bound + 1) ** len(parts) > MOST_TRUTHS:
        raise ParameterError(
            f"{len(parts)} parts with noise up to {bound} have too many possible truths to enumerate. "
            "Join categories until two or three parts are left.",
            parameter="parts",
        )
    counts = [np.arange(max(y - bound, 0), y + bound + 1) for y in published[:-1]]
    with np.errstate(divide="ignore"):
        logs = [
            _log_chance(ptable, n, y) + np.log(_weights(prior, n)) for n, y in zip(counts, published[:-1], strict=True)
        ]
    truths = np.stack(np.meshgrid(*counts, indexing="ij"), axis=-1).reshape(-1, len(parts))
    log_joint = reduce(np.add.outer, logs).ravel() + _log_total(ptable, truths, published, noise_by)
    possible = np.isfinite(log_joint)
    if not possible.any():
        raise ParameterError(
            f"No true counts lead to {_words(parts, total)} with this p-table and prior. "
            "Check that the counts belong together and that the p-table is the one that was used.",
            parameter="parts",
        )
    weight = np.exp(log_joint[possible] - log_joint[possible].max())
    order = np.argsort(-weight, kind="stable")
    return TuplePosterior(
        parts=published[:-1],
        total=published[-1],
        truths=truths[possible][order],
        probability=weight[order] / weight.sum(),
        assumptions=_assumptions(prior, noise_by, "all true counts equally likely"),
    )


@dataclass(frozen=True)
class Pattern:
    """One published F, M and T: the posterior it is listed for, and how often it occurs."""

    parts: tuple[int, ...]
    total: int
    posterior: float
    chance: float

    def __str__(self) -> str:
        return _words(self.parts, self.total)


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternTable:
    """What every published F, M and T from 0 to `largest` tells; arrays are indexed [F, M, T].

    Attributes:
        largest: the largest published count.
        chance: the probability that the pattern is published.
        one: the largest posterior that F, M or T is a true 1.
        exact: the largest posterior of one whole truth that holds at least one person.
        determined: whether that truth is the only possible one.
        assumptions: the prior and the noise that were assumed.
    """

    largest: int
    chance: Floats
    one: Floats
    exact: Floats
    determined: NDArray[np.bool_]
    assumptions: tuple[str, ...]

    def worst_one(self) -> Pattern:
        """Return the pattern with the largest posterior of a true 1; the commonest of equals."""
        return self._worst(self.one)

    def worst_exact(self) -> Pattern:
        """Return the pattern with the largest posterior of one truth; the commonest of equals."""
        return self._worst(self.exact)

    def determined_patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns that leave one truth, the commonest first."""
        places = np.argwhere(self.determined)
        found = [self._pattern(place, self.exact) for place in places]
        return tuple(sorted(found, key=lambda pattern: -pattern.chance))

    def results(self) -> list[Result]:
        """Return the worst patterns and the chance of a pattern that leaves no doubt."""
        one, exact, sure = self.worst_one(), self.worst_exact(), float(self.chance[self.determined].sum())
        return [
            self._result("worst_posterior_of_one", one, "one of these counts stands for a single person"),
            self._result("worst_posterior_of_truth", exact, "all true counts can be named rightly"),
            Result(
                name="determined_patterns",
                value=sure,
                unit="1",
                sentence=f"{int(self.determined.sum())} patterns with counts up to {self.largest} leave no doubt about "
                f"their true counts; a tuple shows one of them with probability {sure:.2g}.",
                worst=str(self.determined_patterns()[0]) if sure else None,
                assumptions=self.assumptions,
            ),
        ]

    def _result(self, name: str, worst: Pattern, what: str) -> Result:
        return Result(
            name=name,
            value=worst.posterior,
            unit="1",
            sentence=f"Where {worst} is published, {what} with probability {worst.posterior:.3g}; "
            f"a tuple shows this pattern with probability {worst.chance:.2g}.",
            worst=str(worst),
            assumptions=self.assumptions,
        )

    def _worst(self, posterior: Floats) -> Pattern:
        # The joint probability is summed in another order per pattern: equals differ in the last digits.
        equal = posterior >= posterior.max() * (1 - 1e-12)
        place = np.unravel_index(np.argmax(np.where(equal, self.chance, -1.0)), posterior.shape)
        return self._pattern(np.array(place), posterior)

    def _pattern(self, place: Ints, posterior: Floats) -> Pattern:
        at = tuple(place.tolist())
        return Pattern(at[:-1], at[-1], float(posterior[at]), float(self.chance[at]))


def pattern_table(
    ptable: PTable, *, largest: int, prior: Prior | None = None, noise_by: str = "participants"
) -> PatternTable:
    """Return the posteriors behind every published F, M and T from 0 to `largest`.

    The formula is that of `tuple_posterior`. Without a prior the true parts are
    equally likely from 0 to largest + E, all that can lead to such a pattern; how
    often a pattern occurs then holds among such tuples alone.
    """
    _check_rule(noise_by)
    _check_prior(prior)
    if not non_negative_whole.contains(largest):
        raise ParameterError.outside("pattern_table", "largest", largest, non_negative_whole.words, "3 to 20")
    counts = np.arange(largest + ptable.bound + 1)
    weights = _weights(prior, counts)
    part = weights[:, None] * _chances(ptable, counts, largest) / (sum(prior.values()) if prior else len(counts))
    total = _chances(ptable, np.arange(2 * len(counts) - 1), largest)[np.add.outer(counts, counts)]
    slices = [_slice(part, total[:, :, y], y if noise_by == "participants" else None) for y in range(largest + 1)]
    chance, one, exact, determined = (np.stack(each, axis=-1) for each in zip(*slices, strict=True))
    return PatternTable(
        largest=largest,
        chance=chance,
        one=one,
        exact=exact,
        determined=determined.astype(bool),
        assumptions=_assumptions(prior, noise_by, f"true parts equally likely from 0 to {counts[-1]}"),
    )


def patterns_by_threshold(
    *,
    variance: float,
    bound: int,
    largest: int,
    thresholds: Sequence[int] = (0, 1, 2),
    prior: Prior | None = None,
    noise_by: str = "participants",
) -> dict[int, PatternTable]:
    """Return the pattern table of maximum-entropy p-tables by threshold j_s, at one variance and bound.

    A threshold j_s that no p-table of this variance and bound can have raises InfeasibleError.
    """
    tables = {each: PTable.max_entropy(variance=variance, bound=bound, threshold=each) for each in thresholds}
    return {
        each: pattern_table(ptable, largest=largest, prior=prior, noise_by=noise_by) for each, ptable in tables.items()
    }


def _slice(part: Floats, total: Floats, shared: int | None) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return chance, posterior of a 1, of a truth, and certainty for every F and M at one published T.

    Args:
        part: w(i) p(i -> y) by true count and published count.
        total: the chance of the published T by true f and m.
        shared: the published T if a lone part has the total's noise, else None.
    """
    joint = part[:, None, :, None] * part[None, :, None, :]
    alone = joint[1:, 0].copy(), joint[0, 1:].copy()
    joint *= total[:, :, None, None]
    if shared is not None:
        alike = np.arange(part.shape[1]) == shared
        joint[1:, 0] = alone[0] * alike[:, None]
        joint[0, 1:] = alone[1] * alike
    chance = joint.sum(axis=(0, 1))
    one = np.stack([joint[1].sum(axis=0), joint[:, 1].sum(axis=0), joint[1, 0] + joint[0, 1]]).max(axis=0)
    someone = joint.reshape(-1, *chance.shape)[1:]
    certain = ((joint > 0).sum(axis=(0, 1)) == 1) & (someone > 0).any(axis=0)
    evidence = np.where(chance > 0, chance, 1.0)
    return chance, one / evidence, someone.max(axis=0) / evidence, certain


def _log_total(ptable: PTable, truths: Ints, published: tuple[int, ...], noise_by: str) -> Floats:
    """Return the log-probability of the published total for each truth."""
    total = _log_chance(ptable, truths.sum(axis=1), published[-1])
    if noise_by == "coordinates":
        return total
    present = truths > 0
    alike = present @ np.array(published[:-1]) == published[-1]
    return np.where(present.sum(axis=1) == 1, np.where(alike, 0.0, -np.inf), total)


def _log_chance(ptable: PTable, counts: Ints, published: int) -> Floats:
    """Return log p(i -> y) for each true count i."""
    rows = ptable.row_numbers(counts)
    found = np.empty(len(counts))
    for row in np.unique(rows).tolist():
        here = rows == row
        found[here] = ptable.rows[row].log_pmf(published - counts[here])
    return found


def _chances(ptable: PTable, counts: Ints, largest: int) -> Floats:
    """Return p(i -> y) by true count i and published y from 0 to the largest."""
    return np.exp(np.stack([_log_chance(ptable, counts, y) for y in range(largest + 1)], axis=1))


def _by_count(counts: Ints, probability: Floats) -> dict[int, float]:
    """Return the probability of every count, in rising order."""
    values, place = np.unique(counts, return_inverse=True)
    return dict(zip(values.tolist(), np.bincount(place, probability).tolist(), strict=True))


def _weights(prior: Prior | None, counts: Ints) -> Floats:
    """Return the weight of every count; 1 without a prior."""
    return np.ones(len(counts)) if prior is None else np.array([prior.get(n, 0.0) for n in counts.tolist()], float)


def _published(parts: Sequence[int], total: int) -> tuple[int, ...]:
    """Return the published parts and total as whole numbers."""
    if len(parts) < 2:
        raise ParameterError("A tuple has two parts or more, and their total.", parameter="parts")
    return (*whole(parts, "parts").tolist(), int(whole(total, "total")))


def _check_rule(noise_by: str) -> None:
    if noise_by not in NOISE_BY:
        raise UnknownNameError.among("rule for shared noise", noise_by, NOISE_BY)


def _check_prior(prior: Prior | None) -> None:
    """Raise ParameterError unless the prior maps counts to weights of which one is positive."""
    if prior is None:
        return
    sound = all(non_negative_whole.contains(n) for n in prior) and all(non_negative.contains(w) for w in prior.values())
    if not sound or not sum(prior.values()) > 0:
        raise ParameterError(
            "prior must map true counts (whole numbers from 0 on) to weights that are not negative and not all zero.",
            parameter="prior",
        )


def _assumptions(prior: Prior | None, noise_by: str, flat: str) -> tuple[str, ...]:
    shared = "; a part that holds everybody has the noise of the total" if noise_by == "participants" else ""
    return (
        f"flat prior: {flat}" if prior is None else "the given prior holds for every part, and parts are independent",
        f"noise by {noise_by}{shared}; otherwise independent (mixed keys; not true of plain ones)",
        "the attacker knows the p-table and sees this tuple alone; other tables add information",
        "law before rounding to keys",
    )


def _words(parts: Sequence[int], total: int) -> str:
    """Return a tuple in words.

    >>> _words([3, 2], 11)
    '3 + 2 with total 11'
    """
    return f"{' + '.join(map(str, parts))} with total {total}"
