"""Where a true count will be published: the shortest range that holds as often as is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.ptable import PTable

USUAL = 0.95
"""The share that is asked for where nothing else is said: 19 of 20."""


@dataclass(frozen=True)
class PublishedRange:
    """The published counts that one true count leads to, but for rare ones.

    Attributes:
        count: the true count.
        low: the smallest published count of the range.
        high: the largest.
        probability: that the published count lies within.
        share: what was asked for.
    """

    count: int
    low: int
    high: int
    probability: float
    share: float

    @property
    def asked(self) -> str:
        """Return the share that was asked for, as in `19 of 20`."""
        share = Fraction(self.share).limit_denominator(100)
        return f"{share.numerator} of {share.denominator}"

    @property
    def words(self) -> str:
        """Return how often the range holds, as in `at least 19 of 20 cases (0.959)`."""
        return f"at least {self.asked} cases ({self.probability:.3f})"

    def result(self) -> Result:
        """Return the range as a result."""
        where = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        return Result(
            name="published_range",
            equation="shortest [a, b] with sum of p(v) over a <= i + v <= b of at least the share",
            value=self.probability,
            unit="1",
            sentence=f"A count of {self.count} is published as {where} in {self.words}.",
            assumptions=("law before rounding to keys",),
        )


def published_range(ptable: PTable, count: int, share: float = USUAL) -> PublishedRange:
    """Return the shortest range of published counts with at least this probability; of several the likeliest.

    >>> from discreet.noise.ptable import PTable
    >>> published_range(PTable.max_entropy(variance=3, bound=5), 12).result().sentence
    'A count of 12 is published as 9 to 15 in at least 19 of 20 cases (0.959).'
    """
    if not 0 < share < 1:
        raise ParameterError.outside("published_range", "share", share, "between 0 and 1", "0.5 to 0.99")
    row = ptable.rows[int(ptable.row_numbers([count])[0])]
    values = np.arange(row.table.values.min(), row.table.values.max() + 1)
    total = np.concatenate([[0.0], np.cumsum(row.pmf(values))])
    for width in range(1, len(values) + 1):
        within = total[width:] - total[:-width]
        start = int(within.argmax())
        if within[start] >= share or width == len(values):
            break
    low = count + int(values[start])
    return PublishedRange(count, low, low + width - 1, min(float(within[start]), 1.0), share)
