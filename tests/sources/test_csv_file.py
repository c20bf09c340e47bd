"""CSV files: what is read of them, and what is said when they cannot be read."""

from __future__ import annotations

import gzip
import random
import traceback
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from discreet.errors import DataFileError, ParameterError
from discreet.sources.csv_file import CsvFile, ReadOptions
from discreet.sources.source import open_source
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

PACKED = gzip.compress(b"a,b\n" + b"".join(b"%d,canary%d\n" % (i, i * i) for i in range(9_000)), mtime=0)


def read(path: Path, columns: list[str], block: int = 1 << 20) -> list[dict[str, str]]:
    return [row for batch in CsvFile.open(path).batches(columns, ReadOptions(block)) for row in batch.to_pylist()]


def test_only_the_asked_columns_are_read_and_all_are_text(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,b,c\n01,1.0,x\n,NA,\n")
    file = CsvFile.open(path)
    assert (file.columns, file.rows, file.delimiter) == (("a", "b", "c"), None, ",")
    assert read(path, ["c", "a"]) == [{"c": "x", "a": "01"}, {"c": "", "a": ""}]
    assert read(path, ["b"]) == [{"b": "1.0"}, {"b": "NA"}]
    assert read(path, []) == [{}, {}]


def test_a_column_that_is_not_asked_for_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"a,b\n1," + b"x" * 5_000_000 + b"\n2,\xe9\n")
    assert read(path, ["a"], block=1 << 22) == [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize("name", ["d.csv", "D.CSV.GZ"])
def test_long_files_come_in_pieces(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    text = "a;b\n" + "".join(f"{i};x\n" for i in range(20_000))
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("GZ") else text.encode())
    sizes = [batch.num_rows for batch in CsvFile.open(path).batches(["a"], ReadOptions(1 << 12))]
    assert sum(sizes) == 20_000
    assert max(sizes) < 3_000
    assert [row["a"] for row in read(path, ["a"], 1 << 12)] == [str(i) for i in range(20_000)]


def test_several_gzipped_pieces_in_one_file_are_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "d.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n") + gzip.compress(b"2\n"))
    assert read(path, ["a"]) == [{"a": "1"}, {"a": "2"}]


@each(
    ("name", "content", "message"),
    [
        ("d.csv", b"a,b\n1,2\ncanary,1,1\n", "d.csv has 3 fields instead of 2 in record 2 after the header. Correct"),
        (
            "d.csv",
            b'a,b\n1,"canary\n2,canary\n',
            'ends inside an open quote, .* contain records. Close the quote; .* as "".',
        ),
        ("d.csv", b'a,b\n1,"', "ends inside an open quote"),
        ("d.csv", b'b,a\n"canary,2\n1,canary\n', "has 1 fields instead of 2 in record 1"),
        ("d.csv", b"a,b,a\n1,canary,1\n", "has two columns named 'a'. Use a unique name for every column"),
        (
            "d.csv",
            b"a,b\n1,canary\xe9\n",
            "is not text in UTF-8: byte 13, in line 2, cannot be decoded. Save it as UTF-8",
        ),
        ("d.csv", "a,b\n1,canary\n".encode("utf-16"), "is not text in UTF-8"),
        ("d.csv", b"\n\n", "has no columns"),
        ("d.csv", PACKED, "is not text in UTF-8"),
        ("d.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("d.csv.gz", b"a,b\n1,canary\n", "is not a gzip file, or it is damaged. Compress it again"),
        ("d.csv.gz", PACKED[:-20], "is not a gzip file, or it is damaged"),
        ("d.csv.gz", PACKED[:500] + b"\xff" * 200 + PACKED[700:], "is not a gzip file, or it is damaged"),
    ],
)
def test_damage_is_told_without_a_value(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=message) as caught:
        read(path, ["b"])
    assert caught.value.path == path
    assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_bytes_that_are_no_text_are_seen_far_inside(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"a,b\n" + b"1,canary\n" * 900_000 + b"1,canary\xe9\n")
    with pytest.raises(DataFileError, match="is not text in UTF-8") as caught:
        read(path, ["b"])
    assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_went_away_is_told(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a\n1\n")
    file = CsvFile.open(path)
    path.unlink()
    with pytest.raises(DataFileError, match=r"d.csv cannot be read: No such file or directory\. Check the path"):
        list(file.batches(["a"], ReadOptions()))


def test_another_encoding_is_read_where_it_is_named(tmp_path: Path) -> None:
    names = ["Zürich", "Åland", "Besançon", 'a "ü"; b', ""]
    lines = ["ID;ÖRT", *(f'{n};"{name.replace(chr(34), chr(34) * 2)}"' for n, name in enumerate(names))]
    data = "\n".join(lines).encode("cp1252")
    plain, packed = tmp_path / "d.csv", tmp_path / "d.csv.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    for path in (plain, packed):
        for encoding in ("latin-1", "cp1252"):
            source = open_source(path, encoding=encoding)
            assert source.columns == ("ID", "ÖRT")
            assert [name for batch in source.batches(["ÖRT"]) for name in batch.column(0).to_pylist()] == names


@each("header", ["ID,NAME", "ID,NÄME"])
@each("records", [3, 6_000])
@each("packed", [False, True])
def test_the_first_byte_that_cannot_be_decoded_is_named(
    tmp_path: Path, header: str, records: int, packed: bool
) -> None:
    # The last record has it: with many records behind the part that is read for the header.
    before = "".join([header, "\n", *(f"{n},{'Zoë' * 250}\n" for n in range(records - 1))]).encode()
    data = before + b"canary,M\xfcller\n"
    path = tmp_path / ("d.csv.gz" if packed else "d.csv")
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    place = f"byte {len(before) + len('canary,M') + 1:,}, in line {records + 1:,}, cannot be decoded"
    with pytest.raises(DataFileError, match=f"is not text in UTF-8: {place}. Save it as UTF-8, or specify") as caught:
        list(open_source(path).batches([header.partition(",")[2]]))
    assert "canary" not in str(caught.value)
    (tmp_path / "e.csv").write_bytes(b"ID\n\x81\n")
    with pytest.raises(DataFileError, match=r"is not text in cp1252: byte 4, in line 2"):
        list(open_source(tmp_path / "e.csv", encoding="cp1252").batches(["ID"]))


@each("encoding", ["utf-16", "latin1000", "rot13", "utf-8-sig"])
def test_an_encoding_that_is_unknown_or_not_of_bytes_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "d.csv").write_text("ID\n1\n")
    with pytest.raises(ParameterError, match="is not a supported encoding of CSV files"):
        open_source(tmp_path / "d.csv", encoding=encoding)


def test_only_csv_files_have_an_encoding() -> None:
    with pytest.raises(ParameterError, match="--encoding is valid only for CSV files"):
        open_source(pa.table({"ID": [1]}), encoding="latin-1")


# --- Blank lines ---


@each(
    ("content", "expected"),
    [
        (b"a\n1\n\n2\n", ["1", "", "2"]),
        (b"a\n1\n\n2", ["1", "", "2"]),
        (b"a\n1\n2\n\n", ["1", "2", ""]),
        (b"a\r\n\r\n1\r\n\r\n", ["", "1", ""]),
        (b"\n\na\n1\n\n", ["1", ""]),
        (b"\xef\xbb\xbfa\n\n1\n", ["", "1"]),
        (b'a\n"1\n\n2"\n\n3\n', ["1\n\n2", "", "3"]),
        (b"a\n\n", [""]),
        (b"a\n1\n", ["1"]),
        (b"a\n1", ["1"]),
    ],
)
@each("packed", [False, True])
def test_blank_lines_of_a_single_column_are_missing_values(
    content: bytes, expected: list[str], packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    for how in (ReadOptions(), ReadOptions(allow_open_quote=True)):
        batches = CsvFile.open(path, how).batches(["a"], how)
        assert [value for batch in batches for value in batch.column(0).to_pylist()] == expected


def test_blank_lines_of_several_columns_are_no_records(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\na,b\n\n1,2\n\n\n3,4\n\n")
    batches = CsvFile.open(tmp_path / "x.csv").batches(["b"], ReadOptions())
    assert [value for batch in batches for value in batch.column(0).to_pylist()] == ["2", "4"]


def test_a_packed_file_that_is_not_utf8_and_cut_short_is_refused(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    content = b"a\n\xff\n" + b"".join(b"%d\n" % chance.getrandbits(60) for _ in range(50_000))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content)[:-1_000])
    with pytest.raises(DataFileError, match=r"x\.csv\.gz is not text in UTF-8"):
        CsvFile.open(tmp_path / "x.csv.gz")
