"""Errors of the package: input errors (InputError) and internal errors (InternalError).

A message states what is wrong, where, what exists and how to fix it. It never
contains a true count, a key or a secret.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


MOST_ECHOED = 200
"""Maximum number of characters of an input in a message."""
QUOTED = re.compile(rf"""(?<!\w)(['"])(?:(?!\1).){{{MOST_ECHOED},}}\1(?!\w)|\S{{{MOST_ECHOED + 1},}}""", re.DOTALL)
"""A quoted text, or a text without spaces, that exceeds the maximum. No sentence of the package matches it."""
MOST_LISTED = 40
"""Maximum number of names listed in a message."""
NOT_LISTED = (
    "The existing columns are not listed: one column name is a number, so the first line may be a record. "
    "Add a header line to the data."
)


def may_be_record(columns: Iterable[str]) -> bool:
    """Return whether column names may be the values of a record, as in a CSV file without a header line."""
    return any(name.strip().lstrip("+-").replace(".", "", 1).isdecimal() for name in columns)


def shortened(message: str) -> str:
    """Return a message with long inputs shortened to their start and end; the end of a path is its file name.

    >>> len(shortened(f"There is no topic {'x' * 1000!r}.")) < 250
    True
    """
    return QUOTED.sub(lambda found: excerpt(found[0]), message)


def excerpt(text: str) -> str:
    """Return an input for display in a message: in full, or its start and its end."""
    half = MOST_ECHOED // 2 - 1
    return text if len(text) <= MOST_ECHOED else f"{text[:half]}..{text[-half:]}"


class DiscreetError(Exception):
    """Base class of the errors that discreet raises."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message))


class InternalError(DiscreetError):
    """A defect of discreet; please report it."""


class InputError(DiscreetError):
    """Invalid input; the command ends with exit code 2."""


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


class TooLargeError(ParameterError):
    """More cells than an exact solution supports."""


class InfeasibleError(InputError):
    """No noise distribution satisfies the constraints of one row of a p-table."""

    def __init__(self, message: str, *, row: int, needs: str) -> None:
        super().__init__(message)
        self.row = row
        self.needs = needs

    @classmethod
    def in_row(cls, row: int, why: str, needs: str) -> InfeasibleError:
        """Build the error for a row, with the smallest change that makes it feasible."""
        return cls(f"No p-table exists: row {row} is infeasible. {why} {needs}", row=row, needs=needs)


class PTableFileError(InputError):
    """A p-table file that cannot be read, or a p-table that a format cannot represent."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, where: str, what: str, todo: str) -> PTableFileError:
        """Build the error for a place in a file."""
        place = f"{excerpt(path.name)}, {where}" if where else excerpt(path.name)
        return cls(f"{place}: {what} {todo}", path=path)


class UnknownNameError(InputError):
    """A name that is not among those that exist."""

    def __init__(self, message: str, *, name: str, available: tuple[str, ...]) -> None:
        super().__init__(message)
        self.name = name
        self.available = available

    @classmethod
    def among(cls, kind: str, name: str, available: Iterable[str]) -> UnknownNameError:
        """Build the error with the most similar existing names first."""
        names = tuple(available)
        same = [each for each in names if each.casefold() == name.casefold()]
        near = same or difflib.get_close_matches(name, names, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(map(excerpt, near))}?" if near else ""
        listed = ", ".join(map(excerpt, names[:MOST_LISTED])) + (
            f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
        )
        return cls(f"There is no {kind} {name!r}.{hint} Available: {listed}.", name=name, available=names)

    @classmethod
    def column(cls, kind: str, name: str, columns: Sequence[str]) -> UnknownNameError:
        """Build the error for a column of the data."""
        if may_be_record(columns):
            return cls(f"There is no {kind} {name!r}. {NOT_LISTED}", name=name, available=())
        return cls.among(kind, name, columns)


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
        place = f"{excerpt(path.name)}, line {line}" if line else excerpt(path.name)
        return cls(f"{place}: {what} {todo}".rstrip(), path=path, line=line)


class RecordFileError(InputError):
    """A record that cannot be read."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> RecordFileError:
        """Build the error for a file."""
        return cls(f"{excerpt(path.name)} {what} {todo}", path=path)


class NothingToCountError(InputError):
    """Data without a record to count."""


class DataFileError(InputError):
    """A data file that cannot be read, or that contains no records to count; messages never contain its values."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> DataFileError:
        """Build the error for a file."""
        return cls(f"{excerpt(path.name)} {what} {todo}", path=path)


class DisagreementError(InputError):
    """Pre-tabulated tables with inconsistent counts; the message contains the difference, not the counts."""

    def __init__(self, message: str, *, tables: tuple[str, str], statistic: str, difference: int) -> None:
        super().__init__(message)
        self.tables = tables
        self.statistic = statistic
        self.difference = difference

    @classmethod
    def between(cls, one: str, other: str, statistic: str, cell: str, difference: int) -> DisagreementError:
        """Build the error for two tables and the first cell of a statistic in which they differ."""
        where = f" in the cell {cell}" if cell else ""
        return cls(
            f"Tables {one} and {other} are inconsistent: their counts of the statistic {statistic} differ by "
            f"{difference:,}{where}. Correct the files, or exclude one of the tables (--tables).",
            tables=(one, other),
            statistic=statistic,
            difference=difference,
        )


class ColumnError(InputError):
    """A column of the programme that is missing in the data."""

    def __init__(self, message: str, *, topic: str, column: str) -> None:
        super().__init__(message)
        self.topic = topic
        self.column = column

    @classmethod
    def absent(
        cls, source: str, topic: str, column: str, *, label: str, tables: Sequence[str], columns: Sequence[str]
    ) -> ColumnError:
        """Build the error with the tables that need the column, and the similar or existing columns."""
        hidden = may_be_record(columns)
        folded = [other for other in columns if other.casefold() == column.casefold()]
        near = [] if hidden else folded or difflib.get_close_matches(column, columns, n=3, cutoff=0.4)
        named = f"topic {topic}" + (f" ({label[0].lower()}{label[1:]})" if label else "")
        called = "" if column == topic else f" called {column}"
        used = ", ".join(tables[:3]) + (", .." if len(tables) > 3 else "")
        which = f"used by {len(tables)} {'table' if len(tables) == 1 else 'tables'} ({used})"
        listed = ", ".join(map(excerpt, columns[:MOST_LISTED])) + (", .." if len(columns) > MOST_LISTED else "")
        close = f"Similar columns: {', '.join(map(excerpt, near))}." if near else f"Available: {listed}."
        close = NOT_LISTED if hidden else close
        bound = excerpt(near[0]) if near else "its column"
        todo = f'Bind it in the programme with [columns] {topic} = "{bound}", or exclude those tables with --tables.'
        return cls(f"{source} has no column{called} for {named}, {which}. {close} {todo}", topic=topic, column=column)


@dataclass(frozen=True)
class DataProblem:
    """Invalid values in one column of the data.

    Attributes:
        column: the name of the column.
        topic: the topic that the column is bound to.
        unknown: the number of records with a code that the programme does not define.
        coarse: the number of records with a code that is coarser than the tables need.
        missing: the number of records without a value, where missing values are not allowed.
        examples: some of the invalid codes; empty if there are too many different values to be codes.
        odd: whether the values are neither text nor numbers.
    """

    column: str
    topic: str
    unknown: int
    coarse: int
    missing: int
    examples: tuple[str, ...]
    odd: bool

    def __str__(self) -> str:
        if self.odd:
            return f"{self.column}: the values are neither text nor numbers, so they cannot be codes of {self.topic}"
        parts = [
            f"{times:,} {'record' if times == 1 else 'records'} {what}"
            for times, what in (
                (self.missing, "without a value"),
                (self.unknown, f"with a code that topic {self.topic} does not define"),
                (self.coarse, f"with a category of {self.topic} that is too coarse for the tables"),
            )
            if times
        ]
        shown = f" (such as {', '.join(map(repr, self.examples))})" if self.examples else ""
        if self.unknown and not self.examples:
            shown = " (not shown: too many different values to be codes; check the column)"
        return f"{self.column}: {' and '.join(parts)}{shown}"


class DataProblemsError(InputError):
    """Columns whose values the programme cannot count."""

    def __init__(self, message: str, *, problems: Sequence[DataProblem]) -> None:
        super().__init__(message)
        self.problems = problems

    @classmethod
    def found(cls, source: str, problems: Sequence[DataProblem]) -> DataProblemsError:
        """Build the error with one line per column and the possible corrections."""
        ways = []
        if any(problem.missing for problem in problems):
            ways.append("assign a code to missing values, or use --missing category or --missing drop")
        if any(problem.unknown or problem.coarse or problem.odd for problem in problems):
            ways.append("correct the data, add the codes to the programme, or bind another column in [columns]")
        lines = "".join(f"\n  {problem}" for problem in problems)
        return cls(f"{source} cannot be counted:{lines}\nTo fix this: {'; '.join(ways)}.", problems=problems)


class UnreadableFileError(InputError):
    """A file that exceeds the limits for reading: its type, its size, its nesting depth or its numbers."""

    def __init__(self, message: str, *, path: Path, what: str) -> None:
        super().__init__(message)
        self.path = path
        self.what = what

    @classmethod
    def at(cls, path: Path, what: str) -> UnreadableFileError:
        """Build the error for a file."""
        return cls(f"{path} {what}. Restore it from a backup, or specify another file.", path=path, what=what)


class FileExistsAlreadyError(InputError):
    """A file that exists already and that the user did not allow to be overwritten."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} exists already and was not changed. Choose another name, or add --replace.")
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


class LockedError(InputError):
    """A folder that another process has locked."""

    def __init__(self, message: str, *, path: Path, holder: str) -> None:
        super().__init__(message)
        self.path = path
        self.holder = holder

    @classmethod
    def by(cls, path: Path, holder: str, seconds: float) -> LockedError:
        """Build the error for a lock that was not released in time."""
        todo = "Repeat the command when that process has ended. To make protect wait longer, use --lock-timeout."
        return cls(f"{path} is locked by {holder}. Waited {seconds:g} s. {todo}", path=path, holder=holder)


class SettingsFileError(InputError):
    """A settings file that cannot be read."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> SettingsFileError:
        """Build the error for a file."""
        return cls(f"{excerpt(path.name)} {what} {todo}", path=path)


class ReleaseError(InputError):
    """A folder that is not a release, or an incomplete release."""

    def __init__(self, message: str, *, path: Path, what: str) -> None:
        super().__init__(message)
        self.path = path
        self.what = what

    @classmethod
    def at(cls, path: Path, what: str, todo: str) -> ReleaseError:
        """Build the error for a folder."""
        return cls(f"{path} {what}. {todo}", path=path, what=what)


class EngineError(InputError):
    """A failure of the engine; its own message may contain values of records and is omitted."""

    WAYS_OUT: ClassVar = {
        "OutOfMemoryException": "it ran out of memory. Free memory, raise --memory, or count fewer --tables",
        "IOException": "it could not read or write a file. Check the free space for temporary files",
    }

    def __init__(self, message: str, *, step: str) -> None:
        super().__init__(message)
        self.step = step

    @classmethod
    def refused(cls, step: str, error: Exception) -> EngineError:
        """Build the error for a step from the error of the engine."""
        kind = type(error).__name__
        return cls(f"The engine stopped at {step}: {cls.WAYS_OUT.get(kind, kind)}.", step=step)


class ReleaseWarning(UserWarning):
    """A warning about a new release, for example that it discloses more together with an earlier release."""


class SecretError(InputError):
    """A secret that is missing or too short; messages never contain its value."""

    @classmethod
    def at(cls, place: Path | str, what: str, todo: str) -> SecretError:
        """Build the error for a file, or for another place where a secret was expected."""
        return cls(f"{place} {what} {todo}")


class RecordIdError(InputError):
    """Records without a unique id, by their number in the data; messages never contain an id."""

    def __init__(self, message: str, *, column: str) -> None:
        super().__init__(message)
        self.column = column

    @classmethod
    def missing(cls, column: str, how_many: int, first: int) -> RecordIdError:
        """Build the error for records whose id is missing."""
        records = "1 record" if how_many == 1 else f"{how_many:,} records"
        todo = "Every record needs a unique id: complete the ids, or specify a column with an id in every record."
        return cls(f"{column} is missing in {records}; the first is record {first:,}. {todo}", column=column)

    @classmethod
    def repeated(cls, column: str, how_many: int, first: int, twin: int) -> RecordIdError:
        """Build the error for records that share their id with another record."""
        what = f"{how_many:,} records share their {column} with another record, such as {first:,} and {twin:,}."
        todo = "Every record needs a unique id: remove duplicates, or specify the column that identifies records."
        return cls(f"{what} {todo}", column=column)

    @classmethod
    def inexact(cls, column: str, kind: str) -> RecordIdError:
        """Build the error for a column of a data type that ids cannot have."""
        what = f"{column} contains values of type {kind}, but ids must be exact: text or whole numbers."
        return cls(f"{what} Convert the column, or specify another column.", column=column)


class RecordKeyError(InputError):
    """An invalid column of existing keys, counts or weights; messages never contain its values."""

    def __init__(self, message: str, *, column: str) -> None:
        super().__init__(message)
        self.column = column

    @classmethod
    def unusable(
        cls, column: str, how_many: int, first: int, why: str, accepted: str, *, what: str = "key"
    ) -> RecordKeyError:
        """Build the error for records, with the problem in the first of them."""
        records = "1 record" if how_many == 1 else f"{how_many:,} records"
        return cls(
            f"{column} has no valid {what} in {records}: in record {first:,} it {why}. {accepted}", column=column
        )

    @classmethod
    def kind(cls, column: str, kind: str, accepted: str) -> RecordKeyError:
        """Build the error for a column of a data type that such numbers cannot have."""
        return cls(f"{column} contains values of type {kind}. {accepted}", column=column)
