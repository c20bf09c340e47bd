"""PX (PC-Axis 2013): a file per table with every cell, codes and hierarchies, and a note on the noise."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from discreet.programme.model import TOTAL
from discreet.release.formats.csv_tables import file_names
from discreet.release.formats.json_stat import MEASURE
from discreet.release.formats.published_table import PublishedVariable
from discreet.release.formats.table_format import (
    TABLE_FORMATS,
    TableFormat,
    cannot_contain,
    check_variables,
    first_repeated,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable
    from discreet.release.formats.table_format import ConversionOptions

LONGEST = 256
"""Maximum number of characters of a value or a name."""
LINE = 200
"""Maximum number of characters of a line."""
LONGEST_MATRIX = 20


@TABLE_FORMATS.register("px")
class PxTables(TableFormat):
    """PX files in UTF-8, the last variable in the heading."""

    name = "px"
    summary = "PX (PC-Axis) with all cells"

    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:  # noqa: ARG002 - required by the base class
        """Refuse texts that PX cannot contain, and labels that two categories share."""
        check_variables("PX", tables)
        for table in tables:
            variables = _variables(table)
            if twice := first_repeated(each.label for each in variables):
                raise cannot_contain("PX", f"two variables named {twice!r} in table {table.id}", "Rename one of them.")
            for variable in variables:
                for text in (variable.label, *variable.codes, *variable.labels):
                    if '"' in text or "\n" in text or "\r" in text or len(text) > LONGEST:
                        what = f"the text {text[:LONGEST]!r} of {variable.name}"
                        raise cannot_contain(
                            "PX", what, f"Remove quotes and line ends; use at most {LONGEST} characters."
                        )
                if twice := first_repeated(variable.labels):
                    both = zip(variable.codes, variable.labels, strict=True)
                    codes = [code for code, label in both if label == twice]
                    what = f"two categories of {variable.name} with the label {twice!r} ({codes[0]} and {codes[1]})"
                    raise cannot_contain("PX", what, "Use different labels in the programme.")

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write a file per table."""
        names = file_names(tables)
        for table in tables:
            with (out / f"{names[table.id]}.px").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in _keywords(table, options))
                file.write("DATA=\n")
                for line in _values(table):
                    file.write(line)
                file.write(";\n")
            done()


def _variables(table: PublishedTable) -> tuple[PublishedVariable, ...]:
    """Return the variables; several counts or intervals form an additional variable."""
    if len(table.measures) == 1:
        return table.variables
    several = table.measures
    return (*table.variables, PublishedVariable(MEASURE, "", MEASURE, several, several, None, ("",) * len(several)))


def _keywords(table: PublishedTable, options: ConversionOptions) -> Iterator[str]:
    variables = _variables(table)
    names = [each.label for each in variables]
    yield 'CHARSET="ANSI";'
    yield 'AXIS-VERSION="2013";'
    yield 'CODEPAGE="utf-8";'
    yield f'LANGUAGE="{options.language}";'
    yield "DECIMALS=0;"
    yield "SHOWDECIMALS=0;"
    yield f"MATRIX={_quoted(table.id[:LONGEST_MATRIX])};"
    yield f"SUBJECT-CODE={_quoted(table.id[:LONGEST_MATRIX])};"
    yield f"SUBJECT-AREA={_quoted(str(table.release.description['name']))};"
    yield f"CONTENTS={_quoted(table.table.population)};"
    yield f"UNITS={_quoted(table.table.unit)};"
    yield f"TITLE={_quoted(table.title)};"
    if len(names) > 1:
        yield f"STUB={_listed(names[:-1])};"
    yield f"HEADING={_listed(names[-1:])};"
    for name, variable in zip(names, variables, strict=True):
        yield f"VALUES({_quoted(name)})={_listed(variable.labels)};"
    for name, variable in zip(names, variables, strict=True):
        yield f"CODES({_quoted(name)})={_listed(variable.codes)};"
    for name, variable in zip(names, variables, strict=True):
        if variable.levels and TOTAL in variable.codes:
            pairs = [
                f"{_quoted(parent)}:{_quoted(code)}"
                for code, parent in zip(variable.codes, variable.parents, strict=True)
                if parent
            ]
            yield f"HIERARCHIES({_quoted(name)})=" + ",\n".join([_quoted(TOTAL), *pairs]) + ";"
        if variable.codes and variable.codes[0] == TOTAL:
            yield f"ELIMINATION({_quoted(name)})={_quoted(variable.labels[0])};"
    yield f"NOTE={_quoted(' '.join(table.notes))};"


def _quoted(text: str) -> str:
    """Return a quoted text; a long text is split into several lines."""
    text = text.replace('"', "'").replace("\r", " ").replace("\n", " ")
    if len(text) <= LINE:
        return f'"{text}"'
    lines = textwrap.wrap(text, LINE, drop_whitespace=False)
    return "\n".join(f'"{line}"' for line in lines)


def _listed(texts: Sequence[str]) -> str:
    """Return quoted texts, separated by commas, in lines of limited length."""
    lines, line = [], ""
    for text in texts:
        item = f'"{text}"'
        if line and len(line) + len(item) > LINE:
            lines.append(line)
            line = ""
        line += f",{item}" if line else item
    return ",\n".join([*lines, line])


def _values(table: PublishedTable) -> Iterator[str]:
    """Yield the values, one line per category of the stub."""
    width = len(_variables(table)[-1].codes)
    left: list[int] = []
    for values in table.matrix():
        left += values
        end = len(left) // width * width
        yield "".join(" ".join(map(str, left[start : start + width])) + "\n" for start in range(0, end, width))
        left = left[end:]
