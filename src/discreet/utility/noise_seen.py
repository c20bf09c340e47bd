"""The noise that a release really carries: published minus true counts, over all tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.cells.true_tables import TrueTables
from discreet.results import Result
from discreet.utility.pair_times import pair_times
from discreet.utility.side_by_side import ONCE, SideBySide

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.release.release import Release


@dataclass(frozen=True)
class NoiseSeen:
    """How often which noise was added.

    Attributes:
        large: counts from here on are taken together; smaller ones have a law of their own.
        times: cells by true count, up to `large`, and noise.
        largest_allowed: the bound of the law.
        taken: how often a count is taken that several tables show.
    """

    large: int
    times: dict[tuple[int, int], int]
    largest_allowed: float
    taken: str = ONCE

    @cached_property
    def counts(self) -> int:
        """Return the number of cells with a true count above 0."""
        return sum(n for (count, _), n in self.times.items() if count > 0)

    @cached_property
    def largest(self) -> int:
        """Return the largest absolute noise."""
        return max((abs(noise) for _, noise in self.times), default=0)

    @cached_property
    def unchanged(self) -> float:
        """Return the share of the counts above 0 that are published as they are."""
        return sum(n for (count, noise), n in self.times.items() if count > 0 and noise == 0) / max(self.counts, 1)

    @cached_property
    def small(self) -> float:
        """Return the share of the counts above 0 that are below `large`."""
        return sum(n for (count, _), n in self.times.items() if 0 < count < self.large) / max(self.counts, 1)

    @cached_property
    def of_large(self) -> dict[int, int]:
        """Return, for counts of `large` and more, how often which noise was added."""
        return {noise: n for (count, noise), n in sorted(self.times.items()) if count == self.large}

    def results(self) -> list[Result]:
        """Return the largest change and the share of counts that did not change."""
        return [
            Result(
                name="largest_change",
                equation="max |published - true|",
                value=float(self.largest),
                unit="persons",
                sentence=f"Of {self.counts:,} counts above 0 in all tables, none was published more than "
                f"{self.largest} away from the true one; {self.largest_allowed:g} is the most that the law allows.",
                assumptions=(self.taken,),
            ),
            Result(
                name="unchanged_counts",
                equation="share of published = true among true > 0",
                value=self.unchanged,
                unit="1",
                sentence=f"{self.unchanged:.1%} of these counts were published as they are.",
                assumptions=(self.taken,),
            ),
            Result(
                name="small_counts",
                equation=f"share of true < {self.large} among true > 0",
                value=self.small,
                unit="1",
                sentence=f"{self.small:.1%} of these counts are below {self.large}, where the noise has a law of its "
                "own for every count.",
                assumptions=(self.taken,),
            ),
        ]


def noise_seen(release: Release, tell: Callable[[int, int], None] | None = None) -> NoiseSeen:
    """Compare every table of a release with its true counts, which the curator must have kept.

    Args:
        release: a release with noise.
        tell: called with tables done and tables in all.
    """
    record = release.record
    large = len(record.ptable().rows) - 1 if record.has_ptable else 1
    side = SideBySide(release, TrueTables(release))
    times: Counter[tuple[int, int]] = Counter()
    for done, table in enumerate(side, start=1):
        for shown in table.statistics:
            assert shown.true is not None  # noqa: S101 - true tables were given
            true, published = shown.once(shown.true), shown.once(shown.published)
            size = np.minimum(true, large)
            found = pair_times(size, size + published - true)
            kinds = zip(found.true.tolist(), found.noise.tolist(), strict=True)
            times.update(dict(zip(kinds, found.times.tolist(), strict=True)))
        if tell:
            tell(done, side.tables)
    return NoiseSeen(large, dict(times), record.noise().bound, side.taken)
