"""The estimate: what can be known before is exact, the rest grows with the data, and no record is read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.errors import ColumnError, ProgrammeError, UnknownNameError
from discreet.mechanisms.exact import Exact
from discreet.programme.programme_files import load_programme
from discreet.protection.dry_run import BYTES_PER_CSV_RECORD, BYTES_PER_ROW, estimate
from discreet.protection.pipeline import protect
from discreet.sources import csv_file
from discreet.sources.data_frame import FrameSource
from discreet.tabulation.plan import plan as plan_tables
from tests.each import each
from tests.protection.town import TOWN, people
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.protection.dry_run import RunEstimate


@pytest.mark.parametrize("tables", [None, ["1"], ["3", "4", "5"]])
def test_tables_statistics_and_cells_are_those_of_the_run(tables: list[str] | None, engine: DuckDB) -> None:
    data = people(200)
    found = estimate(data, TOWN, tables=tables)
    release = protect(data, TOWN, Exact(), tables=tables, engine=engine)
    assert release.summary
    made = (len(release.ids), release.summary.statistics, release.summary.cells, release.summary.records)
    assert (found.tables, found.statistics, found.cells, found.records) == made
    assert not found.guessed


def test_cells_are_counted_by_hand() -> None:
    a, b = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"}), topic("B", "b0 b1")
    spec = programme([a, b], [by(a), by(b)], [by(b, total=False)], universes=[None, "A = a0"])
    data = pa.table({"A": ["a00"], "B": ["b1"]})
    found = estimate(data, spec)
    assert found.cells == 5 * 3 + 2
    assert (found.maximal, found.statistics) == (2, 6 + 1)


@each(("tables", "maximal"), [(["1"], 1), (["1", "2"], 1), (["1", "2", "3"], 2), (None, 4)])
def test_maximal_tables_are_those_that_must_be_counted_from_records(tables: list[str] | None, maximal: int) -> None:
    assert estimate(people(10), TOWN, tables=tables).maximal == maximal


def test_the_census_of_a_country_is_estimated_without_its_data() -> None:
    spec = load_programme("eu2021:LU")
    names = [t.name for t in spec.topics.values()]
    found = estimate(pa.table({name: ["x"] for name in names}), "eu2021:LU", unit="persons")
    plans = [plan_tables(spec, tables) for name, tables in spec.populations.items() if name.startswith("persons")]
    assert found.maximal == sum(len(plan.maximal) for plan in plans)
    assert found.tables == sum(len(plan.tables) for plan in plans)
    assert found.to_json() == vars(found)


# --- What is about right ---


def sizes(found: RunEstimate) -> tuple[float, ...]:
    return found.memory, found.disk, found.seconds


def test_more_records_take_more() -> None:
    found = [sizes(estimate(people(size), TOWN)) for size in (1, 10, 100, 1000, 10_000)]
    assert all(number > 0 for number in found[0])
    for fewer, more in pairwise(found):
        assert all(a <= b for a, b in zip(fewer, more, strict=True))
    # Memory and time grow with the records; on disk there is an end, once every cell is written.
    assert found[0][0] < found[-1][0]
    assert found[0][1] < found[-2][1] == found[-1][1]
    assert found[0][2] < found[-1][2]


def test_more_tables_take_more() -> None:
    some, all_of_them = (estimate(people(100), TOWN, tables=tables) for tables in (["1"], None))
    assert some.memory <= all_of_them.memory
    assert some.disk < all_of_them.disk
    assert some.seconds < all_of_them.seconds


def test_keys_made_from_ids_take_more() -> None:
    ready, made = (estimate(people(100), TOWN, from_ids=from_ids) for from_ids in (False, True))
    assert ready.memory < made.memory
    assert ready.seconds < made.seconds
    assert ready.disk == made.disk


@each("size", [1, 5, 50, 500])
def test_the_estimate_of_the_disk_has_room_for_all_rows(size: int, engine: DuckDB) -> None:
    data = people(size)
    release = protect(data, TOWN, Exact(), engine=engine)
    rows = sum(release.table(name).num_rows for name in release.ids)
    assert rows * BYTES_PER_ROW <= estimate(data, TOWN).disk + 1


# --- Nothing is read but heads ---


def test_only_the_head_of_a_parquet_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "census.parquet"
    pq.write_table(people(5000), path)
    whole = estimate(path, TOWN)
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(content[:4] + b"\xff" * (len(content) - footer - 4) + content[-footer:])
    assert estimate(path, TOWN) == whole
    assert (whole.records, whole.guessed) == (5000, False)


def test_the_records_of_a_csv_file_are_guessed_from_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "census.csv"
    arrow_csv.write_csv(people(50_000), path)
    found = estimate(path, TOWN)
    assert found.guessed
    assert found.records == path.stat().st_size // BYTES_PER_CSV_RECORD
    assert 10_000 < found.records < 250_000
    # What comes far behind the first line is not looked at.
    monkeypatch.setattr(csv_file, "LONGEST_HEADER", 1 << 12)
    with path.open("ab") as file:
        file.write(b"\xff\xfe broken \n" * 10)
    assert estimate(path, TOWN).guessed


def test_the_records_of_a_frame_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    for name in ("batches", "fingerprint"):
        monkeypatch.setattr(FrameSource, name, refuse)
    assert estimate(people(10), TOWN).records == 10


# --- What is refused as it would be in a run ---


def test_what_a_run_would_refuse_at_once_is_refused() -> None:
    data = people(10)
    with pytest.raises(ColumnError, match="the data frame has no column for topic EMP"):
        estimate(data.drop_columns("EMP"), TOWN)
    with pytest.raises(UnknownNameError, match="There is no table '9'"):
        estimate(data, TOWN, tables=["9"])
    with pytest.raises(UnknownNameError, match="There is no unit 'homes'"):
        estimate(data, TOWN, unit="homes")
    with pytest.raises(ProgrammeError, match="Topic GRID has no list of categories"):
        estimate(data, "grid2021:LU:2500")
