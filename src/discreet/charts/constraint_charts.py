"""What each constraint allows: limits on the variance, and the line of epsilon.

The picture of epsilon: what one count may spend at most, what it must spend at least, and what is left between.

The picture of one constraint: what it allows, by bound or on a line, with its formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import ACCENT, DARK, HERE, LIGHT, PLAIN, finished, layered, log_ticks, rows, words

if TYPE_CHECKING:
    from discreet.charts.chart import Spec

EPSILON_HEIGHT = 130
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
        """Return the specification."""
        import altair as alt

        low, high = self._span
        x = alt.X("epsilon:Q", title=EPSILON, scale=alt.Scale(type="log", domain=[low, high], nice=False))
        x = x.axis(values=log_ticks(low, high), labelExpr=PLAIN)
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
        return finished(layered(layers), EPSILON_HEIGHT, self.alternative)

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
        formula: the equation, written in the chart.
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
        """Return the specification."""
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
            words("label", x, y, formula, dx=6),
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

    def _inside(self, limit: float) -> float:
        """Return a height amid what is allowed."""
        return (limit + self.top) / 2 if self.is_lower else limit / 2

    def _words(self, limit: float) -> str:
        return f"{ALLOWED}: at {'least' if self.is_lower else 'most'} {limit:.3g}"
