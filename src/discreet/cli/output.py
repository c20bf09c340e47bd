"""What commands print: JSON, and pictures as files.

The one JSON object that `--json` prints.

The file of a picture that `--plot` asks for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.results import Result

SCHEMA = "discreet/1"


def answer(
    command: str,
    settings: dict[str, Any],
    results: Sequence[Result],
    warnings: Sequence[str],
    **own: Any,  # noqa: ANN401 - the command's own keys
) -> str:
    """Return the object as text: the keys every command has, then the command's own."""
    content = {
        "schema": SCHEMA,
        "command": command,
        "settings": settings,
        "results": [result.to_json() for result in results],
        "warnings": list(warnings),
        **own,
    }
    return json.dumps(content, indent=2, ensure_ascii=True)


def check_picture(plot: Path, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it."""
    if plot.suffix.lower() not in {".png", ".svg"}:
        what = f"--plot writes PNG or SVG; {plot.name} has another ending. Use FILE.png or FILE.svg."
        raise ParameterError(what, parameter="plot")
    check_writable(plot, replace=replace)
