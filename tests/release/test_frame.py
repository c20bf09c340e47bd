"""`Release.frame`: a published table as a data frame, compared with the published rows and with brute force."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from discreet.errors import ParameterError, ReleaseError, UnknownNameError
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.release.disclosed_noise import CountIntervals
from discreet.release.release import Release, open_release
from tests.release.small_release import cell_key

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

TOML = """
name = "Islands"
[topics.SEX]
hierarchy = [["F", "", "Female"], ["M", "", "Male"]]
[topics.GEO]
hierarchy = [["N", "", "North"], ["S", "", "South"], ["I", "", "Islands"],
  ["001", "N", "Northport"], ["002", "N", "Nether"], ["003", "S", "Southby"], ["004", "S", "Sand"]]
[[tables]]
id = "1"
columns = ["GEO", "SEX"]
[[tables]]
id = "2"
columns = ["GEO"]
"""
PEOPLE = [("001", "F")] * 30 + [("001", "M")] * 20 + [("002", "F")] * 7 + [("003", "M")] * 12 + [("I", "F")] * 9
CODES = {"GEO": ("_T", "N", "S", "I", "001", "002", "003", "004"), "SEX": ("_T", "F", "M")}
LABELS = {
    "GEO": ("Total", "North", "South", "Islands", "Northport", "Nether", "Southby", "Sand"),
    "SEX": ("Total", "Female", "Male"),
}
LEVELS = {"total": {"_T"}, "GEO:1": {"N", "S", "I"}, "GEO": {"I", "001", "002", "003", "004"}, "SEX": {"F", "M"}}
Cells = dict[tuple[str, str], int]


def islands(folder: Path, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    """Return a release of some islands, of which one level of areas is not divided further."""
    (folder / "islands.toml").write_text(TOML)
    areas, sexes = zip(*PEOPLE, strict=True)
    data = pa.table({"ID": range(len(PEOPLE)), "GEO": areas, "SEX": sexes, "W": [2.0] * len(PEOPLE)})
    return protect(data, load_programme(folder / "islands.toml"), cell_key(), id="ID", **how)


def published(release: Release) -> Cells:
    """Return the published rows of table 1 as they are in the file."""
    return {(row["GEO"], row["SEX"]): row["value"] for row in release.table("1").to_pylist()}


def cells_of(frame: pd.DataFrame) -> Cells:
    found = {(row.GEO, row.SEX): row.value for row in frame.itertuples()}
    assert len(found) == len(frame)
    return found


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return islands(tmp_path_factory.mktemp("islands"))


def test_a_frame_has_the_published_rows(release: Release) -> None:
    frame = release.frame("1")
    assert list(frame.columns) == ["GEO", "GEO_level", "SEX", "value"]
    assert cells_of(frame) == published(release)
    assert frame.to_dict("records") == release.table("1").to_pylist()
    assert str(frame["value"].dtype) == "int64"


def test_zeros_add_every_cell_without_a_row(release: Release) -> None:
    frame, rows = release.frame("1", zeros=True), published(release)
    # Nobody lives in Sand, and every empty cell is published as 0.
    assert ("004", "_T") not in rows
    assert cells_of(frame) == {cell: rows.get(cell, 0) for cell in product(CODES["GEO"], CODES["SEX"])}
    assert list(zip(frame["GEO"], frame["SEX"], strict=True)) == list(product(CODES["GEO"], CODES["SEX"]))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("geo", [None, "total", "GEO:1", "GEO"])
@pytest.mark.parametrize("sex", [None, "total", "SEX"])
def test_levels_select_rows(release: Release, geo: str | None, sex: str | None, zeros: bool) -> None:
    wanted = {name: level for name, level in (("GEO", geo), ("SEX", sex)) if level}
    frame = release.frame("1", level=wanted, zeros=zeros)
    everything = cells_of(release.frame("1", zeros=zeros))
    assert cells_of(frame) == {
        cell: value
        for cell, value in everything.items()
        if (geo is None or cell[0] in LEVELS[geo]) and (sex is None or cell[1] in LEVELS[sex])
    }
    assert ("GEO_level" in frame.columns) == (geo is None)


def test_a_level_by_name_is_that_of_the_variable_that_has_it(release: Release) -> None:
    by_name, by_variable = release.frame("1", level="GEO:1"), release.frame("1", level={"GEO": "GEO:1"})
    assert by_name.equals(by_variable)
    assert set(by_name["SEX"]) == {"_T", "F", "M"}


def test_sums_over_one_level_are_those_of_the_published_cells(release: Release) -> None:
    rows = published(release)
    frame = release.frame("1", level={"GEO": "GEO", "SEX": "SEX"}, zeros=True)
    expected = {area: sum(rows.get((area, sex), 0) for sex in "FM") for area in LEVELS["GEO"]}
    assert frame.groupby("GEO")["value"].sum().to_dict() == expected


def test_labels_follow_their_codes(release: Release) -> None:
    frame = release.frame("1", labels=True, zeros=True)
    assert list(frame.columns) == ["GEO", "GEO_level", "GEO_label", "SEX", "SEX_label", "value"]
    for name, codes in CODES.items():
        assert dict(zip(frame[name], frame[f"{name}_label"], strict=True)) == dict(
            zip(codes, LABELS[name], strict=True)
        )


def test_intervals_are_those_of_the_disclosed_noise(release: Release) -> None:
    frame = release.frame("1", intervals=True, zeros=True)
    lower, upper = CountIntervals(release.description["noise"]).of(frame["value"].to_numpy())
    assert frame["lower"].tolist() == lower.tolist()
    assert frame["upper"].tolist() == upper.tolist()
    assert ((frame["lower"] <= frame["value"]) & (frame["value"] <= frame["upper"])).all()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_release_in_a_folder_gives_the_same_frames(release: Release, tmp_path: Path, form: str) -> None:
    islands(tmp_path, out=tmp_path / "release", form=form)
    opened = open_release(tmp_path / "release")
    settings: list[dict[str, Any]] = [{}, {"labels": True, "level": "GEO", "zeros": True, "intervals": True}]
    for how in settings:
        assert opened.frame("1", **how).equals(release.frame("1", **how))
    assert list(opened.frame("2", level="total")["GEO"]) == ["_T"]
    with (tmp_path / "release" / opened.files["1"]).open("ab") as file:
        file.write(b" ")
    with pytest.raises(ReleaseError, match="damaged or was changed"):
        opened.frame("1")


def test_a_table_without_rows_keeps_its_columns(release: Release) -> None:
    empty = {name: release.table(name).slice(0, 0) for name in release.ids}
    nothing = Release(None, release.description, held=empty)
    frame = nothing.frame("1", labels=True, level="GEO")
    assert list(frame.columns) == ["GEO", "GEO_label", "SEX", "SEX_label", "value"]
    assert len(frame) == 0
    assert nothing.frame("1", zeros=True)["value"].tolist() == [0] * 24


def test_weighted_counts_have_no_intervals(tmp_path: Path) -> None:
    weighted = islands(tmp_path, weight="W", weighted_only=True)
    assert list(weighted.frame("2", level="GEO").columns) == ["GEO", "weighted"]
    with pytest.raises(ParameterError) as caught:
        weighted.frame("1", intervals=True)
    assert caught.value.parameter == "intervals"


@pytest.mark.parametrize(
    ("table", "level", "name", "among"),
    [
        ("3", None, "3", "1"),
        ("1", "LAU", "LAU", "GEO:1"),
        ("1", {"GOE": "GEO"}, "GOE", "GEO"),
        ("1", {"SEX": "GEO"}, "GEO", "SEX"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(
    release: Release, table: str, level: str | dict[str, str] | None, name: str, among: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        release.frame(table, level=level)
    assert caught.value.name == name
    assert among in caught.value.available


def test_a_level_of_several_variables_is_ambiguous(release: Release) -> None:
    with pytest.raises(ParameterError, match=r"GEO, SEX\. Name one: level=\{'GEO': 'total'\}") as caught:
        release.frame("1", level="total")
    assert caught.value.parameter == "level"
