"""`discreet programme`: sketch, show, check and count a table programme."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.errors import FileExistsAlreadyError, ParameterError
from discreet.programme.lattice import RULES
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_toml import programme_to_toml
from discreet.programme.px_definition import programme_from_px
from discreet.programme.sdmx_definition import programme_from_dsd
from discreet.programme.summary import shared_statistics, table_sizes
from discreet.records.programme_sketch import MOST_CATEGORIES, sketch_programme
from discreet.sources.csv_file import UTF8
from discreet.whole_file import write_whole

if TYPE_CHECKING:
    from discreet.programme.model import Programme

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="Sketch, show, check and count a table programme.",
)

Spec = Annotated[
    str, typer.Argument(metavar="SPEC", help="A TOML file, sdmx:FILE.xml, or a shipped programme such as eu2021:LU.")
]
Rule = Annotated[str, typer.Option(metavar="RULE", help=f"{' or '.join(RULES)}: every level, or the finest only.")]
Population = Annotated[
    str | None, typer.Option(metavar="UNIT", help="What the tables count; the most common if left out.")
]
MOST_SHOWN = 20


@app.command("init")
def init(
    data: Annotated[Path | None, typer.Argument(metavar="DATA", help="A data file: .csv, .csv.gz or .parquet.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Take variables, codes and labels from an SDMX (.xml) or PX file."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the programme to this file.")] = None,
    replace: options.ReplaceFile = False,
    most_categories: Annotated[
        int, typer.Option(metavar="N", help="Columns with more different values are left out.")
    ] = MOST_CATEGORIES,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of a CSV file, such as latin-1.")] = UTF8,
) -> None:
    """Write a programme from a data file, whose columns become topics, or from an existing data structure."""
    if out and out.exists() and not replace:
        raise FileExistsAlreadyError(out)
    if (data is None) == (source is None):
        raise ParameterError("Give either a data file or --from with an SDMX or PX file.", parameter="from")
    if source:
        read = programme_from_px if source.suffix.lower() == ".px" else programme_from_dsd
        text = programme_to_toml(read(source)).encode()
    else:
        text = sketch_programme(data or "", most_categories=most_categories, encoding=encoding).encode()
    if out:
        write_whole(out, text)
        origin = f" from {source}" if source else f", sketched from {data}"
        typer.echo(f"Wrote {out}{origin}. Next: discreet programme check {out}")
    else:
        # As bytes: a programme is UTF-8 whatever the terminal or the pipe is.
        typer.echo(text, nl=False)


@app.command("show")
def show(spec: Spec, population: Population = None, as_json: options.AsJson = False) -> None:
    """Show the tables of a programme with their sizes."""
    programme = load_programme(spec)
    sizes = table_sizes(programme, population)
    if as_json:
        _print_json("programme show", programme, spec, tables=[size.to_json() for size in sizes])
        return
    typer.echo(_headline(programme))
    rows = []
    for size in sizes:
        mark = "" if size.maximal else "   (contained in another table)"
        rows.append([size.id, f"{size.rows:,}", f"  {' x '.join(size.breakdowns)}{mark}"])
    output.table([("table", ">7"), ("rows", ">16"), ("  breakdowns", "")], rows)
    maximal = sum(size.maximal for size in sizes)
    typer.echo(
        f"{len(sizes)} tables, {maximal} of them maximal, {sum(size.rows for size in sizes):,} rows if no cell were 0."
    )
    _notes(programme)


@app.command("check")
def check(spec: Spec, as_json: options.AsJson = False) -> None:
    """Check a programme: it is read whole, and the first mistake is named with its line."""
    programme = load_programme(spec)
    if as_json:
        _print_json("programme check", programme, spec, valid=True)
        return
    typer.echo(f"{_headline(programme)} No mistake found.")
    _notes(programme)


@app.command("statistics")
def statistics(
    spec: Spec,
    rule: Rule = RULES[0],
    keep_single: options.KeepSingle = False,
    population: Population = None,
    as_json: options.AsJson = False,
) -> None:
    """Show which statistics are published how often."""
    programme = load_programme(spec)
    found = shared_statistics(programme, rule, keep_single=keep_single, population=population)
    total = sum(statistic.tables for statistic in found)
    if as_json:
        counts = {"unique": len(found), "published": total}
        shown = [statistic.to_json() for statistic in found]
        _print_json("programme statistics", programme, spec, rule=rule, statistics=counts, shared=shown)
        return
    typer.echo(_headline(programme))
    often = sum(statistic.tables > 1 for statistic in found)
    typer.echo(
        f"{len(found):,} different statistics (rule {rule}) are published {total:,} times; {often:,} more than once."
    )
    rows = ([str(each.tables), f"{each.cells:,}", f"  {each.name}"] for each in found[:MOST_SHOWN])
    output.table([("tables", ">7"), ("cells", ">16"), ("  statistic", "")], rows)
    if len(found) > MOST_SHOWN:
        typer.echo(f"and {len(found) - MOST_SHOWN:,} more; --json gives all.")


def _headline(programme: Programme) -> str:
    parts = ", ".join(f"{len(tables)} of {name}" for name, tables in programme.populations.items())
    return f"{programme.name}: {len(programme.tables)} tables ({parts}), {len(programme.breakdowns)} breakdowns."


def _notes(programme: Programme) -> None:
    for note in programme.notes:
        typer.echo(f"Note: {note}")


def _print_json(command: str, programme: Programme, spec: str, **own: object) -> None:
    populations = {name: len(tables) for name, tables in programme.populations.items()}
    head = {"programme": programme.name, "populations": populations}
    output.answer(command, {"spec": spec}, [], list(programme.notes), **head, **own)
