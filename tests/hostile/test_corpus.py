"""Every hostile input through every reader: exit code 2 and one message, or 0, within limits of time and memory.

One in three of the inputs that were made for a reader is tried in every run, all inputs in `make test-slow`. The
readers run in another process, for some inputs once ended the interpreter itself.
"""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.hostile.calls import DATA, seeds
from tests.hostile.corpus import NAMES
from tests.hostile.readers import PEOPLE, READERS, cleared, furnish, given, outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SECONDS = 20
LONGEST = 4_000
"""Characters of a message: some list 40 names."""


def check(outcome: Mapping[str, Any]) -> None:
    told = outcome["told"]
    assert outcome["code"] in {0, 2}, outcome
    assert outcome["seconds"] < SECONDS, outcome
    assert len(told) < LONGEST, outcome
    assert not any(mark * 201 in told for mark in "x9[yf"), outcome
    if outcome["code"] == 2:
        assert sum(line.startswith("error: ") for line in told.splitlines()) == 1, outcome


@pytest.mark.slow
def test_inputs_that_were_made_for_a_reader_are_refused_in_a_sentence(tmp_path: Path) -> None:
    chosen = {reader: known.names[::3] for reader, known in READERS.items()}
    found = outcomes(tmp_path, chosen)
    assert [(each["reader"], each["name"]) for each in found] == [(r, name) for r in chosen for name in chosen[r]]
    for outcome in found:
        check(outcome)
    # Not one reader lets all of them pass.
    assert {outcome["reader"] for outcome in found if outcome["code"] == 2} == set(READERS)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_all_inputs_are_refused_in_a_sentence_by_every_reader(reader: str, tmp_path: Path) -> None:
    found = outcomes(tmp_path, {reader: NAMES})
    assert [outcome["name"] for outcome in found] == list(NAMES)
    for outcome in found:
        check(outcome)
    assert sum(outcome["code"] == 2 for outcome in found) > len(NAMES) / 2


def valid(reader: str) -> bytes:
    """Return a file that the command of a reader can use to its end."""
    content = {
        "p-table": (DATA / "formats" / "cnts_D5_V3_js2_sas.txt").read_bytes(),
        "p-table in YAML": (DATA / "formats" / "cnts_D5_V3_js2_cellkey.yaml").read_bytes(),
        "budget": b"table,weight\n1,2\n",
        "packed CSV": gzip.compress(PEOPLE.encode()),
        "new programme": PEOPLE.encode(),
    }
    same = {"converted release": "release", "converted table": "table"}
    return content[reader] if reader in content else seeds(same.get(reader, reader))[0]


def test_the_same_commands_read_valid_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What refuses a hostile file is its reader, and not something before it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    furnish(tmp_path)
    people = pa.table({"SEX": ["F", "M"], "AGE": ["Y", "O"]})
    for reader, known in READERS.items():
        content = valid(reader)
        path = cleared(tmp_path / known.file)
        if reader == "Parquet":
            pq.write_table(people, path)
        elif reader == "DuckDB":
            with duckdb.connect(str(path)) as connection:
                connection.sql("CREATE TABLE people AS SELECT * FROM people")
        else:
            path.write_bytes(content)
        if reader == "secret":
            path.chmod(0o600)
        assert given(known.arguments)[0] == 0, (reader, given(known.arguments))
