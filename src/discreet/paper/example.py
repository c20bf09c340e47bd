"""The small tables on which the paper explains its counting: a histogram, and SEX x AGE with two groups of age."""

from __future__ import annotations

from discreet.programme.model import Breakdown, Level, Programme, Table, Topic

SIZES = {"SEX": 2, "AGE": 2}


def histogram(*topics: str) -> Programme:
    """Return a programme of one table by topics of two categories each."""
    levels = {name: Level(name, name, SIZES[name]) for name in topics}
    breakdowns = tuple(Breakdown(name, name, (level,)) for name, level in levels.items())
    known = {name: Topic(name, (level,), None, {}) for name, level in levels.items()}
    return Programme(" x ".join(topics), known, (Table("1", breakdowns),))
