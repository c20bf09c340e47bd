"""Coded records on their way into the engine.

Coded records on their way into the engine: many at a time, and while the next ones are coded.

Records into the engine: coded, with their keys, and checked before anything is counted.
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

ENOUGH = 1 << 20
"""Records that go into the engine together: it takes large lots in with all its threads."""


class RecordAppender:
    """Takes coded columns batch by batch and appends them to a table of the engine."""

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
        """Keep records until there are enough to be worth a call of the engine."""
        self._waiting.append(coded)
        self._size += len(coded["k"])
        if self._size >= ENOUGH:
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
        """Wait until the records that were taken before are in, or tell what went wrong."""
        if self._taken:
            self._taken.result()
            self._taken = None


MICRO = "micro"
"""The engine's table of coded records."""


@dataclass(frozen=True)
class LoadedRecords:
    """Coded records in the engine.

    Attributes:
        programme: with a category for missing values where that was asked for and needed.
        records: how many were taken in.
        dropped: how many were left out because a value is missing.
        columns: the coded column of a level, by the level's name.
        conditions: the SQL condition of every universe, by its text.
        margins: rows of tabulated data that were left out because they are sums of others.
        places: the engine's table for the finest cells of each table, by its id; MICRO where there is none.
        notes: on columns whose values were not read as they are written.
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
    tell: Progress,
    name: str = MICRO,
    tables: Sequence[Table] | None = None,
) -> LoadedRecords:
    """Read all records once, coded and with keys, into the engine; refuse them whole if anything is not in order.

    Args:
        source: the records.
        programme: the tables, whose topics are coded.
        mechanism: says which keys are needed.
        roles: the columns that are no topics.
        engine: takes the records.
        missing: what to do with records without a value.
        tell: called with stage, records done and records in all.
        name: the engine's table.
        tables: those of the programme for which these records are; all by default.
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
        # In tabulated data a row with a total is a margin: it is made again from the cells.
        coded_levels += _only_to_tell_margins(part)
    total = TOTAL if roles.count else None
    coder = RecordCoder(programme.topics, binding, coded_levels, list(filters.values()), missing, total=total)
    numbers = _Numbers(mechanism, roles)
    wanted = list(dict.fromkeys([*binding.values(), *roles.columns]))
    aside = [column for column in source.columns if roles.count and column not in wanted]
    unused = _Unused(aside)
    engine.drop(name)
    with RecordAppender(engine, name) as arriving:
        for batch in source.batches([*wanted, *aside]):
            unused.look(batch)
            own = numbers.of(batch)
            coded, keep = coder(batch)
            whole = {**coded, **(own if keep is None else {role: value[keep] for role, value in own.items()})}
            arriving.add(_with_somebody(whole))
            tell("reading", coder.records, source.rows)
    source.check_unchanged()
    coder.check(source.name)
    unused.check(source.name)
    numbers.keys.finish(source)
    if roles.weight and arriving.records:
        _check_weights(engine, name, source.name)
    if not arriving.records:
        raise _nothing_left(source.name, tabulated=bool(roles.count))
    with_category = coder.topics_with_missing() if missing == "category" else []
    if missing == "category" and mechanism.perturbs_zeros:
        # With noise on empty cells the category is there whether somebody's value is missing or not.
        with_category = list(binding)
    return LoadedRecords(
        with_missing_category(programme, with_category) if with_category else programme,
        _persons(engine, name, arriving.records, source.name) if roles.count else arriving.records,
        coder.dropped,
        {level: column.name for level, column in level_columns(coding, missing).items()},
        {None: None, **{text: f"{column.name} = 1" for text, column in filters.items()}},
        margins=coder.margins,
        notes=tuple(coder.notes()),
    )


def _nothing_left(source: str, *, tabulated: bool) -> NothingToCountError:
    """Return the refusal of data of which no record is left, and what to do about it."""
    if tabulated:
        return NothingToCountError(
            f"{source} has no row left: all are margins, or have a count of 0. Give the cells at the finest codes of "
            "the tables."
        )
    return NothingToCountError(
        f"{source} has no record left once those with a missing value are dropped. Choose --missing category."
    )


class _Unused:
    """Columns of tabulated data that no table uses: totals among other codes there would be counted beside them."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._seen: dict[str, set[bool]] = {column: set() for column in columns}

    def look(self, batch: pa.RecordBatch) -> None:
        """Note whether a column has totals, and whether it has anything else."""
        for column, seen in self._seen.items():
            values = as_text(batch.column(column))
            if values is not None and len(seen) < 2:
                seen.update(code == TOTAL for code in values.unique().to_pylist())

    def check(self, source: str) -> None:
        """Refuse totals beside what they are sums of."""
        for column, seen in self._seen.items():
            if len(seen) == 2:
                raise ParameterError(
                    f"Column {column} of {source} has totals ({TOTAL}) among other codes, and none of the tables uses "
                    f"it: persons would be counted twice. Leave out its totals, or everything else.",
                    parameter="count",
                )


def _check_weights(engine: Engine, name: str, source: str) -> None:
    """Refuse weights whose sum is more than a word can hold."""
    total = engine.table(f"SELECT CAST(SUM(w) AS DOUBLE) AS w FROM {name}").column("w")[0].as_py()  # noqa: S608 - names are ours
    if total > LARGEST_SUM:
        raise ParameterError(
            f"The weights in {source} add up to more than {LARGEST_SUM // STEPS:,}. Divide all of them by a number.",
            parameter="weight",
        )


def _only_to_tell_margins(programme: Programme) -> list[LevelColumn]:
    """Return a column per topic with the finest codes of all: categories of one record may stand one above the other.

    A level that only renames some categories of the one above is the same partition, and both stand in a table.
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
    """The columns of a record that are no codes: its key, and what it stands for."""

    def __init__(self, mechanism: Mechanism, roles: RecordColumns) -> None:
        hashing = None
        if mechanism.needs_keys and mechanism.secret is not None:
            hashing = RecordKeys(mechanism.secret, mechanism.version)
        bits = getattr(mechanism, "key_bits", DIGEST_BITS)
        self.keys = KeyReader(roles, mechanism.key_space, hashing, bits)
        self._roles = roles
        self._records = 0

    def of(self, batch: pa.RecordBatch) -> dict[str, NDArray[np.integer[Any]]]:
        """Return key k, count n and weight w of a batch, the last two where there are such columns."""
        found: dict[str, NDArray[np.integer[Any]]] = {"k": self.keys.of(batch)}
        if self._roles.count:
            found["n"] = row_counts(batch.column(self._roles.count), self._roles.count, self._records)
        if self._roles.weight:
            found["w"] = row_weights(batch.column(self._roles.weight), self._roles.weight, self._records)
        self._records += batch.num_rows
        return found


def _with_somebody(coded: dict[str, NDArray[np.integer[Any]]]) -> dict[str, NDArray[np.integer[Any]]]:
    """Return the rows that stand for anybody: the key of an empty cell is nobody's."""
    if "n" not in coded or coded["n"].all():
        return coded
    return {name: values[coded["n"] > 0] for name, values in coded.items()}


def _persons(engine: Engine, name: str, rows: int, source: str) -> int:
    """Return how many persons the rows stand for, or refuse more than a cell can hold."""
    persons = int(engine.table(f"SELECT CAST(SUM(n) AS BIGINT) AS n FROM {name}").column("n")[0].as_py())  # noqa: S608 - names are ours
    if persons > MOST_PERSONS:
        raise ParameterError(
            f"The counts in {source} add up to more than {MOST_PERSONS:,}, in {rows:,} rows. Are there margins among "
            f"them? Their code must be {TOTAL}.",
            parameter="count",
        )
    return persons


def _check_columns(source: Source, binding: dict[str, str], roles: RecordColumns) -> None:
    """Refuse columns of ids, keys, counts and weights that are not there, or that are topics too."""
    for column in roles.columns:
        if column not in source.columns:
            raise UnknownNameError.column(f"column in {source.name}", column, source.columns)
    # As a topic, such a column would show some of its ids or keys in the message on unknown codes.
    for topic, column in binding.items():
        role = next((role for role, named in vars(roles).items() if named == column), None)
        if role:
            raise ParameterError(
                f"Column {column} is named as {role} of a record, and the programme takes it for topic {topic}. "
                f"Bind the topic to another column in [columns], or name another {role}.",
                parameter=role,
            )


def level_columns(programme: Programme, missing: str, tables: Sequence[Table] | None = None) -> dict[str, LevelColumn]:
    """Return a coded column for every partition that is the finest of some table, by the name of its first level.

    A column has the same name whichever of the programme's tables are asked for.
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
                # The category for missing values, the last, is no code of the data.
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
