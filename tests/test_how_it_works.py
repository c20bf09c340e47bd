"""The map for newcomers names files that exist, and its picture is that of the source."""

from __future__ import annotations

import re
from pathlib import Path

from docs.rooms import PICTURE, picture

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/concepts/how-it-works.md").read_text(encoding="utf-8")


def test_the_picture_is_that_of_the_imports() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run python docs/rooms.py"


def test_every_path_has_at_most_ten_files_which_exist() -> None:
    paths = re.split(r"^## ", PAGE, flags=re.MULTILINE)[2:]
    assert [path.partition(":")[0] for path in paths] == ["protect", "assess", "attack"]
    for path in paths:
        files = re.findall(r"^\| \d+ \| `([\w/]+\.py)`", path, flags=re.MULTILINE)
        assert 5 <= len(files) <= 10
        assert [file for file in files if not (ROOT / "src/discreet" / file).is_file()] == []
