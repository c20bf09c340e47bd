"""Load records into the engine: coded, with their keys, and checked before anything is counted.

Records are appended in large batches, in parallel with the coding of the next ones.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.errors import NothingToCountError, ParameterError, UnknownNameError
from discreet.programme.axis import counted_axes
from discreet.programme.model import TOTAL
from discreet.programme.selection import with_missing_category
from discreet.programme.universe import universe_of
from discreet.records.category_coding import FilterColumn, LevelColumn, RecordCoder, columns_of_topics
from discreet.records.record_columns import LARGEST_SUM, MOST_PERSONS, STEPS, row_counts, row_weights
from discreet.records.record_keys import DIGEST_BITS, KeyReader, RecordKeys
from discreet.sources.column_values import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Level, Programme, Table
    from discreet.progress import Progress
    from discreet.records.record_columns import RecordColumns
    from discreet.sources.source import Source

BATCH_RECORDS = 1 << 20
"""Minimum number of records per append; the engine loads large batches with all its threads."""


class RecordAppender:
    """Appends batches of coded columns to a table of the engine."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name
        self._waiting: list[dict[str, NDArray[np.integer[Any]]]] = []
        self._size = self.records = 0
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._taken: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._take()
                self._settle()
        finally:
            self._pool.shutdown()

    def add(self, coded: dict[str, NDArray[np.integer[Any]]]) -> None:
        """Buffer records until a batch is large enough to append."""
        self._waiting.append(coded)
        self._size += len(coded["k"])
        if self._size >= BATCH_RECORDS:
            self._take()

    def _take(self) -> None:
        import pyarrow as pa

        self._settle()
        if self._size:
            columns = {name: np.concatenate([batch[name] for batch in self._waiting]) for name in self._waiting[0]}
            self._taken = self._pool.submit(self._engine.append, self._name, pa.record_batch(columns))
            self.records += self._size
        self._waiting, self._size = [], 0

    def _settle(self) -> None:
        """Wait until the previous batch is appended, and raise its error if there was one."""
        if self._taken:
            self._taken.result()
            self._taken = None


MICRO = "micro"
"""The engine's table of coded records."""


@dataclass(frozen=True)
class LoadedRecords:
    """Coded records in the engine.

    Attributes:
        programme: the programme, with a category for missing values if requested and needed.
        records: the number of loaded records.
        dropped: the number of records excluded because of a missing value.
        columns: the coded column of a level, by the level's name.
        conditions: the SQL condition of every universe, by its text.
        margins: the number of rows of pre-tabulated data excluded because they are sums of other rows.
        places: the engine's table with the finest cells of each table, by id; a table without an entry uses MICRO.
        notes: notes on columns whose values were converted on reading.
    """

    programme: Programme
    records: int
    dropped: int
    columns: dict[str, str]
    conditions: dict[str | None, str | None]
    margins: int = 0
    places: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def load(
    source: Source,
    programme: Programme,
    mechanism: Mechanism,
    roles: RecordColumns,
    engine: Engine,
    *,
    missing: str,
    progress: Progress,
    name: str = MICRO,
    tables: Sequence[Table] | None = None,
) -> LoadedRecords:
    """Read all records once and load them into the engine, coded and with keys; refuse all if any is invalid.

    Args:
        source: the records.
        programme: the programme, which defines the codes of the topics.
        mechanism: the noise mechanism, which determines the keys.
        roles: the columns of ids, keys, counts and weights.
        engine: the engine that the records are loaded into.
        missing: the treatment of missing values: `error`, `category` or `drop`.
        progress: a function that is called with stage, records done and total number of records.
        name: the name of the table in the engine.
        tables: the tables of the programme that these records are for; all by default.
    """
    part = replace(programme, tables=tuple(tables)) if tables else programme
    binding = columns_of_topics(part, source.columns, source.name)
    _check_columns(source, binding, roles)
    coding = with_missing_category(programme, list(binding)) if missing == "category" else programme
    counted = {table.id for table in part.tables}
    levels = level_columns(coding, missing, tables)
    filters = _filters(replace(coding, tables=tuple(table for table in coding.tables if table.id in counted)))
    coded_levels = list(levels.values())
    if roles.count:
        # In pre-tabulated data a row with a total is a margin: it is recomputed from the cells.
        coded_levels += _margin_columns(part)
    total = TOTAL if roles.count else None
    coder = RecordCoder(programme.topics, binding, coded_levels, list(filters.values()), missing, total=total)
    numbers = _Numbers(mechanism, roles)
    wanted = list(dict.fromkeys([*binding.values(), *roles.columns]))
    aside = [column for column in source.columns if roles.count and column not in wanted]
    unused = _Unused(aside)
    engine.drop(name)
    with RecordAppender(engine, name) as appender:
        for batch in source.batches([*wanted, *aside]):
            unused.look(batch)
            own = numbers.of(batch)
            coded, keep = coder(batch)
            whole = {**coded, **(own if keep is None else {role: value[keep] for role, value in own.items()})}
            appender.add(_nonempty_rows(whole))
            progress("reading", coder.records, source.rows)
    source.check_unchanged()
    coder.check(source.name)
    unused.check(source.name)
    numbers.keys.finish(source)
    if roles.weight and appender.records:
        _check_weights(engine, name, source.name)
    if not appender.records:
        raise _no_records(source.name, tabulated=bool(roles.count))
    with_category = coder.topics_with_missing() if missing == "category" else []
    if missing == "category" and mechanism.perturbs_zeros:
        # With noise on empty cells the category is always published, so that it does not disclose missing values.
        with_category = list(binding)
    return LoadedRecords(
        with_missing_category(programme, with_category) if with_category else programme,
        _persons(engine, name, appender.records, source.name) if roles.count else appender.records,
        coder.dropped,
        {level: column.name for level, column in level_columns(coding, missing).items()},
        {None: None, **{text: f"{column.name} = 1" for text, column in filters.items()}},
        margins=coder.margins,
        notes=tuple(coder.notes()),
    )


def _no_records(source: str, *, tabulated: bool) -> NothingToCountError:
    """Return the error for data without a record to count."""
    if tabulated:
        return NothingToCountError(
            f"{source} has no row to count: all rows are margins or have a count of 0. Provide the cells at the finest "
            "codes of the tables."
        )
    return NothingToCountError(
        f"{source} has no record to count: all records have a missing value and were dropped. Use --missing category."
    )


class _Unused:
    """Columns of pre-tabulated data that no table uses; totals among other codes would count persons twice."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._seen: dict[str, set[bool]] = {column: set() for column in columns}

    def look(self, batch: pa.RecordBatch) -> None:
        """Record whether a column contains totals, and whether it contains other codes."""
        for column, seen in self._seen.items():
            values = as_text(batch.column(column))
            if values is not None and len(seen) < 2:
                seen.update(code == TOTAL for code in values.unique().to_pylist())

    def check(self, source: str) -> None:
        """Refuse columns that contain both totals and other codes."""
        for column, seen in self._seen.items():
            if len(seen) == 2:
                raise ParameterError(
                    f"Column {column} of {source} contains totals ({TOTAL}) and other codes, but no table uses it: "
                    f"persons would be counted twice. Keep only the rows with totals, or only the others.",
                    parameter="count",
                )


def _check_weights(engine: Engine, name: str, source: str) -> None:
    """Refuse weights whose sum does not fit into 64 bits."""
    total = engine.table(f"SELECT CAST(SUM(w) AS DOUBLE) AS w FROM {name}").column("w")[0].as_py()  # noqa: S608 - names are ours
    if total > LARGEST_SUM:
        raise ParameterError(
            f"The weights in {source} sum to more than {LARGEST_SUM // STEPS:,}. Divide all weights by a constant.",
            parameter="weight",
        )


def _margin_columns(programme: Programme) -> list[LevelColumn]:
    """Return one column per topic with its finest codes in any table, to identify margins in pre-tabulated data.

    Nested codes can denote the same category: a level that only renames categories of the level above is the same
    partition, and a table contains both.
    """
    finest: dict[str, Level] = {}
    for table in programme.tables:
        for breakdown in table.breakdowns:
            order = programme.topics[breakdown.topic].levels
            for level in breakdown.levels:
                known = finest.get(breakdown.topic)
                if known is None or order.index(level) > order.index(known):
                    finest[breakdown.topic] = level
    return [LevelColumn(f"m{number}", topic, level.codes or ()) for number, (topic, level) in enumerate(finest.items())]


class _Numbers:
    """Reads the numeric columns of a record: its key, count and weight."""

    def __init__(self, mechanism: Mechanism, roles: RecordColumns) -> None:
        hashing = None
        if mechanism.needs_keys and mechanism.secret is not None:
            hashing = RecordKeys(mechanism.secret, mechanism.version)
        bits = getattr(mechanism, "key_bits", DIGEST_BITS)
        self.keys = KeyReader(roles, mechanism.key_space, hashing, bits)
        self._roles = roles
        self._records = 0

    def of(self, batch: pa.RecordBatch) -> dict[str, NDArray[np.integer[Any]]]:
        """Return the keys k of a batch, and its counts n and weights w if there are such columns."""
        found: dict[str, NDArray[np.integer[Any]]] = {"k": self.keys.of(batch)}
        if self._roles.count:
            found["n"] = row_counts(batch.column(self._roles.count), self._roles.count, self._records)
        if self._roles.weight:
            found["w"] = row_weights(batch.column(self._roles.weight), self._roles.weight, self._records)
        self._records += batch.num_rows
        return found


def _nonempty_rows(coded: dict[str, NDArray[np.integer[Any]]]) -> dict[str, NDArray[np.integer[Any]]]:
    """Return the rows with a positive count; the key of an empty cell must not be summed."""
    if "n" not in coded or coded["n"].all():
        return coded
    return {name: values[coded["n"] > 0] for name, values in coded.items()}


def _persons(engine: Engine, name: str, rows: int, source: str) -> int:
    """Return the sum of the counts of all rows, or refuse a sum that exceeds the maximum of a cell."""
    persons = int(engine.table(f"SELECT CAST(SUM(n) AS BIGINT) AS n FROM {name}").column("n")[0].as_py())  # noqa: S608 - names are ours
    if persons > MOST_PERSONS:
        raise ParameterError(
            f"The counts in {source} sum to more than {MOST_PERSONS:,}, in {rows:,} rows. If there are margins among "
            f"the rows, their code must be {TOTAL}.",
            parameter="count",
        )
    return persons


def _check_columns(source: Source, binding: dict[str, str], roles: RecordColumns) -> None:
    """Refuse columns of ids, keys, counts and weights that do not exist, or that are also topics."""
    for column in roles.columns:
        if column not in source.columns:
            raise UnknownNameError.column(f"column in {source.name}", column, source.columns)
    # The message on unknown codes of a topic would disclose ids or keys.
    for topic, column in binding.items():
        role = next((role for role, named in vars(roles).items() if named == column), None)
        if role:
            raise ParameterError(
                f"Column {column} is specified as {role}, but the programme uses it for topic {topic}. "
                f"Bind the topic to another column in [columns], or specify another column as {role}.",
                parameter=role,
            )


def level_columns(programme: Programme, missing: str, tables: Sequence[Table] | None = None) -> dict[str, LevelColumn]:
    """Return a coded column for every partition that is the finest of a table, by the name of its first level.

    The name of a column does not depend on the selection of tables.
    """
    axes, wanted = counted_axes(programme), {table.id for table in tables or programme.tables}
    found: dict[str, LevelColumn] = {}
    needed: set[str] = set()
    for table in programme.tables:
        for breakdown in table.breakdowns:
            axis = axes[breakdown.topic]
            depth = max((axis.depth_of(level) for level in breakdown.levels), default=0)
            if depth:
                name, codes = axis.levels[depth - 1], axis.codes_at(depth)
                # The last category, for missing values, is not a code of the data.
                known = codes[:-1] if missing == "category" else codes
                found.setdefault(name, LevelColumn(f"c{len(found)}", breakdown.topic, known))
                needed.update({name} if table.id in wanted else ())
    return {name: column for name, column in found.items() if name in needed}


def _filters(programme: Programme) -> dict[str, FilterColumn]:
    """Return a coded column for every universe, by its text."""
    found: dict[str, FilterColumn] = {}
    for table in programme.tables:
        if table.universe and table.universe not in found:
            found[table.universe] = FilterColumn(f"u{len(found)}", universe_of(programme, table))
    return found
