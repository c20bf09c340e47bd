"""`discreet paper`: every number and figure of the paper, compared with ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.choices import PAPER_PARTS
from discreet.cli.progress_bars import ProgressBars

if TYPE_CHECKING:
    from discreet.paper.reproduction import Paper

INDENT = " " * 6


def paper(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write: a page, figures and their data [default: none]."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help=f"Parts, comma-separated: {', '.join(PAPER_PARTS)} [default: all]."),
    ] = None,
    replace: options.ReplaceFiles = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Recompute every number and figure of the paper, and list the differences.

    Example: discreet paper --out paper

    Example: discreet paper --only bound,margins
    """
    from discreet.paper.figures import figures_of
    from discreet.paper.paper_page import check_folder, write_paper
    from discreet.paper.reproduction import chosen_parts, reproduce_paper

    parts = chosen_parts(None if only is None else [name.strip() for name in only.split(",") if name.strip()])
    if out:
        check_folder(out, replace=replace)
    output.OUTPUTS.expect(out)
    with ProgressBars(shown=not quiet) as stages:
        found = reproduce_paper(only=parts, progress=stages)
        written = write_paper(found, out, replace=replace, progress=stages) if out else []
    if as_json:
        settings: dict[str, Any] = {"only": list(found.parts)}
        own = {
            "numbers": [each.to_json() for each in found.numbers],
            "figures": [
                {"name": each.name, "title": each.title, "files": [name for name in written if _is_of(name, each.name)]}
                for each in figures_of(found)
            ],
            "out": out,
        }
        output.answer("paper", settings, found.results, (), **own)
    elif not quiet:
        show(found, out)


def _is_of(file: str, figure: str) -> bool:
    """Return whether a file belongs to a figure: one of its charts, or the data of its panels."""
    stem = file.rpartition("/")[2].rpartition(".")[0]
    return stem == figure or (stem.rpartition("-")[0] == figure and stem.rpartition("-")[2].isdigit())


def show(found: Paper, out: Path | None) -> None:
    """Print a summary, then the numbers that differ."""
    from discreet.paper.paper_page import PAGE, ours
    from discreet.paper.published_numbers import PARTS

    for sentence in found.sentences():
        output.paragraph(sentence)
    for part, title in PARTS.items():
        rows = [each for each in found.apart if each.part == part]
        if rows:
            typer.echo("")
            output.paragraph(f"{title}: numbers that differ, published and ours")
        before = ""
        for each in rows:
            numbers = f"{each.published:>16} {ours(each):>10}"
            line = f"  {each.id:<38} {numbers}"
            typer.echo(line if len(line) <= output.width() else f"  {each.id}\n{INDENT}{numbers}")
            if each.note != before:
                output.paragraph(each.note, INDENT, INDENT)
            before = each.note
    if out:
        typer.echo(f"\nOpen {out / PAGE} in a browser.")
    else:
        output.paragraph("Next: discreet paper --out DIR, for a page with every number and figure.")
