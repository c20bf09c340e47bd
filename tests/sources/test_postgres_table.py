"""A table or view of a PostgreSQL database is read as it was at one moment, and nothing secret is told."""

from __future__ import annotations

import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from discreet.errors import DataFileError, InputError, UnknownNameError
from discreet.sources import postgres_table
from discreet.sources.source import open_source
from tests.postgres_server import GUARDED, OWNER, PASSWORD
from tests.quick import one_in
from tests.sources.test_duckdb_table import texts

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer

PERSONS = """
    CREATE TABLE persons AS SELECT * FROM (VALUES (1, 'F', '0'), (2, 'M', NULL), (3, 'F', 'canary')) AS p(id, sex, age)
"""
PERSONS_THERE = "CREATE TABLE pgother.persons AS SELECT 1 AS id"
MANY = 300_000
NUMBERED = f"""
    CREATE TABLE many AS SELECT i, repeat('canary', 9) AS a FROM generate_series(1, {MANY}) AS r(i)
"""  # noqa: S608 - a number


@pytest.fixture
def server(postgres: PostgresServer) -> PostgresServer:
    """Give the server with one table and nothing else."""
    # A source that a failed test left behind would be waited for.
    postgres.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
    postgres.run(
        "DROP SCHEMA IF EXISTS public, other CASCADE", "CREATE SCHEMA public", "GRANT USAGE ON SCHEMA public TO PUBLIC"
    )
    postgres.run(PERSONS)
    return postgres


def read_whole(data: str) -> None:
    with closing(open_source(data)) as source:
        source.fingerprint()
        assert list(source.batches(source.columns))


def message(data: str) -> str:
    """Return what is said of data that are refused; it shows no value, no user, no password and no host."""
    with pytest.raises(InputError) as caught:
        read_whole(data)
    for hidden in ("canary", OWNER, GUARDED, PASSWORD, "127.0.0.1"):
        assert hidden not in str(caught.value)
    return str(caught.value)


# --- Reading ---


def test_the_columns_asked_for_are_read(server: PostgresServer) -> None:
    source = open_source(f"{server.address()}#persons")
    assert source.name == "public.persons in PostgreSQL database postgres"
    assert (source.columns, source.rows) == (("id", "sex", "age"), None)
    assert source.size > 0
    assert texts(source, ["age", "id"]) == [["0", None, "canary"], ["1", "2", "3"]]
    assert texts(source, ["id", "id"]) == [["1", "2", "3"]] * 2
    assert sum(batch.num_rows for batch in source.batches([])) == 3
    source.check_unchanged()
    with pytest.raises(UnknownNameError, match=r"no column of public\.persons in PostgreSQL .* Did you mean sex"):
        source.batches(["Sex"])
    assert not any(hidden in repr(source) for hidden in ("canary", OWNER, "127.0.0.1"))


TYPES = {
    "text": ("'a b'", "a b"),
    "varchar(9)": ("'01'", "01"),
    "char(5)": ("'F'", "F"),
    "name": ("'n'", "n"),
    "boolean": ("true", "true"),
    "smallint": ("-7", "-7"),
    "integer": ("7", "7"),
    "bigint": (f"{2**60}", f"{2**60}"),
    "numeric": ("1.500", "1.5"),
    "numeric(12, 0)": ("123456789012", "123456789012"),
    "numeric(5, 2)": ("1", "1"),
    "real": ("15", "15"),
    "double precision": ("0.5", "0.5"),
    "date": ("'2021-10-31'", "2021-10-31"),
    "timestamp": ("'2021-10-31 00:00'", "2021-10-31"),
    "uuid": ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    "oid": ("4294967295", "4294967295"),
    "sex": ("'M'", "M"),
    "code": ("'  '", None),
    "amount": ("1.0", "1"),
    "narrow": ("9", "9"),
    "integer[]": ("'{1,2}'", "{1,2}"),
}


def test_every_type_gives_the_codes_that_other_files_give(server: PostgresServer) -> None:
    server.run(
        "CREATE TYPE sex AS ENUM ('F', 'M')",
        "CREATE DOMAIN code AS char(4)",
        "CREATE DOMAIN amount AS numeric(6, 3)",
        "CREATE DOMAIN small AS smallint",
        "CREATE DOMAIN narrow AS small",
        f"CREATE TABLE t ({', '.join(f'c{n} {kind}' for n, kind in enumerate(TYPES))}, nothing numeric)",
        f"INSERT INTO t VALUES ({', '.join(value for value, _ in TYPES.values())}, 'NaN')",  # noqa: S608 - from above
        "INSERT INTO t (c0) VALUES ('')",
        "ALTER TABLE t ADD gone text",
        "ALTER TABLE t DROP gone",
    )
    source = open_source(f"{server.address()}#t")
    assert texts(source, source.columns[:-1]) == [[text, None] for _, text in TYPES.values()]
    assert texts(source, ["nothing"]) == [[None, None]]
    kinds = next(source.batches(source.columns)).schema.types
    assert [str(kinds[list(TYPES).index(name)]) for name in ("smallint", "bigint", "boolean")] == [
        "int16",
        "int64",
        "bool",
    ]


@pytest.mark.slow
def test_records_come_in_batches_and_twice_in_the_same_order(server: PostgresServer) -> None:
    server.run(
        NUMBERED,
        "ANALYZE many",
        "CREATE VIEW pairs AS SELECT a.i FROM many AS a JOIN many AS b ON a.i = b.i + 1",
    )
    for name, rows in (("many", MANY), ("pairs", MANY - 1)):
        source = open_source(f"{server.address()}#{name}")
        batches = list(source.batches(["i"]))
        assert 10_000 < max(batch.num_rows for batch in batches) < 250_000
        assert sum(batch.num_rows for batch in batches) == rows
        assert texts(source, ["i"]) == texts(source, ["i"])


def test_all_readings_see_one_moment(server: PostgresServer) -> None:
    source = open_source(f"{server.address()}#persons")
    before = source.fingerprint()
    server.run("INSERT INTO persons VALUES (4, 'M', '1')", "DELETE FROM persons WHERE id = 1")
    assert texts(source, ["id"]) == [["1", "2", "3"]]
    assert source.fingerprint() == before
    source.check_unchanged()
    assert open_source(f"{server.address()}#persons").fingerprint() != before


@pytest.mark.slow
def test_two_threads_may_read_at_a_time(server: PostgresServer) -> None:
    server.run(NUMBERED)
    source = open_source(f"{server.address()}#many")
    with ThreadPoolExecutor(max_workers=1) as beside:
        hashing = beside.submit(source.fingerprint)
        assert sum(batch.num_rows for batch in source.batches(["i"])) == MANY
    assert hashing.result() == source.fingerprint()


def test_connections_end_with_the_source(server: PostgresServer) -> None:
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet'"
    source = open_source(f"{server.address()}#persons")
    reader = source.batches(["id"])
    next(reader)
    assert server.ask(query) == [(2,)]
    del source, reader
    gc.collect()
    open_source(f"{server.address()}#persons").close()
    for _ in range(100):
        if server.ask(query) == [(0,)]:
            return
        time.sleep(0.1)
    raise AssertionError(server.ask(query))


def test_text_of_other_encodings_is_read(server: PostgresServer) -> None:
    server.run("DROP DATABASE IF EXISTS latin")
    server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    server.run("CREATE TABLE t AS SELECT chr(233) AS a", database="latin")
    assert texts(open_source(server.address("latin")), ["a"]) == [["é"]]
    server.run("DROP DATABASE IF EXISTS bytes")
    server.run("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    server.run(r"CREATE TABLE t AS SELECT convert_from('\xe9', 'SQL_ASCII') AS a", database="bytes")
    # The server itself refuses to pass on what is not UTF-8.
    assert "t in PostgreSQL database bytes cannot be read" in message(server.address("bytes"))


# --- Which table ---


def test_the_only_table_need_not_be_named(server: PostgresServer) -> None:
    assert open_source(server.address()).name == "public.persons in PostgreSQL database postgres"
    server.run("CREATE SCHEMA other", "CREATE VIEW other.women AS SELECT 1 AS a")
    assert message(server.address()) == (
        "PostgreSQL database postgres has 2 tables and views: other.women, persons. "
        "Specify one after a number sign, for example #other.women."
    )
    with closing(open_source(f"{server.address()}#other.women")) as view:
        assert (view.rows, view.size) == (1, 0)
    assert message(f"{server.address()}#women") == (
        "There is no table or view in PostgreSQL database postgres named 'women'. Did you mean other.women? "
        "Available: other.women, persons."
    )
    server.run("DROP SCHEMA other CASCADE", "DROP TABLE persons")
    assert "has no table or view" in message(server.address())


@pytest.mark.parametrize("name", one_in(3, ['a"b', "x.y", "a; DROP TABLE persons", "Größe", "'", "record", "select"]))
def test_a_name_is_a_name_whatever_it_holds(server: PostgresServer, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    server.run(f"CREATE TABLE {quoted} AS SELECT 'a'::text AS {quoted}, 1 AS other")
    source = open_source(f"{server.address()}#{name}")
    assert texts(source, [name]) == [["a"]]
    before = source.fingerprint()
    server.run(f"UPDATE {quoted} SET other = 2")  # noqa: S608 - quoted
    assert open_source(f"{server.address()}#{name}").fingerprint() != before


@pytest.mark.parametrize("conforming", ["on", "off"])
@pytest.mark.parametrize("name", one_in(3, ["back\\slash", "\\' OR 1 = 1 --", "plain"]))
def test_names_do_not_depend_on_how_the_server_reads_backslashes(
    server: PostgresServer, name: str, conforming: str
) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    server.run(f"CREATE TABLE {quoted} AS SELECT 'a'::text AS code", "CREATE SCHEMA pgother", PERSONS_THERE)
    server.run(f"ALTER ROLE {OWNER} SET standard_conforming_strings = {conforming}")
    try:
        with closing(open_source(f"{server.address()}#{name}")) as source:
            assert texts(source, ["code"]) == [["a"]]
        # The schemas of the server itself begin with pg and an underscore, this one with pg alone.
        with closing(open_source(f"{server.address()}#pgother.persons")) as other:
            assert other.columns == ("id",)
    finally:
        server.run(f"ALTER ROLE {OWNER} RESET ALL", "DROP SCHEMA pgother CASCADE")


def test_a_partitioned_table_is_one_table(server: PostgresServer) -> None:
    server.run(
        "DROP TABLE persons",
        "CREATE TABLE persons (id integer, sex text) PARTITION BY LIST (sex)",
        "CREATE TABLE women PARTITION OF persons FOR VALUES IN ('F')",
        "CREATE TABLE men PARTITION OF persons FOR VALUES IN ('M')",
        "INSERT INTO persons SELECT i, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END FROM generate_series(1, 9) AS r(i)",
    )
    source = open_source(server.address())
    assert source.name == "public.persons in PostgreSQL database postgres"
    assert len(texts(source, ["id"])[0]) == 9
    assert source.size > 0


# --- The fingerprint ---


def test_the_fingerprint_does_not_depend_on_the_order(server: PostgresServer) -> None:
    server.run("CREATE TABLE other AS SELECT * FROM persons ORDER BY id DESC")
    first, other = (open_source(f"{server.address()}#{name}").fingerprint() for name in ("persons", "other"))
    assert first == other
    assert first.startswith("sha256:")


@pytest.mark.parametrize(
    "change",
    one_in(
        3,
        [
            "UPDATE persons SET sex = 'M' WHERE id = 1",
            "UPDATE persons SET age = '' WHERE id = 2",
            "UPDATE persons SET sex = 'F,0', age = NULL WHERE id = 1",
            "UPDATE persons SET sex = CASE id WHEN 1 THEN 'M' WHEN 2 THEN 'F' ELSE sex END",
            "INSERT INTO persons SELECT * FROM persons WHERE id = 1",
            "DELETE FROM persons WHERE id = 3",
            "ALTER TABLE persons RENAME sex TO gender",
        ],
    ),
)
def test_every_change_shows_in_the_fingerprint(server: PostgresServer, change: str) -> None:
    before = open_source(server.address()).fingerprint()
    server.run(change)
    assert open_source(server.address()).fingerprint() != before


def test_the_fingerprint_does_not_depend_on_settings(server: PostgresServer) -> None:
    server.run(
        "CREATE TABLE t AS SELECT now() AS at, current_date AS day, interval '1 day 2 hours' AS long, 0.1::float8 AS x"
    )
    before = open_source(f"{server.address()}#t").fingerprint()
    changed = (
        "DateStyle = 'German'",
        "TimeZone = 'Asia/Tokyo'",
        "IntervalStyle = 'iso_8601'",
        "extra_float_digits = -9",
    )
    server.run(*(f"ALTER ROLE {OWNER} SET {setting}" for setting in changed))
    try:
        assert open_source(f"{server.address()}#t").fingerprint() == before
    finally:
        server.run(f"ALTER ROLE {OWNER} RESET ALL")


# --- Passwords ---


def test_a_password_comes_from_the_environment(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.run(f"GRANT SELECT ON persons TO {GUARDED}")
    address = f"{server.address(user=GUARDED)}#persons"
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    assert message(address) == (
        "The PostgreSQL server requires a password. "
        "Store the correct password in ~/.pgpass or in the variable PGPASSWORD."
    )
    monkeypatch.setenv("PGPASSWORD", "wrong canary")
    assert "does not accept user name and password. Store the correct password" in message(address)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert texts(open_source(address), ["id"]) == [["1", "2", "3"]]


# --- What is refused ---


def test_a_server_that_cannot_be_reached_is_told() -> None:
    reached = "The PostgreSQL server cannot be reached. Check host, port and sslmode, and that the server runs"
    assert message("postgresql://canary@127.0.0.1:1/census#persons").startswith(reached)
    assert message("postgresql:///census?host=/nowhere#persons").startswith(reached)
    assert message("postgresql://127.0.0.1:canary/census#persons").startswith("The address of the PostgreSQL database")
    assert message("postgresql://127.0.0.1/census?canary=1").startswith("The address of the PostgreSQL database")


def test_a_database_or_user_that_is_not_there_is_told(server: PostgresServer) -> None:
    assert message(server.address("canary")).startswith("The PostgreSQL server has no such database. Check the")
    assert message(server.address(user="canary")).startswith("The PostgreSQL server has no such user. Check the")


def test_a_server_that_is_too_old_is_refused(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_table, "OLDEST", 99)
    assert "has version" in message(server.address())


def test_a_table_without_columns_or_records_is_refused(server: PostgresServer) -> None:
    server.run("CREATE TABLE bare ()", "INSERT INTO bare DEFAULT VALUES", "DELETE FROM persons")
    named = "in PostgreSQL database postgres"
    assert message(f"{server.address()}#persons") == (
        f"public.persons {named} has columns but no records. Specify a table with at least one record."
    )
    assert message(f"{server.address()}#bare").startswith(f"public.bare {named} has no columns.")


def test_what_the_user_may_not_read_is_refused(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    address = f"{server.address(user=GUARDED)}#persons"
    refused = (
        "public.persons in PostgreSQL database postgres cannot be read completely: this user lacks the permission. "
        "Request the permission SELECT, without row-level security."
    )
    assert message(address) == refused
    # A policy would hide records without a word, and counts would be too low.
    server.run(
        f"GRANT SELECT ON persons TO {GUARDED}",
        "ALTER TABLE persons ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY part ON persons TO {GUARDED} USING (id < 3)",
    )
    assert message(address) == refused


def test_a_view_that_fails_shows_no_value(server: PostgresServer) -> None:
    server.run("CREATE VIEW bad AS SELECT id, CASE WHEN id > 1 THEN age::integer END AS age FROM persons")
    said = message(f"{server.address()}#bad")
    assert "bad in PostgreSQL database postgres cannot be read: the server reported an error" in said


def test_a_server_that_dies_while_it_is_read_is_told(server: PostgresServer) -> None:
    server.run(NUMBERED)
    source = open_source(f"{server.address()}#many")
    reader = source.batches(["i", "a"])
    next(reader)
    server.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
    lost = r"^public\.many in PostgreSQL database postgres was not read completely: .* Repeat the command\.$"
    with pytest.raises(DataFileError, match=lost):
        list(reader)
    with pytest.raises(DataFileError, match=lost):
        source.check_unchanged()
    # The moment is gone with the connection that held it.
    with pytest.raises(DataFileError, match=r"^public\.many in PostgreSQL database postgres ") as caught:
        source.fingerprint()
    assert "canary" not in str(caught.value)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("adbc_driver")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_manager", None)
    assert message("postgresql://127.0.0.1:1/census#persons") == (
        "Reading from PostgreSQL needs the package adbc-driver-postgresql. "
        "Install it with: pip install 'discreet[postgres]'."
    )


def test_records_from_other_libraries_come_back(server: PostgresServer) -> None:
    table = pa.table({"id": [1, 2], "sex": ["F", None]})
    server.put("ingested", table)
    assert texts(open_source(f"{server.address()}#ingested"), ["id", "sex"]) == [["1", "2"], ["F", None]]
