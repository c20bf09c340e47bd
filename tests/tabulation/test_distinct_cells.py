"""Cells counted once: by the codes under which tables show them, one by one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from discreet.tabulation.cell_coordinates import CellCoordinates
from discreet.tabulation.distinct_cells import DistinctCells, ProgrammeSize, programme_size
from discreet.tabulation.plan import plan
from tests.quick import up_to
from tests.tabulation.small_data import by, codes_of, in_universe, programme, programmes, topic

if TYPE_CHECKING:
    from discreet.programme.model import Programme

Key = tuple[str, frozenset[tuple[str, int, frozenset[str]]]]
"""A population, and by topic the size of the level and the finest codes of the category."""


def size_by_hand(spec: Programme) -> ProgrammeSize:
    """Return the size from one imaginary record per combination of finest codes.

    A combination of categories is known by the level and the records of every topic. Combinations that a row can
    stand for are one cell, in whichever tables the row is.
    """
    leaves = {name: given_topic.levels[-1].codes or () for name, given_topic in spec.topics.items()}
    everybody = [dict(zip(leaves, codes, strict=True)) for codes in product(*leaves.values())]
    inside: dict[tuple[str, str], frozenset[str]] = {}
    for name, given_topic in spec.topics.items():
        assert given_topic.tree
        for code in (each.code for each in given_topic.tree.categories):
            inside[name, code] = frozenset(leaf for leaf in leaves[name] if code in given_topic.tree.path(leaf))
    group: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        while group.setdefault(key, key) != key:
            key = group[key]
        return key

    rows: dict[tuple[str, frozenset[tuple[str, str]]], Key] = {}
    for table in spec.tables:
        for record in everybody:
            if not in_universe(spec, table, record):
                continue
            columns = [sorted(codes_of(spec, b, record[b.topic])) for b in table.breakdowns]
            for cell in product(*columns):
                named = list(zip(table.breakdowns, cell, strict=True))
                # Every level of the breakdown with this code may be meant; a level of one category is the total.
                levels = [
                    [
                        (b.topic, v.size, inside[b.topic, code])
                        for v in b.levels
                        if code in (v.codes or ()) and v.size > 1
                    ]
                    for b, code in named
                    if code != "_T"
                ]
                row = (table.population, frozenset((b.topic, code) for b, code in named if code != "_T"))
                for choice in product(*filter(None, levels)):
                    key = (table.population, frozenset(choice))
                    other = rows.setdefault(row, key)
                    group[root(key)] = root(other)
    statistics = {(population, frozenset((name, size) for name, size, _ in key)) for population, key in group}
    return ProgrammeSize(len(statistics), len({root(key) for key in group}))


@given(programmes(shuffled=True))
@settings(max_examples=up_to(150))
def test_every_cell_is_counted_once(spec: Programme) -> None:
    assert programme_size(spec) == size_by_hand(spec)


@given(programmes(shuffled=True))
@settings(max_examples=up_to(40))
def test_masks_have_as_many_cells_as_the_formula(spec: Programme) -> None:
    for tables in spec.populations.values():
        found = DistinctCells(plan(spec, tables), CellCoordinates(spec, tables[0], ""))
        for statistic in found.published:
            assert found.own(statistic).shape == found.plan.shape(statistic)
            assert found.own(statistic).sum() == found.number(statistic)


GEO = topic("GEO", {"E": "", "W": "", "N": "E", "S": "E"})
SEX = topic("SEX", "M F")


def test_a_category_that_is_not_split_further_is_one_cell() -> None:
    """W is on both levels: total, E, W, N, S, and the same by sex."""
    assert programme_size(programme([GEO, SEX], [by(GEO), by(SEX)])) == ProgrammeSize(6, 5 * 3)


def test_it_is_one_cell_where_different_tables_show_the_levels() -> None:
    """GEO.2 alone and GEO.11 alone: W is in both under one code, but only the second table has it by sex."""
    spec = programme([GEO, SEX], [by(GEO, 2, 2)], [by(GEO, 1, 1), by(SEX)])
    # The total, E and W, N and S; M and F; by sex E and W.
    assert programme_size(spec).cells == 1 + 2 + 2 + 2 + 4
    spec = programme([GEO, SEX], [by(GEO, 2, 2), by(SEX)], [by(GEO, 1, 1)])
    # By sex N, S and W, for no coarser statistic has W by sex.
    assert programme_size(spec).cells == 1 + 2 + 2 + 2 + 6


def test_cells_that_two_tables_show_are_counted_once_and_those_of_two_universes_twice() -> None:
    one = programme_size(programme([GEO, SEX], [by(SEX)]))
    assert programme_size(programme([GEO, SEX], [by(SEX)], [by(SEX)])) == one == ProgrammeSize(2, 3)
    two = programme([GEO, SEX], [by(SEX)], [by(SEX)], universes=[None, "GEO != W"])
    assert programme_size(two) == ProgrammeSize(4, 6)


def test_cells_that_a_universe_rules_out_are_not_counted() -> None:
    spec = programme([GEO, SEX], [by(GEO), by(SEX)], universes=["GEO != E"])
    # The total and W, which are one group of persons and two cells, by three rows of sex.
    assert programme_size(spec).cells == 2 * 3


def test_two_levels_of_one_partition_are_one_statistic() -> None:
    tree = topic("A", {"a": "", "b": "", "a1": "a", "b1": "b"})
    assert [level.size for level in tree.levels] == [2, 2]
    assert programme_size(programme([tree], [by(tree)])) == ProgrammeSize(2, 3)


@pytest.mark.parametrize("first", [0, 1])
def test_the_order_of_the_tables_does_not_matter(first: int) -> None:
    tables = [[by(GEO), by(SEX)], [by(GEO, 2, 2), by(SEX)]]
    assert programme_size(programme([GEO, SEX], tables[first], tables[1 - first])).cells == 15


def test_combinations_that_or_rules_out_are_not_counted() -> None:
    """Everybody in W, and women in E: men are neither in E nor in N or S."""
    spec = programme([GEO, SEX], [by(GEO), by(SEX)], universes=["GEO = W or SEX = F"])
    assert programme_size(spec) == ProgrammeSize(6, 5 * 3 - 3)
