"""Keeps the documents true: runs their examples and writes down what they print.

In *.md and docs/**/*.md two kinds of fenced block are run, in order, in one
temporary folder and one Python namespace per document:

- a `console` block: each line `$ discreet ...` is run, continued after a final
  backslash, and the lines below it are its output. A command that is meant to
  fail has its exit code as the last line: `[exit 2]`.
- a `python` block below the line `<!-- run -->`; ROOT is the folder of the project. A `text` block below the line
  `<!-- output -->` holds what the last such block printed.

With --check nothing is written, and a block that is out of date ends in exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]

# A command knows little of the machine: a colour setting or a secret of the writer must not show.
KEPT = ("HOME", "LANG", "SYSTEMROOT", "TEMP", "TMPDIR", "USERPROFILE")
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
ENVIRONMENT = {name: os.environ[name] for name in KEPT if name in os.environ} | PLAIN | {"PATH": PATH}

# A longer fence around a block shows the block itself: it is matched as one and left alone.
BLOCK = re.compile(
    r"^(?P<head>(?:<!-- (?P<mark>run|output) -->\n\n?)?(?P<fence>`{3,})(?P<info>[^`\n]*)\n)"
    r"(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(
    r"^\$ (?P<command>discreet\b(?:[^\n]*\\\n)*[^\n]*)\n(?P<output>(?:(?!\$ )[^\n]*\n)*)", re.MULTILINE
)
EXIT = re.compile(r"^\[exit (\d+)\]$", re.MULTILINE)


class BrokenExampleError(Exception):
    """An example that does not end as its document says."""


class Examples:
    """The examples of one document and what they share: a namespace, and what was printed last."""

    def __init__(self) -> None:
        self.namespace: dict[str, object] = {"__name__": "__main__", "ROOT": ROOT}
        self.printed = ""

    def block(self, match: re.Match[str]) -> str:
        """Return a fenced block with its output as it is now."""
        kind, body = (match["mark"], match["info"].strip()), match["body"]
        try:
            if kind == (None, "console"):
                body = COMMAND.sub(self.command, body)
            elif kind == ("run", "python"):
                self.printed = self.python(body)
            elif kind == ("output", "text"):
                body = self.printed
        except BrokenExampleError as error:
            raise BrokenExampleError(f"{_line(match)}: {error}") from error
        return match["head"] + body + match["fence"]

    def command(self, match: re.Match[str]) -> str:
        """Run one command and return it with its output."""
        command = match["command"]
        done = run(command, shell=True, check=False, env=ENVIRONMENT, encoding="utf-8", stdout=PIPE, stderr=STDOUT)
        code, stated = done.returncode, EXIT.search(match["output"])
        if code != (int(stated[1]) if stated else 0):
            raise BrokenExampleError(
                f"`{command}` ended with exit code {code}, which the document does not say. "
                f"If that is meant, write [exit {code}] below it.\n{done.stdout}"
            )
        return f"$ {command}\n" + _tidy(done.stdout) + (f"[exit {code}]\n" if code else "")

    def python(self, body: str) -> str:
        """Run a Python block and return what it printed."""
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(body, "<example>", "exec", dont_inherit=True), self.namespace)  # noqa: S102 - our own
        except Exception as error:
            raise BrokenExampleError(f"the example ended with {type(error).__name__}: {error}") from error
        return _tidy(printed.getvalue())


def _tidy(output: str) -> str:
    return "".join(line.rstrip() + "\n" for line in output.rstrip().splitlines())


def _line(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start("fence")) + 1


def refreshed(text: str) -> str:
    """Return a document's text with the output of its examples as it is now."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(Examples().block, text)


def outdated(before: str, after: str) -> Iterator[int]:
    """Yield the line of every block that differs."""
    for old, new in zip(BLOCK.finditer(before), BLOCK.finditer(after), strict=True):
        if old["body"] != new["body"]:
            yield _line(old)


def complaints(path: Path, *, check: bool) -> list[str]:
    """Bring one document up to date, or only check it; return what is wrong and where."""
    before = path.read_text(encoding="utf-8")
    try:
        after = refreshed(before)
    except BrokenExampleError as error:
        return [f"{path}:{error}"]
    if check:
        return [f"{path}:{line}: this block is out of date; run `make docs`." for line in outdated(before, after)]
    path.write_text(after, encoding="utf-8")
    return []


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the examples in the documents.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if out of date")
    parser.add_argument("documents", nargs="*", type=Path, help="default: all")
    options = parser.parse_args()
    paths = options.documents or sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    # Every document has a folder and a namespace of its own, so that they can be run side by side.
    with ProcessPoolExecutor() as pool:
        found = [text for texts in pool.map(partial(complaints, check=options.check), paths) for text in texts]
    print("\n".join(found) if found else f"{len(paths)} documents are up to date.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
