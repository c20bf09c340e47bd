"""Draw docs/rooms.svg: the rooms of the package by floor, and the imports between them, read from the source.

python docs/rooms.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/rooms.svg"
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT, LEFT = 900, 84, 118, 34, 40
STYLE = "font-family='sans-serif' font-size='14'"


def picture() -> str:
    """Return the picture: a box per room with its size, a line per pair of rooms, thicker for more imports."""
    sys.path.insert(0, str(ROOT))
    from tests.test_floors import FLOORS, SOURCE, imports, module_name, room

    texts = {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    lines = Counter[str]()
    for path, text in texts.items():
        lines[room(module_name(path))] += len(text.splitlines())
    floors = [[name for name in floor if name in lines] for floor in FLOORS]
    # The two lowest floors are single files that nearly every room imports: no arrows for these.
    places = _places(floors[2:])
    pairs = Counter((room(found.source), room(found.target)) for found in imports(texts))
    arrows = [
        _arrow(places[source], places[target], times)
        for (source, target), times in sorted(pairs.items())
        if source != target and source in places and target in places
    ]
    boxes = [_box(name, lines[name], place) for name, place in places.items()]
    height = ROW * len(floors[2:]) + 30
    shared = ", ".join(f"{name}.py" for floor in floors[:2] for name in floor)
    note = f"<text x='{LEFT}' y='{height - 8}' {STYLE} fill='#555'>below all: {shared}</text>"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}'>"
    ground = f"<rect width='{WIDTH}' height='{height}' fill='white'/>"
    return "\n".join([head, ground, *arrows, *boxes, note, "</svg>"]) + "\n"


def _places(floors: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Return the middle of every box; the highest floor is on top, and floors are shifted left and right in turn."""
    found: dict[str, tuple[float, float]] = {}
    for number, names in enumerate(reversed(floors)):
        step = (WIDTH - 2 * LEFT) / len(names)
        lean = (number % 2 - 0.5) * 60
        for place, name in enumerate(names):
            found[name] = (LEFT + step * (place + 0.5) + lean, 30 + ROW * number)
    return found


def _arrow(start: tuple[float, float], end: tuple[float, float], times: int) -> str:
    (x1, y1), (x2, y2) = start, end
    top, bend, foot = y1 + BOX_HEIGHT / 2, (y1 + y2) / 2, y2 - BOX_HEIGHT / 2
    path = f"M {x1:.0f} {top:.0f} C {x1:.0f} {bend:.0f}, {x2:.0f} {bend:.0f}, {x2:.0f} {foot:.0f}"
    width = 0.6 + times**0.5 / 3
    return f"<path d='{path}' fill='none' stroke='#7a8ca3' stroke-opacity='0.45' stroke-width='{width:.1f}'/>"


def _box(name: str, lines: int, place: tuple[float, float]) -> str:
    x, y = place
    corner = f"x='{x - BOX_WIDTH / 2:.0f}' y='{y - BOX_HEIGHT / 2:.0f}' width='{BOX_WIDTH}' height='{BOX_HEIGHT}'"
    # Rounded, so that small changes of the source do not change the picture.
    size = f"{max(round(lines, -2), 100):,} lines"
    middle = f"text-anchor='middle' font-family='sans-serif' x='{x:.0f}'"
    label = f"<text {middle} y='{y:.0f}' font-size='14' font-weight='bold'>{name}</text>"
    size = f"<text {middle} y='{y + 13:.0f}' font-size='11' fill='#555'>{size}</text>"
    return f"<rect {corner} rx='5' fill='#eef3f8' stroke='#33507a'/>{label}{size}"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
