"""CSV, with optional labels, and CSVW: the same files and a JSON file that describes their columns."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from discreet.programme.model import LEVEL
from discreet.release.formats.cell_lines import CellLines
from discreet.release.formats.table_format import TABLE_FORMATS, TableFormat, cannot_contain, first_repeated
from discreet.release.table_files import FORMULA, file_stem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable
    from discreet.release.formats.table_format import ConversionOptions

LABEL = "_label"
"""Suffix of a column of labels; it follows the column of codes with the same name."""
METADATA = "csv-metadata.json"


class TextColumn(NamedTuple):
    """A column of text: its name, the index of its variable, and its text for every code of the variable."""

    name: str
    place: int
    texts: tuple[str, ...]


def escape_formula(text: str) -> str:
    """Return a text that no spreadsheet evaluates as a formula; numbers such as -9 are unchanged.

    >>> escape_formula("=1+1"), escape_formula("-9")
    ("'=1+1", '-9')
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def file_names(tables: Sequence[PublishedTable]) -> dict[str, str]:
    """Return a file name without extension for every table."""
    found: dict[str, str] = {}
    for table in tables:
        found[table.id] = file_stem(table.id, found.values())
    return found


@TABLE_FORMATS.register("csv")
class CsvTables(TableFormat):
    """A CSV file per table, in UTF-8: codes, their levels, optionally their labels, then the counts."""

    name = "csv"
    summary = "CSV, with optional labels"

    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:
        """Refuse columns of labels with the name of another column."""
        for table in tables:
            text_columns(table, options)

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write a file per table."""
        names = file_names(tables)
        for table in tables:
            write_csv(table, out / f"{names[table.id]}.csv", text_columns(table, options))
            done()


def text_columns(table: PublishedTable, options: ConversionOptions) -> list[TextColumn]:
    """Return the columns of codes, levels and, if requested, labels; refuse two columns with the same name."""
    found: list[TextColumn] = []
    for place, variable in enumerate(table.variables):
        found.append(TextColumn(variable.name, place, variable.codes))
        found += [TextColumn(variable.name + LEVEL, place, variable.levels)] if variable.levels else []
        found += [TextColumn(variable.name + LABEL, place, variable.labels)] if options.labels else []
    if twice := first_repeated([*(column.name for column in found), *table.measures]):
        what = f"table {table.id} with two columns named {twice}"
        raise cannot_contain("A file of columns", what, "Remove --labels, or rename the variable.")
    return found


def write_csv(
    table: PublishedTable,
    path: Path,
    columns: Sequence[TextColumn],
    constants: dict[str, str] | None = None,
    renamed: dict[str, str] | None = None,
) -> None:
    """Write cells as lines of CSV, with quoted texts.

    Args:
        table: the table.
        path: the file.
        columns: the columns of text, which precede the measures.
        constants: columns with the same text in every line, which precede all others.
        renamed: new names of measures.
    """
    texts = [[""] * len(variable.codes) for variable in table.variables]
    for column in columns:
        both = zip(texts[column.place], column.texts, strict=True)
        texts[column.place] = [f"{before}{_field(text)}," for before, text in both]
    start = "".join(f"{_field(text)}," for text in (constants or {}).values())
    names = [
        *(constants or {}),
        *(column.name for column in columns),
        *((renamed or {}).get(name, name) for name in table.measures),
    ]
    ends = [","] * (len(table.measures) - 1) + ["\n"]
    lines = CellLines(texts, list(zip(table.measures, ends, strict=True)), start)
    lines.write(table, path, ",".join(map(_field, names)) + "\n")


def _field(text: str) -> str:
    doubled = escape_formula(text).replace('"', '""')
    return f'"{doubled}"'


@TABLE_FORMATS.register("csvw")
class CsvwTables(CsvTables):
    """CSV files with metadata according to the W3C recommendation CSV on the Web."""

    name = "csvw"
    summary = "CSV with metadata (CSV on the Web)"

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write a file per table, and a file of metadata."""
        super().write(tables, out, options, done)
        names = file_names(tables)
        content = {
            "@context": ["http://www.w3.org/ns/csvw", {"language": options.language}],
            "dc:title": tables[0].release.description["name"] if tables else "",
            "tables": [_described(table, f"{names[table.id]}.csv", options) for table in tables],
        }
        (out / METADATA).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _described(table: PublishedTable, file: str, options: ConversionOptions) -> dict[str, Any]:
    columns: list[dict[str, Any]] = []
    for each in text_columns(table, options):
        label, _, kind = table.variables[each.place].label, *each.name.rpartition("_")[1:]
        title = label if each.name == table.variables[each.place].name else f"{label} ({kind})"
        about = {"titles": escape_formula(each.name), "dc:description": title, "datatype": "string"}
        columns.append({"name": _csvw_name(each.name), **about})
    columns += [{"name": each, "titles": each, "datatype": "integer", "required": True} for each in table.measures]
    return {
        "url": quote(file),
        "dc:title": table.title,
        "dc:description": " ".join(table.notes),
        "tableSchema": {"columns": columns, "primaryKey": [_csvw_name(each.name) for each in table.variables]},
    }


def _csvw_name(name: str) -> str:
    """Return a valid CSVW name, with other characters percent-encoded.

    >>> _csvw_name("GEO.L"), _csvw_name("a b")
    ('GEO.L', 'a%20b')
    """
    return quote(name, safe=".")
