"""The README.md of a release: a page that lets data users read the tables without this library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from discreet.programme.model import LEVEL, TOTAL, TOTAL_LEVEL, VALUE, WEIGHTED
from discreet.programme.selection import area_topic
from discreet.release.disclosed_noise import NORMAL, noise_sentences, typical_change
from discreet.release.table_files import FORMULA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.programme.model import Breakdown, Level, Programme, Table

MOST_TABLES = 12
"""Maximum number of tables listed on the page."""

PAGE = """\
# {name}

{tables} of counts. {noise} The variables, codes and labels of all tables are in `release.json` under `programme`.

## Reading a table

Every row is one cell: a column per variable with the code of a category, and {counts}.

- **Codes are text.** Import them as text, or leading zeros are lost. `{total}` is the total.
- **A table contains all levels and totals of its variables.** A sum over all rows therefore counts every person, or
  other unit, several times. Before you sum rows, select one level or the total of every variable. A variable with
  several levels has a second column with the suffix `{level}`. It contains the level of the code, or `{total_level}`
  for the total. A category without subcategories can belong to several levels; their names are separated by a space.
- **A cell without a row is a published 0.**
{about_noise}
## Example queries

The queries are SQL for DuckDB. Run them in this folder. `coalesce` returns 0 for a cell without a row; lists of counts
omit such cells.

{queries}
## Tables

| file | variables | rows |
|---|---|---:|
{files}
"""


def readme(description: dict[str, Any], programme: Programme) -> str:
    """Return the README.md of a release with this description."""
    counts = description["counts"]
    noise, *about = noise_sentences(description["noise"], counts)
    if description.get("escaped"):
        about.append(
            "An apostrophe precedes codes that begin with `=`, `@`, a tab or a carriage return, because spreadsheets "
            "would evaluate them as formulas. The apostrophe is not part of the code."
        )
    listed = [_file_line(entry, programme) for entry in description["files"][:MOST_TABLES]]
    if more := len(description["files"]) - MOST_TABLES:
        listed += [f"| {more:,} more: see `files` in `release.json` | | |"] if more > 0 else []
    files = len(description["files"])
    return PAGE.format(
        name=description["name"],
        tables=f"{files:,} table{'s' if files != 1 else ''}",
        noise=noise,
        counts=" and ".join(WORDS[name] for name in counts),
        total=TOTAL,
        level=LEVEL,
        total_level=TOTAL_LEVEL,
        about_noise="".join(f"- {line}\n" for line in about),
        queries="\n".join(_queries(description, programme)),
        files="\n".join(listed),
    )


WORDS = {
    VALUE: f"`{VALUE}`, the published count",
    WEIGHTED: f"`{WEIGHTED}`, the published weighted count",
}


def _file_line(entry: dict[str, Any], programme: Programme) -> str:
    table = next(table for table in programme.tables if table.id == entry["id"])
    return f"| `{entry['file']}` | {', '.join(b.code for b in table.breakdowns)} | {entry['rows']:,} |"


def _queries(description: dict[str, Any], programme: Programme) -> Iterable[str]:
    """Yield three queries on one table: the count of an area, a margin, and a share with its interval."""
    areas = area_topic(programme)
    query = _TableQueries(description, _example(programme, areas))
    area = next((b for b in query.table.breakdowns if b.topic == areas and b.shown_levels), None)
    yield query.one_count(area)
    if margin := query.longest(areas):
        yield query.margin(margin)
        yield query.share(margin)


def _example(programme: Programme, areas: str | None) -> Table:
    """Return the table for the queries; prefer one with totals, by area, with a variable of several levels."""

    def order(table: Table) -> tuple[bool, bool, bool, int]:
        without_total = not all(b.total for b in table.breakdowns)
        by_area = any(b.topic == areas and b.shown_levels for b in table.breakdowns)
        by_level = any(b.topic != areas and len(b.shown_levels) > 1 for b in table.breakdowns)
        return without_total, not by_area, not by_level, len(table.breakdowns)

    return min(programme.tables, key=order)


class _TableQueries:
    """SQL queries on one table of a release."""

    def __init__(self, description: dict[str, Any], table: Table) -> None:
        self.table = table
        self.noise = description["noise"]
        self.count = description["counts"][0]
        file = next(entry["file"] for entry in description["files"] if entry["id"] == table.id)
        # DuckDB would read codes such as 001 as numbers.
        self.source = f"read_csv({_text(file)}, all_varchar = true)" if file.endswith(".csv") else _text(file)
        self.value = f"{self.count}::BIGINT" if file.endswith(".csv") else self.count
        self.escaped = bool(description.get("escaped"))

    def longest(self, areas: str | None) -> Breakdown | None:
        """Return the variable with the most levels; areas only as a last resort."""
        shown = [each for each in self.table.breakdowns if each.shown_levels]
        return max(shown, key=lambda each: (each.topic != areas, len(each.shown_levels)), default=None)

    def one_count(self, area: Breakdown | None) -> str:
        """Return the query for the count of an area, or for the total."""
        code = (area.shown_levels[-1].codes or (TOTAL,))[0] if area else TOTAL
        where = [self._is(area, code)] if area else []
        title = f"The count of {area.code} {code}" if area else "The total"
        return self._block(title, self._select([f"{self._sum()} AS {self.count}"], where, besides=area))

    def margin(self, variable: Breakdown) -> str:
        """Return the query for all counts at the finest level of one variable."""
        where = [self._at(variable, variable.shown_levels[-1])]
        what = [_name(self._stored(variable.code)), f"{self._sum()} AS {self.count}"]
        sql = f"{self._select(what, where, besides=variable)}\nGROUP BY ALL ORDER BY ALL"
        return self._block(f"All counts by {variable.code}", sql)

    def share(self, variable: Breakdown) -> str:
        """Return the query for the share of one category, with an interval if the size of the noise is disclosed."""
        code = (variable.shown_levels[0].codes or (TOTAL,))[0]
        parts = [f"{self._sum(self._is(variable, code))} AS part", f"{self._sum(self._summed(variable))} AS whole"]
        counts = self._select(parts, [], besides=variable, indent="  ")
        shown = ["part / whole AS share"]
        size = f"{typical_change(self.noise):.1f}"
        # If no total is published, the whole is a sum of parts, each with its own noise: no interval.
        if float(size) and self.count == VALUE and variable.total:
            error = f"{NORMAL} * {size} * sqrt(1 + share ** 2) / whole"
            shown += [f"share - {error} AS lower", f"share + {error} AS upper"]
        columns = ",\n  ".join(shown)
        interval = ", with its 95 % interval" if len(shown) > 1 else ""
        sql = f"WITH counts AS (\n  {counts}\n)\nSELECT\n  {columns}\nFROM counts"
        return self._block(f"The share of {variable.code} {code}{interval}", sql)

    def _sum(self, condition: str = "") -> str:
        chosen = f" FILTER ({condition})" if condition else ""
        return f"coalesce(sum({self.value}){chosen}, 0)"

    def _select(self, what: list[str], where: list[str], besides: Breakdown | None, indent: str = "") -> str:
        others = [self._summed(each) for each in self.table.breakdowns if each is not besides]
        conditions = [each for each in (*where, *others) if each]
        condition = f"\n{indent}WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(what)}\n{indent}FROM {self.source}{condition}"

    def _summed(self, variable: Breakdown) -> str:
        """Return the condition for the total of a variable, or for its coarsest level if no total is published."""
        if variable.total or not variable.shown_levels:
            return self._is(variable, TOTAL)
        return self._at(variable, variable.shown_levels[0])

    def _stored(self, text: str) -> str:
        """Return a code or name as stored in the file."""
        return re.sub(FORMULA, r"'\1", text) if self.escaped else text

    def _is(self, variable: Breakdown, code: str) -> str:
        return f"{_name(self._stored(variable.code))} = {_text(self._stored(code))}"

    def _at(self, variable: Breakdown, level: Level) -> str:
        if len(variable.shown_levels) > 1:
            column = _name(self._stored(variable.code + LEVEL))
            return f"list_contains(string_split({column}, ' '), {_text(level.marker)})"
        return f"{_name(self._stored(variable.code))} <> {_text(TOTAL)}" if variable.total else ""

    @staticmethod
    def _block(title: str, sql: str) -> str:
        return f"{title}:\n\n```sql\n{sql};\n```\n"


def _name(name: str) -> str:
    """Return a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    """Return a quoted SQL string."""
    return "'" + text.replace("'", "''") + "'"
