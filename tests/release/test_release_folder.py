"""Folders of a release: whole or not there at all, whatever goes wrong, and nobody else's files are touched."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.errors import FileExistsAlreadyError, FileWriteError, LockedError
from discreet.limits import MAX_DEPTH, MAX_DIGITS
from discreet.records.secret import keyed_digest
from discreet.release import atomic_move
from discreet.release import release_folder as folder_module
from discreet.release.release_folder import Staging, check_free, curator_folder, recover, stage
from discreet.release.run_journal import alone, hold, note
from discreet.release.table_files import TableFile
from tests.each import each
from tests.protection.town import SECRET
from tests.quick import rows_in
from tests.release.crashes import Disk, Failing, KilledError
from tests.release.small_release import make as make_release

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

OLD, NEW = "old", "new"


def about(mark: str = NEW) -> dict[str, object]:
    """Return the description of a release with one table."""
    return {"mark": mark, "files": [{"file": "tables/1.csv"}]}


def make(out: Path, mark: str = NEW, *, replace: bool = False, exact: bool = False) -> None:
    """Make a release whose files all say the same."""
    with stage(out, replace=replace) as staging:
        (staging.tables / "1.csv").write_text(mark)
        if exact:
            staging.exact.mkdir()
            (staging.exact / "1.csv").write_text(mark)
        staging.finish(about(mark), json.dumps({"mark": mark}))


def found(out: Path) -> tuple[str, ...] | None:
    """Return what the files of a release say, None if neither folder is there."""
    curator = out.with_name(f"{out.name}.curator")
    if not out.exists() and not curator.exists():
        return None
    descriptions = [json.loads(path.read_text())["mark"] for path in (out / "release.json", curator / "record.json")]
    return (*descriptions, (out / "tables" / "1.csv").read_text())


def hidden(parent: Path) -> list[str]:
    return [path.name for path in parent.iterdir() if path.name.startswith(".")]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "rel"


@pytest.fixture(params=[0o022, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


# --- What is made ---


def test_the_public_folder_has_ordinary_modes_and_the_curators_is_private(out: Path, umask: int) -> None:
    with stage(out, replace=False) as staging:
        assert mode(staging.folder) == 0o700
        assert staging.folder.parent == out.parent
        assert not out.exists()
        (staging.tables / "1.csv").write_text(NEW)
        staging.exact.mkdir()
        (staging.exact / "1.csv").write_text(NEW)
        staging.finish(about(), '{"mark": "new"}')
    assert [mode(out), mode(out / "tables")] == [0o777 & ~umask] * 2
    assert [mode(out / "release.json"), mode(out / "tables" / "1.csv")] == [0o666 & ~umask] * 2
    curator = curator_folder(out)
    assert [mode(curator), mode(curator / "exact")] == [0o700] * 2
    assert [mode(curator / "record.json"), mode(curator / "exact" / "1.csv")] == [0o600] * 2
    assert sorted(path.name for path in out.rglob("*")) == ["1.csv", "release.json", "tables"]
    assert hidden(out.parent) == []


@pytest.mark.parametrize(
    "error", [OSError(errno.EPIPE, "somebody else's pipe"), KeyboardInterrupt(), MemoryError(), ValueError("of a user")]
)
@pytest.mark.parametrize("replace", [False, True])
def test_an_error_on_the_way_leaves_nothing_and_is_told_as_it_is(
    out: Path, error: BaseException, replace: bool
) -> None:
    if replace:
        make(out, OLD)

    def fail() -> None:
        with stage(out, replace=replace) as staging:
            (staging.tables / "1.csv").write_text(NEW)
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert found(out) == ((OLD,) * 3 if replace else None)
    assert hidden(out.parent) == []


def test_a_release_that_was_never_finished_is_not_there(out: Path) -> None:
    with stage(out, replace=False) as staging:
        (staging.tables / "1.csv").write_text(NEW)
    assert list(out.parent.iterdir()) == []


# --- Where it is made ---


@each("given", ["rel", "rel/", "./rel", "sub/../rel", "rel[1]*", "a b", "-x", ".hidden", "ä", "x" * 230])
def test_any_name_beside_anything_will_do(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    place = Path(given)
    with stage(place, replace=False) as staging:
        # The folder is meant as it was at the start.
        monkeypatch.chdir(tmp_path / "sub")
        (staging.tables / "1.csv").write_text(NEW)
        staging.finish(about(), '{"mark": "new"}')
    assert found(tmp_path / place.name) == (NEW,) * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([place.name, f"{place.name}.curator", "sub"])


@each(
    ("given", "message"),
    [
        (".", "a release needs a folder name"),
        ("", "a release needs a folder name"),
        ("..", "a release needs a folder name"),
        ("rel/..", "a release needs a folder name"),
        ("/", "a release needs a folder name"),
        ("nowhere/rel", "nowhere/rel cannot be written: its folder does not exist. Create the folder"),
        ("file/rel", "file/rel cannot be written: its folder does not exist"),
        ("x" * 250, "File name too long"),
        ("x" * 300 + "/rel", "File name too long"),
        ("file", "file cannot be written: it exists already and is a link or a file. Nothing was replaced"),
        ("link", "link cannot be written: it exists already and is a link or a file"),
        ("nothing", "nothing cannot be written: it exists already and is a link or a file"),
        ("folder", r"folder cannot be written: it exists already and is not a release \(it contains no release.json\)"),
        (
            "half",
            r"half.curator cannot be written: it exists already and is not a release \(it contains no record.json\)",
        ),
    ],
)
@each("replace", [False, True])
def test_places_that_cannot_be_are_refused_and_left_alone(
    given: str, message: str, replace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for name in ("folder", "half.curator"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    make(tmp_path / "linked", OLD)
    (tmp_path / "link").symlink_to("linked")
    (tmp_path / "nothing").symlink_to("gone")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileWriteError, match=message), stage(Path(given), replace=replace):
        pytest.fail("nothing is to be made here")
    assert sorted(tmp_path.rglob("*")) == before
    assert found(tmp_path / "linked") == (OLD,) * 3


def test_an_empty_folder_is_free(out: Path) -> None:
    out.mkdir(mode=0o700)
    curator_folder(out).mkdir()
    make(out)
    assert found(out) == (NEW,) * 3
    assert mode(curator_folder(out)) == 0o700


def test_a_folder_that_may_not_be_written_is_refused_at_once(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_where: object) -> str:
        raise PermissionError(errno.EACCES, "a long text of the library")

    monkeypatch.setattr(os, "mkdir", refuse)
    with (
        pytest.raises(FileWriteError, match=r"rel cannot be written: Permission denied\. Check"),
        stage(out, replace=False),
    ):
        pytest.fail("nothing is to be made here")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only_is_refused(out: Path) -> None:
    out.parent.chmod(0o500)
    with pytest.raises(FileWriteError, match="Permission denied"):
        make(out)
    out.parent.chmod(0o700)


# --- Replacing ---


def test_a_release_is_replaced_only_when_that_was_asked_for(out: Path) -> None:
    make(out, OLD)
    with pytest.raises(FileExistsAlreadyError, match=r"rel exists already and was not changed\. .* --replace"):
        make(out, NEW)
    assert found(out) == (OLD,) * 3
    make(out, NEW, replace=True)
    assert found(out) == (NEW,) * 3
    assert sorted(path.name for path in out.parent.iterdir()) == ["rel", "rel.curator"]


@pytest.mark.parametrize("gone", ["rel", "rel.curator"])
def test_half_a_release_counts_as_one(out: Path, gone: str) -> None:
    make(out, OLD)
    (out.parent / gone).rename(out.parent / "elsewhere")
    with pytest.raises(FileExistsAlreadyError):
        make(out, NEW)
    make(out, NEW, replace=True)
    assert found(out) == (NEW,) * 3


def test_the_same_release_again_is_put_in_place_all_the_same(out: Path) -> None:
    make(out, NEW)
    (out / "tables" / "1.csv").write_text("damaged")
    make(out, NEW, replace=True, exact=True)
    assert found(out) == (NEW,) * 3
    assert (curator_folder(out) / "exact" / "1.csv").exists()
    make(out, NEW, replace=True)
    assert not (curator_folder(out) / "exact").exists()
    assert hidden(out.parent) == []


OTHERS = {
    "rel/notes.txt": "notes.txt", "rel/.htaccess": ".htaccess", "rel/.git/HEAD": ".git",
    "rel/tables/README.txt": "tables/README.txt", "rel/tables/.DS_Store": "tables/.DS_Store",
    "rel/tables/2.csv": "tables/2.csv", "rel/tables/inner/1.csv": "tables/inner", "rel.curator/notes.txt": "notes.txt",
    "rel.curator/.git/HEAD": ".git", "rel.curator/exact/mine.xlsx": "exact/mine.xlsx",
    "rel.curator/exact/2.csv": "exact/2.csv", "rel.curator/tables/1.csv": "tables",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
@pytest.mark.parametrize("name", OTHERS)
def test_what_the_old_release_does_not_list_is_never_removed(out: Path, name: str, kind: str) -> None:
    make(out, OLD, exact=True)
    other = out.parent / name
    other.parent.mkdir(exist_ok=True)
    if kind == "link":
        other.symlink_to("nowhere")
    elif kind == "folder":
        other.mkdir()
    else:
        other.touch()
    with pytest.raises(FileWriteError, match=rf"does not list \({re.escape(OTHERS[name])}\)\. .* Move them elsewhere"):
        make(out, NEW, replace=True)
    assert found(out) == (OLD,) * 3
    assert os.path.lexists(other)
    assert hidden(out.parent) == []


def test_a_link_or_a_folder_in_the_place_of_a_listed_file_is_not_removed(out: Path) -> None:
    make(out, OLD, exact=True)
    table, true = out / "tables" / "1.csv", curator_folder(out) / "exact" / "1.csv"
    table.unlink()
    table.mkdir()
    true.unlink()
    true.symlink_to(out.parent / "elsewhere")
    for place, name in ((out, "tables/1.csv"), (curator_folder(out), "exact/1.csv")):
        with pytest.raises(FileWriteError, match=rf"{place} cannot be written: .* does not list \({name}\)"):
            make(out, NEW, replace=True)
        if place == out:
            table.rmdir()
    assert true.is_symlink()


def test_a_release_that_lists_nothing_keeps_its_tables(out: Path) -> None:
    whole = '{"files": [{"file": "tables/1.csv"}], "more": %s}'
    beyond = [whole % more for more in ("9" * (MAX_DIGITS + 1), "[" * MAX_DEPTH + "]" * MAX_DEPTH)]
    for text in ("", "[]", "{}", '{"files": 5}', '{"files": [5]}', '{"files": [{"file": 5}]}', "[" * 10**5, *beyond):
        make(out, OLD)
        (out / "release.json").write_text(text)
        with pytest.raises(FileWriteError, match=r"rel/release\.json does not list \(tables/1\.csv\)"):
            make(out, NEW, replace=True)
        assert (out / "tables" / "1.csv").read_text() == OLD
        for name in ("rel", "rel.curator"):
            shutil.rmtree(out.with_name(name))


def test_a_refusal_names_the_first_few_and_the_rest_can_be_moved(out: Path) -> None:
    make(out, OLD)
    others = [out / name for name in ("a", "b", "c", "d", "e")]
    for path in others:
        path.touch()
    with pytest.raises(FileWriteError, match=r"does not list \(a, b, c and more\)"):
        check_free(out, replace=True)
    for path in others:
        path.rename(out.parent / path.name)
    make(out, NEW, replace=True)
    assert found(out) == (NEW,) * 3


def test_what_comes_into_the_release_while_the_new_one_is_made_is_kept_too(out: Path) -> None:
    make(out, OLD)
    with stage(out, replace=True) as staging:
        (staging.tables / "1.csv").write_text(NEW)
        (out / ".htaccess").write_text("mine")
        with pytest.raises(FileWriteError, match=r"does not list \(\.htaccess\)"):
            staging.finish(about(), '{"mark": "new"}')
    assert (out / ".htaccess").read_text() == "mine"
    assert found(out) == (OLD,) * 3


def test_what_comes_into_the_release_after_a_kill_is_kept_too(out: Path) -> None:
    make(out, OLD)
    left = killed(out, 1, replace=True)
    (out / ".htaccess").write_text("mine")
    recover(out)
    assert (out / ".htaccess").read_text() == "mine"
    assert left.exists()
    (out / ".htaccess").unlink()
    recover(out)
    assert found(out) == (NEW,) * 3


# --- Failing at every step there is ---


def run(out: Path, failing: Failing, action: str, *, one_step: bool) -> None:
    """Make a release, or clear up after one, on a system that fails."""
    with pytest.MonkeyPatch.context() as patch:
        failing.install(patch, one_step=one_step)
        if action == "recover":
            recover(out)
        else:
            make(out, NEW, replace=out.exists(), exact=True)


def steps(out: Path, action: str, *, one_step: bool) -> int:
    counting = Failing()
    run(out, counting, action, one_step=one_step)
    return counting.steps


@each("one_step", [True, False])
@each("replace", [True, False], every=2)
def test_a_kill_at_any_step_leaves_the_old_release_or_the_new_one(
    tmp_path: Path, replace: bool, one_step: bool
) -> None:
    before = (OLD,) * 3 if replace else None
    seen = set()
    total = steps(_start(tmp_path / "count", replace=replace), "make", one_step=one_step)
    assert total > 10
    for at in range(total):
        out = _start(tmp_path / str(at), replace=replace)
        with pytest.raises(KilledError):
            run(out, Failing(at=at), "make", one_step=one_step)
        recover(out)
        seen.add(found(out))
        assert found(out) in {before, (NEW,) * 3}
        assert hidden(out.parent) == []
        make(out, "next", replace=out.exists())
        assert found(out) == ("next",) * 3
        assert sorted(path.name for path in out.parent.iterdir()) == ["rel", "rel.curator"]
    assert seen == {before, (NEW,) * 3}


@pytest.mark.parametrize(("one_step", "every", "least"), rows_in(3, [(True, 3, 6), (True, 1, 20), (False, 1, 20)]))
def test_a_kill_while_clearing_up_after_a_kill_is_made_good_too(
    tmp_path: Path, one_step: bool, every: int, least: int
) -> None:
    total = steps(_start(tmp_path / "count", replace=True), "make", one_step=one_step)
    kills = 0
    for at in range(0, total, every):
        for again in range(100):
            out = _start(tmp_path / f"{at}-{again}", replace=True)
            with pytest.raises(KilledError):
                run(out, Failing(at=at), "make", one_step=one_step)
            if not list(out.parent.glob(".rel.making-*/complete.json")):
                # Nothing is to be moved, so clearing up is no more than to remove things.
                break
            try:
                run(out, Failing(at=again), "recover", one_step=one_step)
            except KilledError:
                kills += 1
            else:
                break
            recover(out)
            assert found(out) in {(OLD,) * 3, (NEW,) * 3}
            assert hidden(out.parent) == []
    assert kills > least


@each("one_step", [True, False], every=2)
@each("replace", [False, True])
def test_an_interrupt_at_any_step_leaves_the_old_release_or_the_new_one_at_once(
    tmp_path: Path, replace: bool, one_step: bool
) -> None:
    before = (OLD,) * 3 if replace else None
    total = steps(_start(tmp_path / "count", replace=replace), "make", one_step=one_step)
    for at in range(total):
        out = _start(tmp_path / str(at), replace=replace)
        failing = Failing(KeyboardInterrupt(), at=at, lasting=False)
        with pytest.raises(KeyboardInterrupt):
            run(out, failing, "make", one_step=one_step)
        assert found(out) in {before, (NEW,) * 3}
        recover(out)
        assert hidden(out.parent) == []


@each("one_step", [True, False], every=2)
@each("replace", [False, True])
@each("lasting", [True, False])
def test_a_full_disk_at_any_step_is_told_and_leaves_the_old_release(
    tmp_path: Path, replace: bool, one_step: bool, lasting: bool
) -> None:
    before = (OLD,) * 3 if replace else None
    told = 0
    total = steps(_start(tmp_path / "count", replace=replace), "make", one_step=one_step)
    for at in range(total):
        out = _start(tmp_path / str(at), replace=replace)
        error = OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")
        said = _refusal(out, Failing(error, at=at, lasting=lasting), one_step=one_step)
        told += said == f"{out} cannot be written: No space left on device. Check the folder and the free space."
        if lasting:
            # Nothing could be undone or removed either, until the disk works again.
            recover(out)
            assert found(out) in {before, (NEW,) * 3}
        else:
            assert found(out) == (before if said else (NEW,) * 3)
        recover(out)
        assert hidden(out.parent) == []
    assert told > 5


def _refusal(out: Path, failing: Failing, *, one_step: bool) -> str:
    try:
        run(out, failing, "make", one_step=one_step)
    except (FileWriteError, OSError) as error:
        # The table is written by whoever makes the release, who turns the error into ours.
        return str(error)
    return ""


def _start(folder: Path, *, replace: bool) -> Path:
    folder.mkdir()
    if replace:
        make(folder / "rel", OLD)
    return folder / "rel"


@each("one_step", [True, False])
@each("replace", [False, True])
@each("early", [True, False], every=2)
def test_a_power_cut_at_any_step_leaves_the_old_release_or_the_new_one(
    tmp_path: Path, replace: bool, early: bool, one_step: bool
) -> None:
    folder, before = tmp_path / "disk", (OLD,) * 3 if replace else None
    disk, seen = Disk(folder), list[tuple[str, ...] | None]()

    def cut() -> None:
        copy = tmp_path / f"cut-{len(seen)}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "cut", lambda: None)
            disk.left(copy, early=early)
            recover(copy / "rel")
        seen.append(found(copy / "rel"))

    with pytest.MonkeyPatch.context() as patch:
        disk.install(patch, one_step=one_step)
        out = _start(folder, replace=replace)
        patch.setattr(disk, "cut", cut)
        make(out, NEW, replace=replace, exact=True)
        # The run reports success.
        cut()
    disk.close()
    assert seen[-1] == (NEW,) * 3
    assert set(seen) == {before, (NEW,) * 3}
    assert len(seen) > 20


# --- Runs side by side ---


def test_a_run_leaves_the_folder_of_another_alone_and_who_comes_second_is_refused(out: Path) -> None:
    with stage(out, replace=False) as second:
        (second.tables / "1.csv").write_text("second")
        with stage(out, replace=False) as first:
            recover(out)
            assert second.folder.exists()
            (first.tables / "1.csv").write_text(NEW)
            first.finish(about(), '{"mark": "new"}')
        assert second.folder.exists()
        with pytest.raises(FileExistsAlreadyError):
            second.finish(about("second"), '{"mark": "second"}')
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


@pytest.mark.parametrize("replace", [False, True])
def test_of_many_runs_at_once_one_wins_whole(out: Path, replace: bool) -> None:
    def one(number: int) -> bool:
        try:
            make(out, str(number), replace=replace)
        except FileExistsAlreadyError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(one, range(40)))
    assert sum(won) == (40 if replace else 1)
    marks = found(out)
    assert marks
    assert len(set(marks)) == 1
    assert won[int(marks[0])]
    assert hidden(out.parent) == []


def test_the_last_step_waits_for_whoever_is_at_work_beside_it(out: Path) -> None:
    with ThreadPoolExecutor(1) as pool, stage(out, replace=False) as staging:
        (staging.tables / "1.csv").write_text(NEW)
        with alone(out.parent):
            finishing = pool.submit(staging.finish, about(), '{"mark": "new"}')
            with pytest.raises(TimeoutError):
                finishing.result(timeout=0.3)
            assert found(out) is None
        finishing.result()
    assert found(out) == (NEW,) * 3


@pytest.mark.parametrize("replace", [False, True])
def test_no_table_is_read_while_others_wait(out: Path, replace: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if replace:
        make(out, OLD)
    read, free, digest = [], [], hashlib.file_digest

    def watched(file: BufferedReader, name: str) -> object:
        read.append(file.name)
        with suppress(LockedError), alone(out.parent, 0):
            free.append(file.name)
        return digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", watched)
    make(out, NEW, replace=replace)
    assert read == free
    assert {Path(name).name for name in read} == {"1.csv", "release.json", "record.json"}
    assert found(out) == (NEW,) * 3


def test_looking_for_leftovers_waits_too(out: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        with alone(out.parent):
            assert pool.submit(recover, out).result(timeout=10) is None
        left = killed(out, 0)
        with alone(out.parent):
            looking = pool.submit(recover, out)
            with pytest.raises(TimeoutError):
                looking.result(timeout=0.3)
            assert left.exists()
        looking.result()
    assert found(out) == (NEW,) * 3


def test_a_run_that_waits_in_vain_at_its_end_publishes_nothing_and_keeps_its_tables(out: Path) -> None:
    make(out, OLD)

    def wait() -> None:
        with stage(out, replace=True, lock_timeout=0.05) as staging:
            staging.begin("the run", SECRET, resume=False)
            note_table(staging)
            with alone(out.parent):
                staging.finish(about(), '{"mark": "new"}')

    with pytest.raises(LockedError):
        wait()
    assert found(out) == (OLD,) * 3
    assert go_on(out) == ["1"]
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


def test_a_run_that_has_published_does_not_fail_because_it_cannot_clear_up(out: Path) -> None:
    make(out, OLD)
    with ExitStack() as other:
        with stage(out, replace=True, lock_timeout=0.05) as staging:
            (staging.tables / "1.csv").write_text(NEW)
            staging.finish(about(), '{"mark": "new"}')
            # Another run has the lock before this one ends, and keeps it.
            other.enter_context(alone(out.parent))
        assert found(out) == (NEW,) * 3
    recover(out)
    assert hidden(out.parent) == []


# --- Clearing up after others ---


def killed(out: Path, moved: int, mark: str = NEW, *, replace: bool = False) -> Path:
    """Leave what a run leaves that is killed when so many parts are in place; return its hidden folder."""
    before, put = set(hidden(out.parent)), atomic_move._put  # noqa: SLF001 - one call of it moves one part
    calls: list[Path] = []

    def cut_short(new: Path, place: Path) -> None:
        if len(calls) == moved:
            raise KilledError
        calls.append(place)
        put(new, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic_move, "_put", cut_short)
        with pytest.raises(KilledError):
            make(out, mark, replace=replace)
    (left,) = set(hidden(out.parent)) - before
    return out.parent / left


@pytest.mark.parametrize("replace", [False, True])
def test_a_run_killed_between_its_moves_is_finished_by_the_next_look(out: Path, replace: bool) -> None:
    if replace:
        make(out, OLD)
    killed(out, 1, replace=replace)
    assert json.loads((curator_folder(out) / "record.json").read_text())["mark"] == NEW
    assert out.exists() == replace
    recover(out)
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


def promise_as_before(left: Path, out: Path) -> None:
    """Write the promise of a hidden folder as an earlier version did: by sizes, and the bytes of descriptions alone."""
    parts = {}
    for part, place in (("curator", curator_folder(out)), ("public", out)):
        # What has moved is in its place.
        folder = (
            place
            if part == "curator" and json.loads((place / "record.json").read_text())["mark"] == NEW
            else left / part
        )
        digest = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(json.dumps([path.relative_to(folder).as_posix(), path.stat().st_size]).encode())
            if path.suffix == ".json":
                digest.update(path.read_bytes())
        parts[part] = digest.hexdigest()
    (left / "complete.json").write_text(json.dumps({"replace": True, "parts": parts}))


@pytest.mark.parametrize("moved", [0, 1])
def test_a_run_of_an_earlier_version_killed_between_its_moves_is_finished_too(out: Path, moved: int) -> None:
    make(out, OLD)
    left = killed(out, moved, replace=True)
    promise_as_before(left, out)
    recover(out)
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


@pytest.mark.parametrize("moved", [0, 1])
@pytest.mark.parametrize("spelt", ["rel", ".", "link", "sub/../rel"])
def test_a_release_is_found_under_any_of_its_names(
    out: Path, moved: int, spelt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(out, OLD)
    killed(out, moved, replace=True)
    (out.parent / "link").symlink_to("rel")
    (out.parent / "sub").mkdir()
    monkeypatch.chdir(out if spelt == "." else out.parent)
    recover(Path(spelt))
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


def test_a_run_finishes_what_another_left_before_it_takes_the_place(out: Path) -> None:
    make(out, OLD)
    with stage(out, replace=True) as staging:
        killed(out, 1, "killed", replace=True)
        (staging.tables / "1.csv").write_text(NEW)
        staging.finish(about(), '{"mark": "new"}')
    assert found(out) == (NEW,) * 3
    recover(out)
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


def test_a_killed_run_that_must_not_replace_does_not(out: Path) -> None:
    left = killed(out, 0, "killed")
    make(out.parent / "other", OLD)
    (out.parent / "other").rename(out)
    (out.parent / "other.curator").rename(curator_folder(out))
    recover(out)
    assert found(out) == (OLD,) * 3
    assert left.exists()
    make(out, NEW, replace=True)
    # It has been overtaken and must not come back.
    assert not left.exists()
    assert found(out) == (NEW,) * 3


@pytest.mark.slow
@pytest.mark.parametrize("moved", [0, 1])
def test_of_two_killed_runs_no_halves_are_put_together(tmp_path: Path, moved: int) -> None:
    """One run is killed while another is at work, which is killed in its turn, at every step of its end."""

    def end(out: Path, failing: Failing) -> None:
        with pytest.MonkeyPatch.context() as patch, stage(out, replace=True) as staging:
            killed(out, moved, "killed", replace=True)
            (staging.tables / "1.csv").write_text(NEW)
            failing.install(patch, one_step=True)
            staging.finish(about(), '{"mark": "new"}')

    for at in range(100):
        out = _start(tmp_path / str(at), replace=True)
        try:
            end(out, Failing(at=at))
        except KilledError:
            recover(out)
            assert found(out) in {("killed",) * 3, (NEW,) * 3}
            assert hidden(out.parent) == []
        else:
            assert at > 10
            assert found(out) == (NEW,) * 3
            return
    pytest.fail("it never ends")


@pytest.mark.slow
def test_of_a_run_that_was_half_dropped_no_half_comes_back(tmp_path: Path) -> None:
    """A killed run waits because its place was taken; one that replaces what is there is killed while dropping it."""
    total = steps(_start(tmp_path / "count", replace=True), "make", one_step=True)
    for at in range(total + 5):
        out = tmp_path / str(at) / "rel"
        out.parent.mkdir()
        killed(out, 0, "killed")
        make(out.with_name("other"), OLD)
        for name in ("", ".curator"):
            out.with_name(f"other{name}").rename(out.with_name(f"rel{name}"))
        with pytest.raises(KilledError):
            run(out, Failing(at=at), "make", one_step=True)
        recover(out)
        assert found(out) in {(OLD,) * 3, (NEW,) * 3}
        for name in ("rel", "rel.curator"):
            shutil.rmtree(out.with_name(name))
        recover(out)
        assert found(out) in {None, ("killed",) * 3}


def test_what_a_user_put_in_the_place_is_never_moved_away(out: Path) -> None:
    make(out, OLD)
    left = killed(out, 1, replace=True)
    out.rename(out.parent / "published")
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    recover(out)
    assert (out / "mine.txt").read_text() == "mine"
    assert left.exists()
    (out / "mine.txt").unlink()
    recover(out)
    assert found(out) == (NEW,) * 3


def test_folders_of_longer_names_and_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, longer, odd = tmp_path / "rel", tmp_path / "rel.making-00000000", tmp_path / "r.l"
    kept = {killed(place, 0) for place in (longer, odd)}
    (tmp_path / ".rel.making-notours").mkdir()
    (tmp_path / ".rel.making-12345678").symlink_to("sub", target_is_directory=True)
    mine = tmp_path / ".rel.making-abcdef12"
    mine.mkdir()
    (mine / "mine.txt").write_text("mine")
    strange = killed(out, 0)
    recover(odd.with_name("r.."))
    recover(tmp_path / "...")
    assert strange.exists()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    recover(out)
    assert strange.exists()
    monkeypatch.undo()
    recover(out)
    assert found(out) == (NEW,) * 3
    assert not strange.exists()
    assert all(left.exists() for left in kept)
    assert (mine / "mine.txt").exists()
    assert (tmp_path / ".rel.making-12345678").is_symlink()
    assert not longer.exists()


def test_a_promise_cut_short_or_made_of_nonsense_is_none(out: Path) -> None:
    for text in ("", "{", "[]", "5", '{"parts": {}}'):
        left = killed(out, 0)
        (left / "complete.json").write_text(text)
        recover(out)
        assert not left.exists()
        assert found(out) is None


def test_parts_that_are_not_as_promised_are_not_moved(out: Path) -> None:
    left = killed(out, 0)
    # As after a power cut: the folder is there, the bytes of its files are not.
    (left / "public" / "tables" / "1.csv").write_text("")
    (left / "curator" / "record.json").write_text("")
    recover(out)
    assert found(out) is None
    assert hidden(out.parent) == []


def test_if_a_part_is_damaged_when_the_other_has_moved_the_old_parts_are_kept(out: Path) -> None:
    make(out, OLD)
    left = killed(out, 1, replace=True)
    (left / "public" / "tables" / "1.csv").write_text("")
    recover(out)
    assert json.loads((out / "release.json").read_text())["mark"] == OLD
    assert json.loads((left / "curator" / "record.json").read_text())["mark"] == OLD
    make(out, NEW, replace=True)
    assert found(out) == (NEW,) * 3
    assert hidden(out.parent) == []


def test_who_may_not_list_or_write_the_folder_goes_on(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(out, OLD)
    left = killed(out, 1, replace=True)

    def refuse(*_paths: object, **_how: object) -> None:
        raise PermissionError(errno.EACCES, "no")

    with monkeypatch.context() as patch:
        for name in ("rename", "unlink", "rmdir"):
            patch.setattr(os, name, refuse)
        patch.setattr("discreet.release.atomic_move._in_one_step", lambda _new, _old: False)
        recover(out)
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        recover(out)
    assert left.exists()
    recover(out)
    assert found(out) == (NEW,) * 3


@each("given", ["nowhere/rel", "x" * 300, "/", "rel", "\0"])
def test_looking_for_leftovers_never_fails(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recover(Path(given))
    assert list(tmp_path.iterdir()) == []


def test_the_curators_folder_stands_beside_what_a_link_points_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "rel")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "latest").symlink_to(tmp_path / "rel")
    monkeypatch.chdir(tmp_path / "rel" / "tables")
    for spelt in (Path(".."), tmp_path / "sub" / "latest", Path("../../rel")):
        assert curator_folder(spelt).samefile(tmp_path / "rel.curator")
    assert curator_folder(Path("rel")) == Path("rel.curator")


def test_a_place_is_checked_without_being_touched(out: Path) -> None:
    check_free(out, replace=False)
    assert list(out.parent.iterdir()) == []


# --- Going on from a run that was cut short ---


def note_table(staging: Staging, mark: str = NEW) -> None:
    """Write a table and note that it is finished."""
    (staging.tables / "1.csv").write_text(mark)
    staging.exact.mkdir()
    (staging.exact / "1.csv").write_text(mark)
    digest = hashlib.sha256(mark.encode()).hexdigest()
    note(staging.folder, TableFile("1", "tables/1.csv", 1, len(mark), digest), keyed_digest(digest, SECRET))


def go_on(out: Path, mark: str = NEW, *, run: str = "the run") -> list[str]:
    """Make a release as a run does that may be resumed; return the tables that were there already."""
    with stage(out, replace=True, resume=True) as staging:
        done = staging.begin(run, SECRET, resume=True)
        if not done:
            note_table(staging, mark)
        staging.finish(about(mark), json.dumps({"mark": mark}))
    return [table.id for table in done]


def killed_going_on(out: Path, at: int | None, *, one_step: bool = True) -> int:
    """Go on, and fail for good at a step; return how many steps there were."""
    failing = Failing(at=at)
    with pytest.MonkeyPatch.context() as patch:
        failing.install(patch, one_step=one_step)
        go_on(out)
    return failing.steps


@pytest.mark.slow
@each("one_step", [True, False])
@each("replace", [False, True])
def test_a_kill_at_any_step_of_a_run_that_may_be_resumed_can_be_resumed(
    tmp_path: Path, replace: bool, one_step: bool
) -> None:
    before = (OLD,) * 3 if replace else None
    seen, ended_run = set(), 0
    total = killed_going_on(_start(tmp_path / "count", replace=replace), None, one_step=one_step)
    for at in range(total):
        out = _start(tmp_path / str(at), replace=replace)
        with pytest.raises(KilledError):
            killed_going_on(out, at, one_step=one_step)
        recover(out)
        seen.add(found(out))
        assert found(out) in {before, (NEW,) * 3}
        ended_run += bool(go_on(out))
        assert found(out) == (NEW,) * 3
        assert (curator_folder(out) / "exact" / "1.csv").read_text() == NEW
        assert sorted(path.name for path in out.parent.iterdir()) == ["rel", "rel.curator"]
    assert seen == {before, (NEW,) * 3}
    assert ended_run > 1


def test_a_kill_while_tables_are_taken_over_loses_none_that_is_whole(tmp_path: Path) -> None:
    """A first run is killed at its end, a second at every step of taking over and ending."""
    wait = killed_going_on(_start(tmp_path / "count", replace=False), None)
    first = next(step for step in range(wait) if _leaves_a_journal(tmp_path / f"first-{step}", step))
    resumed = 0
    for at in range(wait + 20):
        out = _start(tmp_path / str(at), replace=False)
        with pytest.raises(KilledError):
            killed_going_on(out, first)
        try:
            killed_going_on(out, at)
        except KilledError:
            resumed += bool(go_on(out))
        assert found(out) == (NEW,) * 3
        assert sorted(path.name for path in out.parent.iterdir()) == ["rel", "rel.curator"]
    assert resumed > 5


def _leaves_a_journal(folder: Path, step: int) -> bool:
    """Say whether a run that is killed at this step has a table noted."""
    out = _start(folder, replace=False)
    with pytest.raises(KilledError):
        killed_going_on(out, step)
    journals = list(out.parent.glob(".rel.making-*/journal.jsonl"))
    return any(len(journal.read_text().splitlines()) > 1 for journal in journals)


def cut_short(out: Path) -> Path:
    """Leave a run with one table; return its hidden folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_make_private", _killed)
        with pytest.raises(KilledError):
            go_on(out)
    (left,) = hidden(out.parent)
    return out.parent / left


def _killed(*_given: object) -> None:
    raise KilledError


def test_unfinished_tables_are_kept_until_a_release_is_in_place(out: Path) -> None:
    left = cut_short(out)
    recover(out)
    assert left.exists()
    with stage(out, replace=True):
        # A run that makes all tables anew may still fail.
        assert left.exists()
    make(out)
    assert hidden(out.parent) == []
    assert not left.exists()
    assert found(out) == (NEW,) * 3


def test_tables_of_another_run_are_removed_and_not_taken_over(out: Path) -> None:
    left = cut_short(out)
    assert go_on(out, "other", run="another run") == []
    assert not left.exists()
    assert found(out) == ("other",) * 3


def test_tables_of_a_run_at_work_are_neither_taken_nor_removed(out: Path) -> None:
    with stage(out, replace=True, resume=True) as first:
        first.begin("the run", SECRET, resume=True)
        (first.tables / "1.csv").write_text(NEW)
        digest = hashlib.sha256(NEW.encode()).hexdigest()
        note(first.folder, TableFile("1", "tables/1.csv", 1, 3, digest), None)
        with stage(out, replace=True, resume=True) as second:
            assert second.begin("the run", SECRET, resume=True) == []
            assert (first.tables / "1.csv").exists()
        first.finish(about(), '{"mark": "new"}')
    assert found(out) == (NEW,) * 3


def test_tables_of_other_users_are_not_taken_over(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = cut_short(out)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert go_on(out, "mine") == []
    assert left.exists()


def test_the_journal_is_not_part_of_a_release(out: Path) -> None:
    assert go_on(out) == []
    assert list(out.parent.rglob("journal.jsonl")) == []


def test_an_interrupt_just_when_the_lock_is_had_leaves_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the lock is there, but its descriptor has not reached the run yet."""

    def interrupted(path: Path) -> int:
        os.close(hold(path))
        raise KeyboardInterrupt

    monkeypatch.setattr(folder_module, "hold", interrupted)
    with pytest.raises(KeyboardInterrupt), stage(out, replace=False):
        pass
    assert list(out.parent.iterdir()) == []


def test_a_hidden_folder_of_that_very_name_is_left_alone(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0815")
    other = out.with_name(f".{out.name}.making-0815")
    other.mkdir()
    (other / "theirs").touch()
    with pytest.raises(FileWriteError), stage(out, replace=False):
        pass
    assert (other / "theirs").exists()


def test_a_page_of_somebody_else_in_an_inner_folder_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "rel"
    make_release(out=out)
    (out / "tables" / "README.md").write_text("mine")
    with pytest.raises(FileWriteError, match=r"does not list \(tables/README\.md\)"):
        make_release(out=out, replace=True)
    assert (out / "tables" / "README.md").read_text() == "mine"
