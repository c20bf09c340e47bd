"""Where labels stand in a picture of lines: beside what they name, on no line, mark or other label.

A picture is as wide as its place, so that a label must be free on narrow and on wide ones. Letters are taken as
somewhat wider than most are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.arrays import Floats

    Point: TypeAlias = tuple[float, float]

WIDTHS = (250.0, 330.0, 590.0)
"""Pixels of a picture between its axes: on a narrow screen, a wider one and a wide one."""
LETTER, LINE = 6.9, 15.0
"""Pixels of a letter, and of a line of letters."""
MARK = 11.0
"""Pixels from the middle of a mark to its edge, and a little more."""
SAMPLES = 40
"""Points of every stretch of a line that are tried."""
ABOVE = 12.0
"""Pixels that a label may reach beyond the upper end of the picture."""
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
"""Sides and pixels to the right and down from the point that a label names."""


@dataclass(frozen=True)
class Label:
    """A label in its place: the text begins (`left`) or ends (`right`) so many pixels from a point."""

    text: str
    x: float
    y: float
    side: str
    dx: float
    dy: float


@dataclass(frozen=True)
class Frame:
    """A picture: its axes from least to largest, and its height in pixels."""

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


class Places:
    """Finds places for labels one after the other; what is placed is in the way of what follows.

    Args:
        frame: the picture.
        lines: that are drawn in it.
        marks: points that are marked.
    """

    def __init__(self, frame: Frame, lines: Sequence[Sequence[Point]], marks: Sequence[Point] = ()) -> None:
        self._frame, self._marks = frame, marks
        self._drawn = [point for line in lines for point in _along(line)]
        self._placed: list[Label] = []

    def of_mark(self, text: str, at: Point) -> Label:
        """Return the place of the label of a mark."""
        return self._place([Label(text, *at, side, dx, dy) for side, dx, dy in AROUND_MARK])

    def of_line(self, text: str, points: Sequence[Point]) -> Label:
        """Return the place of the label of a line, beside one of its points; the first are tried first."""
        return self._place([Label(text, *at, side, dx, dy) for at in points for side, dx, dy in BESIDE_POINT])

    def _place(self, tried: list[Label]) -> Label:
        found = min(tried, key=lambda label: sum(self._hits(label, width) for width in WIDTHS))
        self._placed.append(found)
        return found

    def _hits(self, label: Label, width: float) -> int:
        """Return how much is in the way of a label: points of lines, marks, other labels, and the picture's edge."""
        left, top, right, bottom = self._box(label, width)
        drawn = self._frame.pixels(self._drawn, width)
        within = (drawn > (left, top)).all(axis=1) & (drawn < (right, bottom)).all(axis=1)
        x, y = self._frame.pixels(self._marks, width).T
        marks = (x + MARK > left) & (x - MARK < right) & (y + MARK > top) & (y - MARK < bottom)
        others = sum(
            left < other[2] + MARK and right > other[0] - MARK and top < other[3] and bottom > other[1]
            for other in (self._box(each, width) for each in self._placed)
        )
        outside = left < 0 or right > width + MARK or top < -ABOVE - LINE / 2 or bottom > self._frame.height
        return int(within.sum()) + SAMPLES * (int(marks.sum()) + others + 10 * outside)

    def _box(self, label: Label, width: float) -> tuple[float, float, float, float]:
        ((x, y),) = self._frame.pixels([(label.x, label.y)], width)
        long = LETTER * len(label.text)
        left = x + label.dx - (long if label.side == "right" else 0)
        return left, y + label.dy - LINE / 2, left + long, y + label.dy + LINE / 2


def _along(line: Sequence[Point]) -> list[Point]:
    """Return many points of a line."""
    found = list(line[:1])
    for (x, y), (to_x, to_y) in pairwise(line):
        shares = np.linspace(0, 1, SAMPLES + 1)[1:].tolist()
        found += [(x + share * (to_x - x), y + share * (to_y - y)) for share in shares]
    return found
