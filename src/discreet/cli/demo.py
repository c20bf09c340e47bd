"""`discreet demo`: from persons to a release, what attackers learn, what users lose, and a page about it all."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.calibration.constraints import PAPER
from discreet.calibration.noise_design import design
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import FileExistsAlreadyError, FileWriteError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.records.secret import new_secret, read_secret, write_secret
from discreet.release.release_folder import check_free, recover
from discreet.reports.release_report import report as report_on
from discreet.sources.ons_sample import ons_files as ons
from discreet.synthetic.synthetic_census import synth
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.noise_design import NoiseDesign
    from discreet.calibration.recommendation import Setting
    from discreet.programme.model import Programme
    from discreet.release.release import Release
    from discreet.reports.release_report import Report

STEPS = 5
SYNTHETIC, ONS = "synthetic", "ons"
SOURCES = (SYNTHETIC, ONS)


@dataclass(frozen=True)
class Country:
    """Made-up persons.

    Attributes:
        code: the country, as Eurostat writes it.
        persons: how many are made up.
        seed: the same one makes the same persons.
    """

    code: str = "LU"
    persons: int = 30_000
    seed: int = 2021


@dataclass(frozen=True)
class DemoFolders:
    """Where everything goes, within one folder."""

    folder: Path

    @property
    def page(self) -> Path:
        """Return the page."""
        return self.folder / "index.html"

    @property
    def people(self) -> Path:
        """Return the file of the persons."""
        return self.folder / "people.parquet"

    @property
    def programme(self) -> Path:
        """Return the programme of tables, where it is not one that the package knows by name."""
        return self.folder / "census.toml"

    @property
    def secret(self) -> Path:
        """Return the file of the secret."""
        return self.folder / "office.secret"

    @property
    def release(self) -> Path:
        """Return the folder of the release; the curator's is beside it."""
        return self.folder / "release"

    def prepare(self, *, replace: bool) -> None:
        """Make the folder, and refuse before any work what would be overwritten."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileWriteError.to(self.folder, error.strerror or "not a folder", "Choose another folder.") from error
        for path in (self.page, self.people, self.programme):
            check_writable(path, replace=replace)
        if self.secret.exists() and not replace:
            raise FileExistsAlreadyError(self.secret)
        recover(self.release)
        check_free(self.release, replace=replace)


@dataclass(frozen=True)
class DemoPopulation:
    """Who is counted, and in which tables.

    Attributes:
        programme: the tables.
        spec: how they are named on the command line.
        id: the column of ids.
        about: a sentence on the persons.
        made_by: the commands that make the files, to be typed again.
    """

    programme: Programme
    spec: str
    id: str
    about: str
    made_by: tuple[str, ...]


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files made.")] = Path("demo-output"),
    data: Annotated[str, typer.Option(metavar="WHICH", help=f"Whose census: {' or '.join(SOURCES)}.")] = SYNTHETIC,
    replace: Annotated[bool, typer.Option("--replace", help="Replace what is there; the secret is kept.")] = False,
) -> None:
    """Choose noise for a census, publish it, attack it, and write a page about it.

    Example: discreet demo --out demo-output
    """
    if data not in SOURCES:
        raise UnknownNameError.among("source of persons", data, SOURCES)
    places = DemoFolders(out)
    places.prepare(replace=replace)
    report = run(data, places, replace=replace)
    typer.echo("")
    for sentence in report.summary.sentences:
        typer.echo(sentence)
    typer.echo(f"\nOpen {places.page} in a browser.")


def run(data: str, places: DemoFolders, *, replace: bool, country: Country | None = None) -> Report:
    """Go the whole way from persons to the page."""
    with _step(1, "The persons" if data == ONS else "A small country") as done:
        people = real_people(places) if data == ONS else made_up(country or Country(), places, replace=replace)
        done.append(people.about)
    with _step(2, "Which noise the tables need") as done:
        found, setting = choose(people.programme)
        done.append(said(found, setting))
    with _step(3, "A secret") as done:
        old = places.secret.exists()
        if not old:
            write_secret(places.secret, new_secret())
        done.append(f"{places.secret.name}, {'kept from the last time' if old else 'new, and readable by you alone'}")
    with _step(4, "Protecting the census") as done, ProgressBars(shown=True) as stages:
        release = _protect(people, setting, places, stages, replace=replace)
        done.append(f"{release}")
    with (
        _step(5, "Attacking it, measuring what users lose, and writing it down") as done,
        ProgressBars(shown=True) as stages,
    ):
        report = report_on(
            release,
            places.page,
            replace=replace,
            about=people.about,
            commands=commands(people, setting, places),
            progress=stages,
        )
        done.append(f"{len(report.charts)} charts on one page that needs nothing else")
    return report


def made_up(country: Country, places: DemoFolders, *, replace: bool) -> DemoPopulation:
    """Make up the persons of a small country."""
    made = synth(places.people, country=country.code, persons=country.persons, seed=country.seed, replace=replace)
    flags = f"--country {country.code} --persons {country.persons} --seed {country.seed}"
    spec = f"eu2021:{country.code}"
    return DemoPopulation(
        load_programme(spec),
        spec,
        "PERSON_ID",
        f"{made.persons:,} made-up persons in {made.households:,} private households.",
        (f"discreet synth {flags} --out {places.people.name}",),
    )


def real_people(places: DemoFolders) -> DemoPopulation:
    """Copy the records of a teaching sample, and their tables."""
    write_whole(places.people, ons.records().read_bytes())
    write_whole(places.programme, ons.programme().read_bytes())
    return DemoPopulation(
        load_programme(places.programme),
        places.programme.name,
        ons.ID,
        "10,000 real persons: 2011 Census Microdata Teaching File, Office for National Statistics, Open Government "
        "Licence.",
        (),
    )


def choose(programme: Programme) -> tuple[NoiseDesign, Setting]:
    """Return the noise that holds off who combines everything, or, where none does, the paper's averages."""
    best = design(programme, cuts=0)
    if best.recommended:
        return best, best.recommended
    paper = design(programme, attacker=PAPER, cuts=0)
    assert paper.recommended  # noqa: S101 - so it is with the persons of the demo
    return best, paper.recommended


def said(found: NoiseDesign, setting: Setting) -> str:
    """Return what was chosen and why, in a sentence or two."""
    noise = f"variance {setting.variance:.10g} and bound {setting.bound}"
    if found.feasible:
        return f"{noise}: they hold off an attacker who combines everything published"
    return f"{found.answer} Taken is what holds off the averages of the paper: {noise}"


def commands(people: DemoPopulation, setting: Setting, places: DemoFolders) -> tuple[str, ...]:
    """Return what to type to make the same release by hand."""
    noise = f"--variance {setting.variance:.10g} --bound {setting.bound}"
    keys = f"--id {people.id} --secret-file {places.secret.name}"
    data, out = places.people.name, places.release.name
    return (
        *people.made_by,
        f"discreet design {people.spec}",
        f"discreet keys new {places.secret.name}",
        f"discreet protect {data} --programme {people.spec} {noise} {keys} --keep-exact --out {out}",
    )


def _protect(
    people: DemoPopulation, setting: Setting, places: DemoFolders, stages: ProgressBars, *, replace: bool
) -> Release:
    ptable = PTable.max_entropy(variance=setting.variance, bound=setting.bound)
    return protect(
        places.people,
        people.programme,
        CellKey(ptable, secret=read_secret(places.secret)),
        out=places.release,
        id=people.id,
        keep_exact=True,
        replace=replace,
        progress=stages,
    )


@contextmanager
def _step(number: int, what: str) -> Iterator[list[str]]:
    """Say what is being done, then what came of it and how long it took."""
    typer.echo(f"{number} of {STEPS}  {what}")
    begin = time.perf_counter()
    done: list[str] = []
    yield done
    typer.echo(f"        {'; '.join(done)} ({time.perf_counter() - begin:.1f} s)")
