"""`discreet ptable`: make a p-table, show one, convert one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.answer import answer
from discreet.cli.picture import check_picture
from discreet.cli.ptable_text import closing, describe, table
from discreet.errors import ParameterError
from discreet.noise.formats.ptable_files import format_for, read_ptable, write_ptable
from discreet.noise.formats.registry import format_named
from discreet.noise.parameters import parameters
from discreet.noise.ptable import KEY_SPACE
from discreet.noise.ptable import ptable as make_ptable
from discreet.noise.ptable_settings import OBJECTIVES, PTableSettings
from discreet.noise.sentences import results, warnings
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from discreet.noise.ptable import PTable

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, add_completion=False)

_HELP = {name: declared.help() for name, declared in parameters(PTableSettings).items()}
_FORMATS = "csv, toml, tauargus, sas, cellkey or ons"


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the rows as a picture.")]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite files that exist.")]
KeySpace = Annotated[
    int | None, typer.Option("--key-space", metavar="K", help="Number of keys; 2^32 unless the format has its own.")
]


@app.callback()
def ptable(
    context: typer.Context,
    variance: Annotated[float | None, typer.Option(metavar="V", help=_HELP["variance"])] = None,
    bound: Annotated[int | None, typer.Option(metavar="E", help=_HELP["bound"])] = None,
    threshold: Annotated[int, typer.Option(metavar="J", help=_HELP["threshold"])] = 0,
    stay: Annotated[float, typer.Option(metavar="P", help=_HELP["stay"])] = 0.0,
    floor: Annotated[float, typer.Option(metavar="P", help=_HELP["floor"])] = 0.0,
    equality: Annotated[bool, typer.Option("--equality", help="Variance exactly V instead of at most V.")] = False,
    monotone: Annotated[bool, typer.Option("--monotone", help="Probabilities rise up to a change of 0.")] = False,
    perturb_zeros: Annotated[
        bool, typer.Option("--perturb-zeros", help="Give empty cells noise too; counts may become negative.")
    ] = False,
    objective: Annotated[str, typer.Option(metavar="GOAL", help=f"{' or '.join(OBJECTIVES)}.")] = OBJECTIVES[0],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the p-table to a file.")] = None,
    format_name: Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=f"{_FORMATS}.")] = None,
    key_space: KeySpace = None,
    plot: Plot = None,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Make a p-table: one law of noise per true count, from variance and bound.

    Example: discreet ptable --variance 2 --bound 5 --out ptable.csv
    """
    if context.invoked_subcommand:
        _refuse_options_before(context)
        return
    for name, value in (("--variance", variance), ("--bound", bound)):
        if value is None:
            raise ParameterError(f"{name} is missing. Example: discreet ptable --variance 2 --bound 5", parameter=name)
    wish = {
        "variance": variance,
        "bound": bound,
        "threshold": threshold,
        "stay": stay,
        "floor": floor,
        "equality": equality,
        "monotone": monotone,
        "perturb_zeros": perturb_zeros,
        "objective": objective,
    }
    if format_name and not out:
        raise ParameterError(
            "--format says how to write a file, but no file is named. Add --out FILE.", parameter="out"
        )
    _refuse_overwriting(out, plot, replace=replace)
    made = make_ptable(key_space=_key_space(key_space, out, format_name), **wish)
    if out:
        made = write_ptable(made, out, format_name, replace=replace)
    _show(made, "ptable", wish, plot=plot, out=out, as_json=as_json)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A p-table in any format we know.")],
    plot: Plot = None,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Show a p-table file: rows, moments and what it tells about true 1s."""
    _refuse_overwriting(None, plot, replace=replace)
    found = read_ptable(file)
    wish = asdict(found.settings) if found.settings else {}
    _show(found, "ptable show", {"file": str(file), **wish}, plot=plot, out=None, as_json=as_json)


@app.command("convert")
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A p-table in any format we know.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    to: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help=f"{_FORMATS}; from OUT's ending.")] = None,
    key_space: KeySpace = None,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Convert a p-table file to another format, on that format's own grid."""
    name = to or format_for(target)
    before = read_ptable(source)
    fitted = before.on_grid(_key_space(key_space, target, name)) if key_space is not None else before
    after = write_ptable(fitted, target, name, replace=replace)
    wish = {"in": str(source), "out": str(target), "to": name}
    if as_json:
        typer.echo(_json(after, "ptable convert", wish))
        return
    grid = (
        "the same key space" if after.key_space == before.key_space else f"rounded again from {before.key_space} keys"
    )
    typer.echo(f"{source.name} -> {target.name}: {len(after.rows)} rows on {after.key_space} keys ({grid}).")
    typer.echo(closing([], warnings(after)), nl=bool(warnings(after)))


def _key_space(asked: int | None, out: Path | None, format_name: str | None) -> int:
    """Return the key space to make a table on: the one asked for, if the format can hold it."""
    grids = format_named(format_name or format_for(out)).grids if out else ()
    if asked is not None and grids and asked not in grids:
        allowed = " or ".join(map(str, grids))
        raise ParameterError(
            f"--key-space {asked} does not fit the format, which has {allowed} keys. Leave it out or use {allowed}.",
            parameter="key_space",
        )
    return asked if asked is not None else (grids[0] if grids else KEY_SPACE)


def _refuse_options_before(context: typer.Context) -> None:
    """Refuse options that stand before a subcommand, where nothing would read them."""
    given = [p.opts[0] for p in context.command.params if p.name and context.params.get(p.name) != p.default]
    if given:
        verb = context.invoked_subcommand
        raise ParameterError(
            f"{given[0]} stands before {verb}. Write it after: discreet ptable {verb} ..", parameter=given[0]
        )


def _refuse_overwriting(out: Path | None, plot: Path | None, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it."""
    if plot:
        check_picture(plot, replace=replace)
    if out and plot and out.absolute() == plot.absolute():
        raise ParameterError("--out and --plot name the same file. Give each its own.", parameter="plot")
    if out:
        check_writable(out, replace=replace)


def _show(
    made: PTable, command: str, wish: dict[str, Any], *, plot: Path | None, out: Path | None, as_json: bool
) -> None:
    if plot:
        from discreet.charts.ptable import draw_ptable

        draw_ptable(made, plot)
    if as_json:
        typer.echo(_json(made, command, wish))
        return
    typer.echo(describe(made))
    typer.echo(table(made))
    typer.echo(closing(results(made), warnings(made)))
    for path in (out, plot):
        if path:
            typer.echo(f"Wrote {path}.")


def _json(made: PTable, command: str, wish: dict[str, Any]) -> str:
    return answer(
        command,
        wish,
        results(made),
        warnings(made),
        feasible=True,
        key_space=made.key_space,
        mean_per_row=[row.mean for row in made.rows],
        second_moment_per_row=[row.second_moment for row in made.rows],
        variance_per_row=[row.variance for row in made.rows],
        variance_on_keys=[float(row.variance) for row in made.rounded],
        rows=made.records(),
    )
