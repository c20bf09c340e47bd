"""The frontier of curation: the variance that averaging needs against the share of cells kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import DARK, GREY, HERE, LIGHT, MEETS, MISSES, finished, layered, rows, words
from discreet.verdicts import percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    import altair as alt

    from discreet.charts.chart import Spec

HEIGHT = 320
KEPT = "share of cells still published"
VARIANCE = "variance that averaging needs, persons²"
MARGIN = 0.12
"""The margin of the axes as a share of the values shown."""
FAR = 1.3
"""A limit beyond this multiple of the largest value would compress the chart and is not drawn."""
LABELLED = 4
"""The number of steps of the path with a label."""
GAP = 0.07
"""The minimum distance of two labels as a share of the height."""
ALL = "all published"


@dataclass(frozen=True)
class FrontierPoint:
    """One output, whole or after cuts.

    Attributes:
        kept: the share of cells that are still published.
        variance: the variance that averaging then needs.
        label: the cut in a few words.
        feasible: whether the constraints are then compatible.
    """

    kept: float
    variance: float
    label: str
    feasible: bool = False


@dataclass(frozen=True)
class FrontierChart:
    """The frontier.

    Attributes:
        title: the message.
        whole: the whole output.
        alone: every cut alone.
        path: successive cuts, each in addition to those before.
        frontier: the Pareto-optimal points in cells and variance, most cells first.
        allowed: the largest variance of the whole output at the largest acceptable bound.
        bound: that bound.
        name: the name of the chart.
    """

    title: str
    whole: FrontierPoint
    alone: tuple[FrontierPoint, ...]
    path: tuple[FrontierPoint, ...]
    frontier: tuple[FrontierPoint, ...]
    allowed: float
    bound: int
    name: str = "frontier"

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        path = f"{len(self.path)} successive cuts down to {_figures(self.path[-1])}" if self.path else "no cuts"
        limit = f"bound {self.bound} allows a variance of {self.allowed:.3g}"
        return f"Variance against share of cells kept: {_figures(self.whole)} for the whole output, {path}; {limit}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        left, right, bottom, top = self._ends
        x = alt.X("kept:Q", title=KEPT, scale=alt.Scale(domain=[left, right], nice=False)).axis(
            format=".0%", tickCount=5
        )
        y = alt.Y("variance:Q", title=VARIANCE, scale=alt.Scale(domain=[bottom, top], nice=False, zero=False))
        layers: list[alt.Chart | alt.LayerChart] = []
        if self._has_limit:
            limit = rows([{"variance": self.allowed, "kept": left, "label": self._limit_label}])
            layers.append(alt.Chart(limit).mark_rule(color=DARK, strokeDash=[5, 3]).encode(y=y))
            layers.append(words("label", x, y, limit, baseline="bottom", dx=4, dy=-4))
        names = rows(self._names)
        layers += [
            alt.Chart(names).mark_rule(color=GREY, strokeWidth=0.8).encode(x=x, y=y, x2="at:Q", y2="height:Q"),
            _points(self.alone, x, y).mark_point(filled=True, size=34, color=LIGHT, opacity=1),
            _points(self.frontier, x, y).mark_line(color=GREY, strokeWidth=1),
            _points((self.whole, *self.path), x, y).mark_line(color=DARK, strokeWidth=2),
            _points((self.whole, *self.path), x, y).mark_point(filled=True, size=44, color=DARK, opacity=1),
            _points(self.frontier, x, y).mark_point(filled=True, size=9, color=DARK, opacity=1),
            _points((self.whole,), x, y).mark_point(**{**HERE, "fill": MEETS if self.whole.feasible else MISSES}),
            words("label", alt.X("at:Q"), alt.Y("height:Q"), names, dx=5),
        ]
        if self._best_alone:
            best = rows(
                [{"kept": self._best_alone.kept, "variance": self._best_alone.variance, "label": self._best_label}]
            )
            layers.append(words("label", x, y, best, dx=-4, dy=-13))
        return finished(layered(layers), HEIGHT, self.alternative)

    @property
    def _limit_label(self) -> str:
        return f"bound {self.bound} allows {self.allowed:.3g}"

    @property
    def _best_alone(self) -> FrontierPoint | None:
        """Return the best single cut, unless the first step of the path has its label."""
        return next((each for each in self.alone if each.label not in [step.label for step in self.path[:1]]), None)

    @property
    def _best_label(self) -> str:
        return f"{self._best_alone.label} alone" if self._best_alone else ""

    @property
    def _shown(self) -> tuple[FrontierPoint, ...]:
        return (self.whole, *self.alone, *self.path)

    @property
    def _has_limit(self) -> bool:
        return self.allowed <= FAR * max(point.variance for point in self._shown)

    @property
    def _ends(self) -> tuple[float, float, float, float]:
        """Return the ends of the axes: shares, then variances."""
        variances = [*(point.variance for point in self._shown), *([self.allowed] if self._has_limit else [])]
        least, room = min(point.kept for point in self._shown), MARGIN * (max(variances) - min(variances))
        return (
            max(least - MARGIN * (1 - least), 0.0),
            1 + MARGIN / 4 * (1 - least or 1.0),
            max(min(variances) - (room or 1.0), 0.0),
            max(variances) + (room or 1.0),
        )

    @property
    def _names(self) -> list[dict[str, float | str]]:
        """Return the first steps of the path with the places of their labels at the right end."""
        _, right, bottom, top = self._ends
        labels = [ALL, *(f"{number}. {point.label}" for number, point in enumerate(self.path[:LABELLED], start=1))]
        points = (self.whole, *self.path[:LABELLED])
        heights = _spread([point.variance for point in points], GAP * (top - bottom), bottom)
        return [
            {"kept": point.kept, "variance": point.variance, "at": right, "height": height, "label": label}
            for point, height, label in zip(points, heights, labels, strict=True)
        ]


def _spread(values: list[float], gap: float, bottom: float) -> list[float]:
    """Return values moved apart: each at least a gap below the one before, and none below the bottom.

    >>> _spread([5.0, 4.9, 4.0, 0.1], 0.5, 0.0)
    [5.0, 4.5, 4.0, 0.1]
    >>> _spread([0.3, 0.2], 0.5, 0.0)
    [0.5, 0.0]
    """
    found: list[float] = []
    for value in values:
        found.append(min(value, found[-1] - gap) if found else value)
    for place in reversed(range(len(found))):
        found[place] = max(found[place], bottom + gap * (len(found) - 1 - place))
    return found


def _points(points: Iterable[FrontierPoint], x: alt.X, y: alt.Y) -> alt.Chart:
    """Return points with their tooltips."""
    import altair as alt

    data = rows({"kept": each.kept, "variance": each.variance, "cut": each.label} for each in points)
    told = [
        alt.Tooltip("cut:N"),
        alt.Tooltip("kept:Q", title=KEPT, format=".1%"),
        alt.Tooltip("variance:Q", title=VARIANCE, format=".3g"),
    ]
    return alt.Chart(data).encode(x=x, y=y, tooltip=told)


def _figures(point: FrontierPoint) -> str:
    return f"{percent(point.kept)} of cells, variance {point.variance:.3g}"
