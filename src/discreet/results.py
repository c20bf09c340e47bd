"""Result: the number of one measure with its unit, meaning and assumptions. ResultSet: the results of one call."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt
    import pandas as pd
    import pyarrow as pa

WIDTH, MOST_SHOWN, MOST_TITLE_LINES = 80, 15, 4
"""Columns, results and title lines in the output of `repr`, which fits on a screen of 24 lines."""
NAME_WIDTH, UNIT_WIDTH = 46, 18
RESULTS = "results"
"""The default table of `to_arrow` and `to_pandas`."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The number of one measure, with everything needed to interpret it.

    Attributes:
        name: a short name, unique within the output of a command.
        value: the number.
        unit: the unit; "1" for a share or a probability.
        sentence: the number in words, with its conditions.
        worst: the row or statistic with the worst value; None if not applicable.
        assumptions: the assumptions under which the number holds.
        equation: the formula.
    """

    name: str
    value: float
    unit: str
    sentence: str
    worst: str | None = None
    assumptions: tuple[str, ...] = ()
    equation: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, as `--json` prints it; an infinite value becomes null."""
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}


CHARTS = "discreet.charts"
"""The group of entry points that name, by class, the function that draws an object of this class."""
TILE_COLOURS = {"MEETS": "#1b6ca8", "MISSES": "#c1440e"}
"""The colours of verdicts, the same as in charts; other verdicts are grey."""
LINE = "1px solid rgba(128,128,128,.4)"
LEFT = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"


class NotebookView:
    """An object that a notebook displays as an HTML table and that has a chart.

    Colours of text and background are those of the notebook, so that the table is legible in every theme.
    """

    def chart(self) -> alt.LayerChart | alt.ConcatChart:
        """Return the main chart as an Altair chart. A notebook displays it as SVG, without a network."""
        for known in type(self).__mro__:
            for entry in entry_points(group=CHARTS, name=known.__name__):
                drawn: alt.LayerChart | alt.ConcatChart = entry.load()(self)
                return drawn
        raise InputError(
            f"{type(self).__name__} has no chart: no entry point of {CHARTS} names it. Reinstall discreet."
        )


def html_view(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], total: int, tiles: str = "") -> str:
    """Return a title, tiles and a table as HTML, at most one screen.

    Args:
        title: the text above the table.
        heads: the names of the columns.
        rows: the rows as text; rows beyond one screen are not read.
        total: the number of rows.
        tiles: HTML between the title and the table.
    """
    shown = [row for row, _ in zip(rows, range(MOST_SHOWN), strict=False)]
    head = "".join(f'<th style="{LEFT}">{escape(each)}</th>' for each in heads)
    lines = [f'<td style="{LEFT}">' + f'</td><td style="{LEFT}">'.join(map(escape, row)) + "</td>" for row in shown]
    body = "".join(f'<tr style="border-top:{LINE}">{line}</tr>' for line in lines)
    more = f"<p>... {total - len(shown):,} more</p>" if total > len(shown) else ""
    table = f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div style="font-size:90%"><p><b>{escape(title)}</b></p>{tiles}{table}{more}</div>'


def decision_tiles(decision: Any) -> str:  # noqa: ANN401 - a Decision of discreet.verdicts, which is on the same floor
    """Return a decision as HTML: its headline, its reason and options, and one tile per check."""
    lines = [f"<b>{escape(decision.headline)}.</b> {escape(decision.reason)}".rstrip()]
    lines += [escape(each) for each in decision.options]
    tiles = []
    for each in decision.checks:
        colour = TILE_COLOURS.get(each.verdict.name, "#8a8f98")
        texts = (each.criterion.label, each.value_text, each.target_text, f"{each.verdict.shape} {each.verdict.word}")
        label, value, target, verdict = map(escape, texts)
        look = f"display:inline-block;margin:0 8px 8px 0;padding:4px 10px;border:{LINE};border-left:5px solid {colour}"
        tiles.append(f'<div style="{look}">{label}<br><b>{value}</b><br>{target}<br>{verdict}</div>')
    return f"<p>{'<br>'.join(lines)}</p><div>{''.join(tiles)}</div>"


def check_pandas(function: str, instead: str) -> None:
    """Raise an error that names the extra if pandas is not installed.

    Args:
        function: the function that needs pandas.
        instead: a function that does not.
    """
    try:
        import pandas  # noqa: F401, ICN001 - checks whether pandas can be imported
    except ImportError as error:
        what = f"{function} needs the package pandas, which is not installed"
        raise InputError(f"{what}. Install it with `pip install 'discreet[notebook]'`, or use {instead}.") from error


class ResultSet(NotebookView):
    """The results of one call: one screen of text, or the full content as a dictionary, Arrow table or data frame.

    Declare a derived dataclass with `repr=False` and with the attributes below.

    Attributes:
        title: one or two sentences on the quantity that was measured.
        results: the results.
        warnings: warnings for the reader.
    """

    if TYPE_CHECKING:
        # For the type checker only: at run time, the fields of a derived dataclass would use a property as default.
        @property
        def title(self) -> str:
            """Return one or two sentences on the quantity that was measured."""

        @property
        def results(self) -> Sequence[Result]:
            """Return the results."""

        @property
        def warnings(self) -> Sequence[str]:
            """Return the warnings for the reader."""

    def to_json(self) -> dict[str, Any]:
        """Return the entries that `--json` prints in addition to settings, results and warnings."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return all results, warnings and further entries as plain values: the `--json` output without settings."""
        results = [each.to_json() for each in self.results]
        return {RESULTS: results, "warnings": list(self.warnings), **self.to_json()}

    def to_arrow(self, part: str = RESULTS) -> pa.Table:
        """Return one table of `to_dict`: by default the results, or another list of records by its name."""
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
        """Return the table of `to_arrow` as a pandas data frame."""
        check_pandas("to_pandas()", "to_arrow()")
        return self.to_arrow(part).to_pandas()

    def _repr_html_(self) -> str:
        title = textwrap.shorten(f"{type(self).__name__}: {self.title}", WIDTH * MOST_TITLE_LINES, placeholder=" ...")
        rows = (
            (each.name, _figure(each.value), "" if each.unit == "1" else each.unit, each.sentence)
            for each in self.results
        )
        decision = getattr(self, "decision", None)
        tiles = decision_tiles(decision) if decision else ""
        return html_view(title, ("name", "value", "unit", "sentence"), rows, len(self.results), tiles)

    def __repr__(self) -> str:
        title = f"{type(self).__name__}: {self.title}"
        lines = textwrap.wrap(title, WIDTH, max_lines=MOST_TITLE_LINES, placeholder=" ...")
        for each in self.results[:MOST_SHOWN]:
            unit = "" if each.unit == "1" else each.unit[:UNIT_WIDTH]
            lines.append(f"  {_cut(each.name):<{NAME_WIDTH}} {each.value:>10.4g} {unit}".rstrip())
        more = f"{len(self.results) - MOST_SHOWN:,} more; " if len(self.results) > MOST_SHOWN else ""
        also = f", .warnings ({len(self.warnings)})" if self.warnings else ""
        return "\n".join([*lines, f"{more}.to_pandas() for all, print() for sentences{also}"])


def _figure(value: float) -> str:
    """Return a value with the four digits of `repr`; large values are rounded to whole numbers.

    >>> _figure(0.876543), _figure(12345.6), _figure(float("inf"))
    ('0.8765', '12,346', 'inf')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.4g}"


def _cut(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 3]}..."
