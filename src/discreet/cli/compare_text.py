"""What `discreet compare` prints: what was held equal, what to make of it, and one table."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

from discreet.reports.comparison import LOSS, RISK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.calibration.compare import Comparison
    from discreet.reports.comparison import Column

WIDEST = 120
CELL = 8
HEAD = 10
PASSED_OVER = ("the law is cut where it is rarer than", "the prediction takes as given")
"""How assumptions begin that change no figure that is shown."""


def show(found: Comparison, plot: Path | None) -> None:
    """Print a comparison; the table in two parts where the terminal is too narrow for one."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    typer.echo(textwrap.fill(found.opening(), width))
    for sentence in found.sentences():
        typer.echo(textwrap.fill(sentence, width))
    whole = (*RISK, *LOSS)
    names = max(len(each.name) for each in found.compared) + 1
    for columns in [whole] if names + 12 + CELL * len(whole) <= width else [RISK, LOSS]:
        _show_table(found, columns, names)
    typer.echo("")
    for column in whole:
        typer.echo(_labelled(column.head, column.meaning, width))
    typer.echo("\nAssumed:")
    for column in RISK:
        _show_assumptions(found, column, width)
    for warning in found.warnings:
        typer.echo(textwrap.fill(f"Note: {warning}", width))
    if plot:
        typer.echo(f"Picture: {plot}")


def _show_table(found: Comparison, columns: Sequence[Column], names: int) -> None:
    """Print some columns, a line per mechanism."""
    heads = "".join(f"{column.head:>{CELL}}" for column in columns)
    typer.echo(f"\n{'':<{names}}{'V':>7}{'E':>5}{heads}")
    for each in found.compared:
        bound = f"{each.record.bound:g}" if each.record.bound != float("inf") else "-"
        told = "".join(f"{column.told(each):>{CELL}}" for column in columns)
        typer.echo(f"{each.name:<{names}}{each.record.variance:>7.2f}{bound:>5}{told}")


def _show_assumptions(found: Comparison, column: Column, width: int) -> None:
    """Print what one column rests on."""
    shown = [result for each in found.compared if (result := each.find(*column.names))]
    texts = dict.fromkeys(text for result in shown for text in result.assumptions)
    told = "; ".join(text for text in texts if not text.startswith(PASSED_OVER))
    if told:
        typer.echo(_labelled(column.head, f"{told}.", width))


def _labelled(head: str, text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent=f"{head:<{HEAD}}", subsequent_indent=" " * HEAD)
