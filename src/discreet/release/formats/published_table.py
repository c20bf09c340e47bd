"""A published table for conversion: variables with codes and labels, and cells in batches of constant size.

Cells are read in the order of the file, which omits cells with a published 0. Alternatively, all cells are read in the
order of the codes, the last variable fastest. In that case the values are first written to a temporary file, so that
memory does not grow with the table.
"""

from __future__ import annotations

import hashlib
import math
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.engines.spill_folder import SpillFolder
from discreet.errors import ParameterError, ReleaseError, UnknownNameError
from discreet.programme.axis import counted_axes
from discreet.programme.model import TOTAL, VALUE
from discreet.programme.selection import matches
from discreet.release.disclosed_noise import CountIntervals, noise_sentences
from discreet.release.table_files import read_batches
from discreet.tabulation.table_grid import MOST_CELLS, code_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from discreet.arrays import Ints
    from discreet.programme.model import Breakdown, Programme, Table, Topic
    from discreet.release.release import Release

BATCH = 1 << 16
"""Number of cells per batch."""
ENGLISH = "en"
RESTORE = "Restore it from a backup, or repeat the release."
INTERVAL = ("lower", "upper")
"""The columns of a 95 % interval."""


@dataclass(frozen=True, eq=False)
class PublishedVariable:
    """One column of codes.

    Attributes:
        name: the name of the column.
        topic: the topic of the categories.
        label: the label; the name by default.
        codes: the codes in the order of the programme, the total first.
        labels: the label of every code; the code by default.
        levels: the level of every code; None if there is only one level in addition to the total.
        parents: the parent of every code in this column; "" for none.
    """

    name: str
    topic: str
    label: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    levels: tuple[str, ...] | None
    parents: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CodedCells:
    """A batch of cells: the index of the code for every variable, and the values of every measure."""

    numbers: tuple[Ints, ...]
    values: dict[str, Ints]


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One table of a release.

    Attributes:
        release: the release.
        table: the definition of the table.
        variables: the columns of codes.
        intervals: whether to include the 95 % interval of the true count of every cell.
        zeros: whether to include cells with a published 0.
    """

    release: Release
    table: Table
    variables: tuple[PublishedVariable, ...]
    intervals: bool = False
    zeros: bool = False

    @property
    def id(self) -> str:
        """Return the id of the table."""
        return self.table.id

    @property
    def title(self) -> str:
        """Return a title from the population and the variables."""
        labels = [variable.label for variable in self.variables]
        listed = " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1] if labels else ""]))
        return f"{self.table.population[:1].upper()}{self.table.population[1:]} by {listed or 'total'}"

    @property
    def cells(self) -> int:
        """Return the number of cells, including those with a published 0."""
        return math.prod(len(variable.codes) for variable in self.variables)

    @property
    def rows(self) -> int:
        """Return the number of cells with a published count other than 0."""
        return self.release.rows_of(self.id) if self.release.path else self.release.table(self.id).num_rows

    @property
    def counts(self) -> tuple[str, ...]:
        """Return the names of the columns of counts."""
        found = self.release.description.get("counts")
        return tuple(found) if found else tuple(self._stored)

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the names of the columns of counts and of intervals."""
        return (*self.counts, *(INTERVAL if self.intervals and VALUE in self.counts else ()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the noise for data users."""
        return noise_sentences(self.release.description["noise"], self.counts)

    @cached_property
    def _stored(self) -> tuple[str, ...]:
        """Return the columns of counts in the file, for releases of earlier versions."""
        names = self.release.table(self.id).column_names
        return tuple(names[len(self.variables) :])

    def batches(self) -> Iterator[CodedCells]:
        """Yield the cells: those with a row in the order of the file, or all in the order of the codes."""
        for batch in self._all_cells() if self.zeros else self._rows():
            yield self._with_intervals(batch)

    def matrix(self) -> Iterator[list[int]]:
        """Yield the values of all cells in the order of the codes, including zeros; measures are adjacent."""
        for batch in self._all_cells():
            values = self._with_intervals(batch).values
            yield np.stack([values[name] for name in self.measures], axis=1).ravel().tolist()

    def _with_intervals(self, batch: CodedCells) -> CodedCells:
        if self.measures == self.counts:
            return batch
        ends = self._count_intervals.of(batch.values[VALUE])
        return CodedCells(batch.numbers, {**batch.values, **dict(zip(INTERVAL, ends, strict=True))})

    @cached_property
    def _count_intervals(self) -> CountIntervals:
        return CountIntervals(self.release.description["noise"])

    def _rows(self) -> Iterator[CodedCells]:
        import pyarrow as pa

        known = [pa.array(variable.codes) for variable in self.variables]
        for rows in self._read():
            numbers = []
            for variable, codes in zip(self.variables, known, strict=True):
                found = code_numbers(rows.column(variable.name), codes)
                if found is None:
                    what = f"has a table {self.id} with codes of {variable.name} that its programme does not define"
                    raise ReleaseError.at(self.release.place, what, RESTORE)
                numbers.append(found)
            yield CodedCells(tuple(numbers), {name: rows.column(name).to_numpy() for name in self.counts})

    def _read(self) -> Iterator[pa.RecordBatch]:
        if self.release.path is None:
            yield from self.release.table(self.id).to_batches(max_chunksize=BATCH)
            return
        path = self.release.path / self.release.files[self.id]
        codes = [variable.name for variable in self.variables]
        yield from read_batches(path, codes, self.counts, BATCH, escaped=self.release.is_escaped)

    def _all_cells(self) -> Iterator[CodedCells]:
        sizes = [len(variable.codes) for variable in self.variables]
        with self._matrices() as matrices:
            for start in range(0, self.cells, BATCH):
                places = np.arange(start, min(start + BATCH, self.cells))
                values = {name: np.array(matrix[start : start + len(places)]) for name, matrix in matrices.items()}
                yield CodedCells(tuple(np.unravel_index(places, sizes)) if sizes else (), values)

    @contextmanager
    def _matrices(self) -> Iterator[Mapping[str, np.memmap[tuple[int, ...], np.dtype[np.int64]]]]:
        """Yield the values of all cells by flat index, in temporary files."""
        if self.cells > MOST_CELLS:
            raise ParameterError(
                f"Table {self.id} has {self.cells:,} cells including zeros; the maximum is {MOST_CELLS:,}. "
                "Use csv without --zeros, or exclude the table (--tables).",
                parameter="tables",
            )
        sizes = [len(variable.codes) for variable in self.variables]
        with SpillFolder() as folder:
            found = {
                name: np.memmap(f"{folder.name}/{number}", dtype=np.int64, mode="w+", shape=(self.cells,))
                for number, name in enumerate(self.counts)
            }
            for batch in self._rows():
                places = np.ravel_multi_index(batch.numbers, sizes) if sizes else np.zeros(1, dtype=np.int64)
                for name, matrix in found.items():
                    matrix[places] = batch.values[name]
            yield found

    def check(self) -> None:
        """Refuse a file that differs from the published one."""
        if self.release.path is None:
            return
        file, digest = self.release.files[self.id], ""
        path = self.release.path / file
        try:
            status = path.stat()
            # Reading a pipe would block, and a device may be endless.
            if stat.S_ISREG(status.st_mode) and status.st_size == self.release.size_of(self.id):
                with path.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            what = f"has no file {file} that can be read ({error.strerror})"
            raise ReleaseError.at(self.release.place, what, RESTORE) from error
        if digest != self.release.digests[self.id]:
            what = f"has a file {file} that is damaged or was changed"
            raise ReleaseError.at(self.release.place, what, RESTORE)


def published_tables(
    release: Release,
    patterns: Sequence[str] | None = None,
    language: str = ENGLISH,
    *,
    intervals: bool = False,
    zeros: bool = False,
) -> list[PublishedTable]:
    """Return the tables of a release that match the patterns, with labels in one language."""
    programme = release.programme
    ids = [table.id for table in programme.tables]
    for pattern in patterns or ():
        if not any(matches(name, pattern) for name in ids):
            raise UnknownNameError.among("table", pattern, ids)
    if lost := next((name for name in ids if name not in release.ids), None):
        raise ReleaseError.at(release.place, f"lists no file of table {lost}", RESTORE)
    tables = [t for t in programme.tables if not patterns or any(matches(t.id, pattern) for pattern in patterns)]
    axes = counted_axes(programme)
    known: dict[Breakdown, PublishedVariable] = {}
    for table in tables:
        for breakdown in table.breakdowns:
            if breakdown not in known:
                column = axes[breakdown.topic].column(breakdown)
                topic = programme.topics[breakdown.topic]
                levels = column.level_of_code
                known[breakdown] = PublishedVariable(
                    breakdown.code,
                    breakdown.topic,
                    topic.labels.get(language) or breakdown.code,
                    column.codes,
                    tuple(_labels(topic, column.codes, language)),
                    tuple(levels[0][number] for number in levels[1]) if levels else None,
                    tuple(_parents(topic, column.codes)),
                )
    return [
        PublishedTable(release, table, tuple(known[b] for b in table.breakdowns), intervals, zeros) for table in tables
    ]


def label_language(programme: Programme, asked: str | None) -> str:
    """Return the language of labels: the requested one, English, or the first language of the programme."""
    found = [language for topic in programme.topics.values() for language in topic.labels]
    trees = [topic.tree for topic in programme.topics.values() if topic.tree]
    found += [language for tree in trees for category in tree.categories for language in category.labels]
    known = tuple(dict.fromkeys(found))
    if asked is not None and asked not in known:
        raise UnknownNameError.among("language of the programme", asked, known)
    return asked or (ENGLISH if ENGLISH in known or not known else known[0])


def _labels(topic: Topic, codes: Sequence[str], language: str) -> Iterator[str]:
    known = {category.code: category.labels for category in topic.tree.categories} if topic.tree else {}
    total = "Total" if language == ENGLISH else TOTAL
    for code in codes:
        yield total if code == TOTAL else known.get(code, {}).get(language) or code


def _parents(topic: Topic, codes: Sequence[str]) -> Iterator[str]:
    """Yield the parent of every code in the column: its nearest ancestor in the tree, or the total."""
    above = {category.code: category.parent for category in topic.tree.categories} if topic.tree else {}
    shown = set(codes)
    for code in codes:
        parent = above.get(code, "")
        while parent and parent not in shown:
            parent = above.get(parent, "")
        yield parent or (TOTAL if TOTAL in shown and code != TOTAL else "")
