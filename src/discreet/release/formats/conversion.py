"""Convert the tables of a release to a publication format, atomically."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.errors import FileWriteError, ParameterError, ReleaseError
from discreet.programme.model import VALUE
from discreet.release.formats.published_table import label_language, published_tables
from discreet.release.formats.table_format import TABLE_FORMATS, ConversionOptions
from discreet.release.release import Release, open_release
from discreet.results import Result, ResultSet
from discreet.whole_file import check_unpublished, sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.progress import Progress


@dataclass(frozen=True, repr=False)
class Conversion(ResultSet):
    """The files of a conversion.

    Attributes:
        out: the folder or the file.
        form: the format.
        tables: the ids of the tables.
        files: the sizes of the files in bytes, by name.
    """

    out: Path
    form: str
    tables: tuple[str, ...]
    files: dict[str, int]
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """Return the path, the number of tables and the format."""
        number = len(self.tables)
        return f"{self.out}: {number:,} table{'s' if number != 1 else ''} as {self.form}."

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the number of tables and of bytes."""
        size = sum(self.files.values())
        return (
            Result(name="tables", value=len(self.tables), unit="tables", sentence=self.title),
            Result(name="bytes", value=size, unit="bytes", sentence=f"{len(self.files):,} files, {size:,} bytes."),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entries that `--json` prints in addition to settings, results and warnings."""
        return {"out": str(self.out), "to": self.form, "tables": list(self.tables), "files": self.files}


def convert(
    release: Release | Path | str,
    to: str,
    out: Path | str,
    *,
    tables: Sequence[str] | None = None,
    labels: bool = False,
    zeros: bool = False,
    intervals: bool = False,
    language: str | None = None,
    progress: Progress | None = None,
) -> Conversion:
    """Write the tables of a release in another format.

    Args:
        release: a release or its folder.
        to: the format: csv, csvw, sdmx-csv, sdmx-ml, json-stat, px, xlsx.
        out: the folder to write; for xlsx the file.
        tables: ids of tables, with the wildcards `*` and `?`; all tables by default.
        labels: whether to write labels in addition to codes, in formats that do not always contain them.
        zeros: whether to write cells with a published 0; PX and JSON-stat always contain them.
        intervals: whether to write the 95 % interval of every true count, computed from the disclosed noise.
        language: the language of the labels, which the programme must contain.
        progress: a function that is called with stage, done and total.
    """
    found, out = release if isinstance(release, Release) else open_release(release), Path(out)
    form = TABLE_FORMATS.get(to)()
    spoken = label_language(found.programme, language)
    chosen = published_tables(found, tables, spoken, intervals=intervals, zeros=zeros)
    if intervals and not all(VALUE in table.counts for table in chosen):
        raise ParameterError("Weighted counts have no intervals. Remove --intervals.", parameter="intervals")
    options = ConversionOptions(labels=labels, language=spoken)
    _check_place(out, form.one_file)
    form.check(chosen, options)
    for table in chosen:
        table.check()
    written = 0

    def done() -> None:
        nonlocal written
        written += 1
        if progress:
            progress("converting", written, len(chosen))

    with _staged(out, one_file=bool(form.one_file)) as place:
        try:
            form.write(chosen, place, options, done)
        except ValueError as error:
            # The digest of the file was correct, so it was published with this content.
            what = f"has a file {found.files[chosen[written].id]} that does not contain its table"
            raise ReleaseError.at(found.path or Path(), what, "Repeat the release.") from error
        files = [place] if form.one_file else sorted(place.iterdir())
        sizes = {path.name: path.stat().st_size for path in files}
    return Conversion(out, to, tuple(table.id for table in chosen), sizes)


def _check_place(out: Path, ending: str) -> None:
    """Refuse a path that exists already or cannot be written, before the conversion."""
    if ending and out.suffix.lower() != ending:
        raise ParameterError(f"{out} is written as one file. Choose a name that ends with {ending}.", parameter="out")
    check_unpublished(out)
    if os.path.lexists(out):
        raise FileWriteError.to(out, "it exists already", "Choose another name.")
    if not out.absolute().parent.is_dir():
        raise FileWriteError.to(out, "its folder does not exist", "Create the folder, or choose another.")


@contextmanager
def _staged(out: Path, *, one_file: bool) -> Iterator[Path]:
    """Yield a hidden path next to OUT; move it to OUT when it is complete, remove it otherwise."""
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name[:40]}.", dir=out.absolute().parent))
        place = folder / (out.name if one_file else "tables")
        if not one_file:
            place.mkdir()
        yield place
        for path in [*(place.iterdir() if place.is_dir() else ()), place]:
            sync(path)
        if os.path.lexists(out):
            # Another run has written the path in the meantime; its files are kept.
            raise FileWriteError.to(out, "it exists already", "Choose another name.")
        place.rename(out)
        sync(out.absolute().parent)
    except OSError as error:
        raise FileWriteError.to(
            out, error.strerror or "the write failed", "Check the folder and the free space."
        ) from error
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
