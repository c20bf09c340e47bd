"""`discreet compare`: several mechanisms on the same output, risk and utility side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.cli.attack import target_cells
from discreet.cli.choices import (
    COMPARED_AT,
    COMPARED_ATTACKS,
    COMPARED_BOUND,
    COMPARED_VARIANCE,
    MISSING,
    TARGET_CELLS,
)
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.verdicts import AVERAGING, Policy, Verdict, check, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calibration.comparison import Comparison, MechanismResult
    from discreet.reports.calibration_charts import ComparisonColumn
    from discreet.verdicts import Check

ALL_COMPARED = ",".join(COMPARED_ATTACKS)
CELL = 8
HEAD = 10
PASSED_OVER = ("the law is cut where it is rarer than", "the prediction takes as given")
"""Beginnings of assumptions that change no printed figure."""
FORMULA = "formula"
"""The column of the figure that has a target."""


def checks(found: Comparison, policy: Policy) -> list[Check]:
    """Return the check of the averaging risk of every mechanism."""
    results = [each.find("averaging_success") for each in found.compared]
    return [
        check(policy, AVERAGING, each.value if each else None, each.sentence if each else "It was not computed.")
        for each in results
    ]


def _headline(judged: Sequence[Check]) -> tuple[Verdict, str]:
    """Return the verdict on all mechanisms: mixed where some meet the target and others miss it."""
    met = sum(each.verdict is Verdict.MEETS for each in judged)
    verdict = Verdict.MEETS if met == len(judged) else Verdict.NO_TARGET if met else Verdict.MISSES
    target = percent(judged[0].target or 0.0)
    return verdict, f"{met} of {len(judged)} mechanisms meet the averaging target of {target}"


def show(found: Comparison, judged: Sequence[Check], plot: Path | None) -> None:
    """Print one screen: the verdict, a line per mechanism, and the main findings."""
    from discreet.reports.calibration_charts import LOSS, RISK

    screen = output.Screen()
    screen.headline(*_headline(judged), found.programme)
    names = max(len(each.name) for each in found.compared) + 2
    room = (output.width() - names - 15) // CELL
    # The judged risk first, then risk and utility in turn.
    first = [each for each in RISK if each.head == FORMULA]
    turns = [each for pair in zip(RISK[1:3], LOSS[:3:2], strict=True) for each in pair]
    columns = [*first, *turns, *LOSS[-1:]][:room]
    head = f"  {'':<{names}}{'V':>7}{'E':>5}" + "".join(f"{each.head:>{CELL}}" for each in columns)
    lines = []
    for each, one in zip(found.compared, judged, strict=True):
        cells = "".join(f"{cell:>{CELL}}" for cell in _cells(each, columns))
        variance, bound = _size(each)
        line = f"{one.verdict.shape} {each.name:<{names}}{variance:>7}{bound:>5}{cells}"
        lines.append([output.coloured(one.verdict, line[0]) + line[1:]])
    screen.lines(head, lines)
    screen.items("Findings", found.sentences())
    screen.items("Columns", (f"{each.head}: {each.meaning}" for each in columns))
    screen.items("Notes", found.warnings)
    if plot:
        screen.whole(f"Chart: {plot}")
    screen.text(output.MORE)
    screen.show()


def show_details(found: Comparison, judged: Sequence[Check], plot: Path | None) -> None:
    """Print a comparison in full: all columns, their meanings and assumptions."""
    from discreet.reports.calibration_charts import LOSS, RISK

    screen = output.Screen()
    screen.headline(*_headline(judged), found.programme)
    screen.show()
    for sentence in (found.opening(), *found.sentences()):
        output.paragraph(sentence)
    typer.echo("")
    whole = (*RISK, *LOSS)
    names = max(len(each.name) for each in found.compared) + 1
    heads = ((column.head, f">{CELL}") for column in whole)
    rows = [[each.name, *_size(each), *_cells(each, whole)] for each in found.compared]
    output.table([("", f"<{names}"), ("V", ">7"), ("E", ">5"), *heads], rows)
    typer.echo("")
    for column in whole:
        output.labelled(column.head, column.meaning, HEAD)
    typer.echo("\nAssumptions:")
    for column in RISK:
        shown = [result for each in found.compared if (result := each.find(*column.names))]
        if assumed := output.assumptions(shown, without=PASSED_OVER):
            output.labelled(column.head, f"{assumed}.", HEAD)
    output.notes(found.warnings)
    if plot:
        typer.echo(f"Chart: {plot}")


def _size(each: MechanismResult) -> tuple[str, str]:
    """Return the variance and the bound of a mechanism."""
    bound = f"{each.record.bound:g}" if each.record.bound != float("inf") else "-"
    return f"{each.record.variance:.2f}", bound


def _cells(each: MechanismResult, columns: Sequence[ComparisonColumn]) -> list[str]:
    """Return the figures of a mechanism; a dash where it has none."""
    values = [each.value(*column.names) for column in columns]
    return ["-" if value is None else column.form.format(value) for column, value in zip(columns, values, strict=True)]


Mechanisms = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Mechanisms, comma-separated, e.g. cell-key,fresh:laplace [default: all]."),
]
Attacks = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        show_default=False,
        help=f"Attacks on every release, comma-separated, or none [default: {', '.join(COMPARED_ATTACKS)}].",
    ),
]
At = Annotated[
    str,
    typer.Option(
        metavar="HOW", help=f"Quantity held equal: {' or '.join(COMPARED_AT)}, relative to the first mechanism."
    ),
]


def compare(
    programme: options.Tables,
    data: options.Records = None,
    mechanisms: Mechanisms = None,
    at: At = COMPARED_AT[0],
    variance: Annotated[
        float, typer.Option(metavar="V", help="Noise variance of one count under the first mechanism.")
    ] = COMPARED_VARIANCE,
    bound: Annotated[
        int, typer.Option(metavar="E", help="Bound of the distributions that can be bounded.")
    ] = COMPARED_BOUND,
    ptable: Annotated[
        Path | None, typer.Option(metavar="FILE", help="p-table to compare first, with its variance and bound.")
    ] = None,
    target: options.Targets = None,
    id_column: options.IdColumn = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    tables: options.OnlyTables = None,
    unit: options.Unit = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    areas: options.Areas = None,
    attacks: Attacks = ALL_COMPARED,
    budget: options.Budget = str(TARGET_CELLS),
    seed: options.Seed = 0,
    plot: options.Plot = None,
    replace: options.ReplaceFile = False,
    details: options.Details = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish the same data with several mechanisms and compare risk and utility.

    Example: discreet compare small.toml --data persons.csv --id pid
    --mechanisms cell-key,geometric,fresh --at equal-risk
    """
    from discreet.calibration.comparison import compare as compare_mechanisms
    from discreet.charts.rendering import save_chart
    from discreet.reports.calibration_charts import chart_of

    policy = Policy.of(target).restricted("compare", (AVERAGING,))
    if not data:
        raise ParameterError("--data is missing: the records to publish. Example: --data persons.csv", parameter="data")
    output.check_picture(plot, replace=replace)
    output.OUTPUTS.expect(plot)
    with ProgressBars(shown=not quiet) as stages:
        found = compare_mechanisms(
            data,
            programme,
            None if mechanisms is None else _names(mechanisms),
            at=at,
            variance=variance,
            bound=bound,
            ptable=ptable,
            id=id_column,
            key=key,
            count=count,
            tables=None if tables is None else _names(tables),
            unit=unit,
            missing=missing or MISSING[0],
            encoding=encoding,
            areas=areas,
            attacks=() if attacks == "none" else _names(attacks),
            budget=target_cells(budget),
            seed=seed,
            progress=stages,
        )
    judged = checks(found, policy)
    if plot:
        save_chart(chart_of(found), plot)
    if as_json:
        size = {"variance": variance, "bound": bound} if ptable is None else {"ptable": ptable}
        given = {"at": at, **size, "seed": seed}
        settings = {"programme": programme, "data": data, "mechanisms": [each.name for each in found.compared], **given}
        own = {"targets": policy.to_json((AVERAGING,)), "checks": [each.to_json() for each in judged], "plot": plot}
        output.answer("compare", settings, found.results, found.warnings, **found.to_json(), **own)
    elif details and not quiet:
        show_details(found, judged, plot)
    elif not quiet:
        show(found, judged, plot)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
