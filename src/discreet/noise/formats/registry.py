"""Formats by name: ours and a user's register alike, by decorator and by entry point.

An entry point of the group `discreet.formats` names a module; importing it runs its
`@register` decorators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, ClassVar, TypeVar

from discreet.errors import UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.ptable import PTable

_FORMATS: dict[str, PTableFormat] = {}


class PTableFormat(ABC):
    """A layout of p-table files.

    Attributes:
        name: the name on the command line.
        layout: what a file looks like, in a few words, for error messages.
        suffixes: file endings that belong to this format alone.
        grids: key spaces the format can hold; empty means any.
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    grids: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def recognises(self, text: str) -> bool:
        """Say whether a file's text is meant to be in this format, well formed or not."""

    @abstractmethod
    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table in the text; the path is for error messages."""

    @abstractmethod
    def write(self, ptable: PTable, path: Path) -> str:
        """Return the text of a p-table that is already on one of the format's grids."""


_Format = TypeVar("_Format", bound=type[PTableFormat])


def register(format_class: _Format) -> _Format:
    """Make a format known under its name (a class decorator)."""
    _FORMATS[format_class.name] = format_class()
    return format_class


@cache
def _load() -> None:
    for entry in entry_points(group="discreet.formats"):
        entry.load()


def formats() -> dict[str, PTableFormat]:
    """Return every registered format by name."""
    _load()
    return dict(sorted(_FORMATS.items()))


def format_named(name: str) -> PTableFormat:
    """Return a format, or refuse a name that does not exist with the nearest one that does."""
    known = formats()
    if name not in known:
        raise UnknownNameError.among("p-table format", name, known)
    return known[name]
