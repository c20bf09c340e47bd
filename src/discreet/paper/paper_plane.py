"""The plane of variance and bound: which settings every constraint leaves, read strictly and with some slack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, GREY
from discreet.paper.paper_figure import BLUE, YELLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from discreet.paper.paper_figure import Cell

STRICT, RELAXED = "strict", "relaxed"


@dataclass(frozen=True)
class Span:
    """What one bound leaves.

    Attributes:
        bound: E.
        low: the least variance.
        high: the largest; below the least, nothing is left.
    """

    bound: int
    low: float
    high: float


@dataclass(frozen=True)
class EdgeLine:
    """A constraint as a line.

    Attributes:
        label: its formula with its number.
        variance: that it gives at every bound.
        bound: the bounds.
        colour: of the line.
        style: `-`, `--` or `:`.
    """

    label: str
    variance: tuple[float, ...]
    bound: tuple[float, ...]
    colour: str = DARK
    style: str = "-"


@dataclass(frozen=True)
class VariancePlane:
    """Variance against bound.

    Attributes:
        title: of the panel.
        strict: what is left by bound.
        relaxed: the same with some slack.
        edges: the constraints as lines.
        most_bound: the largest bound that users accept.
        widest: the largest variance shown.
        x_label: with its unit.
        y_label: the same.
    """

    title: str
    strict: tuple[Span, ...]
    relaxed: tuple[Span, ...]
    edges: tuple[EdgeLine, ...]
    most_bound: int
    widest: float
    x_label: str = "variance V of one noise, persons squared"
    y_label: str = "bound E, persons"

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.y_label, f"{self.x_label}, least", f"{self.x_label}, largest")

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give what every bound leaves, then the edges."""
        for name, spans in self._readings():
            for span in spans:
                yield (name, span.bound, span.low, span.high)
        for edge in self.edges:
            for variance, bound in zip(edge.variance, edge.bound, strict=True):
                yield (f"edge: {edge.label}", bound, variance, None)

    def draw(self, axes: Axes) -> None:
        """Draw what is left as bars, the edges over them, and name all below."""
        for spans, colour in ((self.relaxed, YELLOW), (self.strict, BLUE)):
            shown = [span for span in spans if span.low <= span.high]
            widths = [min(span.high, self.widest) - span.low for span in shown]
            lows, bounds = [span.low for span in shown], [span.bound for span in shown]
            axes.barh(bounds, widths, left=lows, height=0.8, color=colour)
        for edge in self.edges:
            axes.plot(edge.variance, edge.bound, edge.style, color=edge.colour, lw=1.6, label=edge.label)
        axes.axhline(self.most_bound + 0.5, color=GREY, lw=1, ls=":")
        axes.set_xlim(0, self.widest)
        axes.set_ylim(0.4, self.most_bound + 1)
        axes.set_yticks([span.bound for span in self.strict])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        left = {name: any(span.low <= span.high for span in spans) for name, spans in self._readings()}
        name_below(axes, {name: name if some else f"{name}: nothing is left" for name, some in left.items()})

    def _readings(self) -> tuple[tuple[str, tuple[Span, ...]], ...]:
        return (STRICT, self.strict), (RELAXED, self.relaxed)


@dataclass(frozen=True)
class EpsilonLine:
    """Epsilon of a count: the error that all totals keep to, and what averaging allows.

    Attributes:
        title: of the panel.
        epsilons: the first axis.
        errors: by formula, the error that no total exceeds, strict first.
        most: by formula, the largest epsilon that averaging allows, strict first.
        accurate: the error that is accepted.
        strict: least and largest epsilon, nothing left if the least is larger.
        relaxed: the same.
    """

    title: str
    epsilons: tuple[float, ...]
    errors: dict[str, tuple[float, ...]]
    most: dict[str, float]
    accurate: float
    strict: tuple[float, float]
    relaxed: tuple[float, float]
    x_label: str = "epsilon of one count"
    y_label: str = "largest error of a total, persons"

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.x_label, self.y_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give the curves, the limits and what is left."""
        for name, errors in self.errors.items():
            for epsilon, error in zip(self.epsilons, errors, strict=True):
                yield (name, epsilon, error)
        for label, epsilon in self.most.items():
            yield (f"limit: {label}", epsilon, None)
        for name, ends in ((STRICT, self.strict), (RELAXED, self.relaxed)):
            for epsilon in ends:
                yield (name, epsilon, self.accurate)

    def draw(self, axes: Axes) -> None:
        """Draw what is left as bands, the limits over them, and name all below."""
        axes.set_yscale("log")
        for (low, high), colour in ((self.relaxed, YELLOW), (self.strict, BLUE)):
            if low <= high:
                axes.axvspan(low, high, color=colour, lw=0)
        for (label, epsilon), style in zip(self.most.items(), ("-", "--"), strict=True):
            axes.axvline(epsilon, color=ACCENT, ls=style, lw=1.6, label=label)
        for (name, errors), style in zip(self.errors.items(), ("-", "--"), strict=True):
            axes.plot(self.epsilons, errors, style, color=DARK, lw=1.8, label=name)
        axes.axhline(self.accurate, color=GREY, lw=1, ls=":")
        axes.annotate(
            f"{self.accurate:g} persons",
            (1, self.accurate),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
            color=DARK,
        )
        axes.set_xlim(self.epsilons[0], self.epsilons[-1])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        name_below(axes, {STRICT: _left(STRICT, self.strict), RELAXED: _left(RELAXED, self.relaxed)})


def _left(name: str, ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{name}: {low:.3f} to {high:.3f}" if low <= high else f"{name}: nothing is left"


def name_below(axes: Axes, readings: dict[str, str]) -> None:
    """Name every line and area below the axes, where there is room for a formula."""
    from matplotlib.patches import Patch

    areas = [Patch(color=colour, label=readings[name]) for name, colour in ((STRICT, BLUE), (RELAXED, YELLOW))]
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    axes.legend(
        handles=[*areas, *lines],
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.15),
        frameon=False,
        fontsize=9.5,
        labelcolor=DARK,
    )
