"""One panel per row of a p-table, or per figure of a comparison.

The chart of a comparison: the success of an attacker under each mechanism, compared with the errors of users.

The chart of a p-table: the noise distribution, one small panel per true count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import ACCENT, GREY, layered, rows, specified, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from discreet.charts.chart import Spec
    from discreet.noise.ptable import PTable

COMPARE_WIDTH, COMPARE_STEP = 200, 26
"""Pixels of a panel between its axes, and of a bar with the space around it."""


@dataclass(frozen=True)
class ComparePanel:
    """One figure of every mechanism.

    Attributes:
        title: what it tells, as `An attacker names`.
        label: what the figure is, with its unit.
        values: of the mechanisms.
        form: of values and ticks, as Python and Vega both write it.
        said: what the title of the picture says of it, with a place for the figures.
        is_risk: whether it is of risk, which has the accent.
    """

    title: str
    label: str
    values: tuple[float, ...]
    form: str = ".0%"
    said: str = "{}"
    is_risk: bool = False

    def told(self, value: float) -> str:
        """Return a value as it is written beside its bar."""
        return f"{value:{self.form}}"


@dataclass(frozen=True)
class CompareChart:
    """Figures of every mechanism, risk first.

    Attributes:
        title: the message.
        names: of the mechanisms.
        panels: the figures, side by side.
        name: of the chart.
    """

    title: str
    names: tuple[str, ...]
    panels: tuple[ComparePanel, ...]
    name: str = "comparison"

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = " ".join(
            f"{panel.title} ({panel.label}): "
            + "; ".join(f"{name} {panel.told(value)}" for name, value in zip(self.names, panel.values, strict=True))
            + "."
            for panel in self.panels
        )
        return f"Bars: one panel per figure, one bar per mechanism. {told}"

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        panels = [self._panel(panel, is_first=number == 0) for number, panel in enumerate(self.panels)]
        return specified(alt.concat(*panels, columns=len(panels)), self.alternative)

    def _panel(self, panel: ComparePanel, *, is_first: bool) -> alt.LayerChart:
        """Return a bar for every mechanism with its value beside it; the first panel names them."""
        import altair as alt

        values = zip(self.names, panel.values, strict=True)
        data = rows({"name": name, "value": value, "told": panel.told(value)} for name, value in values)
        scale = alt.Scale(domain=[0, 1.2 * max(*panel.values, 1e-9)], nice=False)
        x = alt.X("value:Q", title=panel.label, scale=scale)
        # Persons are whole: a tick between two of them would be written as one of them.
        x = x.axis(format=panel.form, tickCount=4, tickMinStep=0 if "%" in panel.form else 1)
        y = alt.Y("name:N", sort=list(self.names), title=None)
        y = y.axis(domain=False, ticks=False, labels=is_first, labelPadding=6)
        bars = alt.Chart(data).mark_bar(color=ACCENT if panel.is_risk else GREY, size=16).encode(x=x, y=y)
        height = COMPARE_STEP * len(self.names)
        return layered([bars, words("told", x, y, data, dx=4)]).properties(
            width=COMPARE_WIDTH, height=height, title=panel.title
        )


def compare_chart(at: str, names: Sequence[str], panels: Sequence[ComparePanel]) -> CompareChart:
    """Return the chart of a comparison.

    Args:
        at: what was held equal, as `equal-variance`.
        names: of the mechanisms.
        panels: figures of all of them; the first is of risk, the last of users' errors.
    """
    risk, error = panels[0], panels[-1]
    least, most = (risk.told(pick(risk.values)) for pick in (min, max))
    small, large = (error.told(pick(error.values)) for pick in (min, max))
    best, worst = (names[error.values.index(pick(error.values))] for pick in (min, max))
    learnt = risk.said.format(least if least == most else f"{least} to {most}")
    differ = f"{small} ({best}) to {large} ({worst}) off"
    spoilt = f"the worst count is {f'{small} off under each' if small == large else differ}"
    return CompareChart(f"At {at.replace('-', ' ')} {learnt}; {spoilt}", tuple(names), tuple(panels))


MOST_PANELS, PANEL_COLUMNS = 12, 3
PANEL_WIDTH, PANEL_HEIGHT = 220, 120
"""Pixels of a panel between its axes."""


@dataclass(frozen=True)
class PTablePanel:
    """The law of one row: bars of probability over noise, and a label."""

    label: str
    noise: tuple[int, ...]
    probability: tuple[float, ...]


@dataclass(frozen=True)
class PTableChart:
    """Panels of one scale, row by row.

    Attributes:
        title: the message.
        bound: the largest noise.
        panels: one per true count.
        name: of the chart.
    """

    title: str
    bound: int
    panels: tuple[PTablePanel, ...]
    name: str = "ptable"

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = "; ".join(panel.label for panel in self.panels)
        return f"Bars: probability of the noise from {-self.bound} to {self.bound}, one panel per true count. {told}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        panels = [self._panel(number) for number in range(len(self.panels))]
        return specified(alt.concat(*panels, columns=min(PANEL_COLUMNS, len(panels))), self.alternative)

    def _panel(self, number: int) -> alt.Chart:
        """Return one panel; the axes are named at the left and at the lower end."""
        import altair as alt

        panel = self.panels[number]
        data = rows(
            {"noise": noise, "probability": chance, "colour": GREY if noise else ACCENT}
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
    """Return the chart of a p-table; of a large one the first rows and the last."""
    moving = [row for row in ptable.rows if row.bound > 0] or list(ptable.rows[-1:])
    last = moving[-1]
    shown = moving if len(moving) <= MOST_PANELS else [*moving[: MOST_PANELS - 1], last]
    panels = []
    for row in shown:
        count = f"{row.count} and more" if row is ptable.rows[-1] and ptable.repeat == 1 else str(row.count)
        table = row.table
        label = f"count {count}: sd {row.variance**0.5:.2f}, stays {row.stay:.0%}"
        panels.append(PTablePanel(label, tuple(table.values.tolist()), tuple(row.pmf(table.values).tolist())))
    zeros = "zeros move too" if ptable.perturbs_zeros else "zeros stay zero"
    title = f"Counts change by about ±{last.variance**0.5:.1f} and never by more than {ptable.bound}; {zeros}"
    return PTableChart(title, ptable.bound, tuple(panels))
