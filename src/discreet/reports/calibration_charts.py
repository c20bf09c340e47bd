"""Charts of a noise design and of a comparison of mechanisms.

A design has the plane of variance and bound, the line of epsilon, one chart per constraint, and the frontier of risk
against published detail. `draw_design` writes all of them into a folder. A comparison has the columns of its table and
one chart of risk and of users' errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import AT_LEAST, BOUND, EPSILON, VARIANCE
from discreet.calibration.sentences import phrase
from discreet.charts.constraint_charts import BOUND as BOUND_AXIS
from discreet.charts.constraint_charts import EpsilonChart, EpsilonLimit, LimitChart
from discreet.charts.frontier_chart import FrontierChart, FrontierPoint
from discreet.charts.panel_charts import ComparePanel, compare_chart
from discreet.charts.rendering import draw_figures
from discreet.charts.variance_bound_plane import PlaneChart, PlaneEdge, PlanePoint, PlaneRow

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.calibration.comparison import Comparison, MechanismResult
    from discreet.calibration.constraints import Constraint
    from discreet.calibration.curation import Curation, Cut
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.charts.chart import Chart
    from discreet.charts.panel_charts import CompareChart


@dataclass(frozen=True)
class ComparisonColumn:
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

    def told(self, each: MechanismResult) -> str:
        """Return the figure of one mechanism, a dash where it has none."""
        value = each.value(*self.names)
        return "-" if value is None else self.form.format(value)


COUNTS = ("posterior-projection", "projection")
"""Attacks on all counts above 0; the better one counts."""
SINGLES = (*(f"{name}: single persons" for name in COUNTS), "margins: posterior: single persons")
"""What the attacks recover of the cells of one person; the best one counts."""
RISK = (
    ComparisonColumn(
        "as is", ("unchanged_counts",), "{:.1%}", "counts above 0 published as they are: right without any attack"
    ),
    ComparisonColumn("right", COUNTS, "{:.1%}", "counts above 0 that the better of two attacks recovers exactly here"),
    ComparisonColumn(
        "singles", SINGLES, "{:.1%}", "cells of one person that the best of three attacks recovers exactly here"
    ),
    ComparisonColumn(
        "formula",
        ("averaging_success",),
        "{:.1%}",
        "success of the best linear attack on the most exposed statistic, by its formula",
    ),
    ComparisonColumn(
        "member",
        ("membership_advantage", "delta_of_a_person_alone"),
        "{:.3f}",
        "what the worst count adds to guessing whether a person is in it",
    ),
)
LOSS = (
    ComparisonColumn(
        "off", ("expected_absolute_distance",), "{:.2f}", "persons that a count above 0 is off on average"
    ),
    ComparisonColumn("share", ("expected_relative_distance",), "{:.1%}", "the same as a share of the true count"),
    ComparisonColumn("lost", ("expected_vanished",), "{:.1%}", "counts above 0 published as 0 or less, on average"),
    ComparisonColumn(
        "worst", ("largest_distance",), "{:,.0f}", "the most that a cell is off here, empty ones among them"
    ),
    ComparisonColumn("made up", ("expected_made_up",), "{:.1%}", "empty cells published above 0, on average"),
    ComparisonColumn("apart", ("totals_apart",), "{:.1%}", "totals that are not the sums of their parts here"),
    ComparisonColumn(
        "areas", ("counts_off_by_20_percent",), "{:,.0f}", "counts of areas below 500 expected more than 20 % off"
    ),
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
    (("expected_relative_distance",), "Users are off", "mean share of the true count", ".0%"),
    (("largest_distance",), "At worst", "persons that a cell is off", ",.0f"),
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


QUANTITIES = {
    VARIANCE: "variance V of one noise, persons²",
    BOUND: BOUND_AXIS,
    EPSILON: "epsilon of one count: more is less noise",
}


def constraint_charts(design: NoiseDesign) -> tuple[LimitChart, ...]:
    """Return a chart per constraint, with its formula."""
    return tuple(_chart(each, range(1, design.question.max_bound + 1)) for each in design.region.constraints)


def _chart(each: Constraint, bounds: range) -> LimitChart:
    return LimitChart(
        title=f"{each.name.capitalize()}: {each.reason}",
        formula=each.formula,
        quantity=QUANTITIES[each.about],
        limits=tuple((e, each.limit(e)) for e in bounds) if each.about == VARIANCE else ((0, each.limit(0)),),
        is_lower=each.side == AT_LEAST,
        name=f"constraint-{each.name.replace(' ', '-')}-{each.about}",
    )


HERE = "you are here"
RECOMMENDED = "recommended"


def plane_chart_of(design: NoiseDesign, chosen: tuple[float, int] | None = None) -> PlaneChart:
    """Return the plane of variance and bound, with the constraints that bind somewhere in it.

    Args:
        design: what the constraints leave.
        chosen: variance and bound of a release, to be marked as `you are here`; the recommendation if left out.
    """
    plane = design.region.plane
    binding = {row.low_by for row in plane.rows} | {row.high_by for row in plane.rows}
    marked, label = (chosen, HERE) if chosen else (design.recommended, RECOMMENDED)
    return PlaneChart(
        title=_where(design, chosen) if chosen else _left(design),
        rows=tuple(PlaneRow(row.bound, row.low, row.high) for row in plane.rows),
        edges=tuple(
            _edge(each, [row.bound for row in plane.rows])
            for each in plane.constraints
            if each.about == VARIANCE and each.name in binding
        ),
        chosen=(PlanePoint(*marked, label),) if marked else (),
    )


def line_chart_of(design: NoiseDesign, chosen: float | None = None) -> EpsilonChart:
    """Return the line of epsilon, with one of a release marked as `you are here` where it is given."""
    limits = tuple(
        EpsilonLimit(each.name, each.limit(0), each.side == AT_LEAST)
        for each in design.region.constraints
        if each.about == EPSILON
    )
    line = design.region.line
    left = f"{line.low:.3g} to {line.high:.3g}" if line.low else f"at most {line.high:.3g}"
    apart = f"{line.low_by} ask for {line.low:.3g}, {line.high_by} allows {line.high:.3g}"
    if chosen is None:
        title = f"An epsilon of {left} a count keeps to all limits" if line.feasible else f"Nothing is left: {apart}"
    elif not line.feasible:
        title = f"An epsilon of {chosen:.3g} a count cannot keep to all limits, and none could: {apart}"
    else:
        within = "within" if line.low <= chosen <= line.high else "outside"
        title = f"An epsilon of {chosen:.3g} a count is {within} what is left, {left}"
    return EpsilonChart(title, limits, None if chosen is None else (chosen, HERE))


def _edge(each: Constraint, bounds: list[int]) -> PlaneEdge:
    label = f"{each.name}: {each.side}"
    return PlaneEdge(label, tuple((bound, each.limit(bound)) for bound in bounds), each.side == AT_LEAST)


def _left(design: NoiseDesign) -> str:
    """Return what is left, as a title."""
    if design.recommended is None:
        last = design.region.plane.rows[-1]
        asks = f"{last.low_by} asks for a variance of {last.low:.3g}"
        return f"Nothing is left: {asks}, {phrase(last.high_by)} allows {last.high:.3g} at a bound of {last.bound}"
    variance, bound = design.recommended
    first = design.region.plane.feasible[0].bound
    return f"From a bound of {first} on something is left: take variance {variance:.3g} and bound {bound}"


def _where(design: NoiseDesign, chosen: tuple[float, int]) -> str:
    """Return how a setting stands to the constraints, as a title."""
    variance, bound = chosen
    row, setting = design.region.plane.at(bound), f"Variance {variance:.3g} with bound {bound}"
    if variance < row.low:
        return f"{setting} is too little noise: {row.low_by} asks for a variance of at least {row.low:.3g}"
    if variance > row.high:
        allows = f"{phrase(row.high_by)} allows a variance of at most {row.high:.3g}"
        return f"{setting} is too much for its bound: {allows}"
    if bound > design.question.max_bound:
        return f"{setting} has a larger bound than the {design.question.max_bound} that users accept"
    return f"{setting} is within what the constraints leave: {row.low:.3g} to {row.high:.3g}"


def frontier_chart_of(design: NoiseDesign) -> FrontierChart:
    """Return the frontier of risk against published detail."""
    curation = design.region.curation
    widest = design.region.plane.rows[-1]

    def points(cuts: tuple[Cut, ...]) -> tuple[FrontierPoint, ...]:
        return tuple(_point(cut, curation.whole) for cut in cuts)

    return FrontierChart(
        title=_message(curation),
        whole=_point(curation.whole, curation.whole),
        alone=points(curation.alone),
        path=points(curation.path),
        frontier=points(curation.frontier),
        allowed=widest.high,
        bound=widest.bound,
    )


def _point(cut: Cut, whole: Cut) -> FrontierPoint:
    label = f"{cut.kind} {cut.name}" if cut.kind else cut.words
    return FrontierPoint(cut.cells / whole.cells, cut.variance, label, cut.feasible)


def _message(curation: Curation) -> str:
    """Return what the cuts come to, as a title."""
    whole = curation.whole
    if not curation.path:
        return f"Everything published needs a variance of {whole.variance:.3g}"
    taken = curation.path if whole.feasible else curation.enough or curation.path
    last, is_one = taken[-1], len(taken) == 1
    then = "" if whole.feasible else f": {'then something' if last.feasible else 'still nothing'} is left"
    return (
        f"{len(taken)} {'cut lowers' if is_one else 'cuts lower'} the variance needed from {whole.variance:.3g} to "
        f"{last.variance:.3g} and {'keeps' if is_one else 'keep'} {last.cells / whole.cells:.1%} of cells{then}"
    )


def design_charts(design: NoiseDesign) -> tuple[Chart, ...]:
    """Return what the constraints leave, what cuts buy, and every constraint by itself."""
    cuts = (frontier_chart_of(design),) if design.region.curation.alone else ()
    return (plane_chart_of(design), line_chart_of(design), *cuts, *constraint_charts(design))


def draw_design(design: NoiseDesign, folder: Path) -> tuple[Path, ...]:
    """Write every chart of a design as PNG and SVG."""
    return draw_figures(design_charts(design), folder, private=False)
