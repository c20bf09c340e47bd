"""Charts in files: a folder with every chart as PNG and SVG, for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.paper import save_png, save_svg
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.whole_file import check_unpublished

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.charts.chart import Chart


ENDINGS = {".png": save_png, ".svg": save_svg}


def check_figures(folder: Path, *, replace: bool) -> None:
    """Refuse before any work a folder that cannot be made, or holds something that is not to be replaced."""
    # A folder of figures may be the public folder itself.
    check_unpublished(folder / "figure")
    if folder.exists() and not folder.is_dir():
        raise FileWriteError.to(folder, "it is a file, not a folder", "Choose another name.")
    if folder.is_dir() and any(folder.iterdir()) and not replace:
        raise FileExistsAlreadyError(folder)
    if not folder.absolute().parent.is_dir():
        raise FileWriteError.to(folder, "the folder it is in does not exist", "Make that, or choose another.")


def check_none_left(charts: Sequence[Chart], folder: Path) -> None:
    """Refuse a folder with other files: they would stand among figures that everybody may see."""
    drawn = {f"{chart.name}{ending}" for chart in charts for ending in ENDINGS}
    others = sorted(path.name for path in folder.iterdir() if path.name not in drawn) if folder.is_dir() else []
    if others:
        what = f"it holds {others[0]}, which would stand among the figures for everybody"
        raise FileWriteError.to(folder, what, "Choose a new folder.")


def draw_figures(charts: Sequence[Chart], folder: Path, *, private: bool) -> tuple[Path, ...]:
    """Write every chart as PNG and SVG; what is private is for its owner alone, the folder too where it is new."""
    try:
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
    except OSError as error:
        raise FileWriteError.to(folder, error.strerror or "it cannot be made", "Choose another folder.") from error
    files = []
    for chart in charts:
        for ending, save in ENDINGS.items():
            files.append(folder / f"{chart.name}{ending}")
            save(chart.figure(), files[-1], private=private)
    return tuple(files)
