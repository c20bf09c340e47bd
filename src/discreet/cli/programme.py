"""`discreet programme`: sketch, show, check and count a programme of tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.cli.choices import MOST_CATEGORIES, RULES, UTF8
from discreet.cli.help import PanelCommand, PanelGroup
from discreet.errors import FileExistsAlreadyError, ParameterError
from discreet.verdicts import Verdict
from discreet.whole_file import write_whole

if TYPE_CHECKING:
    from discreet.programme.model import Programme

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    cls=PanelGroup,
    help="Sketch, show, check and count a programme of tables.",
)

Spec = Annotated[
    str,
    typer.Argument(metavar="SPEC", help="Programme: a TOML file, sdmx:FILE.xml, or a name such as eu2021:LU."),
]
Population = Annotated[
    str | None, typer.Option(metavar="NAME", help="Population whose tables are included [default: the commonest].")
]
MOST_SHOWN = 20


@app.command("init", cls=PanelCommand)
def init(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="Data file, .csv, .csv.gz or .parquet, unless --from is given."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="SDMX (.xml) or PX file with variables, codes and labels."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write [default: standard output].")] = None,
    replace: options.ReplaceFile = False,
    most_categories: Annotated[
        int, typer.Option(metavar="N", help="Largest number of values of a column that becomes a topic.")
    ] = MOST_CATEGORIES,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of a CSV file, e.g. latin-1.")] = UTF8,
) -> None:
    """Write a programme from a data file, whose columns become topics, or from an existing data structure.

    Example: discreet programme init persons.csv --out programme.toml
    """
    from discreet.programme.programme_toml import programme_to_toml
    from discreet.programme.px_definition import programme_from_px
    from discreet.programme.sdmx_definition import programme_from_dsd
    from discreet.records.programme_sketch import sketch_programme

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
        # As bytes: a programme is UTF-8 in every terminal and pipe.
        typer.echo(text, nl=False)


@app.command("show", cls=PanelCommand)
def show(
    spec: Spec, population: Population = None, details: options.Details = False, as_json: options.AsJson = False
) -> None:
    """Show the tables of a programme with their sizes.

    Example: discreet programme show eu2021:LU
    """
    from discreet.programme.summary import table_sizes

    programme = _loaded(spec)
    sizes = table_sizes(programme, population)
    if as_json:
        _print_json("programme show", programme, spec, tables=[size.to_json() for size in sizes])
        return
    names = [
        f"{' x '.join(size.breakdowns)}{'' if size.maximal else ' (contained in another table)'}" for size in sizes
    ]
    maximal, rows = sum(size.maximal for size in sizes), sum(size.rows for size in sizes)
    total = f"{len(sizes)} tables, {maximal} of them maximal, {rows:,} rows if no cell is 0."
    screen = output.Screen()
    screen.headline(Verdict.MEETS, "Valid programme", _headline(programme))
    if not details:
        screen.text(total)
        lines = [
            output.wrapped(name, f"{size.id:>7} {size.rows:>15,}  ", " " * 25)
            for size, name in zip(sizes, names, strict=True)
        ]
        screen.lines(f"{'table':>7} {'rows':>15}  breakdowns", lines)
        screen.items("Notes", programme.notes)
        screen.show()
        return
    screen.show()
    cells = ([size.id, f"{size.rows:,}", name] for size, name in zip(sizes, names, strict=True))
    output.table([("table", ">7"), ("rows", ">16"), ("breakdowns", "")], cells)
    output.paragraph(total)
    output.notes(programme.notes)


@app.command("check", cls=PanelCommand)
def check(spec: Spec, as_json: options.AsJson = False) -> None:
    """Check a programme: read it whole, and report the first mistake with its line.

    Example: discreet programme check programme.toml
    """
    programme = _loaded(spec)
    if as_json:
        _print_json("programme check", programme, spec, valid=True)
        return
    output.paragraph(f"{_headline(programme)}. No mistake found.")
    output.notes(programme.notes)


@app.command("statistics", cls=PanelCommand)
def statistics(
    spec: Spec,
    rule: options.Rule = RULES[0],
    keep_single: options.KeepSingle = False,
    population: Population = None,
    as_json: options.AsJson = False,
) -> None:
    """Count the statistics of a programme, and in how many tables each is published.

    Example: discreet programme statistics eu2021:LU
    """
    from discreet.programme.summary import shared_statistics

    programme = _loaded(spec)
    found = shared_statistics(programme, rule, keep_single=keep_single, population=population)
    total = sum(statistic.tables for statistic in found)
    if as_json:
        counts = {"unique": len(found), "published": total}
        shown = [statistic.to_json() for statistic in found]
        _print_json("programme statistics", programme, spec, rule=rule, statistics=counts, shared=shown)
        return
    output.paragraph(f"{_headline(programme)}.")
    often = sum(statistic.tables > 1 for statistic in found)
    output.paragraph(
        f"{len(found):,} different statistics (rule {rule}) are published {total:,} times; {often:,} more than once."
    )
    rows = ([str(each.tables), f"{each.cells:,}", each.name] for each in found[:MOST_SHOWN])
    output.table([("tables", ">7"), ("cells", ">16"), ("statistic", "")], rows)
    if len(found) > MOST_SHOWN:
        typer.echo(f"... {len(found) - MOST_SHOWN:,} more (--json)")


def _loaded(spec: str) -> Programme:
    from discreet.programme.programme_files import load_programme

    return load_programme(spec)


def _headline(programme: Programme) -> str:
    parts = ", ".join(f"{len(tables)} of {name}" for name, tables in programme.populations.items())
    return f"{programme.name}: {len(programme.tables)} tables ({parts}), {len(programme.breakdowns)} breakdowns"


def _print_json(command: str, programme: Programme, spec: str, **own: object) -> None:
    populations = {name: len(tables) for name, tables in programme.populations.items()}
    head = {"programme": programme.name, "populations": populations}
    output.answer(command, {"spec": spec}, [], list(programme.notes), **head, **own)
