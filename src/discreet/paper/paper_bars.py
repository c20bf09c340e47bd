"""Bars by size: how many there are in every bin, as expected and as drawn; and bars by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import DARK, GREY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from discreet.paper.paper_figure import Cell


@dataclass(frozen=True)
class Series:
    """One kind of thing that is counted in every bin.

    Attributes:
        label: its name.
        heights: of the bars, one per bin.
        colour: of the bars.
        drawn: the same in one draw, as a line; nothing if there is none.
        outline: whether only its outline is drawn, over what is behind.
    """

    label: str
    heights: tuple[float, ...]
    colour: str
    drawn: tuple[float, ...] = ()
    outline: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars over bins.

    Attributes:
        title: of the panel.
        edges: limits of the bins, one more than there are bins.
        series: what is counted, the largest first.
        x_label: with its unit.
        y_label: the same.
        log_x: whether the bins go by ratio.
        log_y: whether the heights do.
        least: the smallest height that is shown where these go by ratio.
    """

    title: str
    edges: tuple[float, ...]
    series: tuple[Series, ...]
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    least: float = 0.5

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", f"{self.x_label}, from", f"{self.x_label}, to", self.y_label, "in one draw")

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give every bin of every series."""
        for each in self.series:
            drawn = each.drawn or (None,) * len(each.heights)
            yield from zip(
                (each.label,) * len(each.heights), self.edges[:-1], self.edges[1:], each.heights, drawn, strict=True
            )

    def draw(self, axes: Axes) -> None:
        """Draw the bars, and what was drawn as lines over them."""
        if self.log_x:
            axes.set_xscale("log")
        if self.log_y:
            axes.set_yscale("log")
        for each in self.series:
            axes.stairs(
                each.heights,
                self.edges,
                baseline=self.least if self.log_y else 0,
                fill=not each.outline,
                color=each.colour,
                lw=1.8 if each.outline else 0.5,
                label=each.label,
            )
            if each.drawn:
                middles = [(low + high) / 2 for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]
                axes.plot(middles, each.drawn, ".-", color=DARK, lw=0.9, markersize=3.5)
        highest = max(max(each.heights) for each in self.series)
        axes.set_ylim(self.least if self.log_y else 0, (3 if self.log_y else 1.08) * max(highest, 2 * self.least))
        axes.set_xlim(self.edges[0], self.edges[-1])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        if len(self.series) > 1:
            axes.legend(frameon=False, fontsize=9, labelcolor=DARK, loc="upper left" if self.log_x else "upper right")
        if self.log_x:
            plain_ticks(axes)


def plain_ticks(axes: Axes) -> None:
    """Write 1, 2 and 5 of every power of ten as they are read."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


@dataclass(frozen=True)
class NamedBars:
    """Bars with names.

    Attributes:
        title: of the panel.
        names: from top to bottom.
        values: one per name.
        name_label: what the names are.
        value_label: with its unit.
    """

    title: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    name_label: str
    value_label: str

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return (self.name_label, self.value_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give every bar."""
        yield from zip(self.names, self.values, strict=True)

    def draw(self, axes: Axes) -> None:
        """Draw the bars with their values beside them."""
        places = range(len(self.names))
        axes.barh(places, self.values, color=GREY, height=0.72)
        for place, value in zip(places, self.values, strict=True):
            axes.annotate(
                f"{value:,.0f}",
                (value, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                color=DARK,
            )
        axes.set_yticks(list(places), self.names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.15 * max(self.values))
        axes.set_xlabel(self.value_label)
        axes.set_ylabel(self.name_label)
