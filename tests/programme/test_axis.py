"""Topics as axes: levels of one size are one partition, and every position sums up to the right one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.errors import InternalError, ProgrammeError
from discreet.programme.axis import axis_of, counted_axes
from discreet.programme.model import Level, Topic
from discreet.tabulation.plan import plan as plan_tables
from tests.each import each
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from discreet.programme.axis import TableColumn
    from discreet.programme.model import Programme

# Three partitions below the total: one country is the total, its only region too; towns are districts of one town each.
AREA = topic(
    "AREA",
    {
        "L": "",
        "L0": "L",
        "d1": "L0",
        "d2": "L0",
        "t1": "d1",
        "t2": "d2",
        "t21": "t2",
        "t22": "t2",
    },
)
# One branch ends early: X has nothing below it.
AGE = topic("AGE", {"Y": "", "X": "", "Y1": "Y", "Y2": "Y"})
SEX = topic("SEX", "F M")


def test_levels_of_one_size_are_one_partition_and_a_single_category_is_the_total() -> None:
    axis = counted_axes(programme([AREA], [by(AREA)]))["AREA"]
    assert [level.codes for level in AREA.levels] == [("L",), ("L0",), ("d1", "d2"), ("t1", "t2"), ("t1", "t21", "t22")]
    assert [[level.name for level in same] for same in axis.partitions] == [["AREA:3", "AREA:4"], ["AREA:5"]]
    assert [axis.size(depth) for depth in range(3)] == [1, 2, 3]
    assert [axis.depth_of(level) for level in AREA.levels] == [0, 0, 1, 1, 2]
    assert [axis.up(2, depth).tolist() for depth in (2, 1, 0)] == [[0, 1, 2], [0, 1, 1], [0, 0, 0]]
    assert [axis.up(1, depth).tolist() for depth in (1, 0)] == [[0, 1], [0, 0]]


def test_an_axis_has_the_levels_that_some_table_uses() -> None:
    spec = programme([AREA, AGE, SEX], [by(AREA, 4, 4)], [by(AREA, 5), by(AGE, 1, 1)])
    axes = counted_axes(spec)
    assert list(axes) == ["AREA", "AGE"]
    assert [[level.name for level in same] for same in axes["AREA"].partitions] == [["AREA:4"], ["AREA:5"]]
    assert [[level.name for level in same] for same in axes["AGE"].partitions] == [["AGE:1"]]


def test_a_topic_of_which_only_the_total_is_shown_has_no_depths() -> None:
    axis = counted_axes(programme([SEX], [replace(by(SEX), levels=())]))["SEX"]
    assert (axis.partitions, axis.sizes, axis.size(0), axis.up(0, 0).tolist()) == ((), (), 1, [0])


def test_blocks_are_as_equal_as_can_be_where_only_numbers_of_categories_are_known() -> None:
    axis = axis_of("N", [Level("N", "N:1", 2), Level("N", "N", 5)], None)
    assert (axis.codes, axis.up(2, 1).tolist(), axis.up(2, 0).tolist()) == ((None, None), [0, 0, 0, 1, 1], [0] * 5)


@settings(max_examples=up_to(50))
@given(programmes(shuffled=True))
def test_every_position_lies_in_the_category_above_it(spec: Programme) -> None:
    for name, axis in counted_axes(spec).items():
        tree = spec.topics[name].tree
        assert tree
        sizes = [axis.size(depth) for depth in range(len(axis.partitions) + 1)]
        assert sizes == sorted(set(sizes))
        for fine in range(1, len(sizes)):
            below = axis.codes_at(fine)
            assert not axis.up(fine, 0).any()
            for coarse in range(1, fine + 1):
                above = axis.codes_at(coarse)
                found = axis.up(fine, coarse)
                assert all(above[place] in tree.path(code) for code, place in zip(below, found, strict=True))
            for level in axis.partitions[fine - 1]:
                listed = axis.codes_of(level)
                assert sorted(listed) == sorted(level.codes or ())
                # The same partition: a category and the counted one it stands for hold the same finest codes.
                for code, counted in zip(listed, below, strict=True):
                    assert code in tree.path(counted) or counted in tree.path(code)


# --- Columns ---


def only_column(spec: Programme) -> TableColumn:
    (axis,) = counted_axes(spec).values()
    (breakdown,) = spec.tables[0].breakdowns
    return axis.column(breakdown)


def test_codes_stand_in_the_order_in_which_they_first_appear() -> None:
    spec = programme([AREA, AGE], [by(AREA), by(AGE)], [by(AGE, 2, total=False)])
    axes = counted_axes(spec)
    area, age = (axes[each.topic].column(each) for each in spec.tables[0].breakdowns)
    assert (area.name, area.topic, area.deepest) == ("AREA", "AREA", 2)
    assert area.codes == ("_T", "L", "L0", "d1", "d2", "t1", "t2", "t21", "t22")
    assert [level.depth for level in area.levels] == [0, 0, 0, 1, 1, 2]
    assert [level.labels.tolist() for level in area.levels] == [[0], [1], [2], [3, 4], [5, 6], [5, 7, 8]]
    assert [level.fresh is None or level.fresh.tolist() for level in area.levels] == [True] * 5 + [[False, True, True]]
    assert age.codes == ("_T", "Y", "X", "Y1", "Y2")
    assert age.levels[-1].labels.tolist() == [3, 4, 2]
    assert age.levels[-1].fresh is not None
    assert age.levels[-1].fresh.tolist() == [True, True, False]
    without = axes["AGE"].column(spec.tables[1].breakdowns[0])
    # X is not split: its row is that of the coarser level, unless the column shows the finer one alone.
    assert {depth: flags.tolist() for depth, flags in age.own.items()} == {2: [True, True, False]}
    assert without.own == {}
    assert (without.codes, [level.depth for level in without.levels]) == (("Y1", "Y2", "X"), [2])


def test_a_breakdown_without_levels_shows_the_total_even_if_it_has_none() -> None:
    spec = programme([SEX], [replace(by(SEX, total=False), levels=())])
    column = only_column(spec)
    assert (column.codes, column.deepest) == (("_T",), 0)


def test_a_level_that_adds_no_code_is_shown_once() -> None:
    again = replace(SEX.levels[0], name="SEX again")
    given = replace(SEX, levels=(SEX.levels[0], again))
    spec = programme([given], [by(given)])
    column = only_column(spec)
    assert (column.codes, len(column.levels)) == (("_T", "F", "M"), 2)


@each(("size", "kind"), [(2, np.int8), (127, np.int8), (128, np.int16), (40_000, np.int32)])
def test_labels_are_as_narrow_as_can_be_and_never_run_over(size: int, kind: type[np.signedinteger]) -> None:
    # With the total there is one code more than categories.
    given = topic("N", " ".join(f"n{n}" for n in range(size)))
    spec = programme([given], [by(given)])
    column = only_column(spec)
    assert {level.labels.dtype for level in column.levels} == {np.dtype(kind)}
    assert column.levels[-1].labels.tolist() == list(range(1, size + 1))


# --- Promises of our own ---


def test_levels_that_are_not_nested_are_a_promise_broken() -> None:
    crossed = Level("AGE", "crossed", 2, ("Y1", "Y2"))
    with pytest.raises(InternalError, match=re.escape("Level AGE:1 is not a refinement of crossed.")):
        axis_of("AGE", (crossed, replace(AGE.levels[0], size=3)), AGE.tree).check_nested()
    with pytest.raises(InternalError, match=re.escape("Level AGE:2 is not a refinement of AGE:1.")):
        axis_of("AGE", AGE.levels, None).check_nested()


def test_a_level_without_codes_is_a_promise_broken() -> None:
    sized = Topic("N", (Level("N", "N", 5),))
    with pytest.raises(ProgrammeError, match=re.escape("Level N has no list of categories.")):
        plan_tables(programme([sized], [by(sized)]), programme([sized], [by(sized)]).tables)
