"""What can go wrong, in two families: the user's mistake and ours.

A message says what was wrong, where, what exists and what to do. It never
shows a true count, a key or a secret.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


MOST_LISTED = 40
"""Names listed in a message; more would hide its first sentence."""


class DiscreetError(Exception):
    """The base of every error that discreet raises on purpose."""


class InternalError(DiscreetError):
    """A broken promise of our own; worth a report."""


class InputError(DiscreetError):
    """The user's mistake; the command ends with exit code 2."""


class ParameterError(InputError):
    """A parameter outside its domain."""

    def __init__(self, message: str, *, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    @classmethod
    def outside(cls, owner: str, name: str, value: object, wanted: str, typical: str = "") -> ParameterError:
        """Build the error for a value that its declared domain does not contain."""
        hint = f" Typical values: {typical}." if typical else ""
        return cls(f"{owner}: {name} must be {wanted}, not {value!r}.{hint}", parameter=name)


class InfeasibleError(InputError):
    """No law satisfies the constraints of one row of a p-table."""

    def __init__(self, message: str, *, row: int, needs: str) -> None:
        super().__init__(message)
        self.row = row
        self.needs = needs

    @classmethod
    def in_row(cls, row: int, why: str, needs: str) -> InfeasibleError:
        """Build the error for a row, with the smallest change that makes it feasible."""
        return cls(f"No p-table exists: row {row} is infeasible. {why} {needs}", row=row, needs=needs)


class PTableFileError(InputError):
    """A p-table file that cannot be read, or a p-table that a format cannot hold."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, where: str, what: str, todo: str) -> PTableFileError:
        """Build the error for a place in a file."""
        place = f"{path.name}, {where}" if where else path.name
        return cls(f"{place}: {what} {todo}", path=path)


class UnknownNameError(InputError):
    """A name that is not among those that exist."""

    def __init__(self, message: str, *, name: str, available: tuple[str, ...]) -> None:
        super().__init__(message)
        self.name = name
        self.available = available

    @classmethod
    def among(cls, kind: str, name: str, available: Iterable[str]) -> UnknownNameError:
        """Build the error with the nearest right spelling first."""
        names = tuple(available)
        near = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        listed = ", ".join(names[:MOST_LISTED]) + (
            f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
        )
        return cls(f"There is no {kind} {name!r}.{hint} There are: {listed}.", name=name, available=names)


class ProgrammeError(InputError):
    """A table programme that contradicts itself."""

    def __init__(self, message: str, *, topic: str) -> None:
        super().__init__(message)
        self.topic = topic

    @classmethod
    def unknown_parent(cls, topic: str, code: str, parent: str, known: list[str]) -> ProgrammeError:
        """Build the error for a category whose parent does not exist."""
        near = difflib.get_close_matches(parent, known, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        message = f"Topic {topic}: category {code!r} has the parent {parent!r}, which does not exist.{hint}"
        return cls(f"{message} Add it, or leave the parent empty for the total.", topic=topic)


class ProgrammeFileError(InputError):
    """A programme file that cannot be read, with the line where that is known."""

    def __init__(self, message: str, *, path: Path, line: int | None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line

    @classmethod
    def at(cls, path: Path, line: int | None, what: str, todo: str) -> ProgrammeFileError:
        """Build the error for a line of a file."""
        place = f"{path.name}, line {line}" if line else path.name
        return cls(f"{place}: {what} {todo}".rstrip(), path=path, line=line)


class RecordFileError(InputError):
    """A record that cannot be read."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> RecordFileError:
        """Build the error for a file."""
        return cls(f"{path.name} {what} {todo}", path=path)


class DataFileError(InputError):
    """A data file that cannot be read, or that holds nothing to count; its values are never shown."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> DataFileError:
        """Build the error for a file."""
        return cls(f"{path.name} {what} {todo}", path=path)


class FileExistsAlreadyError(InputError):
    """A file that would be overwritten without having been asked to."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} exists already and was left as it is. Choose another name, or add --replace.")
        self.path = path


class FileWriteError(InputError):
    """A file that cannot be written."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def to(cls, path: Path, why: str, todo: str) -> FileWriteError:
        """Build the error for a path."""
        return cls(f"{path} cannot be written: {why}. {todo}", path=path)


class SecretError(InputError):
    """A secret that is missing or too short; its value is never shown."""
