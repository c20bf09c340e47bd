"""`discreet paper` prints what differs, writes a page, and refuses what it must."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
QUICK = ("--only", "margins,accuracy")


def test_without_a_folder_it_prints_and_writes_nothing(discreet: Run, tmp_path: Path) -> None:
    done = discreet("paper", *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Of 7 numbers printed in the paper")
    assert "Exploiting margins: numbers that differ" in done.stdout
    assert "forced-chance                                  O(10^-7)  3.302e-10" in done.stdout
    assert "Next: discreet paper --out DIR" in done.stdout
    assert not list(tmp_path.iterdir())


def test_its_json_has_every_number(discreet: Run) -> None:
    done = discreet("paper", *QUICK, "--json")
    found = json.loads(done.stdout)
    assert found["command"] == "paper"
    assert found["settings"] == {"only": ["margins", "accuracy"]}
    assert set(found["numbers"][0]) == {"id", "where", "published", "ours", "agrees", "note"}
    by_name = {each["id"]: each for each in found["numbers"]}
    assert by_name["forced-women"]["ours"] == 5
    assert by_name["risk-of-others-most"]["ours"] is None
    assert [each["name"] for each in found["figures"]] == ["accuracy"]
    assert found["figures"][0]["files"] == []
    assert found["out"] is None


def test_its_json_is_that_of_the_page_on_interfaces(discreet: Run) -> None:
    page = (Path(__file__).parents[2] / "docs/interfaces.md").read_text(encoding="utf-8")
    told = page.partition("\n`paper` adds")[2].partition("\n`assess` adds")[0]
    words = set(re.findall(r"`([a-z_]+)`", told))
    found = json.loads(discreet("paper", *QUICK, "--json").stdout)
    keys = {"numbers", "figures", "out", *found["numbers"][0], *found["figures"][0]}
    names = {result["name"] for result in found["results"]}
    assert keys | names <= words
    second = {"variance_needed_levels_optimal", "feasible_states_levels_optimal", "epsilon_allowed_levels_optimal"}
    assert words - keys - names == second | {"agree_programme", "agree_draw"}


@pytest.mark.slow
def test_with_a_folder_it_writes_a_page_and_keeps_it(discreet: Run, tmp_path: Path) -> None:
    done = discreet("paper", *QUICK, "--out", "p")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Open p/index.html in a browser.\n")
    assert {path.name for path in (tmp_path / "p").iterdir()} == {"index.html", "numbers.csv", "figures"}
    page = (tmp_path / "p/index.html").read_text(encoding="utf-8")
    assert "discreet paper --only margins,accuracy --out DIR" in page
    assert str(tmp_path) not in page

    refused = discreet("paper", *QUICK, "--out", "p")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: p/index.html exists already and was not changed.")
    assert refused.stdout == ""

    again = discreet("paper", *QUICK, "--out", "p", "--replace", "--json")
    assert again.returncode == 0, again.stderr
    files = json.loads(again.stdout)["figures"][0]["files"]
    assert files == ["figures/accuracy.png", "figures/accuracy.svg", "figures/accuracy.csv"]
    assert (tmp_path / "p/index.html").read_text(encoding="utf-8") == page


def test_an_unknown_part_is_refused_before_anything_is_made(discreet: Run, tmp_path: Path) -> None:
    refused = discreet("paper", "--only", "margin", "--out", "p")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: There is no part of the paper 'margin'. Did you mean margins")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("only", ["", " , "])
def test_no_part_at_all_is_refused(discreet: Run, only: str) -> None:
    refused = discreet("paper", "--only", only)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")


def test_a_folder_that_cannot_be_made_is_one_message(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused = discreet("paper", *QUICK, "--out", "file/p")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: file/p cannot be written: ")


def test_a_folder_within_none_is_refused_as_by_other_commands(discreet: Run, tmp_path: Path) -> None:
    refused = discreet("paper", *QUICK, "--out", "missing/p")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: missing/p cannot be written: its folder does not exist")
    assert not (tmp_path / "missing").exists()


def test_shares_are_told_in_percent(discreet: Run) -> None:
    done = discreet("paper", "--only", "settings")
    assert re.search(r"us-share +10 % +11\.25 %\n", done.stdout)
