"""The parameter space as it is shown: what all constraints leave of variance, bound and epsilon, with every edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.paper import ACCENT, DARK, GREY
from discreet.paper.accuracy import ACCURATE
from discreet.paper.optimal_attacker_part import CALLED
from discreet.paper.paper_figure import PaperFigure
from discreet.paper.paper_plane import EdgeLine, EpsilonLine, Span, VariancePlane
from discreet.paper.paper_risk_figures import power
from discreet.paper.parameter_space_part import PUBLISHED_INPUTS
from discreet.paper.published import LAUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.paper.parameter_space_part import Reading, Space

WIDEST = 12.0
"""The largest variance that is drawn, unless averaging asks for more."""


def space(found: Space) -> PaperFigure:
    """Return figure 6, or the same for the programme itself and an attacker."""
    left = found.strict.plane.feasible
    low, high = found.strict.line.low, found.strict.line.high
    strictly = (
        f"Read strictly, variance and bound are left from E = {left[0].bound} and V = {left[0].low:.2f} on"
        if left
        else "Read strictly, no variance and bound up to 10 are left"
    )
    line = f"and an epsilon of {low:.2f} to {high:.2f}" if low <= high else "and no epsilon"
    name, which, where, merged = "parameter-space", "Figure 6", "", ""
    if found.inputs != PUBLISHED_INPUTS:
        name = f"parameter-space-{found.inputs}-{found.attacker}"
        which = "As figure 6"
        where = f" (the programme by the rule {found.inputs}, {CALLED[found.attacker]})"
        merged = " Levels of one category are merged with the total."
    return PaperFigure(
        name,
        f"{strictly}, {line}{where}",
        f"{which} of the paper: what all constraints leave. Blue: every Member State is safe, {found.strict.basis}, "
        f"the areas of France. Yellow: with slack, {found.relaxed.basis}, the areas of Malta.{merged}",
        _space_words(found),
        (_plane(found), _line(found)),
        height=4.6,
    )


def _space_words(found: Space) -> str:
    told = []
    for reading in (found.strict, found.relaxed):
        rows = "; ".join(f"E {row.bound}: V {row.low:.2f} to {row.high:.2f}" for row in reading.plane.feasible)
        line = f"epsilon at least {reading.line.low:.3f}, at most {reading.line.high:.3f}"
        told.append(f"{reading.name.capitalize()} ({reading.basis}): {rows or 'nothing'}; {line}.")
    return " ".join(told)


def _plane(found: Space) -> VariancePlane:
    strict, relaxed = (
        tuple(Span(row.bound, row.low, row.high) for row in reading.plane.rows)
        for reading in (found.strict, found.relaxed)
    )
    edges = [edge for reading, style in ((found.strict, "-"), (found.relaxed, "--")) for edge in _edges(reading, style)]
    bounds = tuple(float(span.bound) for span in strict)
    room = EdgeLine("V = E (E + 1) / 3, uniform noise", found.strict.limits("room"), bounds, GREY, ":")
    return VariancePlane("", strict, relaxed, (*edges, room), strict[-1].bound, max(WIDEST, 1.25 * strict[0].low))


def _edges(reading: Reading, style: str) -> Iterator[EdgeLine]:
    """Give the least variance and the largest by bound, with formula and number."""
    bounds = tuple(float(row.bound) for row in reading.plane.rows)
    least, upper = reading.limits("averaging")[0], reading.limits("hidden bound")
    averaging = f"averaging: V = 0.25 / {reading.ratio:.4g} = {least:.2f}"
    yield EdgeLine(averaging, (least, least), (0.0, bounds[-1] + 1), ACCENT, style)
    label = f"bound hidden: m(V, E) = {power(reading.tuples)}, V = {upper[-1]:.2f} at E = {bounds[-1]:g}"
    yield EdgeLine(label, upper, bounds, DARK, style)


def _line(found: Space) -> EpsilonLine:
    epsilons = tuple(np.linspace(0.05, 1.0, 96).tolist())
    readings = (found.strict, found.relaxed)
    return EpsilonLine(
        "",
        epsilons,
        {_areas(reading): reading.errors(epsilons) for reading in readings},
        {
            f"averaging: epsilon = sqrt(8 x {reading.fresh:.4g}) = {reading.line.high:.3f}": reading.line.high
            for reading in readings
        },
        float(ACCURATE),
        (found.strict.line.low, found.strict.line.high),
        (found.relaxed.line.low, found.relaxed.line.high),
    )


def _areas(reading: Reading) -> str:
    formula = f"log({LAUS[reading.country]:,} / 0.32) / epsilon"
    return f"areas: {formula}, {reading.country}; 20 at {reading.line.low:.3f}"
