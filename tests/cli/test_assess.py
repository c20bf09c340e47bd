"""`discreet assess` from the outside."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from discreet.release.record import Record

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
TOWN = """
[topics.SEX]
categories = ["F", "M"]
[topics.AGE]
categories = ["young", "old"]
[[tables]]
id = "1"
columns = ["SEX", "AGE"]
"""


def test_the_answer_names_what_is_most_at_risk_first(discreet: Run) -> None:
    done = discreet("assess", "eu2021:LU", "--variance", "3", "--bound", "5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Luxembourg, EU census 2021: 103 tables of persons."
    text = " ".join(done.stdout.split())
    assert "averaging An attacker who combines everything published knows a count of AGE.L CAS.L:1" in text
    assert "(Assumes: a surrogate:" in text
    assert "Not shown: composition, projection, reconstruction (--measures all, or --json)." in text


def test_json_has_every_statistic_sorted_by_optimal(discreet: Run) -> None:
    flags = ("--variance", "3", "--bound", "5", "--rule", "flat", "--json")
    answer = json.loads(discreet("assess", "eu2021:DE", *flags).stdout)
    assert answer["rule"] == "flat"
    assert answer["spsn"] is True
    assert answer["statistics"] == {"unique": 1244, "published": 3432}
    ratios = [row["optimal"] for row in answer["averaging"]]
    assert ratios == sorted(ratios)
    assert len(ratios) == 1244
    total = next(row for row in answer["averaging"] if row["statistic"] == "total")
    assert total["t"] == 1244
    assert "AGE.M SEX" in [row["statistic"] for row in answer["averaging"]]


def test_the_footnote_of_the_paper_from_a_users_programme(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    answer = json.loads(discreet("assess", "town.toml", "--variance", "2", "--bound", "5", "--json").stdout)
    total = next(row for row in answer["averaging"] if row["statistic"] == "total")
    assert (total["t"], total["k"], total["plain"]) == (4, 9, 9 / 16)


def test_no_spsn_known_and_exact(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    base = ("assess", "town.toml", "--variance", "2", "--bound", "5", "--json")
    assert json.loads(discreet(*base, "--no-spsn").stdout)["spsn"] is False
    known = json.loads(discreet(*base, "--known", "total").stdout)["averaging"]
    assert next(row for row in known if row["statistic"] == "total")["optimal"] == 0
    exact = json.loads(discreet(*base, "--exact", "SEX", "--measures", "projection").stdout)["results"]
    assert exact[0]["value"] == pytest.approx((2 / 3) ** 2)


def test_a_record_says_its_noise_itself(discreet: Run, tmp_path: Path) -> None:
    record = Record(programme="eu2021:LU", mechanism="fresh", law="geometric", parameters={"epsilon": 0.3}, spsn=False)
    (tmp_path / "record.json").write_text(record.to_json())
    answer = json.loads(discreet("assess", "record.json", "--json").stdout)
    assert answer["settings"]["law"] == "geometric"
    assert answer["spsn"] is False
    assert (
        json.loads(discreet("assess", "eu2021:LU", "--epsilon", "0.3", "--no-spsn", "--json").stdout)["results"]
        == answer["results"]
    )
    done = discreet("assess", "record.json", "--variance", "3", "--bound", "5")
    assert done.returncode == 2
    assert "A record says its noise itself" in done.stderr


LU = ("eu2021:LU", "--variance", "3", "--bound", "5")


def test_countries_with_one_category_levels_can_be_counted_as_the_paper_did(discreet: Run) -> None:
    done = discreet("assess", "eu2021:LU", "--variance", "3", "--bound", "5", "--keep-single", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statistics"]["unique"] == 7171


def test_what_is_left_out_or_does_not_apply_is_said(discreet: Run, tmp_path: Path) -> None:
    done = discreet("assess", "eu2021:LU", "--law", "laplace", "--scale", "2")
    assert "does not apply here: the noise has no bound" in done.stdout
    assert "Not in these figures: tables that count something else (7 of occupied" in done.stdout
    (tmp_path / "wide.toml").write_text('[topics.A]\nsize = 21\n[[tables]]\nid = "1"\ncolumns = ["A"]\n')
    done = discreet("assess", "wide.toml", "--variance", "3", "--bound", "5", "--measures", "margins")
    assert "no level next to the total has 2 to 4 categories" in done.stdout
    assert "1 table of persons" in done.stdout


@pytest.mark.parametrize("law", [("laplace", "--scale"), ("gaussian", "--sigma"), ("discrete-gaussian", "--sigma")])
def test_every_law_can_be_assessed(discreet: Run, law: tuple[str, str]) -> None:
    done = discreet("assess", "eu2021:LU", "--law", law[0], law[1], "2", "--measures", "averaging")
    assert done.returncode == 0, done.stderr


MISTAKES = {
    "no noise": (["eu2021:LU"], "--variance"),
    "no bound": (["eu2021:LU", "--variance", "3"], "--bound is missing. Example: --variance 3 --bound 5"),
    "both kinds": (["eu2021:LU", "--variance", "3", "--epsilon", "1"], "Give one kind"),
    "country": (["eu2021:LX", "--variance", "3", "--bound", "5"], "no country for eu2021 'LX'"),
    "programme": (["eu2020:LU", "--variance", "3", "--bound", "5"], "Did you mean eu2021"),
    "no file": (["town.toml", "--variance", "3", "--bound", "5"], "town.toml: cannot be read"),
    "no record": (["record.json"], "record.json cannot be read"),
    "rule": ([*LU, "--rule", "level"], "no rule 'level'. Did you mean levels"),
    "measure": ([*LU, "--measures", "averagin"], "Did you mean averaging"),
    "law": ([*LU, "--law", "gauss"], "Did you mean gaussian"),
    "population": ([*LU, "--population", "family"], "Did you mean families"),
    "known": ([*LU, "--known", "SEXX"], "no statistic 'SEXX'. Did you mean SEX"),
    "confidence": ([*LU, "--confidence", "1"], "confidence must be between 0 and 0.999999"),
    "variance": (["eu2021:LU", "--variance", "0", "--bound", "5"], "variance must be a positive number"),
    "vintage": (["eu2021:LU:lau1999", "--variance", "3", "--bound", "5"], "lau must be one of 2020, 2019, 2018, 2010"),
    "no total": (["grid2021:DE:100", *LU[1:], "--exact", "total"], "no statistic 'total'"),
    "known and exact": ([*LU, "--known", "total", "--exact", "SEX"], "give known or exact, not both"),
    "unused variance": (
        ["eu2021:LU", "--law", "uniform", "--bound", "5", "--variance", "3"],
        "parameter of the law uniform",
    ),
    "unused threshold": (
        ["eu2021:LU", "--epsilon", "1", "--threshold", "2"],
        "parameter of the law geometric 'threshold'",
    ),
    "no scale": (["eu2021:LU", "--law", "laplace"], "The law laplace needs scale. Give --scale"),
    "projection of nothing": ([*LU, "--measures", "projection"], "The measure projection needs --exact STAT"),
    "records 0": ([*LU, "--records", "0"], "records must be a whole number from 3 on"),
    "too large": (["eu2021:DE", *LU[1:], "--exact", "total"], "exact variances are computed up to"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_exit_code_2(discreet: Run, name: str) -> None:
    arguments, message = MISTAKES[name]
    done = discreet("assess", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
