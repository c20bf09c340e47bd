"""The figures of the paper: which data are drawn by what, in the order of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.paper.paper_area_figures import accuracy, area_sizes, distortions
from discreet.paper.paper_risk_figures import averaging_maps, bound_map, ratios
from discreet.paper.paper_space_figures import space

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.paper.paper_figure import PaperFigure
    from discreet.paper.reproduction import Paper

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
"""By name of the data, what makes a figure of them."""


def figures_of(paper: Paper) -> tuple[PaperFigure, ...]:
    """Return all figures whose data are there, in the order of the page."""
    return tuple(draw(paper.figures[name]) for name, draw in DRAWN.items() if name in paper.figures)
