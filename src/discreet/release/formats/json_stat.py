"""JSON-stat 2: a dataset per table, with every cell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from discreet.release.formats.csv_tables import file_names
from discreet.release.formats.table_format import TABLE_FORMATS, TableFormat, cannot_contain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable, PublishedVariable
    from discreet.release.formats.table_format import ConversionOptions

MEASURE = "measure"
"""The dimension of counts and intervals, if there are several."""


@TABLE_FORMATS.register("json-stat")
class JsonStat(TableFormat):
    """A JSON-stat dataset per table; hierarchies are given by `child`."""

    name = "json-stat"
    summary = "JSON-stat 2 with all cells"

    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:  # noqa: ARG002 - required by the base class
        """Refuse a variable with the name of the dimension of counts."""
        for table in tables:
            if len(table.measures) > 1 and any(each.name == MEASURE for each in table.variables):
                what = f"table {table.id} with several counts and a variable named {MEASURE}"
                raise cannot_contain("JSON-stat", what, "Rename the variable.")

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write a file per table."""
        names = file_names(tables)
        for table in tables:
            head = json.dumps(_described(table, options), ensure_ascii=False)
            with (out / f"{names[table.id]}.json").open("w", encoding="utf-8") as file:
                # Write the values last and in batches, because there may be very many.
                file.write(f'{head[:-1]}, "value": [')
                begin = ""
                for values in table.matrix():
                    file.write(begin + ",".join(map(str, values)))
                    begin = ","
                file.write("]}\n")
            done()


def _described(table: PublishedTable, options: ConversionOptions) -> dict[str, Any]:
    dimensions = {variable.name: _dimension(variable) for variable in table.variables}
    sizes = [len(variable.codes) for variable in table.variables]
    role = {}
    if len(table.measures) > 1:
        dimensions[MEASURE] = {"label": MEASURE, "category": {"index": list(table.measures)}}
        sizes.append(len(table.measures))
        role = {"role": {"metric": [MEASURE]}}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": table.title,
        "source": str(table.release.description["name"]),
        "note": list(table.notes),
        "lang": options.language,
        "id": list(dimensions),
        "size": sizes,
        **role,
        "dimension": dimensions,
    }


def _dimension(variable: PublishedVariable) -> dict[str, Any]:
    children: dict[str, list[str]] = {}
    for code, parent in zip(variable.codes, variable.parents, strict=True):
        if parent:
            children.setdefault(parent, []).append(code)
    category: dict[str, Any] = {
        "index": list(variable.codes),
        "label": dict(zip(variable.codes, variable.labels, strict=True)),
    }
    return {"label": variable.label, "category": {**category, **({"child": children} if children else {})}}
