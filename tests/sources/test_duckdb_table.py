"""A table or view of a DuckDB database is read like a file, and what cannot be read is told without a value."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from discreet.errors import DataFileError, InputError, UnknownNameError
from discreet.sources.column_values import as_text
from discreet.sources.duckdb_table import opening
from discreet.sources.source import Source, open_source
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Sequence

PERSONS = """
    CREATE TABLE persons AS SELECT * FROM (VALUES (1, 'F', '0'), (2, 'M', NULL), (3, 'F', 'canary')) AS p(id, sex, age)
"""
MANY = 300_000
NUMBERS = f"range({MANY}) AS r(i)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "census.duckdb"


def make(path: Path, *commands: str) -> Path:
    with duckdb.connect(path) as connection:
        for command in commands:
            connection.execute(command)
    return path


def texts(source: Source, columns: Sequence[str]) -> list[list[str | None]]:
    """Return the text of every value, column by column."""
    found: list[list[str | None]] = [[] for _ in columns]
    for batch in source.batches(columns):
        assert batch.schema.names == list(columns)
        for place, values in enumerate(batch.columns):
            text = as_text(values)
            assert text is not None
            found[place] += text.to_pylist()
    return found


def message(data: object) -> str:
    """Return what is said of data that are refused when they are opened or read; it never shows a value."""
    with pytest.raises(InputError) as caught:
        open_source(data).fingerprint()
    assert "canary" not in str(caught.value)
    return str(caught.value)


def fingerprint(path: Path, *commands: str) -> str:
    """Return the fingerprint of the only table that commands leave."""
    path.unlink(missing_ok=True)
    return open_source(make(path, *commands)).fingerprint()


# --- Reading ---


def test_the_columns_asked_for_are_read(path: Path) -> None:
    source = open_source(f"{make(path, PERSONS)}#persons")
    assert (source.name, source.columns, source.rows) == ("persons in census.duckdb", ("id", "sex", "age"), 3)
    assert source.size == path.stat().st_size
    assert texts(source, ["age", "id"]) == [["0", None, "canary"], ["1", "2", "3"]]
    assert texts(source, ["id", "id"]) == [["1", "2", "3"]] * 2
    assert sum(batch.num_rows for batch in source.batches([])) == 3
    source.check_unchanged()
    with pytest.raises(UnknownNameError, match=r"no column of persons in census\.duckdb 'Sex'\. Did you mean sex"):
        source.batches(["Sex"])
    assert "canary" not in repr(source)


def test_every_type_gives_the_codes_that_other_files_give(path: Path) -> None:
    values: dict[str, tuple[str, object, str]] = {
        "t": ("VARCHAR", "a b", "a b"),
        "e": ("ENUM ('F', 'M')", "M", "M"),
        "b": ("BOOLEAN", True, "true"),
        "i1": ("TINYINT", -7, "-7"),
        "i8": ("BIGINT", 2**60, str(2**60)),
        "u4": ("UINTEGER", 2**32 - 1, str(2**32 - 1)),
        "h": ("HUGEINT", 2**80, str(2**80)),
        "n": ("DECIMAL(5, 2)", Decimal("1.00"), "1"),
        "n2": ("DECIMAL(30, 20)", Decimal("0.5"), "0.5"),
        "f": ("DOUBLE", 15.0, "15"),
        "d": ("DATE", date(2021, 10, 31), "2021-10-31"),
        "ts": ("TIMESTAMP", "2021-10-31 00:00:00", "2021-10-31"),
        "u": ("UUID", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    }
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, (kind, _, _) in values.items())})")
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO t VALUES ({marks})", [value for _, value, _ in values.values()])  # noqa: S608 - marks
        connection.execute("INSERT INTO t (t) VALUES ('')")
    expected = [[text, None] for _, _, text in values.values()]
    assert texts(open_source(path), list(values)) == expected


def test_records_come_in_batches_and_twice_in_the_same_order(path: Path) -> None:
    make(
        path,
        f"CREATE TABLE many AS FROM {NUMBERS} ORDER BY hash(i)",
        "CREATE VIEW pairs AS SELECT a.i FROM many AS a JOIN many AS b ON a.i = b.i + 1",
    )
    for name, rows in (("many", MANY), ("pairs", MANY - 1)):
        source = open_source(f"{path}#{name}")
        batches = list(source.batches(["i"]))
        assert max(batch.num_rows for batch in batches) <= 150_000
        assert sum(batch.num_rows for batch in batches) == source.rows == rows
        assert texts(source, ["i"]) == texts(source, ["i"])


def test_two_threads_may_read_at_a_time(path: Path) -> None:
    source = open_source(make(path, f"CREATE TABLE many AS FROM {NUMBERS}"))
    with ThreadPoolExecutor(max_workers=1) as beside:
        hashing = beside.submit(source.fingerprint)
        assert sum(batch.num_rows for batch in source.batches(["i"])) == MANY
    assert hashing.result() == source.fingerprint()


def test_a_database_is_let_go_with_its_source(path: Path) -> None:
    source = open_source(make(path, PERSONS))
    reader = source.batches(["id"])
    next(reader)
    with pytest.raises(duckdb.ConnectionException):
        make(path, "DROP TABLE persons")
    del source, reader
    gc.collect()
    make(path, "CREATE TABLE other AS FROM persons", "DROP TABLE persons")
    open_source(path).close()
    make(path, "DROP TABLE other")


# --- Which table ---


def test_the_only_table_need_not_be_named(path: Path) -> None:
    assert open_source(make(path, PERSONS)).name == "persons in census.duckdb"
    make(path, "CREATE VIEW women AS FROM persons WHERE sex = 'F'")
    assert message(path) == (
        "census.duckdb has 2 tables and views: persons, women. Specify one after a number sign, for example #persons."
    )


def test_tables_and_views_of_every_schema_are_found(path: Path) -> None:
    make(
        path,
        PERSONS,
        "CREATE SCHEMA s",
        "CREATE TABLE s.persons AS SELECT 1 AS a",
        "CREATE VIEW s.women AS FROM main.persons WHERE sex = 'F'",
    )
    assert open_source(f"{path}#persons").columns == ("id", "sex", "age")
    assert open_source(f"{path}#main.persons").columns == ("id", "sex", "age")
    assert open_source(f"{path}#s.persons").name == "s.persons in census.duckdb"
    assert open_source(f"{path}#s.women").rows == 2
    assert message(f"{path}#women") == (
        "There is no table or view in census.duckdb named 'women'. Did you mean s.women? "
        "Available: persons, s.persons, s.women."
    )


@pytest.mark.parametrize("name", one_in(2, ['a"b', "x.y", "a; DROP TABLE t", "Größe", "'", "select"]))
def test_a_name_is_a_name_whatever_it_holds(path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    make(path, f"CREATE TABLE {quoted} AS SELECT 'a' AS {quoted}, 1 AS other")
    source = open_source(f"{path}#{name}")
    assert texts(source, [name]) == [["a"]]
    assert source.fingerprint().startswith("sha256:")


# --- The fingerprint ---


def test_the_fingerprint_does_not_depend_on_the_order(path: Path) -> None:
    first = fingerprint(path, PERSONS)
    other = fingerprint(path, PERSONS, "CREATE TABLE p AS FROM persons ORDER BY id DESC", "DROP TABLE persons")
    assert first == other
    assert first.startswith("sha256:")


@pytest.mark.parametrize(
    "change",
    one_in(
        3,
        [
            "UPDATE persons SET sex = 'M' WHERE id = 1",
            "UPDATE persons SET age = '' WHERE id = 2",
            "UPDATE persons SET sex = 'F:1', age = '0' WHERE id = 1",
            "UPDATE persons SET sex = CASE id WHEN 1 THEN 'M' WHEN 2 THEN 'F' ELSE sex END",
            "INSERT INTO persons FROM persons WHERE id = 1",
            "DELETE FROM persons WHERE id = 3",
            "ALTER TABLE persons RENAME sex TO gender",
        ],
    ),
)
def test_every_change_shows_in_the_fingerprint(path: Path, change: str) -> None:
    assert fingerprint(path, PERSONS) != fingerprint(path, PERSONS, change)


def test_values_do_not_run_into_each_other(path: Path) -> None:
    made = [
        fingerprint(path, f"CREATE TABLE t AS SELECT {one} AS a, {other} AS b")
        for one, other in (("'12'", "'3'"), ("'1'", "'23'"), ("'1-'", "NULL"), ("NULL", "'1-'"), ("'-'", "'-'"))
    ]
    assert len(set(made)) == len(made)


def test_the_fingerprint_does_not_depend_on_the_clock_of_the_machine(path: Path) -> None:
    make(path, "CREATE TABLE t AS SELECT TIMESTAMPTZ '2021-10-31 12:00:00+00' AS at")
    code = "import sys; from discreet.sources.source import open_source; print(open_source(sys.argv[1]).fingerprint())"
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, env=environment, text=True, check=True
    )
    assert done.stdout.strip() == open_source(path).fingerprint()


# --- What is refused ---


def test_a_database_that_changes_is_noticed(path: Path) -> None:
    source = open_source(make(path, PERSONS))
    os.utime(path, (1, 1))
    with pytest.raises(DataFileError, match=r"^census\.duckdb changed while it was in use\. Wait"):
        source.check_unchanged()


def test_changes_in_the_file_beside_it_are_noticed(path: Path) -> None:
    source = open_source(make(path, PERSONS))
    path.with_name("census.duckdb.wal").write_bytes(b"1")
    with pytest.raises(DataFileError, match="changed while it was in use"):
        source.check_unchanged()


def test_what_is_no_duckdb_database_is_refused(tmp_path: Path) -> None:
    assert message(tmp_path / "none.duckdb") == (
        "none.duckdb cannot be read: No such file or directory. Check the path."
    )
    (tmp_path / "folder.db").mkdir()
    assert "folder.db cannot be read: Is a directory" in message(tmp_path / "folder.db")
    other = "is not a DuckDB database. Specify a DuckDB database, or a Parquet or CSV file."
    (tmp_path / "text.db").write_text("canary,canary\n1,2\n")
    assert message(tmp_path / "text.db") == f"text.db {other}"
    (tmp_path / "empty.db").touch()
    assert message(tmp_path / "empty.db") == f"empty.db {other}"
    with sqlite3.connect(tmp_path / "lite.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    assert message(tmp_path / "lite.db") == f"lite.db {other}"


def test_a_damaged_database_is_refused(path: Path) -> None:
    make(path, f"CREATE TABLE t AS FROM {NUMBERS} SELECT 'canary' || i AS a")
    whole = path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        whole[:20],
        whole[:12],
        bytes(12) + whole[12:],
        whole[:4096] + bytes(8192),
    ):
        path.write_bytes(damaged)
        said = message(f"{path}#t")
        assert "damaged" in said or "not a DuckDB database" in said


def test_a_damaged_block_is_refused(path: Path) -> None:
    make(path, f"CREATE TABLE t AS FROM {NUMBERS} SELECT 'canary' || hash(i) AS a")
    whole = bytearray(path.read_bytes())
    for place in range(12_288, len(whole), 1_000):
        whole[place] ^= 0xFF
    path.write_bytes(whole)
    assert "damaged" in message(f"{path}#t")


def test_a_database_of_another_version_is_refused() -> None:
    # The words are those of DuckDB 1.4 before a file of DuckDB 2.0; no file can be made here that it refuses so.
    assert "cannot read" in _opening_said(
        "Trying to read a database file with version number 999, but we can only read"
    )
    assert "encrypted" in _opening_said('Cannot open encrypted database "x" without a key')


def _opening_said(text: str) -> str:
    with pytest.raises(DataFileError) as caught, opening(Path("x.db")):
        raise duckdb.IOException(text)
    return str(caught.value)


def test_a_database_in_use_elsewhere_is_refused(path: Path) -> None:
    make(path, PERSONS)
    with duckdb.connect(path):
        assert message(path) == "census.duckdb is open in this process already. Close that connection first."
    code = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        assert message(path) == (
            "census.duckdb is in use by another program that may change it. Close it there, and repeat the command."
        )
        other.communicate(timeout=30)


def test_a_database_without_tables_or_records_is_refused(path: Path) -> None:
    assert message(make(path)) == ("census.duckdb has no table or view. Specify a database with records.")
    make(path, "CREATE TABLE t (a INTEGER)")
    assert message(path) == "t in census.duckdb has columns but no records. Specify a table with at least one record."


def test_a_view_reads_no_other_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a\ncanary\n")
    make(path, f"CREATE VIEW other AS FROM '{tmp_path}/other.csv'")
    assert message(path) == (
        "other in census.duckdb is a view that reads other files, which is not allowed. Create a table from it."
    )


def test_a_view_that_fails_shows_no_value(path: Path) -> None:
    make(
        path, PERSONS, "CREATE VIEW bad AS SELECT age::INTEGER AS age FROM persons", "CREATE VIEW gone AS FROM persons"
    )
    source = open_source(f"{path}#bad")
    with pytest.raises(DataFileError, match=r"bad in census\.duckdb cannot be read: the query of the view") as caught:
        list(source.batches(["age"]))
    assert "canary" not in str(caught.value)
    source.close()
    make(path, "DROP TABLE persons")
    assert "gone in census.duckdb cannot be read: the query of the view fails" in message(f"{path}#gone")
