"""docs/interfaces.md against reality: flags, JSON keys, file layouts, extension points."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.attacks.attack_estimates import ATTACKS
from discreet.cli.main import app
from discreet.cli.protect import KINDS as SETTINGS
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.formats.ptable_format import FORMATS
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import KEYS
from discreet.release import run_journal
from discreet.release.record import Record
from discreet.release.table_files import TableFile
from tests.journeys.running import discreet

ROOT = Path(__file__).parents[1]
JUDGED = ("targets", "decision")
PAGE = (ROOT / "docs/interfaces.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the text under a heading, up to the next heading of the same or a higher level."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,3}} |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/interfaces.md has no section {title!r}"
    return found[2]


def first_column(text: str) -> list[str]:
    """Return the code words in the first column of the tables in a text."""
    return [
        word
        for line in text.splitlines()
        if line.startswith("| `")
        for word in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, which ends as it will."""
    script = Path(sys.executable).with_name("discreet")
    return subprocess.run([script, *arguments], capture_output=True, text=True, check=False, timeout=60)


def tables_of(text: str) -> list[list[str]]:
    """Return the first columns of the tables in a text, table by table."""
    blocks = re.split(r"\n(?!\|)", text)
    return [found for block in blocks if (found := first_column(block))]


@cache
def commands() -> dict[str, set[str]]:
    """Return the flags of every command that can be run, read from --help."""
    found: dict[str, set[str]] = {}

    def walk(name: str) -> None:
        # Within this process: a command takes longer to start than to tell its flags.
        text = CliRunner().invoke(app, [*name.split()[1:], "--help"]).stdout
        options, _, below = text.partition("\nCommands:\n")
        found[name] = set(re.findall(r"^  (--[a-z-]+)", options, re.MULTILINE))
        for verb in re.findall(r"^  ([a-z]+) ", below, re.MULTILINE):
            walk(f"{name} {verb}")

    walk("discreet")
    return found


def documented() -> list[str]:
    return re.findall(r"^### `([^`]+)`", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", documented())
def test_flags_are_those_of_the_page(name: str) -> None:
    assert set(first_column(section(f"`{name}`"))) == commands()[name]


def test_every_documented_command_exists() -> None:
    assert set(documented()) == set(commands())


@pytest.fixture(scope="module")
def answer() -> dict[str, object]:
    found: dict[str, object] = json.loads(discreet("ptable", "--variance", "2", "--bound", "5", "--json"))
    return found


def test_json_keys_are_those_of_the_page(answer: dict[str, object]) -> None:
    common, own, *_ = tables_of(section("JSON"))
    assert list(answer) == common + own


def test_json_keys_of_assess_are_those_of_the_page(town: Path) -> None:
    found = json.loads(
        discreet("assess", str(town / "town.toml"), "--closed-form", "--variance", "3", "--bound", "5", "--json")
    )
    common, _, own = tables_of(section("JSON"))
    assert list(found) == common + own
    line = next(line for line in section("JSON").splitlines() if line.startswith("| `averaging` "))
    assert set(re.findall(r"`([^`]+)`", line.split("|")[2])) == set(found["averaging"][0])
    assert set(found["statistics"]) == {"unique", "published"}


@pytest.mark.parametrize("verb", ["show", "check", "statistics"])
def test_json_keys_of_programme_are_those_of_the_page(verb: str) -> None:
    found = json.loads(discreet("programme", verb, "eu2021:LU", "--json"))
    common, *_ = tables_of(section("JSON"))
    text = " ".join(section("JSON").split())
    for key in set(found) - set(common):
        assert f"`{key}`" in text
    for listed in ("tables", "shared"):
        if listed in found:
            for key in found[listed][0]:
                assert f"`{key}`" in text


def paragraph(start: str) -> list[str]:
    """Return the code words of the paragraph of the section JSON that starts so."""
    found = next(text for text in section("JSON").split("\n\n") if text.startswith(start))
    return re.findall(r"`([^`]+)`", found)


def nested(found: dict[str, object]) -> set[str]:
    """Return the keys of an object and of the objects in it."""
    inner = [set(value) for value in found.values() if isinstance(value, dict)]
    return set(found).union(*inner)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data of a small town and its release."""
    folder = tmp_path_factory.mktemp("town")
    (folder / "town.csv").write_text("ID,SEX\n" + "".join(f"{number},{'FM'[number % 2]}\n" for number in range(40)))
    (folder / "town.toml").write_text(
        '[topics.SEX]\ncategories = ["F", "M"]\n[[tables]]\nid = "1/a"\ncolumns = ["SEX"]\n'
    )
    (folder / "secret").write_text("a secret for the tests only")
    (folder / "secret").chmod(0o600)
    return folder


def protect(town: Path, *more: str) -> dict[str, object]:
    data, programme, secret = (str(town / name) for name in ("town.csv", "town.toml", "secret"))
    flags = ("--id", "ID", "--secret-file", secret, "--variance", "3", "--bound", "5", "--json")
    found: dict[str, object] = json.loads(discreet("protect", data, "--programme", programme, *flags, *more))
    return found


def test_json_keys_of_protect_are_those_of_the_page(town: Path) -> None:
    common, *_ = tables_of(section("JSON"))
    made, planned = protect(town, "--out", str(town / "made")), protect(town, "--dry-run")
    assert list(made)[: len(common)] == list(planned)[: len(common)] == common
    own = [{key: value for key, value in found.items() if key not in common} for found in (made, planned)]
    results = {result["name"] for result in made["results"]}  # type: ignore[attr-defined]  # a list, as all commands have
    assert nested(own[0]) | nested(own[1]) | results == set(paragraph("`protect` adds")) - {"protect", "--dry-run"}
    assert paragraph("`protect` adds").index("dry_run") > max(map(paragraph("`protect` adds").index, own[0]))


def test_the_folders_of_a_release_are_those_of_the_page(town: Path) -> None:
    protect(town, "--out", str(town / "out"), "--keep-exact")
    page = section("Release folders")
    found = [path.relative_to(town).as_posix() for path in town.rglob("*") if path.is_file()]
    made = {name.replace("out", "OUT", 1).replace("1%2Fa", "ID") for name in found if name.startswith("out")}
    assert made == set(first_column(page))
    description = json.loads((town / "out" / "release.json").read_text())
    words = re.findall(
        r"`([^`]+)`", next(line for line in page.splitlines() if line.startswith("| `OUT/release.json`"))
    )
    assert set(words) - {"OUT/release.json", "Record.public()"} == {*description, *description["files"][0]}
    record = json.loads((town / "out.curator" / "record.json").read_text())
    assert re.findall(r"`([a-z_]+)`", section("Records").partition("It is")[0]) == list(record)


def test_the_lines_of_a_log_are_those_of_the_page(town: Path) -> None:
    protect(town, "--out", str(town / "logged"), "--log", str(town / "log"))
    ended(
        "protect", str(town / "town.csv"), "--programme", "none", "--out", str(town / "no"), "--log", str(town / "log")
    )
    lines = [json.loads(line) for line in (town / "log").read_text().splitlines()]
    row = next(line for line in section("`discreet protect`").splitlines() if line.startswith("| `--log`"))
    assert {key for line in lines for key in line} == set(re.findall(r"`([a-z]+)`", row))


def test_a_settings_file_may_hold_the_flags_that_the_page_says() -> None:
    flags = first_column(section("`discreet protect`"))
    above = {flag.removeprefix("--").replace("-", "_") for flag in flags[: flags.index("--settings")]}
    assert set(SETTINGS) == above - {"out"}
    named = re.findall(r"`([a-z-]+) = ", section("`discreet protect`"))
    assert named
    assert {name.replace("-", "_") for name in named} <= set(SETTINGS)


def test_json_keys_of_convert_are_those_of_the_page(town: Path) -> None:
    protect(town, "--out", str(town / "convertible"))
    found = json.loads(discreet("convert", str(town / "convertible"), str(town / "as-csv"), "--to", "csv", "--json"))
    common, *_ = tables_of(section("JSON"))
    words = paragraph("`convert` adds")[1:]
    assert [*found, *(result["name"] for result in found["results"])] == [*common, *words]


def test_json_keys_of_verify_are_those_of_the_page(town: Path) -> None:
    protect(town, "--out", str(town / "verified"))
    found = json.loads(discreet("verify", str(town / "verified"), "--json"))
    common, *_ = tables_of(section("JSON"))
    words = paragraph("`verify` adds")[1:]
    assert [*found, *(result["name"] for result in found["results"])] == [*common, *words]


def test_json_keys_of_attack_are_those_of_the_page(town: Path) -> None:
    protect(town, "--keep-exact", "--out", str(town / "attacked"))
    found = json.loads(discreet("attack", str(town / "attacked"), "--attacks", "averaging", "--json"))
    common, *_ = tables_of(section("JSON"))
    text = " ".join(section("JSON").partition("`attack` adds")[2].partition("`utility` of")[0].split())
    assert list(found) == [*common, "statistics", "cells", "attacks", *JUDGED]
    keys = set(found["attacks"][0]) | set(found["attacks"][0]["by_count"][0])
    told = set(re.findall(r"`([a-z_]+)`", text))
    assert keys == told - {"attacks", "statistics", "value"}


def keys_within(found: object) -> set[str]:
    """Return the keys of an object and of all objects in it, but for numbers and dots that stand for levels."""
    if isinstance(found, list):
        return {key for each in found[:1] for key in keys_within(each)}
    if not isinstance(found, dict):
        return set()
    below = {key for value in found.values() for key in keys_within(value)}
    return below | {key for key in found if re.fullmatch(r"[a-z_]+", key)}


def told_of(start: str, end: str) -> set[str]:
    """Return the code words of the page between two phrases of its section on JSON."""
    return set(re.findall(r"`([a-z_]+)`", section("JSON").partition(start)[2].partition(end)[0]))


def test_json_keys_of_utility_are_those_of_the_page(town: Path) -> None:
    protect(town, "--keep-exact", "--out", str(town / "useful"))
    found = json.loads(discreet("utility", str(town / "useful"), "--areas", "SEX", "--json"))
    common, *_ = tables_of(section("JSON"))
    own = {key: value for key, value in found.items() if key not in (*common, *JUDGED)}
    told = told_of("`utility` of a release adds", "`design` adds")
    names = {result["name"] for result in found["results"]}
    keys = keys_within(own)
    assert keys <= told
    # The town has no two-way tables, which have an association before and after.
    assert told - keys <= names | {"before", "after"}
    areas = json.loads(discreet("utility", "lau:by-sex:PT", "--epsilon", "0.1", "--json"))
    assert set(areas) == {*common, "small_areas", *JUDGED}


def test_json_keys_of_design_are_those_of_the_page(town: Path) -> None:
    found = json.loads(discreet("design", str(town / "town.toml"), "--json"))
    common, *_ = tables_of(section("JSON"))
    strict = json.loads(
        discreet("design", str(town / "town.toml"), "--target", "averaging=0.2", "--max-bound", "1", "--json")
    )
    told = told_of("`design` adds", "`compare` adds")
    names = {result["name"] for result in found["results"]}
    own = [{key: value for key, value in each.items() if key not in common} for each in (found, strict)]
    keys = (keys_within(own[0]) | keys_within(own[1])) - {"optimal", "paper"}
    assert keys <= told
    of_villages = {"municipal_counts_off_by_20_percent", "municipal_areas_off_by_20_percent"}
    assert told - keys <= names | of_villages | {"attack", "utility", "assess"}


def test_the_keys_of_decisions_are_those_of_the_page(town: Path) -> None:
    protect(town, "--keep-exact", "--out", str(town / "judged"))
    for asked in (("attack", str(town / "judged"), "--attacks", "averaging"), ("utility", str(town / "judged"))):
        found = json.loads(discreet(*asked, "--json"))
        keys = keys_within({name: found[name] for name in JUDGED}) - {
            name.replace("-", "_") for name in found["targets"]
        }
        words = told_of('id="decisions"></a>', "`compare` has")
        assert keys <= words
        assert words - keys <= {"assess", "attack", "utility", "chosen", "default", "none"}


def test_json_keys_of_compare_are_those_of_the_page(town: Path) -> None:
    asked = ("compare", str(town / "town.toml"), "--data", str(town / "town.csv"), "--id", "ID")
    found = json.loads(discreet(*asked, "--mechanisms", "cell-key,laplace", "--attacks", "none", "--json"))
    common, *_ = tables_of(section("JSON"))
    own = {"contenders", "targets", "checks", "plot"}
    assert set(found) == {*common, *own}
    told = told_of("`compare` adds", "`synth` adds")
    assert set(found["contenders"][0]) | own == told
    assert len(found["checks"]) == len(found["contenders"])
    assert found["results"][0]["name"].startswith("cell-key: ")


def test_attacks_are_those_of_the_page() -> None:
    line = next(line for line in section("Extension points").splitlines() if line.startswith("| `discreet.attacks` "))
    assert set(re.findall(r"`([a-z-]+)`", line.partition("ours are")[2])) == set(ATTACKS.all())


def test_the_run_in_a_record_and_the_journal_are_those_of_the_page(town: Path) -> None:
    protect(town, "--out", str(town / "noted"))
    record = json.loads((town / "noted.curator" / "record.json").read_text())
    told = section("Records").partition("`run` is what")[2].partition("Records of older")[0]
    assert re.findall(r"`([a-z_]+)`", told) == list(record["run"])
    (town / "left").mkdir()
    run_journal.begin(town / "left", "a digest")
    run_journal.note(town / "left", TableFile("1", "tables/1.csv", 1, 1, "aa"), None)
    begun, noted = (json.loads(line) for line in (town / "left" / run_journal.JOURNAL).read_text().splitlines())
    told = section("Release folders").partition("There `")[2]
    words = re.findall(r"`([a-z._]+)`", f"`{told}")
    assert words[:2] == [run_journal.JOURNAL, *begun]
    entry = next(line for line in section("Release folders").splitlines() if line.startswith("| `OUT/release.json`"))
    assert set(noted) - set(re.findall(r"`([a-z0-9]+)`", entry)) == {"exact", "content"} < set(words)


def test_json_keys_of_synth_are_those_of_the_page(tmp_path: Path) -> None:
    said = discreet(
        "synth", "--country", "LU", "--persons", "50", "--seed", "1", "--out", str(tmp_path / "a.csv"), "--json"
    )
    common, *_ = tables_of(section("JSON"))
    assert list(json.loads(said)) == [*common, *paragraph("`synth` adds")[1:]]


def test_the_keys_of_a_record_are_those_of_the_page() -> None:
    found = json.loads(Record(programme="eu2021:LU", parameters={"variance": 3, "bound": 5}).to_json())
    assert re.findall(r"`([a-z_]+)`", section("Records").partition("It is")[0]) == list(found)


def test_the_keys_of_a_programme_are_those_of_the_page() -> None:
    for keys in KEYS.values():
        for key in keys:
            assert key in section("Programme files")


def test_result_and_row_fields_are_those_of_the_page(answer: dict[str, object]) -> None:
    text = section("JSON")
    results, rows = answer["results"], answer["rows"]
    assert isinstance(results, list)
    assert isinstance(rows, list)
    for key, sample in (("results", results[0]), ("rows", rows[0])):
        line = next(line for line in text.splitlines() if line.startswith(f"| `{key}` "))
        assert set(re.findall(r"`([^`]+)`", line.split("|")[2])) == set(sample)
    named = re.search(r"Results of a p-table: (.*?)\.\n", section("JSON"), re.DOTALL)
    assert named
    assert [result["name"] for result in results] == re.findall(r"`([^`]+)`", named[1])


def test_errors_in_json_are_those_of_the_page() -> None:
    done = ended("ptable", "--variance", "2", "--bound", "5", "--threshold", "2", "--json")
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert set(found) == {"schema", "error", "feasible"}
    assert found["feasible"] is False
    assert {"type", "message", "row"} <= set(found["error"])
    assert found["error"]["message"] in done.stderr


def test_formats_are_those_of_the_page() -> None:
    assert set(first_column(section("p-table files"))) == set(FORMATS.all())


@pytest.mark.parametrize("name", ["csv", "tauargus", "sas", "ons"])
def test_headers_are_those_of_the_page(name: str, tmp_path: Path) -> None:
    write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "t", name)
    header = (tmp_path / "t").read_text().splitlines()[0]
    line = next(line for line in section("p-table files").splitlines() if line.startswith(f"| `{name}` "))
    assert f"`{header}`" in line


def test_endings_and_grids_are_those_of_the_page() -> None:
    for line in section("p-table files").splitlines():
        if line.startswith("| `"):
            _, name, endings, grid, *_ = (cell.strip() for cell in line.split("|"))
            known = FORMATS.all()[name.strip("`")]
            assert tuple(re.findall(r"`([^`]+)`", endings)) == known.suffixes
            grids = [eval(word.replace("^", "**")) for word in re.findall(r"[\d^]+", grid)]  # noqa: S307 - our own page
            assert tuple(grids) == known.grids


def test_the_keys_of_toml_are_those_of_the_page(tmp_path: Path) -> None:
    write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "t.toml")
    content = tomllib.loads((tmp_path / "t.toml").read_text())
    line = next(line for line in section("p-table files").splitlines() if line.startswith("| `toml` "))
    words = [word.strip("[]") for word in re.findall(r"`([^`]+)`", line)]
    assert set(content) | set(content["rows"][0]) == set(words) - {"toml", ".toml"}


def test_extension_points_are_those_of_the_project_file() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert set(first_column(section("Extension points"))) == set(declared)
