"""What `discreet attack` prints: ranked sentences first, then figures by true count and by statistic."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

from discreet.attacks.scoring import CLASSES

if TYPE_CHECKING:
    from discreet.attacks.scoring import Share
    from discreet.design.attack_report import AttackReport, Outcome

NEEDS = {
    "bi-partitions": ": it needs a query interface, from Python",
    "complement": ": no table counts a part of what another counts",
    "slivers": ": it needs --overlaps",
    "successive": ": nothing is nearly certain",
    "two-releases": ": it needs --other",
}
MOST_STATISTICS = 5
NAME = 28
WIDEST = 120
FEW = 10
"""Cells below which a share says nothing."""
SEVERAL = 2
"""Estimates from which on shares by true count say something."""


def show(found: AttackReport, release: str) -> None:
    """Print a report."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    typer.echo(_wrapped(found.opening(release), width))
    for number, outcome in enumerate(found.outcomes, start=1):
        label = f"{number:>2}  {outcome.finding.name:<{NAME}}"
        typer.echo(_wrapped(outcome.sentence, width, label))
    for name in found.idle:
        typer.echo(_wrapped(f"does not apply here{NEEDS.get(name, '')}.", width, f"    {name:<{NAME}}"))
    if any(outcome.score for outcome in found.outcomes):
        _show_counts(found)
        _show_statistics(found)
    _show_assumptions(found, width)
    for warning in found.warnings:
        typer.echo(_wrapped(f"Note: {warning}", width))


def _show_counts(found: AttackReport) -> None:
    """Print achieved beside predicted success by true count, of attacks that estimate several counts."""
    shown = [each for each in found.outcomes if len(each.finding.estimate) >= SEVERAL and not each.finding.answers]
    if not shown:
        return
    typer.echo("\nRight by true count, in percent: achieved (predicted)")
    typer.echo(f"{'':<{NAME}}" + "".join(f"{name:>13}" for name in CLASSES))
    for outcome in shown:
        shares = {share.name: share for share in outcome.by_count()}
        typer.echo(f"{outcome.finding.name:<{NAME}}" + "".join(f"{_told(shares.get(name)):>13}" for name in CLASSES))


def _told(share: Share | None) -> str:
    """Return achieved and predicted, or a dash where too few cells say something."""
    if share is None or share.cells < FEW:
        return "-"
    predicted = f" ({100 * share.predicted:.0f})" if share.predicted is not None else ""
    return f"{100 * share.achieved:.0f}{predicted}"


def _show_statistics(found: AttackReport) -> None:
    """Print the statistics that the best attack knows best."""
    best: Outcome | None = next((each for each in found.outcomes if each.score and each.score.by_group()), None)
    if best is None or best.score is None:
        return
    typer.echo(f"\nBest known statistics ({best.finding.name}):")
    for share in best.score.by_group()[:MOST_STATISTICS]:
        typer.echo(f"{share.achieved:>7.1%} of {share.cells:>9,}  {share.name}")


def _show_assumptions(found: AttackReport, width: int) -> None:
    """Print what each attack rests on; variants of one attack share a line."""
    by_attack: dict[str, dict[str, None]] = {}
    for outcome in found.outcomes:
        by_attack.setdefault(outcome.finding.attack, {}).update(dict.fromkeys(outcome.finding.assumptions))
    if any(by_attack.values()):
        typer.echo("\nAssumed:")
    for name, texts in by_attack.items():
        if texts:
            typer.echo(_wrapped("; ".join(texts) + ".", width, f"    {name:<{NAME}}"))


def _wrapped(text: str, width: int, label: str = "") -> str:
    return textwrap.fill(text, width, initial_indent=label, subsequent_indent=" " * len(label))
