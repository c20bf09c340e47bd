from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.count_differences import common_cells
from discreet.tabulation.cell_vector import layouts
from tests.attacks.scenes import cell_codes
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from random import Random

    from discreet.programme.model import Programme
    from discreet.tabulation.cell_vector import CellVector

GEO = topic("GEO", {"a": "", "b": "", "a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b"})
SEX = topic("SEX", "F M")


def layout_of(given_programme: Programme, *, spsn: bool = True) -> CellVector:
    return next(iter(layouts(given_programme, spsn=spsn).values()))


def names(layout: CellVector, places: list[int]) -> list[tuple[str, frozenset[str]]]:
    return [
        (layout.names[layout.statistic_of[place]], frozenset(cell_codes(layout, place).split())) for place in places
    ]


def test_cells_are_matched_by_their_codes_whatever_their_order() -> None:
    turned = topic("SEX", "M F")
    first = layout_of(programme([GEO, SEX], [by(GEO), by(SEX)]))
    second = layout_of(programme([turned, GEO], [by(turned), by(GEO, 2)], [by(GEO, 1, 1)]))
    found = common_cells(first, second)
    assert set(found.names) == {"total", "GEO:1", "GEO:2", "SEX:1", "GEO:2 SEX:1"}
    assert names(first, found.first.tolist()) == names(second, found.second.tolist())


def test_statistics_with_other_codes_are_left_out() -> None:
    other = topic("SEX", "F X")
    found = common_cells(
        layout_of(programme([GEO, SEX], [by(GEO), by(SEX)])), layout_of(programme([GEO, other], [by(GEO), by(other)]))
    )
    assert set(found.names) == {"total", "GEO:1", "GEO:2"}


def test_some_cells_can_be_chosen() -> None:
    layout = layout_of(programme([GEO, SEX], [by(GEO), by(SEX)]))
    whole = common_cells(layout, layout)
    some = np.isin(whole.statistic_of, [whole.names.index("SEX:1"), whole.names.index("total")])
    found = whole.chosen(some)
    assert set(found.names) == {"total", "SEX:1"}
    assert found.first.tolist() == whole.first[some].tolist()
    assert [found.names[n] for n in found.statistic_of] == [whole.names[n] for n in whole.statistic_of[some]]
    assert len(found.first_tables) == len(found.second_tables) == 2


def test_without_common_statistics_there_are_no_cells() -> None:
    found = common_cells(
        layout_of(programme([GEO], [by(GEO, total=False)])), layout_of(programme([SEX], [by(SEX, total=False)]))
    )
    assert len(found.first) == len(found.second) == len(found.statistic_of) == 0


def test_noises_are_counted_by_table_where_they_are_not_shared() -> None:
    tables = programme([GEO, SEX], [by(GEO), by(SEX)], [by(SEX)])
    found = common_cells(layout_of(tables, spsn=False), layout_of(tables))
    assert dict(zip(found.names, found.first_tables.tolist(), strict=True))["SEX:1"] == 2
    assert set(found.second_tables.tolist()) == {1}


@given(programmes(universes=False), st.randoms(use_true_random=False))
def test_a_layout_has_all_cells_in_common_with_itself_in_another_order(made: Programme, random: Random) -> None:
    tables = [
        replace(table, breakdowns=tuple(random.sample(table.breakdowns, len(table.breakdowns))))
        for table in made.tables
    ]
    first, second = layout_of(made), layout_of(replace(made, tables=tuple(tables)))
    found = common_cells(first, second)
    assert sorted(found.first.tolist()) == list(range(first.cells))
    assert names(first, found.first.tolist()) == names(second, found.second.tolist())
