"""The vector of all cells against a look-up in the tables, code by code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.fresh import Fresh
from discreet.noise.random_bits import SeededBits
from discreet.release.table_files import read_table, write_table
from discreet.tabulation import table_grid as module
from discreet.tabulation.cell_vector import CellVector, JointLayout, layouts, unit_layouts
from tests.attacks.scenes import HAMLET, PTABLE, area, cell_codes, cells_by_hand, listed, town_release, vector_by_hand
from tests.protection.town import SECRET, TOWN, cells
from tests.quick import one_in, up_to
from tests.tabulation.one_table import table_grid
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme, Table

    Rows = dict[tuple[str, ...], int]

# --- Random programmes, tables with random values ---


def values(made: Programme, table: Table, random: np.random.Generator, shared: dict[object, int] | None) -> Rows:
    """Return a value for every row; where noise is shared, one value for one set of coordinates in all tables."""
    found = {}
    for row in listed(table):
        own = int(random.integers(-2, 9))
        codes = {b.topic: code for b, code in zip(table.breakdowns, row, strict=True)}
        cell = (table.population, *(area(made, name, codes.get(name, "_T")) for name in made.topics))
        found[row] = own if shared is None else shared.setdefault(cell, own)
    return found


def as_table(table: Table, rows: Rows, random: np.random.Generator) -> pa.Table:
    """Return rows in any order of lines and columns, without those that are 0, with codes coded or plain."""
    kept = [(codes, value) for codes, value in rows.items() if value]
    order = random.permutation(len(kept))
    columns: dict[str, pa.Array] = {"value": pa.array([kept[n][1] for n in order], pa.int64())}
    for place in random.permutation(len(table.breakdowns)).tolist():
        codes = pa.array([kept[n][0][place] for n in order], pa.string())
        columns[table.breakdowns[place].code] = codes.dictionary_encode() if random.integers(2) else codes
    return pa.table(columns)


@given(programmes(shuffled=True), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=up_to(120))
def test_every_cell_has_the_value_that_the_tables_show_under_its_codes(made: Programme, spsn: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    shared: dict[object, int] | None = {} if spsn else None
    tables = {table.id: values(made, table, random, shared) for table in made.tables}
    files = {table.id: as_table(table, tables[table.id], random) for table in made.tables}
    found = layouts(made, spsn=spsn)
    assert set(found) == set(made.populations)
    for layout in found.values():
        assert layout.vector(files.__getitem__) == pytest.approx(vector_by_hand(layout, tables.__getitem__))


@given(programmes(), st.data())
@settings(max_examples=up_to(40))
def test_names_and_codes_say_which_cell_it_is(made: Programme, data: st.DataObject) -> None:
    layout = next(iter(layouts(made, spsn=True).values()))
    by_hand = cells_by_hand(layout)
    assert len(by_hand) == layout.cells == len(layout.statistic_of)
    place = data.draw(st.integers(0, layout.cells - 1))
    told = cell_codes(layout, place)
    codes = {} if told == "the total" else dict(word.split("=") for word in told.split())
    assert by_hand[place] == {name: area(made, name, codes.get(name, "_T")) for name in made.topics}
    words = layout.names[layout.statistic_of[place]].split()
    assert len(words) == max(len(codes), 1)


# --- Real releases ---


@pytest.mark.parametrize("form", one_in(2, ["parquet", "csv"]))
@pytest.mark.parametrize("mechanism", ["cell keys", "coordinates", "fresh"])
def test_the_files_of_a_release_are_read_cell_by_cell(
    form: str, mechanism: str, tmp_path: Path, engine: Engine
) -> None:
    made: dict[str, Mechanism] = {
        "coordinates": Coordinates(PTABLE, secret=SECRET),
        "fresh": Fresh(PTABLE, bits=SeededBits(3)),
    }
    release = town_release(made.get(mechanism), engine=engine, out=tmp_path / "out", form=form)
    by_code = {name: cells(release.table(name)) for name in release.ids}
    for layout in layouts(TOWN, spsn=mechanism != "fresh").values():
        found = layout.vector(release.table)
        assert found == pytest.approx(vector_by_hand(layout, by_code.__getitem__))
        assert len(np.unique(found)) > 5


def one_table(rows: Rows, names: tuple[str, ...]) -> pa.Table:
    codes = list(zip(*rows, strict=True))
    return pa.table({**dict(zip(names, codes, strict=True)), "value": list(rows.values())})


A = topic("A", {"a": "", "b": "", "b1": "b", "b2": "b"})
UNEVEN = programme([A], [by(A)], [by(A)])


def uneven(*, spsn: bool) -> CellVector:
    (found,) = layouts(UNEVEN, spsn=spsn).values()
    return found


def test_a_category_that_is_not_split_again_stands_on_both_levels() -> None:
    rows: Rows = {("_T",): 10, ("a",): 4, ("b",): 6, ("b1",): 1, ("b2",): 5}
    found = uneven(spsn=True).vector(lambda _: one_table(rows, ("A",)))
    assert found.tolist() == [10, 4, 6, 4, 1, 5]
    assert [cell_codes(uneven(spsn=True), place) for place in range(6)] == [
        "the total",
        "A=a",
        "A=b",
        "A=a",
        "A=b1",
        "A=b2",
    ]


def test_without_spsn_tables_are_averaged_and_with_it_the_first_is_as_good() -> None:
    files = {"1": one_table({("_T",): 10, ("a",): 4}, ("A",)), "2": one_table({("_T",): 13, ("b2",): 2}, ("A",))}
    assert uneven(spsn=False).vector(files.__getitem__).tolist() == [11.5, 2, 0, 2, 0, 1]
    assert uneven(spsn=True).vector(files.__getitem__).tolist() == [10, 4, 0, 4, 0, 0]


def test_a_table_without_rows_is_all_zeros() -> None:
    assert not uneven(spsn=False).vector(lambda _: one_table({("a",): 1}, ("A",)).slice(0, 0)).any()


def test_several_populations_have_a_layout_each_that_with_most_tables_first() -> None:
    found = layouts(TOWN, spsn=True)
    assert list(found) == ["persons", "persons where AGE = Y2 and EMP != 3"]
    assert [len(layout.programme.tables) for layout in found.values()] == [3, 2]
    assert all(layout.name == name for name, layout in found.items())


def test_a_table_alone_is_laid_out_by_its_codes(tmp_path: Path) -> None:
    rows: Rows = {("_T", "_T"): 5, ("n1", "F"): 2, ("e", "M"): 3}
    written = write_table("1", one_table(rows, ("GEO", "SEX")), tmp_path, "csv")
    grid = table_grid(HAMLET, "1").lay_out(read_table(tmp_path / "1.csv"))
    assert written.rows == 3
    assert sorted(grid[grid != 0].tolist()) == [2, 3, 5]
    assert grid.shape == (1 + 3 + 5, 1 + 2)


# --- What is refused ---


@pytest.mark.parametrize("coded", [False, True])
def test_codes_that_the_programme_does_not_know_are_refused_by_column(coded: bool) -> None:
    table = one_table({("a",): 1, ("c",): 2}, ("A",))
    if coded:
        table = table.set_column(0, "A", table["A"].dictionary_encode())
    with pytest.raises(InputError, match=r"Table 1 has codes in column A that its programme does not define\. Use the"):
        uneven(spsn=True).vector(lambda _: table)


def test_a_missing_column_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"Table 1 has no column A\. Use the files of the release\."):
        uneven(spsn=True).vector(lambda _: one_table({("a",): 1}, ("B",)))


def test_a_table_that_is_too_large_to_be_laid_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 4)
    with pytest.raises(InputError, match=r"Table 1 has 5 cells; the maximum is 4\. Use a release with coarser tables"):
        uneven(spsn=True).vector(lambda _: one_table({("a",): 1}, ("A",)))


# --- All universes of a unit together ---


def test_the_cells_of_all_universes_fit_the_joint_equations(engine: Engine) -> None:
    release = town_release(keep_exact=True, engine=engine)
    (joint,) = unit_layouts(release.programme, spsn=True).values()
    assert isinstance(joint, JointLayout)
    assert [layout.name for layout in joint.layouts] == list(joint.equations.parts)
    truth = joint.vector(release.exact)
    assert joint.equations.project(truth).values == pytest.approx(truth, abs=1e-9)
    # Same participants, same noise, in whichever universe they are counted.
    published, unknowns = joint.vector(release.table), joint.equations.unknowns
    lowest, highest = (np.full(unknowns.max() + 1, edge) for edge in (np.inf, -np.inf))
    np.minimum.at(lowest, unknowns, published)
    np.maximum.at(highest, unknowns, published)
    assert (lowest == highest).all()
    across = joint.layouts[0].equations.unknowns.max() + joint.layouts[1].equations.unknowns.max() + 2
    assert unknowns.max() + 1 < across
    # A count that is off by one somewhere does not fit.
    first, other = joint.layouts[:2]
    truth[first.cells + other.equations.cells_of(other.lattice.position("total")).start] += 1
    assert np.abs(joint.equations.project(truth).values - truth).max() > 0.01


def test_a_unit_with_one_population_keeps_its_layout() -> None:
    ages = topic("AGE", "Y O")
    made = programme([ages], [by(ages)])
    (found,) = unit_layouts(made, spsn=True).values()
    assert isinstance(found, CellVector)
