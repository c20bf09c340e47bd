"""The 2021 EU census programme: the numbers of the regulation."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.eu2021.census import census, countries, member_states
from discreet.programme.lattice import lattice
from discreet.programme.programme_files import load_programme
from tests.each import each


def test_there_are_119_tables_103_of_persons_for_31_countries() -> None:
    made = census("DE")
    assert len(made.tables) == 119
    assert len(made.populations["persons"]) == 103
    assert (len(countries()), len(member_states())) == (31, 27)


# Power sets of the breakdowns as the regulation lists them; GEO.N is the total.
@pytest.mark.parametrize(("country", "unique"), [("DE", 1244), ("MT", 764), ("LU", 620)])
def test_unique_statistics_under_the_flat_rule(country: str, unique: int) -> None:
    assert int(lattice(census(country), "flat").published.sum()) == unique


@pytest.mark.slow
def test_without_merging_every_country_has_the_same_statistics() -> None:
    counted = {int(lattice(census(c), "flat", keep_single=True).published.sum()) for c in member_states()}
    assert counted == {1244}


def test_flat_names_are_breakdown_codes() -> None:
    names = lattice(census("DE"), "flat").names()
    assert "AGE.M SEX" in names
    assert "AGE.M GEO.L" in names


def test_levels_of_several_breakdowns_are_one_level() -> None:
    age = census("DE").topics["AGE"]
    assert [(level.name, level.size) for level in age.levels] == [("AGE.L", 6), ("AGE.M", 21), ("AGE.H", 101)]
    # Every level refines the one before it.
    for topic in census("DE").topics.values():
        if topic.tree:
            for coarse, fine in zip(topic.levels, topic.levels[1:], strict=False):
                assert topic.tree.above(coarse.codes or (), fine.codes or ()) is not None, topic.name


@each("country", sorted(countries()))
def test_areas_are_as_many_as_the_geography_says(country: str) -> None:
    made, row = census(country), countries()[country]
    geo = {level.name: level for level in made.topics["GEO"].levels}
    assert [geo[name].size for name in ("NUTS1", "NUTS2", "NUTS3", "LAU")] == [
        int(row[key]) for key in ("nuts1", "nuts2", "nuts3", "lau_2020")
    ]
    if country == "EL":
        assert "extra region" in made.notes[0]
        assert geo["LAU"].codes is None
    else:
        assert made.notes == ()
        assert len(set(geo["LAU"].codes or ())) == geo["LAU"].size


def test_other_vintages_are_numbers_only() -> None:
    made = census("LU", lau=2010)
    assert made.topics["GEO"].levels[-1].size == 116
    assert "Only the numbers of areas" in made.notes[0]
    assert census("HR", nuts=2016).topics["GEO"].levels[1].size == 2
    with pytest.raises(ParameterError, match="lau must be one of 2020, 2019, 2018, 2010"):
        census("LU", lau=2011)
    with pytest.raises(ParameterError, match="number of LAUs of 2010 is not available for CH"):
        census("CH", lau=2010)


def test_the_place_of_work_has_the_regions_of_the_country() -> None:
    work = census("AT").topics["LPW"]
    assert [(level.name, level.size) for level in work.levels] == [("LPW.N", 5), ("LPW.L:NUTS1", 8), ("LPW.L", 14)]


def test_programmes_are_found_by_name() -> None:
    assert load_programme("eu2021:LU").name == "Luxembourg, EU census 2021"
    with pytest.raises(UnknownNameError, match=r"no country for eu2021 'LX'\..* Available: AT"):
        load_programme("eu2021:LX")
    with pytest.raises(UnknownNameError, match=r"no shipped programme 'eu2022'. Did you mean eu2021"):
        load_programme("eu2022:LU")
