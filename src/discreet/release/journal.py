"""Which tables of a run are finished, written down as it goes, so that a run after a kill need not make them again.

The first line says which run it is: a digest of the data, the programme, the noise and everything else that the tables
depend on. Every other line is a finished table. A line that a kill cut short is no line.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from discreet.errors import UnreadableFileError
from discreet.limits import bounded_json, read_bounded
from discreet.release.table_files import TableFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOURNAL = "journal.jsonl"


def begin(folder: Path, run: str) -> None:
    """Write the first line."""
    (folder / JOURNAL).write_text(json.dumps({"run": run}) + "\n", encoding="utf-8")


def note(folder: Path, table: TableFile, exact: str | None) -> None:
    """Add a finished table, and the digest of its true counts if they are kept."""
    with (folder / JOURNAL).open("a", encoding="utf-8") as file:
        file.write(json.dumps({**table.to_json(), "content": table.content, "exact": exact}) + "\n")


def finished(folder: Path, run: str) -> Iterator[tuple[TableFile, str | None]]:
    """Give the tables that a run finished, none if it is another run."""
    lines = _lines(folder / JOURNAL)
    if next(lines, {}).get("run") != run:
        return
    for line in lines:
        try:
            table = TableFile(
                line["id"], line["file"], line["rows"], line["bytes"], line["sha256"], line.get("content", "")
            )
            exact = line["exact"]
        except KeyError:
            return
        yield table, exact


def count_finished(folder: Path) -> int:
    """Return how many tables a run finished."""
    return max(len(list(_lines(folder / JOURNAL))) - 1, 0)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = read_bounded(path).decode("utf-8")
    except (OSError, UnicodeDecodeError, UnreadableFileError):
        return
    for line in text.splitlines():
        try:
            content = bounded_json(line, path)
        except UnreadableFileError:
            return
        if not isinstance(content, dict):
            return
        yield content


def is_as_noted(path: Path, sha256: str) -> bool:
    """Say whether a file is there with this digest."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
