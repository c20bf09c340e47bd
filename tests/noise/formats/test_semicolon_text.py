"""tau-Argus and SAS files."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import PTableFileError
from discreet.noise.formats.files import read_ptable

DATA = Path(__file__).parents[2] / "data/formats"


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (DATA / name).read_text()
    assert old in text
    (tmp_path / "t.txt").write_text(text.replace(old, new, 1))
    return tmp_path / "t.txt"


def test_a_magnitude_table_is_refused_by_name() -> None:
    with pytest.raises(PTableFileError, match="is a p-table for magnitudes"):
        read_ptable(DATA / "nums_pt_ex_nums_tauargus.txt")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("cnts_D5_V3_js2_tauargus.txt", "-1;0.73446954", "-1;0.03446954", "line 3: row i = 1, v = -1: p is 0.73446954"),
        ("cnts_D5_V3_js2_tauargus.txt", "0.73446954", "0.734469541", "p is '0.734469541', not a multiple of 1e-08"),
        ("cnts_D5_V3_js2_sas.txt", "2;0.73446954;0.87118973", "2;0.70000000;0.87118973", "Intervals that overlap"),
        ("cnts_D5_V3_js2_tauargus.txt", "1; 3;", "1; 4;", "j = 4 is not i"),
        ("cnts_D5_V3_js2_tauargus.txt", "i;j;p;v", "i,j,p,v", "line 1"),
        ("cnts_D5_V3_js2_tauargus.txt", "2;0.87118973", "2;1.87118973", "p_int_ub is '1.87118973'"),
    ],
)
def test_a_damaged_export_is_refused(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    with pytest.raises(PTableFileError, match=message):
        read_ptable(changed(tmp_path, name, old, new))
