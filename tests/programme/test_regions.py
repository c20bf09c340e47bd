"""Regions of a user's own: new tables by region, and every mistake in the file named with its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from discreet.errors import InputError, ProgrammeFileError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.ptable import PTable
from discreet.programme.programme_json import programme_from_json, programme_to_json
from discreet.programme.regions import with_regions
from discreet.protection.pipeline import protect
from tests.each import each
from tests.protection.town import GEO, SECRET, SEX, TOWN, cells, people
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB

PEOPLE = people(500)
MIXED = CellKey(PTable.max_entropy(variance=2, bound=5), secret=SECRET)


def file(folder: Path, text: str, name: str = "valleys.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_table_by_area_is_made_by_region_too(tmp_path: Path) -> None:
    spec = with_regions(TOWN, file(tmp_path, "area,region,label\nv10,EAST,The east\nv20,EAST,\nd3,WEST,\nv21,WEST,\n"))
    assert [table.id for table in spec.tables] == ["1", "2", "3", "4", "5", "1.valleys", "2.valleys", "4.valleys"]
    made = spec.topics["GEO_VALLEYS"]
    assert made.levels[0].codes == ("EAST", "WEST")
    assert made.column == "GEO"
    assert [table.universe for table in spec.tables[5:]] == [None, None, "AGE = Y2 and EMP != 3"]
    assert made.tree
    assert made.tree.categories[0].labels == {"en": "The east"}
    assert programme_from_json(programme_to_json(spec)) == spec


def test_a_region_has_the_count_and_the_noise_of_its_records_together(tmp_path: Path, engine: DuckDB) -> None:
    # The region of all villages of d2 has the participants of d2, and so the noise of d2.
    regions = file(tmp_path, "area,region\nv20,MIDDLE\nv21,MIDDLE\nv30,REST\nv31,REST\n")
    exact = protect(PEOPLE, TOWN, Exact(), regions=regions, engine=engine)
    noisy = protect(PEOPLE, TOWN, MIXED, id="ID", regions=regions, engine=engine)
    for release in (exact, noisy):
        whole, part = cells(release.table("1")), cells(release.table("1.valleys"))
        for age, sex in (("_T", "_T"), ("Y", "F"), ("Y2", "M")):
            assert part.get(("MIDDLE", age, sex), 0) == whole.get(("d2", age, sex), 0)
    true, shown = cells(exact.table("1")), cells(exact.table("1.valleys"))
    assert shown["REST", "_T", "_T"] == true["v30", "_T", "_T"] + true["v31", "_T", "_T"]
    # Who lives in no region is in no table by region.
    assert shown["_T", "_T", "_T"] == shown["MIDDLE", "_T", "_T"] + shown["REST", "_T", "_T"]
    assert not any("_O" in cell for cell in shown)
    # One noise, not the sum of two.
    noises = cells(noisy.table("1"))
    sums = noises["v30", "_T", "_T"] + noises["v31", "_T", "_T"]
    assert abs(cells(noisy.table("1.valleys"))["REST", "_T", "_T"] - shown["REST", "_T", "_T"]) <= 5
    assert (
        sums - (true["v30", "_T", "_T"] + true["v31", "_T", "_T"])
        != cells(noisy.table("1.valleys"))["REST", "_T", "_T"] - shown["REST", "_T", "_T"]
    )


def test_only_tables_by_region_can_be_chosen(tmp_path: Path, engine: DuckDB) -> None:
    regions = file(tmp_path, "area,region\nv20,MIDDLE\n")
    release = protect(PEOPLE, TOWN, MIXED, id="ID", regions=regions, tables=["*.valleys"], engine=engine)
    assert release.ids == ("1.valleys", "2.valleys", "4.valleys")


def test_records_without_a_region_code_follow_missing(tmp_path: Path, engine: DuckDB) -> None:
    regions = file(tmp_path, "area,region\nd1,A\nd2,A\nd3,B\n")
    lacking = PEOPLE.set_column(1, "GEO", [[None, *PEOPLE["GEO"].to_pylist()[1:]]])
    release = protect(lacking, TOWN, Exact(), regions=regions, missing="category", engine=engine)
    assert cells(release.table("1.valleys"))["_U", "_T", "_T"] == 1


@each(
    ("text", "kind", "message"),
    [
        ("", ProgrammeFileError, "line 1: needs the columns area and region, and a line per area."),
        ("area,zone\nv10,A\n", ProgrammeFileError, "line 1: needs the columns area and region"),
        ("area,region\nv10,\n", ProgrammeFileError, "line 2: has no area or no region."),
        (
            "area,region\nv10,A\nv10,B\n",
            ProgrammeFileError,
            "line 3: area v10 is in two regions, A and B. Keep one. Put overlapping regions into separate files.",
        ),
        ("area,region\nx1,A\n", ProgrammeFileError, "no topic of the programme has the category 'x1'."),
        (
            "area,region\nv10,A\nv22,A\n",
            UnknownNameError,
            "There is no category of topic GEO, named in valleys.csv 'v22'. Did you mean v",
        ),
        ("area,region\nv10,_O\n", ProgrammeFileError, "line 2: _O is reserved for areas outside all regions."),
        ("area,region\nv10,A,more\n", ProgrammeFileError, "line 2: has more fields than the header."),
        ("area,region\nv10,d2\n", ProgrammeFileError, "region d2 has the code of a category of GEO."),
        ("area,region\nd2,A\nv20,B\n", ProgrammeFileError, "area v20 lies in area d2, which is in another region."),
    ],
)
def test_what_is_wrong_in_the_file_is_said(text: str, kind: type[InputError], message: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        with_regions(TOWN, file(tmp_path, text))


def test_data_may_have_coarser_codes_that_lie_in_one_region(tmp_path: Path, engine: DuckDB) -> None:
    spec = programme([GEO, SEX], [by(GEO, 3, 3), by(SEX)])
    data = pa.table({"GEO": ["d1", "d2", "d3"], "SEX": ["F", "M", "M"]})
    regions = file(tmp_path, "area,region\nd1,A\nd2,A\nd3,B\n")
    assert cells(protect(data, spec, Exact(), regions=regions, engine=engine).table("1.valleys"))["A", "_T"] == 2


def test_a_topic_of_the_programme_is_not_replaced(tmp_path: Path) -> None:
    once = with_regions(TOWN, file(tmp_path, "area,region\nv10,A\n"))
    with pytest.raises(
        ProgrammeFileError, match="its name gives the topic GEO_VALLEYS, which the programme already has"
    ):
        with_regions(once, file(tmp_path, "area,region\nv10,B\n"))


def test_nobody_is_published_where_nobody_can_be(tmp_path: Path, engine: DuckDB) -> None:
    regions = file(tmp_path, "area,region\nv20,MIDDLE\n")
    spread = EpsDP(Budget(0.5))
    release = protect(PEOPLE, TOWN, spread, regions=regions, tables=["*.valleys"], engine=engine)
    assert not [cell for name in release.ids for cell in cells(release.table(name)) if "_O" in cell]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeFileError, match=r"absent.csv: cannot be read: No such file or directory."):
        with_regions(TOWN, tmp_path / "absent.csv")
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"area,region\nv10,\xff\xfe\n")
    with pytest.raises(ProgrammeFileError, match=r"bad.csv, line 2: byte 17 of the file is not text in UTF-8."):
        with_regions(TOWN, bad)
