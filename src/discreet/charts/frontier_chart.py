"""The picture of what publishing less buys: the variance that averaging asks for against the share of cells kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import ACCENT, DARK, GREY, HERE, LIGHT, finished, layered, rows, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    import altair as alt

    from discreet.charts.chart import Spec

HEIGHT = 320
KEPT = "share of cells still published"
VARIANCE = "variance needed against averaging, persons²"
MARGIN = 0.12
"""How far the axes reach beyond what they show, as a share of it."""
FAR = 1.3
"""A limit beyond this multiple of all that is shown would leave no room for the rest, and is not drawn."""
LABELLED = 4
"""Steps of the path that are named; more would not fit."""
GAP = 0.07
"""The least distance of two names, as a share of the height."""
ALL = "all published"


@dataclass(frozen=True)
class FrontierPoint:
    """One output, as it is or after cuts.

    Attributes:
        kept: the share of cells that are still published.
        variance: that averaging then asks for.
        label: the cut, in a few words.
        feasible: whether an acceptable setting is then left.
    """

    kept: float
    variance: float
    label: str
    feasible: bool = False


@dataclass(frozen=True)
class FrontierChart:
    """What is drawn.

    Attributes:
        title: the message.
        whole: the output as it is.
        alone: every cut for itself.
        path: cuts one after the other, each in addition to those before.
        frontier: the points that none beats in both cells and variance, most cells first.
        allowed: the largest variance that an acceptable bound allows the output as it is.
        bound: that bound.
        name: of the chart.
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
        """Return what is drawn, in words."""
        told = [f"Diamond: everything published needs a variance of {self.whole.variance:.3g}."]
        if self.alone:
            told.append(f"Grey points: {len(self.alone)} cuts, each alone; {_told(self.alone[0])} buys most.")
        if self.path:
            steps = "; ".join(map(_told, self.path[:LABELLED]))
            told.append(f"Accent line: {len(self.path)} cuts one after the other, first {steps}.")
        if len(self.path) > LABELLED:
            told.append(f"The last leads to {_figures(self.path[-1])}.")
        told.append(f"Dark dots: {len(self.frontier)} outputs that no other beats in both.")
        drawn = "A dashed line stands at the" if self._has_limit else "The"
        told.append(
            f"{drawn} largest variance that a bound of {self.bound} allows the output as it is, {self.allowed:.3g}"
            f"{'' if self._has_limit else ', is beyond the picture'}."
        )
        return " ".join(told)

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
            _points((self.whole, *self.path), x, y).mark_line(color=ACCENT, strokeWidth=2),
            _points((self.whole, *self.path), x, y).mark_point(filled=True, size=44, color=ACCENT, opacity=1),
            _points(self.frontier, x, y).mark_point(filled=True, size=9, color=DARK, opacity=1),
            _points((self.whole,), x, y).mark_point(**HERE),
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
        """Return the cut that buys most alone, unless it is the first of the path and named there."""
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
        """Return where the axes begin and end: shares, then variances."""
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
        """Return the first steps of the path with the places of their names, one below the other at the right end."""
        _, right, bottom, top = self._ends
        labels = [ALL, *(f"{number}. {point.label}" for number, point in enumerate(self.path[:LABELLED], start=1))]
        points = (self.whole, *self.path[:LABELLED])
        heights = _spread([point.variance for point in points], GAP * (top - bottom), bottom)
        return [
            {"kept": point.kept, "variance": point.variance, "at": right, "height": height, "label": label}
            for point, height, label in zip(points, heights, labels, strict=True)
        ]


def _spread(values: list[float], gap: float, bottom: float) -> list[float]:
    """Return values moved apart, each at least so far below the one before and none below the bottom.

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
    """Return points with what they say when they are pointed at."""
    import altair as alt

    data = rows({"kept": each.kept, "variance": each.variance, "cut": each.label} for each in points)
    told = [alt.Tooltip("cut:N"), alt.Tooltip("kept:Q", format=".1%"), alt.Tooltip("variance:Q", format=".3g")]
    return alt.Chart(data).encode(x=x, y=y, tooltip=told)


def _told(point: FrontierPoint) -> str:
    return f"{point.label} ({_figures(point)})"


def _figures(point: FrontierPoint) -> str:
    return f"{point.kept:.1%} of cells, variance {point.variance:.3g}"
