"""The picture of a p-table: the law of the noise, one small panel per true count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, GREY, blank_figure, save_png

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from discreet.noise.ptable import PTable

MOST_PANELS = 12


@dataclass(frozen=True)
class Panel:
    """The law of one row: bars of probability over noise, and a label."""

    label: str
    noise: tuple[int, ...]
    probability: tuple[float, ...]


@dataclass(frozen=True)
class PTableChart:
    """What the picture shows, before it is drawn."""

    title: str
    bound: int
    panels: tuple[Panel, ...]


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
        panels.append(Panel(label, tuple(table.values.tolist()), tuple(row.pmf(table.values).tolist())))
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


def _draw_panel(axes: Axes, panel: Panel, bound: int) -> None:
    colours = [ACCENT if noise == 0 else GREY for noise in panel.noise]
    axes.bar(panel.noise, panel.probability, width=0.85, color=colours)
    axes.set_title(panel.label, fontsize=9, loc="left")
    axes.set_xlim(-bound - 0.8, bound + 0.8)
