"""The figures of the paper: every one has a message and words, and its data are the closed formulas on the edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.accuracy.area_counts import with_sexes
from discreet.paper.figures import DRAWN, figures_of, power
from discreet.paper.paper_page import is_second
from discreet.paper.parameter_space_part import ConstraintReading, Space, published_space
from discreet.paper.redundancy_part import Ratios
from discreet.paper.reproduction import Paper
from discreet.paper.risk_part import bound_map, published_maps
from discreet.paper.small_area_part import accuracy_curves, area_sizes, distortions, tail_curves

if TYPE_CHECKING:
    from discreet.paper.curve_panels import PaperFigure


@pytest.fixture(scope="module")
def figures() -> dict[str, PaperFigure]:
    areas = with_sexes(list("abc"), female=[3, 30, 90], male=[4, 31, 80], countries=list("XXY"))
    found = [
        Ratios("flat", attacker, np.array([0.2, 0.75, 1.0, 1.0]), np.array([0.1, 0.5, 1.0, 1.0]))
        for attacker in ("greedy", "optimal")
    ]
    strict = ConstraintReading("strict", 0.0124, 47_000_000, 0.0014, "France", "optimal")
    relaxed = ConstraintReading("relaxed", 0.0244, 630_000, 0.0027, "Malta", "optimal")
    data = {
        "bound-map": bound_map(variances=(1.0, 2.0), bounds=(4, 5, 6)),
        "averaging-map": published_maps(),
        "ratios": (found[0],),
        "area-sizes": area_sizes(areas),
        "distortions": (distortions(areas), tail_curves(areas)),
        "accuracy": accuracy_curves(),
        "parameter-space": published_space(),
        "bound-map-optimal": bound_map("likelihood", variances=(1.0, 2.0), bounds=(4, 5, 6)),
        "averaging-map-optimal": published_maps(),
        "ratios-optimal": (found[1],),
        "parameter-space-levels-optimal": Space("levels", "optimal", strict, relaxed),
    }
    return {figure.name: figure for figure in figures_of(Paper((), (), data, ()))}


def test_every_figure_has_a_message_and_words(figures: dict[str, PaperFigure]) -> None:
    assert len(figures) == 11
    assert set(figures) <= set(DRAWN)
    titles = [figure.title for figure in figures.values()]
    assert len(titles) == len(set(titles))
    for figure in figures.values():
        assert "igure" in figure.caption
        assert len(figure.alternative) > 40
        assert all(len(list(panel.rows())) > 1 for panel in figure.panels)
        assert all(panel.head for panel in figure.panels)


def test_the_second_part_is_told_from_the_first(figures: dict[str, PaperFigure]) -> None:
    assert [name for name in figures if is_second(name)] == [
        "bound-map-optimal", "averaging-map-optimal", "ratios-optimal", "parameter-space-levels-optimal"
    ]  # fmt: skip


def test_messages_hold_the_numbers(figures: dict[str, PaperFigure]) -> None:
    assert "7,543,724 sets" in figures["bound-map"].title
    assert "V = 2.88" in figures["averaging-map"].title
    assert "0.27 in Malta and 0.58 in France" in figures["accuracy"].title
    assert (
        "bounds from E = 7 and variances from V = 2.88 are feasible, and no epsilon" in figures["parameter-space"].title
    )
    assert "no variance and bound up to 10 are feasible" in figures["parameter-space-levels-optimal"].title
    assert "by a factor of up to 2.0" in figures["ratios"].title


def test_the_edges_of_the_final_figure_are_the_formulas(figures: dict[str, PaperFigure]) -> None:
    plane, line = figures["parameter-space"].panels
    edges: dict[str, list[tuple[float, float]]] = {}
    for name, bound, variance, *_ in plane.rows():
        edges.setdefault(str(name), []).append((float(bound or 0), float(variance or 0)))
    averaging = edges["edge: averaging: V = 0.25 / 0.0867 = 2.88"]
    assert [v for _, v in averaging] == pytest.approx([0.25 / 0.0867] * 2, rel=1e-4)
    assert all(v == pytest.approx(e * (e + 1) / 3) for e, v in edges["edge: V = E (E + 1) / 3, uniform noise"])
    hidden = edges["edge: bound disclosure: m(V, E) = 2.8e7, V = 9.63 at E = 10"]
    assert [round(v, 2) for e, v in hidden if e in {5, 6, 10}] == [1.82, 2.84, 9.63]
    errors = [(eps, error) for name, eps, error in line.rows() if str(name).startswith("areas: log(68")]
    assert all(float(eps or 0) * float(error or 0) == pytest.approx(math.log(68 / 0.32)) for eps, error in errors)


def test_the_contours_of_the_bound_are_in_its_data(figures: dict[str, PaperFigure]) -> None:
    (panel,) = figures["bound-map"].panels
    germany = {bound: variance for name, variance, bound, _ in panel.rows() if name == "Germany: 2.8e7 sets"}
    assert germany[5.0] == pytest.approx(1.8194, abs=1e-4)


@pytest.mark.parametrize(
    ("number", "words"), [(28_000_000, "2.8e7"), (710_000, "7.1e5"), (1e16, "1e16"), (47_377_476, "4.7e7")]
)
def test_large_numbers_are_written_as_in_the_paper(number: float, words: str) -> None:
    assert power(number) == words
