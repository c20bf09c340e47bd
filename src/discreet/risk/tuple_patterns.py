"""Small published patterns: the posterior of the true counts for every small published F, M and T.

Beyond Bach (2020): the posterior of `margin_exploitation` for all patterns, the worst patterns, their frequency, and
the patterns that determine the true counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import positive_whole
from discreet.noise.ptable import PTable
from discreet.results import Result
from discreet.risk.margin_exploitation import TupleModel, tuple_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.risk.margin_exploitation import Prior

MOST_TERMS = 10_000_000
"""The largest number of combinations of true and published parts in memory at a time."""


@dataclass(frozen=True)
class Pattern:
    """One published F, M and T with its posterior and its probability."""

    parts: tuple[int, ...]
    total: int
    posterior: float
    chance: float

    def __str__(self) -> str:
        return tuple_words(self.parts, self.total)


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternTable:
    """The posteriors for every published F, M and T from 0 to `largest`; arrays are indexed [F, M, T].

    Attributes:
        largest: the largest published count.
        chance: the probability of publishing the pattern.
        one: the largest posterior probability of a true 1 among F, M and T.
        exact: the largest posterior of one set of true counts with at least one person.
        determined: whether only one set of true counts is possible, with at least one person.
        assumptions: the assumed prior and noise.
    """

    largest: int
    chance: Floats
    one: Floats
    exact: Floats
    determined: Flags
    assumptions: tuple[str, ...]

    def worst_one(self, *, at_least: float = 0.0) -> Pattern:
        """Return the pattern with the largest posterior of a true 1, among patterns with a minimum probability."""
        return self._worst(self.one, at_least)

    def worst_exact(self, *, at_least: float = 0.0) -> Pattern:
        """Return the pattern with the largest posterior of one set of true counts, with a minimum probability."""
        return self._worst(self.exact, at_least)

    def determined_patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns with only one possible set of true counts, the most frequent first."""
        places = np.argwhere(self.determined)
        found = [self._pattern(place, self.exact) for place in places]
        return tuple(sorted(found, key=lambda pattern: -pattern.chance))

    def results(self, *, at_least: float = 0.0) -> list[Result]:
        """Return the worst patterns with a minimum probability, and the probability of determined patterns."""
        one, exact = self.worst_one(at_least=at_least), self.worst_exact(at_least=at_least)
        sure = float(self.chance[self.determined].sum())
        return [
            self._result("worst_posterior_of_one", one, "one of these counts is a true 1"),
            self._result("worst_posterior_of_truth", exact, "an attacker recovers all true counts exactly"),
            Result(
                name="determined_patterns",
                equation="number of (F, M, T) with max P(f, m | F, M, T) = 1",
                value=sure,
                unit="1",
                sentence=f"{int(self.determined.sum())} patterns with counts up to {self.largest} determine their true "
                f"counts with certainty; the probability of such a pattern is {sure:.2g} per tuple.",
                worst=str(self.determined_patterns()[0]) if sure else None,
                assumptions=self.assumptions,
            ),
        ]

    def _result(self, name: str, worst: Pattern, what: str) -> Result:
        return Result(
            name=name,
            equation="P(f, m | F, M, T) ~ prior(f, m) p(f -> F) p(m -> M) p(f + m -> T)",
            value=worst.posterior,
            unit="1",
            sentence=f"If {worst} is published, {what} with probability {worst.posterior:.3g}; the probability of this "
            f"pattern is {worst.chance:.2g} per tuple.",
            worst=str(worst),
            assumptions=self.assumptions,
        )

    def _worst(self, posterior: Floats, at_least: float) -> Pattern:
        """Return the most frequent of the patterns with the largest posterior."""
        common = np.where((self.chance > 0) & (self.chance >= at_least), posterior, -1.0)
        if common.max() < 0:
            raise ParameterError(
                f"No pattern has a probability of at least {at_least:g}. Use at most {self.chance.max():.2g}.",
                parameter="at_least",
            )
        # Equal posteriors are computed as sums in different order and differ in the last digits.
        equal = common >= common.max() * (1 - 1e-12)
        place = np.unravel_index(np.argmax(np.where(equal, self.chance, -1.0)), posterior.shape)
        return self._pattern(np.array(place), posterior)

    def _pattern(self, place: Ints, posterior: Floats) -> Pattern:
        at = tuple(place.tolist())
        return Pattern(at[:-1], at[-1], float(posterior[at]), float(self.chance[at]))


def pattern_table(
    ptable: PTable, *, largest: int, prior: Prior | None = None, noise_by: str = "participants"
) -> PatternTable:
    """Return the posteriors for every published F, M and T from 0 to `largest`.

    The formula is that of `tuple_posterior`. Without a prior, the true parts are equally
    likely from 0 to largest + E, the range that can produce such a pattern. The
    probability of a pattern then refers only to such tuples. Negative published counts,
    which perturbed zeros allow, are not tabulated.

    >>> found = pattern_table(PTable.max_entropy(variance=1, bound=2), largest=4)
    >>> print(found.worst_one())
    0 + 1 with total 0
    """
    model = TupleModel(ptable, prior, noise_by)
    if not positive_whole.contains(largest):
        raise ParameterError.outside("pattern_table", "largest", largest, positive_whole.words, "3 to 20")
    counts = np.arange(largest + ptable.bound + 1)
    if (len(counts) * (largest + 1)) ** 2 > MOST_TERMS:
        raise ParameterError(
            f"pattern_table: counts up to {largest} with noise up to {ptable.bound} are too many to tabulate. "
            "Use a smaller largest, or tuple_posterior for single patterns.",
            parameter="largest",
        )
    weight = model.weights(counts) / (len(counts) if prior is None else sum(prior.values()))
    part = weight[:, None] * _chances(model, counts, largest)
    total = _chances(model, np.arange(2 * len(counts) - 1), largest)[np.add.outer(counts, counts)]
    slices = [_slice(part, total[:, :, y], y if model.shares else None) for y in range(largest + 1)]
    chance, one, exact, determined = (np.stack(each, axis=-1) for each in zip(*slices, strict=True))
    return PatternTable(
        largest=largest,
        chance=chance,
        one=one,
        exact=exact,
        determined=determined.astype(bool),
        assumptions=model.assumptions(f"true parts equally likely from 0 to {counts[-1]}"),
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

    Raises InfeasibleError if no p-table with this variance and bound has a given threshold j_s.
    """
    tables = {each: PTable.max_entropy(variance=variance, bound=bound, threshold=each) for each in thresholds}
    return {
        each: pattern_table(ptable, largest=largest, prior=prior, noise_by=noise_by) for each, ptable in tables.items()
    }


def _slice(part: Floats, total: Floats, shared: int | None) -> tuple[Floats, Floats, Floats, Flags]:
    """Return probability, posterior of a 1, posterior of all true counts, and certainty by F and M at one published T.

    Args:
        part: w(i) p(i -> y) by true count and published count.
        total: the probability of the published T by true f and m.
        shared: the published T if a part with all persons has the noise of the total; otherwise None.
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


def _chances(model: TupleModel, counts: Ints, largest: int) -> Floats:
    """Return p(i -> y) by true count i and published y from 0 to `largest`."""
    return np.exp(np.stack([model.log_chance(counts, y) for y in range(largest + 1)], axis=1))
