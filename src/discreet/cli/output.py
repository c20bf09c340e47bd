"""Text output of commands: one screen with the verdict first, wrapped sentences, tables; or one JSON object."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discreet.errors import ParameterError
from discreet.verdicts import Verdict
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.results import Result
    from discreet.verdicts import Check, Decision

SCHEMA = "discreet/1"
WIDEST = 120
"""Columns of the longest line, however wide the terminal is."""
LINES = 24
"""Lines of the default output."""
LABEL, VALUE, TARGET = 18, 18, 29
"""Columns of the parts of a verdict line."""
WIDE = 2 + LABEL + VALUE + TARGET + 13
"""Columns from which on verdict lines are aligned."""
COLOURS = {Verdict.MEETS: "green", Verdict.MISSES: "red"}
GREY = "bright_black"
MORE = "Assumptions and all figures: --details"
LEAST_TEXT = 24
"""Columns that the text at the end of a table row needs at least."""


def width() -> int:
    """Return the number of columns of a line."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def wrapped(text: str, first: str = "", then: str = "") -> list[str]:
    """Return a text in lines that break between words only.

    Args:
        text: the text.
        first: the beginning of the first line.
        then: the beginning of all other lines.
    """
    # A number and its unit stay together.
    lines = textwrap.wrap(
        text.replace(" %", "\u00a0%"),
        width(),
        initial_indent=first,
        subsequent_indent=then,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\u00a0%", " %") for line in lines]


def coloured(verdict: Verdict, text: str) -> str:
    """Return a shape or word in the colour of its verdict; plain in a pipe, in a file and with NO_COLOR."""
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    return typer.style(text, fg=COLOURS.get(verdict, GREY))


def verdict_lines(verdict: Verdict, text: str, indent: int = 2, word: str = "") -> list[str]:
    """Return a text after the shape of a verdict; shape and word are coloured."""
    lines = wrapped(text, f"{verdict.shape} ", " " * indent)
    lines[0] = coloured(verdict, lines[0][0]) + lines[0][1:]
    if word and word in lines[0]:
        before, _, after = lines[0].rpartition(word)
        lines[0] = before + coloured(verdict, word) + after
    return lines


def check_lines(check: Check) -> list[str]:
    """Return the line of one figure: shape, label, value, target, word."""
    word, label = check.verdict.word, check.criterion.label
    target = "" if check.target is None else check.target_text
    if width() < WIDE:
        parts = [check.value_text if check.value is not None else "", target, word]
        return verdict_lines(check.verdict, f"{label}: {'; '.join(filter(None, parts))}", word=word)
    line = f"{check.verdict.shape} {label:<{LABEL}}{check.value_text:<{VALUE}}{target:<{TARGET}}"
    return [f"{coloured(check.verdict, line[0])}{line[1:]}{coloured(check.verdict, word)}"]


class Screen:
    """The default output: at most 24 lines.

    Lists are cut, the longest one first, until all lines fit; the last line of a list states how many items it lacks.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[list[str], list[list[str]]]] = []

    def headline(self, verdict: Verdict, words: str, about: str) -> None:
        """Add the verdict on the whole, and what it is about."""
        self._blocks.append((verdict_lines(verdict, f"{words}. {about}", word=words), []))

    def decision(self, decision: Decision, about: str) -> None:
        """Add the headline of a decision, a line per check, and the ways out."""
        self.headline(decision.verdict, decision.headline, about)
        self.checks(decision.checks)
        remedies = [each.remedy for each in decision.missed if each.remedy]
        self.items("To do", dict.fromkeys([*decision.options, *remedies]))

    def checks(self, checks: Iterable[Check]) -> None:
        """Add a line per check."""
        self._blocks.append(([], [check_lines(each) for each in checks]))

    def text(self, text: str, first: str = "", then: str = "") -> None:
        """Add a sentence."""
        self._blocks.append((wrapped(text, first, then), []))

    def whole(self, line: str) -> None:
        """Add a line that is not wrapped: a command to copy, or a path."""
        self._blocks.append(([line], []))

    def items(self, head: str, texts: Iterable[str]) -> None:
        """Add a list with its head; nothing where the list is empty."""
        self.lines(head, [wrapped(text, "  - ", "    ") for text in texts])

    def lines(self, head: str, items: Sequence[list[str]]) -> None:
        """Add a list of items of one or more lines each."""
        if items:
            self._blocks.append((wrapped(head), list(items)))

    def show(self) -> None:
        """Print what fits."""
        kept = [len(items) for _, items in self._blocks]
        while len(lines := self._lines(kept)) > LINES and any(kept):
            # Later lists are cut first.
            sizes = [(1 + n) ** 2 * sum(map(len, items[: kept[n]])) for n, (_, items) in enumerate(self._blocks)]
            kept[sizes.index(max(sizes))] -= 1
        typer.echo("\n".join(lines))

    def _lines(self, kept: Sequence[int]) -> list[str]:
        found: list[str] = []
        for (head, items), number in zip(self._blocks, kept, strict=True):
            if items and not number:
                found.append(f"{' '.join(head)}: {len(items):,} (--details)".strip(": "))
                continue
            found += [*head, *(line for item in items[:number] for line in item)]
            if number < len(items):
                found.append(f"  ... {len(items) - number:,} more (--details)")
        return found


def paragraph(text: str, first: str = "", then: str = "") -> None:
    """Print a text, wrapped; `first` and `then` begin its lines."""
    typer.echo("\n".join(wrapped(text, first, then)))


def labelled(label: str, text: str, indent: int = 0) -> None:
    """Print a text to the right of a label, which is padded to `indent` columns."""
    paragraph(text, f"{label:<{indent}}", " " * (indent or len(label)))


def section(label: str, sentences: Iterable[str], indent: int) -> None:
    """Print sentences below each other, to the right of one label."""
    for sentence in sentences:
        labelled(label, sentence, indent)
        label = ""


def items(head: str, sentences: Iterable[str]) -> None:
    """Print a sentence and a list below it, after an empty line."""
    typer.echo("")
    paragraph(head)
    for sentence in sentences:
        paragraph(sentence, "- ", "  ")


def notes(texts: Iterable[str]) -> None:
    """Print notes for the reader."""
    for text in texts:
        paragraph(f"Note: {text}")


def assumptions(results: Iterable[Result | AttackEstimates], without: tuple[str, ...] = ()) -> str:
    """Return the assumptions of results, each once; those that begin with `without` are excluded."""
    texts = dict.fromkeys(text for result in results for text in result.assumptions)
    return "; ".join(text for text in texts if not text.startswith(without))


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; in several parts, each with the name of the row, where the terminal is too narrow for one.

    Args:
        columns: head and form of each column, as in ">8": side and width. A last column with the form "" has the name
            of the row as a text, which is wrapped; otherwise the first column has it.
        rows: the cells of each row as text.
    """
    made = [[head for head, _ in columns], *rows]
    padded = [[format(cell, form) for cell, (_, form) in zip(row, columns, strict=True)] for row in made]
    # At least one blank between columns, however long a cell is.
    widths = [max(max(len(cell), len(cell.strip()) + 1) for cell in cells) for cells in zip(*padded, strict=True)]
    forms = [form if form == "" else f"{form[0]}{wide}" for (_, form), wide in zip(columns, widths, strict=True)]
    named_last = forms[-1] == ""
    key, others = (len(columns) - 1, range(len(columns) - 1)) if named_last else (0, range(1, len(columns)))
    room = width() - (min(widths[key], LEAST_TEXT) if named_last else widths[key])
    parts: list[list[int]] = [[]]
    for place in others:
        if parts[-1] and sum(widths[each] for each in parts[-1]) + widths[place] > room:
            parts.append([])
        parts[-1].append(place)
    for number, part in enumerate(parts):
        if number:
            typer.echo("")
        for row in made:
            cells = "".join(format(row[place], forms[place]) for place in part)
            if not named_last:
                typer.echo(f"{format(row[key], forms[key])}{cells}".rstrip())
                continue
            name = row[key].strip()
            typer.echo("\n".join(wrapped(name, f"{cells}  ", " " * (len(cells) + 2)) or [cells.rstrip()]))


def answer(
    command: str,
    settings: dict[str, Any],
    results: Sequence[Result],
    warnings: Sequence[str],
    **own: Any,  # noqa: ANN401 - the command's own keys
) -> None:
    """Print the JSON object of a command: the keys every command has, then its own."""
    content = {
        "schema": SCHEMA,
        "command": command,
        "settings": settings,
        "results": [result.to_json() for result in results],
        "warnings": list(warnings),
        **own,
    }
    typer.echo(json.dumps(content, indent=2, ensure_ascii=True, default=_path_as_text))


def _path_as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def check_picture(plot: Path | None, *, replace: bool) -> None:
    """Refuse, before any work, a chart file that cannot be written."""
    if plot is None:
        return
    if plot.suffix.lower() not in {".png", ".svg"}:
        what = f"--plot writes PNG or SVG; {plot.name} has another ending. Use FILE.png or FILE.svg."
        raise ParameterError(what, parameter="plot")
    check_writable(plot, replace=replace)


class Outputs:
    """The files and folders of the running command, for the message after an interrupt."""

    def __init__(self) -> None:
        self._paths: list[Path] = []
        self._unfinished: Callable[[], str] = str
        self._started = time.time()

    def expect(self, *paths: Path | None, unfinished: Callable[[], str] = str) -> None:
        """Note what the command will write.

        Args:
            paths: files and folders.
            unfinished: returns a sentence on unfinished work that is kept, "" if not applicable.
        """
        self._paths, self._unfinished = [path for path in paths if path], unfinished
        # Clocks of file systems lag behind.
        self._started = time.time() - 0.1

    def left_behind(self) -> str:
        """Return what the command has written since its start, in a sentence."""
        written = [str(path) for path in self._paths if path.exists() and path.stat().st_mtime >= self._started]
        found = f"Written: {', '.join(written)}." if written else "Nothing was written."
        return self._unfinished() or found


OUTPUTS = Outputs()
"""Of this process."""
