"""Keep the documents up to date: run their examples and update their output.

In *.md and docs/**/*.md two kinds of fenced block are run, in order, in one
temporary folder and one Python namespace per document:

- a `console` block: each line `$ discreet ...` is run, continued after a final
  backslash, and the lines below it are its output. A command that is meant to
  fail has its exit code as the last line: `[exit 2]`.
- a `python` block below the line `<!-- run -->`. A `text` block below the line `<!-- output -->` holds the output of
  the last such block.

The cells of docs/notebooks/*.ipynb are run in the same way, by nbclient; --check compares their text outputs.

With --check no file is written, and an outdated block gives exit code 1. Blocks run as a reader would run them: they
use the installed package and files that earlier blocks of the document wrote.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
LONGEST = "design.md"
"""The document whose examples take longest."""

# Commands run in a reduced environment: colour settings and secrets of the writer must not appear in documents.
KEPT = ("HOME", "LANG", "SYSTEMROOT", "TEMP", "TMPDIR", "USERPROFILE")
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
ENVIRONMENT = {name: os.environ[name] for name in KEPT if name in os.environ} | PLAIN | {"PATH": PATH}

# A longer fence around a block quotes the block: it is matched as one block and not run.
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
    """Raised if an example does not end as its document states."""


class Examples:
    """The examples of one document, with their shared namespace and the last output."""

    def __init__(self) -> None:
        self.namespace: dict[str, object] = {"__name__": "__main__"}
        self.printed = ""

    def block(self, match: re.Match[str]) -> str:
        """Return a fenced block with its current output."""
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
                f"`{command}` ended with exit code {code}, which the document does not state. "
                f"If this is intended, write [exit {code}] below it.\n{done.stdout}"
            )
        return f"$ {command}\n" + _tidy(done.stdout) + (f"[exit {code}]\n" if code else "")

    def python(self, body: str) -> str:
        """Run a Python block and return its output."""
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
    """Return a document's text with the current output of its examples."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(Examples().block, text)


def outdated(before: str, after: str) -> Iterator[int]:
    """Yield the line of every outdated block."""
    for old, new in zip(BLOCK.finditer(before), BLOCK.finditer(after), strict=True):
        if old["body"] != new["body"]:
            yield _line(old)


KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""The metadata of a notebook, without versions."""
STORED = ("image/svg+xml", "text/html", "text/plain")
"""The forms of an output that a notebook stores."""
MOST_SECONDS = 120
"""The time limit of one cell."""


def executed(text: str) -> str:
    """Return a notebook with the current outputs, the same text in every run: no times, no random ids, no versions."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from traitlets.config import Config

    notebook: Any = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as own:
        # Python paths are those of this process: the notebook uses the same package.
        paths = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        # Sockets are files of this user: other users of the machine cannot read them.
        sockets = Config({"KernelManager": {"transport": "ipc", "connection_file": f"{own}/kernel.json"}})
        place = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=MOST_SECONDS, record_timing=False, resources=place, config=sockets)
        try:
            client.execute(env=ENVIRONMENT | paths | {"IPYTHONDIR": own})
        except CellExecutionError as error:
            raise BrokenExampleError(f" a cell ended with {error.ename}: {error.evalue}") from error
    notebook.metadata = KERNEL
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{number}", {}
        for output in cell.get("outputs", ()):
            if "data" in output:
                output["data"] = {form: output["data"][form] for form in STORED if form in output["data"]}
                output["metadata"] = {}
    written: str = nbformat.writes(notebook, indent=1)  # type: ignore[no-untyped-call]
    return f"{written}\n"


def cell_texts(text: str) -> list[str]:
    """Return source and text outputs of every cell of a notebook; drawings are not compared."""
    return [
        json.dumps([cell["source"], [_shown(output) for output in cell.get("outputs", ())]])
        for cell in json.loads(text)["cells"]
    ]


def _shown(output: dict[str, Any]) -> object:
    return output.get("text") or [output["data"].get(form) for form in STORED[1:]]


def notebook_complaints(path: Path, *, check: bool) -> list[str]:
    """Update one notebook, or only check it; return the problems with their cells."""
    before = path.read_text(encoding="utf-8")
    try:
        after = executed(before)
    except BrokenExampleError as error:
        return [f"{path}:{error}"]
    if check:
        pairs = enumerate(zip(cell_texts(before), cell_texts(after), strict=True), start=1)
        stale = [number for number, (old, new) in pairs if old != new]
        return [f"{path}: cell {number} is out of date; run `make docs`." for number in stale]
    path.write_text(after, encoding="utf-8")
    return []


def complaints(path: Path, *, check: bool) -> list[str]:
    """Update one document, or only check it; return the problems with their lines."""
    if path.suffix == ".ipynb":
        return notebook_complaints(path, check=check)
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
    paths = options.documents or sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")])
    # The longest document first: no process waits for it at the end.
    paths = sorted(paths, key=lambda path: path.name != LONGEST)
    # Every document has its own folder and namespace, so that documents can run in parallel.
    with ProcessPoolExecutor() as pool:
        found = [text for texts in pool.map(partial(complaints, check=options.check), paths) for text in texts]
    print("\n".join(found) if found else f"{len(paths)} documents are up to date.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
