"""Excel: a workbook with a sheet per table, a table of contents and a sheet with notes on the noise."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Any

from discreet.release.formats.csv_tables import text_columns
from discreet.release.formats.table_format import TABLE_FORMATS, TableFormat, cannot_contain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable
    from discreet.release.formats.table_format import ConversionOptions

MOST_ROWS = 1_048_575
"""Maximum number of rows of a sheet, without the header."""
LONGEST_SHEET, LONGEST_TEXT = 31, 32_767
FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
CONTENTS, NOTES = "Contents", "Notes"


@TABLE_FORMATS.register("xlsx")
class ExcelWorkbook(TableFormat):
    """One workbook; codes are text, so that they are not evaluated and leading zeros are kept."""

    name = "xlsx"
    summary = "an Excel workbook with a sheet per table"
    one_file = ".xlsx"

    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:
        """Refuse a table with more rows than a sheet can have, and texts that are too long."""
        for table in tables:
            text_columns(table, options)
            for text in (table.title, *(each for v in table.variables for each in (*v.codes, *v.labels))):
                if len(text) > LONGEST_TEXT:
                    what = f"a text of {len(text):,} characters in table {table.id}"
                    raise cannot_contain("An Excel workbook", what, f"Shorten it to {LONGEST_TEXT:,} characters.")
            rows = table.cells if table.zeros else table.rows
            if rows > MOST_ROWS:
                what = f"table {table.id} with {rows:,} rows; a sheet can have {MOST_ROWS:,}"
                raise cannot_contain("An Excel workbook", what, "Use csv, or exclude the table (--tables).")

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write the workbook."""
        import xlsxwriter
        from xlsxwriter.exceptions import FileCreateError

        # Rows are written one by one; texts are never converted to formulas, links or numbers.
        settings = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "tmpdir": str(out.parent),
        }
        try:
            with xlsxwriter.Workbook(str(out), settings) as book:
                bold = book.add_format({"bold": True})
                sheets = sheet_names(tables)
                _contents(book.add_worksheet(CONTENTS), tables, sheets, bold)
                _notes(book.add_worksheet(NOTES), tables, bold)
                for table in tables:
                    _table(book.add_worksheet(sheets[table.id]), table, options, bold)
                    done()
        except FileCreateError as error:
            raise OSError(errno.EIO, str(error)) from error


def sheet_names(tables: Sequence[PublishedTable]) -> dict[str, str]:
    """Return a valid sheet name for every table; no two names differ only in case."""
    found: dict[str, str] = {}
    taken = {CONTENTS.casefold(), NOTES.casefold(), "history"}
    for table in tables:
        plain, number = FORBIDDEN.sub("_", table.id).replace("'", "_"), 1
        name = plain[:LONGEST_SHEET] or "_"
        while name.casefold() in taken:
            number += 1
            name = f"{plain[: LONGEST_SHEET - 5]}~{number}"
        taken.add(name.casefold())
        found[table.id] = name
    return found


def _contents(sheet: Any, tables: Sequence[PublishedTable], sheets: dict[str, str], bold: object) -> None:  # noqa: ANN401 - the library has no types
    sheet.set_column(1, 1, 80)
    for column, text in enumerate(("Table", "Title", "Sheet")):
        sheet.write_string(0, column, text, bold)
    for row, table in enumerate(tables, start=1):
        sheet.write_string(row, 0, table.id)
        sheet.write_string(row, 1, table.title)
        quoted = sheets[table.id].replace("'", "''")
        sheet.write_url(row, 2, f"internal:'{quoted}'!A1", string=sheets[table.id])


def _notes(sheet: Any, tables: Sequence[PublishedTable], bold: object) -> None:  # noqa: ANN401 - the library has no types
    sheet.set_column(0, 0, 120)
    sheet.write_string(0, 0, str(tables[0].release.description["name"]) if tables else "", bold)
    lines = (
        *(tables[0].notes if tables else ()),
        "A cell without a row is a published 0.",
        "A table contains all levels and totals of its variables. Select one of each before you sum rows.",
    )
    for row, text in enumerate(lines, start=1):
        sheet.write_string(row, 0, text)


def _table(sheet: Any, table: PublishedTable, options: ConversionOptions, bold: object) -> None:  # noqa: ANN401 - the library has no types
    texts = text_columns(table, options)
    for column, name in enumerate([*(each.name for each in texts), *table.measures]):
        sheet.write_string(0, column, name, bold)
    sheet.freeze_panes(1, 0)
    row = 0
    for cells in table.batches():
        columns = [[each.texts[number] for number in cells.numbers[each.place].tolist()] for each in texts]
        values = [cells.values[name].tolist() for name in table.measures]
        for line in zip(*columns, *values, strict=True):
            row += 1
            for column, content in enumerate(line):
                if column < len(columns):
                    sheet.write_string(row, column, content)
                else:
                    sheet.write_number(row, column, content)
