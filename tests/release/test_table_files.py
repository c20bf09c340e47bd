"""Tables as files: what is read is what was written, whatever codes, columns and ids are called."""

from __future__ import annotations

import csv
import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import UnknownNameError
from discreet.release.table_files import FORMATS, LONGEST_STEM, check_format, file_stem, read_table, write_table
from tests.each import each

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
AWKWARD = [
    "a,b",
    'q"x',
    '"',
    "007",
    "1e5",
    "NA",
    "null",
    " sp ",
    "l\nf",
    "c\r\nr",
    "\t",
    "\ufeff",
    "ä",
    "_T",
    "#",
    "\0",
    "=1+1",
    "@SUM(A1)",
    "'=x",
    "''@",
    "-9",
    "+3",
    "\r",
]


def table(codes: Sequence[str], names: Sequence[str], values: Sequence[int]) -> pa.Table:
    """Return a table as counting makes it: every column of codes is a dictionary."""
    column = pa.array([codes[place % len(codes)] for place in range(len(values))], pa.string()).dictionary_encode()
    return pa.table([*[column] * len(names), pa.array(values, pa.int64())], names=[*names, "value"])


@pytest.mark.parametrize("form", FORMATS)
@given(
    codes=st.lists(TEXT, min_size=1, max_size=20),
    names=st.lists(TEXT.filter(lambda name: name != "value"), max_size=3, unique=True),
    values=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30),
)
@example(AWKWARD, AWKWARD, list(range(-20, 20)))
@example(["a"], ["A"], [])
@example(["a"], [], [5])
def test_a_table_comes_back_with_texts_and_whole_numbers(
    form: str, codes: list[str], names: list[str], values: list[int]
) -> None:
    written = table(codes, names, values)
    with tempfile.TemporaryDirectory() as folder:
        entry = write_table("1", written, Path(folder), form)
        path = Path(folder) / f"1.{form}"
        found = read_table(path, entry.sha256)
        assert (entry.rows, entry.size) == (len(values), path.stat().st_size)
    assert found.column_names == [*names, "value"]
    assert found.schema.types == [*[pa.string()] * len(names), pa.int64()]
    assert found.to_pydict() == written.to_pydict()


def test_a_long_csv_file_with_line_breaks_in_codes_comes_back(tmp_path: Path) -> None:
    written = table(["a\nlong\ncode\nof\nmany\nlines"], ["A", "B"], list(range(60_000)))
    entry = write_table("1", written, tmp_path, "csv")
    # It is parsed in pieces of a megabyte, which must not end inside a code.
    assert entry.size > 2 << 20
    assert read_table(tmp_path / "1.csv").to_pydict() == written.to_pydict()


@pytest.mark.parametrize("form", FORMATS)
def test_an_entry_says_where_the_file_is_and_what_is_in_it(form: str, tmp_path: Path) -> None:
    entry = write_table("2/1", table(["a", "b"], ["A"], [1, 2, 3]), tmp_path, form)
    path = tmp_path / f"2%2F1.{form}"
    assert entry.to_json() == {
        "id": "2/1",
        "file": f"{tmp_path.name}/2%2F1.{form}",
        "rows": 3,
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def test_csv_is_plain_text_that_anything_reads(tmp_path: Path) -> None:
    write_table("1", table(["F", "a,b"], ["SEX"], [12, -3]), tmp_path, "csv")
    lines = (tmp_path / "1.csv").read_text(encoding="utf-8").splitlines()
    assert [line.replace('"', "") for line in lines] == ["SEX,value", "F,12", "a,b,-3"]
    assert '"a,b"' in lines[2]


@each("code", ["=1+1", '=HYPERLINK("http://x")', "@SUM(A1)", "\tx", "\rx", "'=1", "''@"])
def test_csv_holds_no_formula(code: str, tmp_path: Path) -> None:
    rows = table([code], [code], [1])
    write_table("1", rows, tmp_path, "csv")
    with (tmp_path / "1.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.reader(file))
    assert written == [[f"'{code}", "value"], [f"'{code}", "1"]]
    back = read_table(tmp_path / "1.csv")
    assert (back.column_names, back.column(0).to_pylist()) == ([code, "value"], [code])


@each("code", ["-9", "+3", "_T", "a=b", "'a", "1"])
def test_other_codes_stay_as_they_are_in_csv(code: str, tmp_path: Path) -> None:
    write_table("1", table([code], ["CODE"], [1]), tmp_path, "csv")
    assert (tmp_path / "1.csv").read_text(encoding="utf-8").splitlines()[1].replace('"', "") == f"{code},1"


def test_parquet_tells_nothing_beside_the_table(tmp_path: Path) -> None:
    write_table("1", table(["F", "M"], ["SEX"], [12, 3]), tmp_path, "parquet")
    metadata = pq.ParquetFile(tmp_path / "1.parquet").metadata
    assert metadata.metadata is None
    assert not metadata.row_group(0).column(1).is_stats_set


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2021"
    folder.mkdir()
    write_table("1", table(["F"], ["SEX"], [12]), folder, "parquet")
    assert read_table(folder / "1.parquet").column_names == ["SEX", "value"]


@each("form", FORMATS)
@each("damage", ["cut", "empty", "other", "flipped"])
def test_a_damaged_file_is_not_read(form: str, damage: str, tmp_path: Path) -> None:
    entry = write_table("1", table(["F", "M"], ["SEX"], list(range(1000))), tmp_path, form)
    path = tmp_path / f"1.{form}"
    data = path.read_bytes()
    middle = len(data) // 3
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    path.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "other": b"\xff\xfe,\n", "flipped": flipped}[damage])
    with pytest.raises(ValueError, match="another digest"):
        read_table(path, entry.sha256)
    if damage in {"empty", "other"}:
        with pytest.raises(ValueError, match=r"not a table|decode"):
            read_table(path)


def test_a_file_that_is_not_there_is_told_by_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "1.parquet")


# --- Names of files ---


@each(
    ("name", "stem"),
    [
        ("9.2", "9.2"),
        ("2/1", "2%2F1"),
        ("..", "%2E."),
        (".", "%2E"),
        (".hidden", "%2Ehidden"),
        ("", "%"),
        ("a b+c,d;e=f@g", "a b+c,d;e=f@g"),
        ("50%", "50%25"),
        ("ä", "%C3%A4"),
        ('a\\b:c*?"<>|\n', "a%5Cb%3Ac%2A%3F%22%3C%3E%7C%0A"),
    ],
)
def test_what_a_file_name_cannot_hold_is_written_as_in_an_address(name: str, stem: str) -> None:
    assert file_stem(name) == stem
    assert unquote(stem) == name or not name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400))
@example("ä" * 400)
def test_any_id_is_a_file_name_that_is_not_hidden_and_not_too_long(name: str) -> None:
    stem = file_stem(name)
    assert 0 < len(stem) <= LONGEST_STEM
    assert stem.isascii()
    assert stem.isprintable()
    assert not stem.startswith(".")
    assert not set(stem) & set("/\\")


@given(st.lists(st.text("aAbB~2.%é", max_size=3), unique=True, max_size=60))
@example(["a" * 1000, "a" * 1001, "a", "A", "a~2", "A~2", "Straße", "STRASSE"])
def test_no_two_ids_share_a_file_name_even_where_case_does_not_count(ids: list[str]) -> None:
    stems: list[str] = []
    for name in ids:
        stems.append(file_stem(name, stems))
    assert len({stem.casefold() for stem in stems}) == len(ids)


def test_huge_ids_that_begin_alike_are_told_apart() -> None:
    assert file_stem("x" * 999 + "a") != file_stem("x" * 999 + "b")


def test_only_formats_that_exist_are_taken() -> None:
    for form in FORMATS:
        check_format(form)
    with pytest.raises(UnknownNameError, match=r"no table format 'parket'. Did you mean parquet"):
        check_format("parket")
