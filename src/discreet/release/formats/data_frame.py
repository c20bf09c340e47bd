"""One published table as a pandas data frame, with labels, one level and zeros as requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.model import LEVEL, TOTAL, TOTAL_LEVEL, VALUE
from discreet.release.formats.csv_tables import text_columns
from discreet.release.formats.published_table import label_language, published_tables
from discreet.release.formats.table_format import ConversionOptions
from discreet.results import check_pandas

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from discreet.arrays import Flags
    from discreet.programme.model import Breakdown
    from discreet.release.formats.published_table import PublishedTable
    from discreet.release.release import Release


def table_frame(
    release: Release,
    name: str,
    *,
    labels: bool = False,
    level: str | Mapping[str, str] | None = None,
    zeros: bool = False,
    intervals: bool = False,
) -> pd.DataFrame:
    """Return one table as a data frame; `Release.frame` documents the arguments."""
    import pyarrow as pa

    check_pandas("frame()", "table()")
    if name not in release.ids:
        raise UnknownNameError.among("table of the release", name, release.ids)
    options = ConversionOptions(labels=labels, language=label_language(release.programme, None))
    tables = published_tables(release, [name], options.language, intervals=intervals, zeros=zeros)
    table = next(each for each in tables if each.id == name)
    if intervals and VALUE not in table.counts:
        raise ParameterError("Weighted counts have no intervals. Omit intervals.", parameter="intervals")
    chosen = _codes_of_level(table, level)
    table.check()
    # The level of a variable is the same in all rows once it was selected.
    omitted = {table.variables[place].name + LEVEL for place in chosen}
    columns = [each for each in text_columns(table, options) if each.name not in omitted]
    names = [*(column.name for column in columns), *table.measures]
    types = [*([pa.string()] * len(columns)), *([pa.int64()] * len(table.measures))]
    parts = [pa.schema(zip(names, types, strict=True)).empty_table()]
    for cells in table.batches():
        values = cells.values  # noqa: PD011 - not a data frame
        kept = np.ones(len(values[table.counts[0]]), dtype=bool)
        for place, flags in chosen.items():
            kept &= flags[cells.numbers[place]]
        texts = [
            pa.DictionaryArray.from_arrays(pa.array(cells.numbers[each.place][kept]), pa.array(each.texts, pa.string()))
            for each in columns
        ]
        counts = [pa.array(values[measure][kept]) for measure in table.measures]
        parts.append(pa.table([*(text.cast(pa.string()) for text in texts), *counts], names))
    return pa.concat_tables(parts).to_pandas()


def _codes_of_level(table: PublishedTable, level: str | Mapping[str, str] | None) -> dict[int, Flags]:
    """Return which codes belong to the selected level, by place of the variable."""
    known = {each.code: (place, _levels(each)) for place, each in enumerate(table.table.breakdowns)}
    if isinstance(level, str):
        having = [name for name, (_, levels) in known.items() if level in levels]
        if not having:
            names = dict.fromkeys(name for _, levels in known.values() for name in levels)
            raise UnknownNameError.among(f"level in table {table.id} called", level, names)
        if len(having) > 1:
            what = f"Several variables have the level {level!r}: {', '.join(having)}."
            raise ParameterError(f"{what} Name one: level={{{having[0]!r}: {level!r}}}.", parameter="level")
        level = {having[0]: level}
    found = {}
    for name, wanted in (level or {}).items():
        if name not in known:
            raise UnknownNameError.among(f"variable in table {table.id} called", name, known)
        place, levels = known[name]
        if wanted not in levels:
            raise UnknownNameError.among(f"level of {name} called", wanted, levels)
        found[place] = np.array([code in levels[wanted] for code in table.variables[place].codes])
    return found


def _levels(breakdown: Breakdown) -> dict[str, set[str]]:
    """Return the codes of every level; a category that is not divided further belongs to several."""
    total = {TOTAL_LEVEL: {TOTAL}} if breakdown.total or not breakdown.levels else {}
    return {**total, **{level.marker: set(level.codes or ()) for level in breakdown.levels}}
