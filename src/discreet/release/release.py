"""A release that is there: its tables, what it tells its users, and, beside it, the curator's record."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import ReleaseError, UnknownNameError
from discreet.programme.json_form import programme_from_json
from discreet.release.folder import RECORD, RELEASE, TABLES, curator_folder, recover
from discreet.release.record import SCHEMA, Record, record_from_json
from discreet.release.tables import TableFile, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from discreet.programme.model import Programme

KIND = "release"
ABSENT = "A cell of the programme that has no row is a published 0."


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run read and made, for whoever ran it; the number of records is the curator's to know.

    Attributes:
        records: records counted.
        dropped: records left out because a value is missing.
        topics: topics used.
        statistics: different statistics, each computed once.
        cells: cells of all tables, empty ones too.
        seconds: time per stage; counting, noise and writing run side by side.
    """

    records: int
    dropped: int
    topics: int
    statistics: int
    cells: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Release:
    """Published tables, in a folder or in memory.

    Attributes:
        path: the folder, None in memory.
        description: what its release.json says.
        summary: of the run that made it, where that is this one.
        held: the tables of a release in memory.
        own_record: the record of a release in memory.
    """

    path: Path | None
    description: dict[str, Any]
    summary: Summary | None = None
    held: Mapping[str, pa.Table] | None = field(default=None, repr=False)
    own_record: Record | None = field(default=None, repr=False)

    @cached_property
    def programme(self) -> Programme:
        """Return the programme as it was published."""
        return programme_from_json(self.description["programme"])

    @property
    def files(self) -> dict[str, str]:
        """Return the file of every table, by id."""
        return {entry["id"]: entry["file"] for entry in self.description["files"]}

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the tables."""
        return tuple(self.files) if self.held is None else tuple(self.held)

    def table(self, name: str) -> pa.Table:
        """Return one table: a column per breakdown, and `value`."""
        if name not in self.ids:
            raise UnknownNameError.among("table of the release", name, self.ids)
        if self.path is None:
            return (self.held or {})[name]
        path = self.path / self.files[name]
        if not path.is_file():
            raise ReleaseError.at(self.path, f"has no file {self.files[name]}", "Make the release again.")
        return read_table(path)

    @cached_property
    def record(self) -> Record:
        """Return the curator's record of how the noise was made."""
        if self.own_record or self.path is None:
            return cast("Record", self.own_record)
        path = curator_folder(self.path) / RECORD
        if not path.is_file():
            what = f"has no {curator_folder(self.path).name}/{RECORD} beside it"
            raise ReleaseError.at(self.path, what, "Only the curator who made a release can assess it.")
        return record_from_json(path.read_text(encoding="utf-8"), path)

    def __str__(self) -> str:
        noise = self.description["noise"]
        typical = (
            f"; counts carry random noise, typically ±{noise['typical_noise']}" if "typical_noise" in noise else ""
        )
        name = self.path.name if self.path else "in memory"
        return f"{name}: {len(self.ids)} tables of {self.description['name']}{typical}."


def describe(record: Record, files: Sequence[TableFile], form: str) -> dict[str, Any]:
    """Return what a data user needs: the noise as far as it may be told, what is absent, and the files."""
    programme = record.definition or {}
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "name": programme["name"],
        "noise": record.public(),
        "absent": ABSENT,
        "format": form,
        "columns": "One per breakdown with the code of a category, _T for the total; then value.",
        "files": [file.to_json() for file in files],
        "programme": programme,
    }


def is_release(path: Path) -> bool:
    """Say whether a path is a folder with a release in it."""
    return path.is_dir() and (path / RELEASE).is_file()


def open_release(path: Path | str) -> Release:
    """Return the release in a folder, or refuse what is none."""
    path = Path(path)
    recover(path)
    try:
        content = json.loads((path / RELEASE).read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseError.at(
            path, f"holds no {RELEASE}", f"Give the folder of a release ({TABLES}/, {RELEASE})."
        ) from error
    except ValueError as error:
        raise ReleaseError.at(path, f"has a {RELEASE} that is not JSON", "Make the release again.") from error
    if not isinstance(content, dict) or (content.get("schema"), content.get("kind")) != (SCHEMA, KIND):
        raise ReleaseError.at(path, f"has a {RELEASE} of another kind than {SCHEMA}", "Make the release again.")
    return Release(path, content)
