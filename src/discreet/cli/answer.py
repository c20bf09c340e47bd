"""The one JSON object that `--json` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

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
