"""Records into the engine: coded, with their keys, and checked before anything is counted."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.errors import NothingToCountError, ParameterError, UnknownNameError
from discreet.microdata.binding import bind
from discreet.microdata.coding import Coder, FilterColumn, LevelColumn
from discreet.microdata.keys import IdCheck, RecordKeys, is_fraction, keys_of, ready_keys
from discreet.programme.choose import also_missing_category
from discreet.programme.universe import parse_universe
from discreet.tabulation.axes import in_counted_order, topic_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.engines.base import Engine
    from discreet.mechanisms.base import Mechanism
    from discreet.microdata.sources import Source
    from discreet.programme.model import Programme

MICRO = "micro"
"""The engine's table of coded records."""
ENOUGH = 1 << 20
"""Records that go into the engine together: it takes large lots in with all its threads."""


@dataclass(frozen=True)
class Identity:
    """Where the key of a record comes from: an id to make it from, or a ready-made key."""

    id: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if self.id is not None and self.key is not None:
            raise ParameterError("Give an id to make keys from or a ready-made key, not both.", parameter="key")

    @property
    def columns(self) -> list[str]:
        """Return the column that must be read."""
        return [column for column in (self.id, self.key) if column is not None]


@dataclass(frozen=True)
class Loaded:
    """Coded records in the engine.

    Attributes:
        programme: with a category for missing values where that was asked for and needed.
        records: how many were taken in.
        dropped: how many were left out because a value is missing.
        columns: the coded column of a level, by the level's name.
        conditions: the SQL condition of every universe, by its text.
    """

    programme: Programme
    records: int
    dropped: int
    columns: dict[str, str]
    conditions: dict[str | None, str | None]


def load(
    source: Source,
    programme: Programme,
    mechanism: Mechanism,
    identity: Identity,
    engine: Engine,
    *,
    missing: str,
    tell: Callable[[str, int, int | None], None],
) -> Loaded:
    """Read all records once, coded and with keys, into the engine; refuse them whole if anything is not in order."""
    binding = bind(programme, source.columns, source.name)
    for column in identity.columns:
        if column not in source.columns:
            raise UnknownNameError.column(f"column in {source.name}", column, source.columns)
    _check_apart(binding, identity)
    coding = also_missing_category(programme, list(binding)) if missing == "category" else programme
    levels, filters = level_columns(coding, missing), _filters(coding)
    coder = Coder(programme.topics, binding, list(levels.values()), list(filters.values()), missing)
    keys = _Keys(mechanism, identity)
    wanted = list(dict.fromkeys([*binding.values(), *identity.columns]))
    engine.drop(MICRO)
    with _Arriving(engine) as arriving:
        for batch in source.batches(wanted):
            key = keys.of(batch)
            coded, keep = coder(batch)
            arriving.add({**coded, "k": key if keep is None else key[keep]})
            tell("reading", coder.records, source.rows)
    source.check_unchanged()
    coder.check(source.name)
    keys.finish(source)
    if not arriving.records:
        raise NothingToCountError(
            f"{source.name} has no record left once those with a missing value are dropped. Choose --missing category."
        )
    with_category = coder.topics_with_missing() if missing == "category" else []
    return Loaded(
        also_missing_category(programme, with_category) if with_category else programme,
        arriving.records,
        coder.dropped,
        {level: column.name for level, column in levels.items()},
        {None: None, **{text: f"{column.name} = 1" for text, column in filters.items()}},
    )


def _check_apart(binding: dict[str, str], identity: Identity) -> None:
    """Refuse a column of ids or keys as a topic: the message on unknown codes would show some of them."""
    for topic, column in binding.items():
        if column in identity.columns:
            raise ParameterError(
                f"Column {column} is named as id or key of a record, and the programme takes it for topic {topic}. "
                "Bind the topic to another column in [columns], or name another id or key.",
                parameter="id" if column == identity.id else "key",
            )


def level_columns(programme: Programme, missing: str) -> dict[str, LevelColumn]:
    """Return a coded column for every partition that is the finest of some table, by the name of its first level."""
    axes = topic_axes(programme)
    found: dict[str, LevelColumn] = {}
    for table in programme.tables:
        for breakdown in table.breakdowns:
            axis = axes[breakdown.topic]
            depth = max((axis.depth_of(level) for level in breakdown.levels), default=0)
            if depth:
                first = axis.depths[depth - 1][0]
                codes = in_counted_order(programme.topics[breakdown.topic], axis, first)
                # The category for missing values, the last, is no code of the data.
                known = codes[:-1] if missing == "category" else codes
                found.setdefault(first.name, LevelColumn(f"c{len(found)}", breakdown.topic, known))
    return found


def _filters(programme: Programme) -> dict[str, FilterColumn]:
    """Return a coded column for every universe, by its text."""
    found: dict[str, FilterColumn] = {}
    for table in programme.tables:
        if table.universe and table.universe not in found:
            conditions = parse_universe(table.universe, programme, table.id)
            found[table.universe] = FilterColumn(f"u{len(found)}", conditions)
    return found


class _Arriving:
    """Coded records on their way into the engine: many at a time, and while the next ones are coded."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: list[dict[str, NDArray[np.unsignedinteger]]] = []
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

    def add(self, coded: dict[str, NDArray[np.unsignedinteger]]) -> None:
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
            self._taken = self._pool.submit(self._engine.append, MICRO, pa.record_batch(columns))
            self.records += self._size
        self._waiting, self._size = [], 0

    def _settle(self) -> None:
        """Wait until the records that were taken before are in, or tell what went wrong."""
        if self._taken:
            self._taken.result()
            self._taken = None


class _Keys:
    """The key of every record, batch after batch."""

    def __init__(self, mechanism: Mechanism, identity: Identity) -> None:
        self._identity = identity
        self._space = mechanism.key_space
        self._fraction: bool | None = None
        self._records = 0
        self._check: IdCheck | None = None
        if identity.id is not None and mechanism.secret is not None:
            self._check = IdCheck(RecordKeys(mechanism.secret, mechanism.version), identity.id)

    def of(self, batch: pa.RecordBatch) -> NDArray[np.uint32]:
        self._records += batch.num_rows
        if self._check:
            made = keys_of(self._check.digests(batch.column(self._check.column)))
            return made if self._space == 1 << 32 else (made % np.uint32(self._space)).astype(np.uint32)
        if self._identity.key is None:
            return np.zeros(batch.num_rows, dtype=np.uint32)
        values = batch.column(self._identity.key)
        if self._fraction is None:
            self._fraction = is_fraction(values)
        offset = self._records - batch.num_rows
        ready = ready_keys(values, self._space, self._identity.key, offset=offset, fraction=self._fraction)
        return ready.astype(np.uint32)

    def finish(self, source: Source) -> None:
        """Refuse ids that are missing or occur twice."""
        if self._check:
            column = self._check.column
            again: Callable[[], Iterator[pa.Array]] = lambda: (b.column(0) for b in source.batches([column]))  # noqa: E731 - said where it is used
            self._check.finish(again)
