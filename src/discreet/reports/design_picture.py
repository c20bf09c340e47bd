"""A design in pictures: one of the whole, or a folder with every chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.figure_files import draw_figures
from discreet.charts.paper import save_png
from discreet.reports.constraint_charts import constraint_charts
from discreet.reports.design_charts import line_chart_of, plane_chart_of
from discreet.reports.frontier import frontier_chart_of

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.calibration.noise_design import Design
    from discreet.charts.chart import Chart


def design_charts(design: Design) -> tuple[Chart, ...]:
    """Return what the constraints leave, what cuts buy, and every constraint by itself."""
    cuts = (frontier_chart_of(design),) if design.curation.alone else ()
    return (plane_chart_of(design), line_chart_of(design), *cuts, *constraint_charts(design))


def draw_plane(design: Design, path: Path) -> None:
    """Write the plane of variance and bound as a PNG, whole or not at all."""
    save_png(plane_chart_of(design).figure(), path)


def draw_design(design: Design, folder: Path) -> tuple[Path, ...]:
    """Write every chart of a design as PNG and SVG."""
    return draw_figures(design_charts(design), folder, private=False)
