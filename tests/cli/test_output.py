"""The file of a picture is looked at before any work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from discreet.cli.output import check_picture
from discreet.errors import FileExistsAlreadyError, FileWriteError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["c.png", "C.PNG", "a.b.png", "c.svg"])
def test_a_picture_that_is_not_there_may_be_written(tmp_path: Path, name: str) -> None:
    check_picture(tmp_path / name, replace=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["c.pdf", "c", "png", ".png", "c.png.txt"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ParameterError, match=rf"--plot writes PNG or SVG; {name} has another ending\. Use FILE\.png"
    ) as error:
        check_picture(tmp_path / name, replace=True)
    assert error.value.parameter == "plot"


def test_a_picture_that_exists_is_replaced_only_if_asked(tmp_path: Path) -> None:
    (tmp_path / "c.png").write_bytes(b"older")
    with pytest.raises(FileExistsAlreadyError, match="--replace"):
        check_picture(tmp_path / "c.png", replace=False)
    check_picture(tmp_path / "c.png", replace=True)
    assert (tmp_path / "c.png").read_bytes() == b"older"


def test_a_folder_or_a_missing_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileWriteError, match="it is a folder"):
        check_picture(tmp_path / "folder.png", replace=True)
    with pytest.raises(FileWriteError, match="its folder does not exist"):
        check_picture(tmp_path / "none" / "c.png", replace=False)


@pytest.mark.skipif(os.name != "posix", reason="device files of POSIX")
def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "null.png").symlink_to("/dev/null")
    with pytest.raises(FileWriteError, match="device"):
        check_picture(tmp_path / "null.png", replace=True)
