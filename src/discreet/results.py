"""The frozen result of a measure: one number with its unit, meaning and assumptions; and the results of one call."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import pyarrow as pa

WIDTH, MOST_SHOWN, MOST_TITLE_LINES = 80, 15, 4
"""Columns, results and lines of the title that `repr` shows: together one screen of 24 lines."""
NAME_WIDTH, UNIT_WIDTH = 46, 18
RESULTS = "results"
"""The table that is meant where none is named."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """A number, said so that it can be read alone.

    Attributes:
        name: short name, unique within a command's output.
        value: the number.
        unit: its unit, "1" for a share or a probability.
        sentence: the number in words, with the condition under which it holds.
        worst: what the number is worst for (a row, a statistic), or None.
        assumptions: what must be true for the number to hold.
        equation: the formula it implements.
    """

    name: str
    value: float
    unit: str
    sentence: str
    worst: str | None = None
    assumptions: tuple[str, ...] = ()
    equation: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as the object that `--json` prints; JSON has no infinity, so such a value is null."""
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}


class ResultSet:
    """The results of one call: on one screen as text, in full as a dictionary, an Arrow table or a data frame.

    A derived dataclass is declared with `repr=False` and has the attributes below.

    Attributes:
        title: what was measured, in a sentence or two.
        results: the figures.
        warnings: what a reader should know.
    """

    if TYPE_CHECKING:
        # Declared for the type checker alone: a field of a derived dataclass would take a property for its default.
        @property
        def title(self) -> str:
            """Return what was measured."""

        @property
        def results(self) -> Sequence[Result]:
            """Return the figures."""

        @property
        def warnings(self) -> Sequence[str]:
            """Return what a reader should know."""

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside settings, results and warnings."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: what `--json` prints beside the settings."""
        results = [each.to_json() for each in self.results]
        return {RESULTS: results, "warnings": list(self.warnings), **self.to_json()}

    def to_arrow(self, part: str = RESULTS) -> pa.Table:
        """Return one table of `to_dict`: a row for every result by default, or another list of records by its name."""
        import pyarrow as pa

        tables = {
            name: rows
            for name, rows in self.to_dict().items()
            if name == RESULTS or (isinstance(rows, list) and rows and isinstance(rows[0], dict))
        }
        if part not in tables:
            raise UnknownNameError.among("table", part, tables)
        texts = dict.fromkeys(("name", "unit", "sentence", "worst", "equation"), pa.string())
        types = {**texts, "value": pa.float64(), "assumptions": pa.list_(pa.string())} if part == RESULTS else {}
        names = dict.fromkeys([*types, *(name for row in tables[part] for name in row)])
        columns = [pa.array([row.get(name) for row in tables[part]], types.get(name)) for name in names]
        return pa.table(columns, [*names])

    def to_pandas(self, part: str = RESULTS) -> pd.DataFrame:
        """Return the table that `to_arrow` returns as a data frame."""
        try:
            import pandas  # noqa: F401, ICN001 - only whether it can be loaded
        except ImportError as error:
            what = "to_pandas() needs the package pandas, which is not installed"
            raise InputError(f"{what}. Install it: pip install pandas. Or use to_arrow().") from error
        return self.to_arrow(part).to_pandas()

    def __repr__(self) -> str:
        title = f"{type(self).__name__}: {self.title}"
        lines = textwrap.wrap(title, WIDTH, max_lines=MOST_TITLE_LINES, placeholder=" ...")
        for each in self.results[:MOST_SHOWN]:
            unit = "" if each.unit == "1" else each.unit[:UNIT_WIDTH]
            lines.append(f"  {_cut(each.name):<{NAME_WIDTH}} {each.value:>10.4g} {unit}".rstrip())
        more = f"{len(self.results) - MOST_SHOWN:,} more; " if len(self.results) > MOST_SHOWN else ""
        also = f", .warnings ({len(self.warnings)})" if self.warnings else ""
        return "\n".join([*lines, f"{more}.to_pandas() for all, print() for sentences{also}"])


def _cut(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 3]}..."
