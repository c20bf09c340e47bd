"""Which texts name a table of a database, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.sources.database_address import DuckDBName, PostgresName, parse_database_name
from discreet.sources.source import open_source
from tests.each import each


@each(
    ("text", "path", "table"),
    [
        ("census.duckdb#persons", "census.duckdb", "persons"),
        ("census.duckdb", "census.duckdb", None),
        ("census.duckdb#", "census.duckdb", None),
        ("a/b.c/Census.DDB#s.persons", "a/b.c/Census.DDB", "s.persons"),
        ("C:\\data\\census.duckdb#persons", "C:\\data\\census.duckdb", "persons"),
        ("census.db#odd.db", "census.db", "odd.db"),
        ("run#1.duckdb", "run#1.duckdb", None),
        ("run#1.duckdb#persons", "run#1.duckdb", "persons"),
        ("census.db#a#b", "census.db", "a#b"),
        ('census.db#a"; DROP TABLE b', "census.db", 'a"; DROP TABLE b'),
    ],
)
def test_a_duckdb_database_is_told_by_its_ending(text: str, path: str, table: str | None) -> None:
    assert parse_database_name(text) == DuckDBName(Path(path), table)


@each("text", ["persons.csv", "persons#1.csv", "my.duckdb.csv", "database", "db", "sqlite://a"])
def test_other_texts_name_no_database(text: str) -> None:
    assert parse_database_name(text) is None


def test_an_address_is_one_of_postgresql() -> None:
    whole = "postgresql://anna@db.example:5433/census?sslmode=require"
    assert parse_database_name(f"{whole}#s.persons") == PostgresName(whole, "s.persons")
    assert parse_database_name("postgres:///census") == PostgresName("postgres:///census")
    assert parse_database_name("PostgreSQL://h/db#a@b:c") == PostgresName("postgresql://h/db", "a@b:c")
    assert "anna" not in repr(parse_database_name(whole))


@each(
    "address",
    [
        "postgresql://anna:canary@db.example/census#persons",
        "postgres://anna:canary@db.example",
        "postgresql://anna:can#ary@db.example/census",
        "postgresql://anna:can/ary@db.example/census",
        "postgresql://:canary@db.example/census",
        "postgresql://db.example/census?password=canary",
        "postgresql://db.example/census?sslmode=require&sslpassword=canary#persons",
        "postgresql://db.example/census?PASSWORD=canary",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(InputError, match=r"contains a password.*~/\.pgpass or in the variable PGPASSWORD\.$") as caught:
        open_source(address)
    assert "canary" not in str(caught.value)
    assert "ary" not in str(caught.value)
    assert "anna" not in str(caught.value)


@each(
    "names",
    [
        ["a.duckdb#x", "a.duckdb#y"],
        ["a.csv", "a.duckdb"],
        ["postgresql://h/a#x", Path("a.parquet")],
        ["a.csv", "b.csv", "postgresql://h/a#x"],
    ],
)
def test_a_database_goes_alone(names: list[str | Path]) -> None:
    with pytest.raises(InputError, match=f"^{len(names)} data sources .* only one table or view"):
        open_source(names)
