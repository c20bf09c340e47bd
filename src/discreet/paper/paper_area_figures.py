"""The figures of the paper on small areas as they are shown: sizes, distortions, and the accuracy of totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.paper import GREY, LIGHT
from discreet.paper.paper_bars import Bars, NamedBars, Series
from discreet.paper.paper_curves import Curve, Curves, Mark
from discreet.paper.paper_figure import BLUE, ORANGE, YELLOW, PaperFigure

if TYPE_CHECKING:
    from discreet.paper.accuracy import AccuracyCurves
    from discreet.paper.small_areas import AreaSizes, Distortions, TailCurves

EPSILON = "epsilon of one count"
SHADES = {0.2: BLUE, 0.5: YELLOW, 1.0: ORANGE}
"""Of relative errors, as in the paper."""
CURVES = {"Malta": BLUE, "France": ORANGE, "EU-27": GREY}
PLACES = {"Malta": (0.45, False), "France": (0.3, True), "EU-27": (0.6, True)}
"""Where along a curve its name stands, and whether above it."""


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
        f"{areas:,} populated areas have less than 500 residents, {found.by_country[first]:,} of them in {first}",
        "Figure 3 of the paper: local administrative units below 500 residents, by residents and by country. Edition "
        "2016 of the EU-28; the paper has the census of 2011 without Slovenia.",
        f"Bars: how many areas have 1 to 20, 21 to 40, .. residents, and how many each country has. {listed}.",
        (by_size, by_country),
        height=4.4,
    )


def distortions(found: tuple[tuple[Distortions, ...], TailCurves]) -> PaperFigure:
    """Return figure 4."""
    counted, tails = found
    panels = [_distortion_panel(each) for each in counted]
    worst = counted[0]
    lost, small = (float(worst.drawn[1.0].sum()), float(worst.expected[1.0].sum()))
    return PaperFigure(
        "distortions",
        f"At epsilon {worst.epsilon:g} about {small:,.0f} counts below 500 are more than 100 % off",
        "Figure 4 of the paper: how many counts of women, men or residents, and how many areas with all three off the "
        "same way, are off by more than 20, 50 and 100 %. Bars: for single counts the paper's estimate at the upper "
        "limit of every bin, for areas the exact expectation; lines: one draw of noise. Last: the chance of large "
        "noise; dotted, 1 over the number of areas with at most E residents; dashed, the epsilons of the US census.",
        f"Bars by size of count, five panels, and one of curves. At epsilon {worst.epsilon:g} one draw has {lost:,.0f} "
        f"counts more than 100 % off, and {small:,.0f} are expected. "
        + " ".join(_distortion_words(each) for each in counted),
        (*panels, _tail_panel(tails)),
        height=2.7,
    )


def _distortion_panel(found: Distortions) -> Bars:
    what = "areas, all three counts the same way" if found.broadband else "single counts"
    return Bars(
        f"epsilon {found.epsilon:g}: {what}",
        (0.0, *map(float, found.limits)),
        tuple(
            Series(
                f"more than {share:.0%} off",
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
    told = ", ".join(f"{share:.0%}: {expected.sum():,.0f}" for share, expected in found.expected.items())
    return f"Epsilon {found.epsilon:g}, expected {what} off by more than {told}."


def _tail_panel(found: TailCurves) -> Curves:
    shades = dict(zip(found.chances, (ORANGE, YELLOW, BLUE), strict=True))
    return Curves(
        "the chance of noise beyond E, exp(-epsilon E)",
        tuple(found.epsilons.tolist()),
        tuple(
            Curve(f"E = {error}", tuple(values.tolist()), shades[error], at=0.9, above=False)
            for error, values in found.chances.items()
        ),
        EPSILON,
        "chance",
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
    told = "; ".join(f"{name}, {found.areas[name]:,} areas: {epsilon:.3f}" for name, epsilon in found.accurate.items())
    return PaperFigure(
        "accuracy",
        f"To keep every total within 20 persons takes an epsilon of {found.accurate['Malta']:.2f} in Malta "
        f"and {found.accurate['France']:.2f} in France",
        "Figure 5 of the paper: the least epsilon of one count at which no total of a country's areas is more than E "
        "off, at 68 %: log(t / (1 - alpha)) / E.",
        f"Three falling lines on logarithmic axes. At E = 20: {told}.",
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
                "least epsilon of one count",
                (Mark(20, "E = 20"),),
                log_x=True,
                log_y=True,
            ),
        ),
        height=3.4,
    )
