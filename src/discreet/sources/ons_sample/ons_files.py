"""Where the files of the teaching sample are."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

RECORDS, PROGRAMME, ID = "persons.parquet", "census.toml", "person_id"


def records() -> Path:
    """Return the file of the records."""
    return _file(RECORDS)


def programme() -> Path:
    """Return the file of the programme of tables."""
    return _file(PROGRAMME)


def _file(name: str) -> Path:
    return Path(str(files("discreet.sources.ons_sample").joinpath(name)))
