"""`discreet paper`: every number and figure of the paper, beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.paper.figures import figures_of
from discreet.paper.paper_page import PAGE, check_folder, ours, write_paper
from discreet.paper.published_numbers import PARTS
from discreet.paper.reproduction import ALL_PARTS, chosen_parts, reproduce_paper

if TYPE_CHECKING:
    from discreet.paper.reproduction import Paper

INDENT = " " * 6


def paper(
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for a page, figures and their data.")] = None,
    only: Annotated[str | None, typer.Option(metavar="A,B", help=f"Some parts: {', '.join(ALL_PARTS)}.")] = None,
    replace: options.ReplaceFiles = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compute every number and figure of the paper anew, and say where ours differ and why.

    Example: discreet paper --out paper

    Example: discreet paper --only bound,margins
    """
    parts = chosen_parts(None if only is None else [name.strip() for name in only.split(",") if name.strip()])
    if out:
        check_folder(out, replace=replace)
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
    else:
        show(found, out)


def _is_of(file: str, figure: str) -> bool:
    """Say whether a file is one of a figure: its pictures, or the data of its panels."""
    stem = file.rpartition("/")[2].rpartition(".")[0]
    return stem == figure or (stem.rpartition("-")[0] == figure and stem.rpartition("-")[2].isdigit())


def show(found: Paper, out: Path | None) -> None:
    """Print what came of it, then the numbers that do not agree."""
    for sentence in found.sentences():
        output.paragraph(sentence)
    for part, title in PARTS.items():
        rows = [each for each in found.apart if each.part == part]
        if rows:
            typer.echo(f"\n{title}: numbers that do not agree, published and ours")
        said = ""
        for each in rows:
            typer.echo(f"  {each.id:<38} {each.published:>16} {ours(each):>10}")
            if each.note != said:
                output.paragraph(each.note, INDENT, INDENT)
            said = each.note
    if out:
        typer.echo(f"\nOpen {out / PAGE} in a browser.")
    else:
        typer.echo("\nNext: discreet paper --out DIR, for a page with every number and figure")
