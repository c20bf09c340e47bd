"""Verify: a release is as it was published, and the data give it again; whatever is not in order is named."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from discreet.errors import DataFileError, ParameterError, ReleaseError, SecretError
from discreet.mechanisms.budget import Budget
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.verify import MOST_NAMED, verify
from discreet.noise.ptable import PTable
from discreet.release.record import REPEATABLE
from discreet.release.tables import FORMATS, read_table, write_table
from tests.mechanisms.office import OTHER_SECRET, PERSONS, cell_key, curator, files, make, put, put_people
from tests.mechanisms.town import SECRET, TOWN, people

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.base import Mechanism

SOLVED = PTable.max_entropy(variance=2, bound=5)
KEYED = (cell_key(), Coordinates(SOLVED, SECRET), Exact())
DRAWN = (Fresh(SOLVED), EpsDP(Budget(60.0)))
TABLES = len(TOWN.tables)


@pytest.fixture(params=FORMATS)
def out(request: pytest.FixtureRequest, tmp_path: Path, engine: DuckDB) -> Path:
    """Return a release; its data lie beside it."""
    make(put_people(tmp_path), tmp_path / "rel", form=request.param, engine=engine)
    return tmp_path / "rel"


def table(out: Path, number: int = 0) -> Path:
    """Return the file of a table."""
    return sorted((out / "tables").iterdir())[number]


def change_description(out: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Change the entry of the first table in release.json."""
    content = json.loads((out / "release.json").read_text())
    change(content["files"][0])
    (out / "release.json").write_text(json.dumps(content))


# --- Files ---


def test_a_release_as_it_was_published_is_in_order(out: Path) -> None:
    found = verify(out)
    assert (found.release, found.files, found.repeated) == (out, TABLES, None)
    assert found.sentence == f"Every file is as release.json says ({TABLES} files)."


def test_the_public_folder_alone_is_enough_for_its_files(out: Path) -> None:
    curator(out).rename(out.parent / "elsewhere")
    assert verify(out).files == TABLES


@pytest.mark.parametrize("place", [0, -1])
def test_any_changed_byte_is_found_and_its_file_named(out: Path, place: int) -> None:
    content = bytearray(table(out).read_bytes())
    content[place] ^= 1
    table(out).write_bytes(bytes(content))
    what = f"has a file tables/{table(out).name} that is damaged or was changed"
    with pytest.raises(ReleaseError, match=re.escape(f"it {what}. Take these files from a copy")):
        verify(out)


def test_a_changed_value_in_a_sound_file_is_found(out: Path) -> None:
    path = table(out)
    write_table("x", read_table(path).slice(1), path.parent, path.suffix[1:], path.stem)
    with pytest.raises(ReleaseError, match=f"a file tables/{path.name} that is damaged or was changed"):
        verify(out)


def test_a_missing_file_is_named(out: Path) -> None:
    path = table(out)
    path.unlink()
    with pytest.raises(ReleaseError, match=f"is not as it was published: it has no file tables/{path.name}"):
        verify(out)


@pytest.mark.parametrize("name", ["notes.txt", "tables/x.csv", "tables/deep/1.parquet"])
def test_a_file_that_does_not_belong_there_is_named(out: Path, name: str) -> None:
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("true counts")
    with pytest.raises(ReleaseError, match=f"it has a file {name} that is not part of it"):
        verify(out)


def test_hidden_files_of_the_system_do_no_harm(out: Path) -> None:
    (out / ".DS_Store").write_text("the system's")
    assert verify(out).files == TABLES


def test_another_number_of_rows_than_described_is_found(out: Path) -> None:
    change_description(out, lambda entry: entry.update(rows=7))
    first = json.loads((out / "release.json").read_text())["files"][0]["file"]
    with pytest.raises(ReleaseError, match=f"a file {first} with another number of rows than release.json says"):
        verify(out)


def test_several_faults_are_told_at_once_and_of_many_some(tmp_path: Path, engine: DuckDB) -> None:
    out = tmp_path / "rel"
    make(put_people(tmp_path), out, engine=engine)
    table(out, 0).unlink()
    table(out, 0).write_bytes(b"no table")
    with pytest.raises(ReleaseError) as caught:
        verify(out)
    assert "no file tables/1.parquet; a file tables/2.parquet that is damaged or was changed." in str(caught.value)
    for number in range(MOST_NAMED):
        (out / f"note{number}").write_text("mine")
    with pytest.raises(ReleaseError, match="note2 that is not part of it and 2 more"):
        verify(out)


def test_names_with_odd_words_are_told_whole(tmp_path: Path, engine: DuckDB) -> None:
    """A message is not taken apart to make another."""
    out = tmp_path / "it has no file. Take it"
    make(put_people(tmp_path), out, engine=engine)
    table(out).unlink()
    with pytest.raises(ReleaseError) as caught:
        verify(out)
    told = f"{out} is not as it was published: it has no file tables/1.parquet. Take these files"
    assert str(caught.value).startswith(told)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        verify(tmp_path)


# --- Data ---


@pytest.mark.parametrize("mechanism", KEYED, ids=lambda mechanism: mechanism.name)
def test_data_that_give_the_same_bytes_are_told(mechanism: Mechanism, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", mechanism, engine=engine)
    before = files(tmp_path)
    found = verify(tmp_path / "rel", data=data, secret=mechanism.secret)
    assert found.repeated is True
    assert found.sentence.endswith("and the data give the same bytes again.")
    assert files(tmp_path) == before


@pytest.mark.parametrize("mechanism", DRAWN, ids=lambda mechanism: mechanism.name)
def test_noise_that_is_drawn_anew_cannot_be_repeated_and_that_is_said(
    mechanism: Mechanism, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", mechanism, engine=engine)
    found = verify(tmp_path / "rel", data=data)
    assert found.repeated is None
    assert f"the mechanism {mechanism.name} draws new noise in every run" in found.sentence
    table(tmp_path / "rel").unlink()
    with pytest.raises(ReleaseError, match="it has no file"):
        verify(tmp_path / "rel", data=data)


def test_every_mechanism_is_tried_above() -> None:
    assert {mechanism.name for mechanism in KEYED} == set(REPEATABLE)


def test_the_release_is_looked_for_where_the_data_are_now(out: Path) -> None:
    moved = (out.parent / "people.parquet").rename(out.parent / "archive.parquet")
    assert verify(out, data=[str(moved)], secret=SECRET).repeated
    with pytest.raises(DataFileError, match=r"people\.parquet cannot be read"):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)


@pytest.mark.parametrize("first", [0, 1])
def test_other_data_are_told_even_where_they_are_published_alike(out: Path, first: int) -> None:
    """One person less, and the same persons in another order, which changes the file but no count."""
    records = people(PERSONS)
    put(out.parent / "people.parquet", records.slice(first).take(list(range(PERSONS - first))[::-1]))
    with pytest.raises(ParameterError, match="These are not the data of the release that is to be made again"):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)


def test_another_secret_and_none_are_refused(out: Path) -> None:
    data = out.parent / "people.parquet"
    with pytest.raises(SecretError, match="not the secret that the release was made with"):
        verify(out, data=data, secret=OTHER_SECRET)
    with pytest.raises(SecretError, match="The secret is missing"):
        verify(out, data=data)


def test_tables_that_come_out_otherwise_today_are_named(tmp_path: Path, engine: DuckDB) -> None:
    """The record of one release beside another of the same data and size of noise, as if the program had changed."""
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", engine=engine)
    make(data, tmp_path / "other", cell_key(version="2"), engine=engine)
    (curator(tmp_path / "other") / "record.json").rename(curator(tmp_path / "rel") / "record.json")
    with pytest.raises(ReleaseError) as caught:
        verify(tmp_path / "rel", data=data, secret=SECRET)
    told = (
        f"is not what the data give today: {TABLES} of {TABLES} tables differ (1, 2, 3, 4, 5). It was made by discreet"
    )
    assert told in str(caught.value)


def test_without_the_record_data_are_of_no_use(out: Path) -> None:
    curator(out).rename(out.parent / "elsewhere")
    with pytest.raises(ReleaseError, match=r"has no rel\.curator/record\.json beside it"):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)
