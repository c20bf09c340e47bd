"""What is counted: records in one source, or a folder of tables that are counted already."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from discreet.errors import DataFileError, ParameterError
from discreet.protection.margin_agreement import Agreement
from discreet.protection.record_loading import load
from discreet.records.record_columns import RecordColumns
from discreet.release.table_files import file_stem
from discreet.sources.source import open_source
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme, Table
    from discreet.progress import Progress
    from discreet.protection.record_loading import LoadedRecords
    from discreet.sources.source import Source

ENDINGS = (".parquet", ".csv", ".csv.gz")
"""Of the file of a table, in the order in which they are looked for."""


class DataInput(Protocol):
    """Something that can be loaded into an engine and counted there."""

    def fingerprint(self) -> str:
        """Return a digest of the data."""

    def check_unchanged(self) -> None:
        """Refuse data that are not as they were when they were opened."""

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, tell: Progress) -> LoadedRecords:
        """Bring them into the engine."""

    def close(self) -> None:
        """Let go of files and connections."""


@dataclass(frozen=True)
class RecordInput:
    """One source of records, or of rows with counts.

    Attributes:
        source: the records.
        roles: the columns that are no topics.
        missing: what to do with records without a value.
    """

    source: Source
    roles: RecordColumns
    missing: str

    def fingerprint(self) -> str:
        """Return the digest of the source."""
        return self.source.fingerprint()

    def check_unchanged(self) -> None:
        """Refuse a source that has changed."""
        self.source.check_unchanged()

    def close(self) -> None:
        """Let go of the source."""
        self.source.close()

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, tell: Progress) -> LoadedRecords:
        """Read the records once."""
        return load(self.source, programme, mechanism, self.roles, engine, missing=self.missing, tell=tell)


@dataclass(frozen=True)
class TabulatedInput:
    """A folder with one file per table, called by its id, each with a code per column and a count.

    Tables whose finest cells are sums of another's are made from that other. Their files may be missing; where they are
    there, they must agree with it. The universe of a table is not looked at: its file holds what it counts.
    """

    folder: Path
    roles: RecordColumns
    programme: Programme
    encoding: str | None = None

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Return the file of every table that is published from its own cells, by id."""
        found = {}
        for tables in self.programme.populations.values():
            made = plan(self.programme, tables)
            for base in made.maximal:
                table = next(entry.table for entry in made.tables if entry.base == base)
                found[table.id] = open_source(self._file(table), encoding=self.encoding)
        return found

    @cached_property
    def others(self) -> dict[str, Source]:
        """Return the files of tables that are made from another's cells, as far as they are there."""
        left = [table for table in self.programme.tables if table.id not in self.sources]
        return {
            table.id: open_source(path, encoding=self.encoding)
            for table in left
            if (path := self._found(table)) is not None
        }

    def _found(self, table: Table) -> Path | None:
        paths = (self.folder / f"{file_stem(table.id)}{ending}" for ending in ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def _file(self, table: Table) -> Path:
        if path := self._found(table):
            return path
        stem = file_stem(table.id)
        raise DataFileError(
            f"{self.folder} has no file {stem}.parquet or {stem}.csv for table {table.id}. Add it, or leave the table "
            "out (--tables).",
            path=self.folder,
        )

    def fingerprint(self) -> str:
        """Return the digest of the digests of all files."""
        digest = hashlib.sha256()
        for name, source in sorted(self.sources.items()):
            digest.update(f"{name}\0{source.fingerprint()}\n".encode())
        return f"sha256:{digest.hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse files that have changed."""
        for source in (*self.sources.values(), *self.others.values()):
            source.check_unchanged()

    def close(self) -> None:
        """Let go of the files."""
        for source in (*self.sources.values(), *self.others.values()):
            source.close()

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, tell: Progress) -> LoadedRecords:
        """Read every file once, each into a table of its own, and refuse tables that do not agree."""
        places, largest, margins = {}, 0, 0
        notes: list[str] = []
        files = {**self.others, **self.sources}
        for number, (name, source) in enumerate(files.items()):
            places[name] = f"table{number}"
            own = _as_in_file(programme, name, source)
            found = load(
                source,
                own,
                mechanism,
                self.roles if name in self.sources else RecordColumns(count=self.roles.count),
                engine,
                missing="error",
                tell=lambda *_: None,
                name=places[name],
                tables=[table for table in own.tables if table.id == name],
            )
            largest, margins = max(largest, found.records), margins + (found.margins if name in self.sources else 0)
            notes += [f"{source.name}: {note}" for note in found.notes]
            tell("reading", number + 1, len(files))
        for tables in programme.populations.values():
            Agreement(plan(programme, tables), places, found.columns, engine).check()
        for name in self.others:
            engine.drop(places.pop(name))
        conditions = dict.fromkeys([None, *(table.universe for table in programme.tables)])
        return replace(
            found,
            programme=programme,
            records=largest,
            margins=margins,
            conditions=conditions,
            places=places,
            notes=tuple(notes),
        )


def _as_in_file(programme: Programme, name: str, source: Source) -> Programme:
    """Return the programme with the columns as a file of one table has them: called by breakdown or by topic."""
    columns = {
        breakdown.topic: breakdown.code
        for table in programme.tables
        if table.id == name
        for breakdown in table.breakdowns
        if breakdown.code in source.columns
    }
    topics = {
        topic: replace(entry, column=columns.get(topic, entry.column)) for topic, entry in programme.topics.items()
    }
    return replace(programme, topics=topics, tables=tuple(replace(table, universe=None) for table in programme.tables))


def open_input(
    data: object,
    programme: Programme,
    roles: RecordColumns,
    missing: str,
    *,
    tabulated: bool,
    encoding: str | None = None,
) -> DataInput:
    """Return the input for what was given as data."""
    if not tabulated:
        return RecordInput(open_source(data, encoding=encoding), roles, missing)
    (folder,) = data if isinstance(data, list | tuple) and len(data) == 1 else (data,)
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        raise ParameterError(
            "Tables that are counted already are given as one folder with a file per table, called by its id.",
            parameter="tabulated",
        )
    if roles.count is None:
        raise ParameterError(
            "Tables that are counted already need the column of their counts. Example: --count value",
            parameter="count",
        )
    if missing != "error":
        raise ParameterError("In tables that are counted already no value may be missing.", parameter="missing")
    return TabulatedInput(Path(folder), roles, programme, encoding)
