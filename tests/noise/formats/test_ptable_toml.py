"""Our TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.ptable import PTable
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path


@each(
    ("old", "new", "message"),
    [
        ("key_space = 4294967296", "key_space = '4294967296'", "key_space must be a whole number"),
        ("key_space = 4294967296", "", "Add or correct key_space"),
        ("repeat = 1", "repeat = 99", "repeat must be from 1 to 6"),
        ("variance = 2", "varance = 2", "no setting 'varance'. Did you mean variance"),
        ("variance = 2", "variance = -2", "variance must be a positive number"),
        ("bound = 5", "bound = 5.5", "bound must be a positive whole number"),
        ('objective = "entropy"', 'objective = "entrop"', "Did you mean entropy"),
        ("v = [0]", "v = [0, 1]", "row i = 0: v, p and upper must be lists of one length"),
        ("v = [0]", "v = [0.5]", "row i = 0: v and upper must be whole numbers"),
        ("i = 1", "i = 7", "row i = 1 is missing"),
        ("[[rows]]", "[[rows]", "is not TOML: .*line"),
        ("upper = [4294967296]", "upper = [4294967295]", "row i = 0 ends at key 4294967295"),
    ],
)
def test_a_damaged_toml_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "t.toml"
    write_ptable(PTable.max_entropy(variance=2, bound=5), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(PTableFileError, match=message):
        read_ptable(path)
