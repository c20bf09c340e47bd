"""All figures of the paper with their titles and captions, in the order of the page.

The figures on small areas show sizes, distortions and the accuracy of totals. The figures on risk show bound
disclosure, averaging and redundancy. The figure of the parameter space shows the feasible variance, bound and epsilon
with every constraint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.chart import ACCENT, DARK, GREY, LIGHT
from discreet.paper.curve_panels import BLUE, ORANGE, YELLOW, Bars, Curve, Curves, Mark, NamedBars, PaperFigure, Series
from discreet.paper.map_panels import MAP_HEIGHT, EdgeLine, EpsilonLine, HeatMap, MapLine, Span, VariancePlane
from discreet.paper.optimal_attacker_part import CALLED
from discreet.paper.parameter_space_part import PUBLISHED_INPUTS
from discreet.paper.published_numbers import LAUS
from discreet.paper.small_area_part import ACCURATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.paper.parameter_space_part import ConstraintReading, Space
    from discreet.paper.redundancy_part import Ratios
    from discreet.paper.reproduction import Paper
    from discreet.paper.risk_part import AveragingMap, BoundMap
    from discreet.paper.small_area_part import AccuracyCurves, AreaSizes, Distortions, TailCurves

EPSILON = "epsilon of one count"
SHADES = {0.2: BLUE, 0.5: YELLOW, 1.0: ORANGE}
"""Colours of relative errors, as in the paper."""
CURVES = {"Malta": BLUE, "France": ORANGE, "EU-27": GREY}
PLACES = {"Malta": (0.45, False), "France": (0.3, True), "EU-27": (0.6, True)}
"""The position of the name along a curve, and whether it is above the curve."""


def area_sizes(found: AreaSizes) -> PaperFigure:
    """Return figure 3."""
    areas = int(found.by_size.sum())
    first = next(iter(found.by_country))
    edges = (0.0, *map(float, found.limits))
    by_size = Bars(
        "", edges, (Series("areas", tuple(map(float, found.by_size)), GREY),), "residents of an area", "number of areas"
    )
    by_country = NamedBars(
        "",
        tuple(found.by_country),
        tuple(map(float, found.by_country.values())),
        "country",
        "areas below 500 residents",
    )
    listed = "; ".join(f"{name}: {many:,}" for name, many in found.by_country.items())
    return PaperFigure(
        "area-sizes",
        f"{areas:,} populated areas have fewer than 500 residents, {found.by_country[first]:,} of them in {first}",
        "Figure 3 of the paper: local administrative units below 500 residents, by residents and by country. Edition "
        "2016 of the EU-28; the paper uses the census of 2011 without Slovenia.",
        f"Bars: the number of areas with 1 to 20, 21 to 40, .. residents, and the number by country. {listed}.",
        (by_size, by_country),
        height=300,
    )


def distortions(found: tuple[tuple[Distortions, ...], TailCurves]) -> PaperFigure:
    """Return figure 4."""
    counted, tails = found
    panels = [_distortion_panel(each) for each in counted]
    worst = counted[0]
    lost, small = (float(worst.drawn[1.0].sum()), float(worst.expected[1.0].sum()))
    return PaperFigure(
        "distortions",
        f"At epsilon {worst.epsilon:g} about {small:,.0f} counts below 500 have an error above 100 %",
        "Figure 4 of the paper: the number of counts of women, men or residents with an error above 20, 50 and 100 %, "
        "and the number of areas with such errors of all three in the same direction. Bars: for single counts the "
        "paper's estimate at the upper limit of every bin, for areas the exact expectation. Lines: one draw of noise. "
        "Last panel: the probability of large noise; dotted, 1 over the number of areas with at most E residents; "
        "dashed, the epsilons of the US census.",
        f"Five panels of bars by size of count, and one of curves. At epsilon {worst.epsilon:g} one draw has "
        f"{lost:,.0f} counts with an error above 100 %; the expected number is {small:,.0f}. "
        + " ".join(_distortion_words(each) for each in counted),
        (*panels, _tail_panel(tails)),
        height=160,
    )


def _distortion_panel(found: Distortions) -> Bars:
    what = "areas, all three errors in one direction" if found.broadband else "single counts"
    return Bars(
        f"epsilon {found.epsilon:g}: {what}",
        (0.0, *map(float, found.limits)),
        tuple(
            Series(
                f"error above {share:.0%}",
                tuple(heights.tolist()),
                SHADES[share],
                tuple(map(float, found.drawn[share])),
            )
            for share, heights in found.estimated.items()
        ),
        "residents of the area" if found.broadband else "true count, persons",
        "number of areas" if found.broadband else "number of counts",
        log_y=True,
    )


def _distortion_words(found: Distortions) -> str:
    what = "areas" if found.broadband else "counts"
    listed = ", ".join(f"{share:.0%}: {expected.sum():,.0f}" for share, expected in found.expected.items())
    return f"Epsilon {found.epsilon:g}, expected number of {what} with an error above {listed}."


def _tail_panel(found: TailCurves) -> Curves:
    shades = dict(zip(found.chances, (ORANGE, YELLOW, BLUE), strict=True))
    return Curves(
        "probability of noise beyond E, exp(-epsilon E)",
        tuple(found.epsilons.tolist()),
        tuple(
            Curve(f"E = {error}", tuple(values.tolist()), shades[error], at=0.9, above=False)
            for error, values in found.chances.items()
        ),
        EPSILON,
        "probability",
        tuple(
            Mark(share, f"1 / {1 / share:,.0f}", vertical=False, colour=shades[error], style=":")
            for error, share in found.one_of.items()
        )
        + tuple(Mark(epsilon, "", colour=LIGHT) for epsilon in found.choices),
        log_x=True,
        log_y=True,
        y_limits=(1e-8, 1.5),
    )


def accuracy(found: AccuracyCurves) -> PaperFigure:
    """Return figure 5."""
    listed = "; ".join(
        f"{name}, {found.areas[name]:,} areas: {epsilon:.3f}" for name, epsilon in found.accurate.items()
    )
    return PaperFigure(
        "accuracy",
        f"An error of at most 20 persons in every total needs an epsilon of {found.accurate['Malta']:.2f} in Malta "
        f"and {found.accurate['France']:.2f} in France",
        "Figure 5 of the paper: the minimum epsilon of one count at which all totals of a country's areas have an "
        "error of at most E, with probability 68 %: log(t / (1 - alpha)) / E.",
        f"Three falling lines on logarithmic axes. At E = 20: {listed}.",
        (
            Curves(
                "",
                tuple(found.errors.tolist()),
                tuple(
                    Curve(
                        f"{name}, t = {found.areas[name]:,}", tuple(values.tolist()), CURVES[name], "-", *PLACES[name]
                    )
                    for name, values in found.epsilon.items()
                ),
                "largest error E of a total, persons",
                "minimum epsilon of one count",
                (Mark(20, "E = 20"),),
                log_x=True,
                log_y=True,
            ),
        ),
        height=230,
    )


VARIANCE = "variance V of one noise term, persons squared"
BOUND = "bound E, persons"

RATIO = "k / t^2"
COUNTRY = {"DE": "Germany", "MT": "Malta"}
MOST_SETS = 1e16
"""Numbers of sets above this are shown alike, since no output has so many."""
BOUND_ATTACKERS = {"gap": "an attacker who waits for an extreme gap", "likelihood": "a likelihood attacker"}
LISTED_BOUNDS = range(5, 11)
"""Bounds whose limits are listed in the text."""


def power(number: float) -> str:
    """Return a large number in the format of the paper.

    >>> power(28_000_000), power(1e16)
    ('2.8e7', '1e16')
    """
    exponent = math.floor(math.log10(number))
    return f"{number / 10**exponent:.2g}e{exponent}"


def bound_map(found: BoundMap) -> PaperFigure:
    """Return figure 1, or the same for the likelihood attacker."""
    optimal = found.attacker != "gap"
    example = found.needed[found.bounds.index(5), found.variances.index(2.0)]
    lines = [
        MapLine(
            f"{COUNTRY[country]}: {power(many)} sets", found.limits[country], tuple(map(float, found.bounds)), style
        )
        for (country, many), style in zip(found.tuples.items(), ("-", "--"), strict=True)
    ]
    limits = "; ".join(
        f"{COUNTRY[country]}: "
        + ", ".join(f"E {e}: V {v:.2f}" for e, v in zip(found.bounds, values, strict=True) if e in LISTED_BOUNDS)
        for country, values in found.limits.items()
    )
    second = (
        " Here for the optimal attack: the attacker knows the noise distribution and compares the likelihoods of E and "
        "E + 1."
        if optimal
        else ""
    )
    return PaperFigure(
        "bound-map-optimal" if optimal else "bound-map",
        f"At V = 2 and E = 5 {BOUND_ATTACKERS[found.attacker]} needs {example:,.0f} sets to identify the bound",
        "Figure 1 of the paper: sets of women, men and total needed to identify the bound at 68 %. Left of a line the "
        f"sets that a country publishes (as counted in the paper) do not suffice.{second}",
        f"Heat map over variance and bound. Largest variance at which the bound is not disclosed, by bound. {limits}.",
        (
            HeatMap(
                "",
                found.variances,
                tuple(map(float, found.bounds)),
                found.needed,
                VARIANCE,
                BOUND,
                f"sets needed, up to {power(MOST_SETS)}",
                tuple(lines),
                log_values=True,
                highest=MOST_SETS,
            ),
        ),
        height=MAP_HEIGHT,
    )


def averaging_maps(maps: tuple[AveragingMap, ...], *, optimal: bool = False) -> PaperFigure:
    """Return figure 2, or the same with the programme's own ratios."""
    variance, epsilon = maps
    panels = tuple(_averaging_panel(each) for each in maps)
    limits = "; ".join(
        f"{label}: {'V' if each.parameter == 'V' else 'epsilon'} {each.meets(ratio):.3g}"
        for each in maps
        for label, ratio in each.levels.items()
    )
    title = (
        f"A success rate of at most 68 % needs V = {variance.meets(variance.decisive):.2f} with consistent noise, "
        f"or epsilon = {epsilon.meets(epsilon.decisive):.2f} with independent noise in every table"
    )
    second = (
        " The dotted ratios are those of the programme, for averages and for the optimal linear estimate from all "
        "cells, with levels of one category merged with the total."
        if optimal
        else " The dotted ratios are the smallest in the paper."
    )
    return PaperFigure(
        "averaging-map-optimal" if optimal else "averaging-map",
        title + (", against the optimal estimate" if optimal else ""),
        "Figure 2 of the paper: the success rate of an average of ratio k / t^2. Solid: 68 % for Gaussian sums; "
        f"dashed: 68 % by Chebyshev's inequality, which every distribution exceeds.{second}",
        f"Two heat maps over the noise and the ratio. The parameter at which each ratio reaches 68 %: {limits}.",
        panels,
        height=MAP_HEIGHT,
    )


def _averaging_panel(found: AveragingMap) -> HeatMap:
    x = tuple(found.values.tolist())
    is_variance = found.parameter == "V"
    lines = [
        MapLine("68 %, Gaussian", x, tuple(found.gaussian.tolist())),
        MapLine("68 %, Chebyshev", x, tuple(found.chebyshev.tolist()), "--"),
        *(MapLine(label, x, (ratio,) * len(x), ":") for label, ratio in found.levels.items()),
    ]
    return HeatMap(
        "",
        x,
        tuple(found.ratios.tolist()),
        found.success,
        VARIANCE if is_variance else EPSILON,
        RATIO,
        "success rate of the average",
        tuple(lines),
        log_y=True,
    )


def ratios(found: tuple[Ratios, ...]) -> PaperFigure:
    """Return figure 7, or the same for the optimal linear estimate."""
    optimal = found[0].attacker == "optimal"
    panels = [panel for each in found for panel in _ratio_panels(each)]
    words = " ".join(
        f"Rule {each.rule}: {len(each.with_spsn):,} statistics; with SPSN the smallest is {each.with_spsn.min():.4f}, "
        f"{each.share(1):.0%} are 1, {each.share(0.75):.0%} are 0.75; without, the smallest is "
        f"{each.without.min():.4f}. {len(each.gains):,} differ with and without SPSN."
        for each in found
    )
    gain = max(each.gains.max() for each in found)
    what = "optimal linear estimate" if optimal else "average"
    return PaperFigure(
        "ratios-optimal" if optimal else "ratios",
        f"Independent noise in every table lowers the variance of the {what} of a statistic by a factor of up to "
        f"{gain:.1f}",
        "Figure 7 of the paper: the ratio of every statistic that is the same in all countries, with consistent noise "
        "between tables (SPSN) and without; then the quotient of both, without quotients of 1. Levels of one category "
        "are kept." + (" Here the ratio of the optimal linear estimate instead of k / t^2." if optimal else ""),
        words,
        tuple(panels),
        height=160,
    )


def _ratio_panels(found: Ratios) -> Iterator[Bars]:
    label = "ratio of the optimal estimate" if found.attacker == "optimal" else RATIO
    edges, with_spsn, without = (tuple(values.tolist()) for values in found.histograms())
    both = (Series("with SPSN", with_spsn, LIGHT), Series("without SPSN", without, ACCENT, outline=True))
    title = f"rule {found.rule}, {len(found.with_spsn):,} statistics"
    yield Bars(title, edges, both, label, "number of statistics", log_x=True, log_y=True)
    gains, counted = (tuple(values.tolist()) for values in found.gain_histogram())
    title = f"rule {found.rule}, {len(found.gains):,} of them differ"
    series = (Series("statistics", counted, GREY),)
    yield Bars(title, gains, series, f"{label} with SPSN over without", "number of statistics", log_x=True, log_y=True)


WIDEST = 12.0
"""The largest variance in the plot, unless averaging needs more."""


def space(found: Space) -> PaperFigure:
    """Return figure 6, or the same for the programme itself and an attacker."""
    left = found.strict.plane.feasible
    low, high = found.strict.line.low, found.strict.line.high
    strictly = (
        f"In the strict reading, bounds from E = {left[0].bound} and variances from V = {left[0].low:.2f} are feasible"
        if left
        else "In the strict reading, no variance and bound up to 10 are feasible"
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
        f"{which} of the paper: the settings that satisfy all constraints. Blue: the constraints hold for every Member "
        f"State, {found.strict.basis}, the areas of France. Yellow: relaxed reading, {found.relaxed.basis}, the areas "
        f"of Malta.{merged}",
        _space_words(found),
        (_plane(found), _line(found)),
        height=240,
    )


def _space_words(found: Space) -> str:
    lines = []
    for reading in (found.strict, found.relaxed):
        rows = "; ".join(f"E {row.bound}: V {row.low:.2f} to {row.high:.2f}" for row in reading.plane.feasible)
        line = f"epsilon at least {reading.line.low:.3f}, at most {reading.line.high:.3f}"
        lines.append(f"{reading.name.capitalize()} ({reading.basis}): {rows or 'infeasible'}; {line}.")
    return " ".join(lines)


def _plane(found: Space) -> VariancePlane:
    strict, relaxed = (
        tuple(Span(row.bound, row.low, row.high) for row in reading.plane.rows)
        for reading in (found.strict, found.relaxed)
    )
    edges = [edge for reading, style in ((found.strict, "-"), (found.relaxed, "--")) for edge in _edges(reading, style)]
    bounds = tuple(float(span.bound) for span in strict)
    uniform = EdgeLine("V = E (E + 1) / 3, uniform noise", found.strict.limits("room"), bounds, GREY, ":")
    return VariancePlane("", strict, relaxed, (*edges, uniform), strict[-1].bound, max(WIDEST, 1.25 * strict[0].low))


def _edges(reading: ConstraintReading, style: str) -> Iterator[EdgeLine]:
    """Yield the minimum variance, and the maximum by bound, with formula and number."""
    bounds = tuple(float(row.bound) for row in reading.plane.rows)
    least, upper = reading.limits("averaging")[0], reading.limits("bound disclosure")
    averaging = f"averaging: V = 0.25 / {reading.ratio:.4g} = {least:.2f}"
    yield EdgeLine(averaging, (least, least), (0.0, bounds[-1] + 1), ACCENT, style)
    label = f"bound disclosure: m(V, E) = {power(reading.tuples)}, V = {upper[-1]:.2f} at E = {bounds[-1]:g}"
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


def _areas(reading: ConstraintReading) -> str:
    formula = f"log({LAUS[reading.country]:,} / 0.32) / epsilon"
    return f"areas: {formula}, {reading.country}; 20 at {reading.line.low:.3f}"


DRAWN: dict[str, Callable[..., PaperFigure]] = {
    "bound-map": bound_map,
    "averaging-map": averaging_maps,
    "ratios": ratios,
    "area-sizes": area_sizes,
    "distortions": distortions,
    "accuracy": accuracy,
    "parameter-space": space,
    "bound-map-optimal": bound_map,
    "averaging-map-optimal": lambda maps: averaging_maps(maps, optimal=True),
    "ratios-optimal": ratios,
    "parameter-space-flat-paper": space,
    "parameter-space-flat-optimal": space,
    "parameter-space-levels-paper": space,
    "parameter-space-levels-optimal": space,
}
"""The function that makes each figure, by the name of its data."""


def figures_of(paper: Paper) -> tuple[PaperFigure, ...]:
    """Return all figures with data, in the order of the page."""
    return tuple(draw(paper.figures[name]) for name, draw in DRAWN.items() if name in paper.figures)
