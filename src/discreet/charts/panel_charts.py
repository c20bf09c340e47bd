"""One panel per row of a p-table, or per figure of a comparison.

The picture of a comparison: what an attacker gets right under each mechanism, beside what users get wrong.

The picture of a p-table: the law of the noise, one small panel per true count.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import ACCENT, DARK, GREY, blank_figure, save_png

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from discreet.noise.ptable import PTable

LETTERS = 9.3
"""Letters of a title in an inch."""


@dataclass(frozen=True)
class ComparePanel:
    """One figure of every mechanism.

    Attributes:
        title: what it tells, as `An attacker names`.
        label: what the figure is, with its unit.
        values: of the mechanisms.
        form: in which a value is written beside its bar.
        said: what the title of the picture says of it, with a place for the figures.
        is_risk: whether it is of risk, which has the accent.
    """

    title: str
    label: str
    values: tuple[float, ...]
    form: str = "{:.0%}"
    said: str = "{}"
    is_risk: bool = False


@dataclass(frozen=True)
class CompareChart:
    """Figures of every mechanism, risk first.

    Attributes:
        title: the message.
        names: of the mechanisms.
        panels: the figures, one beside the other.
    """

    title: str
    names: tuple[str, ...]
    panels: tuple[ComparePanel, ...]


def compare_chart(at: str, names: Sequence[str], panels: Sequence[ComparePanel]) -> CompareChart:
    """Return the chart of a comparison.

    Args:
        at: what was held equal, as `equal-variance`.
        names: of the mechanisms.
        panels: figures of all of them; the first is of risk, the last of users' errors.
    """
    risk, error = panels[0], panels[-1]
    least, most = (risk.form.format(pick(risk.values)) for pick in (min, max))
    small, large = (error.form.format(pick(error.values)) for pick in (min, max))
    best, worst = (names[error.values.index(pick(error.values))] for pick in (min, max))
    learnt = risk.said.format(least if least == most else f"{least} to {most}")
    differ = f"{small} ({best}) to {large} ({worst}) off"
    spoilt = f"the worst count is {f'{small} off under each' if small == large else differ}"
    return CompareChart(f"At {at.replace('-', ' ')} {learnt}; {spoilt}", tuple(names), tuple(panels))


def draw_comparison(chart: CompareChart, path: Path) -> None:
    """Write the picture as a PNG, whole or not at all."""
    width = 2.7 * len(chart.panels) + 0.8
    title = textwrap.wrap(chart.title, int(LETTERS * width), break_on_hyphens=False)
    figure = blank_figure(width, 0.36 * len(chart.names) + 1.3 + 0.2 * len(title), "\n".join(title))
    (grid,) = figure.subplots(1, len(chart.panels), sharey=True, squeeze=False)
    for axes, panel in zip(grid, chart.panels, strict=True):
        _draw(axes, panel, ACCENT if panel.is_risk else GREY)
    grid[0].set_yticks(range(len(chart.names)), chart.names)
    grid[0].set_ylim(len(chart.names) - 0.4, -0.6)
    save_png(figure, path)


def _draw(axes: Axes, panel: ComparePanel, colour: str) -> None:
    """Draw a bar for every mechanism with its value beside it."""
    axes.barh(range(len(panel.values)), panel.values, color=colour, height=0.6)
    for place, value in enumerate(panel.values):
        axes.annotate(
            panel.form.format(value),
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=DARK,
        )
    axes.set_xlim(0, 1.18 * max(*panel.values, 1e-9))
    if "%" not in panel.form:
        from matplotlib.ticker import MaxNLocator

        # Persons are whole: a tick between two of them would be told as one of them.
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(lambda value, _: panel.form.format(value))
    axes.set_title(panel.title, fontsize=9, loc="left")
    axes.set_xlabel(panel.label)


MOST_PANELS = 12


@dataclass(frozen=True)
class PTablePanel:
    """The law of one row: bars of probability over noise, and a label."""

    label: str
    noise: tuple[int, ...]
    probability: tuple[float, ...]


@dataclass(frozen=True)
class PTableChart:
    """What the picture shows, before it is drawn."""

    title: str
    bound: int
    panels: tuple[PTablePanel, ...]


def ptable_chart(ptable: PTable) -> PTableChart:
    """Return the chart of a p-table; of a large one the first rows and the last."""
    moving = [row for row in ptable.rows if row.bound > 0] or list(ptable.rows[-1:])
    last = moving[-1]
    shown = moving if len(moving) <= MOST_PANELS else [*moving[: MOST_PANELS - 1], last]
    panels = []
    for row in shown:
        count = f"{row.count} and more" if row is ptable.rows[-1] and ptable.repeat == 1 else str(row.count)
        table = row.table
        label = f"count {count}: sd {row.variance**0.5:.2f}, stays {row.stay:.0%}"
        panels.append(PTablePanel(label, tuple(table.values.tolist()), tuple(row.pmf(table.values).tolist())))
    zeros = "zeros move too" if ptable.perturbs_zeros else "zeros stay zero"
    title = f"Counts change by about ±{last.variance**0.5:.1f} and never by more than {ptable.bound}; {zeros}"
    return PTableChart(title, ptable.bound, tuple(panels))


def draw_ptable(ptable: PTable, path: Path) -> None:
    """Write the picture as a PNG, whole or not at all."""
    chart = ptable_chart(ptable)
    columns = min(3, len(chart.panels))
    rows = -(-len(chart.panels) // columns)
    figure = blank_figure(3.4 * columns, 1.9 * rows + 1.0, chart.title)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place < len(chart.panels):
            _draw_panel(axes, chart.panels[place], chart.bound)
        else:
            axes.set_visible(False)
        if place + columns >= len(chart.panels):
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("noise, published minus true count")
        if place % columns == 0:
            axes.set_ylabel("probability")
    save_png(figure, path)


def _draw_panel(axes: Axes, panel: PTablePanel, bound: int) -> None:
    colours = [ACCENT if noise == 0 else GREY for noise in panel.noise]
    axes.bar(panel.noise, panel.probability, width=0.85, color=colours)
    axes.set_title(panel.label, fontsize=9, loc="left")
    axes.set_xlim(-bound - 0.8, bound + 0.8)
