"""What differs between machines and runs without meaning anything: paths, durations and versions, made the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

VOLATILE = (
    (re.compile(r"\b[0-9]+\.[0-9] s\b"), "# s"),
    (re.compile(r"\b[0-9,]+ a second\b"), "# a second"),
    # No more than rounding: 3e-15 here, 0 elsewhere.
    (re.compile(r"(keys\s+move\s+epsilon\s+by\s+at\s+most\s+)\S+"), r"\1#"),
    (re.compile(r"\b(discreet|Python|DuckDB|pyarrow|NumPy) [0-9]+(?:\.[0-9a-z]+)+"), r"\1 VERSION"),
)


def plain(text: str, folder: Path) -> str:
    """Return a text without the folder in which a command ran, durations, speeds and versions."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, instead in VOLATILE:
        text = pattern.sub(instead, text)
    return text


def plain_value(value: Any, folder: Path) -> Any:  # noqa: ANN401 - a value of JSON
    """Return a value of JSON with every text plain and every measured duration a sign."""
    if isinstance(value, str):
        return plain(value, folder)
    if isinstance(value, list):
        return [plain_value(each, folder) for each in value]
    if isinstance(value, dict):
        return {
            name: dict.fromkeys(each, "#")
            if name == "seconds" and isinstance(each, dict)
            else plain_value(each, folder)
            for name, each in value.items()
        }
    return value
