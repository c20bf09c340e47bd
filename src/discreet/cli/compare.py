"""`discreet compare`: several mechanisms on the same output, risk and utility side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.attacks.target_cells import BUDGET
from discreet.calibration.comparison import AT, BOUND, COMPARED_ATTACKS, VARIANCE
from discreet.calibration.comparison import compare as compare_mechanisms
from discreet.charts.rendering import save_chart
from discreet.cli import options, output
from discreet.cli.attack import target_cells
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.records.category_coding import MISSING
from discreet.reports.calibration_charts import LOSS, RISK, chart_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calibration.comparison import Comparison
    from discreet.reports.calibration_charts import ComparisonColumn

ALL_COMPARED = ",".join(COMPARED_ATTACKS)
CELL = 8
HEAD = 10
PASSED_OVER = ("the law is cut where it is rarer than", "the prediction takes as given")
"""How assumptions begin that change no figure that is shown."""


def show(found: Comparison, plot: Path | None) -> None:
    """Print a comparison; the table in two parts where the terminal is too narrow for one."""
    for sentence in (found.opening(), *found.sentences()):
        output.paragraph(sentence)
    whole = (*RISK, *LOSS)
    names = max(len(each.name) for each in found.compared) + 1
    for columns in [whole] if names + 12 + CELL * len(whole) <= output.width() else [RISK, LOSS]:
        _show_table(found, columns, names)
    typer.echo("")
    for column in whole:
        output.labelled(column.head, column.meaning, HEAD)
    typer.echo("\nAssumed:")
    for column in RISK:
        shown = [result for each in found.compared if (result := each.find(*column.names))]
        if assumed := output.assumptions(shown, without=PASSED_OVER):
            output.labelled(column.head, f"{assumed}.", HEAD)
    output.notes(found.warnings)
    if plot:
        typer.echo(f"Picture: {plot}")


def _show_table(found: Comparison, columns: Sequence[ComparisonColumn], names: int) -> None:
    """Print some columns, a line per mechanism."""
    rows = []
    for each in found.compared:
        bound = f"{each.record.bound:g}" if each.record.bound != float("inf") else "-"
        rows.append([each.name, f"{each.record.variance:.2f}", bound, *(column.told(each) for column in columns)])
    typer.echo("")
    heads = ((column.head, f">{CELL}") for column in columns)
    output.table([("", f"<{names}"), ("V", ">7"), ("E", ">5"), *heads], rows)


Records = Annotated[list[str] | None, typer.Option(metavar="D", help="Records, as for protect; may be repeated.")]
Mechanisms = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="As cell-key,geometric,fresh:laplace; all that are known if left out."),
]
Attacks = Annotated[str, typer.Option(metavar="A,B", help="Attacks to mount on every release, or none.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw risk and utility: PNG or SVG, by the ending.")]


def compare(
    programme: options.Tables,
    data: Records = None,
    mechanisms: Mechanisms = None,
    at: Annotated[str, typer.Option(metavar="HOW", help=f"{' or '.join(AT)}.")] = AT[0],
    variance: Annotated[float, typer.Option(metavar="V", help="Noise variance of the first mechanism.")] = VARIANCE,
    bound: Annotated[int, typer.Option(metavar="E", help="Bound of laws that can be bounded.")] = BOUND,
    ptable: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare this p-table first, with its variance and bound.")
    ] = None,
    id_column: options.IdColumn = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    tables: options.OnlyTables = None,
    unit: options.Unit = None,
    encoding: options.Encoding = None,
    missing: Annotated[str, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = MISSING[0],
    areas: options.Areas = None,
    attacks: Attacks = ALL_COMPARED,
    budget: options.Budget = str(BUDGET),
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of all that is random.")] = 0,
    plot: Plot = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a picture that exists.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish the same data with several mechanisms and compare risk and utility.

    Example: discreet compare small.toml --data persons.csv --id pid
    --mechanisms cell-key,geometric,fresh --at equal-risk
    """
    if not data:
        raise ParameterError("--data is missing: the records to publish. Example: --data persons.csv", parameter="data")
    output.check_picture(plot, replace=replace)
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
            missing=missing,
            encoding=encoding,
            areas=areas,
            attacks=() if attacks == "none" else _names(attacks),
            budget=target_cells(budget),
            seed=seed,
            progress=stages,
        )
    if plot:
        save_chart(chart_of(found), plot)
    if as_json:
        size = {"variance": variance, "bound": bound} if ptable is None else {"ptable": ptable}
        given = {"at": at, **size, "seed": seed}
        settings = {"programme": programme, "data": data, "mechanisms": [each.name for each in found.compared], **given}
        output.answer("compare", settings, found.results, found.warnings, **found.to_json(), plot=plot)
    else:
        show(found, plot)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
