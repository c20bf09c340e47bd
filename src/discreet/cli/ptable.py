"""`discreet ptable`: make a p-table, show one with a small bar picture of every row, convert one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from discreet.cli import options, output
from discreet.errors import ParameterError
from discreet.noise.formats.ptable_files import format_for, read_ptable, write_ptable
from discreet.noise.formats.ptable_format import FORMATS
from discreet.noise.parameters import parameters
from discreet.noise.ptable import KEY_SPACE
from discreet.noise.ptable import ptable as make_ptable
from discreet.noise.ptable_settings import OBJECTIVES, PTableSettings
from discreet.noise.sentences import results, warnings
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable import PTable, PTableRow
    from discreet.results import Result

MOST_ROWS = 24
WIDEST_PICTURE = 41
BLOCKS = " ▁▂▃▄▅▆▇█"
LETTERS = " .:-=+*%#"
"""The same heights for terminals that cannot print blocks."""


def describe(ptable: PTable) -> str:
    """Return one line on what the table is."""
    wish = ptable.settings
    parts = []
    if wish:
        kind = "exactly" if wish.equality else "up to"
        parts.append(f"variance {kind} {wish.variance:g}")
    parts.append(f"bound ±{ptable.bound}")
    if wish and wish.threshold:
        forbidden = "1" if wish.threshold == 1 else f"1 to {wish.threshold}"
        parts.append(f"no published {forbidden}")
    parts.append("zeros are perturbed" if ptable.perturbs_zeros else "zeros stay zero")
    if wish and wish.objective != "entropy":
        parts.append(f"objective {wish.objective}")
    last = len(ptable.rows) - 1
    if ptable.repeat == 1:
        serves = f"the last serves every count of {last} or more"
    else:
        serves = f"counts above {last} take rows {last - ptable.repeat + 1} to {last} in turn"
    return f"p-table: {', '.join(parts)}. {len(ptable.rows)} rows; {serves}. Key space {ptable.key_space}."


def table(ptable: PTable) -> str:
    """Return the rows as a table: mean, variance, shortfall, standard deviation, stay, picture."""
    short = ptable.shortfalls()
    marks = BLOCKS if _prints_blocks() else LETTERS
    width = min(2 * ptable.bound + 1, WIDEST_PICTURE)
    scale = f"-{ptable.bound}".ljust(width // 2) + "0" + f"+{ptable.bound}".rjust(width - width // 2 - 1)
    scale = scale if ptable.bound > 1 else "noise"
    lines = [f"{'count':>6} {'mean':>8} {'variance':>9} {'short of':>9} {'sd':>6} {'stays':>6}  {scale}"]
    shown = list(ptable.rows)
    if len(shown) > MOST_ROWS:
        shown = [*shown[: MOST_ROWS - 2], *shown[-1:]]
    for before, row in zip([None, *shown], shown, strict=False):
        if before and row.count != before.count + 1:
            lines.append(f"{'..':>6} ({row.count - before.count - 1} rows)")
        name = f"{row.count}+" if row is ptable.rows[-1] and ptable.repeat == 1 else str(row.count)
        missing = f"{short[row.count]:.4f}" if row.count in short else "-" if ptable.settings else "?"
        lines.append(
            f"{name:>6} {_small(row.mean):>8} {row.variance:>9.4f} {missing:>9} {row.variance**0.5:>6.2f} "
            f"{row.stay:>6.3f}  {picture(row, ptable.bound, marks)}".rstrip()
        )
    return "\n".join(lines)


def picture(row: PTableRow, bound: int, marks: str = BLOCKS) -> str:
    """Return a bar per noise from -bound to bound, joined to bins where they are too many."""
    noise = np.arange(-bound, bound + 1)
    probability = row.pmf(noise)
    if len(noise) > WIDEST_PICTURE:
        edges = np.linspace(0, len(noise), WIDEST_PICTURE + 1).astype(int)
        probability = np.add.reduceat(probability, edges[:-1]) / np.diff(edges)
    height = probability / probability.max() * (len(marks) - 1)
    return "".join(marks[int(np.ceil(h))] if h > 1e-6 else marks[0] for h in height)


def closing(results: Sequence[Result], warnings: Sequence[str]) -> str:
    """Return the sentences under the table."""
    return "\n".join([*(result.sentence for result in results), *(f"Warning: {warning}" for warning in warnings)])


def _small(mean: float) -> str:
    """Return a mean, 0 where it is only rounding."""
    if abs(mean) < 1e-12:
        return "0"
    return f"{mean:.4f}" if abs(mean) >= 1e-4 else f"{mean:.1e}"


def _prints_blocks() -> bool:
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, add_completion=False)

_HELP = {name: declared.help() for name, declared in parameters(PTableSettings).items()}
_FORMATS = "csv, toml, tauargus, sas, cellkey or ons"


Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the rows: PNG or SVG, by the ending.")]
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
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
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
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
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
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert a p-table file to another format, on that format's own grid."""
    name = to or format_for(target)
    before = read_ptable(source)
    fitted = before.on_grid(_key_space(key_space, target, name)) if key_space is not None else before
    after = write_ptable(fitted, target, name, replace=replace)
    wish = {"in": str(source), "out": str(target), "to": name}
    if as_json:
        _print_json(after, "ptable convert", wish)
        return
    grid = (
        "the same key space" if after.key_space == before.key_space else f"rounded again from {before.key_space} keys"
    )
    typer.echo(f"{source.name} -> {target.name}: {len(after.rows)} rows on {after.key_space} keys ({grid}).")
    typer.echo(closing([], warnings(after)), nl=bool(warnings(after)))


def _key_space(asked: int | None, out: Path | None, format_name: str | None) -> int:
    """Return the key space to make a table on: the one asked for, if the format can hold it."""
    grids = FORMATS.get(format_name or format_for(out)).grids if out else ()
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
    output.check_picture(plot, replace=replace)
    if out and plot and out.absolute() == plot.absolute():
        raise ParameterError("--out and --plot name the same file. Give each its own.", parameter="plot")
    if out:
        check_writable(out, replace=replace)


def _show(
    made: PTable, command: str, wish: dict[str, Any], *, plot: Path | None, out: Path | None, as_json: bool
) -> None:
    if plot:
        from discreet.charts.panel_charts import ptable_chart
        from discreet.charts.rendering import save_chart

        save_chart(ptable_chart(made), plot)
    if as_json:
        _print_json(made, command, wish)
        return
    typer.echo(describe(made))
    typer.echo(table(made))
    typer.echo(closing(results(made), warnings(made)))
    for path in (out, plot):
        if path:
            typer.echo(f"Wrote {path}.")


def _print_json(made: PTable, command: str, wish: dict[str, Any]) -> None:
    output.answer(
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
