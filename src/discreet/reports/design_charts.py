"""A design as charts: the plane of variance and bound, and the line of epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.calibration.constraints import AT_LEAST, EPSILON, VARIANCE
from discreet.calibration.region import phrase
from discreet.charts.epsilon_line import EpsilonChart, EpsilonLimit
from discreet.charts.plane import PlaneChart, PlaneEdge, PlanePoint, PlaneRow

if TYPE_CHECKING:
    from discreet.calibration.constraints import Constraint
    from discreet.calibration.noise_design import Design

HERE = "you are here"
RECOMMENDED = "recommended"


def plane_chart_of(design: Design, chosen: tuple[float, int] | None = None) -> PlaneChart:
    """Return the plane of variance and bound, with the constraints that bind somewhere in it.

    Args:
        design: what the constraints leave.
        chosen: variance and bound of a release, to be marked as `you are here`; the recommendation if left out.
    """
    plane = design.plane
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


def line_chart_of(design: Design, chosen: float | None = None) -> EpsilonChart:
    """Return the line of epsilon, with one of a release marked as `you are here` where it is given."""
    limits = tuple(
        EpsilonLimit(each.name, each.limit(0), each.side == AT_LEAST)
        for each in design.constraints
        if each.about == EPSILON
    )
    line = design.line
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


def _left(design: Design) -> str:
    """Return what is left, as a title."""
    if design.recommended is None:
        last = design.plane.rows[-1]
        asks = f"{last.low_by} asks for a variance of {last.low:.3g}"
        return f"Nothing is left: {asks}, {phrase(last.high_by)} allows {last.high:.3g} at a bound of {last.bound}"
    variance, bound = design.recommended
    first = design.plane.feasible[0].bound
    return f"From a bound of {first} on something is left: take variance {variance:.3g} and bound {bound}"


def _where(design: Design, chosen: tuple[float, int]) -> str:
    """Return how a setting stands to the constraints, as a title."""
    variance, bound = chosen
    row, setting = design.plane.at(bound), f"Variance {variance:.3g} with bound {bound}"
    if variance < row.low:
        return f"{setting} is too little noise: {row.low_by} asks for a variance of at least {row.low:.3g}"
    if variance > row.high:
        allows = f"{phrase(row.high_by)} allows a variance of at most {row.high:.3g}"
        return f"{setting} is too much for its bound: {allows}"
    if bound > design.max_bound:
        return f"{setting} has a larger bound than the {design.max_bound} that users accept"
    return f"{setting} is within what the constraints leave: {row.low:.3g} to {row.high:.3g}"
