"""A p-table for the terminal: sentences, a table, and a small bar picture of every row."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable import PTable, PTableRow
    from discreet.results import Result

MOST_ROWS = 24
WIDEST_PICTURE = 41
BLOCKS = " ▁▂▃▄▅▆▇█"
LETTERS = " .:-=+*%#"
"""The same heights for terminals that cannot print blocks."""


def describe(ptable: PTable) -> str:
    """Return one line on what the table is."""
    wish = ptable.settings
    parts = []
    if wish:
        kind = "exactly" if wish.equality else "up to"
        parts.append(f"variance {kind} {wish.variance:g}")
    parts.append(f"bound ±{ptable.bound}")
    if wish and wish.threshold:
        forbidden = "1" if wish.threshold == 1 else f"1 to {wish.threshold}"
        parts.append(f"no published {forbidden}")
    parts.append("zeros are perturbed" if ptable.perturbs_zeros else "zeros stay zero")
    if wish and wish.objective != "entropy":
        parts.append(f"objective {wish.objective}")
    last = len(ptable.rows) - 1
    if ptable.repeat == 1:
        serves = f"the last serves every count of {last} or more"
    else:
        serves = f"counts above {last} take rows {last - ptable.repeat + 1} to {last} in turn"
    return f"p-table: {', '.join(parts)}. {len(ptable.rows)} rows; {serves}. Key space {ptable.key_space}."


def table(ptable: PTable) -> str:
    """Return the rows as a table: mean, variance, shortfall, standard deviation, stay, picture."""
    short = ptable.shortfalls()
    marks = BLOCKS if _prints_blocks() else LETTERS
    width = min(2 * ptable.bound + 1, WIDEST_PICTURE)
    scale = f"-{ptable.bound}".ljust(width // 2) + "0" + f"+{ptable.bound}".rjust(width - width // 2 - 1)
    scale = scale if ptable.bound > 1 else "noise"
    lines = [f"{'count':>6} {'mean':>8} {'variance':>9} {'short of':>9} {'sd':>6} {'stays':>6}  {scale}"]
    shown = list(ptable.rows)
    if len(shown) > MOST_ROWS:
        shown = [*shown[: MOST_ROWS - 2], *shown[-1:]]
    for before, row in zip([None, *shown], shown, strict=False):
        if before and row.count != before.count + 1:
            lines.append(f"{'..':>6} ({row.count - before.count - 1} rows)")
        name = f"{row.count}+" if row is ptable.rows[-1] and ptable.repeat == 1 else str(row.count)
        missing = f"{short[row.count]:.4f}" if row.count in short else "-" if ptable.settings else "?"
        lines.append(
            f"{name:>6} {_small(row.mean):>8} {row.variance:>9.4f} {missing:>9} {row.variance**0.5:>6.2f} "
            f"{row.stay:>6.3f}  {picture(row, ptable.bound, marks)}".rstrip()
        )
    return "\n".join(lines)


def picture(row: PTableRow, bound: int, marks: str = BLOCKS) -> str:
    """Return a bar per noise from -bound to bound, joined to bins where they are too many."""
    noise = np.arange(-bound, bound + 1)
    probability = row.pmf(noise)
    if len(noise) > WIDEST_PICTURE:
        edges = np.linspace(0, len(noise), WIDEST_PICTURE + 1).astype(int)
        probability = np.add.reduceat(probability, edges[:-1]) / np.diff(edges)
    height = probability / probability.max() * (len(marks) - 1)
    return "".join(marks[int(np.ceil(h))] if h > 1e-6 else marks[0] for h in height)


def closing(results: Sequence[Result], warnings: Sequence[str]) -> str:
    """Return the sentences under the table."""
    return "\n".join([*(result.sentence for result in results), *(f"Warning: {warning}" for warning in warnings)])


def _small(mean: float) -> str:
    """Return a mean, 0 where it is only rounding."""
    if abs(mean) < 1e-12:
        return "0"
    return f"{mean:.4f}" if abs(mean) >= 1e-4 else f"{mean:.1e}"


def _prints_blocks() -> bool:
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
