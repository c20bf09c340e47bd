"""Records into the engine: their keys, what is done with missing values, and what is refused before any count."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import (
    ColumnError,
    DataProblemsError,
    EngineError,
    NothingToCountError,
    ParameterError,
    RecordIdError,
    RecordKeyError,
    UnknownNameError,
)
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.programme.selection import with_missing_category
from discreet.protection import record_loading
from discreet.protection.pipeline import protect
from discreet.protection.record_loading import MICRO, level_columns, load
from discreet.records.record_columns import RecordColumns
from discreet.records.record_keys import RecordKeys, keys_of
from discreet.sources import data_frame
from discreet.sources.source import open_source
from tests.each import each
from tests.protection.town import AGE, EMP, GEO, SECRET, SEX, TOPICS, TOWN, cells, frame, people
from tests.quick import examples
from tests.tabulation.small_data import by, counted, programme, programmes, records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.engines.duckdb import DuckDB
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme
    from discreet.protection.record_loading import LoadedRecords

PTABLE = PTable.max_entropy(variance=2, bound=5)
MIXED = CellKey(PTABLE, secret=SECRET)
BY_SEX = programme([SEX], [by(SEX)])


def read(
    engine: Engine,
    data: pa.Table,
    spec: Programme = BY_SEX,
    mechanism: Mechanism = MIXED,
    *,
    missing: str = "error",
    **identity: str,
) -> LoadedRecords:
    told: list[tuple[str, int, int | None]] = []
    source = open_source(data)
    found = load(
        source,
        spec,
        mechanism,
        RecordColumns(**identity),
        engine,
        missing=missing,
        progress=lambda *step: told.append(step),
    )
    assert told[-1] == ("reading", data.num_rows, data.num_rows)
    return found


def keys_in(engine: DuckDB) -> list[int]:
    return sorted(engine.table(f"SELECT k FROM {MICRO}").column("k").to_pylist())  # noqa: S608 - a name of ours


@dataclass
class Silent:
    """An engine that takes records but must not be asked anything."""

    taken: list[int] = field(default_factory=list)

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        assert name == MICRO
        self.taken.append(batch.num_rows)

    def table(self, sql: str) -> pa.Table:
        raise AssertionError(sql)

    def drop(self, name: str) -> None:
        assert name == MICRO

    def close(self) -> None:
        raise AssertionError


# --- Keys ---


def test_keys_are_made_from_ids(engine: DuckDB) -> None:
    ids = pa.array(["a", "b", "7"])
    expected = keys_of(RecordKeys(SECRET, "1").digests(ids))
    read(engine, pa.table({"SEX": ["F", "M", "F"], "id": ids}), id="id")
    assert keys_in(engine) == sorted(expected.tolist())
    # In a smaller key space they are reduced, so that plain keys of another tool's table fit.
    read(
        engine,
        pa.table({"SEX": ["F", "M", "F"], "id": ids}),
        mechanism=CellKey(PTABLE.on_grid(256), secret=SECRET),
        id="id",
    )
    assert keys_in(engine) == sorted((expected % 256).tolist())
    read(
        engine,
        pa.table({"SEX": ["F", "M", "F"], "id": ids}),
        mechanism=CellKey(PTABLE, secret=SECRET, version="2"),
        id="id",
    )
    assert keys_in(engine) == sorted(keys_of(RecordKeys(SECRET, "2").digests(ids)).tolist())


@each(
    ("values", "key_space", "expected"),
    [
        (pa.array([5, 0, 2**32 - 1]), 2**32, [5, 0, 2**32 - 1]),
        (pa.array(["5", "0", "255"]), 256, [5, 0, 255]),
        (pa.array([0.5, 0.00000001, 1.0]), 10**8, [5 * 10**7, 1, 0]),
        (pa.array(["0.5", "0.25", "0"]), 256, [128, 64, 0]),
    ],
)
def test_ready_made_keys_are_taken_as_they_are(
    engine: DuckDB, values: pa.Array, key_space: int, expected: list[int]
) -> None:
    mechanism = CellKey(PTABLE.on_grid(key_space), mode="plain")
    read(engine, pa.table({"SEX": ["F", "M", "F"], "key": values}), mechanism=mechanism, key="key")
    assert keys_in(engine) == sorted(expected)


def test_the_first_batch_tells_whether_keys_are_fractions(engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_frame, "ROWS", 2)
    mechanism = CellKey(PTABLE.on_grid(256), mode="plain")
    data = pa.table({"SEX": ["F"] * 4, "key": ["0.5", "0", "0", "1"]})
    read(engine, data, mechanism=mechanism, key="key")
    assert keys_in(engine) == [0, 0, 0, 128]
    mixed = pa.table({"SEX": ["F"] * 4, "key": ["5", "0", "0", "0.5"]})
    with pytest.raises(
        RecordKeyError, match="key has no valid key in 1 record: in record 4 it is a fraction, in a column"
    ):
        read(engine, mixed, mechanism=mechanism, key="key")


@each(
    ("values", "message"),
    [
        ([1, None, 3], "KEY has no valid key in 1 record: in record 2 it is missing"),
        ([1, -5, -6], "KEY has no valid key in 2 records: in record 2 it is negative"),
        ([1, 2, 256], "KEY has no valid key in 1 record: in record 3 it is too large"),
        (["1", "x", "3"], "KEY has no valid key in 1 record: in record 2 it is not a number"),
        ([True, False, True], "KEY contains values of type bool"),
    ],
)
def test_ready_made_keys_that_are_none_are_refused(values: list[object], message: str) -> None:
    mechanism = CellKey(PTABLE.on_grid(256), mode="plain")
    with pytest.raises(RecordKeyError, match=re.escape(message)) as caught:
        read(Silent(), pa.table({"SEX": ["F", "M", "F"], "KEY": values}), mechanism=mechanism, key="KEY")
    assert caught.value.column == "KEY"


def test_ids_must_be_there_and_differ() -> None:
    with pytest.raises(RecordIdError, match="PID is missing in 2 records; the first is record 2"):
        read(Silent(), pa.table({"SEX": ["F", "M", "F", "F"], "PID": ["a", "", "c", None]}), id="PID")
    message = "2 records share their PID with another record, such as 1 and 3. Every record needs a unique id"
    with pytest.raises(RecordIdError, match=message) as caught:
        read(Silent(), pa.table({"SEX": ["F", "M", "F"], "PID": ["canary", "b", "canary"]}), id="PID")
    assert "canary" not in str(caught.value)
    with pytest.raises(RecordIdError, match="PID contains values of type double, but ids must be exact"):
        read(Silent(), pa.table({"SEX": ["F", "M"], "PID": [1.0, 2.0]}), id="PID")


def test_ids_are_compared_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_frame, "ROWS", 3)
    ids = [*range(10), 4]
    with pytest.raises(RecordIdError, match="2 records share their PID with another record, such as 5 and 11"):
        read(Silent(), pa.table({"SEX": ["F"] * 11, "PID": ids}), id="PID")


def test_without_ids_or_keys_every_key_is_zero(engine: DuckDB) -> None:
    read(engine, pa.table({"SEX": ["F", "M"]}), mechanism=Exact())
    assert keys_in(engine) == [0, 0]


# --- What is refused before anything is counted ---


def test_an_id_and_a_key_are_one_too_many() -> None:
    with pytest.raises(ParameterError, match="Specify either --id or --key, not both") as caught:
        RecordColumns("a", "b")
    assert caught.value.parameter == "key"


@pytest.mark.parametrize("which", ["id", "key"])
def test_a_column_of_ids_or_keys_must_be_there_and_be_no_topic(which: str) -> None:
    data = pa.table({"SEX": ["F", "M"], "PERSON": ["a", "b"]})
    with pytest.raises(UnknownNameError, match=r"no column in the data frame 'PERSONS'\. Did you mean PERSON"):
        read(Silent(), data, BY_SEX, MIXED, **{which: "PERSONS"})
    message = f"Column SEX is specified as {which}, but the programme uses it for topic SEX"
    with pytest.raises(ParameterError, match=message) as caught:
        read(Silent(), data, BY_SEX, MIXED, **{which: "SEX"})
    assert caught.value.parameter == which


def test_an_absent_column_is_told_before_a_record_is_read() -> None:
    engine = Silent()
    with pytest.raises(ColumnError, match="the data frame has no column for topic SEX, used by 1 table"):
        read(engine, pa.table({"sexe": ["F", "M"], "id": ["a", "b"]}), id="id")
    assert not engine.taken


def test_codes_are_checked_in_all_columns_and_batches_before_anything_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data_frame, "ROWS", 40)
    data = people(100).to_pydict()
    data["SEX"][3] = data["SEX"][99] = "X"
    data["EMP"][50] = None
    with pytest.raises(DataProblemsError) as caught:
        read(Silent(), pa.table(data), TOWN, id="ID")
    assert str(caught.value).split("\n")[:3] == [
        "the data frame cannot be counted:",
        "  SEX: 2 records with a code that topic SEX does not define (such as 'X')",
        "  EMP: 1 record without a value",
    ]


@pytest.mark.parametrize("lot", [1, 30, 1 << 20])
def test_records_reach_the_engine_in_lots_and_none_is_lost(
    lot: int, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_frame, "ROWS", 7)
    monkeypatch.setattr(record_loading, "BATCH_RECORDS", lot)
    data = people(100)
    loaded = read(engine, data, TOWN, id="ID")
    assert (loaded.records, loaded.dropped) == (100, 0)
    assert keys_in(engine) == sorted(keys_of(RecordKeys(SECRET).digests(data["ID"].combine_chunks())).tolist())


def test_a_run_starts_with_an_empty_table(engine: DuckDB) -> None:
    for size in (5, 3):
        read(engine, people(size), TOWN, id="ID")
        assert len(keys_in(engine)) == size


def test_an_error_of_the_engine_while_records_arrive_surfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Full(Silent):
        def append(self, name: str, batch: pa.RecordBatch) -> None:
            if self.taken:
                raise EngineError.refused("taking records in", MemoryError())
            super().append(name, batch)

    monkeypatch.setattr(data_frame, "ROWS", 10)
    monkeypatch.setattr(record_loading, "BATCH_RECORDS", 10)
    for size in (20, 60):
        with pytest.raises(EngineError, match="The engine stopped at taking records in"):
            read(Full(), people(size), TOWN, id="ID")


# --- Missing values ---


def with_gaps(size: int, *topics: str, seed: int = 2) -> pa.Table:
    """Return people of whom some have no value for these topics, null and empty text by turns."""
    random = np.random.default_rng(seed)
    columns = people(size).to_pydict()
    for name in topics:
        for number in random.choice(size, size // 8, replace=False).tolist():
            columns[name][number] = None if number % 2 else ""
    return pa.table(columns)


def filled(data: pa.Table) -> list[dict[str, str]]:
    """Return records with the code of a missing value where one is missing."""
    return [{name: value or "_U" for name, value in record.items()} for record in data.to_pylist()]


EVERYONE = programme(
    TOPICS, [by(GEO), by(AGE), by(SEX)], [by(EMP, total=False), by(GEO, 3, 3)], [by(AGE, 2, 2), by(EMP)]
)


@pytest.mark.parametrize("topics", [("SEX",), ("GEO", "EMP"), ("GEO", "AGE", "SEX", "EMP")])
def test_a_missing_value_is_a_category_in_all_levels(topics: Sequence[str], engine: DuckDB) -> None:
    data = with_gaps(200, *topics)
    release = protect(data, EVERYONE, Exact(), missing="category", engine=engine)
    wider = with_missing_category(EVERYONE, list(topics))
    assert release.programme == wider
    for table in wider.tables:
        hand = counted(wider, table, filled(data), [0] * 200, 256)
        assert cells(release.table(table.id)) == {cell: n for cell, (n, _) in hand.items()}
    # A country of one region is no longer the total where some have no place.
    shown = release.table("1").column(0).unique().to_pylist()
    assert ("_U" in shown) == ("GEO" in topics)
    if "GEO" in topics:
        found = cells(release.table("1"))
        assert found["LU", "_T", "_T"] + found["_U", "_T", "_T"] == found["_T", "_T", "_T"] == 200


def test_topics_without_missing_values_are_as_they_were(engine: DuckDB) -> None:
    data = people(200)
    usual, category, dropped = (
        protect(data, EVERYONE, MIXED, id="ID", missing=missing, engine=engine)
        for missing in ("error", "category", "drop")
    )
    assert usual.programme == category.programme == dropped.programme == EVERYONE
    for name in usual.ids:
        assert usual.table(name) == category.table(name) == dropped.table(name)


def test_a_universe_takes_missing_values_in_where_it_leaves_something_out(engine: DuckDB) -> None:
    data = with_gaps(200, "AGE", "EMP")
    universes = [
        "EMP != 3",
        "EMP = 1",
        "AGE not in (Y1, O) and EMP in (1, 2)",
        "AGE = Y2 or EMP >= 2",
        "SEX = F and (AGE != O or EMP < 2)",
    ]
    spec = programme(TOPICS, *[[by(SEX)]] * 5, universes=universes)
    release = protect(data, spec, Exact(), missing="category", engine=engine)
    inside = [
        lambda record: record["EMP"] != "3",
        lambda record: record["EMP"] == "1",
        lambda record: record["AGE"] in {"Y2", "_U"} and record["EMP"] in {"1", "2"},
        lambda record: record["AGE"] == "Y2" or record["EMP"] in {"2", "3"},
        lambda record: record["SEX"] == "F" and (record["AGE"] != "O" or record["EMP"] == "1"),
    ]
    for table, holds in zip(spec.tables, inside, strict=True):
        assert cells(release.table(table.id))["_T",] == sum(map(holds, filled(data)))


def test_records_with_missing_values_are_dropped_as_if_they_had_never_been_there(engine: DuckDB) -> None:
    data = with_gaps(200, "SEX", "GEO")
    kept = pa.Table.from_pylist([record for record in data.to_pylist() if record["SEX"] and record["GEO"]])
    assert 100 < kept.num_rows < 190
    found = protect(data, TOWN, MIXED, id="ID", missing="drop", engine=engine)
    expected = protect(kept, TOWN, MIXED, id="ID", engine=engine)
    assert found.summary
    assert (found.summary.records, found.summary.dropped) == (kept.num_rows, 200 - kept.num_rows)
    assert found.programme == TOWN
    for name in expected.ids:
        assert found.table(name) == expected.table(name)


def test_a_value_that_no_chosen_table_needs_may_be_missing(engine: DuckDB) -> None:
    data = with_gaps(100, "EMP")
    release = protect(data, TOWN, MIXED, id="ID", tables=["1", "2"], engine=engine)
    assert release.summary
    assert release.summary.records == 100


def test_data_of_which_nothing_is_left_cannot_be_counted() -> None:
    data = pa.table({"SEX": ["", None], "id": ["a", "b"]})
    message = (
        "the data frame has no record to count: all records have a missing value and were dropped. "
        "Use --missing category."
    )
    with pytest.raises(NothingToCountError, match=re.escape(message)):
        read(Silent(), data, missing="drop", id="id")


@examples(given(st.data()), quick=12, slow=30)
def test_missing_values_of_random_records_are_counted_as_by_hand(engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes(universes=False))
    records_of: list[dict[str, Any]] = [dict(record) for record in data.draw(records(spec))]
    for record in records_of:
        for name in spec.topics:
            if data.draw(st.booleans()) and data.draw(st.booleans()):
                record[name] = None
    used = {b.topic for table in spec.tables for b in table.breakdowns if b.levels}
    gaps = [name for name in spec.topics if name in used and any(record[name] is None for record in records_of)]
    wider = with_missing_category(spec, gaps)
    whole = [{name: value or "_U" for name, value in record.items()} for record in records_of]
    release = protect(frame(spec, records_of), spec, Exact(), missing="category", engine=engine)
    for table in wider.tables:
        hand = counted(wider, table, hidden(whole, used, spec), [0] * len(whole), 256)
        assert cells(release.table(table.id)) == {cell: n for cell, (n, _) in hand.items()}


def hidden(whole: list[dict[str, str]], used: set[str], spec: Programme) -> list[dict[str, str]]:
    """Return records with some code for topics of which only the total is shown: nobody looks at it."""
    some = {name: (given_topic.levels[-1].codes or ("",))[0] for name, given_topic in spec.topics.items()}
    return [{name: value if name in used else some[name] for name, value in record.items()} for record in whole]


# --- Coded columns ---


def test_there_is_a_column_for_every_partition_that_some_table_counts() -> None:
    found = level_columns(TOWN, "error")
    assert {level: column.codes for level, column in found.items()} == {
        "GEO:3": ("d1", "d2", "d3"),
        "GEO:4": ("v10", "v20", "v21", "v30", "v31", "v32"),
        "AGE:2": ("Y1", "Y2", "O"),
        "SEX:1": ("F", "M"),
        "EMP:1": ("1", "2", "3"),
    }
    assert len({column.name for column in found.values()}) == 5
    wider = level_columns(with_missing_category(TOWN, list(TOWN.topics)), "category")
    assert {level: column.codes for level, column in wider.items()} == {
        level: column.codes for level, column in found.items()
    }
