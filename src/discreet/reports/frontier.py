"""What publishing less buys, as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.frontier_chart import FrontierChart, FrontierPoint

if TYPE_CHECKING:
    from discreet.calibration.curation import Curation, Cut
    from discreet.calibration.noise_design import Design


def frontier_chart_of(design: Design) -> FrontierChart:
    """Return the frontier of risk against published detail."""
    curation = design.curation
    widest = design.plane.rows[-1]

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
