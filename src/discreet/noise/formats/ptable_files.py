"""Reading and writing of p-table files: recognition of the format, gzip, and atomic replacement of a file."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ParameterError, PTableFileError, UnreadableFileError
from discreet.limits import read_named, unzipped
from discreet.noise.formats.ptable_format import FORMATS
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from discreet.noise.formats.ptable_format import PTableFormat
    from discreet.noise.ptable import PTable


def read_ptable(path: str | Path, format_name: str | None = None) -> PTable:
    """Return the p-table of a file; the format is recognised from its text unless it is given."""
    path = Path(path)
    try:
        return _read(path, format_name)
    except UnreadableFileError as error:
        raise PTableFileError.at(path, "", f"{error.what}.", "Give a p-table file.") from error


def _read(path: Path, format_name: str | None) -> PTable:
    text = _text(path)
    if not text.strip():
        raise PTableFileError.at(path, "", "the file is empty.", "Write it again with `discreet ptable --out`.")
    chosen = FORMATS.get(format_name) if format_name else _recognised(text, path)
    return chosen.read(text, path)


def _text(path: Path) -> str:
    try:
        data = read_named(path)
    except OSError as error:
        why = error.strerror or "unreadable"
        raise PTableFileError.at(path, "", f"cannot be read: {why}.", "Check the path.") from error
    try:
        if data[:2] == b"\x1f\x8b":
            data = unzipped(data, path)
        return data.decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise PTableFileError.at(
            path, "", "is not text in UTF-8 (or a damaged gzip file).", "Give a p-table file."
        ) from error


def _recognised(text: str, path: Path) -> PTableFormat:
    for candidate in FORMATS.all().values():
        if candidate.recognises(text):
            return candidate
    # The line itself is not shown: a file given by mistake may contain the secret or a record.
    layouts = "; ".join(f"{name}: {known.layout}" for name, known in FORMATS.all().items())
    raise PTableFileError.at(path, "line 1", "it does not match a known p-table format.", f"Known formats: {layouts}.")


def format_for(path: Path) -> str:
    """Return the format of a file's ending."""
    plain = path.name.removesuffix(".gz")
    for name, known in FORMATS.all().items():
        if plain.endswith(known.suffixes):
            return name
    known_endings = ", ".join(f"{end} ({name})" for name, known in FORMATS.all().items() for end in known.suffixes)
    raise ParameterError(
        f"The ending of {path.name} does not determine the format. Give the format (--format, or --to in convert): "
        f"{', '.join(FORMATS.all())}; "
        f"or use one of these endings: {known_endings}.",
        parameter="format",
    )


def write_ptable(ptable: PTable, path: str | Path, format_name: str | None = None, *, replace: bool = False) -> PTable:
    """Write a p-table and return it as written, on the grid of the format.

    The file appears complete or not at all; an existing one is kept unless `replace`.
    """
    path = Path(path)
    name = format_name or format_for(path)
    chosen = FORMATS.get(name)
    check_writable(path, replace=replace)
    fitted = _on_its_grid(ptable, chosen)
    data = chosen.write(fitted, path).encode()
    if path.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    write_whole(path, data)
    return fitted


def _on_its_grid(ptable: PTable, chosen: PTableFormat) -> PTable:
    """Return the table on a grid of the format: its own grid if possible, otherwise the first one."""
    if not chosen.grids or ptable.key_space in chosen.grids:
        return ptable
    return ptable.on_grid(chosen.grids[0])
