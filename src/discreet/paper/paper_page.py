"""Output of the reproduction: a self-contained page, a table of all numbers, and the figures with their data."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.paper.curve_panels import figure_files
from discreet.paper.figures import figures_of
from discreet.paper.number_comparison import FORMULA
from discreet.paper.optimal_attacker_part import CALLED
from discreet.paper.paper_inputs import RULES
from discreet.paper.published_numbers import PARTS
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.calibration.feasible_region import AllowedRange
    from discreet.paper.curve_panels import PaperFigure
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.optimal_attacker_part import State
    from discreet.paper.reproduction import Paper
    from discreet.progress import Progress

TEMPLATE = "paper.html"
PAGE, NUMBERS, STATES, FIGURES = "index.html", "numbers.csv", "states.csv", "figures"
"""The names of files and folders in the output folder."""
LARGE, SMALL = 1e6, 1e-3
"""Numbers outside these limits are written with a power of ten."""
COUNTED_UP_TO = 1e5
WHOLE = 1e-9


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page.

    Attributes:
        figure: the figure with its caption.
        svg: the drawing as an SVG element.
    """

    figure: PaperFigure
    svg: str


def formatted(value: float | None) -> str:
    """Return one of our numbers as text with four digits.

    >>> formatted(None), formatted(2.883381), formatted(50927326.0), formatted(1244.0), formatted(1.52e-7)
    ('none', '2.883', '5.093e7', '1,244', '1.52e-7')
    """
    if value is None:
        return "none"
    if not math.isfinite(value):
        return "infinite"
    if value and not SMALL <= abs(value) < LARGE:
        digits, _, exponent = f"{value:.3e}".partition("e")
        return f"{float(digits):g}e{int(exponent)}"
    if abs(value - round(value)) < WHOLE or abs(value) >= COUNTED_UP_TO:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def ours(number: NumberComparison) -> str:
    """Return our number as text, in the published unit."""
    return f"{formatted(number.ours)} {number.unit if number.ours is not None else ''}".rstrip()


def paper_page(paper: Paper) -> str:
    """Return the page as HTML."""
    return _page(paper, [PageFigure(figure, figure.page_svg()) for figure in figures_of(paper)])


def _page(paper: Paper, shown: Sequence[PageFigure]) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = files("discreet.paper").joinpath(TEMPLATE).read_text(encoding="utf-8")
    return environment.from_string(template).render(_content(paper, shown))


def _content(paper: Paper, shown: Sequence[PageFigure]) -> dict[str, Any]:
    """Return the variables of the template."""
    first = [each for each in shown if not is_second(each.figure.name)]
    return {
        "sentences": paper.sentences(),
        "reasons": reasons(paper),
        "parts": [(PARTS[part], rows) for part in PARTS if (rows := _rows(paper, part))],
        "first": first,
        "second": [each for each in shown if is_second(each.figure.name)],
        "rules": [(rule, both) for rule in RULES if (both := list(pairs(paper.states, rule)))],
        "called": CALLED,
        "readings": readings(paper),
        "command": "discreet paper" + ("" if len(paper.parts) > len(PARTS) else f" --only {','.join(paper.parts)}"),
        "version": version("discreet"),
        "folder": FIGURES,
    }


@dataclass(frozen=True)
class BoundRead:
    """The feasible variances at one bound, strict and relaxed, from the published inputs."""

    bound: int
    strict: str
    relaxed: str


def readings(paper: Paper) -> list[BoundRead]:
    """Return the feasible variances by bound, or the conflicting constraints if a bound is infeasible."""
    space = paper.figures.get("parameter-space")
    if space is None:
        return []
    return [
        BoundRead(strict.bound, _range(strict), _range(relaxed))
        for strict, relaxed in zip(space.strict.plane.rows, space.relaxed.plane.rows, strict=True)
    ]


def _range(row: AllowedRange) -> str:
    if row.feasible:
        return f"{row.low:.2f} ({row.low_by}) to {row.high:.2f} ({row.high_by})"
    return f"infeasible: {row.low_by} needs V ≥ {row.low:.2f}, {row.high_by} allows V ≤ {row.high:.2f}"


def is_second(name: str) -> bool:
    """Return whether a figure belongs to the part on the optimal attacker, which is not in the paper."""
    return name.endswith(("-optimal", "-paper"))


@dataclass(frozen=True)
class Row:
    """A row of a table of the page; `ours` is None if it cannot be computed."""

    id: str
    where: str
    published: str
    ours: str | None
    agrees: bool
    note: str


def _rows(paper: Paper, part: str) -> list[Row]:
    return [
        Row(each.id, each.where, each.published, None if each.ours is None else ours(each), each.agrees, each.note)
        for each in paper.numbers
        if each.part == part
    ]


def pairs(states: Sequence[State], rule: str) -> Iterator[tuple[State, State]]:
    """Yield every Member State under one rule, against the paper's attacker and the optimal one."""
    rows = [state for state in states if state.rule == rule]
    yield from zip(rows[::2], rows[1::2], strict=True)


def reasons(paper: Paper) -> list[str]:
    """Return the differing numbers that follow from the paper or from our reading of it, with the reasons."""
    return [
        f"{each.where}: published {each.published}, ours {ours(each)}. {_sentence(each.note)}"
        for each in paper.apart
        if each.basis == FORMULA
    ]


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}." if note else ""


# --- The folder ---


def check_folder(out: Path, *, replace: bool) -> None:
    """Make the folder; raise an error before any work if a file exists or cannot be written."""
    if not out.absolute().parent.is_dir():
        raise FileWriteError.to(out, "its folder does not exist", "Make the folder, or choose another.")
    try:
        out.mkdir(exist_ok=True)
        (out / FIGURES).mkdir(exist_ok=True)
    except OSError as error:
        raise FileWriteError.to(out, error.strerror or "not a folder", "Choose another folder.") from error
    for name in (PAGE, NUMBERS, STATES):
        check_writable(out / name, replace=replace)
    if not replace and any((out / FIGURES).iterdir()):
        raise FileExistsAlreadyError(out / FIGURES)


def write_paper(paper: Paper, out: Path, *, replace: bool = False, progress: Progress | None = None) -> list[str]:
    """Write the page, the table of numbers, the Member States and all figures; return the names of the files.

    Args:
        paper: the results of the reproduction.
        out: the folder.
        replace: whether to overwrite existing files.
        progress: a callback with the stage, the completed steps and the total steps.
    """
    check_folder(out, replace=replace)
    figures, shown, names = figures_of(paper), [], []
    for done, figure in enumerate(figures, start=1):
        for name, content in figure_files(figure).items():
            write_whole(out / FIGURES / name, content)
            names.append(f"{FIGURES}/{name}")
        shown.append(PageFigure(figure, figure.page_svg()))
        if progress:
            progress("drawing", done, len(figures))
    write_whole(out / NUMBERS, numbers_csv(paper.numbers).encode())
    if paper.states:
        write_whole(out / STATES, states_csv(paper.states).encode())
        names.append(STATES)
    write_whole(out / PAGE, _page(paper, shown).encode())
    return [PAGE, NUMBERS, *names]


def numbers_csv(numbers: Sequence[NumberComparison]) -> str:
    """Return all numbers as CSV: the keys of --json, then part and basis."""
    rows = [{**each.to_json(), "part": each.part, "basis": each.kind} for each in numbers]
    return _csv(rows, ["id", "where", "published", "ours", "agrees", "note", "part", "basis"])


def states_csv(states: Sequence[State]) -> str:
    """Return the Member States as CSV."""
    names = ["country", "rule", "attacker", "statistic", "ratio", "variance", "hidden", "bound", "epsilon", "tuples"]
    return _csv([{name: getattr(state, name) for name in names} for state in states], names)


def _csv(rows: Sequence[dict[str, Any]], names: list[str]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
