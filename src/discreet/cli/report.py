"""`discreet report`: one page on a release, for its curator or for the public."""

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

if TYPE_CHECKING:
    from discreet.reports.release_report import Report


def report(
    release: options.ReleaseFolder,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Page to write, FILE.html. Required.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Use the published files alone, for a page that may be published.")
    ] = False,
    truth: options.Truth = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for every chart as PNG and SVG [default: none].")
    ] = None,
    target: options.Targets = None,
    budget: options.Budget = str(BUDGET),
    areas: options.Areas = None,
    seed: options.Seed = 0,
    replace: options.ReplaceFiles = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write one page on a release: the verdict, its noise, attacks and accuracy.

    Example: discreet report release --out report.html
    """
    if out is None:
        raise ParameterError("--out is missing: the page to write. Example: --out report.html", parameter="out")
    output.OUTPUTS.expect(out, figures)
    with ProgressBars(shown=not quiet) as stages:
        written = report_on(
            release,
            out,
            public=public,
            truth=truth,
            figures=figures,
            replace=replace,
            targets=target,
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
            "budget": target_cells(budget),
            "areas": written.found.utility.measured.areas and written.found.utility.measured.areas.topic,
            "seed": seed,
        }
        output.answer("report", settings, written.results, written.warnings, **written.to_json())
    elif not quiet:
        show(written)


def show(written: Report, following: str = "") -> None:
    """Print one screen: the decision, the path of the page, and the results that are missing.

    Args:
        written: the report.
        following: a command to try next; the public page of the same release by default.
    """
    screen, public = output.Screen(), written.found.published.is_public
    screen.decision(written.decision, written.found.published.release.description["name"])
    if written.decision.reason:
        screen.text(written.decision.reason)
    screen.items("Notes", written.missing)
    screen.whole(f"Report: {written.path} ({'public' if public else 'confidential; do not publish'})")
    if written.figures:
        screen.whole(f"Charts: {written.figures[0].parent} ({len(written.charts)} as PNG and SVG)")
    if not following and not public and not written.found.published.is_exact:
        following = f"discreet report {written.found.published.release.path} --public --out public.html"
    if following:
        screen.whole(f"Next: {following}")
    screen.show()
