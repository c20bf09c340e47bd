"""The picture of a comparison: what an attacker gets right under each mechanism, beside what users get wrong."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, GREY, blank_figure, save_png

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

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
