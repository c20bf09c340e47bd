"""Cells that are empty on one side only: people who vanish, and people who are not there.

A false zero is a count above 0 that is published as 0, a false positive an empty cell that is published above 0;
the names are those of the R package cellKey (`false_zero`, `false_nonzero`), which counts an empty cell published
below 0 as a false non-zero too. Here counts below 0 are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.results import Result

if TYPE_CHECKING:
    from discreet.accuracy.count_pairs import PairTimes


@dataclass(frozen=True)
class Zeros:
    """Numbers of cells.

    Attributes:
        occupied: true count above 0.
        empty: true count 0.
        published: published as 0, rightly or not.
        false_zeros: true count above 0, published as 0.
        vanished: true count above 0, published as 0 or less.
        false_positives: true count 0, published above 0.
        negatives: published below 0, whatever the true count.
    """

    occupied: int
    empty: int
    published: int
    false_zeros: int
    vanished: int
    false_positives: int
    negatives: int

    @property
    def lost(self) -> float:
        """Return the share of the counts above 0 that are published as 0."""
        return self.false_zeros / max(self.occupied, 1)

    @property
    def gone(self) -> float:
        """Return the share of the counts above 0 that are published as 0 or less."""
        return self.vanished / max(self.occupied, 1)

    @property
    def invented(self) -> float:
        """Return the share of the empty cells that are published above 0."""
        return self.false_positives / max(self.empty, 1)

    @property
    def hiding(self) -> float:
        """Return the share of the published zeros behind which there is somebody."""
        return self.false_zeros / max(self.published, 1)

    @property
    def below_zero(self) -> float:
        """Return the share of all cells that are published below 0."""
        return self.negatives / max(self.occupied + self.empty, 1)

    def results(self) -> list[Result]:
        """Return the shares of false zeros, of published zeros that hide somebody, of false positives, of negatives."""
        complete = "empty cells are all known: a cell that is 0 on both sides is among them"
        return [
            Result(
                name="false_zeros",
                equation="share of published = 0 among true > 0",
                value=self.lost,
                unit="1",
                sentence=f"{self.false_zeros:,} of {self.occupied:,} counts above 0 ({self.lost:.1%}) are published "
                "as 0.",
            ),
            Result(
                name="vanished_counts",
                equation="share of published <= 0 among true > 0",
                value=self.gone,
                unit="1",
                sentence=f"As 0 or less: {self.vanished:,} ({self.gone:.1%}).",
            ),
            Result(
                name="zeros_that_hide_somebody",
                equation="share of true > 0 among published = 0",
                value=self.hiding,
                unit="1",
                sentence=f"Behind {self.hiding:.1%} of the {self.published:,} published zeros there is somebody.",
                assumptions=(complete,),
            ),
            Result(
                name="false_positives",
                equation="share of published > 0 among true = 0",
                value=self.invented,
                unit="1",
                sentence=f"{self.false_positives:,} of {self.empty:,} empty cells ({self.invented:.1%}) are published "
                "above 0.",
                assumptions=(complete,),
            ),
            Result(
                name="negative_counts",
                equation="share of published < 0",
                value=self.below_zero,
                unit="1",
                sentence=f"{self.negatives:,} of all {self.occupied + self.empty:,} cells ({self.below_zero:.1%}) are "
                "published below 0.",
                assumptions=(complete,),
            ),
        ]


def zeros(found: PairTimes) -> Zeros:
    """Return how many zeros are false, how many counts stand where nobody is, and how many are below 0.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> found = zeros(pair_times([0, 0, 0, 1, 2, 9, 9], [0, 1, -1, 0, 0, 8, 9]))
    >>> found.lost, found.negatives
    (0.5, 1)
    """
    true, published = found.true, found.published
    return Zeros(
        occupied=found.among(true > 0),
        empty=found.among(true == 0),
        published=found.among(published == 0),
        false_zeros=found.among((true > 0) & (published == 0)),
        vanished=found.among((true > 0) & (published <= 0)),
        false_positives=found.among((true == 0) & (published > 0)),
        negatives=found.among(published < 0),
    )
