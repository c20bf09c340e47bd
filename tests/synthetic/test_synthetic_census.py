"""Blocks: every topic, every code a finest one, identifiers that identify."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InternalError, UnknownNameError
from discreet.programme.eu2021.census import census, countries
from discreet.synthetic.synthetic_census import BLOCK, SyntheticCensus
from tests.each import each
from tests.synthetic.sample import persons

WITH_AREAS = [country for country in countries() if country != "EL"]


@pytest.mark.slow
@each("country", WITH_AREAS)
def test_every_topic_of_persons_has_finest_codes(country: str) -> None:
    programme = census(country)
    made = SyntheticCensus(country, 3000, seed=5)
    wanted = {breakdown.topic for table in programme.of("persons") for breakdown in table.breakdowns}
    assert set(made.codes) == wanted
    block = made.block(0)
    for name, codes in made.codes.items():
        tree = programme.topics[name].tree
        assert tree
        assert set(codes) == set(tree.leaves)
        assert len(block.topics[name]) == 3000
        assert int(block.topics[name].max()) < len(codes)


@pytest.mark.slow
@each("topic", ["AGE", "LMS", "CAS", "OCC", "IND", "SIE", "EDU", "YAE", "YAT", "HAR", "LPW"])
def test_every_code_occurs(topic: str) -> None:
    assert set(persons(number=262_144)[topic]) == set(census("LU").topics[topic].levels[-1].codes or ())


def test_ages_have_the_code_of_their_label() -> None:
    table = persons()
    tree = census("LU").topics["AGE"].tree
    assert tree
    labels = {category.code: category.labels["en"] for category in tree.categories}
    assert (table.AGE.map(labels) == table.YEARS.map(lambda years: "100+" if years == 100 else str(years))).all()


def test_sexes_have_their_code() -> None:
    table = persons()
    assert (table.SEX[table.YEARS >= 85] == "2").mean() > 0.6


def test_identifiers_are_all_different_and_not_in_order() -> None:
    table = persons(number=262_144)
    assert table.PERSON_ID.is_unique
    assert table.HOUSEHOLD_ID.nunique() > 100_000
    assert not table.PERSON_ID.is_monotonic_increasing
    assert table.PERSON_ID.between(0, 10**10 - 1).all()
    # Households of different blocks have different identifiers.
    assert not set(table.HOUSEHOLD_ID[:BLOCK]) & set(table.HOUSEHOLD_ID[BLOCK:])


def test_identifiers_of_the_largest_census_fit() -> None:
    made = SyntheticCensus("LU", 10**9, seed=1)
    last = made.block(made.blocks - 1)
    assert len(last.person) == 10**9 - (made.blocks - 1) * BLOCK
    for found in (last.person, last.household):
        assert found.min() >= 0
        assert found.max() < 10**10


def test_a_block_is_the_same_by_itself() -> None:
    made = SyntheticCensus("LU", 150_000, seed=3)
    by_itself, in_order = made.block(2), [made.block(number) for number in range(made.blocks)][2]
    assert np.array_equal(by_itself.person, in_order.person)
    for name in made.codes:
        assert np.array_equal(by_itself.topics[name], in_order.topics[name])


def test_an_unknown_country_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="There is no country"):
        SyntheticCensus("XX", 10, seed=1)


def test_a_topic_that_the_programme_gains_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SyntheticCensus("LU", 10, seed=1)
    monkeypatch.setitem(made.codes, "NEW", ("1",))
    with pytest.raises(InternalError, match="NEW"):
        made.block(0)
