"""The picture of attacks: how much each names exactly, beside what formulas predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.bars import LONGEST, Bar, BarChart

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Achieved:
    """What one attack achieved.

    Attributes:
        name: of the attack.
        subject: what it names, as `counts`.
        cells: how many there are that are not 0.
        share: how many of these it names exactly.
        predicted: the same by a formula, None where there is none.
        without: the same without the attack, None where nothing could be said.
    """

    name: str
    subject: str
    cells: int
    share: float
    predicted: float | None
    without: float | None


def achieved_chart(found: Sequence[Achieved]) -> BarChart:
    """Return the chart of attacks, that which names most first."""
    ranked = sorted(found, key=lambda each: -each.share)
    best = ranked[0]
    without = f"; without any attack it is {best.without:.0%}" if best.without is not None else ""
    return BarChart(
        name="attacks",
        title=f"The attack {best.name} names {best.share:.0%} of {best.cells:,} {best.subject} exactly{without}",
        bars=tuple(
            Bar(f"{each.name} ({each.cells:,} {each.subject})", each.share, f"{each.share:.1%}", each.predicted)
            for each in ranked
        ),
        axis="share that is named exactly, where the true value is not 0",
        said="Bars: the share of true values other than 0 that an attack names exactly.",
        longest=LONGEST,
        other_label="predicted" if any(each.predicted is not None for each in ranked) else "",
    )
