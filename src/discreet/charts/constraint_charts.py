"""Charts of constraints: the limits on the variance by bound, and the line of epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import DARK, HERE, LIGHT, MEETS, MISSES, PLAIN, finished, layered, log_ticks, rows, words

if TYPE_CHECKING:
    from discreet.charts.chart import Spec

EPSILON_HEIGHT = 130
EPSILON = "epsilon of one count (log scale); larger means less noise"
ROOM = 3.0
"""The factor by which the axis exceeds the values shown."""


@dataclass(frozen=True)
class EpsilonLimit:
    """One constraint: its limit, and whether it is a lower limit on epsilon; otherwise an upper one."""

    label: str
    limit: float
    is_lower: bool

    @property
    def words(self) -> str:
        """Return the limit as text, as in `averaging: at most 0.31`."""
        return f"{self.label}: {'at least' if self.is_lower else 'at most'} {self.limit:.3g}"


@dataclass(frozen=True)
class EpsilonChart:
    """The line of epsilon.

    Attributes:
        title: the message.
        limits: the constraints.
        chosen: an epsilon with its label.
        name: the name of the chart.
    """

    title: str
    limits: tuple[EpsilonLimit, ...]
    chosen: tuple[float, str] | None = None
    name: str = "epsilon-line"

    @property
    def feasible(self) -> tuple[float, float] | None:
        """Return the interval that all constraints allow; None if it is empty."""
        low, high = self._span
        least = max((each.limit for each in self.limits if each.is_lower), default=low)
        most = min((each.limit for each in self.limits if not each.is_lower), default=high)
        return (least, most) if least <= most else None

    @property
    def _is_met(self) -> bool:
        span = self.feasible
        return bool(span and self.chosen and span[0] <= self.chosen[0] <= span[1])

    @property
    def _span(self) -> tuple[float, float]:
        shown = [each.limit for each in self.limits] + ([self.chosen[0]] if self.chosen else [])
        return min(shown) / ROOM, max(shown) * ROOM

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        limits = "; ".join(each.words for each in self.limits)
        span = self.feasible
        feasible = f"feasible from {span[0]:.3g} to {span[1]:.3g}" if span else "infeasible"
        chosen = f"; {self.chosen[1]}: {self.chosen[0]:.3g}" if self.chosen else ""
        return f"Line of epsilon, {feasible}, with the limits {limits}{chosen}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        low, high = self._span
        x = alt.X("epsilon:Q", title=EPSILON, scale=alt.Scale(type="log", domain=[low, high], nice=False))
        x = x.axis(values=log_ticks(low, high), labelExpr=PLAIN)
        y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, len(self.limits) + 1]))
        layers = []
        if span := self.feasible:
            part = rows([{"epsilon": span[0], "end": span[1], "place": 0.0, "top": len(self.limits) + 1.0}])
            layers.append(alt.Chart(part).mark_rect(color=LIGHT).encode(x=x, x2="end:Q", y=y, y2="top:Q"))
        arrows = rows(self._arrows(low, high))
        layers += [
            alt.Chart(arrows)
            .mark_rule(color=DARK, strokeWidth=2)
            .encode(x=x, x2="end:Q", y=y, tooltip=[alt.Tooltip("label:N", title="constraint")]),
            alt.Chart(arrows).mark_tick(color=DARK, thickness=2, orient="vertical", height=14).encode(x=x, y=y),
        ]
        for side, dx in (("left", 4), ("right", -4)):
            labels = rows(each for each in self._arrows(low, high) if each["side"] == side)
            layers.append(words("label", x, y, labels, dx=dx, dy=-12, align=side))
        if self.chosen:
            mark = rows([{"epsilon": self.chosen[0], "place": 0.55, "label": self.chosen[1]}])
            layers.append(
                alt.Chart(mark)
                .mark_point(**{**HERE, "fill": MEETS if self._is_met else MISSES})
                .encode(x=x, y=y, tooltip=[alt.Tooltip("label:N", title="setting"), "epsilon:Q"])
            )
            layers.append(words("label", x, y, mark, dx=11, fontWeight="bold"))
        return finished(layered(layers), EPSILON_HEIGHT, self.alternative)

    def _arrows(self, low: float, high: float) -> list[dict[str, float | str]]:
        """Return for every limit the interval that it allows, and the side with room for its label."""
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
"""The end of the axis as a multiple of the largest limit."""
BOUND = "bound E of the noise, persons"
ALLOWED = "allowed"


@dataclass(frozen=True)
class LimitChart:
    """One constraint.

    Attributes:
        title: the message.
        formula: the formula shown in the chart.
        quantity: the limited quantity with its unit.
        limits: the limits by bound; one at bound 0 if it does not depend on the bound.
        is_lower: whether it is a lower limit; otherwise an upper one.
        name: the name of the chart.
    """

    title: str
    formula: str
    quantity: str
    limits: tuple[tuple[int, float], ...]
    is_lower: bool
    name: str

    @property
    def top(self) -> float:
        """Return the end of the axis."""
        return ABOVE * max(limit for _, limit in self.limits)

    @property
    def is_line(self) -> bool:
        """Return whether the limit is one number."""
        return len(self.limits) == 1

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        side = "at least" if self.is_lower else "at most"
        (low, first), (high, last) = self.limits[0], self.limits[-1]
        ends = f"{first:.3g}" if self.is_line else f"{first:.3g} at bound {low} to {last:.3g} at bound {high}"
        return f"Constraint {self.formula} on the {self.quantity}: {side} {ends}."

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
        """Return a height in the middle of the allowed range."""
        return (limit + self.top) / 2 if self.is_lower else limit / 2

    def _words(self, limit: float) -> str:
        return f"{ALLOWED}: at {'least' if self.is_lower else 'most'} {limit:.3g}"
