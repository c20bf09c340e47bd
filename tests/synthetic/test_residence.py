"""Areas: as large as they really are, households in one place, localities as large as planned."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.programme.eu2021.census import census
from discreet.synthetic.random_choice import Draws
from discreet.synthetic.residence import LOCALITY_FROM, Geography
from tests.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value, persons, residents


def geography(country: str = "LU", number: int = 600_000, seed: int = 1) -> Geography:
    return Geography(country, census(country).topics["GEO"], number, seed)


def test_sizes_are_the_real_ones_in_proportion() -> None:
    place = geography()
    areas = census("LU").topics["GEO"].levels[-1].codes or ()
    capital = areas.index("LU_0304")
    assert place.sizes.sum() == pytest.approx(600_000)
    assert place.sizes.argmax() == capital
    assert place.sizes[capital] == pytest.approx(600_000 * place.residents[capital] / place.residents.sum())
    assert np.allclose(place.sizes * 10, geography(number=6_000_000).sizes)
    assert np.array_equal(place.sizes, geography(seed=2).sizes)


def test_households_settle_by_the_sizes() -> None:
    place = geography()
    made = residents()
    area = place.settle(made, Draws("settle")).area
    assert np.array_equal(area, area[made.first])
    heads = area[made.first == np.arange(len(made))]
    # The largest areas: a chi-square needs a few households in each.
    order = np.argsort(place.sizes)
    seen = np.bincount(heads, minlength=len(place.sizes))[order][-60:]
    assert p_value(seen.tolist(), place.sizes[order][-60:].tolist()) > ACCEPT
    assert p_value(seen.tolist(), off_by_30_percent(place.sizes[order][-60:].tolist())) < REJECT


def test_nobody_lives_where_nobody_lives() -> None:
    place = geography("CY")
    empty = place.residents == 0
    assert empty.sum() > 100
    assert not empty[place.settle(residents(), Draws("settle")).area].any()


def test_the_regions_of_areas_are_those_of_the_programme() -> None:
    topic = census("AT").topics["GEO"]
    place = geography("AT")
    assert topic.tree
    areas = topic.levels[-1].codes
    assert areas
    for number in (0, 700, 2094):
        assert place.regions[place.region[number]] == topic.tree.path(areas[number])[1]


def test_the_class_of_a_locality_goes_by_its_planned_size() -> None:
    place = geography()
    made = residents()
    homes = place.settle(made, Draws("settle"))
    classes = homes.size_class
    assert np.array_equal(classes, classes[made.first])
    for share in (0.8, 0.05):
        sizes = place.sizes[homes.area] * share
        least = np.array(LOCALITY_FROM)[classes]
        most = np.array([10**9, *LOCALITY_FROM])[classes]
        fits = (least <= sizes) & (sizes < most)
        assert fits.mean() > (0.75 if share == 0.8 else 0.15)


def test_a_household_lives_in_one_place() -> None:
    table = persons()
    assert (table.groupby("HOUSEHOLD_ID")[["GEO", "LOC", "GRID", "HAR"]].nunique() == 1).all(axis=None)


def test_a_country_without_a_list_of_areas_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"Persons cannot be placed in Greece \(EL\).*Choose .* LU") as caught:
        geography("EL")
    assert caught.value.parameter == "country"
