"""One number of statistics and one number of cells, whichever command states them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from discreet.programme.programme_files import load_programme
from discreet.release.table_files import read_table
from discreet.tabulation.distinct_cells import ProgrammeSize, programme_size
from tests.charts.pictures import all_alike
from tests.cli import town

if TYPE_CHECKING:
    from pathlib import Path


PROGRAMME = """
name = "Town"
[topics.SEX]
categories = ["F", "M"]
[topics.AGE]
hierarchy = [["Y", ""], ["65", ""], ["0", "Y"], ["15", "Y"], ["30", "Y"]]
breakdowns = {L = 1}
[topics.AREA]
categories = ["north", "south", "nowhere"]
[[tables]]
id = "ages"
columns = ["SEX", "AGE"]
[[tables]]
id = "women"
columns = ["AREA", "AGE.L"]
universe = "SEX = F"
[[tables]]
id = "areas"
columns = ["AREA", "SEX"]
[[tables]]
id = "women by sex"
columns = ["AREA", "SEX"]
universe = "SEX = F"
"""
# Of all persons: 3 sexes by 6 ages, 4 areas by 3 sexes, and 3 sexes in both. Of women: 4 areas by 3 ages, 4 areas by
# 2 sexes, and 4 areas in both. Totals are among all of these; 65 is one category on both levels.
CELLS = (3 * 6 + 4 * 3 - 3) + (4 * 3 + 4 * 2 - 4)
STATISTICS = (2 * 3 + 2 * 2 - 2) + (2 * 2 + 2 * 2 - 2)
PROTECT = ("protect", "town.csv", "--programme", "town.toml", "--variance", "3", "--bound", "5", "--id", "PERSON_ID",
           "--secret-file", "office.secret")  # fmt: skip
QUIET = ("--quiet", "--json")


@pytest.mark.slow
def test_all_commands_state_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    town.make(tmp_path)
    (tmp_path / "town.toml").write_text(PROGRAMME)
    run = town.command(tmp_path, monkeypatch, capsys)

    def stated(*arguments: str) -> dict[str, Any]:
        done = run(*arguments)
        assert (done.code, done.err) == (0, "")
        found: dict[str, Any] = json.loads(done.out)
        return found

    expected = {"statistics": STATISTICS, "cells": CELLS}
    assert programme_size(load_programme("town.toml")) == ProgrammeSize(**expected)
    estimate = stated(*PROTECT, "--dry-run", *QUIET)["estimate"]
    written = stated(*PROTECT, "--keep-exact", "--out", "out", *QUIET)["written"]
    assert written["rows"] == sum(read_table(path).num_rows for path in (tmp_path / "out" / "tables").iterdir())
    utility = stated("utility", "out", *QUIET)
    attack = stated("attack", "out", "--attacks", "averaging", *QUIET)
    for found in (estimate, written, utility, attack):
        assert {name: found[name] for name in expected} == expected
    # What is compared with the truth are these cells, one by one.
    (below,) = (each for each in utility["results"] if each["name"] == "negative_counts")
    assert f"of all {CELLS} cells" in below["sentence"]
    with all_alike():
        assert run("report", "out", "--out", "report.html", "--budget", "100", "--quiet").code == 0
    page = (tmp_path / "report.html").read_text()
    assert re.search(rf"{STATISTICS} different statistics and {CELLS} cells", page)
    assert f"{written['rows']} published rows" in page
