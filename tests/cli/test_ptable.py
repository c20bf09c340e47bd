"""`discreet ptable`, `show` and `convert` from the outside."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet import read_ptable
from discreet.noise.parameters import parameters
from discreet.noise.ptable_settings import PTableSettings
from tests.quick import one_in

Run = Callable[..., subprocess.CompletedProcess[str]]
DATA = Path(__file__).parents[1] / "data"


def test_the_answer_comes_as_sentences_table_and_picture(discreet: Run) -> None:
    done = discreet("ptable", "--variance", "2", "--bound", "5")
    assert done.returncode == 0
    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    assert (
        "variance up to 2, bound ±5, empty cells stay 0. 6 rows; the last applies to every count of 5 or more" in text
    )
    assert "█" in done.stdout
    assert "Row 1 has variance 1.72 instead of 2" in done.stdout
    header, *rows = (line.split() for line in done.stdout.splitlines()[2:9])
    assert header[:6] == ["count", "mean", "variance", "short", "of", "sd"]
    assert rows[1][:4] == ["1", "0", "1.7215", "0.2785"]
    assert rows[-1][0] == "5+"


def test_a_terminal_without_blocks_gets_letters(discreet: Run) -> None:
    done = discreet("ptable", "--variance", "2", "--bound", "5", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert "#" in done.stdout
    assert "█" not in done.stdout
    assert "bound ±5" in done.stdout
    cyrillic = discreet("ptable", "--variance", "2", "--bound", "5", PYTHONIOENCODING="iso8859-5")
    assert cyrillic.returncode == 0
    assert "bound ?5" in cyrillic.stdout


def test_csv_and_json_hold_the_same_rows(discreet: Run, tmp_path: Path) -> None:
    done = discreet("ptable", "--variance", "2", "--bound", "5", "--threshold", "1", "--out", "t.csv", "--json")
    answer = json.loads(done.stdout)
    with (tmp_path / "t.csv").open() as file:
        rows = [{"p": float(row.pop("p")), **{k: int(v) for k, v in row.items()}} for row in csv.DictReader(file)]
    assert [dict(sorted(row.items())) for row in answer["rows"]] == [dict(sorted(row.items())) for row in rows]
    assert answer["feasible"] is True
    assert answer["key_space"] == 2**32
    assert len(answer["variance_per_row"]) == 8
    for i, variance in enumerate(answer["variance_per_row"]):
        row = [r for r in rows if r["i"] == i]
        assert sum(r["p"] * r["v"] ** 2 for r in row) == pytest.approx(variance)
        assert sum((r["upper"] - r["lower"]) * r["v"] for r in row) == 0
        assert (row[0]["lower"], row[-1]["upper"]) == (0, 2**32)


def test_settings_reach_the_table(discreet: Run) -> None:
    def probabilities(*flags: str) -> dict[tuple[int, int], float]:
        done = discreet("ptable", "--variance", "3", "--bound", "5", "--json", *flags)
        assert done.returncode == 0, done.stderr
        return {(row["i"], row["v"]): row["p"] for row in json.loads(done.stdout)["rows"]}

    assert probabilities()[1, -1] > probabilities()[1, 0]
    assert probabilities("--monotone")[1, -1] <= probabilities("--monotone")[1, 0] + 1e-12
    assert probabilities("--stay", "0.5")[5, 0] == pytest.approx(0.5)
    assert min(probabilities("--floor", "0.005").values()) == pytest.approx(0.005)
    equal = probabilities("--equality")
    assert sum(v**2 * p for (i, v), p in equal.items() if i == 1) == pytest.approx(3)
    assert (0, -5) in probabilities("--perturb-zeros")
    assert probabilities("--objective", "least-disclosure")[1, 0] < probabilities()[1, 0]
    assert not [1 for (i, v) in probabilities("--threshold", "1") if i + v == 1]


@pytest.mark.parametrize("name", one_in(2, ["csv", "toml", "tauargus", "sas", "cellkey", "ons"]))
def test_every_format_is_written_shown_and_converted(discreet: Run, tmp_path: Path, name: str) -> None:
    assert discreet("ptable", "--variance", "2", "--bound", "5", "--out", "t", "--format", name).returncode == 0
    shown = discreet("ptable", "show", "t")
    assert shown.returncode == 0
    assert "empty cells stay 0" in shown.stdout
    done = discreet("ptable", "convert", "t", "--to", "tauargus", "u")
    assert done.returncode == 0, done.stderr
    assert "on 100000000 keys" in done.stdout
    assert read_ptable(tmp_path / "u").key_space == 10**8


def test_convert_takes_the_format_from_the_ending_and_a_key_space(discreet: Run, tmp_path: Path) -> None:
    source = str(DATA / "formats/cnts_D5_V3_js2_sas.txt")
    done = discreet("ptable", "convert", source, "t.yaml", "--json")
    assert json.loads(done.stdout)["settings"]["to"] == "cellkey"
    assert (tmp_path / "t.yaml").read_text() == (DATA / "formats/cnts_D5_V3_js2_cellkey.yaml").read_text()
    assert discreet("ptable", "convert", source, "u.csv", "--key-space", "4096").returncode == 0
    assert read_ptable(tmp_path / "u.csv").key_space == 4096


@pytest.mark.slow
def test_convert_writes_three_million_lines(discreet: Run, tmp_path: Path) -> None:
    source = str(DATA / "formats/cnts_D5_V3_js2_sas.txt")
    assert discreet("ptable", "convert", source, "u", "--to", "ons", "--key-space", "4096").returncode == 0
    assert read_ptable(tmp_path / "u").key_space == 4096


@pytest.mark.slow
def test_the_picture_is_written(discreet: Run, tmp_path: Path) -> None:
    done = discreet("ptable", "--variance", "2", "--bound", "5", "--plot", "p.png")
    assert done.returncode == 0
    assert "Wrote p.png." in done.stdout
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_cut_tail_is_said(discreet: Run) -> None:
    done = discreet("ptable", "--variance", "2", "--bound", "10")
    assert "Warning: On a key space of 4294967296 the outermost noise of rows 3 to 10" in done.stdout
    assert "±9 instead of ±10" in done.stdout


MISTAKES = {
    "no variance": (["--bound", "5"], "--variance is missing. Example: discreet ptable --variance 2 --bound 5"),
    "no bound": (["--variance", "2"], "--bound is missing"),
    "variance 0": (
        ["--variance", "0", "--bound", "5"],
        "variance must be a positive number (1e-6 to 1e6), not 0.0. Typical values",
    ),
    "variance -1": (["--variance", "-1", "--bound", "5"], "variance must be a positive number (1e-6 to 1e6), not -1.0"),
    "variance nan": (
        ["--variance", "nan", "--bound", "5"],
        "variance must be a positive number (1e-6 to 1e6), not nan",
    ),
    "variance inf": (
        ["--variance", "inf", "--bound", "5"],
        "variance must be a positive number (1e-6 to 1e6), not inf",
    ),
    "bound 0": (["--variance", "2", "--bound", "0"], "bound must be a positive whole number (1 to 500), not 0"),
    "bound 2.5": (["--variance", "2", "--bound", "2.5"], "--bound"),
    "threshold -1": (["--variance", "2", "--bound", "5", "--threshold", "-1"], "threshold must be zero or a positive"),
    "stay 1": (["--variance", "2", "--bound", "5", "--stay", "1"], "stay must be at least 0 and below 1, not 1.0"),
    "floor 2": (["--variance", "2", "--bound", "5", "--floor", "2"], "floor must be at least 0 and below 1"),
    "key space": (["--variance", "2", "--bound", "5", "--key-space", "1"], "key_space must be a whole number from 2"),
    "infeasible threshold": (
        ["--variance", "2", "--bound", "5", "--threshold", "2"],
        (
            "row 1 is infeasible. Because a count of 1 must become 0 or at least 3, its variance is above 2. The "
            "requested variance is 2. Use a variance above 2, or a threshold of at most 1."
        ),
    ),
    "threshold above bound": (
        ["--variance", "9", "--bound", "2", "--threshold", "2"],
        (
            "row 3 is infeasible. With threshold 2 and bound 2 a count of 3 can only stay unchanged or increase, so "
            "that its noise cannot have mean 0. Use a bound of at least 3, or a threshold of at most 1."
        ),
    ),
    "infeasible equality": (
        ["--variance", "6", "--bound", "5", "--equality"],
        "The requested variance is exactly 6. Use a variance below 5, or a bound of at least 7",
    ),
    "objective": (["--variance", "2", "--bound", "5", "--objective", "entropi"], "Did you mean entropy?"),
    "objective with stay": (
        ["--variance", "2", "--bound", "5", "--objective", "least-disclosure", "--stay", "0.5"],
        "stay cannot be combined with the objective least-disclosure",
    ),
    "format without file": (["--variance", "2", "--bound", "5", "--format", "csv"], "no file is named. Add --out FILE"),
    "unknown ending": (
        ["--variance", "2", "--bound", "5", "--out", "t.txt"],
        "does not determine the format. Give the format (--format, or --to in convert)",
    ),
    "unknown format": (["--variance", "2", "--bound", "5", "--out", "t", "--format", "yml"], "no p-table format 'yml'"),
    "grid of the format": (
        ["--variance", "2", "--bound", "5", "--out", "t", "--format", "sas", "--key-space", "256"],
        "--key-space 256 does not fit the format, which has 100000000 keys",
    ),
    "no folder": (
        ["--variance", "2", "--bound", "5", "--out", "no/t.csv"],
        "no/t.csv cannot be written: its folder does not exist. Create the folder",
    ),
    "bound 1000": (["--variance", "2", "--bound", "1000"], "bound must be a positive whole number (1 to 500)"),
    "key space 0": (["--variance", "2", "--bound", "5", "--key-space", "0"], "key_space must be a whole number from 2"),
    "plot as pdf": (
        ["--variance", "2", "--bound", "5", "--plot", "p.pdf"],
        "--plot writes PNG or SVG; p.pdf has another ending",
    ),
    "one file twice": (
        ["--variance", "2", "--bound", "5", "--out", "p.png", "--format", "csv", "--plot", "p.png"],
        "--out and --plot name the same file",
    ),
    "plot without folder": (
        ["--variance", "2", "--bound", "5", "--out", "t.csv", "--plot", "no/p.png"],
        "no/p.png cannot be written: its folder does not exist",
    ),
    "a folder": (["--variance", "2", "--bound", "5", "--out", ".", "--format", "csv"], "it is a folder or a device"),
    "a long name": (
        ["--variance", "2", "--bound", "5", "--out", "x" * 300 + ".csv"],
        "cannot be written: File name too long",
    ),
    "option before show": (["--threshold", "1", "show", "t.csv"], "--threshold stands before show. Write it after"),
    "misspelt flag": (["--varance", "2"], "--variance"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_ends_with_one_message_exit_code_2_and_no_file(discreet: Run, tmp_path: Path, name: str) -> None:
    flags, message = MISTAKES[name]
    done = discreet("ptable", *flags)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_left_alone(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("mine")
    (tmp_path / "t.png").write_text("mine")
    for flags, name in ((["--out", "t.csv"], "t.csv"), (["--plot", "t.png"], "t.png")):
        done = discreet("ptable", "--variance", "2", "--bound", "5", *flags)
        assert done.returncode == 2
        assert f"{name} exists already and was not changed. Choose another name, or add --replace." in done.stderr
    assert (tmp_path / "t.csv").read_text() == "mine"
    assert discreet("ptable", "--variance", "2", "--bound", "5", "--out", "t.csv", "--replace").returncode == 0


def test_a_bad_file_is_refused_and_nothing_written(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("i,j,v,p,lower,upper\n0,0,0,1,0,100\n2,2,0,1,0,100\n")
    for arguments in (("show", "bad.csv"), ("convert", "bad.csv", "out.toml")):
        done = discreet("ptable", *arguments)
        assert done.returncode == 2
        assert "error: bad.csv, line 3: row i = 1 is missing; the next row is 2." in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_help_fits_a_screen(discreet: Run) -> None:
    done = discreet("ptable", "--help", COLUMNS="120", TERMINAL_WIDTH="120")
    assert "Example: discreet ptable --variance 2 --bound 5 --out ptable.csv" in done.stdout
    assert len(done.stdout.splitlines()) <= 50


def test_help_texts_have_the_ranges_of_the_declared_parameters(discreet: Run) -> None:
    text = " ".join(discreet("ptable", "--help").stdout.split())
    ranges = {"variance": "1e-6 to 1e6, typically 0.5 to 4", "bound": "1 to 500, typically 2 to 10"}
    for name, range_ in ranges.items():
        declared = parameters(PTableSettings)[name].help().replace("(", "").replace(")", "")
        assert range_ in declared
        assert range_ in text
