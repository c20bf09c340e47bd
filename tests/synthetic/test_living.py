"""Household, family and marital status of a person are consistent."""

from __future__ import annotations

import pytest

from discreet.synthetic.households import NOT_MARRIED
from tests.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value, persons


def test_living_alone_is_what_households_of_one_do() -> None:
    table = persons()
    size = table.groupby("HOUSEHOLD_ID")["PERSON_ID"].transform("size")
    private = ~table.HST.isin(["2.1", "2.2"])
    assert ((table.HST == "1.2.1") == ((size == 1) & private)).all()


def test_family_and_household_status_agree() -> None:
    table = persons()
    assert ((table.HST == "1.1") == (table.FST != "5")).all()
    assert set(table.HST) == {"1.1", "1.2.1", "1.2.2", "2.1", "2.2"}


def test_the_married_are_those_in_married_couples() -> None:
    table = persons()
    assert ((table.LMS == "2.1") == (table.FST == "1.1.1")).all()
    assert ((table.LMS == "2.2") == (table.FST == "1.1.2")).all()


def test_married_couples_live_together() -> None:
    table = persons()
    for status in ("1.1.1", "1.1.2"):
        sexes = table[table.FST.eq(status)].groupby("HOUSEHOLD_ID")["SEX"].value_counts().unstack(fill_value=0)
        assert (sexes.sum(axis=1) % 2 == 0).all()
        if status == "1.1.1":
            assert (sexes["1"] == sexes["2"]).all()


def test_children_never_married() -> None:
    table = persons()
    assert set(table.LMS[table.YEARS < 18]) == {"1"}
    assert set(table.FST[table.YEARS < 18]) <= {"3.1", "3.2", "5"}


def test_housing_fits_the_household() -> None:
    table = persons()
    assert set(table.HAR[table.HST == "2.1"]) == {"1.2"}
    assert set(table.HAR[table.HST == "2.2"]) == {"2"}
    assert set(table.HAR[table.HST.str.startswith("1")]) == {"1.1", "2", "3"}


@pytest.mark.slow
def test_the_not_married_follow_the_table() -> None:
    table = persons(number=262_144)
    chosen = table[table.YEARS.between(65, 74) & ~table.LMS.str.startswith("2")]
    seen, expected = [], []
    for sex, (widowed, divorced, unknown) in zip(("1", "2"), NOT_MARRIED[65], strict=True):
        counts = chosen.LMS[chosen.SEX.eq(sex)].value_counts().reindex(["1", "3", "4", "5"])
        percents = [100 - widowed - divorced - unknown, widowed, divorced, unknown]
        seen += counts.tolist()
        expected += [percent * int(counts.sum()) / 100 for percent in percents]
    assert p_value(seen, expected) > ACCEPT
    assert p_value(seen, off_by_30_percent(expected)) < REJECT
