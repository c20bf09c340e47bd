"""`discreet attack`: what is learnt as text and as JSON, and every mistake as one line with its file."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from discreet.attacks import expected_success
from discreet.release.table_files import read_table, write_table
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from discreet.engines.engine import Engine
    from tests.cli.town import Command, Done

ATTACK = ("attack", "out", "--details")
QUICK = (*ATTACK, "--attacks", "averaging")
BOTH = (*ATTACK, "--attacks", "averaging,projection")


@pytest.fixture(scope="module", autouse=True)
def _few_draws() -> Iterator[None]:
    """Predict from few draws: here it matters what is printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected_success, "MOST", 3)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    """Return a folder with a release of the town and its true counts."""
    folder = tmp_path_factory.mktemp("town")
    town.publish(folder, engine)
    return folder


@pytest.fixture
def office(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder that may be spoilt."""
    return shutil.copytree(made, tmp_path / "office")


@pytest.fixture
def discreet(office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(office, monkeypatch, capsys)


# --- What is printed ---


def test_the_worst_is_told_first_then_figures_by_count_and_statistic(discreet: Command) -> None:
    done = discreet(*BOTH)
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert "Attacks on out, scored against true counts from out.curator/exact. Attacker model: " in text
    lines = done.out.splitlines()
    ranked = [line for line in lines if line[:2].strip().isdigit() and "recovered exactly" in text]
    assert [int(line[:2]) for line in ranked[:4]] == [1, 2, 3, 4]
    assert "Recall by true count, in percent: achieved (predicted); below 100 cases [95 % interval]" in lines
    assert any(line.startswith("Most exposed statistics (") for line in lines)
    assert "Assumptions:" in lines
    assert max(map(len, lines)) <= 120


def test_json_has_the_keys_of_every_command_and_its_own(discreet: Command) -> None:
    done = discreet(*BOTH, "--json", "--seed", "3", "--budget", "2000")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    common = ["schema", "command", "settings", "results", "warnings"]
    assert list(found) == [*common, "statistics", "cells", "attacks", "targets", "decision"]
    assert (found["schema"], found["command"], found["warnings"]) == ("discreet/1", "attack", [])
    assert found["settings"] == {
        "release": "out",
        "truth": "out.curator/exact",
        "attacks": ["averaging", "projection"],
        "budget": 2000,
        "seed": 3,
        "public_only": False,
        "known": [],
        "other": None,
        "overlaps": None,
    }
    names = [result["name"] for result in found["results"]]
    assert sorted(names) == ["averaging: greedy", "averaging: inverse variance", "averaging: plain", "projection"]
    for result, each in zip(found["results"], found["attacks"], strict=True):
        assert result["name"].partition(": ")[0] == each["attack"]
        assert result["value"] == each["achieved"]
        assert 0 <= each["predicted"] <= 1
        assert {"class", "cells", "right", "achieved", "predicted", "certain"} <= set(each["by_count"][0])


def test_a_seed_prints_the_same_again(discreet: Command) -> None:
    one, same, other = (discreet(*QUICK, "--seed", seed).out for seed in ("1", "1", "2"))
    assert one == same
    assert one != other


def test_without_true_counts_it_is_said_that_nothing_is_scored(discreet: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator" / "exact")
    done = discreet(*QUICK)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "Attacks on out, without true counts." in text
    assert "Note: Not scored: no true counts were given" in text
    assert "Recall by true count" not in text
    found = json.loads(discreet(*QUICK, "--json").out)
    assert found["settings"]["truth"] is None
    assert found["warnings"][0].startswith("Not scored:")
    assert "achieved" not in found["attacks"][0]


def test_a_truth_may_be_named(discreet: Command, office: Path) -> None:
    (office / "out.curator" / "exact").rename(office / "truth")
    done = discreet(*QUICK, "--truth", "truth")
    assert done.code == 0
    assert "true counts from truth." in " ".join(done.out.split())


def test_what_she_knows_is_said(discreet: Command) -> None:
    text = " ".join(discreet(*QUICK, "--public-only", "--known", "total", "--known", "SEX").out.split())
    assert "Attacker model: knows the true counts of total and SEX, and the disclosed noise parameters only." in text
    settings = json.loads(discreet(*QUICK, "--public-only", "--known", "total", "--json").out)["settings"]
    assert (settings["public_only"], settings["known"]) == (True, ["total"])


@pytest.mark.parametrize(("given", "cells"), [("300", 300), ("10,000", 10_000), ("none", None)])
def test_the_budget_is_a_number_of_cells(discreet: Command, given: str, cells: int | None) -> None:
    found = json.loads(discreet(*QUICK, "--budget", given, "--json").out)
    assert found["settings"]["budget"] == cells


@pytest.mark.parametrize("given", ["60s", "1.5", "0", "-5", "all", "", "NONE"])
def test_a_budget_that_is_not_a_number_of_cells_is_refused(discreet: Command, given: str) -> None:
    check_refused(
        discreet(*QUICK, f"--budget={given}"),
        f"--budget is {given!r}. It is a number of target cells, not a time: give",
    )


def test_a_sample_is_noted(discreet: Command) -> None:
    asked = (*ATTACK, "--attacks", "margins", "--budget", "20")
    text = " ".join(discreet(*asked).out.split())
    assert "Note: margins: posterior: rates from a sample of 20 cells, stratified by true count." in text
    found = json.loads(discreet(*asked, "--json").out)["attacks"]
    likely = next(each for each in found if each["variant"] == "posterior")
    assert likely["estimates"] <= 20
    assert sum(row["cases"] for row in likely["by_count"]) == likely["estimates"]


def test_overlaps_are_read(discreet: Command, office: Path) -> None:
    (office / "map.csv").write_text("AREA,SEX\nnorth,F\n")
    assert discreet(*QUICK, "--overlaps", "map.csv").code == 0


def test_progress_is_shown_unless_it_is_not_wanted(discreet: Command) -> None:
    assert discreet(*QUICK).err == ""
    assert "Traceback" not in discreet("attack", "out", "--attacks", "averaging").err


# --- What is refused ---


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def more(folder: Path, table: str) -> None:
    """Make the true counts of a table larger than noise could leave them."""
    rows = read_table(folder / f"{table}.parquet")
    place = rows.column_names.index("value")
    write_table(table, rows.set_column(place, "value", [rows["value"].to_numpy() + 50]), folder, "parquet")


REFUSED: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "a changed table": (
        lambda office: flip(office / "out" / "tables" / "2.parquet"),
        (),
        "out has a file tables/2.parquet that is damaged or was changed",
    ),
    "a missing table": (
        lambda office: (office / "out" / "tables" / "2.parquet").unlink(),
        (),
        "out has no file tables/2.parquet",
    ),
    "a truth that does not fit": (
        lambda office: more(office / "out.curator" / "exact", "1.1"),
        (),
        "out.curator/exact has a file 1.1.parquet that is inconsistent with the release",
    ),
    "a damaged truth": (
        lambda office: (office / "out.curator" / "exact" / "2.parquet").write_bytes(b"x"),
        (),
        "out.curator/exact has a file 2.parquet that is damaged",
    ),
    "a truth that is not there": (lambda _: None, ("--truth", "nowhere"), "nowhere has no file 1.1.parquet"),
    "an unknown attack": (lambda _: None, ("--attacks", "avaraging"), "no attack 'avaraging'. Did you mean averaging"),
    "overlaps of an unknown topic": (
        lambda office: (office / "map.csv").write_text("AREA,GRID\n"),
        ("--overlaps", "map.csv"),
        "no topic in map.csv 'GRID'",
    ),
    "overlaps that are not there": (lambda _: None, ("--overlaps", "map.csv"), "map.csv cannot be read: No such file"),
    "a second release that is none": (lambda _: None, ("--other", "nowhere"), "nowhere"),
    "no record": (
        lambda office: (office / "out.curator" / "record.json").unlink(),
        (),
        "out has no noise record next to it. Use --public-only",
    ),
    "no release": (lambda office: shutil.rmtree(office / "out"), (), "out"),
}


def check_refused(done: Done, message: str) -> None:
    """One line on the error stream, and exit code 2."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_ends_with_2_and_one_line(discreet: Command, office: Path, mistake: str) -> None:
    spoil, arguments, message = REFUSED[mistake]
    spoil(office)
    check_refused(discreet(*(QUICK if "--attacks" not in arguments else ATTACK), *arguments), message)


def test_a_mistake_is_json_where_json_is_wanted(discreet: Command) -> None:
    done = discreet(*ATTACK, "--attacks", "avaraging", "--json")
    assert done.code == 2
    found = json.loads(done.out)["error"]
    assert (found["type"], found["name"]) == ("UnknownNameError", "avaraging")


def test_no_message_tells_a_true_count(discreet: Command, office: Path) -> None:
    more(office / "out.curator" / "exact", "2")
    done = discreet(*QUICK)
    assert done.code == 2
    total = str(town.PERSONS)
    assert total not in done.err
