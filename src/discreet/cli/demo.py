"""`discreet demo`: from made-up people to a release, what an attacker could learn from it, and a page about it."""

from __future__ import annotations

import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.assess import SHORT
from discreet.cli.progress import Stages
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.protect import protect
from discreet.microdata.secret import new_secret, read_secret, write_secret
from discreet.microdata.synthetic.write import synth
from discreet.noise.ptable import PTable
from discreet.release.folder import check_free, recover
from discreet.report.findings import findings
from discreet.report.page import VILLAGE, page
from discreet.report.story import Story
from discreet.risk.assess import assess
from discreet.utility.before_after import before_after, place_of_size
from discreet.utility.noise_seen import noise_seen
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = 5
ID = "PERSON_ID"
LIBRARIES = {"DuckDB": "duckdb", "pyarrow": "pyarrow", "NumPy": "numpy"}
"""What a release depends on to the byte, by the name people know."""


@dataclass(frozen=True)
class Country:
    """What the demo makes, and with how much noise.

    Attributes:
        code: the country, as Eurostat writes it.
        persons: how many are made up.
        seed: the same one makes the same persons.
        variance: of the noise of large counts.
        bound: the largest noise.
        table: where the example is taken from,
        place: by which breakdown a village is chosen,
        rows: what stands in its rows
        columns: and in its columns.
    """

    code: str = "LU"
    persons: int = 30_000
    seed: int = 2021
    variance: int = 3
    bound: int = 5
    table: str = "3.1"
    place: str = "GEO.H"
    rows: str = "AGE.M"
    columns: str = "SEX"

    @property
    def programme(self) -> str:
        """Return the table programme."""
        return f"eu2021:{self.code}"


@dataclass(frozen=True)
class Places:
    """Where everything goes, within one folder."""

    folder: Path

    @property
    def page(self) -> Path:
        """Return the page."""
        return self.folder / "index.html"

    @property
    def people(self) -> Path:
        """Return the file of the made-up persons."""
        return self.folder / "people.parquet"

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
        for path in (self.page, self.people):
            check_writable(path, replace=replace)
        if self.secret.exists() and not replace:
            raise FileExistsAlreadyError(self.secret)
        recover(self.release)
        check_free(self.release, replace=replace)


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files made.")] = Path("demo-output"),
    replace: Annotated[bool, typer.Option("--replace", help="Replace what is there; the secret is kept.")] = False,
) -> None:
    """Make up a small country, protect its census, assess the release, and write a page about it.

    Example: discreet demo --out demo-output
    """
    places = Places(out)
    places.prepare(replace=replace)
    story = tell(Country(), places, replace=replace)
    with _step(5, "The page") as done:
        write_whole(places.page, page(story).encode())
        done.append("what happened, on one page that needs nothing else")
    typer.echo("")
    for finding in findings(story):
        typer.echo(finding.sentence)
    typer.echo(f"\nOpen {places.page} in a browser.")


def tell(country: Country, places: Places, *, replace: bool) -> Story:
    """Make the country, protect and assess it, and return all that was found."""
    with _step(1, "A small country") as done:
        made = synth(
            places.people, country=country.code, persons=country.persons, seed=country.seed, replace=replace
        )  # fmt: skip
        done.append(f"{made.persons:,} made-up persons in {made.households:,} private households")
    with _step(2, "A secret") as done:
        old = places.secret.exists()
        if not old:
            write_secret(places.secret, new_secret())
        done.append(f"{places.secret.name}, {'kept from the last time' if old else 'new, and readable by you alone'}")
    with _step(3, "Protecting its census") as done, Stages(shown=True) as stages:
        ptable = PTable.max_entropy(variance=country.variance, bound=country.bound)
        release = protect(
            places.people,
            country.programme,
            CellKey(ptable, secret=read_secret(places.secret)),
            out=places.release,
            id=ID,
            keep_exact=True,
            replace=replace,
            progress=stages,
        )
        done.append(f"{release}")
    with _step(4, "Assessing the release") as done:
        assessment = assess(release, measures=SHORT)
        seen = noise_seen(release)
        village = place_of_size(release, country.table, country.place, VILLAGE)
        example = before_after(
            release, country.table, place=(country.place, village), rows=country.rows, columns=country.columns
        )
        done.append(f"{len(assessment.results)} figures, and {seen.counts:,} counts compared with the true ones")
    return Story(made, release, assessment, seen, example, commands(country, places), _versions())


def commands(country: Country, places: Places) -> tuple[str, ...]:
    """Return what to type to make the same release by hand."""
    people, secret, release = places.people.name, places.secret.name, places.release.name
    noise = f"--variance {country.variance} --bound {country.bound}"
    keys = f"--id {ID} --secret-file {secret}"
    return (
        f"discreet synth --country {country.code} --persons {country.persons} --seed {country.seed} --out {people}",
        f"discreet keys new {secret}",
        f"discreet protect {people} --programme {country.programme} {noise} {keys} --keep-exact --out {release}",
        f"discreet assess {release}",
    )


def _versions() -> dict[str, str]:
    return {"Python": platform.python_version(), **{name: version(library) for name, library in LIBRARIES.items()}}


@contextmanager
def _step(number: int, what: str) -> Iterator[list[str]]:
    """Say what is being done, then what came of it and how long it took."""
    typer.echo(f"{number} of {STEPS}  {what}")
    begin = time.perf_counter()
    done: list[str] = []
    yield done
    typer.echo(f"        {'; '.join(done)} ({time.perf_counter() - begin:.1f} s)")
