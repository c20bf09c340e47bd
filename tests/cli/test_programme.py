"""`discreet programme init` from the outside."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from discreet.records.programme_sketch import sketch_programme
from tests.cli.town import PROGRAMME
from tests.programme.test_px_definition import FILE

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "persons.csv"
    path.write_text("sex,größe,region\nF,1,01\nM,2,01\nF,1,02\nM,1,02\n", encoding="utf-8")
    return path


def test_init_prints_the_sketch(discreet: Run, data: Path) -> None:
    done = discreet("programme", "init", data.name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == sketch_programme(data)


def test_init_from_a_px_file_gives_a_programme_that_passes_the_check(discreet: Run, data: Path) -> None:
    data.with_name("b.px").write_text(FILE, encoding="latin-1")
    done = discreet("programme", "init", "--from", "b.px", "--out", "b.toml")
    assert (done.returncode, done.stdout) == (0, "Wrote b.toml from b.px. Next: discreet programme check b.toml\n")
    assert discreet("programme", "check", "b.toml").returncode == 0
    for arguments in (["--from", "none.px"], [], [data.name, "--from", "b.px"]):
        assert discreet("programme", "init", *arguments).returncode == 2


def test_what_is_printed_is_utf_8_on_any_terminal(discreet: Run, data: Path) -> None:
    done = discreet("programme", "init", data.name, PYTHONIOENCODING="latin-1")
    assert done.stdout.encode("latin-1") == sketch_programme(data).encode()


def test_init_writes_a_programme_that_passes_the_check(discreet: Run, data: Path) -> None:
    done = discreet("programme", "init", data.name, "--out", "p.toml")
    assert done.stdout == "Wrote p.toml, sketched from persons.csv. Next: discreet programme check p.toml\n"
    assert data.with_name("p.toml").read_bytes() == sketch_programme(data).encode()
    check = discreet("programme", "check", "p.toml")
    assert check.returncode == 0
    assert "persons: 1 tables (1 of persons), 3 breakdowns. No mistake found." in check.stdout


def test_init_overwrites_only_when_asked(discreet: Run, data: Path) -> None:
    out = data.with_name("p.toml")
    out.write_text("mine")
    refused = discreet("programme", "init", data.name, "--out", "p.toml")
    assert refused.returncode == 2
    assert "p.toml exists already and was not changed. Choose another name, or add --replace." in refused.stderr
    assert out.read_text() == "mine"
    assert discreet("programme", "init", data.name, "--out", "p.toml", "--replace").returncode == 0
    assert out.read_bytes() == sketch_programme(data).encode()


def test_init_leaves_out_columns_with_more_categories(discreet: Run, data: Path) -> None:
    data.write_text("sex,age\n" + "".join(f"{'FM'[i % 2]},{i % 7}\n" for i in range(50)))
    done = discreet("programme", "init", data.name, "--most-categories", "6")
    assert re.search(r'"age": .*6 ', done.stdout)
    assert "[topics.AGE]" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "error: nowhere.csv cannot be read: No such file or directory. Check the path."),
        (["persons.csv", "--most-categories", "0"], "most_categories must be a whole number of at least 1, not 0"),
        (["persons.csv", "--out", "nowhere/p.toml"], "p.toml cannot be written: its folder does not exist"),
    ],
)
def test_mistakes_end_with_one_message(discreet: Run, data: Path, arguments: list[str], message: str) -> None:
    assert data.exists()
    done = discreet("programme", "init", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("universe", ["AGE != Y0-18", "AGEE != 0", "AGE ~ 0"])
@pytest.mark.parametrize(
    "command",
    [
        "programme check town.toml",
        "programme show town.toml",
        "programme statistics town.toml",
        "assess town.toml --variance 2 --bound 5",
        "design town.toml",
        "protect town.csv --programme town.toml --mechanism fresh --variance 2 --bound 5 --out out",
        "protect town.csv --programme town.toml --dry-run",
        "compare town.toml --data town.csv",
    ],
)
def test_every_command_refuses_a_wrong_universe_with_its_line(
    discreet: Run, tmp_path: Path, command: str, universe: str
) -> None:
    text = PROGRAMME.replace("SEX = F", universe)
    (tmp_path / "town.toml").write_text(text)
    (tmp_path / "town.csv").write_text("SEX,AGE,AREA\nF,0,north\n")
    done = discreet(*command.split())
    line = next(number for number, line in enumerate(text.splitlines(), start=1) if universe in line)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: town.toml, line {line}: Universe of table 1.2: ")
    assert done.stderr.count("\n") == 1
