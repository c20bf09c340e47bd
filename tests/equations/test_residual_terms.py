"""Leave-one-out residuals and leverages, against dense least squares and whole releases that are simulated."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.closed_form import best_ratios
from discreet.equations.margin_equations import MarginEquations
from discreet.equations.residual_terms import (
    binned,
    closed_form_leverages,
    concentration,
    joined,
    probed_leverages,
    residuals_of,
    steady_leverages,
    success_of,
)
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.rival_noise import log_ratios
from discreet.programme.lattice import lattice
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.equations.residual_terms import Leverages
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme


def dense(equations: MarginEquations) -> Floats:
    """Return the projection of the unknowns as a matrix, column by column."""
    first = np.unique(equations.unknowns, return_index=True)[1]
    columns = []
    for unknown in range(len(first)):
        values = (equations.unknowns == unknown).astype(float)
        columns.append(equations.project(values, tolerance=1e-12).values[first])
    return np.array(columns).T


def statistic_of(equations: MarginEquations) -> Ints:
    sizes = equations.lattice.cells[equations.statistics].astype(np.int64)
    return np.repeat(np.arange(len(sizes)), sizes)


def leverages_of(here: Lattice, *, spsn: bool = True) -> Leverages:
    equations = MarginEquations(here, spsn)
    return probed_leverages(equations, statistic_of(equations))


@given(programmes(largest=3, topics=2), st.integers(0, 2**32 - 1))
@settings(max_examples=up_to(25))
def test_residuals_are_those_of_the_fit_without_the_count(made: Programme, seed: int) -> None:
    equations = MarginEquations(lattice(made))
    hat = dense(equations)
    leverage = np.diag(hat)
    published = np.random.default_rng(seed).normal(0, 3, len(leverage))
    found = residuals_of(equations, published[equations.unknowns], leverage[equations.unknowns], 2.0)
    for unknown in np.flatnonzero(leverage < 0.99).tolist():
        # A count that is not published is one whose published value agrees with the fit.
        alone = published.copy()
        others = hat[unknown] @ published - leverage[unknown] * published[unknown]
        alone[unknown] = others / (1 - leverage[unknown])
        assert hat[unknown] @ alone == pytest.approx(alone[unknown], abs=1e-6)
        assert found.estimate[unknown] == pytest.approx(alone[unknown], abs=1e-3)
        assert found.values[unknown] == pytest.approx(published[unknown] - alone[unknown], abs=1e-3)
        # The error is what the noise of the others makes.
        weights = np.delete(hat[unknown], unknown) / (1 - leverage[unknown])
        assert found.variance[unknown] == pytest.approx(2 * (weights**2).sum(), abs=1e-6)


@pytest.mark.slow
def test_probes_find_the_leverages_of_the_equations() -> None:
    equations = MarginEquations(lattice(programme([("A", "B", "C")], {"A": (3, 9), "B": (2, 7), "C": (4,)})))
    exact = np.diag(dense(equations))[equations.unknowns]
    found = steady_leverages(equations, statistic_of(equations), probes=40)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.02)
    # Nearer to the truth than single probes are, whose relative error is sqrt(2 / 40).
    assert np.sqrt(((found / exact - 1) ** 2).mean()) < 0.5 * math.sqrt(2 / 40)


def test_equal_blocks_have_the_leverages_of_the_closed_form() -> None:
    here = lattice(programme([("A", "B")], {"A": (3, 9), "B": (2, 8)}))
    for spsn in (True, False):
        closed = closed_form_leverages(here, spsn=spsn)
        probed = leverages_of(here, spsn=spsn)
        assert closed.surrogate
        assert not probed.surrogate
        assert closed.number == probed.number == here.cells.sum()
        assert probed.total.sum() == pytest.approx(closed.total.sum(), rel=0.05)
        assert closed.total.sum() == pytest.approx((best_ratios(here, np.ones(len(here))) * here.cells).sum())


def test_noise_of_every_tables_own_counts_by_table() -> None:
    here = lattice(programme([("A",), ("A", "B")], {"A": (4,), "B": (3,)}))
    assert leverages_of(here, spsn=False).number == 2 * (1 + 4) + 3 + 12
    assert leverages_of(here, spsn=True).number == 1 + 4 + 3 + 12


def test_populations_are_joined_in_their_order() -> None:
    parts = [leverages_of(lattice(programme([("A",)], {"A": (size,)}))) for size in (4, 7)]
    whole = joined(parts)
    assert whole.terms.sum(axis=1).tolist() == [1, 4, 1, 7]
    assert not whole.surrogate
    assert joined([parts[0], closed_form_leverages(lattice(programme([("A",)], {"A": (7,)})), spsn=True)]).surrogate


def test_where_less_is_published_the_rest_reveals_no_more() -> None:
    whole = lattice(programme([("A", "B"), ("A", "C")], {"A": (3, 9), "B": (5,), "C": (6,)}))
    part = lattice(programme([("A", "B")], {"A": (3, 9), "B": (5,)}))
    kept = np.isin(np.array(whole.names())[whole.published], part.names())
    p, q = (MaxEntropy(variance=3, bound=bound).pmf(np.arange(-6, 7)) for bound in (5, 6))
    restricted = leverages_of(whole).restricted(kept)
    assert restricted.number == leverages_of(part).number
    assert leverages_of(part).exponent(p, q, 3.0) < restricted.exponent(p, q, 3.0)


@given(st.floats(0, 4))
def test_the_success_is_that_of_gaussian_sums(apart: float) -> None:
    # Two Gaussians that are d standard deviations apart: B = d^2 / 8, and the nearer one is right with Phi(d / 2).
    assert success_of(apart**2 / 8) == pytest.approx(NormalDist().cdf(apart / 2))


def simulated(equations: MarginEquations, variance: float, bound: int, releases: int) -> tuple[float, float]:
    """Return how often residuals of simulated releases tell E from E + 1, and how often they are predicted to."""
    random = np.random.default_rng(2)
    unknowns = equations.unknowns
    first = np.unique(unknowns, return_index=True)[1]
    leverage = steady_leverages(equations, statistic_of(equations))
    laws = [MaxEntropy(variance=variance, bound=each) for each in (bound, bound + 1)]
    p, q = (each.pmf(np.arange(-bound - 1, bound + 2)) for each in laws)
    groups = [np.flatnonzero((leverage[first] * 25).astype(int) == number) for number in range(25)]
    right = 0
    for _ in range(releases):
        for wider, truth in enumerate((p, q)):
            noise = random.choice(np.arange(-bound - 1, bound + 2), len(first), p=truth / truth.sum())
            found = residuals_of(equations, noise[unknowns].astype(float), leverage, variance)
            ratio = sum(
                float(log_ratios(p, q, float(found.variance[group].mean()), found.values[group]).sum())
                for group in groups
                if len(group)
            )
            right += (ratio <= 0) == bool(wider)
    shared = concentration(equations, leverage)
    return right / (2 * releases), success_of(binned(leverage[first], shared).exponent(p, q, variance))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variance", "releases"),
    [(5.0, 150), *(pytest.param(v, 800, marks=pytest.mark.slow) for v in (3.5, 4.0, 5.0, 6.5))],
)
def test_simulated_releases_agree_with_the_prediction(variance: float, releases: int) -> None:
    tables = [("A", "B", "C"), ("A", "D"), ("B", "D", "C")]
    sizes = {"A": (4, 12), "B": (2, 6), "C": (5,), "D": (3, 10)}
    equations = MarginEquations(lattice(programme(tables, sizes)))
    achieved, predicted = simulated(equations, variance, 5, releases)
    error = math.sqrt(0.25 / (2 * releases))
    assert predicted > 0.58, "too little to tell the prediction from chance"
    assert achieved == pytest.approx(predicted, abs=3 * error)


ONE_TABLE = programme([("A", "B", "S")], {"A": (20,), "B": (9,), "S": (2,)})


def test_the_concentration_is_that_of_the_projection() -> None:
    for made in (ONE_TABLE, programme([("A", "S"), ("A", "B")], {"A": (4, 24), "B": (3, 9), "S": (2,)})):
        equations = MarginEquations(lattice(made))
        rest = np.eye(equations.cells) - dense(equations)
        exact = (rest**4).sum() / (np.diag(rest) ** 4).sum()
        assert exact > 1.05
        error = 1 / math.sqrt(100 * (np.diag(rest) ** 4).sum())
        assert concentration(equations, 1 - np.diag(rest)) == pytest.approx(exact, abs=3 * max(error, 0.02))


@pytest.mark.slow
def test_residuals_reveal_more_together_than_one_by_one() -> None:
    equations = MarginEquations(lattice(ONE_TABLE))
    rest = np.eye(equations.cells) - dense(equations)
    # All residuals of one table with all margins have one leverage.
    leverage = float(1 - np.diag(rest).mean())
    variance, bound, releases = 1.8, 2, 3000
    values = np.arange(-bound - 1, bound + 2)
    law, other = (MaxEntropy(variance=variance, bound=each).pmf(values) for each in (2, 3))
    random, right = np.random.default_rng(7), 0.0
    for wider, truth in enumerate((law, other)):
        noise = random.choice(values, (releases, equations.cells), p=truth / truth.sum())
        ratios = log_ratios(law, other, variance * leverage / (1 - leverage), noise @ rest / (1 - leverage))
        right += float(((ratios.sum(axis=1) <= 0) == bool(wider)).mean()) / 2
    all_cells = np.full(equations.cells, leverage)
    shared = concentration(equations, all_cells)
    apart, together = (success_of(binned(all_cells, each).exponent(law, other, variance)) for each in (1.0, shared))
    error = math.sqrt(0.25 / (2 * releases))
    assert right > apart + 3 * error
    assert right == pytest.approx(together, abs=3 * error)
