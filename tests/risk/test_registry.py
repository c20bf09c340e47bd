"""A user's own measure appears in the command like ours, by decorator and by entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.errors import UnknownNameError
from discreet.results import Result
from discreet.risk.assessment import assess
from discreet.risk.measures import MEASURES
from tests.programme.small import programme

if TYPE_CHECKING:
    from discreet.risk.measures import AssessmentCase

MODULE = """
from discreet.results import Result
from discreet.risk.measures import MEASURES

@MEASURES.register("tables")
def tables(case):
    n = len(case.programme.of(case.population))
    return [Result(name="tables", value=n, unit="tables", sentence=f"There are {n} tables.")]
"""


def test_ours_are_registered() -> None:
    ours = {
        "redundancy",
        "averaging",
        "bound",
        "margins",
        "projection",
        "epsilon_delta",
        "composition",
        "reconstruction",
    }
    assert ours <= set(MEASURES.all())


def test_every_result_of_ours_says_what_it_assumes_and_which_equation_it_implements() -> None:
    town = programme([["SEX", "AGE"], ["SEX", "GEO"]], {"SEX": [2], "AGE": [3, 9], "GEO": [4]})
    found = assess(town, variance=3, bound=10, records=500_000, exact="SEX1")
    assert {name for name, results in found.by_measure.items() if not results} == set()
    for result in found.results:
        assert result.equation, result.name
        assert result.assumptions, result.name


def test_a_decorated_function_is_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    MEASURES.all()
    monkeypatch.setattr(MEASURES, "known", MEASURES.all())

    @MEASURES.register("variance")
    def variance(case: AssessmentCase) -> list[Result]:
        return [Result(name="variance", value=case.record.variance, unit="1", sentence="The variance.")]

    (found,) = assess("eu2021:LU", variance=3, bound=5, measures=["variance"]).results
    assert found.value == pytest.approx(3)


def test_an_unknown_measure_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no measure 'margin'\. Did you mean margins"):
        MEASURES.named(["margin"])


def test_an_entry_point_appears_in_the_command(tmp_path: Path) -> None:
    (tmp_path / "office_measures.py").write_text(MODULE)
    info = tmp_path / "office-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: office\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[discreet.measures]\noffice = office_measures\n")
    script = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        [script, "assess", "eu2021:LU", "--variance", "3", "--bound", "5", "--measures", "tables", "--json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["results"][0]["sentence"] == "There are 103 tables."
