"""Areas: heavy-tailed sizes, households in one area, localities as large as planned."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.microdata.synthetic.places import LOCALITY_FROM, Geography, area_shares
from discreet.microdata.synthetic.randomness import Draws
from discreet.programme.eu2021.census import census
from tests.microdata.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value, persons, residents


def geography(country: str = "LU", number: int = 600_000, seed: int = 1) -> Geography:
    return Geography(country, census(country).topics["GEO"], number, seed)


def test_few_areas_are_large_and_many_tiny() -> None:
    shares = np.sort(area_shares(102, Draws("areas")))
    assert shares.sum() == pytest.approx(1)
    assert shares[-1] > 0.1
    assert shares[-10:].sum() > 0.5
    assert (shares < shares.mean() / 10).sum() > 20


def test_sizes_depend_on_the_seed_and_the_country_alone() -> None:
    first = geography().sizes
    assert np.array_equal(first, geography().sizes)
    assert np.allclose(first * 10, geography(number=6_000_000).sizes)
    assert not np.allclose(first, geography(seed=2).sizes)
    assert np.allclose(np.sort(first), np.sort(geography(seed=2).sizes))


def test_households_settle_by_the_sizes() -> None:
    place = geography()
    made = residents()
    area = place.settle(made, Draws("settle"))
    assert np.array_equal(area, area[made.first])
    heads = area[made.first == np.arange(len(made))]
    # The largest areas: a chi-square needs a few households in each.
    order = np.argsort(place.sizes)
    seen = np.bincount(heads, minlength=len(place.sizes))[order][-60:]
    assert p_value(seen.tolist(), place.sizes[order][-60:].tolist()) > ACCEPT
    assert p_value(seen.tolist(), off_by_30_percent(place.sizes[order][-60:].tolist())) < REJECT


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
    area = place.settle(made, Draws("settle"))
    classes = place.localities(made, area, Draws("localities"))
    assert np.array_equal(classes, classes[made.first])
    for share in (0.8, 0.05):
        sizes = place.sizes[area] * share
        least = np.array(LOCALITY_FROM)[classes]
        most = np.array([10**9, *LOCALITY_FROM])[classes]
        fits = (least <= sizes) & (sizes < most)
        assert fits.mean() > (0.75 if share == 0.8 else 0.15)


def test_a_household_lives_in_one_area() -> None:
    table = persons()
    assert (table.groupby("HOUSEHOLD_ID")[["GEO", "LOC", "HAR"]].nunique() == 1).all(axis=None)


def test_a_country_without_a_list_of_areas_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"areas of Greece \(EL\) are known by their numbers only.*Choose .* LU"
    ) as caught:
        geography("EL")
    assert caught.value.parameter == "country"
