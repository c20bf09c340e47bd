"""`discreet convert`: the tables of a release in a publication format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.choices import TABLE_FORMATS
from discreet.cli.progress_bars import ProgressBars


def convert(
    release: options.ReleaseFolder,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; for xlsx the file.")],
    to: Annotated[str, typer.Option(metavar="FORMAT", help=f"Format: {', '.join(TABLE_FORMATS)}.")],
    tables: options.OnlyTables = None,
    labels: Annotated[bool, typer.Option("--labels", help="Add columns with the labels of codes.")] = False,
    zeros: Annotated[bool, typer.Option("--zeros", help="Include cells that are 0.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add the 95 % interval of every true count (lower, upper).")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Language of labels, one that the programme contains [default: its first]."),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the tables of a release in another format.

    Example: discreet convert release --to px tables
    """
    from discreet.release.formats.conversion import convert as convert_release

    output.OUTPUTS.expect(out)
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
    if as_json:
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
    elif not quiet:
        output.paragraph(found.title)
