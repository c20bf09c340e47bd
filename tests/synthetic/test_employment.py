"""Education and work: children do not work, and the others follow the tables."""

from __future__ import annotations

import pytest

from discreet.synthetic.employment import ACTIVITIES, ACTIVITY, EDUCATION, LEVELS
from tests.each import each
from tests.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value, persons

JOB = {"OCC": ("11", "12"), "IND": ("11", "12"), "SIE": ("5", "6"), "LPW": ("4", "5")}
"""The codes of not stated and not applicable."""


def test_below_15_is_below_the_minimum_age_without_a_level_of_education() -> None:
    table = persons()
    assert ((table.CAS == "2.1") == (table.YEARS < 15)).all()
    assert ((table.EDU == "11") == (table.YEARS < 15)).all()


@each("topic", JOB)
def test_only_the_employed_have_a_job(topic: str) -> None:
    table = persons()
    unknown, none = JOB[topic]
    assert ((table[topic] == none) == ~table.CAS.isin(["1.1", "3"])).all()
    assert set(table[topic][table.CAS == "3"]) == {unknown}


def test_nobody_in_an_institution_is_in_the_labour_force() -> None:
    table = persons()
    assert not table.CAS[table.HST.isin(["2.1", "2.2"])].isin(["1.1", "1.2"]).any()


def test_degrees_take_their_years() -> None:
    table = persons()
    for level, age in (("7", 20), ("8", 22), ("9", 25)):
        assert table.YEARS[table.EDU.eq(level)].min() >= age


def test_farmers_farm_and_soldiers_serve() -> None:
    table = persons()
    assert (table.IND[table.OCC == "6"] == "1").mean() > 0.8
    assert set(table.IND[table.OCC == "10"]) == {"9.1"}
    assert (table.OCC[table.EDU.isin(["7", "8", "9"]) & (table.CAS == "1.1")] == "2").mean() > 0.4


@pytest.mark.slow
def test_most_work_in_the_region_they_live_in() -> None:
    table = persons("AT")
    region = table.LPW[table.LPW.str.startswith("1.AT")]
    assert region.nunique() > 5
    assert (table.LPW == "1.y").any()
    # The first signs of an area's code do not tell its region, so that most persons of an area must work in one.
    by_area = table.loc[region.index].groupby("GEO")["LPW"].agg(lambda codes: codes.value_counts(normalize=True).max())
    large = table.GEO.value_counts().head(20).index
    assert (by_area[large] > 0.85).all()


@pytest.mark.slow
def test_activity_follows_the_table() -> None:
    table = persons(number=262_144)
    private = table[~table.HST.isin(["2.1", "2.2"])]
    for (start, end), place in (((20, 24), 20), ((30, 49), 30), ((60, 64), 60)):
        for sex in (0, 1):
            chosen = private[private.YEARS.between(start, end) & private.SEX.eq(str(sex + 1))]
            seen = chosen.CAS.value_counts().reindex(ACTIVITIES, fill_value=0).tolist()
            percents = ACTIVITY[place][sex]
            shares = [*percents, 100 - sum(percents)]
            assert p_value(seen, shares) > ACCEPT
            assert p_value(seen, off_by_30_percent(shares)) < REJECT


def test_education_follows_the_table() -> None:
    table = persons(number=262_144)
    chosen = table.EDU[table.YEARS.between(35, 54)].value_counts().reindex(LEVELS, fill_value=0).tolist()
    shares = [*EDUCATION[35], 100 - sum(EDUCATION[35])]
    assert p_value(chosen, shares) > ACCEPT
    assert p_value(chosen, off_by_30_percent(shares)) < REJECT
