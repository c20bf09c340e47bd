"""A release: its public description, its tables and, for its curator, the record next to it.

Opening a release checks its description; errors name the entry that is missing or wrong.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import ProgrammeError, RecordFileError, ReleaseError, UnknownNameError, UnreadableFileError
from discreet.limits import MAX_JSON_BYTES, MAX_RELEASE_BYTES, read_bounded, read_bounded_json
from discreet.programme.model import VALUE, WEIGHTED
from discreet.programme.programme_json import programme_from_json
from discreet.release.disclosed_noise import typical_change
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING
from discreet.release.readme import readme
from discreet.release.record import Record, record_from_json
from discreet.release.release_folder import EXACT, RECORD, RELEASE, TABLES, curator_folder, recover
from discreet.release.table_files import TableFile, read_table
from discreet.results import NotebookView, html_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from discreet.programme.model import Programme

    Kind = type | tuple[type, ...]

KIND = "release"
SCHEMAS = ("discreet/1", "discreet/2")
"""Versions of the release format; since version 2, tables have columns of levels, and there is a README.md."""
ENTRIES: dict[str, type] = {"name": str, "noise": dict, "format": str, "files": list, "programme": dict}
FILE_ENTRIES: dict[str, type] = {"id": str, "file": str, "rows": int, "bytes": int, "sha256": str}
NOISE_ENTRIES: dict[str, Kind] = {
    "method": str,
    "typical_noise": (int, float),
    "mean_noise": (int, float),
    "bound": str,
    "smallest_published": int,
    "privacy": dict,
}
"""Optional entries on the noise, and their types."""
PRIVACY_ENTRIES: dict[str, Kind] = {"epsilon": (int, float), "delta": (int, float), "condition": str}
WORDS = {str: "text", dict: "an object", list: "a list", int: "a whole number", (int, float): "a number"}
RESTORE = "Restore it from a backup, or repeat the release."


def read_description(folder: Path, most: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Return the content of the release.json of a folder; refuse a file with more bytes than `most`."""
    try:
        content = read_bounded_json(folder / RELEASE, most)
    except (FileNotFoundError, NotADirectoryError) as error:
        todo = f"Specify the folder of a release ({TABLES}/, {RELEASE})."
        raise ReleaseError.at(folder, f"contains no {RELEASE}", todo) from error
    except OSError as error:
        what = f"has a {RELEASE} that cannot be read ({error.strerror})"
        raise ReleaseError.at(folder, what, "Check the path and its permissions.") from error
    except UnreadableFileError as error:
        raise ReleaseError.at(folder, f"has a {RELEASE} that {error.what}", RESTORE) from error
    if not isinstance(content, dict) or content.get("schema") not in SCHEMAS or content.get("kind") != KIND:
        raise ReleaseError.at(folder, f"has a {RELEASE} with another schema than {' or '.join(SCHEMAS)}", RESTORE)
    _check_entries(folder, content, ENTRIES, "")
    if content["schema"] != SCHEMAS[0] and content.get("counts") not in ([VALUE], [WEIGHTED], [VALUE, WEIGHTED]):
        raise _wrong(folder, f"counts is not a list of {VALUE} and {WEIGHTED}")
    if not isinstance(content.get("readme", ""), str):
        raise _wrong(folder, f"readme is not {WORDS[str]}")
    _check_noise(folder, content["noise"])
    _check_files(folder, content["files"])
    return content


def _check_noise(folder: Path, noise: dict[str, Any]) -> None:
    _check_entries(folder, noise, {name: kind for name, kind in NOISE_ENTRIES.items() if name in noise}, "noise.")
    if "privacy" in noise:
        _check_entries(folder, noise["privacy"], PRIVACY_ENTRIES, "noise.privacy.")
    for name, minimum in (("typical_noise", 0), ("smallest_published", 1)):
        if not minimum <= noise.get(name, minimum) < math.inf:
            raise _wrong(folder, f"noise.{name} is less than {minimum} or not finite")
    if not math.isfinite(noise.get("mean_noise", 0)):
        raise _wrong(folder, "noise.mean_noise is not finite")


def _check_files(folder: Path, entries: list[Any]) -> None:
    seen = set()
    for number, entry in enumerate(entries):
        _check_file(folder, entry, f"files[{number}]")
        if entry["id"] in seen:
            raise _wrong(folder, f"files[{number}].id is a duplicate")
        seen.add(entry["id"])


def _check_file(folder: Path, entry: object, where: str) -> None:
    if not isinstance(entry, dict):
        raise _wrong(folder, f"{where} is not {WORDS[dict]}")
    _check_entries(folder, entry, FILE_ENTRIES, f"{where}.")
    # The description is untrusted: its paths must not leave the folder.
    path = PurePosixPath(entry["file"])
    if path.is_absolute() or ".." in path.parts:
        raise _wrong(folder, f"{where}.file is not in the release")


def _check_entries(folder: Path, content: dict[str, Any], wanted: Mapping[str, Kind], where: str) -> None:
    for name, kind in wanted.items():
        if name not in content:
            raise _wrong(folder, f"{where}{name} is missing")
        # In Python bool is a subclass of int.
        if not isinstance(content[name], kind) or isinstance(content[name], bool):
            raise _wrong(folder, f"{where}{name} is not {WORDS[kind]}")


def _wrong(folder: Path, what: str) -> ReleaseError:
    return ReleaseError.at(folder, f"has a {RELEASE} in which {what}", RESTORE)


CURATOR_ONLY = "Only the curator who made a release can assess it."
COLUMNS = (
    "One column per variable with the code of a category, or _T for the total. If a variable has several levels, a "
    "column NAME_level with the level of the code follows. The last columns are the counts: value, weighted or both."
)
ABSENT = "A cell of the programme without a row is a published 0."


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Summary of a run for the curator; the number of records is confidential.

    Attributes:
        records: the number of counted records.
        dropped: the number of records excluded because of a missing value.
        margins: the number of rows of pre-tabulated data excluded because they are sums of other rows.
        topics: the number of topics.
        statistics: the number of distinct statistics, each computed once.
        cells: the number of cells of these statistics, including empty cells.
        seconds: the time per stage; counting, noise and writing overlap.
        resumed: the number of tables reused from an interrupted run.
        warnings: warnings for the curator before publication.
    """

    records: int
    dropped: int
    topics: int
    statistics: int
    cells: int
    seconds: dict[str, float]
    resumed: int = 0
    margins: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Release(NotebookView):
    """Published tables, in a folder or in memory.

    Attributes:
        path: the folder; None for a release in memory.
        description: the content of release.json.
        summary: the summary of the run; None if the release was opened from a folder.
        held: the tables of a release in memory.
        held_exact: the tables of true counts of a release in memory, if they were stored.
        own_record: the record of a release in memory, or of a release that this run made.
    """

    path: Path | None
    description: dict[str, Any]
    summary: RunSummary | None = None
    held: Mapping[str, pa.Table] | None = field(default=None, repr=False)
    held_exact: Mapping[str, pa.Table] | None = field(default=None, repr=False)
    own_record: Record | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        path = self.path and str(self.path)
        return f"Release({self.description.get('name')!r}, {len(self.ids)} tables, path={path!r})"

    @cached_property
    def programme(self) -> Programme:
        """Return the published programme."""
        try:
            return programme_from_json(self.description["programme"])
        except ProgrammeError as error:
            what = f"has a {RELEASE} whose programme is invalid: {str(error).removesuffix('.')}"
            raise ReleaseError.at(self.place, what, RESTORE) from error

    @property
    def files(self) -> dict[str, str]:
        """Return the file of every table, by id."""
        return {name: entry["file"] for name, entry in self._entries.items()}

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of the file of every table, by id."""
        return {name: entry["sha256"] for name, entry in self._entries.items()}

    def size_of(self, name: str) -> int:
        """Return the size of the file of a table in bytes, as stated in release.json."""
        return int(self._entries[name]["bytes"])

    def rows_of(self, name: str) -> int:
        """Return the number of rows of the file of a table, as stated in release.json."""
        return int(self._entries[name]["rows"])

    @property
    def _entries(self) -> dict[str, dict[str, Any]]:
        return {entry["id"]: entry for entry in self.description["files"]}

    @property
    def has_levels(self) -> bool:
        """Return whether tables have columns of levels, and there is a README.md."""
        return bool(self.description["schema"] != SCHEMAS[0])

    @property
    def is_escaped(self) -> bool:
        """Return whether formulas in CSV files are escaped by an apostrophe; earlier versions did not escape them."""
        return self.description["format"] != "csv" or self.description.get("escaped") is True

    @property
    def place(self) -> Path:
        """Return the folder, or a description of a release in memory, for messages."""
        return self.path or Path("This release in memory")

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the tables."""
        return tuple(self.files) if self.held is None else tuple(self.held)

    def table(self, name: str, *, most_rows: int | None = None) -> pa.Table:
        """Return one table, with columns of codes and counts; refuse a file that differs from the published one.

        Args:
            name: the id of the table.
            most_rows: the maximum number of rows; a larger table is refused. Unlimited by default.
        """
        self._check_known(name)
        if self.path is None:
            return (self.held or {})[name]
        entry = self._entries[name]
        return self._read(self.path / entry["file"], entry["file"], entry["sha256"], entry["bytes"], most_rows)

    def frame(
        self,
        name: str,
        *,
        labels: bool = False,
        level: str | Mapping[str, str] | None = None,
        zeros: bool = False,
        intervals: bool = False,
    ) -> pd.DataFrame:
        """Return one table as a pandas data frame; refuse a file that differs from the published one.

        Select a level, or the total, of every variable before you add up rows.

        Args:
            name: the id of the table.
            labels: whether to add a column NAME_label after every column of codes.
            level: the level whose rows are kept, such as "LAU", for the variable that has it. A mapping such as
                {"GEO": "LAU", "SEX": "total"} selects levels of several variables. Other variables keep all rows,
                totals included. The column NAME_level of a selected variable is omitted.
            zeros: whether to add the cells without a row, which are published as 0. Rows are then sorted by code.
            intervals: whether to add columns lower and upper, the 95 % interval of the true count under the disclosed
                noise.
        """
        from discreet.release.formats.data_frame import table_frame

        return table_frame(self, name, labels=labels, level=level, zeros=zeros, intervals=intervals)

    def _repr_html_(self) -> str:
        rows = ((name, *self._content_of(name)) for name in self.ids)
        return html_view(f"Release {self}", ("table", "population", "variables", "rows"), rows, len(self.ids))

    def _content_of(self, name: str) -> tuple[str, str, str]:
        """Return population, variables and number of rows of a table as text."""
        table = next(table for table in self.programme.tables if table.id == name)
        rows = self.rows_of(name) if name in self._entries else self.table(name).num_rows
        return table.population, ", ".join(each.code for each in table.breakdowns), f"{rows:,}"

    def exact(self, name: str) -> pa.Table:
        """Return the true counts of one table, if they were stored; they are confidential."""
        self._check_known(name)
        if name in (self.held_exact or {}):
            return (self.held_exact or {})[name]
        path = curator_folder(self.path) / EXACT / Path(self.files[name]).name if self.path else None
        if path is None or not os.path.lexists(path):
            what = f"has no stored true counts of table {name}"
            raise ReleaseError.at(self.place, what, "To store them, run protect with --keep-exact.")
        return self._read(path, f"{path.parent.parent.name}/{EXACT}/{path.name}", None)

    def _check_known(self, name: str) -> None:
        if name not in self.ids:
            raise UnknownNameError.among("table of the release", name, self.ids)

    def _read(
        self, path: Path, called: str, sha256: str | None, size: int | None = None, most_rows: int | None = None
    ) -> pa.Table:
        try:
            return read_table(path, sha256, size=size, most_rows=most_rows, escaped=self.is_escaped)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ReleaseError.at(self.place, f"has no file {called}", RESTORE) from error
        except OSError as error:
            what = f"has a file {called} that cannot be read ({error.strerror})"
            raise ReleaseError.at(self.place, what, "Check its permissions.") from error
        except (ValueError, UnreadableFileError) as error:
            what = f"has a file {called} that is damaged or was changed"
            raise ReleaseError.at(self.place, what, RESTORE) from error

    @property
    def has_record(self) -> bool:
        """Return whether the curator's record is available."""
        return self.own_record is not None or (
            self.path is not None and os.path.lexists(curator_folder(self.path) / RECORD)
        )

    @property
    def record(self) -> Record:
        """Return the curator's record of the noise; refuse the record of another release."""
        found = self.unchecked_record
        if self.path is not None and not self._record_matches:
            what = f"and {curator_folder(self.path).name}/{RECORD} next to it belong to different releases"
            raise ReleaseError.at(self.path, what, "Put the curator's folder of this release next to it.")
        return found

    @cached_property
    def _record_matches(self) -> bool:
        return self._matches(self.unchecked_record)

    @cached_property
    def unchecked_record(self) -> Record:
        """Return the record next to the release, without checking that it belongs to this release."""
        if self.own_record or self.path is None:
            return cast("Record", self.own_record)
        path = curator_folder(self.path) / RECORD
        called = f"{path.parent.name}/{RECORD}"
        try:
            return record_from_json(read_bounded(path, MAX_RELEASE_BYTES), path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ReleaseError.at(self.path, f"has no {called} next to it", CURATOR_ONLY) from error
        except OSError as error:
            what = f"has next to it a {called} that cannot be read ({error.strerror})"
            raise ReleaseError.at(self.path, what, CURATOR_ONLY) from error
        except UnreadableFileError as error:
            raise RecordFileError.at(path, f"{error.what}.", "Specify a record.json.") from error

    def _matches(self, record: Record) -> bool:
        """Return whether a record matches the published programme and the disclosed size of the noise."""
        try:
            if record.definition is not None and _public(record.definition) != self.description["programme"]:
                return False
        except (KeyError, TypeError, AttributeError):
            # The definition is invalid.
            return False
        disclosed, noise = self.description["noise"].get("typical_noise"), record.public()
        made = noise.get("typical_noise")
        if disclosed is None or made is None:
            return bool(disclosed == made)
        # Both are rounded to one decimal. Earlier descriptions combined the mean and the spread in one number.
        together = math.hypot(made, noise.get("mean_noise", 0.0))
        return any(math.isclose(disclosed, each, abs_tol=0.11) for each in (made, together))

    def __str__(self) -> str:
        noise = self.description["noise"]
        how = {ROUNDING: "are rounded", FIXED_CHANGE: "are changed in a fixed way"}.get(
            str(noise.get("method")), "have random noise"
        )
        typical = f"; counts {how}, typically ±{typical_change(noise):.1f}" if "typical_noise" in noise else ""
        name = self.path.name if self.path else "in memory"
        return f"{name}: {len(self.ids)} tables of {self.description['name']}{typical}."


def describe(record: Record, files: Sequence[TableFile], form: str, published: Programme) -> dict[str, Any]:
    """Return the content of release.json: the disclosed noise, the meaning of absent rows, and the files.

    Args:
        record: the record of the release.
        files: the files of the tables.
        form: the file format of the tables.
        published: the published programme.
    """
    programme, run = record.definition or {}, record.run or {}
    weighted = [WEIGHTED] if run.get("weight") else []
    found: dict[str, Any] = {
        "schema": SCHEMAS[-1],
        "kind": KIND,
        "name": programme["name"],
        "noise": record.public(),
        "absent": ABSENT,
        "format": form,
        **({"escaped": True} if form == "csv" else {}),
        "columns": COLUMNS,
        "counts": weighted if run.get("weighted_only") else [VALUE, *weighted],
        "files": [file.to_json() for file in files],
    }
    if files:
        found["readme"] = hashlib.sha256(readme(found, published).encode()).hexdigest()
    return {**found, "programme": _public(programme)}


def _public(programme: dict[str, Any]) -> dict[str, Any]:
    """Return a programme without the column names of the office's data, which are confidential."""
    return {**programme, "topics": [_without(topic, "column") for topic in programme["topics"]]}


def _without(entry: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != name}


def open_release(path: Path | str) -> Release:
    """Return the release in a folder, or refuse a folder that is not a release."""
    path = Path(path)
    recover(path)
    return Release(path, read_description(path, MAX_RELEASE_BYTES))
