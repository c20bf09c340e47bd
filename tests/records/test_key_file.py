"""Data with record keys: a faithful copy, private, whole or not there at all."""

from __future__ import annotations

import os
import stat
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import (
    DataFileError,
    FileExistsAlreadyError,
    FileWriteError,
    InputError,
    ParameterError,
    RecordIdError,
    SecretError,
    UnknownNameError,
)
from discreet.records import key_file
from discreet.records.key_file import add_keys
from discreet.records.record_keys import RecordKeys, keys_of
from discreet.sources.data_files import FileSource
from tests.each import each
from tests.release.crashes import Disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.arrays import Words

SECRET = b"a secret of the office"
CANARY = "canary-0815"
IDS = ["a1", "07", "7", CANARY]


def keys(ids: Sequence[object], version: str = "1") -> list[int]:
    return [int(key) for key in keys_of(RecordKeys(SECRET, version).digests(pa.array(ids)))]


def table(**more: object) -> pa.Table:
    return pa.table(
        {
            "PERSON_ID": IDS,
            "SEX": pa.array(["F", "M", "F", None]).dictionary_encode(),
            "AGE": pa.array([1, 2, None, 4], pa.int8()),
            "BORN": [date(1990, 1, 1), None, date(2000, 2, 29), date(2020, 12, 31)],
            "INCOME": [0.1, 1e-9, None, 1e300],
            "NOTE": ['a "quoted", text', "", None, "line\nend"],
            **more,
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "persons.parquet"
    pq.write_table(table(), path)
    return path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def plain(found: pa.Table) -> dict[str, list[object]]:
    return {name: found[name].to_pylist() for name in found.column_names}


def test_a_parquet_file_is_copied_with_its_keys(data: Path) -> None:
    out = data.with_name("keyed.parquet")
    made = add_keys(data, out, id="PERSON_ID", secret=SECRET)
    assert (made.records, made.path) == (4, out)
    found = pq.read_table(out)
    assert plain(found) == {**plain(table()), "RECORD_KEY": keys(IDS)}
    assert found.schema.field("RECORD_KEY").type == pa.uint32()
    assert found.schema.field("AGE").type == pa.int8()
    assert left(data.parent) == ["keyed.parquet", "persons.parquet"]


def test_a_csv_file_holds_the_same(data: Path) -> None:
    out = data.with_name("keyed.CSV")
    add_keys(data, out, id="PERSON_ID", secret=SECRET)
    options = arrow_csv.ConvertOptions(
        column_types={"PERSON_ID": pa.string(), "RECORD_KEY": pa.uint32()},
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    found = arrow_csv.read_csv(
        out, parse_options=arrow_csv.ParseOptions(newlines_in_values=True), convert_options=options
    )
    assert plain(found) == {**plain(table()), "RECORD_KEY": keys(IDS)}


def test_csv_ids_keep_their_leading_zeros(tmp_path: Path) -> None:
    (tmp_path / "persons.csv").write_text("PERSON_ID;SEX\n07;F\n7;M\n")
    add_keys(tmp_path / "persons.csv", tmp_path / "keyed.csv", id="PERSON_ID", secret=SECRET)
    first, second = keys(["07", "7"])
    written = (tmp_path / "keyed.csv").read_text()
    assert written == f'"PERSON_ID","SEX","RECORD_KEY"\n"07","F",{first}\n"7","M",{second}\n'


def test_a_data_frame_will_do(tmp_path: Path) -> None:
    views = table(VIEW=pa.array(["a", "b", None, ""], pa.string_view()))
    for name in ("keyed.parquet", "keyed.csv"):
        assert add_keys(views, tmp_path / name, id="PERSON_ID", secret=SECRET).records == 4
    assert plain(pq.read_table(tmp_path / "keyed.parquet")) == {**plain(views), "RECORD_KEY": keys(IDS)}


def test_label_and_column_are_as_asked(data: Path) -> None:
    out = data.with_name("keyed.parquet")
    add_keys(data, out, id="PERSON_ID", secret=SECRET, version="2031", column="RKEY")
    found = pq.read_table(out)
    assert found.column_names[-1] == "RKEY"
    assert found["RKEY"].to_pylist() == keys(IDS, "2031")


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("name", ["keyed.parquet", "keyed.csv"])
def test_the_file_is_for_its_owner_only_even_in_place_of_an_open_one(data: Path, name: str) -> None:
    out = data.with_name(name)
    for replace in (False, True):
        add_keys(data, out, id="PERSON_ID", secret=SECRET, replace=replace)
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        out.chmod(0o644)


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_the_file_is_private_while_it_is_written(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []

    def look(self: FileSource) -> None:
        assert self.name
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in data.parent.glob(".keyed.parquet.*"))

    monkeypatch.setattr(FileSource, "check_unchanged", look)
    mask = os.umask(0)
    try:
        add_keys(data, data.with_name("keyed.parquet"), id="PERSON_ID", secret=SECRET)
    finally:
        os.umask(mask)
    assert modes == [0o600]


def test_a_link_stays_one(data: Path) -> None:
    out, link = data.with_name("keyed.parquet"), data.with_name("link.parquet")
    link.symlink_to(out)
    add_keys(data, link, id="PERSON_ID", secret=SECRET)
    assert link.is_symlink()
    assert pq.read_table(out)["RECORD_KEY"].to_pylist() == keys(IDS)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20, unique=True), st.data())
def test_the_keys_of_a_part_are_part_of_the_keys(
    tmp_path_factory: pytest.TempPathFactory, ids: list[int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    kept = data.draw(st.permutations(ids))[: data.draw(st.integers(1, len(ids)))]
    found = {}
    for name, some in (("all", ids), ("some", kept)):
        add_keys(pa.table({"ID": some}), folder / f"{name}.parquet", id="ID", secret=SECRET)
        columns = pq.read_table(folder / f"{name}.parquet").to_pydict()
        found[name] = dict(zip(columns["ID"], columns["RECORD_KEY"], strict=True))
    assert found["some"] == {record: found["all"][record] for record in kept}


# --- Several files ---


def parts(folder: Path, *tables: pa.Table) -> Path:
    inside = folder / "parts"
    inside.mkdir()
    for number, part in enumerate(tables):
        pq.write_table(part, inside / f"{number}.parquet")
    return inside


def test_files_with_like_types_become_one(tmp_path: Path) -> None:
    one = pa.table({"ID": pa.array(["a", "b"]), "AGE": pa.array([1, None], pa.int64())})
    two = pa.table({"ID": pa.array(["c"]).dictionary_encode(), "AGE": pa.array([2], pa.int8())})
    three = pa.table({"ID": pa.array(["d"], pa.large_string()), "AGE": pa.nulls(1)})
    made = add_keys(parts(tmp_path, one, two, three), tmp_path / "keyed.parquet", id="ID", secret=SECRET)
    assert made.records == 4
    expected = {"ID": ["a", "b", "c", "d"], "AGE": [1, None, 2, None], "RECORD_KEY": keys(["a", "b", "c", "d"])}
    assert pq.read_table(tmp_path / "keyed.parquet").to_pydict() == expected


@each(
    ("first", "second", "kinds"),
    [
        (pa.array([1]), pa.array(["0815"]), "int64 in the first file and"),
        (pa.array(["a"]), pa.array([815]), "string in the first file and int64"),
        (pa.array([1], pa.int8()), pa.array([815]), "int8 in the first file and int64"),
        (pa.array([1]), pa.array([0.815]), "int64 in the first file and double"),
    ],
)
@each("name", ["keyed.parquet", "keyed.csv"])
def test_files_with_other_types_are_refused(
    tmp_path: Path, first: pa.Array, second: pa.Array, kinds: str, name: str
) -> None:
    folder = parts(tmp_path, pa.table({"ID": ["a"], "CODE": first}), pa.table({"ID": ["b"], "CODE": second}))
    with pytest.raises(DataFileError, match=rf"CODE has the type {kinds}.*\. Use the same type in all files") as caught:
        add_keys(folder, tmp_path / name, id="ID", secret=SECRET)
    assert "815" not in str(caught.value)
    assert left(tmp_path) == ["parts"]


def test_an_id_is_found_again_in_another_file(tmp_path: Path) -> None:
    folder = parts(tmp_path, pa.table({"ID": [7, 8]}), pa.table({"ID": [9, 7]}))
    with pytest.raises(RecordIdError, match="2 records share their ID with another record, such as 1 and 4"):
        add_keys(folder, tmp_path / "keyed.parquet", id="ID", secret=SECRET)
    assert left(tmp_path) == ["parts"]


# --- What is refused ---


@each("name", ["keyed.parquet", "keyed.csv"])
@each("before", [None, b"mine"])
@each(
    ("ids", "message"),
    [
        ([None, "b", CANARY, ""], "PERSON_ID is missing in 2 records; the first is record 1."),
        ([CANARY, "b", CANARY, "b"], "4 records share their PERSON_ID with another record, such as 1 and 3."),
        ([0.5, 1.0, 2.0, 0.815], "PERSON_ID contains values of type double, but ids must be exact"),
    ],
)
def test_data_without_an_id_of_its_own_for_every_record_leave_no_file(
    tmp_path: Path, ids: list[object], message: str, before: bytes | None, name: str
) -> None:
    out = tmp_path / name
    if before:
        out.write_bytes(before)
    with pytest.raises(RecordIdError) as caught:
        add_keys(table(PERSON_ID=ids), out, id="PERSON_ID", secret=SECRET, replace=True)
    assert message in str(caught.value)
    assert CANARY not in str(caught.value)
    assert "815" not in str(caught.value)
    assert left(tmp_path) == ([name] if before else [])
    assert not before or out.read_bytes() == before


def test_missing_ids_are_counted_to_the_end(tmp_path: Path) -> None:
    ids = [str(number) if number % 100_000 else "" for number in range(1, 700_001)]
    pq.write_table(pa.table({"ID": ids}), tmp_path / "persons.parquet", row_group_size=50_000)
    with pytest.raises(RecordIdError, match="ID is missing in 7 records; the first is record 100,000"):
        add_keys(tmp_path / "persons.parquet", tmp_path / "keyed.parquet", id="ID", secret=SECRET)
    assert left(tmp_path) == ["persons.parquet"]


def test_a_collision_by_chance_is_no_repeated_id(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = RecordKeys.digests

    def collide(self: RecordKeys, ids: pa.Array, column: str = "The id") -> Words:
        found = true(self, ids, column).copy()
        found[1] = found[0]
        return found

    monkeypatch.setattr(RecordKeys, "digests", collide)
    assert add_keys(data, data.with_name("keyed.parquet"), id="PERSON_ID", secret=SECRET).records == 4


@pytest.mark.parametrize(
    ("wish", "error", "message"),
    [
        ({"id": "PERSONID"}, UnknownNameError, "no column 'PERSONID'. Did you mean PERSON_ID?"),
        ({"column": "SEX"}, ParameterError, "persons.parquet already has a column SEX. Choose another name with"),
        ({"column": "person_id"}, ParameterError, "already has a column person_id"),
        ({"column": ""}, ParameterError, "The column of keys needs a name."),
        ({"version": ""}, ParameterError, "version label"),
        ({"secret": b"canary"}, SecretError, "too short"),
        ({"out": "keyed.txt"}, ParameterError, "keyed.txt must end in .parquet or .csv"),
        ({"out": "keyed.csv.gz"}, ParameterError, "keyed.csv.gz must end in .parquet or .csv"),
        ({"out": "nowhere/keyed.csv"}, FileWriteError, "its folder does not exist"),
        ({"out": "persons.parquet"}, FileExistsAlreadyError, "exists already and was not changed"),
        ({"out": "persons.parquet", "replace": True}, ParameterError, "is one of the input files"),
        ({"data": "nowhere.csv"}, DataFileError, "nowhere.csv cannot be read"),
    ],
)
def test_mistakes_are_refused_and_nothing_is_written(
    data: Path, wish: dict[str, object], error: type[InputError], message: str
) -> None:
    before = data.read_bytes()
    asked = {"data": data, "out": "keyed.parquet", "id": "PERSON_ID", "secret": SECRET, **wish}
    given = [data.parent / str(asked.pop(name)) for name in ("data", "out")]
    with pytest.raises(error) as caught:
        add_keys(*given, **asked)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "canary" not in str(caught.value)
    assert left(data.parent) == ["persons.parquet"]
    assert data.read_bytes() == before


def test_a_link_to_the_data_is_not_replaced(data: Path) -> None:
    link = data.with_name("link.parquet")
    link.symlink_to(data)
    with pytest.raises(ParameterError, match="is one of the input files"):
        add_keys(data, link, id="PERSON_ID", secret=SECRET, replace=True)


@pytest.mark.parametrize("cells", [[[815]] * 4, [b"\xff"] * 4], ids=["lists", "bytes"])
def test_what_csv_cannot_hold_is_refused(tmp_path: Path, cells: list[object]) -> None:
    with pytest.raises(FileWriteError, match=r"\.csv cannot contain one of the columns\. Write a \.parquet") as caught:
        add_keys(table(MORE=cells), tmp_path / "keyed.csv", id="PERSON_ID", secret=SECRET)
    assert "815" not in str(caught.value)
    assert left(tmp_path) == []
    add_keys(table(MORE=cells), tmp_path / "keyed.parquet", id="PERSON_ID", secret=SECRET)
    assert pq.read_table(tmp_path / "keyed.parquet")["MORE"].to_pylist() == cells


def test_data_that_change_meanwhile_are_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = FileSource.batches

    def changing(self: FileSource, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from read(self, columns)
        pq.write_table(table().slice(1), data)

    monkeypatch.setattr(FileSource, "batches", changing)
    with pytest.raises(DataFileError, match="changed while it was in use"):
        add_keys(data, data.with_name("keyed.parquet"), id="PERSON_ID", secret=SECRET)
    assert left(data.parent) == ["persons.parquet"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_end_in_the_middle_leaves_nothing_behind(
    data: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    class Failing:
        def __init__(self, *_: object) -> None:
            raise error

    monkeypatch.setattr(key_file, "_writer", lambda _: Failing)
    with pytest.raises(FileWriteError if isinstance(error, OSError) else KeyboardInterrupt):
        add_keys(data, data.with_name("keyed.parquet"), id="PERSON_ID", secret=SECRET)
    assert left(data.parent) == ["persons.parquet"]


def test_a_file_that_appears_meanwhile_is_left_as_it_is(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = data.with_name("keyed.parquet")

    def appear(_: FileSource) -> None:
        out.write_bytes(b"mine")

    monkeypatch.setattr(FileSource, "check_unchanged", appear)
    with pytest.raises(FileExistsAlreadyError):
        add_keys(data, out, id="PERSON_ID", secret=SECRET)
    assert out.read_bytes() == b"mine"
    assert left(data.parent) == ["keyed.parquet", "persons.parquet"]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_of_keys_outlasts_a_power_cut(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    disk.install(monkeypatch, one_step=True)
    out = folder / f"keyed.{ending}"
    add_keys(table(), out, id="PERSON_ID", secret=SECRET)
    disk.left(tmp_path / "left", early=False)
    disk.close()
    assert (tmp_path / "left" / out.name).read_bytes() == out.read_bytes()
