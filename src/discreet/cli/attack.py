"""`discreet attack`: the success of attacks on a release, compared with predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.cli.choices import TARGET_CELLS
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.verdicts import AVERAGING, BOUND, MARGINS, Verdict, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attack_report import AttackOutcome, AttackReport
    from discreet.attacks.scoring import ClassScore, Rate
    from discreet.verdicts import Criterion, Decision

NEEDS = {
    "bi-partitions": ": it needs a query interface, from Python",
    "complement": ": no table counts a part of the population of another",
    "slivers": ": it needs --overlaps",
    "two-releases": ": it needs --other",
}
MOST_STATISTICS = 5
FEW = 100
"""Cases below which no rate is printed without its interval."""
NAME = 28
FAMILY = 22
RECALL, PRECISION = 15, 13
"""Widths of columns by count."""
INTERVALS = f"; below {FEW} cases [95 % interval]"
SEVERAL = 2
"""Number of estimates from which on rates by true count are printed."""


def show(found: AttackReport, release: str, judged: Decision) -> None:
    """Print one screen: the decision, then one line per attack, the most successful first."""
    screen = output.Screen()
    screen.decision(judged, release)
    verdicts = {each.criterion: each.verdict for each in judged.checks}
    families: dict[str, AttackOutcome] = {}
    for outcome in found.outcomes:
        families.setdefault(outcome.finding.attack, outcome)
    lines = [_family(name, outcome, verdicts) for name, outcome in families.items()]
    lines += [
        output.verdict_lines(Verdict.NOT_ASSESSED, f"{name:<{FAMILY}}does not apply{NEEDS.get(name, '')}", FAMILY + 2)
        for name in found.idle
    ]
    scored = f"scored against {found.truth}" if found.truth else "not scored: no true counts"
    screen.lines(f"Exact recovery rate by attack, {scored}", lines)
    known = f"the true counts of {' and '.join(found.known)}, and " if found.known else ""
    noise = "the disclosed noise parameters only" if found.public_only else "the noise distribution, not the keys"
    screen.text(f"Attacker model: knows {known}{noise}.")
    screen.items("Notes", found.warnings)
    screen.text(output.MORE)
    screen.show()


def _family(name: str, outcome: AttackOutcome, verdicts: dict[Criterion, Verdict]) -> list[str]:
    """Return the line of one attack: its verdict, the exact recovery rate and the rate without the attack."""
    from discreet.attacks.attack_verdicts import CERTAIN, LINEAR, rate_text

    criterion = {"bound": BOUND, "margins": MARGINS}.get(name, AVERAGING)
    verdict = verdicts[criterion]
    if criterion is AVERAGING and (name not in LINEAR or verdict is not Verdict.MISSES):
        verdict = Verdict.NO_TARGET
    if criterion is MARGINS and outcome.finding.name != CERTAIN:
        # The target is on certain counts, not on the rate of the posterior.
        verdict = Verdict.NO_TARGET
    if outcome.score is None or outcome.finding.sentence is not None:
        text = outcome.sentence.partition(". ")[0].rstrip(".")
    else:
        rate = outcome.headline()
        naive = "" if rate.naive is None else f" (reading: {percent(rate.naive / max(rate.cells, 1))})"
        text = f"{rate_text(rate.recall)} of {rate.cells:,} {outcome.finding.subject}{naive}"
    return output.verdict_lines(verdict, f"{name:<{FAMILY}}{text}", FAMILY + 2)


def show_details(found: AttackReport, release: str, judged: Decision) -> None:
    """Print the decision and all outcomes: sentences, then figures by true count and by statistic."""
    screen = output.Screen()
    screen.decision(judged, release)
    screen.show()
    output.paragraph(found.opening(release))
    for number, outcome in enumerate(found.outcomes, start=1):
        output.labelled(f"{number:>2}  {outcome.finding.name:<{NAME}}", outcome.sentence)
    for name in found.idle:
        output.labelled(f"    {name:<{NAME}}", f"does not apply{NEEDS.get(name, '')}.")
    if any(outcome.score for outcome in found.outcomes):
        _show_counts(found)
        _show_statistics(found)
    _show_assumptions(found)
    output.notes(found.warnings)


def _show_counts(found: AttackReport) -> None:
    """Print recall and precision by count and the accuracy on all cells, of attacks that estimate several counts."""
    from discreet.attacks.scoring import CLASSES

    shown = [each for each in found.outcomes if len(each.finding.estimate) >= SEVERAL and not each.finding.answers]
    if not shown:
        return
    typer.echo("")
    output.paragraph(f"Recall by true count, in percent: achieved (predicted){INTERVALS}")
    classes = [{share.name: share for share in outcome.by_count()} for outcome in shown]
    recalls = ([_recall(shares.get(name)) for name in CLASSES] for shares in classes)
    _show_rates(shown, CLASSES, RECALL, recalls)
    typer.echo("")
    output.paragraph(f"Precision by estimated count, and accuracy on all cells, in percent{INTERVALS}")
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
    """Return a rate, with its interval where cases are few; a dash without cases."""
    if rate is None or not rate.cases:
        return "-"
    low, high = (f"{100 * end:.0f}" for end in rate.interval)
    return f"{100 * rate.share:.0f}" + (f" [{low}-{high}]" if rate.cases < FEW else "")


def _show_statistics(found: AttackReport) -> None:
    """Print the statistics with the highest exact recovery rate of the best attack."""
    best: AttackOutcome | None = next((each for each in found.outcomes if each.score and each.score.by_group()), None)
    if best is None or best.score is None:
        return
    from discreet.attacks.attack_verdicts import rate_text

    typer.echo("")
    output.paragraph(f"Most exposed statistics ({best.finding.name}), exact recovery rate:")
    for share in best.score.by_group()[:MOST_STATISTICS]:
        output.paragraph(f"{rate_text(share.recall)} of {share.cells:,}: {share.name}", "  ", "    ")


def _show_assumptions(found: AttackReport) -> None:
    """Print the assumptions of each attack; variants of one attack share a line."""
    by_attack: dict[str, list[AttackEstimates]] = {}
    for outcome in found.outcomes:
        by_attack.setdefault(outcome.finding.attack, []).append(outcome.finding)
    assumed = {name: texts for name, those in by_attack.items() if (texts := output.assumptions(those))}
    if assumed:
        typer.echo("\nAssumptions:")
    for name, texts in assumed.items():
        output.labelled(f"    {name:<{NAME}}", f"{texts}.")


def attack(
    release: options.ReleaseFolder,
    truth: options.Truth = None,
    attacks: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Attacks to run, comma-separated, e.g. projection,margins [default: all]."),
    ] = None,
    target: options.Targets = None,
    budget: options.Budget = str(TARGET_CELLS),
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="STATISTIC", help="Statistic whose true counts are public [default: none]. Repeatable."),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(metavar="RELEASE", help="Second release of nearly the same persons, for the attack two-releases."),
    ] = None,
    overlaps: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="CSV of areas of two topics that overlap, for the attack slivers."),
    ] = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="Attacker model: knows only the noise parameters in release.json.")
    ] = False,
    seed: options.Seed = 0,
    details: options.Details = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Attack a release and compare the estimates with the true counts.

    Example: discreet attack release --attacks posterior-projection,margins
    """
    from discreet.attacks.attack_run import attack as attack_release

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
            targets=target,
            progress=stages,
        )
    judged = found.decision
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
    elif details and not quiet:
        show_details(found, str(release), judged)
    elif not quiet:
        show(found, str(release), judged)


def target_cells(text: str) -> int | None:
    """Return the number of target cells; None for all."""
    if text == "none":
        return None
    found = text.strip().replace(",", "").replace("_", "")
    if not found.isdecimal() or not int(found):
        raise ParameterError(
            f"--budget is {text!r}. It is a number of target cells, not a time: give a whole number such as "
            f"{TARGET_CELLS}, or none.",
            parameter="budget",
        )
    return int(found)
