"""Writers that collect the tables of a new release, in a folder or in memory."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, Self

from discreet.records.secret import keyed_digest
from discreet.release.readme import readme
from discreet.release.release import Release, describe
from discreet.release.release_folder import description_digest, stage, write_errors
from discreet.release.run_journal import LOCK_TIMEOUT, note
from discreet.release.table_files import file_stem, read_table, write_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    import pyarrow as pa

    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.release.release import RunSummary
    from discreet.release.table_files import TableFile


class ReleaseWriter(Protocol):
    """Collects tables and makes a release from them atomically."""

    def begin(self, run: str, secret: bytes | None = None) -> frozenset[str]:
        """Start a run with this digest, and return the ids of tables that an interrupted run with it has finished."""

    def put(self, name: str, published: pa.Table, exact: pa.Table | None, content: str = "") -> None:
        """Add a table, its true counts if they are stored, and a digest of them."""

    @property
    def contents(self) -> dict[str, str]:
        """Return the digests of true counts, by table."""

    def written(self, name: str) -> pa.Table | None:
        """Return a table that was added; None if the id is unknown."""

    def finish(self, record: Record, summary: RunSummary, programme: Programme) -> Release:
        """Make the release and return it."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


class FolderWriter:
    """Writes a release to disk; it is not visible before it is complete."""

    def __init__(
        self, out: Path, form: str, *, replace: bool, resume: bool = False, lock_timeout: float = LOCK_TIMEOUT
    ) -> None:
        self._out, self._form, self._replace, self._resume = out, form, replace, resume
        self._lock_timeout = lock_timeout
        self._files: list[TableFile] = []
        self._stems: list[str] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        staged = stage(self._out, replace=self._replace, resume=self._resume, lock_timeout=self._lock_timeout)
        self._staging = self._open.enter_context(staged)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.__exit__(kind, error, at)

    def begin(self, run: str, secret: bytes | None = None) -> frozenset[str]:
        """Start the journal, and reuse the finished tables of an interrupted run."""
        self._secret = secret
        self._files = self._staging.begin(run, secret, resume=self._resume)
        self._stems = [PurePosixPath(file.file).name.removesuffix(f".{self._form}") for file in self._files]
        return frozenset(file.id for file in self._files)

    @property
    def contents(self) -> dict[str, str]:
        """Return the digests of true counts, including those of reused tables."""
        return {file.id: file.content for file in self._files}

    def put(self, name: str, published: pa.Table, exact: pa.Table | None, content: str = "") -> None:
        """Write a table, then log it in the journal."""
        stem = file_stem(name, self._stems)
        self._stems.append(stem)
        with write_errors(self._out):
            file = replace(write_table(name, published, self._staging.tables, self._form, stem), content=content)
            digest = None
            if exact is not None:
                self._staging.exact.mkdir(mode=0o700, exist_ok=True)
                sha256 = write_table(name, exact, self._staging.exact, self._form, stem).sha256
                digest = keyed_digest(sha256, self._secret) if self._secret else None
            # An attacker could recover small true counts from an unkeyed digest, so such a table is not logged. An
            # interrupted run computes it again.
            if exact is None or digest:
                note(self._staging.folder, file, digest)
            self._files.append(file)

    def written(self, name: str) -> pa.Table | None:
        """Read a written table."""
        file = next((file for file in self._files if file.id == name), None)
        return None if file is None else read_table(self._staging.tables.parent / file.file)

    def finish(self, record: Record, summary: RunSummary, programme: Programme) -> Release:
        """Write the descriptions and move all files to their destination."""
        order = _order(record)
        files = sorted(self._files, key=lambda file: order[file.id])
        description = describe(record, files, self._form, programme)
        record = replace(record, release_digest=description_digest(description))
        self._staging.finish(description, record.to_json(), readme(description, programme))
        # Keep the record of this run: another run may have replaced the release in the meantime.
        return Release(self._out, description, summary=summary, own_record=record)


class MemoryWriter:
    """Keeps a release in memory."""

    def __init__(self) -> None:
        self._tables: dict[str, pa.Table] = {}
        self._exact: dict[str, pa.Table] = {}
        self.contents: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def begin(self, run: str, secret: bytes | None = None) -> frozenset[str]:  # noqa: ARG002 - the protocol requires it
        """Return no tables: a release in memory cannot be resumed."""
        return frozenset()

    def put(self, name: str, published: pa.Table, exact: pa.Table | None, content: str = "") -> None:
        """Store a table."""
        self.contents[name] = content
        self._tables[name] = published
        if exact is not None:
            self._exact[name] = exact

    def written(self, name: str) -> pa.Table | None:
        """Return a stored table."""
        return self._tables.get(name)

    def finish(self, record: Record, summary: RunSummary, programme: Programme) -> Release:
        """Return the release with its tables and its record."""
        held = {name: self._tables[name] for name in _order(record)}
        description = describe(record, [], "memory", programme)
        return Release(None, description, summary=summary, held=held, held_exact=self._exact, own_record=record)


def _order(record: Record) -> Mapping[str, int]:
    """Return the position of every table in the programme, which differs from the order of computation."""
    return {table["id"]: place for place, table in enumerate((record.definition or {})["tables"])}
