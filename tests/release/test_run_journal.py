"""The journal of a run: whatever a kill leaves of it, no table is taken for finished that is not."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.records.secret import keyed_digest
from discreet.release.run_journal import JOURNAL, begin, finished, has_digest, note
from discreet.release.table_files import TableFile
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

RUN = "a digest of the run"
TABLES = [
    (TableFile("1", "tables/1.parquet", 3, 100, "aa"), None),
    (TableFile("ä/b\u2028\n", "tables/%C3%A4.parquet", 0, 9, "bb"), "cc"),
    (TableFile('"', "tables/%22.parquet", 10**9, 10**12, "dd"), None),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the journal of a run that finished three tables."""
    found = tmp_path_factory.mktemp("journal")
    begin(found, RUN)
    for table, exact in TABLES:
        note(found, table, exact)
    return found


def test_finished_tables_are_told_as_they_were_noted(folder: Path) -> None:
    assert list(finished(folder, RUN)) == TABLES


def test_another_run_finds_nothing(folder: Path) -> None:
    assert list(finished(folder, "another digest")) == []


def test_a_run_that_begins_again_has_finished_nothing(tmp_path: Path) -> None:
    begin(tmp_path, RUN)
    note(tmp_path, *TABLES[0])
    begin(tmp_path, RUN)
    assert list(finished(tmp_path, RUN)) == []


@given(data=st.data())
def test_a_journal_cut_short_anywhere_tells_whole_lines_alone(folder: Path, data: st.DataObject) -> None:
    whole = (folder / JOURNAL).read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    other = folder / str(cut)
    other.mkdir(exist_ok=True)
    (other / JOURNAL).write_bytes(whole[:cut])
    # A line is whole when its last sign is there, even without the end of the line.
    lines = sum(cut >= len(b"\n".join(whole.split(b"\n")[:number])) for number in range(1, 5))
    assert list(finished(other, RUN)) == TABLES[: max(lines - 1, 0)]


@each("content", [b"", b"\n", b"[]\n", b'"x"\n', b"1\n", b"\xff\xfe\n", b"{}\n", b'{"run": 7}\n'])
def test_what_is_no_journal_tells_nothing(content: bytes, tmp_path: Path) -> None:
    assert list(finished(tmp_path, RUN)) == []
    (tmp_path / JOURNAL).write_bytes(content)
    assert list(finished(tmp_path, RUN)) == []


@each("line", [b"{}\n", b'{"id": "2"}\n', b"[1]\n", b"half {"])
def test_a_line_that_is_no_table_ends_the_journal(line: bytes, tmp_path: Path) -> None:
    begin(tmp_path, RUN)
    note(tmp_path, *TABLES[0])
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(line)
    note(tmp_path, *TABLES[1])
    assert list(finished(tmp_path, RUN)) == TABLES[:1]


def test_a_file_is_as_noted_if_every_byte_is(tmp_path: Path) -> None:
    path = tmp_path / "1.parquet"
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert not has_digest(path, digest)
    path.write_bytes(b"")
    assert has_digest(path, digest)
    path.write_bytes(b"x")
    assert not has_digest(path, digest)
    assert not has_digest(tmp_path, digest)


def test_a_keyed_digest_is_of_these_bytes_and_this_secret(tmp_path: Path) -> None:
    path = tmp_path / "1.parquet"
    path.write_bytes(b"12")
    sha256 = hashlib.sha256(b"12").hexdigest()
    secret = b"a secret of the office"
    assert has_digest(path, keyed_digest(sha256, secret), secret)
    assert not has_digest(path, sha256, secret)
    assert not has_digest(path, keyed_digest(sha256, secret), b"another secret of it")
    path.write_bytes(b"13")
    assert not has_digest(path, keyed_digest(sha256, secret), secret)
