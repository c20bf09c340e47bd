"""What goes wrong on the way from records to a release: one clear message, and nothing half written."""

from __future__ import annotations

import os
import shutil
import signal
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from discreet.cli import main as command
from discreet.errors import DataFileError, FileWriteError
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release import release_writer as shelves
from tests.journeys.disturbed import (
    FEW,
    MANY,
    SECRET,
    arguments,
    check_pair,
    ended,
    furnish,
    left,
    put_old,
    run,
    run_here,
    start,
    working,
)
from tests.journeys.full_disk import POINTS, can_mount, fill
from tests.journeys.kills import AT_THE_END, KILLS, kill_replacing, kill_resuming
from tests.journeys.power_cut import TIMES, can_loop, cut_power
from tests.journeys.shrinking import FORMS, shrink
from tests.journeys.shrinking import PERSONS as MANY_PERSONS
from tests.journeys.shrinking import POINTS as CUTS
from tests.journeys.spilling import PERSONS as MORE_PERSONS
from tests.journeys.spilling import spill
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.release.table_files import TableFile

LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))\n"


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make up 3,000 persons for all tests."""
    return furnish(tmp_path_factory.mktemp("people")) / "people.parquet"


@pytest.fixture(scope="session")
def earlier(people: Path) -> Path:
    """Make a release once; tests that need an old one have a copy."""
    assert run(people.parent, arguments(variance=2)) == (0, "")
    return people.parent


@pytest.fixture
def office(people: Path, tmp_path: Path) -> Path:
    """Return a folder with the persons and a folder for temporary files."""
    shutil.copy(people, tmp_path / "people.parquet")
    (tmp_path / "spill").mkdir()
    return tmp_path


@pytest.fixture(params=["an old release", pytest.param("nothing yet", marks=pytest.mark.slow)])
def old(request: pytest.FixtureRequest, office: Path, earlier: Path) -> list[str]:
    """Put an old release in the place or leave it empty; return the flags that a run then needs."""
    if request.param == "nothing yet":
        return []
    put_old(office, earlier)
    return ["--replace"]


def check_as_before(office: Path, old: list[str]) -> None:
    """Check that nothing is there but what was there before."""
    assert left(office) == (["rel", "rel.curator"] if old else [])
    if old:
        assert check_pair(office / "rel") == 2


def release(office: Path, **how: Any) -> None:  # noqa: ANN401 - as in protect
    """Make the release without the command."""
    mechanism = CellKey(PTable.max_entropy(variance=3, bound=5), secret=SECRET.encode())
    protect(office / "people.parquet", "eu2021:LU", mechanism, out=office / "rel", id="PERSON_ID", tables=[FEW], **how)


# --- Data ---


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.parquet", None, "missing.parquet cannot be read: No such file or directory. Check the path."),
        ("empty.parquet", b"", "empty.parquet is empty."),
        ("empty.csv", b"", "empty.csv is empty."),
        ("noise.parquet", b"PAR1 but no more", "noise.parquet is not a Parquet file, or it is damaged."),
        ("header.csv", b"PERSON_ID,SEX\n", "header.csv has no column for topic"),
        ("people.txt", b"PERSON_ID,SEX\n", "people.txt has an unsupported extension"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(office: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (office / name).write_bytes(content)
    code, errors = run_here(office, arguments(name))
    assert code == 2
    assert errors.startswith(f"error: {message}")
    assert errors.count("\n") == 1
    assert left(office) == ([name] if content is not None else [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_named(office: Path) -> None:
    (office / "people.parquet").chmod(0)
    code, errors = run_here(office, arguments())
    assert (code, errors) == (2, "error: people.parquet cannot be read: Permission denied. Check the path.\n")


def test_a_file_cut_in_the_middle_is_named(office: Path) -> None:
    data = (office / "people.parquet").read_bytes()
    (office / "people.parquet").write_bytes(data[: len(data) // 2])
    code, errors = run_here(office, arguments())
    assert code == 2
    assert errors.startswith("error: people.parquet is not a Parquet file, or it is damaged.")
    assert left(office) == []


def test_a_column_that_is_missing_is_told_with_its_tables_and_what_looks_close(office: Path) -> None:
    table = pq.read_table(office / "people.parquet")
    renamed = ["Sex" if name == "SEX" else name for name in table.column_names]
    pq.write_table(table.rename_columns(renamed), office / "people.parquet")
    code, errors = run_here(office, arguments())
    assert code == 2
    for words in (
        "no column for topic SEX",
        "used by 4 tables (1.1, 1.2, 1.3, ..)",
        "Similar columns: Sex.",
        "--tables",
    ):
        assert words in errors
    assert errors.count("\n") == 1
    assert left(office) == []


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


def replace(path: Path) -> None:
    other = path.with_name("other.parquet")
    shutil.copy2(path, other)
    other.rename(path)


def rewrite(path: Path) -> None:
    path.write_bytes(path.read_bytes())


CHANGES = list(product(["reading", "counting", "writing"], [append, replace, rewrite, Path.unlink]))


# Of those in every run the first appends while records are read; the others replace and rewrite later on.
@pytest.mark.parametrize("stage_and_change", one_in(5, CHANGES))
def test_a_file_that_changes_during_the_run_is_refused(
    office: Path, stage_and_change: tuple[str, Callable[[Path], None]], old: list[str]
) -> None:
    stage, change = stage_and_change
    data = office / "people.parquet"
    seen: list[str] = []

    def meddle(now: str, _done: int, _total: int | None) -> None:
        if now == stage and not seen:
            seen.append(now)
            change(data)

    with pytest.raises(DataFileError, match=r"people\.parquet (changed while it was in use|cannot be read)"):
        release(office, progress=meddle, replace=bool(old))
    assert seen
    check_as_before(office, old)


# --- The disk ---


@pytest.mark.slow
@pytest.mark.parametrize("limit", one_in(3, [10_000, 1_000, 22_000]))
def test_a_disk_that_is_full_is_told_and_nothing_is_half_written(office: Path, limit: int, old: list[str]) -> None:
    """The limits let no table pass, then the tables but not release.json, then all but record.json."""
    code, errors = run(office, arguments("people.parquet", *old), LIMITED.format(limit))
    assert code == 2
    assert errors.startswith("error: ")
    assert errors.endswith("rel cannot be written: File too large. Check the folder and the free space.\n")
    assert errors.count("\n") == 1
    check_as_before(office, old)


def test_the_limits_above_stop_where_they_should(earlier: Path) -> None:
    files = [path for path in earlier.rglob("*.*") if path.is_file()]
    sizes = {path.relative_to(earlier).as_posix(): path.stat().st_size for path in files}
    tables = [size for name, size in sizes.items() if name.startswith("rel/tables")]
    assert min(tables) > 1_000
    assert max(tables) < 10_000 < sizes["rel/release.json"] < 22_000 < sizes["rel.curator/record.json"]


def test_a_disk_without_space_is_told(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> TableFile:
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr(shelves, "write_table", full)
    with pytest.raises(FileWriteError, match=r"rel cannot be written: No space left on device\. Check the folder"):
        release(office)
    assert left(office) == []


@pytest.mark.parametrize("place", one_in(2, ["nowhere", "people.parquet/spill"]))
def test_a_folder_for_temporary_files_that_is_not_there_is_told(office: Path, place: str) -> None:
    code, errors = run(office, arguments(), TMPDIR=str(office / place))
    assert code == 2
    assert errors.startswith("error: The engine stopped at creating its folder for temporary files:")
    assert f"{place} does not exist or is not writable. Set TMPDIR" in errors
    assert errors.count("\n") == 1
    assert left(office) == []


@pytest.mark.parametrize("out", [".", "people.parquet", "nowhere/rel", "spill/..", "x" * 260])
def test_a_place_that_cannot_be_is_told_before_any_work(office: Path, out: str) -> None:
    begin = time.perf_counter()
    code, errors = run_here(office, [*arguments(tables=MANY), "--out", out])
    assert code == 2
    assert "cannot be written" in errors
    assert errors.count("\n") == 1
    assert left(office) == []
    assert time.perf_counter() - begin < 60


# --- Signals ---


@pytest.mark.parametrize(
    ("number", "tables"),
    [
        pytest.param(signal.SIGINT, 0, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 1, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 20, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 0, marks=pytest.mark.slow),
        (signal.SIGTERM, 1),
        pytest.param(signal.SIGTERM, 20, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_told_to_end_leaves_nothing(
    office: Path, number: signal.Signals, tables: int, old: list[str]
) -> None:
    """The run is told when it has its hidden folder, when the first table is written, and among the tables."""
    process = start(office, arguments("people.parquet", *old, tables=MANY))
    hidden = working(process, office)
    while len(list(hidden.glob("public/tables/*"))) < tables:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    code, errors = ended(process)
    assert errors == ("\nInterrupted. Nothing was written.\n" if number == signal.SIGINT else "")
    assert code == 128 + number
    check_as_before(office, old)


def test_a_terminal_that_is_closed_ends_a_run_too(office: Path) -> None:
    process = start(office, arguments(tables=MANY))
    working(process, office)
    process.send_signal(signal.SIGHUP)
    assert ended(process) == (128 + signal.SIGHUP, "")
    assert left(office) == []


@pytest.mark.parametrize(
    "number_and_turned",
    one_in(
        5,
        product(
            [signal.SIGINT, signal.SIGTERM],
            ["RuntimeError('Query interrupted')", "ImportError('half')", "SystemExit(1)"],
        ),
    ),
)
def test_an_interrupt_that_a_library_turns_into_something_else_is_still_one(
    office: Path, number_and_turned: tuple[signal.Signals, str]
) -> None:
    number, turned = number_and_turned
    given = f"""
import os, signal
from discreet.cli import main as command
def app():
    try:
        os.kill(os.getpid(), {int(number)})
        signal.pause()
    except BaseException:
        raise {turned}
command.app = app
"""
    message = "\nInterrupted. Nothing was written.\n" if number == signal.SIGINT else ""
    assert run(office, [], given) == (128 + number, message)


def test_running_out_of_memory_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(command, "app", fail)
    monkeypatch.setattr(signal, "signal", lambda *_given: None)
    with pytest.raises(SystemExit) as caught:
        command.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == "error: There is not enough memory. Free some, or do less at a time.\n"


# --- Two runs at once, and runs cut short ---


@pytest.mark.slow
def test_of_two_runs_at_once_the_second_to_finish_is_refused(office: Path) -> None:
    processes = [start(office, arguments(variance=variance)) for variance in (2, 3)]
    codes, errors = zip(*[ended(process) for process in processes], strict=True)
    assert sorted(codes) == [0, 2]
    assert "exists already and was not changed" in errors[codes.index(2)]
    assert check_pair(office / "rel") == (2, 3)[codes.index(0)]
    assert left(office) == ["rel", "rel.curator"]


@pytest.mark.slow
def test_a_release_cut_short_between_its_moves_is_put_in_place_by_assess(office: Path, old: list[str]) -> None:
    out = office / "rel"
    # Stopped between the two moves, as by a kill: nothing is cleared up.
    assert run(office, arguments("people.parquet", *old), STOP)[0] == 9
    (hidden,) = office.glob(".rel.making-*")
    assert sorted(path.name for path in hidden.iterdir()) == [
        "complete.json",
        *["curator"] * bool(old),
        "lock",
        "public",
    ]
    assert out.exists() == bool(old)
    assert out.with_name("rel.curator").exists()
    assert run(office, ["assess", "rel", "--measures", "redundancy"]) == (0, "")
    assert check_pair(out) == 3
    assert [name for name in left(office) if not name.startswith("spill/")] == ["rel", "rel.curator"]


STOP = """
import os
from discreet.release import atomic_move as moves
put, calls = moves._put, []
def cut(new, place):
    if calls:
        os._exit(9)
    calls.append(place)
    put(new, place)
moves._put = cut
"""


# --- What takes long: docs/results/faults.md has the figures ---


@pytest.mark.slow
def test_kills_at_any_moment_of_replacing_leave_the_old_release_or_the_new_one(office: Path) -> None:
    found = kill_replacing(office)
    print(f"\n{found}")  # noqa: T201
    assert found.hit >= KILLS // 2
    assert found.before >= KILLS // AT_THE_END
    assert found.after + found.complete > 0
    assert found.between > 0


@pytest.mark.slow
def test_kills_at_any_moment_can_be_resumed_until_the_release_is_there(office: Path) -> None:
    found = kill_resuming(office)
    print(f"\n{found}")  # noqa: T201
    assert found.hit >= KILLS // 2
    assert found.before > 0
    assert found.after + found.complete > 0
    assert found.resumed > KILLS


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="only root may mount a small file system")
def test_a_disk_that_is_full_at_any_point_leaves_the_old_release_or_none(office: Path, earlier: Path) -> None:
    *full, enough = fill(office, earlier)
    assert [(point.code, point.there) for point in full] == [(2, "nothing")] * POINTS + [(2, "old")] * POINTS
    assert (enough.code, enough.there) == (0, "new")


@pytest.mark.slow
@pytest.mark.skipif(not (can_mount() and can_loop()), reason="only root may mount the image of a disk")
def test_a_power_cut_right_after_success_leaves_the_new_release(office: Path, earlier: Path) -> None:
    assert [(cut.code, cut.there, cut.empty) for cut in cut_power(office, earlier)] == [(0, "new", 0)] * TIMES


@pytest.mark.slow
def test_input_that_is_cut_short_while_it_is_read_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    found = shrink(furnish(tmp_path, persons=MANY_PERSONS))
    print("\n" + "\n".join(map(str, found)))  # noqa: T201
    assert len(found) == len(FORMS) * len(CUTS)
    assert {point.code for point in found} == {2}


@pytest.mark.slow
def test_data_larger_than_the_memory_allowed_go_to_a_private_folder_and_give_the_same_release(tmp_path: Path) -> None:
    free, limited = spill(furnish(tmp_path, persons=MORE_PERSONS))
    print(f"\n{free}\n{limited}")  # noqa: T201
    assert free.spilled == 0
    assert limited.spilled > 1_000_000
