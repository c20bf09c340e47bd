"""The picture of epsilon: what one count may spend at most, what it must spend at least, and what is left between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, LIGHT, beside, here, paper_figure
from discreet.charts.vega import HERE, finished, layered, rows, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

HEIGHT = 130
EPSILON = "epsilon of one count (log scale): more is less noise"
ROOM = 3.0
"""How far the axis reaches beyond what is shown, as a factor."""


@dataclass(frozen=True)
class EpsilonLimit:
    """One constraint: its limit and whether epsilon must be at least that; else at most."""

    label: str
    limit: float
    is_lower: bool

    @property
    def words(self) -> str:
        """Return the limit in words, as `averaging: at most 0.31`."""
        return f"{self.label}: {'at least' if self.is_lower else 'at most'} {self.limit:.3g}"


@dataclass(frozen=True)
class EpsilonChart:
    """What is drawn.

    Attributes:
        title: the message.
        limits: the constraints.
        chosen: an epsilon with what it is called, as `you are here`.
        name: of the chart.
    """

    title: str
    limits: tuple[EpsilonLimit, ...]
    chosen: tuple[float, str] | None = None
    name: str = "epsilon-line"

    @property
    def left(self) -> tuple[float, float] | None:
        """Return the interval that all constraints leave, None where that is nothing."""
        low, high = self._span
        least = max((each.limit for each in self.limits if each.is_lower), default=low)
        most = min((each.limit for each in self.limits if not each.is_lower), default=high)
        return (least, most) if least <= most else None

    @property
    def _span(self) -> tuple[float, float]:
        shown = [each.limit for each in self.limits] + ([self.chosen[0]] if self.chosen else [])
        return min(shown) / ROOM, max(shown) * ROOM

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        limits = "; ".join(each.words for each in self.limits)
        left = f"Left is {self.left[0]:.3g} to {self.left[1]:.3g}." if self.left else "Nothing is left."
        chosen = f" {self.chosen[1]}: {self.chosen[0]:.3g}." if self.chosen else ""
        return f"A line of epsilon with the limits {limits}. {left}{chosen}"

    def spec(self) -> Spec:
        """Return the specification for a page."""
        import altair as alt

        low, high = self._span
        x = alt.X("epsilon:Q", title=EPSILON, scale=alt.Scale(type="log", domain=[low, high], nice=False))
        x = x.axis(format="~g", tickCount=5)
        y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, len(self.limits) + 1]))
        layers = []
        if self.left:
            part = rows([{"epsilon": self.left[0], "end": self.left[1], "place": 0.0, "top": len(self.limits) + 1.0}])
            layers.append(alt.Chart(part).mark_rect(color=LIGHT).encode(x=x, x2="end:Q", y=y, y2="top:Q"))
        arrows = rows(self._arrows(low, high))
        layers += [
            alt.Chart(arrows).mark_rule(color=DARK, strokeWidth=2).encode(x=x, x2="end:Q", y=y, tooltip=["label:N"]),
            alt.Chart(arrows).mark_tick(color=DARK, thickness=2, orient="vertical", height=14).encode(x=x, y=y),
        ]
        for side, dx in (("left", 4), ("right", -4)):
            labels = rows(each for each in self._arrows(low, high) if each["side"] == side)
            layers.append(words("label", x, y, labels, dx=dx, dy=-12, align=side))
        if self.chosen:
            mark = rows([{"epsilon": self.chosen[0], "place": 0.55, "label": self.chosen[1]}])
            layers.append(alt.Chart(mark).mark_point(**HERE).encode(x=x, y=y, tooltip=["label:N", "epsilon:Q"]))
            layers.append(words("label", x, y, mark, dx=11, fontWeight="bold", color=ACCENT))
        return finished(layered(layers), HEIGHT, self.alternative)

    def _arrows(self, low: float, high: float) -> list[dict[str, float | str]]:
        """Return for every limit the stretch that it allows, and on which side of it its label has room."""
        middle = (low * high) ** 0.5
        return [
            {
                "epsilon": each.limit,
                "end": high if each.is_lower else low,
                "place": len(self.limits) - number,
                "label": each.words,
                "side": "left" if each.limit < middle else "right",
            }
            for number, each in enumerate(self.limits)
        ]

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        figure = paper_figure(6.6, 2.4, self.title)
        axes, (low, high) = figure.subplots(), self._span
        if self.left:
            axes.axvspan(*self.left, color=LIGHT, lw=0)
        for arrow in self._arrows(low, high):
            place, limit = float(arrow["place"]), float(arrow["epsilon"])
            axes.plot([limit, float(arrow["end"])], [place, place], color=DARK, lw=2)
            axes.plot([limit], [place], "|", color=DARK, ms=12, mew=2)
            side = str(arrow["side"])
            beside(axes, str(arrow["label"]), limit, place, side, (3 if side == "left" else -3, 7))
        if self.chosen:
            here(axes, self.chosen[0], 0.55, self.chosen[1])
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "235" else "")
        axes.set_xlim(low, high)
        axes.set_ylim(0, len(self.limits) + 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(EPSILON)
        return figure
