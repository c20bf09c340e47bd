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
from discreet.reports.report_results import JUDGED, gather
from discreet.reports.verdicts import decision_of
from discreet.results import Result, ResultSet
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.charts.chart import Chart
    from discreet.progress import Progress
    from discreet.release.release import Release
    from discreet.reports.report_results import ReportResults
    from discreet.verdicts import Decision, Policy

ENDINGS = (".html", ".htm")


@dataclass(frozen=True, eq=False, repr=False)
class Report(ResultSet):
    """A report that was written.

    Attributes:
        path: the page.
        found: the results on it.
        decision: the verdict on the release, with its checks.
        charts: the charts in their order.
        figures: the files of the charts, if they were requested.
    """

    path: Path
    found: ReportResults
    decision: Decision
    charts: tuple[Chart, ...]
    figures: tuple[Path, ...]

    @property
    def title(self) -> str:
        """Return the verdict with its reason, and the path of the page."""
        return f"{self.decision.headline}. {self.decision.reason} Report: {self.path}"

    @property
    def results(self) -> Sequence[Result]:
        """Return the values of the checks."""
        return tuple(
            Result(
                name=each.criterion.name,
                value=each.value,
                unit="1" if each.criterion.is_share else each.criterion.unit,
                sentence=each.sentence,
                equation=each.criterion.meaning,
            )
            for each in self.decision.checks
            if each.value is not None
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the results that are missing, with the reasons."""
        return self.missing

    def to_json(self) -> dict[str, Any]:
        """Return the entries that `--json` prints in addition to settings, results and warnings."""
        return {
            "out": str(self.path),
            "public": self.found.published.is_public,
            "decision": self.decision.to_json(),
            "targets": self.found.risk.policy.to_json(JUDGED),
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
        """Return the reasons for missing results, each once."""
        return tuple(dict.fromkeys(self.found.absent.values()))

    def __str__(self) -> str:
        return "\n".join((self.decision.headline, self.decision.reason, f"Report: {self.path}"))


def report(
    release: Release | Path | str,
    out: Path | str,
    *,
    public: bool = False,
    truth: Path | str | None = None,
    figures: Path | str | None = None,
    replace: bool = False,
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    budget: int | None = BUDGET,
    seed: int = 0,
    areas: str | None = None,
    about: str = "",
    reason: str = "",
    commands: Sequence[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Write one page on a release: the verdict, the published tables, their noise, attacks and accuracy.

    Args:
        release: a Release or its folder.
        out: the HTML file to write, self-contained. Only its owner can read the page of the curator.
        public: whether to use only the published files, for a page that may be published.
        truth: the folder of true counts; OUT.curator/exact by default if it exists.
        figures: a folder for every chart as PNG and SVG.
        replace: whether to overwrite existing files.
        targets: the targets of the office by name, as {"averaging": 0.68}; the others have their defaults.
        budget: the number of target cells of attacks that work cell by cell; None for all cells.
        seed: the seed of attacks and simulations.
        areas: the topic of areas; found by its name by default.
        about: a sentence on the data, shown in the title line.
        reason: a sentence on why this noise was chosen; derived from the design by default.
        commands: the commands that made the release, shown under Reproduce.
        progress: called with a stage, the work done and the total work.
    """
    path, folder = Path(out), None if figures is None else Path(figures)
    _check_places(path, folder, replace=replace)
    found = gather(
        release,
        public=public,
        truth=truth,
        targets=targets,
        budget=budget,
        seed=seed,
        areas=areas,
        about=about,
        reason=reason,
        commands=tuple(commands),
        progress=progress,
    )
    decision, charts = decision_of(found), charts_of(found)
    drawn = tuple(chart for each in charts.values() for chart in each)
    if public and folder is not None:
        check_none_left(drawn, folder)
    write_whole(path, document(found, decision, charts).encode(), private=not public)
    return Report(
        path, found, decision, drawn, () if folder is None else draw_figures(drawn, folder, private=not public)
    )


def _check_places(path: Path, folder: Path | None, *, replace: bool) -> None:
    """Refuse places that cannot or must not be written, before any work."""
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(
            f"The report is an HTML page: use a name that ends in .html, not {path.name!r}.", parameter="out"
        )
    check_writable(path, replace=replace)
    if folder is not None:
        check_figures(folder, replace=replace)
