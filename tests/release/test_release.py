"""A release that is there: what it tells, and what is said of one that is not whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import RecordFileError, ReleaseError, UnknownNameError
from discreet.limits import MAX_JSON_BYTES
from discreet.protection.repetition import verify
from discreet.release.record import read_record
from discreet.release.release import Release, open_release, read_description
from discreet.release.release_folder import curator_folder
from tests.each import each
from tests.release.small_release import PROGRAMME, make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDS = ("1", "a/b", "A/B")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one release for all tests; each has a copy."""
    out = tmp_path_factory.mktemp("made") / "rel"
    make(out=out, keep_exact=True)
    return out


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    for name in ("rel", "rel.curator"):
        shutil.copytree(made.parent / name, tmp_path / name)
    return tmp_path / "rel"


def change(out: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change a description."""
    content = json.loads((out / "release.json").read_text())
    edit(content)
    (out / "release.json").write_text(json.dumps(content))


# --- What it tells ---


def test_a_release_tells_what_was_published_and_how(out: Path) -> None:
    release = open_release(str(out))
    assert release.path == out
    assert release.programme == PROGRAMME
    assert release.ids == IDS
    assert release.files == {"1": "tables/1.parquet", "a/b": "tables/a%2Fb~2.parquet", "A/B": "tables/A%2FB.parquet"}
    assert release.record.parameters["variance"] == 2
    assert str(release) == "rel: 3 tables of small town; counts have random noise, typically ±1.4."


def test_its_tables_are_those_of_the_same_release_in_memory(out: Path) -> None:
    release, held = open_release(out), make(keep_exact=True)
    assert held.ids == IDS
    assert str(held).startswith("in memory: 3 tables")
    for name in IDS:
        assert release.table(name).to_pydict() == held.table(name).to_pydict()
        assert release.exact(name).to_pydict() == held.exact(name).to_pydict()
        assert release.table(name).to_pydict() != release.exact(name).to_pydict()
    # A release in memory has no release.json.
    digest = hashlib.sha256((out / "release.json").read_bytes()).hexdigest()
    assert replace(held.record, release_digest=digest) == release.record


def test_a_release_without_true_counts_says_so(tmp_path: Path) -> None:
    for release in (make(out=tmp_path / "rel"), make()):
        with pytest.raises(
            ReleaseError, match=r"no stored true counts of table 1. To store them, run protect with --keep-exact"
        ):
            release.exact("1")


@pytest.mark.parametrize("read", [Release.table, Release.exact])
def test_a_table_that_does_not_exist_is_refused_by_name(out: Path, read: Callable[[Release, str], object]) -> None:
    with pytest.raises(UnknownNameError, match="no table of the release '2'"):
        read(open_release(out), "2")


@pytest.mark.parametrize("spelt", [".", "..", "../rel", "../link", "../sub/../rel", "../rel/"])
def test_a_release_and_its_curators_folder_are_found_however_it_is_spelt(
    out: Path, spelt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out.parent / "link").symlink_to(out)
    (out.parent / "sub").mkdir()
    monkeypatch.chdir(out / "tables" if spelt == ".." else out)
    release = open_release(spelt)
    assert release.record.records == 200
    assert release.exact("1").num_rows
    assert release.table("1").num_rows


# --- What is not whole ---


@each("name", IDS)
@each("form", ["parquet", "csv"])
def test_a_table_that_is_missing_or_damaged_is_told(name: str, form: str, tmp_path: Path) -> None:
    release = make(out=tmp_path / "rel", form=form, keep_exact=True)
    path = tmp_path / "rel" / release.files[name]
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ReleaseError, match=rf"rel has a file {release.files[name]} that is damaged or was changed\."):
        release.table(name)
    path.unlink()
    with pytest.raises(ReleaseError, match=f"rel has no file {release.files[name]}. Restore it from a backup"):
        release.table(name)
    path.mkdir()
    with pytest.raises(ReleaseError, match=rf"file {release.files[name]} that cannot be read \(Is a directory\)"):
        release.table(name)
    exact = tmp_path / "rel.curator" / "exact" / path.name
    exact.write_bytes(exact.read_bytes()[:-1] if form == "parquet" else b"")
    with pytest.raises(ReleaseError, match=rf"rel has a file rel.curator/exact/{path.name} that is damaged"):
        release.exact(name)


@pytest.mark.parametrize("lacking", ["schema", "kind", "name", "noise", "format", "files", "programme"])
def test_a_description_that_lacks_something_is_one_clear_error(out: Path, lacking: str) -> None:
    change(out, lambda content: content.pop(lacking))
    with pytest.raises(ReleaseError, match=f"{lacking} is missing|with another schema"):
        open_release(out)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda programme: programme.pop("tables"), "lacks the key 'tables'"),
        (lambda programme: programme.update(topics=5), "topics: must be a list"),
        (lambda programme: programme["tables"][0].update(breakdowns=[{}]), r"tables\[0\].breakdowns\[0\]"),
        (lambda programme: programme.update(tables=[]), "has no tables"),
    ],
)
def test_a_programme_that_is_wrong_is_told(out: Path, edit: Callable[[dict[str, Any]], object], message: str) -> None:
    change(out, lambda content: edit(content["programme"]))
    release = open_release(out)
    with pytest.raises(ReleaseError, match=f"rel has a release.json whose programme is invalid: .*{message}") as caught:
        _ = release.programme
    assert ".." not in str(caught.value).replace(str(out), "")


@pytest.mark.parametrize("place", ["nowhere", "empty", "file", "x" * 300, "nowhere/at/all"])
def test_what_is_no_release_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(ReleaseError, match=r"contains no release.json|File name too long"):
        open_release(tmp_path / place)


# --- The curator's folder ---


@pytest.mark.slow
def test_descriptions_of_very_many_areas_are_read_but_not_those_of_a_neighbour(out: Path) -> None:
    """A release that was written can be opened, however many codes its programme has."""
    spaces, record = " " * MAX_JSON_BYTES, curator_folder(out) / "record.json"
    with (out / "release.json").open("a") as file:
        file.write(spaces)
    digest = hashlib.sha256((out / "release.json").read_bytes()).hexdigest()
    record.write_text(replace(read_record(record), release_digest=digest).to_json() + spaces)
    assert verify(out).described
    assert read_record(record).release_digest == digest
    with pytest.raises(ReleaseError, match="has more than 67,108,864 bytes"):
        read_description(out)


def test_a_release_that_was_moved_has_tables_but_no_record(out: Path) -> None:
    (out.parent / "web").mkdir()
    moved = out.rename(out.parent / "web" / "rel")
    release = open_release(moved)
    assert release.table("1").num_rows
    with pytest.raises(ReleaseError, match=r"rel has no rel.curator/record.json next to it\. Only the curator"):
        _ = release.record
    with pytest.raises(ReleaseError, match="no stored true counts"):
        release.exact("1")


def test_a_curators_folder_that_may_not_be_read_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: Path, flags: int) -> int:
        if path.name == "record.json":
            raise PermissionError(13, os.strerror(13))
        return opened(path, flags)

    monkeypatch.setattr(os, "open", refuse)
    what = r"has next to it a rel.curator/record.json that cannot be read \(Permission denied\)\. Only the curator"
    with pytest.raises(ReleaseError, match=what):
        _ = open_release(out).record


@pytest.mark.parametrize(
    ("text", "message"), [(b"\xff\xfe", "is not text in UTF-8"), (b"{", "is not JSON"), (b"{}", "is not a record")]
)
def test_a_record_that_is_damaged_is_told(out: Path, text: bytes, message: str) -> None:
    (out.with_name("rel.curator") / "record.json").write_bytes(text)
    with pytest.raises(RecordFileError, match=message):
        _ = open_release(out).record


@pytest.mark.parametrize("other", [{"variance": 3}, {"tables": ["1"]}])
def test_the_record_of_another_release_is_not_taken_for_its_own(out: Path, other: dict[str, Any]) -> None:
    make(out=out.parent / "other", **other)
    shutil.rmtree(out.with_name("rel.curator"))
    out.with_name("other.curator").rename(out.with_name("rel.curator"))
    with pytest.raises(ReleaseError, match=r"rel and rel.curator/record.json next to it belong to different releases"):
        _ = open_release(out).record


def test_a_record_written_by_hand_need_not_hold_the_programme(out: Path) -> None:
    path = out.with_name("rel.curator") / "record.json"
    content = json.loads(path.read_text())
    del content["definition"]
    path.write_text(json.dumps(content))
    assert open_release(out).record.definition is None
