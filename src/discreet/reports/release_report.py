"""Write a report: the function behind `discreet report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attacks.target_cells import BUDGET
from discreet.charts.rendering import check_figures, check_none_left, draw_figures
from discreet.errors import ParameterError
from discreet.reports.html_page import SECTIONS, document
from discreet.reports.release_charts import charts_of
from discreet.reports.report_results import gather
from discreet.reports.sentences import summary_of
from discreet.results import ResultSet
from discreet.risk.averaging import ONE_SIGMA
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.charts.chart import Chart
    from discreet.progress import Progress
    from discreet.release.release import Release
    from discreet.reports.report_results import ReportResults
    from discreet.reports.sentences import ReportSummary
    from discreet.results import Result

ENDINGS = (".html", ".htm")


@dataclass(frozen=True, eq=False, repr=False)
class Report(ResultSet):
    """A report that was written.

    Attributes:
        path: the page.
        found: what it was made from.
        summary: what it says first.
        charts: in their order.
        figures: the files of the charts, where they were wanted.
    """

    path: Path
    found: ReportResults
    summary: ReportSummary
    charts: tuple[Chart, ...]
    figures: tuple[Path, ...]

    @property
    def title(self) -> str:
        """Return where the page is and what it says first."""
        return " ".join((f"{self.path}.", *self.summary.sentences))

    @property
    def results(self) -> Sequence[Result]:
        """Return the figures of the summary."""
        return self.summary.results

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is not in it and why."""
        return self.missing

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside settings, results and warnings."""
        return {
            "out": str(self.path),
            "public": self.found.published.is_public,
            "sentences": list(self.summary.sentences),
            "charts": [{"name": chart.name, "title": chart.title} for chart in self.charts],
            "sections": list(self.sections),
            "figures": [str(path) for path in self.figures],
        }

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the headings."""
        return tuple(SECTIONS.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """Return what is not in it and why, each thing once."""
        return tuple(dict.fromkeys(self.found.absent.values()))

    def __str__(self) -> str:
        return "\n".join((*self.summary.sentences, f"{self.path} holds the report."))


def report(
    release: Release | Path | str,
    out: Path | str,
    *,
    public: bool = False,
    truth: Path | str | None = None,
    figures: Path | str | None = None,
    replace: bool = False,
    confidence: float = ONE_SIGMA,
    budget: int | None = BUDGET,
    seed: int = 0,
    areas: str | None = None,
    about: str = "",
    commands: Sequence[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Write one page on a release: what is published, its noise, what it tells an attacker and what users lose.

    Args:
        release: a Release or its folder.
        out: the HTML file to write; it needs nothing else. That of the curator is readable by its owner alone.
        public: whether to use nothing but the published files, so that everybody may read it.
        truth: the folder of true counts; OUT.curator/exact if left out and there.
        figures: a folder for every chart as PNG and SVG, for papers.
        replace: whether to replace files that are there.
        confidence: the success an attacker may have.
        budget: target cells of attacks that work cell by cell; None is all cells.
        seed: of attacks and of what is simulated.
        areas: the topic of areas, found by its name if left out.
        about: a sentence on the data, shown first.
        commands: what was typed before, shown under how to make this again.
        progress: called with a stage, what is done and what there is to do.
    """
    path, folder = Path(out), None if figures is None else Path(figures)
    _check_places(path, folder, replace=replace)
    found = gather(
        release,
        public=public,
        truth=truth,
        confidence=confidence,
        budget=budget,
        seed=seed,
        areas=areas,
        about=about,
        commands=tuple(commands),
        progress=progress,
    )
    summary, charts = summary_of(found), charts_of(found)
    drawn = tuple(chart for each in charts.values() for chart in each)
    if public and folder is not None:
        check_none_left(drawn, folder)
    write_whole(path, document(found, summary, charts).encode(), private=not public)
    return Report(
        path, found, summary, drawn, () if folder is None else draw_figures(drawn, folder, private=not public)
    )


def _check_places(path: Path, folder: Path | None, *, replace: bool) -> None:
    """Refuse before any work what cannot be written, or must not be."""
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"A report is a page: give a name that ends in .html, not {path.name!r}.", parameter="out")
    check_writable(path, replace=replace)
    if folder is not None:
        check_figures(folder, replace=replace)
