"""cellKey's yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.ptable import PTable
from tests.each import each

SAMPLE = Path(__file__).parents[2] / "data/formats/cnts_D5_V3_js2_cellkey.yaml"


@each(
    ("old", "new", "message"),
    [
        ("type: cnts", "type: nums", "is not for counts"),
        ("  ptable:", "  table:", "has no params: ptable:"),
        ("    lb:", "    lx:", "column lb is missing"),
        ("    - 0.13672019", "    - 0.136720195", "entry 3: p is 0.136720195, not a share with eight decimals"),
        ("    - 1.0\n", "    - 1.5\n", "not a whole number"),
        ("    - 0.13672019", "    - many", "p is 'many'"),
        ("params:", "params: [", "is not yaml"),
    ],
)
def test_a_damaged_yaml_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = SAMPLE.read_text()
    assert old in text
    (tmp_path / "t.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(PTableFileError, match=message):
        read_ptable(tmp_path / "t.yaml")


def test_tiny_probabilities_stay_numbers_in_yaml(tmp_path: Path) -> None:
    write_ptable(PTable.max_entropy(variance=0.5, bound=10, floor=1e-8), tmp_path / "t.yaml")
    table = yaml.safe_load((tmp_path / "t.yaml").read_text())["params"]["ptable"]
    assert all(isinstance(p, float) for p in table["p"])
    assert min(table["p"]) == 1e-8
