"""The lattice of statistics against plain enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.lattice import lattice, lattice_by_table, publishes_meets
from discreet.programme.programme_files import load_programme
from tests.programme.small import programme, with_universes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.programme.model import Programme


@st.composite
def programmes(draw: st.DrawFn, largest: int = 4, topics: int = 4) -> Programme:
    """Draw programmes of a few topics with one to three levels of blocks of equal size."""
    sizes = {}
    for name in "ABCD"[: draw(st.integers(1, topics))]:
        factors = draw(st.lists(st.integers(2, largest), min_size=1, max_size=3))
        sizes[name] = np.cumprod(factors).tolist()
    codes = [code for name, levels in sizes.items() for code in (name, *(f"{name}.{d}" for d in range(1, len(levels))))]
    table = st.lists(st.sampled_from(codes), min_size=1, max_size=3, unique_by=lambda code: code[0])
    return programme(draw(st.lists(table, min_size=1, max_size=4)), sizes)


@given(programmes(), st.sampled_from(["levels", "flat"]))
@settings(max_examples=up_to(60), deadline=None)
def test_statistics_are_every_choice_of_level_or_total_of_every_table(made: Programme, rule: str) -> None:
    times: dict[frozenset[str], int] = {}
    for table in made.tables:
        choices = [
            [None, *((b.code,) if rule == "flat" else (level.name for level in b.levels))] for b in table.breakdowns
        ]
        for choice in product(*choices):
            name = frozenset(filter(None, choice))
            times[name] = times.get(name, 0) + 1
    found = lattice(made, rule)
    names = [frozenset(name.split()) - {"total"} for name in found.names()]
    assert {name: count for name, count in zip(names, found.tables.tolist(), strict=True) if count} == times


@given(programmes(), st.sampled_from(["levels", "flat"]), st.integers(0, 100))
@settings(max_examples=up_to(60), deadline=None)
def test_sums_over_finer_and_coarser_are_those_of_all_pairs(made: Programme, rule: str, seed: int) -> None:
    found = lattice(made, rule)
    values = np.random.default_rng(seed).random(len(found))
    finer = (found.depths[None, :, :] >= found.depths[:, None, :]).all(axis=2)
    assert found.over_finer(values) == pytest.approx(finer @ values)
    assert found.over_coarser(values) == pytest.approx(finer.T @ values)
    lacking = np.zeros_like(finer)
    for word in found.signs:
        lacking |= (word[:, None] & ~word[None, :]) != 0
    assert (finer == ~lacking).all()


def test_one_category_and_equal_levels_are_merged_unless_kept() -> None:
    made = programme([("A", "B")], {"A": (1, 1, 4, 4, 8), "B": (2,)})
    merged, kept = lattice(made), lattice(made, keep_single=True)
    assert [axis.sizes for axis in merged.axes] == [(4, 8), (2,)]
    assert [axis.sizes for axis in kept.axes] == [(1, 1, 4, 4, 8), (2,)]
    assert (len(merged), len(kept)) == (6, 12)


def test_many_levels_need_more_than_one_word_of_signs() -> None:
    made = programme([("A",)], {"A": tuple(range(2, 100))})
    assert lattice(made).signs.shape[0] == 2


def test_names_are_level_names_sorted_and_positions_take_any_order() -> None:
    found = lattice(programme([("B", "A")], {"A": (2,), "B": (3,)}))
    assert sorted(found.names()) == ["A1", "A1 B1", "B1", "total"]
    assert found.names()[found.position("B1 A1")] == "A1 B1"
    with pytest.raises(UnknownNameError, match=r"no statistic 'A2'. Did you mean A1"):
        found.position("A2")
    with pytest.raises(UnknownNameError, match="Available: levels, flat"):
        lattice(programme([("A",)], {"A": (2,)}), "deep")


def test_a_table_with_too_many_margins_is_refused() -> None:
    names = [f"T{n}" for n in range(25)]
    made = programme([names], dict.fromkeys(names, (2,)))
    with pytest.raises(ProgrammeError, match="has 33,554,432 margins; the maximum is 1,048,576"):
        lattice(made)


def test_unpublished_statistics_cannot_be_addressed() -> None:
    with pytest.raises(UnknownNameError, match="no statistic 'total'"):
        lattice(load_programme("grid2021:LU:5")).position("total")


# --- By table ---


@given(programmes(), st.sampled_from(["levels", "flat"]))
@settings(max_examples=up_to(60), deadline=None)
def test_the_places_of_a_table_are_the_statistics_of_the_table_alone(made: Programme, rule: str) -> None:
    found, places = lattice_by_table(made, rule)
    whole = lattice(made, rule)
    assert (found.depths == whole.depths).all()
    assert (found.tables == whole.tables).all()
    assert (np.bincount(np.concatenate(places), minlength=len(found)) == found.tables).all()
    names = found.names()
    for table, where in zip(made.tables, places, strict=True):
        alone = lattice(replace(made, tables=(table,)), rule)
        expected = [name for name, shown in zip(alone.names(), alone.published, strict=True) if shown]
        assert sorted(names[place] for place in where.tolist()) == sorted(expected)


def test_places_are_those_of_one_population_and_of_merged_levels() -> None:
    made = programme([("A", "B"), ("A.2",), ("B",)], {"A": (2, 2, 6), "B": (3,)})
    homes = replace(made, tables=(*made.tables[:2], replace(made.tables[2], unit="homes")))
    found, places = lattice_by_table(homes)
    assert len(places) == 2
    # The two levels of two categories are one statistic.
    assert [found.names()[place] for place in places[1].tolist()] == ["total", "A1"]
    _, (of_homes,) = lattice_by_table(homes, population="homes")
    assert len(of_homes) == 2


def test_a_breakdown_without_a_total_has_no_places_of_it() -> None:
    made = programme([("A", "B")], {"A": (2,), "B": (3,)})
    (table,) = made.tables
    bare = replace(table, breakdowns=(table.breakdowns[0], replace(table.breakdowns[1], total=False)))
    found, (places,) = lattice_by_table(replace(made, tables=(bare,)))
    assert [found.names()[place] for place in places.tolist()] == ["B1", "A1 B1"]


@given(with_universes(universes=(None,)))
@settings(max_examples=up_to(60), deadline=None)
def test_meets_are_published_or_not_as_all_pairs_say(made: Programme) -> None:
    found = lattice(made)
    shown = found.depths[found.published]
    meets = {tuple(row) for each in shown for row in np.minimum(each, shown).tolist()}
    assert publishes_meets(made) == (meets <= set(map(tuple, shown.tolist())))
