"""Draft a table programme from a data file: columns become topics, and their values become categories."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import DataFileError, ParameterError
from discreet.sources.column_values import as_text
from discreet.sources.csv_file import BLOCK, UTF8, ReadOptions
from discreet.sources.data_files import open_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from discreet.sources.data_files import FileSource

MOST_CATEGORIES = 500
"""Default maximum number of distinct values of a topic; other columns are excluded."""
MOST_CELLS = 100_000
"""Maximum number of cells of the example table with three topics."""
LONGEST = 200
"""Maximum number of characters of a code; a longer text is free text, or a quote was not closed."""

KEY = re.compile(r"(?i:(?:^|[_ .-])(?:r|c|record|cell|row)?keys?$)|[a-z]Key$")
IDENTIFIER = re.compile(r"(?i:(?:^|[_ .-])(?:p|h|hh|gu|uu)?id(?:$|[_ .-]))|[a-z]I[dD]$")
SHARED = 20
"""A column named like an identifier is excluded if fewer records than this share a value on average."""


def sketch_programme(path: str | Path, *, most_categories: int = MOST_CATEGORIES, encoding: str = UTF8) -> str:
    """Return the text of a programme with a topic for every column that has few distinct values.

    The text is TOML with comments, for the user to review and correct. In addition to the codes of the topics, it
    discloses only the numbers of missing values, and the names of columns that look like identifiers or keys.

    Args:
        path: a file with the extension .csv, .csv.gz (with a header line) or .parquet.
        most_categories: the maximum number of distinct values of a topic, at least 1; other columns are excluded.
        encoding: the encoding of a CSV file.
    """
    if most_categories < 1:
        raise ParameterError.outside("sketch", "most_categories", most_categories, "a whole number of at least 1")
    path = Path(path)
    columns = _columns(_open(path, encoding), most_categories)
    topics = {name: column for name, column in _named(columns).items() if not column.reason}
    if not topics:
        what = f"has no topics: all columns look like identifiers, keys or text, or have over {most_categories} values."
        raise DataFileError.at(path, what, "Allow more categories, or write the programme manually.")
    left_out = [column for column in columns if column.reason]
    return "\n".join([*_head(path), *_left_out(left_out), *_topics(topics), *_tables(topics)]) + "\n"


@dataclass
class _Column:
    """The distinct values of one column, unless there are too many, and the number of missing values."""

    name: str
    position: int
    most: int
    codes: set[str] = field(default_factory=set)
    missing: int = 0
    present: int = 0
    many: bool = False
    odd: bool = False
    long: bool = False

    def add(self, values: pa.Array) -> None:
        """Add a batch of values."""
        texts = as_text(values)
        if texts is None:
            self.odd = True
            return
        self.missing += texts.null_count
        self.present += len(texts) - texts.null_count
        if not self.many:
            self.codes.update(texts.drop_null().unique().to_pylist())
            self.long = self.long or any(len(code) > LONGEST for code in self.codes)
            self.many = len(self.codes) > self.most
            if self.many:
                self.codes.clear()

    @property
    def reason(self) -> str:
        """Return the reason why the column is not a topic, or "" if it is one."""
        return next((reason for reason, holds in self._reasons() if holds), "")

    def _reasons(self) -> Iterator[tuple[str, bool]]:
        different = len(self.codes)
        yield "its values are neither text nor numbers", self.odd
        yield "it has no values", not self.present
        yield "its name looks like that of a key", bool(KEY.search(self.name))
        yield f"it has more than {self.most} distinct values", self.many
        yield f"it contains texts of more than {LONGEST} characters", self.long
        # A single value among missing ones is a category; the value of a single record identifies the person.
        lone = self.present + self.missing == 1
        yield "all values are distinct, as in an identifier", different == self.present and (different > 1 or lone)
        seldom = different * SHARED > self.present
        called = bool(IDENTIFIER.search(self.name))
        yield "its name looks like that of an identifier, and few records share a value", called and seldom

    @property
    def categories(self) -> list[str]:
        """Return the codes in natural order."""
        return sorted(self.codes, key=_natural)


def _natural(code: str) -> tuple[int, Decimal, list[tuple[int, Decimal, str]], str]:
    """Return a sort key: numbers by value, then texts with the numbers in them by value."""
    nothing = Decimal(0)
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", code):
        return 0, Decimal(code), [], code
    parts = re.findall(r"([0-9]+)|([^0-9]+)", code)
    return 1, nothing, [(0, Decimal(n), "") if n else (1, nothing, text.casefold()) for n, text in parts], code


def _open(path: Path, encoding: str) -> FileSource:
    if path.is_dir():
        raise DataFileError.at(path, "is a folder.", "Specify one file in it.")
    # A quote that is not closed results in a long text.
    return open_files([path], how=ReadOptions(BLOCK, allow_open_quote=True, encoding=encoding))


def _columns(source: FileSource, most: int) -> list[_Column]:
    columns = [_Column(name, place, most) for place, name in enumerate(source.columns, start=1)]
    for batch in source.batches(source.columns):
        for column, values in zip(columns, batch.columns, strict=True):
            if not column.odd:
                column.add(values)
    return columns


# --- Writing ---


def _named(columns: Sequence[_Column]) -> dict[str, _Column]:
    """Return the columns by topic name: unique bare TOML keys in upper case."""
    found: dict[str, _Column] = {}
    for column in columns:
        plain = unicodedata.normalize("NFKD", column.name.upper()).encode("ascii", "ignore").decode()
        name = re.sub(r"[^A-Z0-9]+", "_", plain).strip("_") or f"COLUMN_{column.position}"
        found[_unused(name, found)] = column
    return found


def _unused(name: str, used: dict[str, _Column]) -> str:
    number = 1
    while (found := name if number == 1 else f"{name}_{number}") in used:
        number += 1
    return found


def _quoted(text: str) -> str:
    """Return a basic TOML string, which is a JSON string except for the character 7F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _array(codes: Sequence[str]) -> str:
    """Return a TOML array on one line, or on several lines if it is long."""
    quoted = [_quoted(code) for code in codes]
    if sum(map(len, quoted)) + 2 * len(quoted) <= 90:
        return f"[{', '.join(quoted)}]"
    lines = [" "]
    for code in quoted:
        if len(lines[-1]) + len(code) > 100:
            lines.append(" ")
        lines[-1] += f" {code},"
    return "\n".join(["[", *lines, "]"])


def _head(path: Path) -> list[str]:
    stem = re.sub(r"(?i)\.(csv|csv\.gz|parquet)$", "", path.name)
    return [
        f"# Draft table programme for {_quoted(path.name)}. Review and correct it.",
        "# The categories are the codes in the data, as text. Add existing categories that do not occur in the data:",
        "# the published categories should not depend on the persons in the data.",
        "",
        f"name = {_quoted(stem)}",
        "",
    ]


def _left_out(columns: Sequence[_Column]) -> list[str]:
    if not columns:
        return []
    lines = [f"#   {_quoted(column.name)}: {column.reason}{_and_missing(column)}." for column in columns]
    return ["# Excluded columns, and the reasons:", *lines, ""]


def _and_missing(column: _Column) -> str:
    return f"; missing values: {column.missing}" if column.missing and column.present else ""


def _topics(topics: dict[str, _Column]) -> list[str]:
    lines = ["# Topic = the data column with its codes.", "[columns]"]
    lines += [f"{name} = {_quoted(column.name)}" for name, column in topics.items()]
    for name, column in topics.items():
        lines += ["", f"[topics.{name}]  # distinct values: {len(column.codes)}"]
        if column.missing:
            lines.append(f"# Missing values: {column.missing}. Assign a code to them in the data and add it here.")
        lines.append(f"categories = {_array(column.categories)}")
    return [*lines, ""]


def _tables(topics: dict[str, _Column]) -> list[str]:
    start = _starting_table(topics)
    example = _unused("AREA", topics)
    return [
        "# Example table. Every table is published with all its margins.",
        "[[tables]]",
        'id = "1"',
        f"columns = {_array(start)}",
        "",
        "# Further entries of a programme. Remove the # and adapt them:",
        "#",
        f"# [topics.{example}]",
        '# label = {en = "Area", fr = "Territoire"}',
        '# # Code, parent code, label. Or a file with the columns code, parent, label: hierarchy = "areas.csv"',
        '# hierarchy = [["N", "", "North"], ["S", "", "South"], ["N1", "N", "Northern hills"], ["N2", "N", "Coast"]]',
        f"# breakdowns = {{L = 1}}  # {example}.L is {example} down to depth 1; {example} itself has all depths",
        "#",
        "# [[tables]]",
        '# id = "2"',
        f"# columns = {_array([start[0], f'{example}.L'])}",
        '# unit = "households"  # default: persons',
        f"# universe = {_quoted(f'{start[0]} = {topics[start[0]].categories[0]}')}  # default: all records",
    ]


def _starting_table(topics: dict[str, _Column]) -> list[str]:
    """Return the first two topics, or three if the table is small; topics with one category come last."""
    first = sorted(topics, key=lambda name: len(topics[name].codes) == 1)[:3]
    cells = 1
    for name in first:
        cells *= len(topics[name].codes) + 1
    return first if cells <= MOST_CELLS else first[:2]
