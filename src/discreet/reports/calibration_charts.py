"""Charts of a noise design and of a comparison of mechanisms.

A design has the plane of variance and bound, the line of epsilon, one chart per constraint, and the frontier of risk
against published detail. `draw_design` writes all of them into a folder. A comparison has the columns of its table and
one chart of risk and of users' errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import AT_LEAST, BOUND, EPSILON, VARIANCE
from discreet.calibration.feasible_region import FARTHEST
from discreet.calibration.recommendation import Setting
from discreet.calibration.sentences import phrase
from discreet.charts.constraint_charts import BOUND as BOUND_AXIS
from discreet.charts.constraint_charts import EpsilonChart, EpsilonLimit, LimitChart
from discreet.charts.frontier_chart import FrontierChart, FrontierPoint
from discreet.charts.panel_charts import ComparePanel, compare_chart
from discreet.charts.rendering import draw_figures
from discreet.charts.variance_bound_plane import PlaneChart, PlaneEdge, PlanePoint, PlaneRow
from discreet.risk.sentences import downwards, upwards
from discreet.verdicts import percent

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
        head: the heading.
        names: the names of results, the largest of which is shown.
        form: the format of the value.
        meaning: the figure in words.
    """

    head: str
    names: tuple[str, ...]
    form: str
    meaning: str

    def told(self, each: MechanismResult) -> str:
        """Return the figure of one mechanism as text; a dash if it has none."""
        value = each.value(*self.names)
        return "-" if value is None else self.form.format(value)


COUNTS = ("posterior-projection", "projection")
"""Attacks on all counts above 0; the larger rate is shown."""
SINGLES = (*(f"{name}: single persons" for name in COUNTS), "margins: posterior: single persons")
"""Attacks on singleton cells; the largest rate is shown."""
RISK = (
    ComparisonColumn("as is", ("unchanged_counts",), "{:.1%}", "share of counts above 0 that are published unchanged"),
    ComparisonColumn(
        "right", COUNTS, "{:.1%}", "exact recovery rate of counts above 0 by the better of two attacks, in this release"
    ),
    ComparisonColumn(
        "singles",
        SINGLES,
        "{:.1%}",
        "exact recovery rate of singleton cells by the best of three attacks, in this release",
    ),
    ComparisonColumn(
        "formula",
        ("averaging_success",),
        "{:.1%}",
        "predicted exact recovery rate of the optimal linear attack on the most exposed statistic",
    ),
    ComparisonColumn(
        "member",
        ("membership_advantage", "delta_of_singleton_cell"),
        "{:.3f}",
        "largest membership advantage of one count over guessing",
    ),
)
LOSS = (
    ComparisonColumn(
        "off", ("expected_absolute_distance",), "{:.2f}", "expected absolute error of counts above 0, persons"
    ),
    ComparisonColumn("share", ("expected_relative_distance",), "{:.1%}", "expected relative error of counts above 0"),
    ComparisonColumn(
        "lost", ("expected_lost_counts",), "{:.1%}", "expected share of counts above 0 that are published as 0 or less"
    ),
    ComparisonColumn(
        "worst",
        ("largest_distance",),
        "{:,.0f}",
        "largest absolute error of a cell in this release, empty cells included",
    ),
    ComparisonColumn(
        "false positives",
        ("expected_false_positives",),
        "{:.1%}",
        "expected share of empty cells that are published above 0",
    ),
    ComparisonColumn(
        "apart", ("totals_apart",), "{:.1%}", "share of totals that differ from the sum of their parts in this release"
    ),
    ComparisonColumn(
        "areas",
        ("counts_off_by_20_percent",),
        "{:,.0f}",
        "expected number of counts of areas below 500 that are more than 20 % off",
    ),
)
"""The errors of users: expected over all draws of the noise, or measured in this release."""

RISK_PANELS = (
    (SINGLES, "Singleton cells recovered", "exact recovery rate", "attacks recover {} of singleton cells"),
    (COUNTS, "Counts recovered", "exact recovery rate of counts above 0", "attacks recover {} of counts above 0"),
    (("averaging_success",), "Averaging", "predicted exact recovery rate", "averaging recovers {} of exposed counts"),
)
"""Figures of risk; the first two that all mechanisms have are drawn."""
MOST_RISKS = 2
LOSS_PANELS = (
    (("expected_relative_distance",), "Relative error", "expected relative error", ".0%"),
    (("largest_distance",), "Largest error", "largest absolute error, persons", ",.0f"),
)


def chart_of(found: Comparison) -> CompareChart:
    """Return the chart of risks and errors that all mechanisms have."""
    risks = [
        ComparePanel(title, label, tuple(values), message=message, is_risk=True)
        for names, title, label, message in RISK_PANELS
        if (values := found.figures(*names))
    ]
    errors = [
        ComparePanel(title, label, tuple(values), form)
        for names, title, label, form in LOSS_PANELS
        if (values := found.figures(*names))
    ]
    return compare_chart(found.at, [each.name for each in found.compared], [*risks[:MOST_RISKS], *errors])


QUANTITIES = {
    VARIANCE: "variance V of the noise, persons²",
    BOUND: BOUND_AXIS,
    EPSILON: "epsilon of one count; larger means less noise",
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


HERE, NEAREST, RECOMMENDED = "this release", "nearest feasible", "recommended"


def nearest_setting(design: NoiseDesign, variance: float, bound: int, needed: float = 0.0) -> Setting | None:
    """Return the feasible setting whose bound is nearest, of two the larger, and there the nearest variance.

    Args:
        design: the constraints.
        variance: of the present noise.
        bound: of the present noise.
        needed: a further lower limit on the variance, of tables that the design does not cover.
    """
    for near in sorted(range(1, FARTHEST + 1), key=lambda each: (abs(each - bound), -each)):
        row = design.region.plane.at(near)
        low = max(row.low, needed)
        if low <= variance <= row.high:
            return Setting(variance, near)
        if low <= row.high:
            ends = (float(upwards(low, n)) if variance < low else float(downwards(row.high, n)) for n in range(3, 17))
            return Setting(next((end for end in ends if low <= end <= row.high), low), near)
    return None


def plane_chart_of(
    design: NoiseDesign, chosen: tuple[float, int] | None = None, nearest: tuple[float, int] | None = None
) -> PlaneChart:
    """Return the plane of variance and bound, with the constraints that bind somewhere in it.

    Args:
        design: the constraints and the feasible region.
        chosen: variance and bound of a release; the recommended setting by default.
        nearest: the nearest feasible setting, marked if it differs.
    """
    plane = design.region.plane
    marked = [PlanePoint(*design.recommended, RECOMMENDED)] if design.recommended else []
    if chosen:
        marked = [PlanePoint(*chosen, HERE)]
        marked += [PlanePoint(*nearest, NEAREST, is_open=True)] if nearest and nearest != chosen else []
    last = max([plane.largest, *(point.bound for point in marked)])
    rows = [plane.at(bound) for bound in range(1, last + 1)]
    binding = {row.low_by for row in rows} | {row.high_by for row in rows}
    return PlaneChart(
        title=_where(design, chosen) if chosen else _feasible(design),
        rows=tuple(PlaneRow(row.bound, row.low, row.high) for row in rows),
        edges=tuple(
            _edge(each, [row.bound for row in rows])
            for each in plane.constraints
            if each.about == VARIANCE and each.name in binding
        ),
        chosen=tuple(marked),
    )


def line_chart_of(design: NoiseDesign, chosen: float | None = None) -> EpsilonChart:
    """Return the line of epsilon, with the epsilon of a release marked if it is given."""
    limits = tuple(
        EpsilonLimit(each.name, each.limit(0), each.side == AT_LEAST)
        for each in design.region.constraints
        if each.about == EPSILON
    )
    line = design.region.line
    span = f"{line.low:.3g} to {line.high:.3g}" if line.low else f"at most {line.high:.3g}"
    conflict = f"{line.low_by} needs {line.low:.3g} or more, {line.high_by} allows {line.high:.3g} at most"
    if chosen is None:
        title = f"All constraints allow an epsilon per count of {span}" if line.feasible else f"Infeasible: {conflict}"
    elif not line.feasible:
        title = f"No epsilon per count is feasible, {chosen:.3g} included: {conflict}"
    else:
        within = "within" if line.low <= chosen <= line.high else "outside"
        title = f"An epsilon per count of {chosen:.3g} is {within} the feasible range, {span}"
    return EpsilonChart(title, limits, None if chosen is None else (chosen, HERE))


def _edge(each: Constraint, bounds: list[int]) -> PlaneEdge:
    label = f"{each.name}: V {'≥' if each.side == AT_LEAST else '≤'}"
    return PlaneEdge(label, tuple((bound, each.limit(bound)) for bound in bounds), each.side == AT_LEAST)


def _feasible(design: NoiseDesign) -> str:
    """Return the recommended setting, or the conflict of the constraints, as a title."""
    if design.recommended is None:
        last = design.region.plane.rows[-1]
        needs = f"{phrase(last.low_by)} needs a variance of {last.low:.3g}"
        return f"Infeasible: {needs}, {phrase(last.high_by)} allows {last.high:.3g} at bound {last.bound}"
    variance, bound = design.recommended
    first = design.region.plane.feasible[0].bound
    return f"Bounds from {first} on are feasible; recommended: variance {variance:.3g}, bound {bound}"


def _where(design: NoiseDesign, chosen: tuple[float, int]) -> str:
    """Return how a setting compares with the constraints, as a title."""
    variance, bound = chosen
    row, setting = design.region.plane.at(bound), f"Variance {variance:.3g} with bound {bound}"
    if variance < row.low:
        return f"{setting} is too little noise: {phrase(row.low_by)} needs a variance of at least {row.low:.3g}"
    if variance > row.high:
        allows = f"{phrase(row.high_by)} allows a variance of at most {row.high:.3g}"
        return f"{setting} is infeasible: {allows} at this bound"
    if bound > design.question.max_bound:
        return f"{setting}: the bound exceeds the acceptable bound of {design.question.max_bound}"
    return f"{setting} is feasible: the constraints allow variances from {row.low:.3g} to {row.high:.3g}"


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
    """Return the effect of the cuts, as a title."""
    whole = curation.whole
    if not curation.path:
        return f"The whole output needs a variance of {whole.variance:.3g}"
    taken = curation.path if whole.feasible else curation.sufficient or curation.path
    last, is_one = taken[-1], len(taken) == 1
    then = "" if whole.feasible else f"; the rest is {'feasible' if last.feasible else 'still infeasible'}"
    return (
        f"{len(taken)} {'cut lowers' if is_one else 'cuts lower'} the variance needed from {whole.variance:.3g} to "
        f"{last.variance:.3g} and {'keeps' if is_one else 'keep'} {percent(last.cells / whole.cells)} of cells{then}"
    )


def design_charts(design: NoiseDesign) -> tuple[Chart, ...]:
    """Return the charts of the feasible region, of the cuts, and of every constraint."""
    cuts = (frontier_chart_of(design),) if design.region.curation.alone else ()
    return (plane_chart_of(design), line_chart_of(design), *cuts, *constraint_charts(design))


def draw_design(design: NoiseDesign, folder: Path) -> tuple[Path, ...]:
    """Write every chart of a design as PNG and SVG."""
    return draw_figures(design_charts(design), folder, private=False)
