"""The closed form of the best linear estimate, against the projection it stands for and against enumeration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.closed_form import best_ratios, precision, success
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.lattice import lattice
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme


def times(found: Lattice, *, spsn: bool) -> Floats:
    return (found.published if spsn else found.tables).astype(float)


@given(programmes(largest=3, topics=3), st.booleans())
@settings(max_examples=up_to(30))
def test_equal_blocks_have_the_ratios_of_the_projection(made: Programme, spsn: bool) -> None:
    found = lattice(made)
    equations = MarginEquations(found, spsn)
    ratios = best_ratios(found, times(found, spsn=spsn))
    for statistic in equations.statistics.tolist():
        last = tuple(size - 1 for size in equations.shape(statistic))
        assert equations.variance_ratio(statistic) == pytest.approx(ratios[statistic], rel=1e-6)
        # Every cell of a statistic is like every other.
        assert equations.variance_ratio(statistic, last) == pytest.approx(ratios[statistic], rel=1e-6)


@given(programmes(largest=3, topics=3), st.data())
@settings(max_examples=up_to(30))
def test_with_a_known_statistic_too(made: Programme, data: st.DataObject) -> None:
    found = lattice(made)
    equations = MarginEquations(found)
    names = found.names()
    known = data.draw(st.sampled_from([names[s] for s in equations.statistics.tolist()]))
    ratios = best_ratios(found, times(found, spsn=True), known)
    spread = equations.spread.copy()
    spread[equations.cells_of(found.position(known))] = 0
    for statistic in equations.statistics.tolist():
        row = equations.row(equations.place(statistic), spread)
        assert ((spread * row) ** 2).sum() == pytest.approx(ratios[statistic], rel=1e-6, abs=1e-9)
    coarser = (found.depths <= found.depths[found.position(known)]).all(axis=1)
    assert ratios[coarser] == pytest.approx(0)


@given(programmes())
def test_the_precision_of_a_statistic_sums_over_everything_finer(made: Programme) -> None:
    found = lattice(made)
    often = times(found, spsn=False)
    finer = (found.depths[None, :, :] >= found.depths[:, None, :]).all(axis=2)
    assert precision(found, often) == pytest.approx(finer @ (often / found.cells))


@pytest.mark.parametrize("size", [2, 5])
def test_a_total_with_its_parts(size: int) -> None:
    # Noise of variance 1 on the total and of variance n on the sum of n parts: 1 / (1 + 1/n).
    found = lattice(programme([("A",)], {"A": (size,)}))
    ratios = best_ratios(found, times(found, spsn=True))
    assert ratios[found.position("total")] == pytest.approx(1 / (1 + 1 / size))
    # A part keeps its own noise but for the n-th share of what the total tells.
    assert ratios[found.position("A1")] == pytest.approx(1 - 1 / size + (size / (size + 1)) / size**2)
    # With the total known, the parts share out one contrast less.
    assert best_ratios(found, times(found, spsn=True), "total")[found.position("A1")] == pytest.approx(1 - 1 / size)


@given(programmes(largest=3, topics=3))
def test_more_tables_never_make_an_estimate_worse(made: Programme) -> None:
    found = lattice(made)
    once, often = (best_ratios(found, times(found, spsn=spsn)) for spsn in (True, False))
    assert (often <= once + 1e-12).all()
    assert (once[found.published] <= 1 + 1e-12).all()


@pytest.mark.parametrize(("variance", "ratio"), [(2.0, 0.3), (0.5, 1.0), (30.0, 0.01)])
def test_success_is_the_chance_that_a_normal_error_rounds_to_nothing(variance: float, ratio: float) -> None:
    draws = np.random.default_rng(1).normal(0, math.sqrt(variance * ratio), 100_000)
    right = (np.abs(draws) < 0.5).mean()
    # A share of 100,000 draws is known to 0.0016.
    assert success(variance, ratio) == pytest.approx(right, abs=0.008)
    assert success(1.3 * variance, ratio) != pytest.approx(right, abs=0.008)


def test_without_noise_everything_is_known_and_with_much_nothing() -> None:
    assert success(0, 0.5) == success(3, 0) == 1
    assert success(1e12, 1) == pytest.approx(0, abs=1e-5)
    # Half a unit is one standard deviation: the paper's 68 percent.
    assert success(1, 0.25) == pytest.approx(0.6827, abs=1e-4)
