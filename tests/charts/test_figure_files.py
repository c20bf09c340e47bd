"""Charts in files: what is private stays private, whatever folder it goes to."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from discreet.charts.rendering import check_none_left, draw_figures
from discreet.errors import FileWriteError
from tests.charts.samples import BARS, PLANE

if TYPE_CHECKING:
    from pathlib import Path


def test_figures_for_everybody_do_not_join_others(tmp_path: Path) -> None:
    draw_figures([BARS, PLANE], tmp_path, private=True)
    check_none_left([BARS, PLANE], tmp_path)
    check_none_left([BARS], tmp_path / "new")
    with pytest.raises(FileWriteError, match=r"it contains plane\.png"):
        check_none_left([BARS], tmp_path)


@pytest.mark.parametrize("private", [True, False])
def test_private_figures_are_private_in_a_folder_that_is_open(tmp_path: Path, *, private: bool) -> None:
    (tmp_path / "figures").mkdir(mode=0o755)
    files = draw_figures([BARS], tmp_path / "figures", private=private)
    assert [path.name for path in files] == ["bars.png", "bars.svg"]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in files} == {private}
