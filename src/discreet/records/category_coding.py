"""Coding of categories as small whole numbers, with a report of invalid values per column.

Every level that a table needs becomes a column of positions: the index of the record's category in that level. A code
in the data may be finer than the level (then its ancestor is used), but not coarser. The column of a topic is the one
that the programme binds to it, or the one with the name of the topic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ColumnError, DataProblem, DataProblemsError, UnknownNameError
from discreet.programme.universe import finest_codes, topics_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints
    from discreet.programme.model import Programme, Topic
    from discreet.programme.universe import Factor, Universe


def columns_of_topics(programme: Programme, columns: Sequence[str], source: str) -> dict[str, str]:
    """Return the column of every topic that the tables use: the name of the topic unless the programme binds another.

    Raises:
        ColumnError: if the column of a topic is not in the data. The message names the tables that need it, and
            similar columns.
    """
    found = {}
    for name, topic in programme.topics.items():
        tables = [
            table.id
            for table in programme.tables
            if name in {b.topic for b in table.breakdowns if b.levels} | topics_named(table.universe or "")
        ]
        if not tables:
            continue
        column = topic.column or name
        if column not in columns:
            label = topic.labels.get("en", "")
            # Exclude columns of other topics from the suggestions.
            free = [other for other in columns if other not in _named(programme)] or columns
            raise ColumnError.absent(source, name, column, label=label, tables=tables, columns=free)
        found[name] = column
    return found


def _named(programme: Programme) -> set[str]:
    return {topic.column or name for name, topic in programme.topics.items()}


MISSING = ("error", "category", "drop")
"""Treatments of missing values."""
MOST_EXAMPLES = 5
LONGEST_EXAMPLE = 20
MOST_DIFFERENT = 20
"""Maximum number of distinct unknown codes of which examples are shown; more may be ids or names of persons."""


@dataclass(frozen=True)
class LevelColumn:
    """A coded column: the codes of a level, in the order of their positions."""

    name: str
    topic: str
    codes: tuple[str, ...]


@dataclass(frozen=True)
class FilterColumn:
    """A coded column that is 1 for the records of a universe."""

    name: str
    universe: Universe


@dataclass
class _Seen:
    """Invalid values in one column."""

    missing: int = 0
    unknown: int = 0
    coarse: int = 0
    odd: bool = False
    examples: dict[str, None] = field(default_factory=dict)
    different: set[str] = field(default_factory=set)

    def note(self, text: str, times: int, *, coarse: bool) -> None:
        """Count records with an unknown or too coarse code."""
        self.coarse += times if coarse else 0
        self.unknown += 0 if coarse else times
        if not coarse and len(self.different) <= MOST_DIFFERENT:
            self.different.add(text)
        if len(self.examples) < MOST_EXAMPLES:
            self.examples[text[:LONGEST_EXAMPLE]] = None


UNKNOWN, COARSE = -1, -2
WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
"""A whole number written with decimals, as programs write columns of numbers with missing values."""


class TopicCoder:
    """The codes of one topic, and the position of each in the requested levels.

    A row of the lookup tables is a category; the row after the last is for missing values.
    """

    def __init__(
        self,
        topic: Topic,
        column: str,
        levels: Sequence[LevelColumn],
        filters: Sequence[FilterColumn],
        total: str | None = None,
    ) -> None:
        self.topic = topic
        self._total = total
        self._margins: dict[str, int] = {}
        self._cells: dict[str, int] = {}
        self.column = column
        self.seen = _Seen()
        self.decimals: dict[str, int] = {}
        known = _paths(topic)
        self._row = {code: row for row, code in enumerate(known)}
        paths = list(known.values())
        self.positions = {level.name: _positions(level, paths) for level in levels}
        finest = list(self.positions.values()) or [np.zeros(len(paths) + 1, dtype=np.int64)]
        self._coarse = np.any([places[:-1] < 0 for places in finest], axis=0)
        self.finest = _finest(topic, known)
        if any(topic.name in filtered.universe.topics for filtered in filters):
            # A universe consists of finest codes: it is unknown whether a coarser code belongs to it.
            self._coarse |= self.finest[:-1] < 0

    @property
    def margin_row(self) -> int:
        """Return the row of codes that are totals of other codes, in pre-tabulated data."""
        return len(self._row) + 1

    @property
    def missing_row(self) -> int:
        """Return the row of missing values."""
        return len(self._row)

    def rows(self, values: pa.Array) -> NDArray[np.int32]:
        """Return the row of the category of every record, and count invalid values."""
        import pyarrow as pa

        from discreet.sources.column_values import as_text

        encoded = _encoded(values)
        texts = None if encoded is None else as_text(encoded.dictionary)
        if encoded is None or texts is None:
            self.seen.odd = True
            return np.full(len(values), self.missing_row, dtype=np.int32)
        table = np.array([*(self._row_of(text) for text in texts.to_pylist()), self.missing_row], dtype=np.int32)
        # The index type of a dictionary may be too narrow for one more entry, the missing value.
        index = encoded.indices.cast(pa.int32()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
        if not self.decimals.keys().isdisjoint(texts.to_pylist()):
            for text, times in zip(texts.to_pylist(), np.bincount(index, minlength=len(table)).tolist(), strict=False):
                self.decimals.update({text: self.decimals[text] + times} if text in self.decimals else {})
        if self._total is not None:
            self._note_margins(table, np.bincount(index, minlength=len(table)), texts.to_pylist())
        if (table[:-1] < 0).any() or encoded.null_count or (table[:-1] == self.missing_row).any():
            self._note(table, np.bincount(index, minlength=len(table)), texts.to_pylist())
            table = np.where(table < 0, self.missing_row, table)
        rows: NDArray[np.int32] = table[index]
        return rows

    def _row_of(self, text: str | None) -> int:
        if text is None:
            return self.missing_row
        row = self._row.get(text, UNKNOWN)
        if row == UNKNOWN and (whole := WHOLE.fullmatch(text)) and whole[1] in self._row:
            row = self._row[whole[1]]
            self.decimals.setdefault(text, 0)
        coarse = row >= 0 and self._coarse[row]
        if self._total is not None and (coarse or text == self._total):
            return self.margin_row
        return COARSE if coarse else row

    def _note_margins(self, table: NDArray[np.int32], times: Ints, texts: list[str]) -> None:
        for place in np.flatnonzero(times[:-1] > 0).tolist():
            seen = self._margins if table[place] == self.margin_row else self._cells
            seen[texts[place]] = seen.get(texts[place], 0) + int(times[place])

    def note_lost(self) -> None:
        """Count rows that were excluded as margins although the data contain none of their cells."""
        paths = _paths(self.topic)
        above = {step for code in self._cells for step in paths.get(code, ())}
        for code, times in self._margins.items():
            if code != self._total and code not in above:
                self.seen.note(code, times, coarse=True)

    def _note(self, table: NDArray[np.int32], times: Ints, texts: list[str]) -> None:
        self.seen.missing += int(times[table == self.missing_row].sum())
        for place in np.flatnonzero((table < 0) & (times > 0)).tolist():
            self.seen.note(texts[place], int(times[place]), coarse=bool(table[place] == COARSE))


def _encoded(values: pa.Array) -> pa.DictionaryArray | None:
    """Return dictionary-encoded values; None if the library cannot encode their type."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        return values
    try:
        return values.dictionary_encode()
    except pa.ArrowNotImplementedError:  # lists and other nested types
        return None


def _paths(topic: Topic) -> dict[str, tuple[str, ...]]:
    """Return the path of every category: its ancestors below the total, and itself."""
    if topic.tree:
        return {category.code: topic.tree.path(category.code) for category in topic.tree.categories}
    return {code: (code,) for code in topic.levels[-1].codes or ()}


def _positions(level: LevelColumn, paths: Sequence[tuple[str, ...]]) -> Ints:
    """Return the position of every category in a level, -1 if it is coarser; missing values come last."""
    place = {code: position for position, code in enumerate(level.codes)}
    found = [next((place[step] for step in path if step in place), UNKNOWN) for path in paths]
    return np.array([*found, len(level.codes)])


def _finest(topic: Topic, known: Iterable[str]) -> Ints:
    """Return the position of every category among the finest codes, -1 if it is coarser; missing values come last."""
    place = {code: number for number, code in enumerate(finest_codes(topic))}
    return np.array([*(place.get(code, UNKNOWN) for code in known), len(place)])


class RecordCoder:
    """Codes batches of records; `check` then refuses data with invalid values.

    Args:
        topics: the topics of the programme, by name.
        binding: the data column of every topic.
        levels: the level columns to compute.
        filters: the universe columns to compute.
        missing: `error`, `category` (a position after the last) or `drop`.
        total: the code of a total in pre-tabulated data; rows with it or a coarser code are excluded as margins.
    """

    def __init__(
        self,
        topics: Mapping[str, Topic],
        binding: Mapping[str, str],
        levels: Sequence[LevelColumn],
        filters: Sequence[FilterColumn],
        missing: str,
        *,
        total: str | None = None,
    ) -> None:
        if missing not in MISSING:
            raise UnknownNameError.among("treatment of missing values", missing, MISSING)
        self._missing = missing
        self._levels, self._filters = levels, filters
        self.coders = [
            TopicCoder(topics[name], column, [level for level in levels if level.topic == name], filters, total)
            for name, column in binding.items()
        ]
        self._total = total
        self.records = self.dropped = self.margins = 0

    def __call__(self, batch: pa.RecordBatch) -> tuple[dict[str, NDArray[np.unsignedinteger]], Flags | None]:
        """Return the coded columns of a batch, and a mask of the records that are kept (None: all)."""
        rows = {coder.topic.name: coder.rows(batch.column(coder.column)) for coder in self.coders}
        keep = self._kept(rows, batch.num_rows)
        if keep is not None:
            rows = {name: row[keep] for name, row in rows.items()}
        coded = {level.name: self._narrow[level.name][rows[level.topic]] for level in self._levels}
        for filtered in self._filters:
            marks = [inside[tuple(rows[name] for name in names)] for names, inside in self._inside[filtered.name]]
            coded[filtered.name] = np.logical_and.reduce(marks).astype(np.uint8)
        self.records += batch.num_rows
        return coded, keep

    @cached_property
    def _narrow(self) -> dict[str, NDArray[np.unsignedinteger]]:
        """Return the positions in the narrowest unsigned type; data with invalid codes are refused later."""
        return {
            name: np.where(places < 0, 0, places).astype(np.min_scalar_type(int(places.max())))
            for coder in self.coders
            for name, places in coder.positions.items()
        }

    @cached_property
    def _inside(self) -> dict[str, list[tuple[tuple[str, ...], Flags]]]:
        """Return for every factor of a universe its topics, and a mask of the combinations of their rows."""
        finest = {coder.topic.name: coder.finest for coder in self.coders}

        def by_row(factor: Factor) -> Flags:
            # One more position along every axis, for missing values and coarser codes.
            allowed = np.pad(factor.allowed, (0, 1))
            return allowed[np.ix_(*(finest[name] for name in factor.topics))]

        return {
            filtered.name: [(factor.topics, by_row(factor)) for factor in filtered.universe.factors]
            for filtered in self._filters
        }

    def _kept(self, rows: dict[str, NDArray[np.int32]], size: int) -> Flags | None:
        if self._total is None and self._missing != "drop":
            return None
        cells = np.ones(size, dtype=bool)
        if self._total is not None:
            for coder in self.coders:
                cells &= rows[coder.topic.name] != coder.margin_row
            self.margins += size - int(cells.sum())
        keep = cells.copy()
        if self._missing == "drop":
            for coder in self.coders:
                if coder.seen.missing:
                    keep &= rows[coder.topic.name] != coder.missing_row
            self.dropped += int(cells.sum()) - int(keep.sum())
        return None if keep.all() else keep

    def check(self, source: str) -> None:
        """Refuse data with invalid values; the message lists all columns."""
        for coder in self.coders:
            coder.note_lost()
        problems = [problem for coder in self.coders if (problem := self._problem(coder))]
        if problems:
            raise DataProblemsError.found(source, problems)

    def _problem(self, coder: TopicCoder) -> DataProblem | None:
        seen = coder.seen
        missing = seen.missing if self._missing == "error" else 0
        if not (missing or seen.unknown or seen.coarse or seen.odd):
            return None
        examples = tuple(seen.examples) if len(seen.different) <= MOST_DIFFERENT else ()
        return DataProblem(coder.column, coder.topic.name, seen.unknown, seen.coarse, missing, examples, seen.odd)

    def notes(self) -> list[str]:
        """Return a note on every column whose values were converted."""
        found = []
        for coder in self.coders:
            if coder.decimals:
                example = next(iter(coder.decimals))
                found.append(
                    f"Column {coder.column}: {sum(coder.decimals.values()):,} values are whole numbers with decimals. "
                    f"The decimals were removed: for example, {example} was read as the code "
                    f"{example.partition('.')[0]}."
                )
        return found

    def topics_with_missing(self) -> list[str]:
        """Return the topics with missing values."""
        return [coder.topic.name for coder in self.coders if coder.seen.missing]
