"""What an attacker assumes about a tuple: the p-table, the prior, and which cells share their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.parameters import non_negative, non_negative_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints
    from discreet.noise.ptable import PTable

Prior: TypeAlias = Mapping[int, float]
"""How often true counts occur: count to weight, for every part alike."""

NOISE_BY = ("participants", "coordinates")
"""What shares its noise: cells with the same participants (cell keys), or no two cells of a tuple."""


@dataclass(frozen=True)
class TupleModel:
    """The law of a published tuple given its true counts, and the weight of those.

    Attributes:
        ptable: the law of noise per true count; its zeros may be fixed or not.
        prior: weight of every true count, for independent parts; None weighs all counts equally.
        noise_by: "participants" (a part that holds everybody has the total's noise) or "coordinates".
    """

    ptable: PTable
    prior: Prior | None
    noise_by: str

    def __post_init__(self) -> None:
        if self.noise_by not in NOISE_BY:
            raise UnknownNameError.among("rule for shared noise", self.noise_by, NOISE_BY)
        if self.prior is not None and not _is_prior(self.prior):
            raise ParameterError(
                "prior must map true counts (whole numbers from 0 on) to weights, none negative and not all zero.",
                parameter="prior",
            )

    @property
    def shares(self) -> bool:
        """Say whether a part that holds everybody has the total's noise."""
        return self.noise_by == "participants"

    def log_chance(self, counts: Ints, published: int) -> Floats:
        """Return log p(i -> y) for each true count i."""
        rows = self.ptable.row_numbers(counts)
        found = np.empty(len(counts))
        for row in np.unique(rows).tolist():
            here = rows == row
            found[here] = self.ptable.rows[row].log_pmf(published - counts[here])
        return found

    def weights(self, counts: Ints) -> Floats:
        """Return the weight of each true count."""
        if self.prior is None:
            return np.ones(len(counts))
        return np.array([self.prior.get(count, 0.0) for count in counts.tolist()], dtype=np.float64)

    def assumptions(self, flat: str) -> tuple[str, ...]:
        """Return the assumptions in words; `flat` says what is equally likely without a prior."""
        shared = "; a part that holds everybody has the noise of the total" if self.shares else ""
        given = "the given prior holds for every part, and parts are independent"
        return (
            f"flat prior: {flat}" if self.prior is None else given,
            f"noise by {self.noise_by}{shared}; otherwise independent (mixed keys; not true of plain ones)",
            "the attacker knows the p-table and sees this tuple alone; other tables add information",
            "the law of the p-table as it is given, before it is rounded to its keys",
        )


def tuple_words(parts: Sequence[int], total: int) -> str:
    """Return a tuple in words.

    >>> tuple_words([3, 2], 11)
    '3 + 2 with total 11'
    """
    return f"{' + '.join(map(str, parts))} with total {total}"


def _is_prior(prior: Prior) -> bool:
    counts = all(non_negative_whole.contains(count) for count in prior)
    return counts and all(non_negative.contains(weight) for weight in prior.values()) and sum(prior.values()) > 0
