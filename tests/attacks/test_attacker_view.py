"""The attacker's view: tables read once, known or disclosed noise, and repeatable random numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.attacks.attacker_view import (
    AttackerKnowledge,
    AttackerView,
    attacker_view,
    noise_from_disclosure,
    noise_from_record,
)
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.random_bits import SeededBits
from discreet.tabulation.cell_vector import layouts
from tests.attacks.scenes import PTABLE, town_release

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.engines.engine import Engine
    from discreet.release.release import Release


@pytest.fixture(scope="module")
def release(engine: Engine) -> Release:
    return town_release(engine=engine)


def test_the_tables_of_a_population_are_read_once_and_only_when_asked_for(release: Release) -> None:
    read: list[str] = []

    def noting(table: str) -> pa.Table:
        read.append(table)
        return release.table(table)

    attacker = replace(attacker_view(release), read=noting)
    assert not read
    first, second = attacker.populations
    view = attacker.view(second)
    assert read == ["4", "5"]
    # The attack that looks next may have targets of its own, and has the same tables.
    later = replace(attacker, targets={})
    assert later.view(second) is view
    assert [each.layout.name for each in later.views()] == [first, second]
    assert read == ["4", "5", "1", "2", "3"]
    expected = layouts(release.programme, spsn=True)[second].vector(release.table)
    assert view.published.tolist() == expected.tolist()


def test_nothing_of_the_truth_is_in_sight(release: Release) -> None:
    blind = replace(release, held_exact=None, own_record=None)
    one, other = attacker_view(release), attacker_view(blind)
    assert one.disclosed == other.disclosed
    assert one.disclosed["typical_noise"] == round(2**0.5, 1)
    for mine, theirs in zip(one.views(), other.views(), strict=True):
        assert mine.published.tolist() == theirs.published.tolist()


def test_the_law_is_the_one_she_knows_or_else_the_one_she_is_told(release: Release) -> None:
    known = noise_from_record(release.record)
    assert attacker_view(release, AttackerKnowledge(noise=known)).noise is known
    assumed = attacker_view(release).noise
    assert not assumed.exactly
    assert assumed.variance == noise_from_disclosure(release.description["noise"]).variance


def test_whether_noise_is_shared_is_what_the_release_tells(release: Release, engine: Engine) -> None:
    assert attacker_view(release).spsn
    fresh = attacker_view(town_release(Fresh(PTABLE, bits=SeededBits(1)), engine=engine))
    assert not fresh.spsn
    assert not fresh.views()[0].layout.spsn
    # True counts carry no noise that could differ.
    assert attacker_view(town_release(Exact(), engine=engine)).spsn


def test_random_numbers_repeat_with_the_seed_and_differ_by_purpose(release: Release) -> None:
    def drawn(attacker: AttackerView, *more: int) -> list[float]:
        found: list[float] = attacker.random(*more).random(4).tolist()
        return found

    attacker = attacker_view(release, seed=7)
    assert drawn(attacker, 1) == drawn(attacker_view(release, seed=7), 1)
    others = [
        drawn(attacker),
        drawn(attacker, 1),
        drawn(attacker, 2),
        drawn(attacker, 1, 1),
        drawn(attacker_view(release), 1),
    ]
    assert len(set(map(tuple, others))) == 5


def test_random_numbers_of_different_purposes_differ(engine: Engine) -> None:
    attacker = attacker_view(town_release(engine=engine))
    assert attacker.random(1).random() == attacker.random(1).random()
    assert attacker.random(1).random() != attacker.random(1, 0).random()
