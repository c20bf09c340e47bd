"""Counting redundancies: the paper's example by hand, its tables from the programme, and the statistics of figure 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.paper.redundancy_part import numbers, ratios
from discreet.programme.lattice import lattice

if TYPE_CHECKING:
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.paper_inputs import Sources


@pytest.fixture(scope="module")
def found(sources: Sources) -> dict[str, NumberComparison]:
    return {each.id: each for each in numbers(sources)}


@pytest.mark.slow
def test_the_example_is_that_of_the_footnote(found: dict[str, NumberComparison]) -> None:
    example = [each for each in found.values() if each.id.startswith("example-")]
    assert len(example) == 13
    assert all(each.agrees for each in example)


@pytest.mark.slow
def test_the_programme_has_the_tables_of_the_paper(found: dict[str, NumberComparison]) -> None:
    for name in ("tables", "dimensions-least", "dimensions-most", "table-92-margins", "table-92-irrs"):
        assert found[name].agrees


@pytest.mark.slow
def test_the_two_frequent_ratios_are_those_of_figure_7(found: dict[str, NumberComparison]) -> None:
    frequent = [each for each in found.values() if each.id.startswith("frequent-ratio-")]
    assert sorted(each.ours or 0 for each in frequent) == [0.75, 0.75, 1, 1]
    assert all(each.agrees for each in frequent)


@pytest.mark.slow
def test_one_rule_on_levels_of_one_category(found: dict[str, NumberComparison]) -> None:
    counted = [each for each in found.values() if each.id.endswith(("/flat", "/levels"))]
    assert len(counted) == 2 * (30 + 10 + 2)
    assert all("levels of one category kept" in each.note for each in counted)


@pytest.mark.slow
def test_the_paper_lies_between_our_two_rules(found: dict[str, NumberComparison]) -> None:
    rows = [each for each in found.values() if each.id.startswith("table-1-") and each.id.endswith("/flat")]
    assert len(rows) == 30
    for flat in rows:
        levels = found[flat.id.replace("/flat", "/levels")]
        assert flat.ours is not None
        assert levels.ours is not None
        assert flat.ours < float(flat.published) < levels.ours


@pytest.mark.slow
def test_every_number_that_differs_says_why(found: dict[str, NumberComparison]) -> None:
    assert all(each.note for each in found.values() if not each.agrees)


def test_statistics_of_figure_7_are_those_without_areas_to_sum_over(sources: Sources) -> None:
    found = ratios(sources, "flat")
    # By the paper's words: nothing finer that is published adds a geographic breakdown.
    structure = lattice(sources.programme("DE"), "flat", keep_single=True)
    geographic = [n for n, axis in enumerate(structure.axes) if axis.name.startswith(("GEO", "LPW.L"))]
    alone = 0
    for row, shown in zip(structure.depths, structure.published, strict=True):
        if shown:
            finer = (structure.depths >= row).all(axis=1) & structure.published
            alone += bool((structure.depths[finer][:, geographic] == row[geographic]).all())
    assert len(found.with_spsn) == alone
    assert (found.without <= found.with_spsn + 1e-12).all()


def test_the_histograms_count_every_statistic_once(sources: Sources) -> None:
    for attacker in ("greedy", "optimal"):
        found = ratios(sources, "flat", attacker)
        edges, shared, fresh = found.histograms()
        assert shared.sum() == fresh.sum() == len(found.with_spsn)
        assert np.all(np.diff(edges) > 0)
        assert found.gain_histogram()[1].sum() == len(found.gains)
    assert ratios(sources, "flat").share(1.0) > 0
