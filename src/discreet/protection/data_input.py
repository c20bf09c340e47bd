"""Input of the pipeline: records in one source, or a folder of pre-tabulated tables."""

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
"""File extensions of pre-tabulated tables, in search order."""


class DataInput(Protocol):
    """Data that can be loaded into an engine and counted there."""

    def fingerprint(self) -> str:
        """Return a digest of the data."""

    def check_unchanged(self) -> None:
        """Refuse data that have changed since they were opened."""

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, progress: Progress) -> LoadedRecords:
        """Load the data into the engine."""

    def close(self) -> None:
        """Close files and connections."""


@dataclass(frozen=True)
class RecordInput:
    """One source of records, or of rows with counts.

    Attributes:
        source: the records.
        roles: the columns of ids, keys, counts and weights.
        missing: the treatment of missing values: `error`, `category` or `drop`.
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
        """Close the source."""
        self.source.close()

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, progress: Progress) -> LoadedRecords:
        """Read the records once."""
        return load(self.source, programme, mechanism, self.roles, engine, missing=self.missing, progress=progress)


@dataclass(frozen=True)
class TabulatedInput:
    """A folder of pre-tabulated tables: one file per table, named after its id, with columns of codes and a count.

    A table whose finest cells are sums of the cells of another table is computed from that table. Its own file is
    optional; if it exists, its counts must agree. The universe of a table is ignored: its file contains only the
    population of the table.
    """

    folder: Path
    roles: RecordColumns
    programme: Programme
    encoding: str | None = None

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Return the file of every table that is computed from its own cells, by id."""
        found = {}
        for tables in self.programme.populations.values():
            made = plan(self.programme, tables)
            for base in made.maximal:
                table = next(entry.table for entry in made.tables if entry.base == base)
                found[table.id] = open_source(self._file(table), encoding=self.encoding)
        return found

    @cached_property
    def others(self) -> dict[str, Source]:
        """Return the existing files of tables that are computed from the cells of another table, by id."""
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
            f"{self.folder} has no file {stem}.parquet or {stem}.csv for table {table.id}. Add it, or exclude the "
            "table (--tables).",
            path=self.folder,
        )

    def fingerprint(self) -> str:
        """Return a digest of the digests of all files."""
        digest = hashlib.sha256()
        for name, source in sorted(self.sources.items()):
            digest.update(f"{name}\0{source.fingerprint()}\n".encode())
        return f"sha256:{digest.hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse files that have changed."""
        for source in (*self.sources.values(), *self.others.values()):
            source.check_unchanged()

    def close(self) -> None:
        """Close the files."""
        for source in (*self.sources.values(), *self.others.values()):
            source.close()

    def load(self, programme: Programme, mechanism: Mechanism, engine: Engine, progress: Progress) -> LoadedRecords:
        """Read every file once, each into its own table of the engine, and refuse inconsistent tables."""
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
                progress=lambda *_: None,
                name=places[name],
                tables=[table for table in own.tables if table.id == name],
            )
            largest, margins = max(largest, found.records), margins + (found.margins if name in self.sources else 0)
            notes += [f"{source.name}: {note}" for note in found.notes]
            progress("reading", number + 1, len(files))
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
    """Return the programme with the columns bound to those of one table's file, named by breakdown or by topic."""
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
    """Return the input for the data argument of `protect`."""
    if not tabulated:
        return RecordInput(open_source(data, encoding=encoding), roles, missing)
    (folder,) = data if isinstance(data, list | tuple) and len(data) == 1 else (data,)
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        raise ParameterError(
            "Pre-tabulated data must be one folder with a file per table, named after the id of the table.",
            parameter="tabulated",
        )
    if roles.count is None:
        raise ParameterError(
            "Pre-tabulated data need a column of counts. Specify it, for example: --count value",
            parameter="count",
        )
    if missing != "error":
        raise ParameterError(
            "Pre-tabulated data must not have missing values. Remove --missing.",
            parameter="missing",
        )
    return TabulatedInput(Path(folder), roles, programme, encoding)
