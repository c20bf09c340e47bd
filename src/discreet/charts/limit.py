"""The picture of one constraint: what it allows, by bound or on a line, with its formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import DARK, LIGHT, SMALL, beside, paper_figure
from discreet.charts.vega import finished, layered, rows, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

HEIGHT, LINE_HEIGHT = 240, 70
ABOVE = 1.6
"""How far the axis reaches beyond the largest limit."""
BOUND = "bound E: the most that a count is off, persons"
ALLOWED = "allowed"


@dataclass(frozen=True)
class LimitChart:
    """One constraint.

    Attributes:
        title: the message.
        formula: the equation, told below the title.
        quantity: what is limited, with its unit.
        limits: by bound, the limit; one at bound 0 where it is a number on a line.
        is_lower: whether at least that is asked for; else at most.
        name: of the chart.
    """

    title: str
    formula: str
    quantity: str
    limits: tuple[tuple[int, float], ...]
    is_lower: bool
    name: str

    @property
    def top(self) -> float:
        """Return where the axis ends."""
        return ABOVE * max(limit for _, limit in self.limits)

    @property
    def is_line(self) -> bool:
        """Say whether the limit is one number."""
        return len(self.limits) == 1

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        side = "at least" if self.is_lower else "at most"
        told = "; ".join(f"{f'bound {bound}: ' if bound else ''}{side} {limit:.3g}" for bound, limit in self.limits)
        return f"What the constraint {self.formula} allows of the {self.quantity}. {told}."

    def spec(self) -> Spec:
        """Return the specification for a page."""
        import altair as alt

        if self.is_line:
            return self._line_spec()
        x = alt.X("bound:Q", title=BOUND).axis(values=[bound for bound, _ in self.limits], format="d")
        y = alt.Y("limit:Q", title=self.quantity, scale=alt.Scale(domain=[0, self.top]))
        data = rows({"bound": b, "limit": v, "end": self.top if self.is_lower else 0.0} for b, v in self.limits)
        told = ["bound:Q", alt.Tooltip("limit:Q", format=".3g")]
        middle = self.limits[len(self.limits) // 2]
        label = rows([{"bound": middle[0], "limit": self._inside(middle[1]), "label": ALLOWED}])
        formula = rows([{"bound": self.limits[0][0], "limit": self.top, "label": self.formula}])
        layers = [
            alt.Chart(data).mark_area(color=LIGHT).encode(x=x, y=y, y2="end:Q"),
            alt.Chart(data).mark_line(color=DARK, point={"color": DARK}).encode(x=x, y=y, tooltip=told),
            words("label", x, y, label, align="center"),
            words("label", x, y, formula),
        ]
        return finished(layered(layers), HEIGHT, self.alternative)

    def _line_spec(self) -> Spec:
        import altair as alt

        ((_, limit),) = self.limits
        x = alt.X("value:Q", title=self.quantity, scale=alt.Scale(domain=[0, self.top]))
        y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, 2]))
        part = rows([{"value": limit, "end": self.top if self.is_lower else 0.0, "place": 0.0, "top": 1.0}])
        label = rows([{"value": limit, "place": 0.5, "label": self._words(limit)}])
        formula = rows([{"value": 0, "place": 1.6, "label": self.formula}])
        layers = [
            alt.Chart(part).mark_rect(color=LIGHT).encode(x=x, x2="end:Q", y=y, y2="top:Q"),
            alt.Chart(part).mark_rule(color=DARK, strokeWidth=2).encode(x=x, y=y, y2="top:Q"),
            words("label", x, y, label, align="left" if self.is_lower else "right", dx=6 if self.is_lower else -6),
            words("label", x, y, formula),
        ]
        return finished(layered(layers), LINE_HEIGHT, self.alternative)

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        figure = paper_figure(6.6, 1.9 if self.is_line else 3.4, self.title)
        axes = figure.subplots()
        axes.set_title(self.formula, fontsize=SMALL, loc="left", color=DARK)
        if self.is_line:
            self._draw_line(axes)
        else:
            self._draw_curve(axes)
        return figure

    def _draw_curve(self, axes: Axes) -> None:
        bounds, limits = [bound for bound, _ in self.limits], [limit for _, limit in self.limits]
        axes.fill_between(bounds, limits, self.top if self.is_lower else 0, color=LIGHT, lw=0)
        axes.plot(bounds, limits, "o-", color=DARK, lw=1.4, ms=3)
        place, limit = self.limits[len(self.limits) // 2]
        beside(axes, ALLOWED, place, self._inside(limit), "center", (0, 0))
        axes.set_ylim(0, self.top)
        axes.set_xticks(bounds)
        axes.set_xlabel(BOUND)
        axes.set_ylabel(self.quantity)

    def _draw_line(self, axes: Axes) -> None:
        ((_, limit),) = self.limits
        axes.axvspan(limit, self.top if self.is_lower else 0, color=LIGHT, lw=0)
        axes.axvline(limit, color=DARK, lw=2)
        beside(
            axes, self._words(limit), limit, 0.5, "left" if self.is_lower else "right", (6 if self.is_lower else -6, 0)
        )
        axes.set_xlim(0, self.top)
        axes.set_ylim(0, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(self.quantity)

    def _inside(self, limit: float) -> float:
        """Return a height amid what is allowed."""
        return (limit + self.top) / 2 if self.is_lower else limit / 2

    def _words(self, limit: float) -> str:
        return f"{ALLOWED}: at {'least' if self.is_lower else 'most'} {limit:.3g}"
