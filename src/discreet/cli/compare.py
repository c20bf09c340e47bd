"""`discreet compare`: several mechanisms on the same output, risk and utility side by side."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from discreet.attacks.target_cells import BUDGET
from discreet.calibration.compare import AT, ATTACKS, BOUND, VARIANCE
from discreet.calibration.compare import compare as compare_mechanisms
from discreet.charts.compare import draw_comparison
from discreet.cli.answer import answer
from discreet.cli.attack import BUDGET_HELP, target_cells
from discreet.cli.compare_text import show
from discreet.cli.picture import check_picture
from discreet.cli.progress_bars import Stages
from discreet.errors import ParameterError
from discreet.records.coding import MISSING
from discreet.reports.comparison import chart_of


def compare(
    programme: Annotated[str, typer.Argument(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")],
    data: Annotated[
        list[str] | None, typer.Option(metavar="D", help="Records, as for protect; may be repeated.")
    ] = None,
    mechanisms: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="As cell-key,geometric,fresh:laplace; all that are known if left out."),
    ] = None,
    at: Annotated[str, typer.Option(metavar="HOW", help=f"{' or '.join(AT)}.")] = AT[0],
    variance: Annotated[float, typer.Option(metavar="V", help="Noise variance of the first mechanism.")] = VARIANCE,
    bound: Annotated[int, typer.Option(metavar="E", help="Bound of laws that can be bounded.")] = BOUND,
    id_column: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Ids, for cell keys.")] = None,
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="Or ready-made record keys.")] = None,
    count: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Persons a row stands for; tabulated data.")
    ] = None,
    tables: Annotated[str | None, typer.Option(metavar="A,B.*", help="Only these tables.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="What a record is; that of most tables.")] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of CSV files [default: utf-8].")
    ] = None,
    missing: Annotated[str, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = MISSING[0],
    areas: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC", help="Topic of areas [default: declared in the programme, or recognised by its name]."
        ),
    ] = None,
    attacks: Annotated[str, typer.Option(metavar="A,B", help="Attacks to mount on every release, or none.")] = ",".join(
        ATTACKS
    ),
    budget: Annotated[str, typer.Option(metavar="N", help=BUDGET_HELP)] = str(BUDGET),
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of all that is random.")] = 0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw risk beside utility.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a picture that exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Publish the same data with several mechanisms and compare risk and utility.

    Example: discreet compare small.toml --data persons.csv --id pid
    --mechanisms cell-key,geometric,fresh --at equal-risk
    """
    if not data:
        raise ParameterError("--data is missing: the records to publish. Example: --data persons.csv", parameter="data")
    if plot:
        check_picture(plot, replace=replace)
    with Stages(shown=not quiet, log=None) as stages:
        found = compare_mechanisms(
            data,
            programme,
            None if mechanisms is None else _names(mechanisms),
            at=at,
            variance=variance,
            bound=bound,
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
        draw_comparison(chart_of(found), plot)
    if as_json:
        settings: dict[str, Any] = {
            "programme": programme,
            "data": data,
            "mechanisms": [each.name for each in found.compared],
            "at": at,
            "variance": variance,
            "bound": bound,
            "seed": seed,
        }
        own = {"contenders": [each.to_json() for each in found.compared], "plot": None if plot is None else str(plot)}
        typer.echo(answer("compare", settings, found.results, found.warnings, **own))
    else:
        show(found, plot)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
