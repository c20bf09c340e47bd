"""`discreet compare`: a line per mechanism, JSON, a picture, and every mistake as one line before any work."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from discreet.accuracy import release_utility
from discreet.calibration import comparison
from discreet.calibration.comparison import compare
from discreet.reports.calibration_charts import LOSS, RISK
from tests.accuracy import by_hand
from tests.accuracy.small_release import TOML
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.town import Command, Done

COMPARE = ("compare", "town.toml", "--data", "town.csv", "--details")
KEYED = (*COMPARE, "--id", "PERSON_ID")
QUICK = (*KEYED, "--attacks", "none", "--mechanisms", "cell-key,fresh")
NAMES = ["cell-key", "geometric", "fresh:laplace"]
ROW = re.compile(r"^([a-z:-]+)((?: +(?:[0-9.,]+%?|-))+)$", re.MULTILINE)
"""A mechanism with its variance, its bound and figures."""
KEPT: list[Done] = []


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests with few tables: here it matters what is printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 30)
        yield


@pytest.fixture
def discreet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    town.make(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(tmp_path, monkeypatch, capsys)


@pytest.fixture
def plain(discreet: Command) -> Done:
    """Return what a quick comparison prints; it is made once."""
    if not KEPT:
        KEPT.append(discreet(*QUICK))
    return KEPT[0]


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything is counted."""

    def counted(*_: object, **__: object) -> None:
        raise AssertionError("something was counted")

    monkeypatch.setattr(comparison, "compare", counted)


def rows(done: Done) -> dict[str, list[str]]:
    """Return the lines of mechanisms, those of both parts of a table that is too wide one behind the other."""
    found: dict[str, list[str]] = {}
    for name, figures in ROW.findall(done.out):
        found.setdefault(name, []).extend(figures.split())
    return found


# --- What is printed ---


def test_a_line_per_mechanism_with_its_figures(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*KEYED, "--mechanisms", ",".join(NAMES), "--seed", "2", "--budget", "none")
    assert (done.code, done.err) == (0, "")
    found = compare(tmp_path / "town.csv", tmp_path / "town.toml", NAMES, id="PERSON_ID", seed=2, budget=None)
    told = rows(done)
    assert list(told) == NAMES
    for each in found.compared:
        variance, bound, *cells = told[each.name]
        assert variance == f"{each.record.variance:.2f}"
        assert bound == ("-" if each.record.bound == float("inf") else f"{each.record.bound:g}")
        assert cells == [column.told(each) for column in (*RISK, *LOSS)]
        # Nobody is alone in a cell of this town.
        heads = [column.head for column in (*RISK, *LOSS)]
        assert [head for head, cell in zip(heads, cells, strict=True) if cell == "-"] == ["singles"]
    text, lines = " ".join(done.out.split()), done.out.splitlines()
    assert found.opening() in text
    assert all(sentence in text for sentence in found.sentences())
    for column in (*RISK, *LOSS):
        assert any(line.startswith(column.head) for line in lines)
        assert column.meaning in text
    assert "Assumptions:" in lines
    assert max(map(len, lines)) <= 120


@pytest.mark.slow
def test_a_narrow_terminal_has_the_table_in_two_parts(
    discreet: Command, plain: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = rows(plain)
    monkeypatch.setenv("COLUMNS", "80")
    done = discreet(*QUICK)
    assert rows(done) == wide
    assert max(map(len, done.out.splitlines())) <= 80
    lines = [line.split()[0] for line in done.out.splitlines() if line.startswith(("cell-key ", "fresh "))]
    assert lines == ["cell-key", "fresh"] * 2


@pytest.mark.slow
def test_all_that_are_known_are_compared_by_default(discreet: Command) -> None:
    few = ("--attacks", "none", "--tables", "2", "--json")
    found = json.loads(discreet(*KEYED, *few).out)
    assert {"cell-key", "coordinates", "fresh", "eps-dp", "geometric", "laplace"} <= set(
        found["settings"]["mechanisms"]
    )
    without = json.loads(discreet(*COMPARE, *few).out)
    assert set(found["settings"]["mechanisms"]) - set(without["settings"]["mechanisms"]) == {"cell-key"}


def test_json_has_the_keys_of_every_command_and_its_own(discreet: Command) -> None:
    done = discreet(*QUICK, "--at", "equal-risk", "--variance", "3", "--bound", "6", "--seed", "4", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert list(found) == [
        "schema",
        "command",
        "settings",
        "results",
        "warnings",
        "contenders",
        "targets",
        "checks",
        "plot",
    ]
    assert (found["schema"], found["command"], found["plot"]) == ("discreet/1", "compare", None)
    settings = found["settings"]
    asked = {
        "programme": "town.toml", "data": ["town.csv"], "mechanisms": ["cell-key", "fresh"], "at": "equal-risk",
        "variance": 3.0, "bound": 6, "seed": 4,
    }  # fmt: skip
    assert {name: settings[name] for name in asked} == asked
    first, second = found["contenders"]
    for each in (first, second):
        assert set(each) == {
            "name", "mechanism", "law", "parameters", "spsn", "variance", "bound", "risk", "utility",
        }  # fmt: skip
    assert (first["name"], first["spsn"], first["bound"]) == ("cell-key", True, 6)
    assert first["variance"] == pytest.approx(3)
    assert second["variance"] > first["variance"]
    names = [result["name"] for result in found["results"]]
    own = [f"{each['name']}: {result['name']}" for each in (first, second) for result in each["risk"] + each["utility"]]
    assert names == own
    risks = [result["value"] for result in found["results"] if result["name"].endswith(": averaging_success")]
    assert risks == [pytest.approx(risks[0], rel=1e-6)] * 2


@pytest.mark.slow
def test_a_seed_prints_the_same_again(discreet: Command, plain: Done) -> None:
    same, other = (discreet(*QUICK, "--seed", seed).out for seed in ("0", "2"))
    assert plain.out == same != other


def test_without_attacks_their_columns_are_empty(plain: Done) -> None:
    told = rows(plain)
    heads = [column.head for column in RISK]
    for cells in told.values():
        of_risk = dict(zip(heads, cells[2:], strict=False))
        assert of_risk["right"] == of_risk["singles"] == "-"
        assert of_risk["formula"].endswith("%")


def test_attacks_can_be_chosen(discreet: Command) -> None:
    done = discreet(*KEYED, "--mechanisms", "cell-key", "--attacks", "averaging", "--json")
    names = [result["name"] for result in json.loads(done.out)["contenders"][0]["risk"]]
    assert "averaging: plain" in names
    assert "projection" not in names


def test_a_law_that_cannot_be_equal_is_noted(discreet: Command) -> None:
    arguments = (*KEYED, "--attacks", "none", "--mechanisms", "cell-key,uniform", "--variance", "2.5")
    note = (
        "uniform has variance 2 instead of 2.5, because its noise distribution has discrete variances. "
        "This is the nearest."
    )
    assert f"Note: {note}" in " ".join(discreet(*arguments).out.split())
    assert json.loads(discreet(*arguments, "--json").out)["warnings"] == [note]


def test_tables_and_areas_can_be_chosen(discreet: Command) -> None:
    found = json.loads(discreet(*QUICK, "--tables", "2", "--areas", "SEX", "--json").out)
    values = {each["name"]: each["value"] for each in found["contenders"][0]["utility"]}
    assert "areas_without_women" not in values
    assert values["areas_moved"] in {0.0, 1.0}


def test_no_true_count_is_told(discreet: Command, tmp_path: Path) -> None:
    given = by_hand.unlike_counts()
    lines = [",".join(given), *(",".join(map(str, row)) for row in zip(*given.values(), strict=True))]
    (tmp_path / "unlike.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "small.toml").write_text(TOML)
    arguments = ("compare", "small.toml", "--data", "unlike.csv", "--count", "n", "--mechanisms", "fresh,eps-dp")
    true = {*given["n"], *map(sum, by_hand.UNLIKE.values()), sum(given["n"])}
    for more in ((), ("--json",)):
        done = discreet(*arguments, *more, "--details")
        assert (done.code, done.err) == (0, "")
        assert not by_hand.whole_numbers(done.out) & true


# --- The picture ---


@pytest.mark.slow
def test_a_picture_is_drawn(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*QUICK, "--plot", "c.png")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "Picture: c.png"
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"
    again = discreet(*KEYED, "--attacks", "none", "--mechanisms", "fresh", "--plot", "c.png", "--replace", "--json")
    assert json.loads(again.out)["plot"] == "c.png"


@pytest.mark.usefixtures("no_work")
def test_a_picture_that_cannot_be_is_refused_before_any_work(discreet: Command, tmp_path: Path) -> None:
    check_refused(discreet(*QUICK, "--plot", "c.gif"), "--plot writes PNG or SVG; c.gif has another ending.")
    check_refused(discreet(*QUICK, "--plot", "none/c.png"), "its folder does not exist")
    (tmp_path / "c.png").write_bytes(b"older")
    check_refused(discreet(*QUICK, "--plot", "c.png"), "c.png exists already")
    assert (tmp_path / "c.png").read_bytes() == b"older"


# --- What is refused ---


def check_refused(done: Done, message: str) -> None:
    """One line on the error stream, and exit code 2."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no data": (("compare", "town.toml"), "--data is missing: the records to publish. Example: --data persons.csv"),
    "data that are not there": (("compare", "town.toml", "--data", "none.csv"), "none.csv"),
    "no such programme": (("compare", "none.toml", "--data", "town.csv"), "none.toml"),
    "an unknown mechanism": (
        (*KEYED, "--mechanisms", "cell-key,frehs"),
        "no mechanism or noise distribution 'frehs'. Did you mean fresh",
    ),
    "an unknown law": ((*KEYED, "--mechanisms", "fresh:laplac"), "of fresh 'laplac'. Did you mean laplace"),
    "a law before its mechanism": ((*KEYED, "--mechanisms", "laplace:fresh"), "laplace is a noise distribution"),
    "a mechanism twice": ((*KEYED, "--mechanisms", "fresh,fresh"), "fresh is given twice"),
    "no mechanism": ((*KEYED, "--mechanisms", " , "), "No mechanism to compare is given"),
    "cell keys without ids": ((*COMPARE, "--mechanisms", "cell-key"), "Give --id or --key"),
    "an unknown way": ((*QUICK, "--at", "equal-varience"), "'equal-varience'. Did you mean equal-v"),
    "an unknown attack": (
        (*KEYED, "--mechanisms", "fresh", "--attacks", "projektion"),
        "no attack 'projektion'. Did you mean projection",
    ),
    "no variance": ((*QUICK, "--variance", "0"), "cell-key: noise: variance must be a positive number"),
    "too much variance": ((*QUICK, "--variance", "11"), "max-entropy with bound 5 has a variance below 10"),
    "variance without end": ((*QUICK, "--variance", "inf"), "variance must be a positive number"),
    "no bound": ((*QUICK, "--bound", "0"), "cell-key: noise: bound must be a positive whole number"),
    "an unknown table": ((*QUICK, "--tables", "7"), "7"),
    "an unknown topic": ((*QUICK, "--areas", "ARAE"), "no topic of the tables 'ARAE'. Did you mean AREA"),
    "an unknown column of ids": ((*COMPARE, "--id", "PERSON"), "'PERSON'. Did you mean PERSON_ID"),
    "an unknown way to miss": ((*QUICK, "--missing", "dropp"), "dropp"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_ends_with_2_and_one_line(discreet: Command, mistake: str) -> None:
    arguments, message = REFUSED[mistake]
    check_refused(discreet(*arguments), message)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("budget", ["0", "fast", "-5s", "", "5 days"])
def test_a_budget_that_is_not_a_number_of_cells_is_refused(discreet: Command, budget: str) -> None:
    check_refused(
        discreet(*KEYED, f"--budget={budget}"), f"--budget is {budget!r}. It is a number of target cells, not a time"
    )


def test_a_mistake_is_json_where_json_is_wanted(discreet: Command) -> None:
    done = discreet(*KEYED, "--mechanisms", "frehs", "--json")
    assert done.code == 2
    found = json.loads(done.out)["error"]
    assert (found["type"], found["name"]) == ("UnknownNameError", "frehs")


def test_flags_of_the_wrong_kind_are_refused(discreet: Command) -> None:
    for arguments in (("--seed", "-1"), ("--variance", "much"), ("--bound", "1.5"), ("--unheard-of",)):
        done = discreet(*QUICK, *arguments)
        assert done.code == 2
        assert "Traceback" not in done.err
