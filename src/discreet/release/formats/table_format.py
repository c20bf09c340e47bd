"""What a format of published tables is, and the registry that finds it by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.errors import ParameterError
from discreet.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable


@dataclass(frozen=True)
class ConversionOptions:
    """How tables are written.

    Attributes:
        labels: whether labels stand beside codes, in formats that do not contain them anyway.
        language: the language of the labels.
    """

    labels: bool = False
    language: str = "en"


class TableFormat(ABC):
    """A format: checks tables before anything is written, then writes them into a folder.

    Attributes:
        name: what `--to` calls it.
        summary: what it is, in a line.
        one_file: the ending of the file, where all tables are in one; "" for a folder.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    one_file: ClassVar[str] = ""

    @abstractmethod
    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:
        """Refuse what the format cannot contain, with the first example."""

    @abstractmethod
    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write tables into an empty folder, or to a file; call `done` after each table."""


TABLE_FORMATS: Registry[type[TableFormat]] = Registry("discreet.table_formats", "format of tables", base=TableFormat)


def cannot_contain(form: str, what: str, todo: str) -> ParameterError:
    """Return the error for something that a format cannot contain."""
    return ParameterError(f"{form} cannot contain {what}. {todo}", parameter="to")


def check_variables(form: str, tables: Sequence[PublishedTable]) -> None:
    """Refuse a table without variables in a format that needs one."""
    for table in tables:
        if not table.variables:
            raise cannot_contain(form, f"table {table.id}, which has no variable", "Leave it out (--tables).")


def first_repeated(texts: Iterable[str]) -> str | None:
    """Return the first text that stands there twice."""
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            return text
        seen.add(text)
    return None
