"""Exploiting margins: what the published parts and total of a tuple tell about the true counts.

Bach (2020), section "Exploiting margins". The true counts of c parts and their
total add up; the published ones need not. Where parts and total all moved by the
full bound, in opposite directions, one truth alone is possible: a forced tuple.

Beyond the paper: the posterior of every possible truth by exact enumeration with
the rows of a p-table, so that fixed zeros, the rows of small counts and a threshold
are all used, as by Enderle, Giessing and Tent (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError
from discreet.noise.parameters import positive_whole
from discreet.results import Result
from discreet.risk.gap import check_tuples, probabilities
from discreet.risk.tuple_model import TupleModel, tuple_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable
    from discreet.noise.rounded import RoundedRow
    from discreet.risk.tuple_model import Prior

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
            equation="2 p_E^(c + 1) times the number of tuples",
            value=self.expected,
            unit="tuples",
            sentence=f"Of {self.tuples:,} sets of {self.categories} parts and their total, {self.expected:.2g} are "
            f"expected to give their true counts away with certainty, because every noise is at the bound of "
            f"{self.bound}: each set with probability {self.chance:.2g}.",
            assumptions=(
                "the attacker knows the bound",
                "all counts above the bound; small counts force more patterns",
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
        published = f"Where {tuple_words(self.parts, self.total)} is published"
        truth = tuple(self.truths[0].tolist())
        return [
            Result(
                name="posterior_of_truth",
                equation="P(truth | published) ~ prior x product of p(i -> j) over the tuple",
                value=float(self.probability[0]),
                unit="1",
                sentence=f"{published}, the true counts are {tuple_words(truth, sum(truth))} "
                f"with probability {self.probability[0]:.3g}.",
                worst=tuple_words(truth, sum(truth)),
                assumptions=self.assumptions,
            ),
            Result(
                name="posterior_of_one_in_tuple",
                equation="largest sum of P(truth | published) over truths with a part of 1",
                value=self.one,
                unit="1",
                sentence=f"{published}, the count likeliest to stand for a single person does so with probability "
                f"{self.one:.3g}.",
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
        noise_by: "participants" or "coordinates", see TupleModel.

    >>> from discreet.noise.ptable import PTable
    >>> ptable = PTable.max_entropy(variance=1, bound=2)
    >>> tuple_posterior(ptable, [3, 2], 11).determined
    (5, 4)
    """
    published = _published(parts, total)
    model, bound = TupleModel(ptable, prior, noise_by), ptable.bound
    if (2 * bound + 1) ** len(parts) > MOST_TRUTHS:
        raise ParameterError(
            f"{len(parts)} parts with noise up to {bound} have too many possible truths to enumerate. "
            "Join categories until two or three parts are left.",
            parameter="parts",
        )
    counts = [np.arange(max(y - bound, 0), y + bound + 1) for y in published[:-1]]
    with np.errstate(divide="ignore"):
        logs = [model.log_chance(n, y) + np.log(model.weights(n)) for n, y in zip(counts, published[:-1], strict=True)]
    truths = np.stack(np.meshgrid(*counts, indexing="ij"), axis=-1).reshape(-1, len(parts))
    log_joint = reduce(np.add.outer, logs).ravel() + _log_total(model, truths, published)
    possible = np.isfinite(log_joint)
    if not possible.any():
        raise ParameterError(
            f"No true counts lead to {tuple_words(parts, total)} with this p-table and prior. "
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
        assumptions=model.assumptions("all true counts equally likely"),
    )


def _log_total(model: TupleModel, truths: Ints, published: tuple[int, ...]) -> Floats:
    """Return the log-probability of the published total for each truth."""
    total = model.log_chance(truths.sum(axis=1), published[-1])
    if not model.shares:
        return total
    present = truths > 0
    alike = present @ np.array(published[:-1]) == published[-1]
    return np.where(present.sum(axis=1) == 1, np.where(alike, 0.0, -np.inf), total)


def _by_count(counts: Ints, probability: Floats) -> dict[int, float]:
    """Return the probability of every count, in rising order."""
    values, place = np.unique(counts, return_inverse=True)
    return dict(zip(values.tolist(), np.bincount(place, probability).tolist(), strict=True))


def _published(parts: Sequence[int], total: int) -> tuple[int, ...]:
    """Return the published parts and total as whole numbers."""
    if len(parts) < 2:
        raise ParameterError("A tuple has two parts or more, and their total.", parameter="parts")
    return (*whole(parts, "parts").tolist(), int(whole(total, "total")))
