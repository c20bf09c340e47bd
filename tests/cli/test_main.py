"""The command itself: version, unknown verbs, closed pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet import __version__
from discreet.cli import main
from tests.cli import town

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def discreet(process: Run) -> Run:
    """Return the command in a process of its own: here that is what is looked at."""
    return process


def test_version(discreet: Run) -> None:
    assert discreet("--version").stdout == f"discreet {__version__}\n"


@pytest.fixture
def within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> town.Command:
    return town.command(tmp_path, monkeypatch, capsys)


def test_an_unknown_verb_suggests_the_nearest(within: town.Command) -> None:
    done = within("ptabel")
    assert done.code == 2
    assert "ptable" in done.err.replace("ptabel", "")


def test_no_arguments_show_the_verbs(within: town.Command) -> None:
    done = within()
    text = done.out + done.err
    assert "ptable" in text
    assert "demo" in text


@pytest.mark.slow
def test_a_closed_pipe_is_no_error() -> None:
    script = Path(sys.executable).with_name("discreet")
    command = f"'{script}' ptable --variance 400 --bound 100 --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)  # noqa: S607
    assert done.stdout == "{\n"
    assert done.stderr == ""


# --- What a terminal or a script can do to a command ---

EARLY = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from discreet.cli.start import main
main()
"""


def test_a_ctrl_c_while_libraries_load_prints_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize(
    ("closed", "code"),
    [(">&-", 2), ("2>&-", 0), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("<&-", 0), (">&- 2>&-", 2)))],
)
def test_closed_streams_end_in_no_trace(closed: str, code: int) -> None:
    script = Path(sys.executable).with_name("discreet")
    ended = subprocess.run(
        ["/bin/sh", "-c", f'"{script}" programme show eu2021:LU {closed}'], capture_output=True, check=False, timeout=60
    )
    assert ended.returncode == code
    expected = b"error: Standard output is closed. Send it to a file, or to /dev/null.\n"
    assert ended.stderr == (expected if closed == ">&-" else b"")


@pytest.mark.parametrize(
    "arguments",
    [["assess", "\udcff.toml"], pytest.param(["protect", "\udce9.parquet", "--out", "x"], marks=pytest.mark.slow)],
)
def test_a_path_that_is_not_utf8_is_refused(discreet: Run, arguments: list[str]) -> None:
    ended = discreet(*arguments)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"error: The argument {next(a for a in arguments if not a.isascii())!a} is not text in UTF-8. "
        "Rename the file or folder, and start again.\n"
    )


@pytest.mark.parametrize(
    ("text", "encoding", "path"),
    [("/data/\udcff/x.csv", "utf-8", True), ("a \ud800", "utf-8", False), ("\u20ac", "latin-1", False)],
)
def test_text_that_cannot_be_encoded_is_a_path_only_if_the_system_gave_it(
    text: str, encoding: str, path: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["discreet", "assess", "--json"])
    monkeypatch.setattr(main, "_listen", list)
    monkeypatch.setattr(main, "app", lambda: text.encode(encoding))
    with pytest.raises(SystemExit) as ended:
        main.main()
    shown = capsys.readouterr()
    message = json.loads(shown.out)["error"]["message"]
    assert ended.value.code == 2
    assert shown.err == f"error: {message}\n"
    assert ("file or folder" in message) is path
    assert text not in message


def test_a_folder_that_is_not_utf8_is_refused_or_works(tmp_path: Path) -> None:
    place = tmp_path / "\udcff"
    place.mkdir()
    (place / "x.toml").write_text("name = 'x'")
    script = Path(sys.executable).with_name("discreet")
    ended = subprocess.run([script, "programme", "show", "x.toml"], cwd=place, capture_output=True, check=False)
    assert ended.returncode in {0, 2}
    assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["ptable", "--variance", "x" * 5_000, "--bound", "5"],
        ["ptable", "--variance", "9" * 5_000, "--bound", "5"],
        ["x" * 5_000],
        [f"--{'x' * 5_000}"],
        ["programme", "show", "x" * 200 + "/" + "y z" * 1_000 + ".toml"],
        ["protect", "x.csv", "--out", "out", "--law", "x y " * 1_000],
        ["protect", "x.csv", "--out", "out", "--json", "--mechanism", "x" * 5_000],
    ],
    ids=range(7),
)
def test_messages_show_at_most_200_characters_of_an_argument(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = town.command(tmp_path, monkeypatch, capsys)(*arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert "x" * 201 not in ended.err + ended.out
    assert len(ended.err) < 2_000


@pytest.mark.slow
def test_so_do_those_of_a_process_of_its_own(discreet: Run) -> None:
    ended = discreet("programme", "show", "eu2021:" + "x" * 5_000)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "x" * 201 not in ended.stderr + ended.stdout
    assert len(ended.stderr) < 2_000


MANY = ("protect", "x.csv", "--programme", "eu2021:LU", "--out", "rel", "--threads")


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_threads_beyond_any_machine_are_refused(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = town.command(tmp_path, monkeypatch, capsys)(*MANY, str(threads))
    assert ended.code == 2
    assert "threads must be a whole number from 1 to 1,024" in ended.err
    assert not (tmp_path / "rel").exists()


@pytest.mark.slow
def test_very_many_threads_are_refused_in_a_process_of_its_own(discreet: Run, tmp_path: Path) -> None:
    ended = discreet(*MANY, "99999999")
    assert ended.returncode == 2
    assert "threads must be a whole number from 1 to 1,024" in ended.stderr
    assert not (tmp_path / "rel").exists()
