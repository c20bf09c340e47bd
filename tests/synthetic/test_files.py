"""Files of persons appear whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import FileWriteError, ParameterError
from discreet.synthetic.synthetic_census import METADATA, check_ending, open_file

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = pa.schema({"PERSON_ID": pa.int64(), "SEX": pa.dictionary(pa.int16(), pa.string())})
BATCH = pa.RecordBatch.from_arrays(
    [pa.array([4, 2]), pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int16()), ["1", "2"])], schema=SCHEMA
)


def write(path: Path) -> None:
    with open_file(path, SCHEMA, "All made up.") as put:
        put(BATCH)
        put(BATCH)


def test_a_csv_file_is_plain(tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "PERSON_ID,SEX\n4,2\n2,1\n4,2\n2,1\n"


def test_a_parquet_file_says_that_it_is_synthetic(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.schema.metadata[METADATA.encode()] == b"All made up."
    assert table.column("SEX").to_pylist() == ["2", "1", "2", "1"]
    assert table.column("PERSON_ID").to_pylist() == [4, 2, 4, 2]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_what_breaks_off_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("as it was")

    def break_off() -> None:
        with open_file(tmp_path / name, SCHEMA, "") as put:
            put(BATCH)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert (tmp_path / name).read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_link_stays_one_and_a_file_keeps_its_rights(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    write(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.stat().st_size > 0
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"a\.xlsx must end in \.parquet or \.csv"):
        check_ending(tmp_path / "a.xlsx")
    with pytest.raises(FileWriteError, match="cannot be written"):
        write(tmp_path / "missing" / "a.csv")
