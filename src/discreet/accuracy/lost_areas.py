"""Areas that lose all their residents, women or men: true counts above 0 that are published as 0 or less.

The paper names the largest such areas of its sampled release (Aragnouet: 239 residents published as -7). Names and true
counts are for the curator's eyes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.distortion import Number

if TYPE_CHECKING:
    from discreet.accuracy.areas import Areas
    from discreet.accuracy.distortion import Tails
    from discreet.arrays import Flags, Ints


@dataclass(frozen=True)
class Named:
    """One area with its true and published counts, by sex where they are there; of a release without the true ones."""

    code: str
    name: str
    country: str
    sexes: tuple[str, ...]
    true: tuple[int, ...]
    published: tuple[int, ...]

    def without_truth(self) -> Named:
        """Return the area without its true counts, to be told beyond the curator's desk."""
        return replace(self, true=())

    def __str__(self) -> str:
        place = f"{self.name} ({self.code})" if self.name and self.name != self.code else self.code
        if not self.true:
            return f"{place}, published as {', '.join(map(str, self.published))} ({', '.join(self.sexes)})"
        changes = ", ".join(
            f"{sex} {t} -> {p}" for sex, t, p in zip(self.sexes, self.true, self.published, strict=True)
        )
        return f"{place}, {changes}"


@dataclass(frozen=True)
class Lost:
    """Areas that have residents, women or men, and are published without.

    Attributes:
        what: total, women or men.
        areas: how many have any.
        expected: how many are expected to be published with 0 or less.
        standard_error: of the number that one release has.
        sampled: how many a release has, one that was drawn or is there; None without one.
        largest: of those, the one with most residents.
    """

    what: str
    areas: int
    expected: float
    standard_error: float
    sampled: int | None
    largest: Named | None


def lost(tails: Tails, areas: Areas, what: str, published: Ints | None = None) -> Lost:
    """Return how many areas lose their residents (total), women or men.

    Args:
        tails: of the noise.
        areas: with true counts.
        what: total, women or men.
        published: the counts of a release, in rows like those of the areas.
    """
    row = areas.sexes.index(what)
    counts = areas.counts[row]
    there = counts > 0
    number = Number.of(tails.lost(counts[there]))
    if published is None:
        return Lost(what, int(there.sum()), number.expected, number.standard_error, None, None)
    gone = there & (published[row] <= 0)
    largest = named(areas, published, gone) if gone.any() else None
    return Lost(what, int(there.sum()), number.expected, number.standard_error, int(gone.sum()), largest)


def named(areas: Areas, published: Ints, among: Flags) -> Named:
    """Return the area with most residents among some; of several the first."""
    place = int(np.where(among, areas.total, -1).argmax())
    return Named(
        areas.codes[place],
        areas.names[place] if areas.names else "",
        areas.countries[place] if areas.countries else "",
        areas.sexes,
        tuple(areas.counts[:, place].tolist()),
        tuple(published[:, place].tolist()),
    )
