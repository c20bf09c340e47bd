"""Shelves: a release is made whole or not at all, and the same data give the same bytes."""

from __future__ import annotations

import errno
import json
import tempfile
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.duckdb import DuckDB
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.protection.pipeline import protect
from discreet.release import release_writer as shelves
from discreet.release.release import open_release
from discreet.release.table_files import FORMATS, write_table
from tests.each import each
from tests.protection.town import SECRET
from tests.quick import examples
from tests.release.small_release import PROGRAMME, cell_key, make, people
from tests.tabulation.small_data import programmes

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.programme.model import Programme
    from discreet.release.table_files import TableFile

MANY = 150_000
"""Records enough for the engine to share them out among its threads."""


def files(out: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a release."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


# --- The same data, the same bytes ---


@examples(given(programme=programmes(), seed=st.integers(0, 1000), form=st.sampled_from(FORMATS)), quick=1, slow=3)
def test_neither_the_order_of_records_nor_the_threads_change_a_byte(programme: Programme, seed: int, form: str) -> None:
    random = np.random.default_rng(seed)
    leaves = {name: topic.levels[-1].codes or () for name, topic in programme.topics.items()}
    drawn = {
        name: pa.DictionaryArray.from_arrays(random.integers(len(codes), size=MANY), list(codes))
        for name, codes in leaves.items()
    }
    data = pa.table({"ID": np.arange(MANY), **drawn})
    made = []
    for threads, order in ((1, np.arange(MANY)), (4, np.arange(MANY)), (4, random.permutation(MANY))):
        with tempfile.TemporaryDirectory() as folder, DuckDB(threads=threads) as engine:
            out = Path(folder) / "rel"
            protect(data.take(order), programme, cell_key(), out=out, id="ID", form=form, engine=engine)
            made.append(files(out))
    assert made[0] == made[1] == made[2]
    assert len(made[0]) == len(programme.tables) + 2


def test_the_same_release_again_is_the_same_to_the_byte(tmp_path: Path) -> None:
    first, second = (files(make(out=tmp_path / name).path or tmp_path) for name in ("a", "b"))
    assert first == second
    assert files(tmp_path / "a.curator") == files(tmp_path / "b.curator")
    assert files(make(out=tmp_path / "c", data=people(seed=2)).path or tmp_path) != first


def test_digests_and_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    for form in FORMATS:
        out = tmp_path / form
        make(out=out, form=form)
        entries = json.loads((out / "release.json").read_text())["files"]
        assert [entry["id"] for entry in entries] == [table.id for table in PROGRAMME.tables]
        for entry in entries:
            data = (out / entry["file"]).read_bytes()
            assert (entry["bytes"], entry["sha256"]) == (len(data), sha256(data).hexdigest())
            assert entry["rows"] == open_release(out).table(entry["id"]).num_rows
        assert set(files(out)) == {"README.md", "release.json", *(entry["file"] for entry in entries)}


# --- Whole or not at all ---


def failing_at(call: int, error: BaseException) -> Callable[..., TableFile]:
    """Return a way to write tables that fails at one of them, with half of it on the disk."""
    calls = iter(range(100))

    def write(name: str, rows: pa.Table, folder: Path, form: str, stem: str) -> TableFile:
        made = write_table(name, rows, folder, form, stem)
        if next(calls) == call:
            path = folder.parent / made.file
            path.write_bytes(path.read_bytes()[: made.size // 2])
            raise error
        return made

    return write


@each("call", range(6))
@each("replace", [False, True])
@each(
    ("error", "expected", "message"),
    [
        # Errors are made when they are needed: one that is kept keeps the engine alive by its traceback.
        (partial(OSError, errno.ENOSPC, "long"), FileWriteError, "rel cannot be written: No space left on device"),
        (partial(OSError, errno.EFBIG, "long"), FileWriteError, "rel cannot be written: File too large"),
        (partial(pa.ArrowIOError, "without a number"), FileWriteError, "rel cannot be written: the write failed"),
        (partial(MemoryError), MemoryError, "^$"),
        (partial(KeyboardInterrupt), KeyboardInterrupt, "^$"),
        (partial(ValueError, "of somebody else"), ValueError, "of somebody else"),
    ],
    every=3,
)
def test_a_table_that_cannot_be_written_leaves_all_as_it_was(
    call: int,
    replace: bool,
    error: partial[BaseException],
    expected: type[BaseException],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: DuckDB,
) -> None:
    out = tmp_path / "rel"
    if replace:
        make(out=out, variance=3, engine=engine)
    before = files(tmp_path)
    monkeypatch.setattr(shelves, "write_table", failing_at(call, error()))
    with pytest.raises(expected, match=message):
        make(out=out, replace=replace, keep_exact=True, engine=engine)
    assert files(tmp_path) == before
    assert bool(before) == replace
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@each("kind", [OSError, KeyboardInterrupt, ValueError])
@each("stage", ["reading", "counting", "noise", "writing"])
def test_an_error_of_whoever_looks_on_is_told_as_it_is(
    stage: str, kind: type[BaseException], tmp_path: Path, engine: DuckDB
) -> None:
    error = kind(errno.EIO, "of the user")

    def look(now: str, _done: int, _total: int | None) -> None:
        if now == stage:
            raise error

    with pytest.raises(kind) as caught:
        make(out=tmp_path / "rel", progress=look, engine=engine)
    assert caught.value is error
    assert list(tmp_path.iterdir()) == []


def test_who_finishes_second_is_refused_and_destroys_nothing(tmp_path: Path, engine: DuckDB) -> None:
    out = tmp_path / "rel"
    others: list[str] = []

    def meanwhile(stage: str, _done: int, _total: int | None) -> None:
        if stage == "reading" and not others:
            others.append(stage)
            make(out=out, variance=3)

    with pytest.raises(FileExistsAlreadyError, match="rel exists already"):
        make(out=out, progress=meanwhile, engine=engine)
    assert others
    assert open_release(out).record.parameters["variance"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rel", "rel.curator"]
    make(out=out, replace=True)
    assert open_release(out).record.parameters["variance"] == 2


# --- Tables that are there already ---


def test_a_shelf_says_what_an_earlier_run_left_and_reads_it_back(tmp_path: Path) -> None:
    table = pa.table({"SEX": ["F"], "value": [3]})
    for form in FORMATS:
        out = tmp_path / f"rel {form}"
        with shelves.FolderWriter(out, form, replace=False, resume=True) as shelf:
            assert shelf.begin("the run", SECRET) == frozenset()
            for name in ("a/b", "A/B"):
                shelf.put(name, table, table)
        with shelves.FolderWriter(out, form, replace=False, resume=True) as shelf:
            assert shelf.begin("the run", SECRET) == {"a/b", "A/B"}
            found = shelf.written("A/B")
            assert found is not None
            assert found.to_pylist() == table.to_pylist()
            assert shelf.written("1") is None
            # The name of a table that is there is taken.
            shelf.put("a/B", table, None)
            (left,) = tmp_path.glob(f".{out.name}.making-*")
            names = {path.name for path in left.glob("public/tables/*")}
            assert names == {f"a%2Fb.{form}", f"A%2FB~2.{form}", f"a%2FB~3.{form}"}


def test_a_shelf_in_memory_begins_empty() -> None:
    with shelves.MemoryWriter() as shelf:
        assert shelf.begin("the run") == frozenset()
        assert shelf.written("1") is None
        shelf.put("1", pa.table({"value": [3]}), None)
        assert shelf.begin("the run") == frozenset()
        found = shelf.written("1")
        assert found is not None
        assert found.num_rows == 1


# --- In memory ---


@pytest.mark.parametrize("keep", [False, True])
def test_a_release_in_memory_writes_nothing(keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    release = make(keep_exact=keep)
    assert release.path is None
    assert release.ids == tuple(table.id for table in PROGRAMME.tables)
    assert list(tmp_path.iterdir()) == []


def test_true_counts_stand_in_the_curators_folder_alone(tmp_path: Path) -> None:
    exact: dict[str, Any] = {}
    for name, keep in (("a", True), ("b", False)):
        release = make(out=tmp_path / name, keep_exact=keep)
        exact[name] = sorted(path.name for path in (tmp_path / f"{name}.curator").rglob("*"))
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["README.md", "release.json", "tables"]
    assert exact["b"] == ["record.json"]
    assert exact["a"] == sorted(["exact", "record.json", *(Path(file).name for file in release.files.values())])
