"""The page on small areas shows the figures of the library, beside those that the paper prints."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.small_areas_page import PARTS
from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.distortion import Tails
from discreet.accuracy.expected_accuracy import epsilon_needed, exact_epsilon_needed
from discreet.accuracy.small_areas import figure, small_areas
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.truncated import truncated_gaussian_for

PAGE = (Path(__file__).parents[1] / "docs/results/small_areas.md").read_text(encoding="utf-8")


def row(name: str) -> list[str]:
    """Return the cells of the line of a table that begins with a name."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("| ").split("|")[1:]]


def test_the_areas() -> None:
    counts = [load_areas(source).populated.counts for source in ("lau:2016", "lau:by-sex")]
    assert row("populated LAUs")[1:] == [f"{each.shape[1]:,}" for each in counts]
    assert row("counts of 1 to 499")[2] == f"{int(((counts[1] > 0) & (counts[1] < 500)).sum()):,}"
    assert row("below 10 residents")[1:] == [str(int((each[2] < 10).sum())) for each in counts]


@pytest.mark.parametrize("epsilon", [0.025, 0.1, 0.8])
def test_the_noise(epsilon: float) -> None:
    cells = row(f"{epsilon:g}")
    assert cells[0] == f"{2 / epsilon**2:g}"
    assert cells[1] == f"{TwoSidedGeometric(epsilon=epsilon).variance:.4g}"
    assert cells[3].startswith(f"{math.exp(-epsilon * 20):.2g} (")


def test_counts_of_the_four_countries() -> None:
    counts = load_areas("lau:by-sex").counts
    above = counts[counts > 100]
    tails = Tails.of(transition_matrix(TwoSidedGeometric(epsilon=0.025)))
    assert row("counts above 100, ±100 %, ε=0.025")[-1] == figure(tails.at_least(above, 1.0).either.sum())
    large = counts[:, (counts.min(axis=0) > 0) & (counts[2] > 40)]
    expected = tails.at_least(large, 1.0).down.prod(axis=0).sum()
    assert row("LAUs above 40, broadband -100 %, ε=0.025")[-1] == figure(expected)


def test_areas_without_residents_need_no_sexes() -> None:
    total = load_areas("lau:2016").populated.total
    tails = Tails.of(transition_matrix(TwoSidedGeometric(epsilon=0.025)))
    assert row("total, ε=0.025")[0].startswith(f"{figure(tails.lost(total).sum())} ±")
    larger = tails.lost(total[total > 239]).sum()
    assert row("total, ε=0.025")[3].startswith(figure(larger))
    assert row("ε=0.025")[8] == figure(tails.lost(total).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("cell key, V=2, E=5", PTable.max_entropy(variance=2, bound=5)),
        ("truncated Gaussian, ε=0.5, δ=8e-3", truncated_gaussian_for(0.5, 8e-3)),
        ("ε=0.1", TwoSidedGeometric(epsilon=0.1)),
    ],
)
def test_figures_by_law(name: str, law: PTable | TwoSidedGeometric) -> None:
    found = small_areas(load_areas("lau:2016"), law, sample=False)
    single = [f"{figure(each.small.expected)} ({figure(each.small.binned or 0)})" for each in found.single]
    assert row(name)[2:5] == single
    assert row(name)[5:8] == [figure(each.small.expected) for each in found.broadband]


def test_the_epsilon_that_keeps_totals_within_20() -> None:
    for name, counts in (("Malta", 68), ("France, as in the paper", 37_000)):
        assert row(name)[1:3] == [f"{epsilon_needed(20, counts):.3f}", f"{exact_epsilon_needed(20, counts):.3f}"]


def test_the_sentence_in_short_counts_what_lies_within() -> None:
    within = re.findall(r"\| (yes|no) \|", PAGE)
    assert (len(within), within.count("yes")) == (9, 6)
    assert re.search(r"[Oo]f the nine counts [^.]*\bsix\b", PAGE)


def test_every_part_has_its_place() -> None:
    for part in PARTS:
        assert PAGE.count(f"<!-- {part.__name__} -->") == PAGE.count(f"<!-- end of {part.__name__} -->") == 1


def test_the_worked_example_of_the_paper() -> None:
    chance = np.exp(-0.1 * 40)
    assert f"{100 * chance:.2f} %" in PAGE
    assert f"The paper's 11,680 counts times that are {11_680 * chance:.0f};" in PAGE
