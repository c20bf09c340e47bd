"""Parquet files: texts come as dictionaries, and damage of any kind is told."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import DataFileError
from discreet.sources.column_values import as_text
from discreet.sources.csv_file import ReadOptions
from discreet.sources.parquet_file import ParquetFile
from tests.each import each
from tests.quick import one_in

if TYPE_CHECKING:
    from pathlib import Path

DAMAGED = "is not a Parquet file, or it is damaged. Write it again"
CODES = pa.array([f"canary{i % 7}" for i in range(4_000)])


def saved(folder: Path, columns: dict[str, object], **how: object) -> Path:
    path = folder / "d.parquet"
    pq.write_table(pa.table(columns), path, **how)
    return path


def read(path: Path, column: str = "", block: int = 1 << 20) -> list[str | None]:
    found: list[str | None] = []
    file = ParquetFile.open(path)
    for batch in file.batches([column or file.columns[0]], ReadOptions(block)):
        texts = as_text(batch.column(0))
        assert texts is not None
        found += texts.to_pylist()
    return found


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts_come_as_dictionaries(kind: pa.DataType, tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": CODES.cast(kind), "n": range(4_000)}, row_group_size=1_500)
    file = ParquetFile.open(path)
    assert (file.columns, file.rows) == (("a", "n"), 4_000)
    for batch in file.batches(["n", "a"], ReadOptions()):
        assert batch.schema.names == ["n", "a"]
        assert batch.schema.types == [pa.int64(), pa.dictionary(pa.int32(), pa.string())]
    assert read(path, "a") == CODES.to_pylist()


def test_the_more_columns_the_fewer_rows(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": range(9_000), "b": range(9_000)})
    assert [batch.num_rows for batch in ParquetFile.open(path).batches(["a"], ReadOptions(4_000))] == [
        4_000,
        4_000,
        1_000,
    ]
    assert [batch.num_rows for batch in ParquetFile.open(path).batches(["a", "b"], ReadOptions(4_000))] == [
        2_000
    ] * 4 + [1_000]
    assert sum(batch.num_rows for batch in ParquetFile.open(path).batches([], ReadOptions(4_000))) == 9_000


@each("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
@each("kind", [pa.string(), pa.string_view()])
def test_texts_of_any_encoding_are_read(encoding: str, kind: pa.DataType, tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": CODES.cast(kind)}, use_dictionary=False, column_encoding=encoding, row_group_size=900)
    assert read(path, "a") == CODES.to_pylist()
    assert pa.string_view() not in {
        batch.schema.types[0] for batch in ParquetFile.open(path).batches(["a"], ReadOptions())
    }


def test_an_encoding_that_changes_inside_loses_and_repeats_no_row(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    code = "CASE WHEN i < 4096 THEN (i % 9)::VARCHAR ELSE 'canary' || i END"
    how = "FORMAT parquet, PARQUET_VERSION v2, ROW_GROUP_SIZE 2048"
    duckdb.sql(f"COPY (SELECT {code} AS a FROM range(8192) numbers(i) ORDER BY i) TO '{path}' ({how})")  # noqa: S608 - the path is ours
    encodings = [pq.read_metadata(path).row_group(group).column(0).encodings for group in (0, 3)]
    assert encodings == [("RLE_DICTIONARY",), ("DELTA_LENGTH_BYTE_ARRAY",)]
    assert read(path, "a", 1_500) == [f"{i % 9}" if i < 4096 else f"canary{i}" for i in range(8_192)]


def test_a_name_with_a_dot_is_a_name(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a.b": ["x"], "a": ["y"], "c": [{"d": 1}]})
    (batch,) = ParquetFile.open(path).batches(["a"], ReadOptions())
    assert batch.to_pydict() == {"a": ["y"]}
    (batch,) = ParquetFile.open(path).batches(["c", "a.b"], ReadOptions())
    assert batch.to_pydict() == {"c": [{"d": 1}], "a.b": ["x"]}


@each("content", [b"a\ncanary\n", b"PAR1" + b"\0" * 40 + b"PAR1", b"PAR1", b"PARE" * 9, b"\xff\xff\xff\x7fPAR1" * 3])
def test_what_is_no_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=DAMAGED) as caught:
        ParquetFile.open(path)
    assert caught.value.path == path


def test_damage_in_the_middle_is_met_while_reading(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": CODES, "n": range(4_000)}, row_group_size=2_000)
    content = bytearray(path.read_bytes())
    second = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    content[second : second + 80] = b"\xff" * 80
    path.write_bytes(content)
    batches = ParquetFile.open(path).batches(["a"], ReadOptions(2_000))
    assert next(batches).num_rows == 2_000
    with pytest.raises(DataFileError, match=DAMAGED) as caught:
        next(batches)
    assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": CODES})
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(DataFileError, match=DAMAGED):
        ParquetFile.open(path)


def test_a_wrong_checksum_is_seen(tmp_path: Path) -> None:
    path = saved(tmp_path, {"n": range(4_000)}, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[1_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=DAMAGED):
        read(path, "n")


@pytest.mark.parametrize("compression", one_in(2, ["none", "zstd"]))
def test_whatever_byte_is_damaged_there_are_rows_or_a_refusal(compression: str, tmp_path: Path) -> None:
    how = {"compression": compression, "store_schema": False, "write_statistics": False}
    path = saved(tmp_path, {"a": CODES[:40]}, **how)
    content = path.read_bytes()
    told = []
    for place in range(len(content)):
        for flip in (0x01, 0xFE):
            path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
            try:
                assert len(read(path)) == 40
            except DataFileError as error:
                told.append(str(error))
    assert len(told) > len(content) / 2
    assert not any("canary" in message for message in told)


def test_text_that_is_none_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": ["canary1", "canary2"], "b": ["1", "2"]}, compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"canary2", b"canary\xe9"))
    with pytest.raises(DataFileError, match="is not text in UTF-8") as caught:
        read(path, "a")
    assert "canary" not in "".join(traceback.format_exception(caught.value))
    assert read(path, "b") == ["1", "2"]


def test_a_file_that_went_away_is_told(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": CODES})
    file = ParquetFile.open(path)
    path.unlink()
    with pytest.raises(DataFileError, match=r"d.parquet cannot be read: No such file or directory\. Check the path"):
        list(file.batches(["a"], ReadOptions()))


def test_columns_must_be_there_and_differ(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="has no columns"):
        ParquetFile.open(saved(tmp_path, {}))
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.table([pa.array(["1"]), pa.array(["2"])], ["a", "a"]), path)
    with pytest.raises(
        DataFileError, match=r"twice.parquet has two columns named 'a'\. Use a unique name for every column"
    ):
        ParquetFile.open(path)
