"""The figures of the paper on risk as they are shown: the bound, averaging, and redundancy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, GREY, LIGHT
from discreet.paper.heat_map import HeatMap, MapLine
from discreet.paper.paper_bars import Bars, Series
from discreet.paper.paper_figure import PaperFigure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.paper.averaging import AveragingMap
    from discreet.paper.bound import BoundMap
    from discreet.paper.redundancy_part import Ratios

VARIANCE = "variance V of one noise, persons squared"
BOUND = "bound E, persons"
EPSILON = "epsilon of one count"
RATIO = "k / t^2"
COUNTRY = {"DE": "Germany", "MT": "Malta"}
MOST_SETS = 1e16
"""More sets than this are all the same: nobody publishes so many."""
WEIGHERS = {"gap": "who waits for an extreme gap", "likelihood": "who weighs every gap"}
TOLD = range(5, 11)
"""Bounds whose limits are told in words."""
WIDE = 12.0
"""From here on a map is wide, and its labels stand elsewhere."""


def power(number: float) -> str:
    """Return a large number as it is printed in the paper.

    >>> power(28_000_000), power(1e16)
    ('2.8e7', '1e16')
    """
    exponent = math.floor(math.log10(number))
    return f"{number / 10**exponent:.2g}e{exponent}"


def bound_map(found: BoundMap) -> PaperFigure:
    """Return figure 1, or the same for who weighs every gap."""
    optimal = found.attacker != "gap"
    example = found.needed[found.bounds.index(5), found.variances.index(2.0)]
    lines = [
        MapLine(
            f"{COUNTRY[country]}: {power(many)} sets",
            found.limits[country],
            tuple(map(float, found.bounds)),
            style,
            at=at,
            side=side,
        )
        for (country, many), style, at, side in zip(
            found.tuples.items(), ("-", "--"), (0.55, 0.86), ("right", "left"), strict=True
        )
    ]
    limits = "; ".join(
        f"{COUNTRY[country]}: "
        + ", ".join(f"E {e}: V {v:.2f}" for e, v in zip(found.bounds, values, strict=True) if e in TOLD)
        for country, values in found.limits.items()
    )
    second = " The same under the optimal attack: she knows the law and weighs E against E + 1." if optimal else ""
    return PaperFigure(
        "bound-map-optimal" if optimal else "bound-map",
        f"At V = 2 and E = 5 it takes {example:,.0f} sets to find the bound for one {WEIGHERS[found.attacker]}",
        "Figure 1 of the paper: sets of women, men and total needed to find the bound at 68 %. Left of a line the "
        f"sets that a country publishes (as the paper counts them) do not suffice.{second}",
        f"Heat map over variance and bound. Largest variance that keeps the bound hidden, by bound. {limits}.",
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
        height=3.6,
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
        f"To be right in 68 % of cases at most takes V = {variance.meets(variance.decisive):.2f} with shared noise, "
        f"or epsilon = {epsilon.meets(epsilon.decisive):.2f} with new noise in every table"
    )
    second = (
        " The dotted ratios are those of the programme, for averages and for the best linear estimate from all cells, "
        "levels of one category merged with the total."
        if optimal
        else " The dotted ratios are the smallest that the paper found."
    )
    return PaperFigure(
        "averaging-map-optimal" if optimal else "averaging-map",
        title + (", against the best estimate" if optimal else ""),
        "Figure 2 of the paper: how often an average of ratio k / t^2 is right. Solid: 68 % for Gaussian sums; "
        f"dashed: 68 % by Chebyshev's inequality, which any law exceeds.{second}",
        f"Two heat maps over the noise and the ratio. Where each ratio meets 68 %: {limits}.",
        panels,
        height=3.7,
    )


def _averaging_panel(found: AveragingMap) -> HeatMap:
    x = tuple(found.values.tolist())
    is_variance = found.parameter == "V"
    is_wide = x[-1] > WIDE
    lines = [
        MapLine(
            "68 %, Gaussian",
            x,
            tuple(found.gaussian.tolist()),
            at=0.5 if not is_variance or is_wide else 0.97,
            side="right",
        ),
        MapLine(
            "68 %, Chebyshev",
            x,
            tuple(found.chebyshev.tolist()),
            "--",
            at=0.92 if not is_variance else 0.75 if is_wide else 0.3,
            side="left" if is_variance and not is_wide else "right",
            above=is_variance and not is_wide,
        ),
    ]
    # Labels of ratios take turns: two that are near each other would cover each other.
    for number, (label, ratio) in enumerate(sorted(found.levels.items(), key=lambda item: item[1])):
        lines.append(
            MapLine(
                label,
                x,
                (ratio,) * len(x),
                ":",
                at=0.02 if number % 2 else 0.98,
                side="left" if number % 2 else "right",
            )
        )
    return HeatMap(
        "",
        x,
        tuple(found.ratios.tolist()),
        found.success,
        VARIANCE if is_variance else EPSILON,
        RATIO,
        "chance that the average is right",
        tuple(lines),
        log_y=True,
    )


def ratios(found: tuple[Ratios, ...]) -> PaperFigure:
    """Return figure 7, or the same for the best linear estimate."""
    optimal = found[0].attacker == "optimal"
    panels = [panel for each in found for panel in _ratio_panels(each)]
    words = " ".join(
        f"Rule {each.rule}: {len(each.with_spsn):,} statistics; with SPSN the smallest is {each.with_spsn.min():.4f}, "
        f"{each.share(1):.0%} are 1, {each.share(0.75):.0%} are 0.75; without, the smallest is "
        f"{each.without.min():.4f}. {len(each.gains):,} have more than one table."
        for each in found
    )
    gain = max(each.gains.max() for each in found)
    what = "best linear estimate" if optimal else "average"
    return PaperFigure(
        "ratios-optimal" if optimal else "ratios",
        f"New noise in every table lowers the variance of the {what} of a statistic up to {gain:.1f} times",
        "Figure 7 of the paper: the ratio of every statistic that is the same in all countries, with noise shared "
        "between tables (SPSN) and without; then the quotient of both, 1 left out. Levels of one category are kept."
        + (" Here the ratio of the best linear estimate instead of k / t^2." if optimal else ""),
        words,
        tuple(panels),
        height=2.7,
    )


def _ratio_panels(found: Ratios) -> Iterator[Bars]:
    label = "ratio of the best estimate" if found.attacker == "optimal" else RATIO
    edges, with_spsn, without = (tuple(values.tolist()) for values in found.histograms())
    both = (Series("with SPSN", with_spsn, LIGHT), Series("without SPSN", without, ACCENT, outline=True))
    title = f"rule {found.rule}, {len(found.with_spsn):,} statistics"
    yield Bars(title, edges, both, label, "number of statistics", log_x=True, log_y=True)
    gains, counted = (tuple(values.tolist()) for values in found.gain_histogram())
    title = f"rule {found.rule}, {len(found.gains):,} of them differ"
    series = (Series("statistics", counted, GREY),)
    yield Bars(title, gains, series, f"{label} with SPSN over without", "number of statistics", log_x=True, log_y=True)
