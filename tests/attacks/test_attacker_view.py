"""What an attacker sees: tables read once, the law she knows or is told, and random numbers that repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.attacks.attacker_view import AttackerKnowledge, AttackerView, belief_of, belief_told, sight_of
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

    sight = replace(sight_of(release), read=noting)
    assert not read
    first, second = sight.populations
    view = sight.view(second)
    assert read == ["4", "5"]
    # The attack that looks next may have targets of its own, and has the same tables.
    later = replace(sight, targets={})
    assert later.view(second) is view
    assert [each.layout.name for each in later.views()] == [first, second]
    assert read == ["4", "5", "1", "2", "3"]
    expected = layouts(release.programme, spsn=True)[second].vector(release.table)
    assert view.published.tolist() == expected.tolist()


def test_nothing_of_the_truth_is_in_sight(release: Release) -> None:
    blind = replace(release, held_exact=None, own_record=None)
    one, other = sight_of(release), sight_of(blind)
    assert one.told == other.told
    assert one.told["typical_noise"] == round(2**0.5, 1)
    for mine, theirs in zip(one.views(), other.views(), strict=True):
        assert mine.published.tolist() == theirs.published.tolist()


def test_the_law_is_the_one_she_knows_or_else_the_one_she_is_told(release: Release) -> None:
    known = belief_of(release.record)
    assert sight_of(release, AttackerKnowledge(noise=known)).noise is known
    told = sight_of(release).noise
    assert not told.exactly
    assert told.variance == belief_told(release.description["noise"]).variance


def test_whether_noise_is_shared_is_what_the_release_tells(release: Release, engine: Engine) -> None:
    assert sight_of(release).spsn
    fresh = sight_of(town_release(Fresh(PTABLE, bits=SeededBits(1)), engine=engine))
    assert not fresh.spsn
    assert not fresh.views()[0].layout.spsn
    # True counts carry no noise that could differ.
    assert sight_of(town_release(Exact(), engine=engine)).spsn


def test_random_numbers_repeat_with_the_seed_and_differ_by_purpose(release: Release) -> None:
    def drawn(sight: AttackerView, *more: int) -> list[float]:
        found: list[float] = sight.random(*more).random(4).tolist()
        return found

    sight = sight_of(release, seed=7)
    assert drawn(sight, 1) == drawn(sight_of(release, seed=7), 1)
    others = [drawn(sight), drawn(sight, 1), drawn(sight, 2), drawn(sight, 1, 1), drawn(sight_of(release), 1)]
    assert len(set(map(tuple, others))) == 5


def test_random_numbers_of_different_purposes_differ(engine: Engine) -> None:
    sight = sight_of(town_release(engine=engine))
    assert sight.random(1).random() == sight.random(1).random()
    assert sight.random(1).random() != sight.random(1, 0).random()
