"""Birth, citizenship, arrival and moves fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.synthetic.origin import FOREIGN_BORN
from tests.synthetic.sample import ACCEPT, REJECT, p_value, persons

if TYPE_CHECKING:
    import pandas as pd

YEAR = 2021
LAST_YEARS = {
    **{f"1.1.{place}": 2022 - place for place in (1, 2)},
    **{f"1.2.{place}": 2020 - place for place in range(1, 6)},
    **{f"1.3.{place}": 2015 - place for place in range(1, 6)},
    **{f"1.4.{place}": 2010 - place for place in range(1, 6)},
    **{f"1.{group}": 2029 - 5 * group for group in range(5, 10)},
}
"""The last year of every code of arrival since 1980."""


def arrival(table: pd.DataFrame) -> pd.Series:
    return table.YAE.map(LAST_YEARS)


def test_nobody_arrives_before_birth() -> None:
    table = persons()
    years = arrival(table)
    came = years.notna()
    assert ((YEAR - years[came]) <= table.YEARS[came]).all()
    native = came & (table.POB == "1")
    assert native.any()
    assert ((YEAR - years[native]) < table.YEARS[native]).all()


def test_most_who_were_born_here_have_never_lived_abroad() -> None:
    table = persons()
    here = table.POB == "1"
    assert (table.YAE[here] == "2").mean() > 0.95
    # Born abroad, and code 2: arrived before 1980.
    assert table.YEARS[~here & (table.YAE == "2")].min() >= 42


def test_both_topics_of_arrival_agree() -> None:
    table = persons()
    since_2010 = table.YAE.str.match(r"1\.[123]\.")
    assert ((table.YAT == "1") == since_2010).all()
    assert ((table.YAT == "3") == (table.YAE == "3")).all()


def test_residence_a_year_ago_fits_age_and_arrival() -> None:
    table = persons()
    assert ((table.ROY == "4") == (table.YEARS == 0)).all()
    assert ((table.ROY == "2.2") == ((table.YAE == "1.1.1") & (table.YEARS > 0))).all()
    kept = table[~table.ROY.isin(["4", "2.2"])]
    assert kept.ROY.eq(kept.groupby("HOUSEHOLD_ID")["ROY"].transform("first")).all()


def test_nobody_comes_from_another_region_of_a_country_of_one() -> None:
    assert not (persons().ROY == "2.1.2").any()
    assert (persons("AT").ROY == "2.1.2").any()


def test_most_are_citizens_and_foreigners_are_so_by_birth() -> None:
    table = persons()
    here = table.POB == "1"
    assert 0.8 < here.mean() < 0.9
    assert (table.COC[here] == "1").mean() > 0.95
    abroad = table[table.POB.str.startswith("2.1.")]
    assert abroad.COC.isin(["1", "3", "4"]).mean() + (abroad.COC == abroad.POB).mean() == 1


def test_members_of_a_household_are_alike() -> None:
    table = persons()
    first = table.groupby("HOUSEHOLD_ID")["POB"].transform("first")
    others = table.HOUSEHOLD_ID.duplicated() & table.HST.eq("1.1") & table.YEARS.between(25, 64)
    abroad = table.POB != "1"
    assert abroad[others & (first != "1")].mean() > 2 * abroad[others].mean()


@pytest.mark.slow
def test_births_abroad_follow_the_table() -> None:
    # Heads of households, one from each: members of a household are alike.
    table = persons(number=262_144).drop_duplicates("HOUSEHOLD_ID")
    for start, end in ((25, 44), (45, 64)):
        chosen = table.POB[table.YEARS.between(start, end)]
        seen = [int((chosen != "1").sum()), int((chosen == "1").sum())]
        share = FOREIGN_BORN[start][0]
        assert p_value(seen, [share, 100 - share]) > ACCEPT
        assert p_value(seen, [1.3 * share, 100 - 1.3 * share]) < REJECT
