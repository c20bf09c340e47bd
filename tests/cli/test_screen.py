"""The default output of commands: the verdict first, one screen, whole words at every width, colours on terminals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.accuracy import release_utility
from discreet.attacks import attack_run
from discreet.calibration import comparison, noise_design
from discreet.cli import output
from discreet.risk import assessment
from discreet.verdicts import AVERAGING, CRITERIA, Decision, Policy, Verdict, check
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.engines.engine import Engine
    from tests.cli.town import Command

NOISE = ("--variance", "3", "--bound", "5")
COMPARE = ("compare", "town.toml", "--data", "town.csv", "--id", "PERSON_ID", "--mechanisms", "cell-key,fresh")
SCREENS = {
    "design": ("design", "town.toml"),
    "design, infeasible": ("design", "town.toml", "--max-bound", "1", "--cuts", "3"),
    "design on data": ("design", "town.toml", "--data", "town.csv", "--id", "PERSON_ID"),
    "assess": ("assess", "town.toml", *NOISE),
    "assess, met": ("assess", "town.toml", "--variance", "9", "--bound", "9"),
    "assess a release": ("assess", "out"),
    "attack": ("attack", "out"),
    "attack with targets": ("attack", "out", "--target", "averaging=0.1", "--target", "margins=1000"),
    "utility": ("utility", "out"),
    "utility of areas": ("utility", "lau:2016:MT", "--epsilon", "0.1"),
    "compare": COMPARE,
    "programme show": ("programme", "show", "eu2021:LU"),
    "programme show, small": ("programme", "show", "town.toml"),
}
SHAPES = {verdict.shape for verdict in Verdict}
WHOLE = ("Next: ", "  Example: ", "discreet ")
"""Beginnings of lines with commands to copy, which are not wrapped."""


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests of independence with few tables: their rates are not judged here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 30)
        yield


@pytest.fixture(scope="module", autouse=True)
def _computed_once() -> Iterator[None]:
    """Compute every result once: here its presentation is tested."""
    results: dict[str, object] = {}

    def remembered(compute: Callable[..., object]) -> Callable[..., object]:
        def result(*given: object, **named: object) -> object:
            named.pop("progress", None)
            key = repr((compute, given, named))
            if key not in results:
                results[key] = compute(*given, **named)
            return results[key]

        return result

    with pytest.MonkeyPatch.context() as patch:
        for home, name in (
            (noise_design, "design"),
            (assessment, "assess"),
            (attack_run, "attack"),
            (release_utility, "utility"),
            (comparison, "compare"),
        ):
            patch.setattr(home, name, remembered(getattr(home, name)))
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    folder = tmp_path_factory.mktemp("town")
    town.publish(folder, engine)
    return folder


@pytest.fixture
def discreet(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "80")
    return town.command(made, monkeypatch, capsys)


# --- One screen ---


@pytest.mark.parametrize("name", SCREENS)
def test_the_verdict_is_first_and_all_fits_a_screen(discreet: Command, name: str) -> None:
    done = discreet(*SCREENS[name])
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0][0] in SHAPES
    assert len(lines) <= output.LINES
    assert max(len(line) for line in lines if not line.startswith(WHOLE)) <= 80
    assert "\x1b" not in done.out


@pytest.mark.parametrize("name", ["design", "assess", "attack", "utility", "compare", "programme show"])
def test_details_print_more_with_assumptions(discreet: Command, name: str) -> None:
    short, details = discreet(*SCREENS[name]).out, discreet(*SCREENS[name], "--details").out
    assert details.splitlines()[0][0] == short.splitlines()[0][0]
    assert len(details.splitlines()) > len(short.splitlines())
    if name != "programme show":
        assert "ssumptions" in details
        assert short.splitlines()[-1] == output.MORE


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("details", [(), ("--details",)], ids=["screen", "details"])
@pytest.mark.parametrize("name", ["design, infeasible", "assess", "attack", "utility", "utility of areas", "compare"])
def test_no_line_is_too_long_and_no_word_is_broken(
    discreet: Command, name: str, details: tuple[str, ...], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = set(discreet(*SCREENS[name], "--details").out.split()) | set(discreet(*SCREENS[name]).out.split())
    monkeypatch.setenv("COLUMNS", str(columns))
    found = discreet(*SCREENS[name], *details).out
    lines = [line for line in found.splitlines() if not line.startswith(WHOLE)]
    assert max(map(len, lines)) <= columns
    # Lists are cut after fewer items on a narrow terminal.
    uncut = [line for line in lines if "(--details)" not in line]
    new = {word for line in uncut for word in line.split() if word not in words and not re.fullmatch(r"[\d,.]+", word)}
    # Punctuation differs where a verdict is a sentence and not a row.
    assert {word.strip(";:,.()") for word in new} <= {word.strip(";:,.()") for word in words}


def test_lists_are_cut_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    screen = output.Screen()
    screen.headline(Verdict.MEETS, "Meets all targets", "Town")
    screen.items("First", [f"item {number}" for number in range(40)])
    screen.items("Notes", ["one", "two " * 60])
    screen.text("The end.")
    screen.show()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == output.LINES
    shown = [line for line in lines if line.startswith("  - item")]
    assert shown == [f"  - item {number}" for number in range(len(shown))]
    assert f"  ... {40 - len(shown)} more (--details)" in lines
    assert lines[-1] == "The end."


def test_a_short_screen_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    screen = output.Screen()
    screen.items("Notes", ["one", "two"])
    screen.items("Empty", [])
    screen.show()
    assert capsys.readouterr().out == "Notes\n  - one\n  - two\n"


# --- Verdicts ---


@pytest.mark.parametrize(
    "name", ["assess", "assess, met", "attack", "attack with targets", "utility", "utility of areas"]
)
def test_verdicts_are_those_of_json(discreet: Command, name: str) -> None:
    text, found = discreet(*SCREENS[name]).out, json.loads(discreet(*SCREENS[name], "--json").out)
    decision = found["decision"]
    assert decision["headline"] in " ".join(text.split())
    for each in decision["checks"]:
        label = CRITERIA[each["name"]].label
        line = next(line for line in text.splitlines() if re.match(rf". {label}  ", line))
        assert line.endswith(each["verdict"])
        assert line[0] == next(verdict.shape for verdict in Verdict if verdict.word == each["verdict"])
        judged = each["value"] is not None and each["target"] is not None and not each["not_covered"]
        if judged:
            assert (each["verdict"] == "misses target") == (each["value"] > each["target"])
    assert found["targets"].keys() >= {each["name"] for each in decision["checks"] if each["target"] is not None}


def test_a_target_changes_the_verdict(discreet: Command) -> None:
    base = ("assess", "town.toml", *NOISE)
    value = next(
        each["value"]
        for each in json.loads(discreet(*base, "--json").out)["decision"]["checks"]
        if each["name"] == "averaging"
    )
    # The closed form, or tables of other units, can hide a larger risk: such a figure does not meet a target.
    for target, verdict in ((value - 0.01, "misses target"), (value + 0.01, "not assessed")):
        lines = discreet(*base, "--target", f"averaging={target}").out.splitlines()
        assert next(line for line in lines if "Averaging" in line).endswith(verdict)
        assert lines[0].startswith("✗ Do not publish yet") is (verdict == "misses target")


@pytest.mark.parametrize("command", [("assess", "town.toml", *NOISE), ("attack", "out"), ("utility", "out")])
@pytest.mark.parametrize("target", ["averging=0.5", "averaging", "averaging=2", "additivity=0.1"])
def test_a_target_that_a_command_does_not_judge_is_refused(
    discreet: Command, command: tuple[str, ...], target: str
) -> None:
    if (command[0], target) == ("utility", "additivity=0.1"):
        assert discreet(*command, "--target", target).code == 0
        return
    done = discreet(*command, "--target", target)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


def test_a_rate_from_few_cases_is_a_range_and_judged_by_its_upper_end(discreet: Command) -> None:
    (each,) = [
        each
        for each in json.loads(discreet("attack", "out", "--json").out)["decision"]["checks"]
        if each["name"] == "averaging"
    ]
    assert each["cases"] < 100
    assert each["lowest"] < each["value"]
    # A rate over all counts does not show that the most exposed statistic meets the target.
    assert each["not_covered"]
    assert each["verdict"] == "not assessed"


def test_a_rate_of_some_attacks_does_not_meet_a_target(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{number},{'FM'[number % 2]},{number % 40}\n" for number in range(60))
    (tmp_path / "data.csv").write_text("ID,SEX,AGE\n" + rows)
    categories = ", ".join(f'"{number}"' for number in range(40))
    (tmp_path / "few.toml").write_text(
        f'[topics.SEX]\ncategories = ["F", "M"]\n[topics.AGE]\ncategories = [{categories}]\n'
        '[[tables]]\nid = "1"\ncolumns = ["SEX", "AGE"]\n'
    )
    (tmp_path / "secret").write_bytes((made / "office.secret").read_bytes())
    (tmp_path / "secret").chmod(0o600)
    run = town.command(tmp_path, monkeypatch, capsys)
    given = ("--programme", "few.toml", "--id", "ID", "--secret-file", "secret", "--keep-exact", *NOISE)
    assert run("protect", "data.csv", *given, "--out", "few").code == 0

    def verdict(*attacks: str) -> tuple[str, str]:
        asked = ("attack", "few", "--target", "singletons=0.999", *attacks, "--json")
        checks = {each["name"]: each for each in json.loads(run(*asked).out)["decision"]["checks"]}
        return checks["singletons"]["verdict"], checks["bound"]["verdict"]

    assert verdict("--attacks", "averaging") == ("not assessed", "not assessed")
    assert verdict()[0] == "meets target"


# --- Colours ---


def judged(value: float) -> Decision:
    return Decision((check(Policy(), AVERAGING, value, "A sentence."),))


@pytest.mark.parametrize(
    ("value", "code"), [(0.9, "\x1b[31m"), (0.1, "\x1b[32m")], ids=["red for missed", "green for met"]
)
def test_shapes_and_words_are_coloured_on_a_terminal(
    value: float, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    (line,) = output.check_lines(judged(value).checks[0])
    assert line.count(code) == 2
    plain = re.sub(r"\x1b\[\d+m", "", line)
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.check_lines(judged(value).checks[0]) == [plain]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert output.check_lines(judged(value).checks[0]) == [plain]
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_real_terminal_has_colours_unless_refused(made: Path, more: dict[str, str], coloured: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run(
        [Path(sys.executable).with_name("discreet"), "programme", "show", "town.toml"],
        cwd=made,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        check=True,
        env={**environment, "COLUMNS": "80", "TERM": "xterm", **more},
    )
    os.close(theirs)
    written = os.read(ours, 4096)
    os.close(ours)
    assert (b"\x1b[32m" in written) is coloured


# --- Silence and interrupts ---


@pytest.mark.parametrize("name", ["design", "assess", "attack", "utility", "compare"])
@pytest.mark.parametrize("details", [(), ("--details",)])
def test_quiet_prints_nothing(discreet: Command, name: str, details: tuple[str, ...]) -> None:
    done = discreet(*SCREENS[name], *details, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_quiet_commands_write_files_and_report_errors(discreet: Command, made: Path) -> None:
    files = {
        "protect": ("town.csv", "--programme", "town.toml", "--id", "PERSON_ID", "--secret-file", "office.secret"),
        "convert": ("out", "tables", "--to", "csv"),
        "synth": ("--country", "LU", "--persons", "50", "--seed", "1"),
        "verify": ("out",),
    }
    written = {"protect": ("--out", "again", *NOISE), "synth": ("--out", "people.csv")}
    for name, arguments in files.items():
        done = discreet(name, *arguments, *written.get(name, ()), "--quiet")
        assert (done.code, done.out, done.err) == (0, "", ""), name
    assert (made / "again" / "release.json").exists()
    assert (made / "people.csv").exists()
    failed = discreet("synth", *files["synth"], "--out", "people.csv", "--quiet")
    assert (failed.code, failed.out) == (2, "")
    assert failed.err.startswith("error: people.csv exists already")


def test_quiet_does_not_suppress_json(discreet: Command) -> None:
    assert json.loads(discreet("utility", "out", "--quiet", "--json").out)["command"] == "utility"


INTERRUPTED = """
import os, signal, sys
from discreet.{module} import {name} as _
import discreet.{module} as home
def interrupted(*given, **named):
    {before}
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
home.{name} = interrupted
from discreet.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("calibration.noise_design", "design", ("design", "town.toml", "--plot", "plane.png")),
        ("attacks.attack_run", "attack", ("attack", "out")),
        ("accuracy.release_utility", "utility", ("utility", "out")),
        ("calibration.comparison", "compare", COMPARE),
        ("release.formats.conversion", "convert", ("convert", "out", "px", "--to", "px")),
    ],
)
def test_an_interrupt_states_that_nothing_was_written(
    made: Path, module: str, name: str, arguments: tuple[str, ...]
) -> None:
    code = INTERRUPTED.format(module=module, name=name, before="pass")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=made, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 130
    assert done.stderr.endswith("Interrupted. Nothing was written.\n")
    assert "Traceback" not in done.stderr


def test_an_interrupt_names_the_files_that_were_written(made: Path) -> None:
    (made / "old.csv").write_text("old")
    os.utime(made / "old.csv", (1, 1))
    code = INTERRUPTED.format(module="synthetic.synthetic_census", name="synth", before="open('new.csv', 'w').close()")
    for out, message in (("new.csv", "Written: new.csv."), ("old.csv", "Nothing was written.")):
        asked = ("synth", "--country", "LU", "--persons", "9", "--seed", "1", "--replace", "--out", out)
        done = subprocess.run(
            [sys.executable, "-c", code, *asked], cwd=made, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 130
        assert done.stderr.endswith(f"Interrupted. {message}\n")
