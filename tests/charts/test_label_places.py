"""Labels of lines: where nothing crosses them, on narrow and on wide pictures."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.charts.variance_bound_plane import LETTER, LINE, MARK, WIDTHS, Frame, Label, LabelPlacer
from tests.quick import examples

FRAME = Frame((0.5, 10.5), (0.0, 10.0), 320)
FLAT = [(float(bound), 3.0) for bound in range(1, 11)]
STEEP = [(float(bound), bound * (bound + 1) / 6) for bound in range(1, 8)]


def box(label: Label, width: float) -> tuple[float, float, float, float]:
    ((x, y),) = FRAME.pixels([(label.x, label.y)], width)
    long = LETTER * len(label.text)
    left = x + label.dx - (long if label.side == "right" else 0)
    return left, y + label.dy - LINE / 2, left + long, y + label.dy + LINE / 2


def crosses(label: Label, line: list[tuple[float, float]], width: float) -> bool:
    """Say whether a line runs through a label, by walking along it in small steps."""
    left, top, right, bottom = box(label, width)
    points = FRAME.pixels(line, width)
    for (x, y), (to_x, to_y) in pairwise(points.tolist()):
        share = np.linspace(0, 1, 200)
        across, down = x + share * (to_x - x), y + share * (to_y - y)
        if ((left < across) & (across < right) & (top < down) & (down < bottom)).any():
            return True
    return False


@examples(given(variance=st.floats(0.5, 9.5), bound=st.integers(1, 10)), quick=8, slow=40)
def test_labels_are_on_no_line_no_mark_and_no_other_label(variance: float, bound: int) -> None:
    places = LabelPlacer(FRAME, [FLAT, STEEP], [(bound, variance)])
    labels = [
        places.of_mark("you are here", (bound, variance)),
        places.of_line("averaging: V ≥", FLAT[::-1]),
        places.of_line("bound disclosure: V ≤", STEEP[::-1]),
    ]
    # Where the picture is narrow and the mark on a line there may be no room beside that line.
    for width in WIDTHS if abs(variance - 3) > 1.5 else [max(WIDTHS)]:
        check_free(labels, (bound, variance), width)


def check_free(labels: list[Label], mark: tuple[float, float], width: float) -> None:
    """Check that labels are where nothing else is, the first of them that of the mark."""
    ((x, y),) = FRAME.pixels([mark], width)
    for label in labels:
        left, top, right, bottom = box(label, width)
        assert left >= 0
        assert right <= width + MARK
        # One line that is close to the mark may be all around it; the labels of lines always have a place.
        if label is not labels[0]:
            assert not crosses(label, FLAT, width)
            assert not crosses(label, STEEP, width)
            assert not (left < x + 8 and right > x - 8 and top < y + 8 and bottom > y - 8)
    boxes = [box(label, width) for label in labels]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        one, two = boxes[first], boxes[second]
        assert not (one[0] < two[2] and one[2] > two[0] and one[1] < two[3] and one[3] > two[1])


def test_the_label_of_a_mark_evades_a_line_below_it() -> None:
    close = 3.0 + 18 / 32
    below = LabelPlacer(FRAME, [], [(5, close)]).of_mark("you are here", (5, close))
    evading = LabelPlacer(FRAME, [FLAT], [(5, close)]).of_mark("you are here", (5, close))
    assert below.dy > 0
    assert evading != below
    assert not any(crosses(evading, FLAT, width) for width in WIDTHS)


def test_pixels_count_from_the_upper_left() -> None:
    assert FRAME.pixels([(0.5, 10.0), (10.5, 0.0)], 250).tolist() == [[0, 0], [250, 320]]
    assert math.isclose(FRAME.pixels([(5.5, 5.0)], 250)[0, 1], 160)
