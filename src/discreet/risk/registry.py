"""Measures by name: ours and a user's register alike, by decorator and by entry point.

A measure is a function of a case that returns results. An entry point of the group
`discreet.measures` names a module; importing it runs its `@measure` decorators.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.results import Result
    from discreet.risk.measures import AssessmentCase

Measure: TypeAlias = "Callable[[AssessmentCase], Sequence[Result]]"

ORDER = ("averaging", "redundancy", "bound", "margins", "epsilon_delta", "composition", "projection", "reconstruction")

_MEASURES: dict[str, Measure] = {}


def measure(name: str) -> Callable[[Measure], Measure]:
    """Make a function known as a measure of this name (a decorator)."""

    def register(function: Measure) -> Measure:
        _MEASURES[name] = function
        return function

    return register


@cache
def _load() -> None:
    for entry in entry_points(group="discreet.measures"):
        entry.load()


def measures() -> dict[str, Measure]:
    """Return every registered measure by name, ours in the order of what most people ask first."""
    _load()
    return {name: _MEASURES[name] for name in sorted(_MEASURES, key=_place)}


def _place(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def measures_named(names: Sequence[str] | None) -> dict[str, Measure]:
    """Return the measures asked for, or all."""
    known = measures()
    for name in names or ():
        if name not in known:
            raise UnknownNameError.among("measure", name, known)
    return {name: known[name] for name in names} if names else known
