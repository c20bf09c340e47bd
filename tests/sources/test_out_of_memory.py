"""Out of memory while data are read is called so: no file is said to be damaged."""

from __future__ import annotations

import errno
import gzip
import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.sources import column_values
from discreet.sources.data_files import open_files

if TYPE_CHECKING:
    from pathlib import Path


def lacking(*_given: object, **_named: object) -> None:
    raise pa.ArrowMemoryError("malloc of size 64 failed")


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_memory_that_is_lacking_while_a_file_is_read_is_called_so(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"people.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"a": ["1", "2"]}), path)
    else:
        path.write_bytes(gzip.compress(b"a\n1\n2\n") if ending == "csv.gz" else b"a\n1\n2\n")
    source = open_files([path])
    assert sum(batch.num_rows for batch in source.batches(["a"])) == 2
    monkeypatch.setattr(arrow_csv, "open_csv", lacking)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lacking)
    with pytest.raises(MemoryError):
        list(source.batches(["a"]))


def test_threads_that_the_system_does_not_start_are_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_given: object, **_named: object) -> None:
        raise OSError(f"thread failed: {os.strerror(errno.EAGAIN)}")

    pq.write_table(pa.table({"a": ["1", "2"]}), tmp_path / "people.parquet")
    source = open_files([tmp_path / "people.parquet"])
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", failing)
    with pytest.raises(MemoryError):
        list(source.batches(["a"]))


def test_memory_that_is_lacking_while_codes_are_written_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_values, "_write", lacking)
    with pytest.raises(MemoryError):
        column_values.as_text(pa.array([1, 2]))
