"""A file that says which areas of two topics meet on the map: CSV with a column per topic, a pair per line."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from discreet.attacks.sight import Overlaps
from discreet.errors import DataFileError, UnknownNameError
from discreet.limits import read_named

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme

EXAMPLE = "Give a CSV with two columns, each named after a topic, as in GEO,GRID."


def read_overlaps(path: Path, programme: Programme) -> Overlaps:
    """Return the pairs of areas in a file, or refuse what the programme does not know."""
    try:
        text = read_named(path).decode("utf-8-sig")
        read = csv.reader(io.StringIO(text, newline=""))
        lines = {number: line for number, line in enumerate(read, start=1) if line}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no CSV in UTF-8"
        raise DataFileError.at(path, f"cannot be read: {why}.", EXAMPLE) from error
    topics = lines.pop(min(lines), []) if lines else []
    if len(topics) != 2:
        raise DataFileError.at(path, "does not begin with the names of two topics.", EXAMPLE)
    for topic in topics:
        if topic not in programme.topics:
            raise UnknownNameError.among(f"topic in {path}", topic, programme.topics)
    known = [dict.fromkeys(programme.topics[topic].levels[-1].codes or ()) for topic in topics]
    for number, line in lines.items():
        if len(line) != 2:
            raise DataFileError.at(path, f"has {len(line)} values in line {number}.", EXAMPLE)
        for topic, code, codes in zip(topics, line, known, strict=True):
            if code not in codes:
                raise UnknownNameError.among(f"code of topic {topic} (line {number} of {path})", code, codes)
    first, second = topics
    return Overlaps((first, second), [(a, b) for a, b in lines.values()])
