"""`discreet attack`: what an attacker really learns from a release, beside what formulas predict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.attacks.attack_run import attack as attack_release
from discreet.attacks.scoring import CLASSES, FEW
from discreet.attacks.target_cells import BUDGET
from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attack_report import AttackOutcome, AttackReport
    from discreet.attacks.scoring import ClassScore, Rate

NEEDS = {
    "bi-partitions": ": it needs a query interface, from Python",
    "complement": ": no table counts a part of what another counts",
    "slivers": ": it needs --overlaps",
    "two-releases": ": it needs --other",
}
MOST_STATISTICS = 5
NAME = 28
RECALL, PRECISION = 16, 13
"""Widths of columns by count."""
INTERVALS = f"; below {FEW} cases [95 % interval]"
SEVERAL = 2
"""Estimates from which on shares by true count say something."""


def show(found: AttackReport, release: str) -> None:
    """Print a report: ranked sentences first, then figures by true count and by statistic."""
    output.paragraph(found.opening(release))
    for number, outcome in enumerate(found.outcomes, start=1):
        output.labelled(f"{number:>2}  {outcome.finding.name:<{NAME}}", outcome.sentence)
    for name in found.idle:
        output.labelled(f"    {name:<{NAME}}", f"does not apply here{NEEDS.get(name, '')}.")
    if any(outcome.score for outcome in found.outcomes):
        _show_counts(found)
        _show_statistics(found)
    _show_assumptions(found)
    output.notes(found.warnings)


def _show_counts(found: AttackReport) -> None:
    """Print recall and precision by count and the accuracy on all cells, of attacks that estimate several counts."""
    shown = [each for each in found.outcomes if len(each.finding.estimate) >= SEVERAL and not each.finding.answers]
    if not shown:
        return
    typer.echo(f"\nRecall by true count, in percent: achieved (predicted){INTERVALS}")
    classes = [{share.name: share for share in outcome.by_count()} for outcome in shown]
    recalls = ([_recall(shares.get(name)) for name in CLASSES] for shares in classes)
    _show_rates(shown, CLASSES, RECALL, recalls)
    typer.echo(f"\nPrecision by estimated count, and accuracy on all cells, in percent{INTERVALS}")
    precisions = (
        [*(_percent(shares[name].precision if name in shares else None) for name in CLASSES), _accuracy(outcome)]
        for outcome, shares in zip(shown, classes, strict=True)
    )
    _show_rates(shown, (*CLASSES, "all cells"), PRECISION, precisions)


def _show_rates(
    shown: Sequence[AttackOutcome], heads: Iterable[str], wide: int, rates: Iterable[Sequence[str]]
) -> None:
    """Print a table with a line per attack."""
    columns = [("", f"<{NAME}"), *((head, f">{wide}") for head in heads)]
    output.table(columns, ([each.finding.name, *row] for each, row in zip(shown, rates, strict=True)))


def _accuracy(outcome: AttackOutcome) -> str:
    return _percent(outcome.score.whole.recall if outcome.score else None)


def _recall(share: ClassScore | None) -> str:
    """Return achieved and predicted recall, a dash where no cell has such a count."""
    if share is None:
        return "-"
    predicted = f" ({100 * share.predicted:.0f})" if share.predicted is not None else ""
    return f"{_percent(share.recall)}{predicted}"


def _percent(rate: Rate | None) -> str:
    """Return a rate, with its interval where cases are few; a dash where there is none."""
    if rate is None or not rate.cases:
        return "-"
    low, high = (f"{100 * end:.0f}" for end in rate.interval)
    return f"{100 * rate.share:.0f}" + (f" [{low}-{high}]" if rate.cases < FEW else "")


def _show_statistics(found: AttackReport) -> None:
    """Print the statistics that the best attack knows best."""
    best: AttackOutcome | None = next((each for each in found.outcomes if each.score and each.score.by_group()), None)
    if best is None or best.score is None:
        return
    typer.echo(f"\nBest known statistics ({best.finding.name}):")
    for share in best.score.by_group()[:MOST_STATISTICS]:
        low, high = share.recall.interval
        interval = f"  [{low:.0%} to {high:.0%}]" if share.recall.cases < FEW else ""
        typer.echo(f"{share.achieved:>7.1%} of {share.cells:>9,}  {share.name}{interval}")


def _show_assumptions(found: AttackReport) -> None:
    """Print what each attack rests on; variants of one attack share a line."""
    by_attack: dict[str, list[AttackEstimates]] = {}
    for outcome in found.outcomes:
        by_attack.setdefault(outcome.finding.attack, []).append(outcome.finding)
    assumed = {name: texts for name, those in by_attack.items() if (texts := output.assumptions(those))}
    if assumed:
        typer.echo("\nAssumed:")
    for name, texts in assumed.items():
        output.labelled(f"    {name:<{NAME}}", f"{texts}.")


def attack(
    release: options.ReleaseFolder,
    truth: options.Truth = None,
    attacks: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Attacks to mount, as projection,margins; all if left out."),
    ] = None,
    budget: options.Budget = str(BUDGET),
    known: Annotated[
        list[str] | None, typer.Option(metavar="STAT", help="A statistic whose true counts are public; repeatable.")
    ] = None,
    other: Annotated[
        Path | None, typer.Option(metavar="RELEASE", help="A second release of nearly the same persons.")
    ] = None,
    overlaps: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Which areas of two topics meet on the map.")
    ] = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="The attacker knows of the noise what release.json tells.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Makes runs repeatable.")] = 0,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Attack a release and compare what is learnt with the truth, the worst first.

    Example: discreet attack release --attacks posterior-projection,margins
    """
    names = None if attacks is None else [name.strip() for name in attacks.split(",")]
    with ProgressBars(shown=not quiet) as stages:
        found = attack_release(
            release,
            truth=truth,
            attacks=names,
            budget=target_cells(budget),
            seed=seed,
            public_only=public_only,
            known=known or (),
            other=other,
            overlaps=overlaps,
            progress=stages,
        )
    if as_json:
        settings = {
            "release": release,
            "truth": found.truth,
            "attacks": list(found.mounted),
            "budget": found.budget,
            "seed": found.seed,
            "public_only": found.public_only,
            "known": list(found.known),
            "other": other,
            "overlaps": overlaps,
        }
        output.answer("attack", settings, found.results, found.warnings, **found.to_json())
    else:
        show(found, str(release))


def target_cells(text: str) -> int | None:
    """Return a number of target cells; None for all."""
    if text == "none":
        return None
    found = text.strip().replace(",", "").replace("_", "")
    if not found.isdecimal() or not int(found):
        raise ParameterError(
            f"--budget is {text!r}. It counts target cells, not time: give a whole number such as {BUDGET}, or none.",
            parameter="budget",
        )
    return int(found)
