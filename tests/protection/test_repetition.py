"""A run made again from its record: the same bytes where the noise is keyed, the same law where it is drawn anew."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import DataFileError, ParameterError, RecordFileError, ReleaseError, SecretError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.truncated import Truncated
from discreet.protection.repetition import repeat, verify
from discreet.release.record import read_record
from tests.each import each
from tests.protection.office import OTHER_SECRET, PERSONS, cell_key, curator, files, make, put, put_people
from tests.protection.town import SECRET, TOWN, people

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism

SOLVED = PTable.max_entropy(variance=2, bound=5)
KEYED: dict[str, Mechanism] = {
    "mixed": cell_key(),
    "plain": cell_key(mode="plain"),
    "another version": cell_key(version="2021-1"),
    "a threshold": CellKey(PTable.max_entropy(variance=3, bound=6, threshold=1), secret=SECRET),
    "keys of R cellKey": CellKey(SOLVED.on_grid(10**8), secret=SECRET, mode="plain"),
    "few keys": CellKey(PTable.max_entropy(variance=2, bound=5, key_space=4096), secret=SECRET, mode="plain"),
    "noise on empty cells": CellKey(PTable.max_entropy(variance=2, bound=5, perturb_zeros=True), secret=SECRET),
    "a law": CellKey(TwoSidedGeometric(epsilon=0.7), secret=SECRET),
    "a law on empty cells": CellKey(Laplace(scale=1.5), secret=SECRET, perturb_zeros=True),
    "a law that is cut": CellKey(Truncated(Laplace(scale=2), 6), secret=SECRET),
    "coordinates": Coordinates(SOLVED, SECRET, version="b"),
    "coordinates, empty cells": Coordinates(TwoSidedGeometric(epsilon=0.7), SECRET, perturb_zeros=True),
    "exact": Exact(),
}


def check_repeats(data: object, out: Path, engine: DuckDB, secret: bytes | None = SECRET) -> None:
    """Make a release again beside the first, and compare every byte of both folders."""
    second = out.with_name("second")
    repeat(curator(out), secret=secret, out=second, engine=engine)
    assert files(second) == files(out)
    assert files(curator(second)) == files(curator(out))
    assert read_record(curator(out) / "record.json").run["data"] == [str(data)]  # type: ignore[index]  # made just now


@each("name", KEYED, every=3)
def test_keyed_noise_comes_out_the_same_to_the_byte(name: str, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "first", KEYED[name], engine=engine)
    check_repeats(data, tmp_path / "first", engine)


def test_a_release_of_an_earlier_version_keeps_its_keys(tmp_path: Path, engine: DuckDB) -> None:
    data, noise = put_people(tmp_path), SOLVED.on_grid(3 * 10**9)
    make(data, tmp_path / "new", CellKey(noise, secret=SECRET, mode="plain"), engine=engine)
    make(data, tmp_path / "first", CellKey(noise, secret=SECRET, mode="plain", key_bits=32), engine=engine)
    assert files(tmp_path / "first") != files(tmp_path / "new")
    assert read_record(curator(tmp_path / "new") / "record.json").key_bits == 64
    # Records of earlier versions have no such entry.
    place = curator(tmp_path / "first") / "record.json"
    content = json.loads(place.read_text())
    assert content.pop("key_bits") is None
    place.write_text(json.dumps(content))
    repeat(curator(tmp_path / "first"), secret=SECRET, out=tmp_path / "second", engine=engine)
    assert files(tmp_path / "second") == files(tmp_path / "first")


@each("mode", ["mixed", "plain"])
@each("form", ["csv", "toml", "tauargus", "cellkey", "ons"], every=3)
def test_a_ptable_from_a_file_is_in_the_record_whole(form: str, mode: str, tmp_path: Path, engine: DuckDB) -> None:
    write_ptable(SOLVED, tmp_path / "noise", form)
    mechanism = CellKey(dataclasses.replace(read_ptable(tmp_path / "noise"), settings=None), secret=SECRET, mode=mode)
    data = put_people(tmp_path)
    make(data, tmp_path / "first", mechanism, engine=engine)
    (tmp_path / "noise").unlink()
    assert read_record(curator(tmp_path / "first") / "record.json").law == "p-table"
    check_repeats(data, tmp_path / "first", engine)


def missing_ages() -> list[str | None]:
    ages = people(PERSONS)["AGE"].to_pylist()
    return [None if number % 7 == 0 else age for number, age in enumerate(ages)]


def test_a_category_for_missing_values_is_added_again(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, AGE=missing_ages())
    release = make(data, tmp_path / "first", missing="category", engine=engine)
    assert "_U" in json.dumps(release.description["programme"])
    check_repeats(data, tmp_path / "first", engine)


def test_records_without_a_value_are_dropped_again(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, AGE=missing_ages())
    make(data, tmp_path / "first", missing="drop", engine=engine)
    check_repeats(data, tmp_path / "first", engine)


@each(
    "how",
    [
        {"weight": "WEIGHT"},
        {"tables": [TOWN.tables[0].id, TOWN.tables[4].id]},
        {"non_negative": True},
        {"keep_exact": True},
        {"form": "csv"},
        {"weight": "WEIGHT", "form": "csv", "keep_exact": True, "non_negative": True},
    ],
    ids=" ".join,
    every=3,
)
def test_whatever_was_asked_for_is_done_again(how: dict[str, Any], tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, WEIGHT=[1 + number % 4 / 4 for number in range(PERSONS)])
    make(data, tmp_path / "first", CellKey(Laplace(scale=2), secret=SECRET), engine=engine, **how)
    check_repeats(data, tmp_path / "first", engine)


@pytest.mark.parametrize("mechanism", [cell_key(mode="plain", secret=None), cell_key()], ids=["no secret", "secret"])
def test_ready_made_keys_are_read_again(mechanism: CellKey, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, KEY=[number * 2654435761 % 2**32 for number in range(PERSONS)])
    make(data, tmp_path / "first", mechanism, key="KEY", engine=engine)
    check_repeats(data, tmp_path / "first", engine, secret=mechanism.secret)


def test_rows_with_counts_are_read_again(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, N=[number % 5 for number in range(PERSONS)])
    make(data, tmp_path / "first", Coordinates(SOLVED, SECRET), count="N", engine=engine)
    check_repeats(data, tmp_path / "first", engine)


def test_tables_that_are_counted_already_are_read_again(tmp_path: Path, engine: DuckDB) -> None:
    exact = make(put_people(tmp_path), tmp_path / "counted", Exact(), engine=engine)
    mechanism = Coordinates(SOLVED, SECRET)
    data = tmp_path / "counted" / "tables"
    make(data, tmp_path / "first", mechanism, count="value", tabulated=True, engine=engine)
    assert len(exact.ids) == len(TOWN.tables)
    check_repeats(data, tmp_path / "first", engine)


def test_regions_of_the_users_own_are_in_the_record_whole(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    regions = tmp_path / "regions.csv"
    areas = TOWN.topics["GEO"].levels[-1].codes or ()
    regions.write_text("area,region\n" + "".join(f"{area},R{number % 2}\n" for number, area in enumerate(areas)))
    release = make(data, tmp_path / "first", regions=regions, engine=engine)
    assert len(release.ids) > len(TOWN.tables)
    regions.unlink()
    check_repeats(data, tmp_path / "first", engine)


# --- Noise that is drawn anew ---


@each(
    "mechanism",
    [
        Fresh(SOLVED),
        Fresh(TwoSidedGeometric(epsilon=0.7), perturb_zeros=True),
        EpsDP(Budget(60.0)),
        EpsDP(Budget(60.0), spsn=False),
        EpsDP(Budget(60.0, weights={TOWN.tables[0].id: 3.0, "*": 1.0})),
    ],
    ids=["fresh", "fresh, empty cells", "eps-dp", "eps-dp without spsn", "eps-dp with weights"],
)
def test_noise_that_is_drawn_anew_is_not_called_a_repeat(mechanism: Mechanism, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "first", mechanism, engine=engine)
    with pytest.raises(ParameterError, match=f"The mechanism {mechanism.name} draws new noise in every run") as caught:
        repeat(curator(tmp_path / "first"), out=tmp_path / "second", engine=engine)
    assert ("spend its epsilon again" in str(caught.value)) == (mechanism.name == "eps-dp")
    assert not (tmp_path / "second").exists()


REPEATABLE = [name for name, kind in MECHANISMS.all().items() if kind.repeatable]


def test_every_mechanism_is_tried_above() -> None:
    assert {mechanism.name for mechanism in KEYED.values()} == set(REPEATABLE)
    assert set(MECHANISMS.names()) == {*REPEATABLE, Fresh.name, EpsDP.name}


# --- Where things are now ---


def test_data_that_have_moved_are_named_where_they_are(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "first", engine=engine)
    moved = data.rename(tmp_path / "archive.parquet")
    with pytest.raises(DataFileError, match=r"people\.parquet cannot be read: No such file"):
        repeat(curator(tmp_path / "first"), secret=SECRET, engine=engine)
    repeat(curator(tmp_path / "first"), data=moved, secret=SECRET, out=tmp_path / "second", engine=engine)
    assert files(tmp_path / "second") == files(tmp_path / "first")


def test_a_record_can_be_given_by_its_path_and_the_release_kept_in_memory(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    first = make(data, tmp_path / "first", engine=engine)
    shutil.copy(curator(tmp_path / "first") / "record.json", tmp_path / "kept.json")
    again = repeat(tmp_path / "kept.json", secret=SECRET, engine=engine)
    assert again.path is None
    assert {name: again.table(name).to_pylist() for name in again.ids} == {
        name: first.table(name).to_pylist() for name in first.ids
    }


def test_data_from_a_program_have_to_be_given_again(tmp_path: Path, engine: DuckDB) -> None:
    make(people(PERSONS), tmp_path / "first", engine=engine)
    with pytest.raises(
        RecordFileError, match=r"does not contain the location of the data.*Specify them: discreet protect DATA"
    ):
        repeat(curator(tmp_path / "first"), secret=SECRET, engine=engine)
    repeat(curator(tmp_path / "first"), data=people(PERSONS), secret=SECRET, out=tmp_path / "b", engine=engine)
    assert files(tmp_path / "b") == files(tmp_path / "first")


def test_without_a_secret_it_is_told_that_the_data_were_not_checked(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "first", Exact(), engine=engine)
    again = repeat(curator(tmp_path / "first"), out=tmp_path / "again", engine=engine)
    assert files(tmp_path / "again") == files(tmp_path / "first")
    assert again.summary
    assert again.summary.warnings[0].startswith("Not checked whether these are the data of the repeated release")
    put(data, people(PERSONS).slice(1))
    with pytest.raises(ReleaseError, match="differs from its repetition with the data"):
        verify(tmp_path / "first", data=data)


@pytest.mark.parametrize("named", [True, False])
def test_changed_data_are_refused(named: bool, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "first", engine=engine)
    put(data, people(PERSONS).slice(1))
    how = {"data": data} if named else {}
    with pytest.raises(
        ParameterError, match="The fingerprint of the data differs from that of the release to be repeated"
    ):
        repeat(curator(tmp_path / "first"), secret=SECRET, out=tmp_path / "second", engine=engine, **how)  # type: ignore[arg-type]
    assert not (tmp_path / "second").exists()


@each(
    ("change", "message"),
    [
        ({"weight": 3}, "has a run without a valid weight. Restore it from a backup."),
        ({"form": "xls"}, "has a run without a valid form."),
        ({"tabulated": None}, "has a run without a valid tabulated."),
        ({"encoding": 5}, "has a run without a valid encoding."),
        ({"weighted_only": None}, "has a run without a valid weighted_only."),
        ({"definition": []}, "has a run without a valid definition."),
        ({"data": "people.parquet"}, "has a run without a valid data."),
    ],
    every=3,
)
def test_a_record_that_tells_its_run_wrongly_is_refused(
    change: dict[str, object], message: str, tmp_path: Path, engine: DuckDB
) -> None:
    make(put_people(tmp_path), tmp_path / "first", engine=engine)
    path = curator(tmp_path / "first") / "record.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "run": {**record["run"], **change}}))
    with pytest.raises(RecordFileError, match=re.escape(message)):
        repeat(path.parent, secret=SECRET, engine=engine)
    missing = {name: value for name, value in record["run"].items() if name not in change}
    path.write_text(json.dumps({**record, "run": missing}))
    if change.keys() <= {"encoding", "weighted_only"}:
        # Records of older releases lack these.
        again = repeat(path.parent, secret=SECRET, engine=engine)
        assert set(again.ids) == {table.id for table in TOWN.tables}
        return
    with pytest.raises(RecordFileError, match=re.escape(message)):
        repeat(path.parent, secret=SECRET, engine=engine)


# --- What cannot be repeated ---


@pytest.fixture
def made(tmp_path: Path, engine: DuckDB) -> Path:
    """Return the curator's folder of a release."""
    make(put_people(tmp_path), tmp_path / "first", engine=engine)
    return curator(tmp_path / "first")


def test_another_secret_is_refused_before_any_work(made: Path) -> None:
    (made.parent / "people.parquet").unlink()
    with pytest.raises(SecretError, match="This is not the secret of the release"):
        repeat(made, secret=OTHER_SECRET)


def test_a_missing_secret_is_asked_for(made: Path) -> None:
    with pytest.raises(SecretError, match="The secret of this release is missing"):
        repeat(made)


def test_a_record_of_an_older_release_cannot_be_repeated(made: Path) -> None:
    content = json.loads((made / "record.json").read_text())
    del content["run"]
    (made / "record.json").write_text(json.dumps(content))
    with pytest.raises(
        RecordFileError,
        match=r"record\.json does not contain the settings for reading the data.*Make a new release",
    ):
        repeat(made, secret=SECRET)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.curator").mkdir()
    with pytest.raises(RecordFileError, match=r"record\.json cannot be read: No such file or directory"):
        repeat(tmp_path / "x.curator", secret=SECRET)
    (tmp_path / "x.curator" / "record.json").write_text("{}")
    with pytest.raises(RecordFileError, match=r"record\.json is not a record of schema discreet/1"):
        repeat(tmp_path / "x.curator", secret=SECRET)


def test_the_record_tells_neither_the_secret_nor_a_key(made: Path) -> None:
    text = (made / "record.json").read_text()
    assert SECRET.decode() not in text
    assert len(json.loads(text)["secret_check"]) == 16
    assert json.loads(text)["run"] == {
        "data": [str(made.parent / "people.parquet")],
        "id": "ID",
        "key": None,
        "count": None,
        "weight": None,
        "tabulated": False,
        "encoding": None,
        "weighted_only": False,
        "keep_exact": False,
        "form": "parquet",
        "definition": None,
    }
