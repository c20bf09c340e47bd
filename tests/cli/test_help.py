"""Help texts: panels, full summaries, names and defaults of the library, and the time that they take."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.accuracy import area_counts
from discreet.attacks import scoring, target_cells
from discreet.calibration import comparison, constraints, noise_design
from discreet.cli import attack, choices, utility
from discreet.cli import help as help_texts
from discreet.cli.main import COMMANDS, OnDemand, app
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.noise import ptable, ptable_settings
from discreet.noise.by_name import distribution_names
from discreet.noise.formats.ptable_format import FORMATS
from discreet.paper.reproduction import ALL_PARTS
from discreet.programme.lattice import RULES
from discreet.records import category_coding, key_file, programme_sketch, secret
from discreet.release import run_journal, table_files
from discreet.release.formats.table_format import TABLE_FORMATS
from discreet.sources import csv_file

GROUPS = {"ptable": ("show", "convert"), "programme": ("init", "show", "check", "statistics"), "keys": ("new", "add")}
ALL = [(name,) for name in COMMANDS] + [(name, verb) for name, verbs in GROUPS.items() for verb in verbs]
SLOWEST = 40
"""Help takes at most this many times as long as Python itself needs to start."""


def text_of(*command: str, columns: int = 80) -> str:
    return CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": str(columns)}).stdout


def test_names_and_defaults_are_those_of_the_library() -> None:
    assert choices.ATTACKERS == constraints.ATTACKERS
    assert choices.RULES == RULES
    assert choices.MISSING == category_coding.MISSING
    assert distribution_names() == choices.DISTRIBUTIONS
    assert MECHANISMS.names() == choices.MECHANISMS
    assert choices.KEY_MODES == ptable.KEY_MODES
    assert choices.OBJECTIVES == ptable_settings.OBJECTIVES
    assert choices.COMPARED_AT == comparison.AT
    assert choices.COMPARED_ATTACKS == comparison.COMPARED_ATTACKS
    assert (choices.COMPARED_VARIANCE, choices.COMPARED_BOUND) == (comparison.VARIANCE, comparison.BOUND)
    assert choices.TABLE_FILES == table_files.FORMATS
    assert TABLE_FORMATS.names() == choices.TABLE_FORMATS
    assert set(choices.PTABLE_FORMATS) == set(FORMATS.names())
    assert choices.PAPER_PARTS == ALL_PARTS
    assert choices.TARGET_CELLS == target_cells.BUDGET
    assert choices.MAX_BOUND == noise_design.MAX_BOUND
    assert choices.CUTS == noise_design.CUTS
    assert choices.MOST_CATEGORIES == programme_sketch.MOST_CATEGORIES
    assert choices.LOCK_TIMEOUT == run_journal.LOCK_TIMEOUT
    assert choices.KEY_COLUMN == key_file.COLUMN
    assert choices.SECRET_VARIABLE == secret.VARIABLE
    assert choices.UTF8 == csv_file.UTF8
    assert utility.PREFIX == area_counts.PREFIX
    assert attack.FEW == scoring.FEW


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_option_has_a_panel_and_a_sentence(command: tuple[str, ...]) -> None:
    found = text_of(*command)
    heads = re.findall(r"^([A-Z][a-z]+):$", found, re.MULTILINE)
    order = [help_texts.ARGUMENTS, *help_texts.PANELS, "Commands"]
    assert heads == [head for head in order if head in heads]
    assert help_texts.RUN in heads
    rows = re.findall(r"^  (--[a-z-]+)(.*(?:\n {20,}.*)*)", found, re.MULTILINE)
    assert rows
    for name, rest in rows:
        words = re.sub(r"^[A-Z=|,a-z/-]*\s\s+", "", rest.strip())
        assert len(words.split()) >= 3, name


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_help_fits_the_terminal_and_breaks_no_word(command: tuple[str, ...], columns: int) -> None:
    wide = set(text_of(*command, columns=200).split())
    found = text_of(*command, columns=columns)
    lines = [line for line in found.splitlines() if not line.startswith(("  Example: ", "Usage: "))]
    assert max(map(len, lines)) <= columns
    assert set(found.split()) <= wide | {"Usage:"}


def test_summaries_are_whole_and_those_of_the_commands() -> None:
    found = " ".join(text_of().split())
    for name, command in OnDemand().items():
        summary = " ".join((command.help or "").split("\n\n")[0].split())
        assert summary == COMMANDS[name]
        assert f"{name} {summary}" in found
    for name, verbs in GROUPS.items():
        group = OnDemand()[name]
        listed = " ".join(text_of(name).split())
        for verb in verbs:
            assert " ".join((group.commands[verb].help or "").split("\n\n")[0].split()) in listed


@pytest.mark.parametrize("command", [(), ("design",), ("protect",), ("utility",), ("compare",)])
def test_help_loads_no_library(command: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['discreet', *{command!r}, '--help']\n"
        "from discreet.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('numpy', 'pyarrow', 'duckdb', 'rich') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", [(), ("design",), ("protect",)])
def test_help_is_fast(command: tuple[str, ...]) -> None:
    script = str(Path(sys.executable).with_name("discreet"))

    def seconds(*run: str) -> float:
        begin = time.perf_counter()
        subprocess.run(run, stdout=subprocess.DEVNULL, check=True, timeout=60)
        return time.perf_counter() - begin

    bare = min(seconds(sys.executable, "-c", "pass") for _ in range(5))
    assert min(seconds(script, *command, "--help") for _ in range(5)) < SLOWEST * bare
