"""What `discreet compare` prints: what was held equal, one table, and what to make of it."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.design.compare import Compared, Comparison

WIDEST = 120
NAME = 18
SINGLES = ("projection: single persons", "margins: posterior: single persons")
"""What two attacks name of the cells of one person; the better one counts."""
COLUMNS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("right", ("projection",), "{:.1%}"),
    ("singles", SINGLES, "{:.1%}"),
    ("formula", ("averaging_success",), "{:.1%}"),
    ("member", ("membership_advantage", "delta_of_a_person_alone"), "{:.3f}"),
    ("off", ("mean_absolute_distance",), "{:.2f}"),
    ("share", ("mean_relative_distance",), "{:.1%}"),
    ("worst", ("largest_distance",), "{:,.0f}"),
    ("lost", ("false_zeros",), "{:.1%}"),
    ("apart", ("totals_apart",), "{:.1%}"),
    ("areas", ("counts_off_by_20_percent",), "{:,.0f}"),
    ("naive", ("level_naive_at_20",), "{:.1%}"),
)
"""Heading, figures of which the largest is shown, and form of every column."""
TINY = "the law is cut where it is rarer than"
"""An assumption that changes no figure that is shown."""
RISKS = 4
"""The first columns are of risk."""
MEANING = {
    "right": "counts above 0 that the best linear attack names exactly on this release",
    "singles": "cells of one person that the better of two attacks names exactly",
    "formula": "success of the best linear attack on the most exposed statistic, by its formula",
    "member": "what the worst count adds to guessing whether a person is in it",
    "off, share": "mean distance of published counts above 0, in persons and as a share of the true count",
    "worst": "the largest distance of any",
    "lost": "counts above 0 published as 0",
    "apart": "totals that are not the sums of their parts",
    "areas": "counts of areas below 500 expected more than 20 % off",
    "naive": "tests of independence at 5 % that know of no noise and reject it wrongly, at 20 persons a cell",
}


def show(found: Comparison, plot: Path | None) -> None:
    """Print a comparison."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    typer.echo(textwrap.fill(found.opening(), width))
    for sentence in found.sentences():
        typer.echo(textwrap.fill(sentence, width))
    typer.echo(f"\n{'':<{NAME}}{'V':>7}{'E':>5}" + "".join(f"{head:>8}" for head, _, _ in COLUMNS))
    for each in found.compared:
        typer.echo(_row(each))
    typer.echo("")
    for head, meaning in MEANING.items():
        typer.echo(textwrap.fill(meaning, width, initial_indent=f"{head:<15}", subsequent_indent=" " * 15))
    typer.echo("\nAssumed:")
    for head, names, _ in COLUMNS[:RISKS]:
        _show_assumptions(found, head, names, width)
    for warning in found.warnings:
        typer.echo(textwrap.fill(f"Note: {warning}", width))
    if plot:
        typer.echo(f"Picture: {plot}")


def _show_assumptions(found: Comparison, head: str, names: tuple[str, ...], width: int) -> None:
    """Print what one column rests on."""
    shown = [result for each in found.compared if (result := each.find(*names))]
    texts = dict.fromkeys(text for result in shown for text in result.assumptions if not text.startswith(TINY))
    if texts:
        told = "; ".join(texts)
        typer.echo(textwrap.fill(f"{told}.", width, initial_indent=f"{head:<15}", subsequent_indent=" " * 15))


def _row(each: Compared) -> str:
    bound = f"{each.record.bound:g}" if each.record.bound != float("inf") else "-"
    told = []
    for _, names, form in COLUMNS:
        value = each.value(*names)
        told.append("-" if value is None else form.format(value))
    return f"{each.name:<{NAME}}{each.record.variance:>7.2f}{bound:>5}" + "".join(f"{text:>8}" for text in told)
