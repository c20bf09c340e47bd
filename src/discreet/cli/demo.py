"""`discreet demo`: a census from records to a report, and a census for which no noise meets all targets."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.calibration.noise_design import design
from discreet.charts.rendering import save_chart
from discreet.cli import output
from discreet.cli.progress_bars import ProgressBars
from discreet.cli.report import show
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables
from discreet.protection.pipeline import protect
from discreet.records.secret import new_secret, read_secret, write_secret
from discreet.release.release_folder import check_free, recover
from discreet.reports.calibration_charts import plane_chart_of
from discreet.reports.release_report import report as report_on
from discreet.sources.ons_sample import ons_files as ons
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.noise_design import NoiseDesign
    from discreet.calibration.recommendation import Setting
    from discreet.release.release import Release
    from discreet.reports.release_report import Report

STEPS = 6
TABLES = ("activity", "religion")
"""The tables that are published: few enough for a demo of less than a minute."""
TARGET_CELLS = 5_000
"""The number of target cells of attacks that estimate cell by cell."""
MARGIN = {"bound": 0.55}
"""A stricter target than that of the report, so that the noise meets the latter with a margin."""
INFEASIBLE = "eu2021:LU"
ABOUT = "10,000 real persons, Office for National Statistics, Open Government Licence"


@dataclass(frozen=True)
class DemoFolders:
    """The files of the demo, all in one folder."""

    folder: Path

    @property
    def page(self) -> Path:
        """Return the report."""
        return self.folder / "index.html"

    @property
    def people(self) -> Path:
        """Return the file of the records."""
        return self.folder / "people.parquet"

    @property
    def programme(self) -> Path:
        """Return the programme of tables."""
        return self.folder / "census.toml"

    @property
    def chart(self) -> Path:
        """Return the chart of the infeasible census."""
        return self.folder / "luxembourg.svg"

    @property
    def secret(self) -> Path:
        """Return the file of the secret."""
        return self.folder / "office.secret"

    @property
    def release(self) -> Path:
        """Return the folder of the release; the curator's folder is next to it."""
        return self.folder / "release"

    def prepare(self, *, replace: bool) -> None:
        """Make the folder, and refuse to overwrite files before any work."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileWriteError.to(self.folder, error.strerror or "not a folder", "Choose another folder.") from error
        for path in (self.page, self.people, self.programme, self.chart):
            check_writable(path, replace=replace)
        if self.secret.exists() and not replace:
            raise FileExistsAlreadyError(self.secret)
        recover(self.release)
        check_free(self.release, replace=replace)


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files.")] = Path("demo-output"),
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite existing files; the secret is kept.")] = False,
) -> None:
    """Choose noise for a census, publish it, attack it, and write a report.

    Example: discreet demo --out demo-output
    """
    places = DemoFolders(out)
    places.prepare(replace=replace)
    output.OUTPUTS.expect(places.page, places.release, places.people, places.programme, places.chart, places.secret)
    report = run(places, replace=replace)
    typer.echo("")
    show(report, f"open {places.page} in a browser")


def run(places: DemoFolders, *, replace: bool) -> Report:
    """Run all steps, from the records to the report."""
    with _step(1, "Records and tables") as done:
        write_whole(places.people, ons.records().read_bytes())
        write_whole(places.programme, ons.programme().read_bytes())
        programme = choose_tables(load_programme(places.programme), TABLES, None)
        done.append(f"{ABOUT}; tables {', '.join(TABLES)}")
    with _step(2, "Noise that the tables need") as done, ProgressBars(shown=True) as stages:
        found = design(programme, targets=MARGIN, cuts=0, progress=stages)
        done.append(" ".join((found.answer, *found.reasons)))
    assert found.recommended  # noqa: S101 - these tables have a feasible setting
    with _step(3, "Secret") as done:
        old = places.secret.exists()
        if not old:
            write_secret(places.secret, new_secret())
        done.append(f"{places.secret.name}: {'kept' if old else 'new; only you can read it'}")
    with _step(4, "Release") as done, ProgressBars(shown=True) as stages:
        release = _protect(found.recommended, places, stages, replace=replace)
        done.append(f"{release}")
    with _step(5, "Attacks, accuracy and report") as done, ProgressBars(shown=True) as stages:
        report = report_on(
            release,
            places.page,
            replace=replace,
            budget=TARGET_CELLS,
            about=ABOUT,
            reason=f"It is the recommended noise with a target of 55 % for bound disclosure. {' '.join(found.reasons)}",
            commands=commands(found.recommended, places),
            progress=stages,
        )
        done.append(f"{report.decision.headline}: {places.page}")
    with _step(6, "A census without feasible noise: what to relax") as done, ProgressBars(shown=True) as stages:
        done.extend(what_to_relax(places, stages))
    return report


def what_to_relax(places: DemoFolders, progress: ProgressBars) -> Iterator[str]:
    """Yield why no noise meets all targets for the census of Luxembourg, and the ways out; draw the constraints."""
    found: NoiseDesign = design(INFEASIBLE, cuts=0, progress=progress)
    save_chart(plane_chart_of(found), places.chart)
    yield f"{found.answer} Chart: {places.chart.name}."
    for each in found.region.relaxations:
        yield each.sentence
    yield f"Cuts of the output: discreet design {INFEASIBLE}"


def commands(setting: Setting, places: DemoFolders) -> tuple[str, ...]:
    """Return the commands that make the same release."""
    noise = f"--variance {setting.variance:.10g} --bound {setting.bound}"
    keys = f"--id {ons.ID} --secret-file {places.secret.name}"
    tables = f"--programme {places.programme.name} --tables {','.join(TABLES)}"
    return (
        f"discreet keys new {places.secret.name}",
        f"discreet protect {places.people.name} {tables} {noise} {keys} --keep-exact --out {places.release.name}",
    )


def _protect(setting: Setting, places: DemoFolders, stages: ProgressBars, *, replace: bool) -> Release:
    return protect(
        places.people,
        places.programme,
        CellKey(PTable.max_entropy(**setting._asdict()), secret=read_secret(places.secret)),
        out=places.release,
        id=ons.ID,
        tables=list(TABLES),
        keep_exact=True,
        replace=replace,
        progress=stages,
    )


@contextmanager
def _step(number: int, what: str) -> Iterator[list[str]]:
    """Print the heading of a step, then its results and its time."""
    typer.echo(f"{number} of {STEPS}  {what}")
    begin = time.perf_counter()
    done: list[str] = []
    yield done
    for text in done:
        output.paragraph(text, " " * 8, " " * 8)
    typer.echo(f"        ({time.perf_counter() - begin:.1f} s)")
