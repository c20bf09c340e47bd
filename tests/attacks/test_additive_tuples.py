"""Additive tuples: all that a programme has, each once, found cell by cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.additive_tuples import additive_tuples, same_cells, single_noises
from discreet.attacks.attacker_view import AssumedNoise, attacker_view
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from tests.protection.town import SECRET, TOWN, people

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.attacks.attacker_view import PopulationCounts

NOISE = AssumedNoise((np.array([0.0, 1, 0]), np.full(3, 1 / 3)), 2 / 3, 1.0, shared="participants")


@pytest.fixture(scope="module")
def views() -> list[PopulationCounts]:
    return attacker_view(protect(people(300), TOWN, Exact())).views()


@pytest.mark.parametrize("shared", ["participants", "coordinates", "nothing"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_parts_add_up_to_their_total(views: list[PopulationCounts], size: int, shared: str) -> None:
    for view in views:
        found = additive_tuples(view, same_cells(view, replace(NOISE, shared=shared)), size)
        assert found.parts.shape == (len(found.totals), size)
        assert not found.gaps.any()
        shown = [view.published[[*parts, total]] for parts, total in zip(found.parts, found.totals, strict=True)]
        assert found.smallest.tolist() == [values.min() for values in shown]
        assert all(values.any() for values in shown)
        large = found.above(20)
        assert len(large.totals) == sum(values.min() > 20 for values in shown)


def test_every_equation_is_there_once(views: list[PopulationCounts]) -> None:
    """Compare with an enumeration of all splits of non-empty cells into two parts."""
    for view in views:
        expected = set()
        for link in view.layout.equations.links:
            for parent in range(link.size):
                parts = link.fine + np.flatnonzero(link.parent == parent)
                if len(parts) == 2 and view.published[link.coarse + parent]:
                    expected.add((link.coarse + parent, *parts.tolist()))
        noise = replace(NOISE, shared="nothing")
        found = additive_tuples(view, same_cells(view, noise), 2)
        rows = [(t, *p) for t, p in zip(found.totals.tolist(), found.parts.tolist(), strict=True)]
        assert len(rows) == len(set(rows))
        assert set(rows) == expected


def test_cells_with_the_same_persons_have_one_number(views: list[PopulationCounts]) -> None:
    """In exact counts a part that is as large as its total has its persons; a parted total has none of its numbers."""
    for view in views:
        by_persons = same_cells(view, NOISE)
        by_place = same_cells(view, replace(NOISE, shared="coordinates"))
        assert (np.unique(same_cells(view, replace(NOISE, shared="nothing"))) == np.arange(view.layout.cells)).all()
        assert _first_seen(by_place).tolist() == _first_seen(view.layout.equations.unknowns).tolist()
        for link in view.layout.equations.links:
            above, below = link.coarse + link.parent, link.fine + np.arange(len(link.parent))
            alike = (view.published[above] == view.published[below]) & (view.published[below] > 0)
            assert (by_persons[above] == by_persons[below])[alike].all()
            parted = (view.published[below] > 0) & ~alike
            assert (by_persons[above] != by_persons[below])[parted].all()


def _first_seen(numbers: Ints) -> Ints:
    """Return the same groups, each named after its first cell."""
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    found: Ints = first[place]
    return found


def test_noisy_zeros_may_hide_that_nobody_is_left() -> None:
    ptable = PTable.max_entropy(variance=1, bound=2, perturb_zeros=True)
    release = protect(people(300), TOWN, Coordinates(ptable, secret=SECRET))
    (view, _) = attacker_view(release).views()
    noisy = AssumedNoise((np.full(5, 0.2),), 2.0, 2.0, shared="participants")
    one, other = (same_cells(view, replace(noisy, shared=shared)) for shared in ("participants", "coordinates"))
    assert len(np.unique(one)) <= len(np.unique(other))


def test_with_fresh_noise_every_table_is_a_view_of_whole_numbers() -> None:
    fresh = Fresh(PTable.max_entropy(variance=2, bound=5), bits=SeededBits(1))
    release = protect(people(300), TOWN, fresh)
    found = single_noises(attacker_view(release))
    assert [len(view.layout.programme.tables) for view in found] == [1] * len(TOWN.tables)
    for view, table in zip(found, ("1", "2", "3", "4", "5"), strict=True):
        assert set(view.published.tolist()) <= {0.0, *map(float, release.table(table)["value"].to_pylist())}
