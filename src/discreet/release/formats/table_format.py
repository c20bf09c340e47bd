"""The interface of table formats, and their registry."""

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
    """Options of a conversion.

    Attributes:
        labels: whether to write labels in addition to codes, in formats that do not always contain them.
        language: the language of the labels.
    """

    labels: bool = False
    language: str = "en"


class TableFormat(ABC):
    """A table format: checks all tables before anything is written, then writes them to a folder or file.

    Attributes:
        name: the name for `--to`.
        summary: a short description.
        one_file: the extension of the file if all tables are in one file; "" for a folder.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    one_file: ClassVar[str] = ""

    @abstractmethod
    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:
        """Refuse tables that the format cannot contain; the error names the first problem."""

    @abstractmethod
    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write tables into an empty folder, or to a file; call `done` after each table."""


TABLE_FORMATS: Registry[type[TableFormat]] = Registry("discreet.table_formats", "table format", base=TableFormat)


def cannot_contain(form: str, what: str, todo: str) -> ParameterError:
    """Return the error for content that a format does not support."""
    return ParameterError(f"{form} cannot contain {what}. {todo}", parameter="to")


def check_variables(form: str, tables: Sequence[PublishedTable]) -> None:
    """Refuse a table without variables in a format that needs one."""
    for table in tables:
        if not table.variables:
            raise cannot_contain(form, f"table {table.id}, which has no variable", "Exclude it (--tables).")


def first_repeated(texts: Iterable[str]) -> str | None:
    """Return the first text that occurs twice; None if all texts differ."""
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            return text
        seen.add(text)
    return None
