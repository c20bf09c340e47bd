"""`discreet ptable`: make a p-table, show one with a bar chart of every row, convert one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.choices import OBJECTIVES, PTABLE_FORMATS
from discreet.cli.help import PanelCommand, PanelGroup
from discreet.errors import ParameterError
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable import PTable, PTableRow
    from discreet.results import Result

MOST_ROWS = 24
WIDEST_PICTURE = 41
FIGURES = 51
"""Columns of the figures of a row."""
BLOCKS = " ▁▂▃▄▅▆▇█"
LETTERS = " .:-=+*%#"
"""The same heights for terminals without block characters."""


def describe(ptable: PTable) -> str:
    """Return one line with the settings and the rows of a p-table."""
    settings = ptable.settings
    parts = []
    if settings:
        kind = "exactly" if settings.equality else "up to"
        parts.append(f"variance {kind} {settings.variance:g}")
    parts.append(f"bound ±{ptable.bound}")
    if settings and settings.threshold:
        forbidden = "1" if settings.threshold == 1 else f"1 to {settings.threshold}"
        parts.append(f"no published {forbidden}")
    parts.append("empty cells have noise" if ptable.perturbs_zeros else "empty cells stay 0")
    if settings and settings.objective != "entropy":
        parts.append(f"objective {settings.objective}")
    last = len(ptable.rows) - 1
    if ptable.repeat == 1:
        serves = f"the last applies to every count of {last} or more"
    else:
        serves = f"counts above {last} use rows {last - ptable.repeat + 1} to {last} in turn"
    return f"p-table: {', '.join(parts)}. {len(ptable.rows)} rows; {serves}. Key space {ptable.key_space}."


def table(ptable: PTable) -> str:
    """Return the rows as a table: mean, variance, shortfall, standard deviation, stay, picture."""
    short = ptable.shortfalls()
    marks = BLOCKS if _prints_blocks() else LETTERS
    width = min(2 * ptable.bound + 1, picture_width())
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


def picture_width() -> int:
    """Return the largest number of bars that fits to the right of the figures."""
    return max(min(output.width() - FIGURES, WIDEST_PICTURE), 9)


def picture(row: PTableRow, bound: int, marks: str = BLOCKS) -> str:
    """Return a bar per noise value from -bound to bound, in bins where there are too many."""
    import numpy as np

    widest, noise = picture_width(), np.arange(-bound, bound + 1)
    probability = row.pmf(noise)
    if len(noise) > widest:
        edges = np.linspace(0, len(noise), widest + 1).astype(int)
        probability = np.add.reduceat(probability, edges[:-1]) / np.diff(edges)
    height = probability / probability.max() * (len(marks) - 1)
    return "".join(marks[int(np.ceil(h))] if h > 1e-6 else marks[0] for h in height)


def closing(results: Sequence[Result], warnings: Sequence[str]) -> list[str]:
    """Return the sentences below the table."""
    return [*(result.sentence for result in results), *(f"Warning: {warning}" for warning in warnings)]


def _small(mean: float) -> str:
    """Return a mean; 0 where only rounding makes it differ from 0."""
    if abs(mean) < 1e-12:
        return "0"
    return f"{mean:.4f}" if abs(mean) >= 1e-4 else f"{mean:.1e}"


def _prints_blocks() -> bool:
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, add_completion=False, cls=PanelGroup)

KeySpace = Annotated[
    int | None,
    typer.Option("--key-space", metavar="K", help="Number of keys [default: that of the format, otherwise 2^32]."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"Format of --out: {', '.join(PTABLE_FORMATS)} [default: by the ending of the file].",
    ),
]
PTableSource = Annotated[Path, typer.Argument(metavar="FILE", help="p-table file, in any supported format.")]


@app.callback()
def ptable(
    context: typer.Context,
    variance: Annotated[
        float | None, typer.Option(metavar="V", help="Noise variance of one count: 1e-6 to 1e6, typically 0.5 to 4.")
    ] = None,
    bound: Annotated[
        int | None,
        typer.Option(metavar="E", help="Bound, the largest absolute noise value: 1 to 500, typically 2 to 10."),
    ] = None,
    threshold: Annotated[
        int, typer.Option(metavar="J", help="Largest positive count that is never published: 0 to 499.")
    ] = 0,
    stay: Annotated[
        float, typer.Option(metavar="P", help="Minimum probability that a count is unchanged: 0 to below 1.")
    ] = 0.0,
    floor: Annotated[
        float, typer.Option(metavar="P", help="Minimum probability of every possible change: 0 to below 1.")
    ] = 0.0,
    equality: Annotated[bool, typer.Option("--equality", help="Variance exactly V instead of at most V.")] = False,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="Probabilities that decrease with the size of the change.")
    ] = False,
    perturb_zeros: Annotated[
        bool, typer.Option("--perturb-zeros", help="Add noise to empty cells too; counts may become negative.")
    ] = False,
    objective: Annotated[
        str, typer.Option(metavar="NAME", help=f"Objective of the optimisation: {' or '.join(OBJECTIVES)}.")
    ] = OBJECTIVES[0],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the p-table to this file.")] = None,
    format_name: Format = None,
    key_space: KeySpace = None,
    plot: options.Plot = None,
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a p-table: the noise distribution of every true count, from variance and bound.

    Example: discreet ptable --variance 2 --bound 5 --out ptable.csv
    """
    if context.invoked_subcommand:
        _refuse_options_before(context)
        return
    from discreet.noise.formats.ptable_files import write_ptable
    from discreet.noise.ptable import ptable as make_ptable

    for name, value in (("--variance", variance), ("--bound", bound)):
        if value is None:
            raise ParameterError(f"{name} is missing. Example: discreet ptable --variance 2 --bound 5", parameter=name)
    settings = {
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
        raise ParameterError("--format is the format of a file, and no file is named. Add --out FILE.", parameter="out")
    _refuse_overwriting(out, plot, replace=replace)
    made = make_ptable(key_space=_key_space(key_space, out, format_name), **settings)
    if out:
        made = write_ptable(made, out, format_name, replace=replace)
    _show(made, "ptable", settings, plot=plot, out=out, as_json=as_json)


@app.command("show", cls=PanelCommand)
def show(
    file: PTableSource,
    plot: options.Plot = None,
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
) -> None:
    """Show a p-table file: rows, moments, and the probability that a published 1 is a true 1.

    Example: discreet ptable show ptable.csv
    """
    from discreet.noise.formats.ptable_files import read_ptable

    _refuse_overwriting(None, plot, replace=replace)
    found = read_ptable(file)
    settings = asdict(found.settings) if found.settings else {}
    _show(found, "ptable show", {"file": str(file), **settings}, plot=plot, out=None, as_json=as_json)


@app.command("convert", cls=PanelCommand)
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="p-table file, in any supported format.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"Format of OUT: {', '.join(PTABLE_FORMATS)} [default: by the ending of OUT].",
        ),
    ] = None,
    key_space: KeySpace = None,
    replace: options.ReplaceFiles = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert a p-table file to another format, with the key space of that format.

    Example: discreet ptable convert ptable.csv ptable.toml
    """
    from discreet.noise.formats.ptable_files import format_for, read_ptable, write_ptable
    from discreet.noise.sentences import warnings

    name = to or format_for(target)
    before = read_ptable(source)
    fitted = before.on_grid(_key_space(key_space, target, name)) if key_space is not None else before
    after = write_ptable(fitted, target, name, replace=replace)
    if as_json:
        _print_json(after, "ptable convert", {"in": str(source), "out": str(target), "to": name})
        return
    grid = (
        "the same key space" if after.key_space == before.key_space else f"rounded again from {before.key_space} keys"
    )
    summary = f"{source.name} -> {target.name}: {len(after.rows)} rows on {after.key_space} keys ({grid})."
    for line in (summary, *closing([], warnings(after))):
        output.paragraph(line)


def _key_space(asked: int | None, out: Path | None, format_name: str | None) -> int:
    """Return the key space of a new p-table: the requested one if the format supports it."""
    from discreet.noise.formats.ptable_files import format_for
    from discreet.noise.formats.ptable_format import FORMATS
    from discreet.noise.ptable import KEY_SPACE

    grids = FORMATS.get(format_name or format_for(out)).grids if out else ()
    if asked is not None and grids and asked not in grids:
        allowed = " or ".join(map(str, grids))
        raise ParameterError(
            f"--key-space {asked} does not fit the format, which has {allowed} keys. Leave it out or use {allowed}.",
            parameter="key_space",
        )
    return asked if asked is not None else (grids[0] if grids else KEY_SPACE)


def _refuse_options_before(context: typer.Context) -> None:
    """Refuse options before a subcommand: they would be ignored."""
    given = [p.opts[0] for p in context.command.params if p.name and context.params.get(p.name) != p.default]
    if given:
        verb = context.invoked_subcommand
        raise ParameterError(
            f"{given[0]} stands before {verb}. Write it after: discreet ptable {verb} ..", parameter=given[0]
        )


def _refuse_overwriting(out: Path | None, plot: Path | None, *, replace: bool) -> None:
    """Refuse output files that cannot be written, before any work."""
    output.check_picture(plot, replace=replace)
    if out and plot and out.absolute() == plot.absolute():
        raise ParameterError("--out and --plot name the same file. Give each its own.", parameter="plot")
    if out:
        check_writable(out, replace=replace)
    output.OUTPUTS.expect(out, plot)


def _show(
    made: PTable, command: str, settings: dict[str, Any], *, plot: Path | None, out: Path | None, as_json: bool
) -> None:
    from discreet.noise.sentences import results, warnings

    if plot:
        from discreet.charts.panel_charts import ptable_chart
        from discreet.charts.rendering import save_chart

        save_chart(ptable_chart(made), plot)
    if as_json:
        _print_json(made, command, settings)
        return
    output.paragraph(describe(made))
    typer.echo(table(made))
    for line in closing(results(made), warnings(made)):
        output.paragraph(line)
    for path in (out, plot):
        if path:
            typer.echo(f"Wrote {path}.")


def _print_json(made: PTable, command: str, settings: dict[str, Any]) -> None:
    from discreet.noise.sentences import results, warnings

    output.answer(
        command,
        settings,
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
