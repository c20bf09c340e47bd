"""From records to tables: every cell equals a count by hand, whatever the data come in, and mistakes leave nothing."""

from __future__ import annotations

import gzip
import re
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from discreet.engines.duckdb import DuckDB
from discreet.errors import (
    DataFileError,
    DataProblemsError,
    FileExistsAlreadyError,
    InputError,
    ParameterError,
    ProgrammeError,
    RecordIdError,
    SecretError,
    UnknownNameError,
)
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable, PTableRow
from discreet.programme.model import Programme, Table
from discreet.protection.pipeline import protect
from discreet.records.secret import keyed_digest
from discreet.release.release import open_release
from discreet.sources.data_frame import FrameSource
from tests.each import each
from tests.protection.town import SECRET, SEX, TOPICS, TOWN, all_cells, cells, frame, participants, people
from tests.quick import examples
from tests.tabulation.small_data import by, counted, programmes, records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.mechanisms.mechanism import Mechanism, NoiseBatch
    from discreet.release.release import Release
    from discreet.tabulation.static_output import StaticOutput

MIXED = CellKey(PTable.max_entropy(variance=2, bound=5), secret=SECRET)
PEOPLE = people(400)


@dataclass(frozen=True)
class Both:
    """Publishes count and key as one number, so that a test sees both: count * K + key."""

    key_space: int
    name: ClassVar[str] = "exact"
    needs_keys: ClassVar[bool] = True
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = True
    perturbs_zeros: ClassVar[bool] = False

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        return self

    def publish(self, batch: NoiseBatch) -> NDArray[np.int64]:
        return batch.counts * self.key_space + batch.keys.astype(np.int64)

    def described(self) -> dict[str, Any]:
        return {"mechanism": "exact", "law": "none", "parameters": {}, "spsn": True, "key_mode": "plain"}


# --- Counts ---


@examples(given(st.data()), quick=10, slow=30, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("key_space", [2**32, 256, pytest.param(10**8, marks=pytest.mark.slow)])
def test_every_cell_has_the_count_and_the_key_of_a_direct_count(
    key_space: int, engine: DuckDB, data: st.DataObject
) -> None:
    spec: Programme = data.draw(programmes(shuffled=True, most=6))
    known = data.draw(records(spec))
    keys = data.draw(st.lists(st.integers(0, key_space - 1), min_size=len(known), max_size=len(known)))
    release = protect(frame(spec, known, key=keys), spec, Both(key_space), key="key", engine=engine)
    for table in spec.tables:
        expected = counted(spec, table, known, keys, key_space)
        found = cells(release.table(table.id))
        assert found == {cell: n * key_space + k for cell, (n, k) in expected.items()}


def test_the_run_is_summed_up(engine: DuckDB) -> None:
    told: list[tuple[str, int, int | None]] = []
    release = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, progress=lambda *step: told.append(step))
    assert release.summary
    assert (release.summary.records, release.summary.dropped, release.summary.topics) == (400, 0, 4)
    assert set(release.summary.seconds) == {"reading", "counting", "noise", "writing", "all"}
    assert told[0] == ("reading", 400, 400)
    assert {stage for stage, _, _ in told} == {"reading", "counting", "noise", "writing"}
    assert [(done, total) for stage, done, total in told if stage == "writing"] == [(n, 5) for n in range(1, 6)]
    record = release.record
    assert (record.programme, record.records, record.missing) == ("small", 400, "error")
    assert record.data_fingerprint == keyed_digest(FrameSource(PEOPLE).fingerprint(), SECRET)
    assert record.published() == release.programme == TOWN


# --- All kinds of data give the same release ---


def written(folder: Path) -> dict[str, Any]:
    """Return the same people as every kind of data that can be given."""
    pq.write_table(PEOPLE, folder / "census.parquet")
    arrow_csv.write_csv(PEOPLE, folder / "census.csv")
    (folder / "census.csv.gz").write_bytes(gzip.compress((folder / "census.csv").read_bytes()))
    parts = folder / "parts"
    parts.mkdir()
    for number, start in enumerate((0, 100, 350)):
        stop = (100, 350, 400)[number]
        pq.write_table(PEOPLE.slice(start, stop - start), parts / f"part{number}.parquet", row_group_size=60)
    numbers = PEOPLE.set_column(4, "EMP", PEOPLE["EMP"].cast(pa.int8()))
    return {
        "parquet": folder / "census.parquet",
        "parquet as text": str(folder / "census.parquet"),
        "csv": folder / "census.csv",
        "csv.gz": folder / "census.csv.gz",
        "several parquet files": [parts / "part2.parquet", parts / "part0.parquet", parts / "part1.parquet"],
        "pattern": f"{parts}/*.parquet",
        "folder": parts,
        "arrow": PEOPLE,
        "arrow in pieces": pa.concat_tables([PEOPLE.slice(0, 7), PEOPLE.slice(7)]),
        "arrow with numbers": numbers,
        "arrow with dictionaries": pa.table([c.dictionary_encode() for c in PEOPLE.columns], PEOPLE.column_names),
        "batch": PEOPLE.combine_chunks().to_batches()[0],
        "reader": pa.RecordBatchReader.from_batches(PEOPLE.schema, PEOPLE.to_batches(max_chunksize=90)),
        "pandas": PEOPLE.to_pandas(),
        "pandas with categories": PEOPLE.to_pandas().astype({"GEO": "category", "SEX": "category", "EMP": "int64"}),
        "polars": pl.DataFrame(PEOPLE.to_pydict()),
        "columns in another order": PEOPLE.append_column("more", PEOPLE["ID"]).select([5, 4, 1, 0, 3, 2]),
    }  # fmt: skip


def test_all_kinds_of_data_give_the_same_release(tmp_path: Path, engine: DuckDB) -> None:
    expected = all_cells(protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine))
    assert len(expected) > 150
    for kind, data in written(tmp_path).items():
        assert all_cells(protect(data, TOWN, MIXED, id="ID", engine=engine)) == expected, kind


def test_ids_may_be_numbers_or_their_text(engine: DuckDB) -> None:
    ids = [*range(10**12, 10**12 + 400)]
    releases = [
        protect(PEOPLE.set_column(0, "ID", pa.array(values)), TOWN, MIXED, id="ID", engine=engine)
        for values in (ids, [str(number) for number in ids])
    ]
    assert all_cells(releases[0]) == all_cells(releases[1])


def test_neither_the_order_of_records_nor_the_number_of_threads_matters(engine: DuckDB) -> None:
    expected = all_cells(protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine))
    mixed_up = PEOPLE.take(np.random.default_rng(8).permutation(400))
    for threads in (1, 2, 4):
        with DuckDB(threads=threads) as other:
            assert all_cells(protect(mixed_up, TOWN, MIXED, id="ID", engine=other)) == expected
    assert all_cells(protect(mixed_up, TOWN, MIXED, id="ID")) == expected


def test_a_record_more_changes_only_the_cells_it_is_in(engine: DuckDB) -> None:
    before = all_cells(protect(PEOPLE.slice(1), TOWN, MIXED, id="ID", engine=engine))
    after = all_cells(protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine))
    first = PEOPLE.slice(0, 1).to_pylist()
    inside = {
        (t.id, cell) for t in TOWN.tables[:3] for cell, numbers in participants(TOWN, t, first).items() if numbers
    }
    changed = {place for place in before.keys() | after.keys() if before.get(place, 0) != after.get(place, 0)}
    assert {place for place in changed if place[0] in "123"} <= inside
    assert len(changed & inside) > len(inside) / 3


@pytest.mark.parametrize(
    "other",
    [replace(MIXED, secret=b"another secret of the office"), replace(MIXED, version="2"), replace(MIXED, mode="plain")],
)
def test_another_secret_version_or_mode_gives_other_noise(other: CellKey, engine: DuckDB) -> None:
    one = all_cells(protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine))
    two = all_cells(protect(PEOPLE, TOWN, other, id="ID", engine=engine))
    places = one.keys() | two.keys()
    assert sum(one.get(place, 0) == two.get(place, 0) for place in places) < 0.6 * len(places)


# --- Which tables ---


def homes() -> Programme:
    """Return the town with two tables of another unit."""
    more = (Table("h1", (by(SEX),), "homes"), Table("h2", (by(SEX),), "homes", universe="EMP = 1"))
    return Programme("town", {t.name: t for t in TOPICS}, (more[0], *TOWN.tables, more[1]))


@each(
    ("tables", "unit", "ids"),
    [
        (None, None, "1 2 3 4 5"),
        (["2", "1"], None, "1 2"),
        (["[1-3]", "5"], None, "1 2 3 5"),
        (None, "homes", "h1 h2"),
        (["*2"], "homes", "h2"),
    ],
)
def test_tables_are_chosen_by_pattern_and_unit(
    tables: list[str] | None, unit: str | None, ids: str, engine: DuckDB
) -> None:
    release = protect(PEOPLE, homes(), MIXED, id="ID", tables=tables, unit=unit, engine=engine)
    assert " ".join(release.ids) == ids
    assert [table.id for table in release.programme.tables] == ids.split()


def test_a_table_is_the_same_alone_and_among_others(engine: DuckDB) -> None:
    together = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine)
    for name in together.ids:
        alone = protect(PEOPLE, TOWN, MIXED, id="ID", tables=[name], engine=engine)
        assert alone.ids == (name,)
        assert alone.table(name) == together.table(name)


def test_a_universe_is_counted_as_if_there_were_no_other_records(engine: DuckDB) -> None:
    chosen = [record for record in PEOPLE.to_pylist() if record["AGE"] == "Y2" and record["EMP"] != "3"]
    assert 10 < len(chosen) < 390
    everyone = Programme("all", TOWN.topics, tuple(replace(t, universe=None) for t in TOWN.tables[3:]))
    alone = protect(pa.Table.from_pylist(chosen), everyone, MIXED, id="ID", engine=engine)
    among = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine)
    for name in alone.ids:
        assert cells(among.table(name)) == cells(alone.table(name))


# --- In memory and in a folder ---


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_release_in_a_folder_is_that_in_memory(form: str, tmp_path: Path, engine: DuckDB) -> None:
    kept = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, keep_exact=True, form=form)
    made = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, keep_exact=True, out=tmp_path / "r", form=form)
    opened = open_release(tmp_path / "r")
    assert made.path == opened.path == tmp_path / "r"
    for release in (made, opened):
        assert release.ids == kept.ids == tuple("12345")
        for name in kept.ids:
            same_rows(release.table(name), kept.table(name))
            same_rows(release.exact(name), kept.exact(name))
        assert replace(release.record, release_digest=None) == kept.record
        assert release.programme == kept.programme
        # How files are written; in memory there are none.
        without = ("format", "files", "escaped", "readme")
        assert {k: v for k, v in release.description.items() if k not in without} == {
            k: v for k, v in kept.description.items() if k not in without
        }


def same_rows(one: pa.Table, other: pa.Table) -> None:
    """Compare tables row by row, in their order; a code may be kept in a dictionary."""
    assert one.column_names == other.column_names
    assert one.to_pydict() == other.to_pydict()


def test_true_counts_are_kept_only_where_they_are_asked_for(tmp_path: Path, engine: DuckDB) -> None:
    protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, out=tmp_path / "r")
    assert not (tmp_path / "r.curator" / "exact").exists()
    exact = protect(PEOPLE, TOWN, Exact(), engine=engine)
    kept = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, keep_exact=True)
    for name in exact.ids:
        same_rows(kept.exact(name), exact.table(name))


def test_no_secret_and_no_id_is_in_any_file(tmp_path: Path, engine: DuckDB) -> None:
    protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, out=tmp_path / "r", form="csv", keep_exact=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        content = path.read_bytes()
        assert not any(hidden in content for hidden in (SECRET, SECRET.hex().encode(), b"person 1"))


def test_a_table_that_is_not_there_is_refused_by_name(engine: DuckDB) -> None:
    release = protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine)
    with pytest.raises(
        UnknownNameError, match=re.escape("There is no table of the release '9'. Available: 1, 2, 3, 4, 5.")
    ):
        release.table("9")
    assert str(release) == "in memory: 5 tables of small; counts have random noise, typically ±1.4."


# --- The engine ---


def test_an_engine_that_was_given_stays_open_and_one_of_our_own_is_closed(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine)
    assert engine.table("SELECT 1").num_rows == 1
    protect(PEOPLE, TOWN, MIXED, id="ID")
    with pytest.raises(DataProblemsError):
        protect(PEOPLE.set_column(3, "SEX", pa.array(["X"] * 400)), TOWN, MIXED, id="ID")
    assert list(tmp_path.iterdir()) == []


# --- What is refused ---


def refused(kind: type[InputError], message: str, mechanism: Mechanism = MIXED, **asked: Any) -> None:  # noqa: ANN401 - as protect takes them
    given = {"data": PEOPLE, "programme": TOWN} | asked
    with pytest.raises(kind, match=re.escape(message)):
        protect(mechanism=mechanism, **given)


def test_noise_by_keys_needs_an_id_or_a_key() -> None:
    refused(
        ParameterError, "The mechanism cell-key needs a key for every record. Specify a column with a stable id (--id)"
    )
    refused(ParameterError, "Specify either --id or --key, not both.", id="ID", key="ID")


def test_keys_from_ids_need_a_secret() -> None:
    plain = CellKey(PTable.max_entropy(variance=2, bound=5), mode="plain")
    refused(
        ParameterError,
        "Deriving keys from an id needs the office's secret. Specify the secret (--secret-file",
        plain,
        id="ID",
    )
    with pytest.raises(SecretError, match="Mixed keys require the office's secret"):
        CellKey(PTable.max_entropy(variance=2, bound=5))


@pytest.mark.parametrize("kind", [lambda noise: CellKey(noise, secret=SECRET), Fresh], ids=["cell-key", "fresh"])
def test_a_ptable_that_reveals_true_counts_needs_consent(kind: Any, engine: DuckDB) -> None:  # noqa: ANN401 - makes a mechanism
    shift = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (3,), (1.0,))))
    how: dict[str, Any] = {"id": "ID" if kind is not Fresh else None, "engine": engine}
    with pytest.raises(ParameterError, match="a published 4 has one true count with probability 1"):
        protect(people(30), TOWN, kind(shift), **how)
    with pytest.raises(ParameterError, match="a published 4 has one true count with probability 1"):
        protect(people(30), TOWN, kind(shift), fingerprint="", **how)
    release = protect(people(30), TOWN, kind(shift), allow_disclosure=True, **how)
    assert any("does not protect" in text for text in release.record.warnings)


@pytest.mark.parametrize("zeros", [False, True])
def test_a_law_that_reveals_true_counts_needs_consent(zeros: bool, engine: DuckDB) -> None:
    law = Fresh(TwoSidedGeometric(epsilon=20), perturb_zeros=zeros)
    with pytest.raises(ParameterError, match="a published 1 has one true count with probability 1") as refusal:
        protect(people(30), TOWN, law, engine=engine)
    assert refusal.value.parameter == "allow_disclosure"
    release = protect(people(30), TOWN, law, allow_disclosure=True, engine=engine)
    assert any("gives almost no protection" in text for text in release.record.warnings)
    enough = protect(people(30), TOWN, Fresh(TwoSidedGeometric(epsilon=1), perturb_zeros=zeros), engine=engine)
    assert enough.record.warnings == []


def test_a_budget_that_reveals_true_counts_is_warned_of(engine: DuckDB) -> None:
    release = protect(people(30), TOWN, EpsDP(Budget(1000.0)), engine=engine)
    assert any("gives almost no protection" in text for text in release.record.warnings)


def test_programmes_without_categories_cannot_be_counted() -> None:
    refused(ProgrammeError, "Topic GRID has no list of categories", programme="grid2021:LU:2500", id="ID")


@each(
    ("more", "kind", "message"),
    [
        ({"form": "xlsx"}, UnknownNameError, "There is no table format 'xlsx'"),
        ({"missing": "ignore"}, UnknownNameError, "There is no treatment of missing values 'ignore'"),
        ({"tables": ["9"]}, UnknownNameError, "There is no table '9'"),
        ({"unit": "homes"}, UnknownNameError, "There is no unit 'homes'"),
        ({"programme": "eu2021:XX"}, UnknownNameError, "There is no country for eu2021 'XX'"),
        ({"data": 5}, InputError, "an object of type int"),
        ({"data": "nowhere.parquet"}, DataFileError, "nowhere.parquet"),
        (
            {"data": pa.concat_tables([PEOPLE, PEOPLE.slice(0, 1)])},
            RecordIdError,
            "2 records share their ID with another",
        ),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    more: dict[str, Any], kind: type[InputError], message: str, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"id": "ID", "out": tmp_path / "r"} | more
    refused(kind, message, **asked)
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_replaced_only_where_that_is_asked_for(tmp_path: Path, engine: DuckDB) -> None:
    def again(**more: Any) -> Release:  # noqa: ANN401 - as protect takes them
        return protect(PEOPLE, TOWN, MIXED, id="ID", engine=engine, out=tmp_path / "r", **more)

    again(tables=["1"])
    with pytest.raises(FileExistsAlreadyError, match="exists already and was not changed"):
        again()
    assert open_release(tmp_path / "r").ids == ("1",)
    again(replace=True)
    assert open_release(tmp_path / "r").ids == tuple("12345")


@pytest.mark.parametrize(
    "change", [lambda path: path.write_bytes(path.read_bytes() + b"\n"), lambda path: path.unlink()]
)
def test_data_that_change_while_they_are_read_make_no_release(
    change: Callable[[Path], object], tmp_path: Path, engine: DuckDB
) -> None:
    source = tmp_path / "census.csv"
    arrow_csv.write_csv(PEOPLE, source)

    def meddle(stage: str, done: int, total: int | None) -> None:  # noqa: ARG001 - called so
        if stage == "noise" and done == 1:
            change(source)

    with pytest.raises(DataFileError, match=r"census\.csv"):
        protect(source, TOWN, MIXED, id="ID", engine=engine, out=tmp_path / "r", progress=meddle)
    assert not (tmp_path / "r").exists()
    assert not (tmp_path / "r.curator").exists()
