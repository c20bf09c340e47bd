"""tau-Argus and SAS files."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_files import read_ptable
from tests.each import each

DATA = Path(__file__).parents[2] / "data/formats"


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (DATA / name).read_text()
    assert old in text
    (tmp_path / "t.txt").write_text(text.replace(old, new, 1))
    return tmp_path / "t.txt"


def test_a_magnitude_table_is_refused_by_name() -> None:
    with pytest.raises(PTableFileError, match="is a p-table for magnitudes"):
        read_ptable(DATA / "nums_pt_ex_nums_tauargus.txt")


@each("name", ["cnts_D5_V3_js2_tauargus.txt", "cnts_D5_V3_js2_sas.txt"])
@each("quoted", [False, True])
def test_a_count_table_with_the_type_all_is_read(tmp_path: Path, name: str, quoted: bool) -> None:
    first, *rest = (DATA / name).read_text().splitlines()
    mark = '"' if quoted else ""
    names = ";".join(f"{mark}{column}{mark}" for column in (*first.split(";"), "type"))
    made = tmp_path / name
    made.write_text("\n".join([names, *(f"{line};{mark}all{mark}" for line in rest)]) + "\n")
    assert read_ptable(made) == read_ptable(DATA / name)


@pytest.mark.parametrize("kind", ["even", "odd", ""])
def test_rows_of_one_type_alone_are_refused(tmp_path: Path, kind: str) -> None:
    first, *rest = (DATA / "cnts_D5_V3_js2_tauargus.txt").read_text().splitlines()
    (tmp_path / "t.txt").write_text("\n".join([f"{first};type", *(f"{line};{kind}" for line in rest)]))
    with pytest.raises(PTableFileError, match=r"line 2.*is a p-table for magnitudes"):
        read_ptable(tmp_path / "t.txt")


@each(
    ("name", "old", "new", "message"),
    [
        ("cnts_D5_V3_js2_tauargus.txt", "-1;0.73446954", "-1;0.03446954", "line 3: row i = 1, v = -1: p is 0.73446954"),
        ("cnts_D5_V3_js2_tauargus.txt", "0.73446954", "0.734469541", "p is '0.734469541', not a multiple of 1e-08"),
        ("cnts_D5_V3_js2_sas.txt", "2;0.73446954;0.87118973", "2;0.70000000;0.87118973", "intervals must not overlap"),
        ("cnts_D5_V3_js2_tauargus.txt", "1; 3;", "1; 4;", "j = 4 is not i"),
        ("cnts_D5_V3_js2_tauargus.txt", "i;j;p;v", "i,j,p,v", "line 1"),
        ("cnts_D5_V3_js2_tauargus.txt", "2;0.87118973", "2;1.87118973", "p_int_ub is '1.87118973'"),
    ],
)
def test_a_damaged_export_is_refused(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    with pytest.raises(PTableFileError, match=message):
        read_ptable(changed(tmp_path, name, old, new))
