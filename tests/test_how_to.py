"""Snippets of the how-to pages that `make docs` does not run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from docs.refresh import BLOCK, Examples
from tests.needs import program

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "open-a-release.md"


def test_base_r_finds_the_counts_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rscript = program("Rscript")
    text = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = text[: text.index("## Excel")]
    BLOCK.sub(Examples().block, before)
    (snippet,) = re.findall(r"```r\n(.*?)```", before, re.DOTALL)
    done = subprocess.run([rscript, "-e", snippet], check=True, capture_output=True, text=True)
    found = {line.split()[0]: int(line.split()[-1]) for line in done.stdout.splitlines()[1:]}
    shown = dict(re.findall(r"^ +(\w+) +(\d+)$", text, re.MULTILINE))
    assert found == {area: int(count) for area, count in shown.items()}
    assert list(found) == ["I", "N1", "N2", "S1", "S2"]
    assert "Northport" in done.stdout


def test_base_r_keeps_leading_zeros_and_codes_such_as_na(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rscript = program("Rscript")
    (snippet,) = re.findall(r"```r\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    head = '"AREA","AREA_level","AREA_label","SEX","value"\n'
    rows = '"001","AREA","one","_T",7\n"NA","AREA:1 AREA","none","_T",8\n"9","AREA:1","nine","_T",15\n'
    (tmp_path / "tables" / "1.csv").write_text(head + rows)
    done = subprocess.run([rscript, "-e", snippet], check=True, capture_output=True, text=True)
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [["001", "one", "7"], ["NA", "none", "8"]]
