"""A comparison of mechanisms as it is shown: which figures stand in its table, and which are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.compare import ComparePanel, compare_chart

if TYPE_CHECKING:
    from discreet.calibration.compare import Compared, Comparison
    from discreet.charts.compare import CompareChart


@dataclass(frozen=True)
class Column:
    """One column of the table.

    Attributes:
        head: its heading.
        names: of the figures, of which the largest is shown.
        form: in which it is written.
        meaning: in words.
    """

    head: str
    names: tuple[str, ...]
    form: str
    meaning: str

    def told(self, each: Compared) -> str:
        """Return the figure of one mechanism, a dash where it has none."""
        value = each.value(*self.names)
        return "-" if value is None else self.form.format(value)


COUNTS = ("posterior-projection", "projection")
"""Attacks on all counts above 0; the better one counts."""
SINGLES = (*(f"{name}: single persons" for name in COUNTS), "margins: posterior: single persons")
"""What the attacks recover of the cells of one person; the best one counts."""
RISK = (
    Column("as is", ("unchanged_counts",), "{:.1%}", "counts above 0 published as they are: right without any attack"),
    Column("right", COUNTS, "{:.1%}", "counts above 0 that the better of two attacks recovers exactly here"),
    Column("singles", SINGLES, "{:.1%}", "cells of one person that the best of three attacks recovers exactly here"),
    Column(
        "formula",
        ("averaging_success",),
        "{:.1%}",
        "success of the best linear attack on the most exposed statistic, by its formula",
    ),
    Column(
        "member",
        ("membership_advantage", "delta_of_a_person_alone"),
        "{:.3f}",
        "what the worst count adds to guessing whether a person is in it",
    ),
)
LOSS = (
    Column("off", ("expected_absolute_distance",), "{:.2f}", "persons that a count above 0 is off on average"),
    Column("share", ("expected_relative_distance",), "{:.1%}", "the same as a share of the true count"),
    Column("lost", ("expected_vanished",), "{:.1%}", "counts above 0 published as 0 or less, on average"),
    Column("worst", ("largest_distance",), "{:,.0f}", "the most that a cell is off here, empty ones among them"),
    Column("made up", ("expected_made_up",), "{:.1%}", "empty cells published above 0, on average"),
    Column("apart", ("totals_apart",), "{:.1%}", "totals that are not the sums of their parts here"),
    Column("areas", ("counts_off_by_20_percent",), "{:,.0f}", "counts of areas below 500 expected more than 20 % off"),
)
"""What users lose: over all draws of the noise, or in this release, here."""

RISK_PANELS = (
    (SINGLES, "Persons alone are named", "share of the cells of one person", "an attacker names {} of persons alone"),
    (COUNTS, "Counts are named", "share of the counts above 0", "an attacker names {} of the counts above 0"),
    (("averaging_success",), "An attacker is right", "most exposed, by formula", "an attacker is right in {} of cases"),
)
"""Figures of risk that can be drawn, the largest of several; the first two that all mechanisms have are."""
MOST_RISKS = 2
LOSS_PANELS = (
    (("expected_relative_distance",), "Users are off", "mean share of the true count", "{:.0%}"),
    (("largest_distance",), "At worst", "persons that a cell is off", "{:,.0f}"),
)


def chart_of(found: Comparison) -> CompareChart:
    """Return risk beside users' errors, in figures that all mechanisms have."""
    risks = [
        ComparePanel(title, label, tuple(values), said=said, is_risk=True)
        for names, title, label, said in RISK_PANELS
        if (values := found.figures(*names))
    ]
    errors = [
        ComparePanel(title, label, tuple(values), form)
        for names, title, label, form in LOSS_PANELS
        if (values := found.figures(*names))
    ]
    return compare_chart(found.at, [each.name for each in found.compared], [*risks[:MOST_RISKS], *errors])
