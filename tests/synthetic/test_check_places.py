"""Households compared with the targets of the geography: deviations are detected."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.programme.eu2021.census import census
from discreet.synthetic.marginal_check import LEAST, density_marginal, lau_marginal
from discreet.synthetic.random_choice import Draws
from discreet.synthetic.residence import Geography, Homes
from tests.synthetic.sample import residents

TOPIC = census("LU").topics["GEO"]
AREAS = TOPIC.levels[-1].codes or ()


@pytest.fixture(scope="module")
def geography() -> Geography:
    return Geography("LU", TOPIC, 65_536, 1)


@pytest.fixture(scope="module")
def homes(geography: Geography) -> Homes:
    made = residents()
    starts = made.first == np.arange(len(made))
    found = geography.settle(made, Draws("check places"))
    return Homes(found.area[starts], found.size_class[starts], found.cell[starts])


def test_small_laus_are_looked_at_together(geography: Geography, homes: Homes) -> None:
    found = lau_marginal(homes.area, AREAS, geography)
    assert found.agrees
    alone = [share for share in found.shares if share.what in AREAS]
    assert all(share.target * share.among >= LEAST for share in alone)
    assert sum(share.seen for share in found.shares) == len(homes.area)


def test_households_spread_evenly_over_laus_would_be_noticed(geography: Geography, homes: Homes) -> None:
    even = Draws("even").below(len(AREAS), len(homes.area)).astype(np.uint16)
    assert not lau_marginal(even, AREAS, geography).agrees


def test_dense_cells_hold_most(geography: Geography, homes: Homes) -> None:
    found = density_marginal(homes.area, homes.cell, geography)
    assert found.agrees
    assert found.shares[0].target > 0.5
    assert found.shares[-1].target < 0.1


def test_households_spread_evenly_over_a_lau_would_be_noticed(geography: Geography, homes: Homes) -> None:
    # Only the four hamlets, in turn.
    locality = (1 + np.arange(len(homes.area)) % 4).astype(np.uint8)
    offset = np.linspace(-1, 1, len(homes.area))
    assert not density_marginal(homes.area, geography.grid.cells(homes.area, locality, offset), geography).agrees
