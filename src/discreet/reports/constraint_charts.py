"""Every constraint of a design as a chart of its own: what it alone allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.calibration.constraints import AT_LEAST, BOUND, EPSILON, VARIANCE
from discreet.charts.limit import BOUND as BOUND_AXIS
from discreet.charts.limit import LimitChart

if TYPE_CHECKING:
    from discreet.calibration.constraints import Constraint
    from discreet.calibration.noise_design import Design

QUANTITIES = {
    VARIANCE: "variance V of one noise, persons²",
    BOUND: BOUND_AXIS,
    EPSILON: "epsilon of one count: more is less noise",
}


def constraint_charts(design: Design) -> tuple[LimitChart, ...]:
    """Return a chart per constraint, with its formula."""
    return tuple(_chart(each, range(1, design.max_bound + 1)) for each in design.constraints)


def _chart(each: Constraint, bounds: range) -> LimitChart:
    return LimitChart(
        title=f"{each.name.capitalize()}: {each.reason}",
        formula=each.formula,
        quantity=QUANTITIES[each.about],
        limits=tuple((e, each.limit(e)) for e in bounds) if each.about == VARIANCE else ((0, each.limit(0)),),
        is_lower=each.side == AT_LEAST,
        name=f"constraint-{each.name.replace(' ', '-')}-{each.about}",
    )
