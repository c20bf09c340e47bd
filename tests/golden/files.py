"""What is stored of a file: its content where people can read it, else a digest; of a page or picture what it says."""

from __future__ import annotations

import hashlib
import html
import json
import re
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from tests.golden.plain import plain, plain_value

if TYPE_CHECKING:
    from pathlib import Path

Files = dict[str, Any]

MOST_LINES = 250
"""A text of more lines is a digest."""
TABLES = ("tables", "exact")
"""Folders whose files are digests: not a byte of them may change."""
LIBRARY = 5_000
"""A script of more characters is a library's."""

ELEMENT = re.compile(r"<(script|style|svg)\b([^>]*)>(.*?)</\1>", re.DOTALL)
LABEL = re.compile(r'aria-label="([^"]*)"|<text[^>]*>([^<]*)<')
DATASET = re.compile(r'"name": ?"(data-[0-9a-f]{32})"')
IDENTITY = re.compile(r'id="([^"]*)"')


def described(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> Files:
    """Return what is stored of every file that was made, changed or removed in a folder."""
    found: Files = {}
    for name in sorted({*before, *after}):
        if name not in after:
            found[name] = "removed"
        elif before.get(name) != after[name]:
            path = folder / name
            private = " (private)" if stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 else ""
            found[name + private] = _content(PurePosixPath(name), after[name], folder)
    return found


def _content(name: PurePosixPath, content: bytes, folder: Path) -> object:
    """Return what is stored of one file."""
    if name.suffix == ".secret":
        return f"{len(content)} bytes"
    if name.suffix == ".png":
        return f"{int.from_bytes(content[16:20])} x {int.from_bytes(content[20:24])} pixels"
    if name.suffix in {".parquet", ".gz"} or name.parent.name in TABLES:
        return _digest(content)
    return _text(name.suffix, content.decode(), folder)


def _text(suffix: str, text: str, folder: Path) -> object:
    """Return what is stored of a file that is text."""
    if suffix == ".json":
        return plain_value(_shorter(json.loads(text)), folder)
    if suffix == ".html":
        return _page(plain(text, folder))
    if suffix == ".svg":
        return [html.unescape(label or words) for label, words in LABEL.findall(text)]
    if suffix == ".log":
        return [plain_value({**json.loads(line), "seconds": {}}, folder) for line in text.splitlines()]
    lines = plain(text, folder).splitlines()
    return lines if len(lines) <= MOST_LINES else f"{len(lines)} lines, {_digest(text.encode())}"


def _shorter(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with a digest for its programme, which the release has in full."""
    if not record.get("definition"):
        return record
    return {**record, "definition": _digest(json.dumps(record["definition"], sort_keys=True).encode())}


def _digest(content: bytes) -> str:
    return f"sha256 {hashlib.sha256(content).hexdigest()}"


def _chart(text: str) -> dict[str, Any]:
    """Return what a chart is drawn from; its data have names by their order instead of digests of all their digits."""
    for number, name in enumerate(dict.fromkeys(DATASET.findall(text)), 1):
        text = text.replace(name, f"data-{number}")
    found: dict[str, Any] = json.loads(text)
    return found


def _page(text: str) -> dict[str, object]:
    """Return the lines of a page, what its charts are drawn from, and its own scripts and styles.

    Pictures within it are left out, for they are drawn from the same charts, and so are libraries.
    """
    charts: dict[str, Any] = {}
    own: list[str] = []

    def taken(match: re.Match[str]) -> str:
        kind, attributes, body = match.groups()
        identity = IDENTITY.search(attributes)
        if "application/json" in attributes and identity:
            charts[identity[1]] = _chart(body)
        elif kind == "style":
            own.append(_digest(body.encode()))
        elif kind == "script" and len(body) < LIBRARY:
            own.extend(body.splitlines())
        return f"<{kind}/>"

    lines = ELEMENT.sub(taken, text).splitlines()
    found = {"lines": [line for line in lines if line.strip()], "charts": charts, "own": own}
    # What all charts look like is told once.
    looks = [chart.pop("config", None) for chart in charts.values()]
    return {**found, "looks": [look for number, look in enumerate(looks) if look not in looks[:number]]}
