"""`discreet design`: which noise a programme needs, and why."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.calibration.constraints import ATTACKERS
from discreet.calibration.noise_design import CUTS, MAX_BOUND
from discreet.calibration.noise_design import design as design_noise
from discreet.charts.figure_files import check_figures
from discreet.cli.answer import answer
from discreet.cli.design_text import settings_text, show
from discreet.cli.picture import check_picture
from discreet.cli.progress_bars import Stages
from discreet.errors import ParameterError
from discreet.programme.lattice import RULES
from discreet.records.coding import MISSING
from discreet.reports.design_picture import draw_design, draw_plane
from discreet.risk.averaging import ONE_SIGMA
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from discreet.calibration.noise_design import Design


def design(
    programme: Annotated[str, typer.Argument(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")],
    confidence: Annotated[
        float, typer.Option(metavar="A", help="Success an attacker may have: more is less noise.")
    ] = ONE_SIGMA,
    max_bound: Annotated[int, typer.Option(metavar="E", help="Largest noise that users accept.")] = MAX_BOUND,
    attacker: Annotated[str, typer.Option(metavar="WHO", help=f"{' or '.join(ATTACKERS)}.")] = ATTACKERS[0],
    rule: Annotated[str, typer.Option(metavar="RULE", help=f"Counting of levels: {' or '.join(RULES)}.")] = RULES[0],
    known: Annotated[str | None, typer.Option(metavar="STATISTIC", help="A statistic that is public anyway.")] = None,
    population: Annotated[str | None, typer.Option(metavar="WHAT", help="Only the tables that count this.")] = None,
    hide_bound: Annotated[
        bool, typer.Option("--hide-bound/--no-hide-bound", help="Whether the bound is to stay hidden.")
    ] = True,
    areas: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC", help="Topic of areas [default: declared in the programme, or recognised by its name]."
        ),
    ] = None,
    cuts: Annotated[int, typer.Option(metavar="N", help="Cuts of the output to take; 0 for none.")] = CUTS,
    closed_form: Annotated[
        bool, typer.Option("--closed-form", help="Closed form for equal blocks instead of exact solutions; faster.")
    ] = False,
    data: Annotated[
        list[str] | None, typer.Option(metavar="D", help="Records to try it on, as for protect; may be repeated.")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Ids, for cell keys.")] = None,
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="Or ready-made record keys.")] = None,
    count: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Persons a row stands for; tabulated data.")
    ] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="What a record is; that of most tables.")] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of CSV files [default: utf-8].")
    ] = None,
    missing: Annotated[str | None, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = None,
    out_settings: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings for protect --settings.")] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the constraints and what is left.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="DIR", help="Every chart as PNG and SVG.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite files that exist.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Say which noise a programme of tables needs, and why.

    Example: discreet design eu2021:LU --attacker paper --out-settings design.toml
    """
    if out_settings:
        check_writable(out_settings, replace=replace)
    if plot:
        check_picture(plot, replace=replace)
    if figures:
        check_figures(figures, replace=replace)
    reading = {
        "id": id_column, "key": key, "count": count, "unit": unit, "missing": missing, "encoding": encoding,
    }  # fmt: skip
    idle = next((name for name, value in reading.items() if value is not None), None)
    if not data and idle:
        raise ParameterError(f"--{idle} is about records, and there are none. Give --data too.", parameter=idle)
    about_records: dict[str, Any] = {**reading, "missing": missing or MISSING[0]} if data else {}
    with Stages(shown=not quiet, log=None) as stages:
        found = design_noise(
            programme,
            data=data or None,
            confidence=confidence,
            max_bound=max_bound,
            attacker=attacker,
            rule=rule,
            known=known,
            population=population,
            areas=areas,
            hide_bound=hide_bound,
            cuts=cuts,
            closed_form=closed_form,
            progress=stages,
            **about_records,
        )
    asked = {
        "programme": programme,
        "data": data,
        "confidence": confidence,
        "max_bound": max_bound,
        "attacker": attacker,
        "rule": rule,
        "known": known,
        "population": population,
        "areas": areas,
        "hide_bound": hide_bound,
        "cuts": cuts,
        "closed_form": closed_form,
    }
    if plot:
        draw_plane(found, plot)
    drawn = draw_design(found, figures) if figures else ()
    if out_settings and found.feasible:
        write_whole(out_settings, settings_text(found, asked, out_settings).encode())
    if as_json:
        files = {
            "out_settings": str(out_settings) if out_settings and found.feasible else None,
            "plot": None if plot is None else str(plot),
            "figures": [str(path) for path in drawn],
        }
        typer.echo(answer("design", asked, found.results, found.warnings, **found.to_json(), **files))
    else:
        settings = out_settings if found.feasible else None
        noise = f"--settings {settings}" if settings else _noise(found, programme)
        protect = f"{' '.join(data or ['DATA'])} {noise} --id {id_column or 'COLUMN'}"
        show(found, protect, settings, [path for path in (plot, figures) if path])
    if out_settings and not found.feasible:
        # The answer has been given, but who waits for the file must not go on without it.
        typer.echo(f"error: {out_settings} was not written: the constraints leave no setting. Relax one.", err=True)
        raise typer.Exit(2)


def _noise(found: Design, programme: str) -> str:
    """Return the flags of `protect` for the setting that is recommended."""
    if found.recommended is None:
        return ""
    return f"--programme {programme} --variance {found.recommended.variance:.10g} --bound {found.recommended.bound}"
