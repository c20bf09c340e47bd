"""Several files as one: they must belong together, stay as they are, and have a fingerprint."""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import DataFileError, UnknownNameError
from discreet.sources.column_values import as_text
from discreet.sources.data_files import FileSource, open_files

if TYPE_CHECKING:
    from pathlib import Path

PERSONS = "sex,age\nF,1\nM,2\n"


def saved(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.csv" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def as_parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def read(source: FileSource, *columns: str) -> list[tuple[str | None, ...]]:
    rows: list[tuple[str | None, ...]] = []
    for batch in source.batches(columns):
        assert batch.num_rows
        assert batch.schema.names == list(columns)
        texts = [as_text(values) for values in batch.columns]
        rows += zip(*[[] if text is None else text.to_pylist() for text in texts], strict=True)
    return rows


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    source = open_files(saved(tmp_path, a=PERSONS, b="age;sex\n3;F\n", c="sex,age\n"), name="persons")
    assert (source.name, source.columns, source.rows) == ("persons", ("sex", "age"), None)
    assert source.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert read(source, "age", "sex") == [("1", "F"), ("2", "M"), ("3", "F")]
    assert read(source, "sex") == [("F",), ("M",), ("F",)]
    assert read(source, "age", "sex", "age") == [("1", "F", "1"), ("2", "M", "2"), ("3", "F", "3")]
    assert sum(batch.num_rows for batch in source.batches([])) == 3


def test_the_type_of_a_column_may_differ_from_file_to_file(tmp_path: Path) -> None:
    paths = [
        as_parquet(tmp_path / "a.parquet", code=pa.array([1, None], pa.int16()), sex=["F", "M"]),
        as_parquet(tmp_path / "b.parquet", sex=pa.array(["F", "M"]).dictionary_encode(), code=[1.0, float("nan")]),
        as_parquet(tmp_path / "c.parquet", code=["1", ""], sex=pa.array(["F", "M"], pa.large_string())),
        as_parquet(tmp_path / "d.parquet", code=pa.array([], pa.null()), sex=pa.array([], pa.null())),
    ]
    source = open_files(paths)
    assert (source.name, source.rows) == ("a.parquet", 6)
    assert read(source, "code", "sex") == [("1", "F"), (None, "M")] * 3


def test_a_column_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    source = open_files(saved(tmp_path, a=PERSONS))
    with pytest.raises(UnknownNameError, match=r"no column of a.csv 'sx'\. Did you mean sex\? Available: sex, age\."):
        source.batches(["age", "sx"])


def test_files_must_have_the_same_columns(tmp_path: Path) -> None:
    paths = saved(tmp_path, a=PERSONS, b="age,sex\n1,F\n", c="sex,height\n1,2\n", d="sex,age,height\n1,2,3\n")
    with pytest.raises(DataFileError, match=r"^c.csv has no column 'age', but a.csv has\. Specify files with the same"):
        open_files(paths)
    with pytest.raises(DataFileError, match=r"^a.csv has no column 'height', but d.csv has\."):
        open_files([*paths[:2], paths[3]])


def test_files_must_be_of_one_kind_and_come_once(tmp_path: Path) -> None:
    (csv,) = saved(tmp_path, a=PERSONS)
    parquet = as_parquet(tmp_path / "b.parquet", sex=["F"], age=["1"])
    with pytest.raises(DataFileError, match=r"^b.parquet is Parquet, but a.csv is CSV\. Specify files of one format"):
        open_files([csv, parquet])
    with pytest.raises(DataFileError, match=r"^a.csv is specified twice\. Specify every file once"):
        open_files([csv, csv])
    link = tmp_path / "link.csv"
    link.symlink_to(csv)
    with pytest.raises(DataFileError, match=r"link.csv is specified twice"):
        open_files([csv, link])


def test_files_that_are_not_there_or_hold_nothing_are_refused(tmp_path: Path) -> None:
    first, gone, empty = saved(tmp_path, a=PERSONS, b=PERSONS, c="")
    gone.unlink()
    with pytest.raises(DataFileError, match=r"^b.csv cannot be read: No such file or directory\. Check the path"):
        open_files([first, gone])
    with pytest.raises(DataFileError, match=r"^c.csv is empty\. Specify a file with named columns"):
        open_files([first, empty])
    with pytest.raises(
        DataFileError, match=r"^d.txt has an unsupported extension\. Supported extensions: \.csv, \.csv\.gz, \.parquet"
    ):
        open_files([first, tmp_path / "d.txt"])


def test_no_records_at_all_are_refused(tmp_path: Path) -> None:
    nothing = open_files(saved(tmp_path, a="sex\n", b="sex\n"), name="both files")
    with pytest.raises(
        DataFileError, match=r"^both files has columns but no records\. Specify a file with at least one"
    ):
        list(nothing.batches(["sex"]))
    with pytest.raises(DataFileError, match=r"^d.parquet has columns but no records\."):
        open_files([as_parquet(tmp_path / "d.parquet", sex=pa.array([], pa.string()))])


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("F,3\n")


def replace(path: Path) -> None:
    """Put another file of the same size and time in its place."""
    before = path.stat()
    other = path.with_name("other")
    other.write_text(path.read_text().replace("F", "M"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def overwrite(path: Path) -> None:
    """Write as many other bytes into the same file, at another time."""
    before = path.stat()
    path.write_text(path.read_text().replace("F", "M"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


@pytest.mark.parametrize("change", [append, replace, overwrite])
def test_a_change_is_noticed(change: type, tmp_path: Path) -> None:
    paths = saved(tmp_path, a=PERSONS, b=PERSONS)
    source = open_files(paths)
    source.check_unchanged()
    change(paths[1])
    with pytest.raises(DataFileError, match=r"^b.csv changed while it was in use\. Wait until it is written") as caught:
        source.check_unchanged()
    assert caught.value.path == paths[1]
    with pytest.raises(DataFileError, match=r"b.csv changed while it was in use"):
        read(source, "sex")


def test_a_file_that_vanished_is_noticed(tmp_path: Path) -> None:
    paths = saved(tmp_path, a=PERSONS, b=PERSONS)
    source = open_files(paths)
    paths[1].unlink()
    for use in (source.check_unchanged, source.fingerprint, lambda: read(source, "sex")):
        with pytest.raises(DataFileError, match=r"b.csv cannot be read: No such file or directory"):
            use()


def test_the_fingerprint_is_that_of_the_bytes(tmp_path: Path) -> None:
    paths = saved(tmp_path, a=PERSONS, b=PERSONS + "F,3\n")
    one = open_files(paths[:1]).fingerprint()
    both = open_files(paths).fingerprint()
    assert one == f"sha256:{hashlib.sha256(paths[0].read_bytes()).hexdigest()}"
    assert both == f"sha256:{hashlib.sha256(paths[0].read_bytes() + paths[1].read_bytes()).hexdigest()}"
    copies = [tmp_path / "c.csv", tmp_path / "d.csv"]
    for path, copy in zip(paths, copies, strict=True):
        shutil.copyfile(path, copy)
    assert open_files(copies).fingerprint() == both
    copies[1].write_text(copies[1].read_text().replace("3", "4"))
    assert open_files(copies).fingerprint() != both
