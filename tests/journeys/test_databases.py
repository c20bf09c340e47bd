"""A census in a database, from the command line: the release of a file, and nothing told of the database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.journeys.running import discreet
from tests.postgres_server import GUARDED, OWNER, PASSWORD

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer

PROGRAMME = """
name = "Small town"
[topics.SEX]
categories = ["1", "2"]
[topics.GEO]
categories = ["north", "south"]
[[tables]]
id = "1"
columns = ["SEX", "GEO"]
"""
PERSONS = """
    CREATE TABLE persons AS
    SELECT i AS person_id, CAST(1 + i % 2 AS SMALLINT) AS "SEX",
        CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END AS "GEO"
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "town.toml").write_text(PROGRAMME)
    (tmp_path / "office.secret").write_text("for this journey: no secret")
    (tmp_path / "office.secret").chmod(0o600)
    with duckdb.connect(tmp_path / "census.duckdb") as connection:
        connection.execute(f"{PERSONS} FROM range(500) AS r(i)")
        pq.write_table(connection.sql("FROM persons").to_arrow_table(), tmp_path / "persons.parquet")
    return tmp_path


def flags(town: Path) -> list[str | Path]:
    return [
        *("--programme", town / "town.toml", "--id", "person_id", "--secret-file", town / "office.secret"),
        *("--variance", "2", "--bound", "5"),
    ]


def released(town: Path, name: str, data: str) -> dict[str, bytes]:
    """Protect data, and return every public file."""
    discreet("protect", data, *flags(town), "--out", town / name)
    return {path.name: path.read_bytes() for path in (town / name).rglob("*") if path.is_file()}


def test_a_database_gives_the_release_of_a_file(
    town: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.run("DROP TABLE IF EXISTS persons", f"{PERSONS} FROM generate_series(0, 499) AS r(i)")
    postgres.run(f"GRANT SELECT ON persons TO {GUARDED}")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    expected = released(town, "from-file", f"{town}/persons.parquet")
    assert released(town, "from-duckdb", f"{town}/census.duckdb#persons") == expected
    assert released(town, "from-postgres", f"{postgres.address(user=GUARDED)}#persons") == expected
    for hidden in (GUARDED, OWNER, PASSWORD, "127.0.0.1", "postgresql"):
        assert not any(hidden.encode() in content for content in expected.values())
    record = (town / "from-postgres.curator" / "record.json").read_text()
    assert PASSWORD not in record


def test_a_run_is_planned_and_keys_are_added_from_a_database(town: Path, postgres: PostgresServer) -> None:
    postgres.run("DROP TABLE IF EXISTS persons", f"{PERSONS} FROM generate_series(0, 499) AS r(i)")
    secret = ("--secret-file", town / "office.secret")
    keys = []
    for name, data in (("d", f"{town}/census.duckdb"), ("p", f"{postgres.address()}#public.persons")):
        assert "records" in discreet("protect", data, "--programme", town / "town.toml", "--dry-run")
        discreet("keys", "add", data, "--id", "person_id", *secret, "--out", town / f"{name}.parquet")
        table = pq.read_table(town / f"{name}.parquet").sort_by("person_id")
        keys.append(table.column("RECORD_KEY").to_pylist())
    assert len(keys[0]) == 500
    assert keys[0] == keys[1]


def test_a_password_in_an_address_ends_in_one_message_without_it(town: Path) -> None:
    script = Path(sys.executable).with_name("discreet")
    command = [
        script,
        "protect",
        "postgresql://anna:canary@127.0.0.1:1/census#persons",
        *flags(town),
        "--out",
        town / "r",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=dict(os.environ))
    assert done.returncode == 2
    assert done.stderr.startswith("error: The address of the database contains a password")
    assert "canary" not in done.stdout + done.stderr
    assert not (town / "r").exists()
