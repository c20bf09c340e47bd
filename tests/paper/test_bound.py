"""The map of figure 1 has the closed formula in its cells and on its lines."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.noise.max_entropy import MaxEntropy
from discreet.paper.published_numbers import TUPLES
from discreet.paper.risk_part import BoundMap, bound_map, bound_numbers
from discreet.risk.bound_disclosure import disclosure_at

if TYPE_CHECKING:
    from discreet.paper.paper_inputs import Sources

BOUNDS = (2, 3, 5, 6)
VARIANCES = (0.5, 2.0, 3.0)


@pytest.fixture(scope="module")
def drawn() -> BoundMap:
    return bound_map(variances=VARIANCES, bounds=BOUNDS)


def brute_force(variance: float, bound: int) -> int:
    """Return m from every combination of three noise terms."""
    values = np.arange(-bound, bound + 1)
    p = MaxEntropy(variance=variance, bound=bound).pmf(values)
    chance = math.fsum(
        p[f] * p[m] * p[t]
        for f, m, t in product(range(len(p)), repeat=3)
        if abs(int(values[f] + values[m] - values[t])) > 3 * (bound - 1)
    )
    return math.ceil(math.log(1 - 0.6827) / math.log1p(-chance))


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 1), (2, 1), (2, 2)])
def test_its_cells_are_those_of_every_combination(drawn: BoundMap, row: int, column: int) -> None:
    assert drawn.needed[row, column] == pytest.approx(brute_force(VARIANCES[column], BOUNDS[row]), rel=1e-6)


def test_no_law_has_more_than_the_variance_of_uniform_noise(drawn: BoundMap) -> None:
    assert np.isnan(drawn.needed).tolist() == [[v > e * (e + 1) / 3 for v in VARIANCES] for e in BOUNDS]


@pytest.mark.parametrize("attacker", ["gap", "likelihood"])
def test_on_a_line_the_sets_of_the_country_just_do_not_suffice(attacker: str) -> None:
    found = bound_map(attacker, variances=(), bounds=(5, 7))
    for country, many in TUPLES.items():
        for bound, limit in zip(found.bounds, found.limits[country], strict=True):
            asked = {"tuples": many, "attacker": attacker}
            assert not disclosure_at(limit, bound, **asked).inferable  # type: ignore[arg-type]
            assert disclosure_at(limit * (1 + 1e-6), bound, **asked).inferable  # type: ignore[arg-type]


def test_the_published_point_is_found_out_in_germany_alone(sources: Sources) -> None:
    found = {each.id: each for each in bound_numbers(sources)}
    assert (found["hidden-from/Germany"].ours, found["hidden-from/Malta"].ours) == (6, 5)
    assert found["uniform-chance"].ours == pytest.approx(20 / 11**3)
    # Sets counted are k of SEX in table 1.
    assert found["tuples/flat"].ours == 16_676_152
