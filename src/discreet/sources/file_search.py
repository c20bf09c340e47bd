"""Which files a path, a folder, a pattern or a list of these stands for."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.sources.csv_files import CsvFile
from discreet.sources.parquet_file import ParquetFile
from discreet.sources.read_errors import no_files, no_match, not_data, unreadable

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

WILD = frozenset("*?[")


def find_files(given: Sequence[str | os.PathLike[str]]) -> tuple[str, list[Path]]:
    """Return what to call the files in messages, and the files in the order of their names."""
    found = [_find(_as_path(item)) for item in given]
    files = sorted(path for _, paths in found for path in paths)
    if len(found) == 1:
        return found[0][0], files
    return f"{files[0].name} and {len(files) - 1} more" if len(files) > 1 else files[0].name, files


def _as_path(given: str | os.PathLike[str]) -> Path:
    # A text with line breaks is data given in place of a path; a message about the path would show them.
    if not str(given) or set(str(given)) & set("\n\r\0"):
        raise not_data("an empty text or a text with line breaks")
    return Path(given)


def _find(path: Path) -> tuple[str, list[Path]]:
    try:
        if path.is_dir():
            files = _in_folder(path)
            return _counted(path.name or path.resolve().name, files), files
        # A name with an asterisk or a bracket in it is first of all a name.
        if not path.exists() and WILD & set(str(path)):
            files = _matching(path)
            return _counted(_short(path), files), files
    except OSError as error:
        raise unreadable(path, error) from error
    return path.name, [path]


def _in_folder(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, or else its CSV files."""
    files = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_file()]
    for kind in (ParquetFile, CsvFile):
        found = [path for path in files if path.name.lower().endswith(kind.endings)]
        if found:
            return found
    raise no_files(folder, (*ParquetFile.endings, *CsvFile.endings))


def _matching(pattern: Path) -> list[Path]:
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
    files = [path for path in map(Path, sorted(set(found))) if path.is_file()]
    if not files:
        raise no_match(pattern)
    return files


def _short(pattern: Path) -> str:
    """Return a pattern from the last folder that has a name: where the data lie on this machine is nobody's affair."""
    first = next(place for place, part in enumerate(pattern.parts) if WILD & set(part))
    named = pattern.parts[max(first - 1, 0) :]
    return "/".join(part for part in named if part != pattern.anchor)


def _counted(name: str, files: Sequence[Path]) -> str:
    return f"{name} ({len(files)} {'file' if len(files) == 1 else 'files'})"
