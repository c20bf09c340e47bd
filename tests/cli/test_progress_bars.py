"""Progress: bars on a terminal and nowhere else, a log without numbers of records."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from discreet.cli.progress_bars import ProgressBars
from discreet.errors import FileWriteError, InputError
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDS, TABLES = 7919, 3
FLAGS = ("--programme", "town.toml", "--variance", "3", "--bound", "5", "--id", "PERSON_ID")
SECRET = ("--secret-file", "office.secret")


def all_stages(stages: ProgressBars, total: int | None = RECORDS) -> None:
    """Tell what a run tells: reading, then the three stages that run side by side."""
    stages("reading", RECORDS // 2, total)
    stages("reading", RECORDS, total)
    for table in range(1, TABLES + 1):
        for stage in ("counting", "noise", "writing"):
            stages(stage, table, TABLES)


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


# --- The log ---


@pytest.mark.parametrize("total", [RECORDS, None], ids=["Parquet tells its records", "CSV does not"])
def test_the_log_has_a_line_per_stage_and_no_number_of_records(tmp_path: Path, total: int | None) -> None:
    with ProgressBars(shown=False, log=tmp_path / "log") as stages:
        all_stages(stages, total)
    found = lines(tmp_path / "log")
    assert [line["event"] for line in found] == ["start", "reading", "counting", "noise", "writing", "done"]
    assert [line.get("tables") for line in found] == [None, None, TABLES, TABLES, TABLES, None]
    assert {key for line in found for key in line} == {"event", "seconds", "tables"}
    seconds = [line["seconds"] for line in found]
    assert seconds == sorted(seconds)
    assert str(RECORDS) not in (tmp_path / "log").read_text()


def test_a_log_is_added_to(tmp_path: Path) -> None:
    for _ in range(2):
        with ProgressBars(shown=False, log=tmp_path / "log"):
            pass
    assert [line["event"] for line in lines(tmp_path / "log")] == ["start", "done"] * 2


def test_a_failure_is_logged_by_its_kind_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError), ProgressBars(shown=False, log=tmp_path / "log"):
        raise InputError("7919 records are wrong")
    assert lines(tmp_path / "log")[-1] | {"seconds": 0} == {"event": "failed", "seconds": 0, "error": "InputError"}


@pytest.mark.parametrize("content", ["PERSON_ID,SEX\n1,F\n", "0f" * 32, "\n", "PAR1"])
def test_what_is_no_log_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    (tmp_path / "log").write_text(content)
    with (
        pytest.raises(FileWriteError, match=r"log cannot be written: it contains something other than a log\. Choose"),
        ProgressBars(shown=False, log=tmp_path / "log"),
    ):
        pass
    assert (tmp_path / "log").read_text() == content


def test_an_empty_file_may_become_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with ProgressBars(shown=False, log=tmp_path / "log"):
        pass
    assert len(lines(tmp_path / "log")) == 2


def test_a_log_that_cannot_be_begun_is_refused_before_any_work(tmp_path: Path) -> None:
    with (
        pytest.raises(FileWriteError, match=r"cannot be written: Is a directory\. Choose another log\."),
        ProgressBars(shown=False, log=tmp_path),
    ):
        raise AssertionError


def test_a_log_that_breaks_off_does_not_stop_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProgressBars(shown=False, log=tmp_path / "log") as stages:
        stages("reading", RECORDS, RECORDS)
        monkeypatch.setattr(Path, "open", _full(Path.open, "log"))
        stages("counting", TABLES, TABLES)
        stages("writing", TABLES, TABLES)
    assert stages.warnings == [f"The log {tmp_path / 'log'} could not be written to its end: No space left on device."]
    monkeypatch.undo()
    assert [line["event"] for line in lines(tmp_path / "log")] == ["start", "reading"]


def test_a_broken_log_is_told_as_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    town.make(tmp_path)
    run = town.command(tmp_path, monkeypatch, capsys)
    note = ProgressBars._note  # noqa: SLF001

    def breaking(stages: ProgressBars, event: str, **more: object) -> None:
        if event == "counting":
            monkeypatch.setattr(Path, "open", _full(Path.open, "log"))
        note(stages, event, **more)

    monkeypatch.setattr(ProgressBars, "_note", breaking)
    done = run("protect", "town.csv", *FLAGS, *SECRET, "--out", "out", "--log", "log")
    assert done.code == 0, done.err
    assert "Warning: The log log could not be written to its end: No space left on device." in done.out
    assert (tmp_path / "out" / "release.json").exists()


def _full(as_usual: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a way to open files that finds the disk full for one of them."""

    def full(path: Path, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - what open takes and gives
        if path.name == name:
            raise OSError(28, "No space left on device")
        return as_usual(path, *given, **named)

    return full


# --- Bars ---


def shown(run: Callable[[ProgressBars], None], monkeypatch: pytest.MonkeyPatch, *, wanted: bool = True) -> str:
    """Return what a terminal of 100 columns shows, without its colours and movements."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBars(shown=wanted) as stages:
        run(stages)
        if stages._bars:  # noqa: SLF001
            stages._bars.refresh()  # noqa: SLF001
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())


def test_a_bar_shows_how_many_how_fast_and_how_long_still(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(stages: ProgressBars) -> None:
        stages("reading", RECORDS // 2, RECORDS)

    text = shown(half, monkeypatch)
    done = rf"{RECORDS // 2:,} of {RECORDS:,}, [\d,]+ records/s"
    assert re.search(rf"reading +\S+ {done} left (\d+:\d\d:\d\d|-:--:--)", text)


def test_every_stage_has_a_bar_and_none_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for total in (RECORDS, None):
        last = shown(partial(all_stages, total=total), monkeypatch)
        assert f"{RECORDS:,} of {RECORDS:,}" in last
        for stage in ("counting", "noise", "writing"):
            assert re.search(rf"{stage} +\S+ +{TABLES} of {TABLES}", last)


def test_no_bar_without_a_terminal_or_if_not_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressBars(shown=True) as stages:
        all_stages(stages)
    assert capsys.readouterr() == ("", "")
    assert shown(all_stages, monkeypatch, wanted=False) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("flags", "bars"), [((), True), pytest.param(("--quiet",), False, marks=pytest.mark.slow)])
def test_protect_shows_bars_on_a_terminal_and_keeps_its_output_clean(
    tmp_path: Path, flags: tuple[str, ...], bars: bool
) -> None:
    import pty

    town.make(tmp_path)
    ours, theirs = pty.openpty()
    script = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        [script, "protect", "town.csv", *FLAGS, *SECRET, "--out", "out", "--json", *flags],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 4096):
            written += piece
    except OSError:
        pass  # The other end is closed: everything has been read.
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())
    assert bool(re.search(rf"reading +\S+ {town.PERSONS} of {town.PERSONS} left +\d+:\d\d:\d\d", text)) is bars
    assert (text == "") is not bars
    assert json.loads(done.stdout)["read"]["records"] == town.PERSONS
