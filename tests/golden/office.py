"""A folder in which commands run, within this process: the same path, inputs, random bits and width every time."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tests.golden.files import Files, described
from tests.golden.plain import plain

ROOT = Path(__file__).parents[2]
INPUTS = (ROOT / "tests/golden/inputs", ROOT / "tests/data/formats", ROOT / "tests/data/sdmx")
SECRETS = "*.secret"
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
INTERRUPTED = 130

Words = Sequence[str]


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, what it printed, and the files that it made, changed or removed."""

    code: int
    out: str
    err: str
    files: Files


class Office:
    """A temporary folder for one command after the other, each on a fresh copy of what it needs.

    What other commands prepare is made once and kept. Every command sees the same path, since messages and records tell
    it, and the same random bits, since a secret and fresh noise are drawn from those of the system.
    """

    def __init__(self, folder: Path) -> None:
        self._desk = folder / "desk"
        self._shelf = folder / "shelf"
        self._prepared: dict[tuple[Words, ...], Path] = {}
        self._main = _entry()

    def done(self, command: Words, before: tuple[Words, ...] = ()) -> Done:
        """Return how a command ends after others, each of which must end well."""
        self._lay_out(before)
        earlier = _contents(self._desk)
        code, out, err = self._run(command)
        files = described(self._desk, earlier, _contents(self._desk))
        return Done(code, plain(out, self._desk), plain(err, self._desk), files)

    def _lay_out(self, before: tuple[Words, ...]) -> None:
        """Put the inputs and what the commands before make of them on the desk."""
        if before not in self._prepared:
            if not before:
                _clear(self._desk)
                for folder in INPUTS:
                    shutil.copytree(folder, self._desk, dirs_exist_ok=True)
                for secret in self._desk.glob(SECRETS):
                    secret.chmod(0o600)
            else:
                self._lay_out(before[:-1])
                code, out, err = self._run(before[-1])
                if code:
                    raise SystemExit(f"discreet {' '.join(before[-1])} ended with {code}:\n{out}{err}")
            self._prepared[before] = self._shelf / str(len(self._prepared))
            shutil.copytree(self._desk, self._prepared[before])
        else:
            _clear(self._desk)
            shutil.copytree(self._prepared[before], self._desk, dirs_exist_ok=True)

    def _run(self, command: Words) -> tuple[int, str, str]:
        """Return the exit code of a command and what it printed on both streams."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with _settled(self._desk), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _code(self._main, command)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code, _read(out), _read(err)


@contextlib.contextmanager
def office() -> Iterator[Office]:
    """Give an office in a temporary folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Office(Path(folder).resolve())


def _entry() -> Callable[[], object]:
    """Return the function that the command `discreet` runs, wherever it is at home."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["discreet"].partition(":")
    found: Callable[[], object] = getattr(importlib.import_module(module), name)
    return found


def _code(main: Callable[[], object], command: Words) -> int:
    """Return the exit code of a command; a fault is 1, with its kind and message on standard error."""
    # Help names the program, which is found by its arguments where the running module is no part of a package.
    program = mock.patch.object(sys.modules["__main__"], "__package__", "")
    with program, mock.patch.object(sys, "argv", ["discreet", *command]):
        try:
            if command[0] == "python":
                exec(command[1], {})  # noqa: S102 - our own
            else:
                main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception as fault:  # noqa: BLE001 - a fault is a result here, and the next case is run all the same
            print(f"{type(fault).__name__}: {fault}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


@contextlib.contextmanager
def _settled(folder: Path) -> Iterator[None]:
    """Run what follows in a folder, with nothing of this machine and its user to be seen."""
    bits = random.Random(2021)  # noqa: S311 - repeatable on purpose
    environment = {name: value for name, value in os.environ.items() if name != "DISCREET_SECRET"} | ENVIRONMENT
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(os, "urandom", bits.randbytes),
        # Nothing waits for the disk; a descriptor that is not open is still an error.
        mock.patch.object(os, "fsync", os.fstat),
    ):
        yield


def _read(stream: io.TextIOWrapper) -> str:
    """Return what was written to a stream."""
    stream.seek(0)
    return stream.read()


def _clear(folder: Path) -> None:
    """Leave an empty folder."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
