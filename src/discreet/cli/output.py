"""What commands print: wrapped sentences, tables of figures, one JSON object; and where pictures go."""

from __future__ import annotations

import json
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discreet.errors import ParameterError
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.results import Result

SCHEMA = "discreet/1"
WIDEST = 120
"""Letters of the longest line, however wide the terminal is."""


def width() -> int:
    """Return the number of letters in a line."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def paragraph(text: str, first: str = "", then: str = "") -> None:
    """Print a text, wrapped.

    Args:
        text: the text.
        first: what its first line begins with.
        then: what its other lines begin with.
    """
    lines = textwrap.fill(text, width(), initial_indent=first, subsequent_indent=then, break_on_hyphens=False)
    typer.echo(lines)


def labelled(label: str, text: str, indent: int = 0) -> None:
    """Print a text to the right of a label, which has as many letters as `indent`, or those it has."""
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
    """Print what a reader should know."""
    for text in texts:
        paragraph(f"Note: {text}")


def assumptions(results: Iterable[Result | AttackEstimates], without: tuple[str, ...] = ()) -> str:
    """Return what results rest on, each assumption once; those that begin with `without` are left out."""
    texts = dict.fromkeys(text for result in results for text in result.assumptions)
    return "; ".join(text for text in texts if not text.startswith(without))


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> None:
    """Print a table.

    Args:
        columns: of each the head and the form, as in ">8": side and width.
        rows: the cells of each row as text.
    """
    for row in ([head for head, _ in columns], *rows):
        typer.echo("".join(format(cell, form) for cell, (_, form) in zip(row, columns, strict=True)))


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
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def check_picture(plot: Path | None, *, replace: bool) -> None:
    """Refuse before any work what writing a picture would refuse after it."""
    if plot is None:
        return
    if plot.suffix.lower() not in {".png", ".svg"}:
        what = f"--plot writes PNG or SVG; {plot.name} has another ending. Use FILE.png or FILE.svg."
        raise ParameterError(what, parameter="plot")
    check_writable(plot, replace=replace)
