"""`discreet convert`: the tables of a release in a format that offices publish in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.release.formats.conversion import convert as convert_release
from discreet.release.formats.table_format import TABLE_FORMATS


def convert(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to make; for xlsx the file.")],
    to: Annotated[str, typer.Option(metavar="FORMAT", help=f"Format: {', '.join(TABLE_FORMATS.names())}.")],
    tables: Annotated[
        str | None, typer.Option(metavar="IDS", help="Tables, separated by commas; `*` and `?` as in file names.")
    ] = None,
    labels: Annotated[bool, typer.Option("--labels", help="Add columns with the labels of codes.")] = False,
    zeros: Annotated[bool, typer.Option("--zeros", help="Include cells that are 0.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add the 95 % interval of every true count (lower, upper).")
    ] = False,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language of labels, one that the programme contains.")
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the tables of a release in another format.

    Example: discreet convert release --to px tables
    """
    chosen = [name.strip() for name in tables.split(",")] if tables else None
    with ProgressBars(shown=not quiet) as stages:
        found = convert_release(
            release,
            to,
            out,
            tables=chosen,
            labels=labels,
            zeros=zeros,
            intervals=intervals,
            language=language,
            progress=stages,
        )
    if not as_json:
        typer.echo(found.title)
        return
    settings = {
        "release": str(release),
        "to": to,
        "tables": chosen,
        "labels": labels,
        "zeros": zeros,
        "intervals": intervals,
        "language": language,
    }
    output.answer("convert", settings, found.results, (), **found.to_json())
