"""The plane of variance and bound: the constraints, the feasible region and the marked settings.

Labels stand next to the line or mark that they name and cover no line, mark or other label. A chart is as wide as its
container, so that a label must be free at several widths. The width of letters is overestimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.charts.chart import DARK, GREY, HERE, LIGHT, MEETS, MISSES, finished, layered, rows, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.arrays import Floats
    from discreet.charts.chart import Spec

    Point: TypeAlias = tuple[float, float]

WIDTHS = (250.0, 330.0, 590.0)
"""Pixels of a chart between its axes on a narrow, a medium and a wide screen."""
LETTER, LINE = 6.9, 15.0
"""Pixels of a letter, and of a line of letters."""
MARK = 11.0
"""Pixels from the centre of a mark to its edge, with a margin."""
SAMPLES = 40
"""The number of points per segment of a line that are tested for overlap."""
LABEL_MARGIN = 12.0
"""Pixels by which a label may exceed the upper end of the chart."""
AROUND_MARK = (
    ("left", 0, 20),
    ("right", 0, 20),
    ("left", 0, -20),
    ("right", 0, -20),
    ("left", 13, 0),
    ("right", -13, 0),
)
BESIDE_POINT = (
    ("right", -7, -11),
    ("left", 0, -11),
    ("left", 7, 12),
    ("right", 0, 12),
    ("left", 9, 0),
    ("right", -9, 0),
)
"""Sides, and pixels to the right of and below the labelled point."""


@dataclass(frozen=True)
class Label:
    """A label in its place: the text begins (`left`) or ends (`right`) at an offset from a point."""

    text: str
    x: float
    y: float
    side: str
    dx: float
    dy: float


@dataclass(frozen=True)
class Frame:
    """A chart: the ranges of its axes, and its height in pixels."""

    across: Point
    up: Point
    height: float

    def pixels(self, points: Iterable[Point], width: float) -> Floats:
        """Return points in pixels from the upper left corner."""
        found = np.array(list(points), dtype=float).reshape(-1, 2)
        (left, right), (low, high) = self.across, self.up
        return np.column_stack(
            [(found[:, 0] - left) / (right - left) * width, (high - found[:, 1]) / (high - low) * self.height]
        )


class LabelPlacer:
    """Places labels one after the other, without overlap.

    Args:
        frame: the chart.
        lines: the lines in it.
        marks: the marked points.
        widths: the widths of the chart in pixels at which a label must be free.
    """

    def __init__(
        self,
        frame: Frame,
        lines: Sequence[Sequence[Point]],
        marks: Sequence[Point] = (),
        widths: Sequence[float] = WIDTHS,
    ) -> None:
        self._frame, self._marks, self._widths = frame, marks, widths
        drawn = [point for line in lines for point in _along(line)]
        self._drawn = {width: frame.pixels(drawn, width) for width in widths}
        self._placed: list[Label] = []

    def of_mark(self, text: str, at: Point) -> Label:
        """Return the place of the label of a mark."""
        return self._place([Label(text, *at, side, dx, dy) for side, dx, dy in AROUND_MARK])

    def of_line(self, text: str, points: Sequence[Point]) -> Label:
        """Return the place of the label of a line, next to the first of its points with room."""
        return self._place([Label(text, *at, side, dx, dy) for at in points for side, dx, dy in BESIDE_POINT])

    def _place(self, tried: list[Label]) -> Label:
        found = min(tried, key=lambda label: sum(self._hits(label, width) for width in self._widths))
        self._placed.append(found)
        return found

    def _hits(self, label: Label, width: float) -> int:
        """Return the overlap of a label with lines, marks, other labels and the edge of the chart."""
        left, top, right, bottom = self._box(label, width)
        drawn = self._drawn[width]
        within = (drawn > (left, top)).all(axis=1) & (drawn < (right, bottom)).all(axis=1)
        x, y = self._frame.pixels(self._marks, width).T
        marks = (x + MARK > left) & (x - MARK < right) & (y + MARK > top) & (y - MARK < bottom)
        others = sum(
            left < other[2] + MARK and right > other[0] - MARK and top < other[3] and bottom > other[1]
            for other in (self._box(each, width) for each in self._placed)
        )
        outside = left < 0 or right > width + MARK or top < -LABEL_MARGIN - LINE / 2 or bottom > self._frame.height
        return int(within.sum()) + SAMPLES * (int(marks.sum()) + 10 * (others + outside))

    def _box(self, label: Label, width: float) -> tuple[float, float, float, float]:
        ((x, y),) = self._frame.pixels([(label.x, label.y)], width)
        long = LETTER * len(label.text)
        left = x + label.dx - (long if label.side == "right" else 0)
        return left, y + label.dy - LINE / 2, left + long, y + label.dy + LINE / 2


def _along(line: Sequence[Point]) -> list[Point]:
    """Return densely spaced points of a line."""
    found = list(line[:1])
    for (x, y), (to_x, to_y) in pairwise(line):
        shares = np.linspace(0, 1, SAMPLES + 1)[1:].tolist()
        found += [(x + share * (to_x - x), y + share * (to_y - y)) for share in shares]
    return found


HEIGHT = 300
ABOVE = 1.3
"""The end of the axis of variances as a multiple of the largest value shown."""
BOUND = "bound E of the noise, persons"
VARIANCE = "variance V of the noise, persons²"


@dataclass(frozen=True)
class PlaneRow:
    """One bound with the smallest and the largest feasible variance; infeasible if the smallest is the larger one."""

    bound: int
    low: float
    high: float

    @property
    def feasible(self) -> bool:
        """Return whether any variance is feasible."""
        return self.low <= self.high


@dataclass(frozen=True)
class PlaneEdge:
    """One constraint with its limit by bound.

    Attributes:
        label: the label of the line.
        limits: bounds and limits; an infinite limit does not bind.
        is_lower: whether it is a lower limit on the variance; otherwise an upper one.
    """

    label: str
    limits: tuple[tuple[int, float], ...]
    is_lower: bool


@dataclass(frozen=True)
class PlanePoint:
    """One setting with its label; an open mark stands for a setting other than the chosen one."""

    variance: float
    bound: int
    label: str
    is_open: bool = False

    @property
    def text(self) -> str:
        """Return the label with the numbers."""
        return f"{self.label}: V {self.variance:.3g}, E {self.bound}"


@dataclass(frozen=True)
class PlaneChart:
    """The chart of the plane.

    Attributes:
        title: the message.
        rows: the feasible variances by bound.
        edges: the constraints on the variance.
        chosen: the settings that are marked.
        name: the name of the chart.
    """

    title: str
    rows: tuple[PlaneRow, ...]
    edges: tuple[PlaneEdge, ...]
    chosen: tuple[PlanePoint, ...] = ()
    name: str = "plane"

    @property
    def top(self) -> float:
        """Return the largest variance shown: all lower limits and marks, and most of the feasible range."""
        asked = [limit for edge in self.edges if edge.is_lower for _, limit in edge.limits]
        left = [min(row.high, 2 * row.low) for row in self.rows if row.feasible]
        allowed = [min(limit for _, limit in edge.limits) for edge in self.edges if not edge.is_lower]
        chosen = [point.variance for point in self.chosen]
        return ABOVE * max(value for value in (*asked, *left, *allowed, *chosen, 1.0) if math.isfinite(value))

    @property
    def last(self) -> int:
        """Return the largest bound that is shown."""
        return max([row.bound for row in self.rows] + [point.bound for point in self.chosen])

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        bounds = [row.bound for row in self.rows if row.feasible]
        region = f"feasible bounds {bounds[0]} to {bounds[-1]}" if bounds else "no feasible bound"
        lines = " and ".join(edge.label for edge in self.edges)
        return "; ".join((f"Plane of bound and variance with {region}, lines for {lines}", *self._texts)) + "."

    @property
    def _texts(self) -> list[str]:
        return [point.text for point in self.chosen]

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        top = self.top
        x = alt.X("bound:Q", title=BOUND, scale=alt.Scale(domain=[0.5, self.last + 0.5]))
        x = x.axis(values=list(range(1, self.last + 1)), format="d")
        y = alt.Y("variance:Q", title=VARIANCE, scale=alt.Scale(domain=[0, top], clamp=True))
        region = rows(
            {"bound": row.bound, "variance": row.low, "high": min(row.high, top), "allowed": _span(row)}
            for row in self.rows
            if row.feasible and row.low < top
        )
        bars = (
            alt.Chart(region)
            .mark_bar(size=16, color=LIGHT)
            .encode(x=x, y=y, y2="high:Q", tooltip=[alt.Tooltip("allowed:N", title="feasible")])
        )
        layers: list[alt.Chart | alt.LayerChart] = [bars]
        for edge, colour, points in self._drawn(top):
            line = rows({"bound": b, "variance": v, "edge": edge.label} for b, v in points)
            told = [alt.Tooltip("edge:N", title="constraint"), "bound:Q", alt.Tooltip("variance:Q", format=".3g")]
            dots = {"color": colour, "size": 18}
            layers.append(alt.Chart(line).mark_line(color=colour, point=dots).encode(x=x, y=y, tooltip=told))
        marked, named = self._labels(top)
        for point in self.chosen:
            mark = rows([{"bound": point.bound, "variance": point.variance, "label": point.label}])
            told = [alt.Tooltip("label:N", title="setting"), alt.Tooltip("variance:Q", format=".3g"), "bound:Q"]
            look = {**HERE, "fill": "white" if point.is_open else MEETS if self._is_feasible(point) else MISSES}
            layers.append(alt.Chart(mark).mark_point(**look).encode(x=x, y=y, tooltip=told))
        for label in (*marked, *named):
            at = rows([{"bound": label.x, "variance": label.y, "label": label.text}])
            look = {"fontWeight": "bold"} if label in marked else {}
            layers.append(words("label", x, y, at, align=label.side, dx=label.dx, dy=label.dy, **look))
        return finished(layered(layers), HEIGHT, self.alternative)

    def _is_feasible(self, point: PlanePoint) -> bool:
        return any(row.bound == point.bound and row.low <= point.variance <= row.high for row in self.rows)

    def _drawn(self, top: float) -> list[tuple[PlaneEdge, str, list[tuple[int, float]]]]:
        """Return the edges with their colours and their points within the chart."""
        shown = []
        for edge in self.edges:
            points = [(bound, limit) for bound, limit in edge.limits if limit <= top]
            if points:
                shown.append((edge, DARK if edge.is_lower else GREY, points))
        return shown

    def _labels(self, top: float) -> tuple[list[Label], list[Label]]:
        """Return the labels of marks and of lines; lines are labelled near their right ends."""
        drawn = self._drawn(top)
        marks = [(float(point.bound), point.variance) for point in self.chosen]
        frame = Frame((0.5, self.last + 0.5), (0.0, top), HEIGHT)
        places = LabelPlacer(frame, [points for _, _, points in drawn], marks)
        marked = [places.of_mark(point.text, at) for point, at in zip(self.chosen, marks, strict=True)]
        return marked, [places.of_line(edge.label, points[::-1]) for edge, _, points in drawn]


def _span(row: PlaneRow) -> str:
    return f"bound {row.bound}: variance {row.low:.3g} to {row.high:.3g}"
