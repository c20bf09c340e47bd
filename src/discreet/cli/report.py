"""`discreet report`: one page on a release, for its curator or for everybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.attacks.target_cells import BUDGET
from discreet.cli import options, output
from discreet.cli.attack import target_cells
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.reports.release_report import report as report_on
from discreet.risk.averaging import ONE_SIGMA

if TYPE_CHECKING:
    from discreet.reports.release_report import Report


def report(
    release: options.ReleaseFolder,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The page to write, FILE.html.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="From the published files alone, for everybody to read.")
    ] = False,
    truth: options.Truth = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also every chart as PNG and SVG in this folder.")
    ] = None,
    confidence: Annotated[float, typer.Option(metavar="ALPHA", help="Success an attacker may have.")] = ONE_SIGMA,
    budget: options.Budget = str(BUDGET),
    areas: options.Areas = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of attacks and of what is simulated.")] = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that are there.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write one page on a release: its noise, what it tells an attacker, what users lose.

    Example: discreet report release --out report.html
    """
    if out is None:
        raise ParameterError("--out is missing: the page to write. Example: --out report.html", parameter="out")
    with ProgressBars(shown=not quiet) as stages:
        written = report_on(
            release,
            out,
            public=public,
            truth=truth,
            figures=figures,
            replace=replace,
            confidence=confidence,
            budget=target_cells(budget),
            seed=seed,
            areas=areas,
            progress=stages,
        )
    if as_json:
        settings = {
            "release": release,
            "public": public,
            "truth": written.found.utility.measured.truth,
            "confidence": confidence,
            "budget": target_cells(budget),
            "areas": written.found.utility.measured.areas and written.found.utility.measured.areas.topic,
            "seed": seed,
        }
        output.answer("report", settings, written.results, written.warnings, **written.to_json())
    else:
        _show(written)


def _show(written: Report) -> None:
    """Print the report in short, where it is, and what is not in it."""
    for sentence in written.summary.sentences:
        output.paragraph(sentence)
    typer.echo("")
    whose = "for everybody" if written.found.published.is_public else "for the curator alone"
    output.paragraph(f"{written.path} holds the report, one file that needs nothing else, {whose}.")
    if written.figures:
        output.paragraph(f"{written.figures[0].parent} holds its {len(written.charts)} charts as PNG and SVG.")
    output.notes(written.missing)
    if not written.found.published.is_public and not written.found.published.is_exact:
        typer.echo("Next: discreet report --public, for a page that everybody may read.")
