"""Charts in panels: the figures of a comparison of mechanisms, and the rows of a p-table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import DARK, GREY, layered, rows, specified, words
from discreet.verdicts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from discreet.charts.chart import Spec
    from discreet.noise.ptable import PTable

COMPARE_WIDTH, COMPARE_STEP = 200, 26
"""Pixels of a panel between its axes, and of a bar with its margin."""


@dataclass(frozen=True)
class ComparePanel:
    """One figure of every mechanism.

    Attributes:
        title: the heading of the panel.
        label: the quantity with its unit.
        values: the values of the mechanisms.
        form: the format of values and ticks in Python and Vega.
        message: the part of the title of the chart on this figure, with a place for the values.
        is_risk: whether it is a figure of risk, which has the darker colour.
    """

    title: str
    label: str
    values: tuple[float, ...]
    form: str = ".0%"
    message: str = "{}"
    is_risk: bool = False

    def text(self, value: float) -> str:
        """Return a value as text."""
        return percent(value) if "%" in self.form else f"{value:{self.form}}"


@dataclass(frozen=True)
class CompareChart:
    """Figures of every mechanism, risk first.

    Attributes:
        title: the message.
        names: the mechanisms.
        panels: the figures, side by side.
        name: the name of the chart.
    """

    title: str
    names: tuple[str, ...]
    panels: tuple[ComparePanel, ...]
    name: str = "comparison"

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        first, names = self.panels[0], ", ".join(self.names)
        values = " and ".join(first.text(pick(first.values)) for pick in (min, max))
        return f"Bar charts of {len(self.panels)} figures of {names}; {first.title.lower()} between {values}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        panels = [self._panel(panel, is_first=number == 0) for number, panel in enumerate(self.panels)]
        return specified(alt.concat(*panels, columns=len(panels)), self.alternative)

    def _panel(self, panel: ComparePanel, *, is_first: bool) -> alt.LayerChart:
        """Return a bar with its value for every mechanism; the first panel has the names."""
        import altair as alt

        values = zip(self.names, panel.values, strict=True)
        data = rows({"name": name, "value": value, "text": panel.text(value)} for name, value in values)
        scale = alt.Scale(domain=[0, 1.2 * max(*panel.values, 1e-9)], nice=False)
        x = alt.X("value:Q", title=panel.label, scale=scale)
        # Ticks of persons are whole numbers.
        x = x.axis(format=panel.form, tickCount=4, tickMinStep=0 if "%" in panel.form else 1)
        y = alt.Y("name:N", sort=list(self.names), title=None)
        y = y.axis(domain=False, ticks=False, labels=is_first, labelPadding=6)
        bars = alt.Chart(data).mark_bar(color=DARK if panel.is_risk else GREY, size=16).encode(x=x, y=y)
        height = COMPARE_STEP * len(self.names)
        return layered([bars, words("text", x, y, data, dx=4)]).properties(
            width=COMPARE_WIDTH, height=height, title=panel.title
        )


def compare_chart(at: str, names: Sequence[str], panels: Sequence[ComparePanel]) -> CompareChart:
    """Return the chart of a comparison.

    Args:
        at: the quantity that is equal for all, as `equal-variance`.
        names: the mechanisms.
        panels: the figures of all mechanisms; the first is a risk, the last an error.
    """
    risk, error = panels[0], panels[-1]
    least, most = (risk.text(pick(risk.values)) for pick in (min, max))
    small, large = (error.text(pick(error.values)) for pick in (min, max))
    best, worst = (names[error.values.index(pick(error.values))] for pick in (min, max))
    recovered = risk.message.format(least if least == most else f"{least} to {most}")
    differ = f"{small} ({best}) to {large} ({worst})"
    title = f"At {at.replace('-', ' ')}, {recovered}; {error.title.lower()} {small if small == large else differ}"
    return CompareChart(title, tuple(names), tuple(panels))


MOST_PANELS, PANEL_COLUMNS = 12, 3
PANEL_WIDTH, PANEL_HEIGHT = 220, 120
"""Pixels of a panel between its axes."""


@dataclass(frozen=True)
class PTablePanel:
    """The noise distribution of one row of a p-table, with a label."""

    label: str
    noise: tuple[int, ...]
    probability: tuple[float, ...]


@dataclass(frozen=True)
class PTableChart:
    """Panels on one scale, row by row.

    Attributes:
        title: the message.
        bound: the bound of the noise.
        panels: one panel per true count.
        name: the name of the chart.
    """

    title: str
    bound: int
    panels: tuple[PTablePanel, ...]
    name: str = "ptable"

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        span, labels = f"from {-self.bound} to {self.bound}", "; ".join(panel.label for panel in self.panels)
        return f"Probability of the noise {span} in {len(self.panels)} panels by true count: {labels}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        panels = [self._panel(number) for number in range(len(self.panels))]
        return specified(alt.concat(*panels, columns=min(PANEL_COLUMNS, len(panels))), self.alternative)

    def _panel(self, number: int) -> alt.Chart:
        """Return one panel; axes have titles at the left and at the lower end."""
        import altair as alt

        panel = self.panels[number]
        data = rows(
            {"noise": noise, "probability": chance, "colour": GREY if noise else DARK}
            for noise, chance in zip(panel.noise, panel.probability, strict=True)
        )
        top = max(max(each.probability) for each in self.panels)
        below = "noise: published minus true count" if number + PANEL_COLUMNS >= len(self.panels) else None
        x = alt.X(
            "noise:Q", title=below, scale=alt.Scale(domain=[-self.bound - 0.8, self.bound + 0.8], nice=False, padding=0)
        )
        y = alt.Y("probability:Q", title=None if number % PANEL_COLUMNS else "probability")
        y = y.scale(domain=[0, top]).axis(tickCount=4)
        bars = alt.Chart(data).mark_bar(size=0.85 * PANEL_WIDTH / (2 * self.bound + 1.6))
        made: alt.Chart = bars.encode(
            x=x.axis(format="d", tickMinStep=1), y=y, color=alt.Color("colour:N", scale=None)
        ).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=panel.label)
        return made


def ptable_chart(ptable: PTable) -> PTableChart:
    """Return the chart of a p-table; of a large one the first rows and the last row."""
    moving = [row for row in ptable.rows if row.bound > 0] or list(ptable.rows[-1:])
    last = moving[-1]
    shown = moving if len(moving) <= MOST_PANELS else [*moving[: MOST_PANELS - 1], last]
    panels = []
    for row in shown:
        count = f"{row.count} and more" if row is ptable.rows[-1] and ptable.repeat == 1 else str(row.count)
        table = row.table
        label = f"count {count}: sd {row.variance**0.5:.2f}, unchanged {percent(row.stay)}"
        panels.append(PTablePanel(label, tuple(table.values.tolist()), tuple(row.pmf(table.values).tolist())))
    zeros = "zeros have noise" if ptable.perturbs_zeros else "zeros stay 0"
    title = f"Counts change by about ±{last.variance**0.5:.1f} and at most by {ptable.bound}; {zeros}"
    return PTableChart(title, ptable.bound, tuple(panels))
