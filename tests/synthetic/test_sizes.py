"""Sizes of LAUs: the real ones, and another's where the list has none."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.programme.eu2021.census import census, countries
from discreet.synthetic.random_choice import Draws
from discreet.synthetic.residence import lau_sizes
from tests.each import each
from tests.quick import one_in

LACKING = {"CY": ["CY_5356"], "FR": ["FR_97801"], "IS": ["IS_2510"]}
WITH_AREAS = [country for country in countries() if country != "EL"]


def areas(country: str) -> list[str]:
    return list(census(country).topics["GEO"].levels[-1].codes or ())


@each(
    ("area", "residents"),
    [("AT_10101", 14_816), ("FR_75056", 2_187_526), ("ES_26048", 24), ("IS_0000", 123_246), ("CH_CH9758", 0)],
)
def test_places_have_the_residents_that_eurostat_gives(area: str, residents: int) -> None:
    assert lau_sizes(area[:2], [area], Draws("sizes")).tolist() == [residents]


@each("country", one_in(9, WITH_AREAS))
def test_every_area_of_the_programme_has_a_size_of_its_own_but_three(country: str) -> None:
    one, other = (lau_sizes(country, areas(country), Draws("sizes", seed)) for seed in (1, 2))
    lacking = np.isin(areas(country), LACKING.get(country, []))
    assert np.array_equal(one[~lacking], other[~lacking])
    assert (one >= 0).all()
    assert set(one[lacking].tolist()) <= set(one[~lacking].tolist())


@pytest.mark.slow
def test_the_whole_is_as_large_as_30_countries() -> None:
    sizes = np.concatenate([lau_sizes(country, areas(country), Draws("sizes")) for country in WITH_AREAS])
    assert sizes.sum() == pytest.approx(454_655_157, rel=1e-3)
    assert (sizes > 10**6).sum() == 15
    assert 0.3 < ((sizes > 0) & (sizes < 500)).mean() < 0.4
