"""The file of a picture that `--plot` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from pathlib import Path


def check_picture(plot: Path, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it."""
    if plot.suffix.lower() != ".png":
        raise ParameterError(f"--plot writes a PNG; {plot.name} has another ending. Use FILE.png.", parameter="plot")
    check_writable(plot, replace=replace)
