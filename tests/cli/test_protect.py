"""`discreet protect`: every flag does what docs/interfaces.md says, and every mistake is named."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.ptable import PTable, PTableRow
from discreet.records.record_keys import RecordKeys, keys_of
from tests.cli import town
from tests.cli.town import PERSONS, SECRET, Done, exact, people, published
from tests.quick import rows_in

if TYPE_CHECKING:
    from pathlib import Path

BARE = ("protect", "town.csv", "--programme", "town.toml", "--out", "out")
KEYS = ("--id", "PERSON_ID", "--secret-file", "office.secret")
NOISE = ("--variance", "3", "--bound", "5")


class Town:
    """The folder, and the command with what it needs at least."""

    def __init__(self, folder: Path, command: town.Command) -> None:
        self.folder, self.run = folder, command
        self.before = self.names()

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def made(self) -> set[str]:
        return self.names() - self.before

    def protect(self, *more: str, noise: tuple[str, ...] = NOISE, keys: tuple[str, ...] = KEYS) -> Done:
        done = self.run(*BARE, *keys, *noise, *more)
        assert done.code == 0, done.err
        return done

    def record(self, out: str = "out") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"{out}.curator" / "record.json").read_text())
        return found


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Town:
    town.make(tmp_path)
    return Town(tmp_path, town.command(tmp_path, monkeypatch, capsys))


# --- What it makes and says ---


def test_it_says_what_it_read_counted_and_wrote(office: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    done = office.protect()
    assert done.err == ""
    lines = done.out.splitlines()
    patterns = [
        r"reading    250 records, 3 topics, \d+\.\d s, [\d,]+ a second",
        r"counting   3 tables, 12 statistics, 42 cells, \d+\.\d s",
        r"noise      standard deviation 1\.73, at most 5, \d+\.\d s",
        r"writing    39 published rows, \d\.\d kB, \d+\.\d s",
        (
            r"out/ is complete after \d+\.\d s. It contains no confidential data. "
            r"Assess or attack it before you publish it\."
        ),
        r"out\.curator/ contains confidential data. Do not publish it\.",
        r"Next: discreet assess out",
    ]
    assert len(lines) == len(patterns)
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(pattern, line), line
    assert office.made() == {"out", "out.curator"}


def test_what_it_names_as_next_works(office: Town) -> None:
    after = office.protect().out.splitlines()[-1].removeprefix("Next: discreet ")
    assert office.run(*after.split()).code == 0


def test_json_tells_the_same(office: Town) -> None:
    found = json.loads(office.protect("--json").out)
    assert found["command"] == "protect"
    assert found["settings"] == {
        "data": ["town.csv"], "programme": "town.toml", "variance": 3, "bound": 5, "secret_file": "office.secret",
        "id": "PERSON_ID",
    }  # fmt: skip
    assert (found["release"], found["curator"]) == ("out", "out.curator")
    assert found["read"] == {"records": PERSONS, "dropped": 0, "margins": 0, "topics": 3}
    tables = published(office.folder / "out")
    sizes = [path.stat().st_size for path in (office.folder / "out" / "tables").iterdir()]
    rows = sum(map(len, tables.values()))
    assert found["written"] == {
        "tables": 3, "resumed": 0, "statistics": 12, "cells": 42, "rows": rows, "bytes": sum(sizes),
    }  # fmt: skip
    assert set(found["seconds"]) == {"reading", "counting", "noise", "writing", "all"}
    assert [(result["name"], result["unit"]) for result in found["results"]] == [
        ("typical_noise", "persons"), ("largest_noise", "persons")
    ]  # fmt: skip
    assert found["results"][0]["value"] == pytest.approx(3**0.5)
    assert found["results"][1]["value"] == 5
    assert found["warnings"] == []


def test_several_files_and_patterns_are_one_data_set(office: Town) -> None:
    office.protect()
    lines = (office.folder / "town.csv").read_text().splitlines(keepends=True)
    for name, part in (("a.csv", lines[1:100]), ("b.csv", lines[100:])):
        (office.folder / name).write_text(lines[0] + "".join(part))
    for number, data in enumerate((["a.csv", "b.csv"], ["[ab].csv"])):
        done = office.run("protect", *data, "--programme", "town.toml", *KEYS, *NOISE, "--out", f"again{number}")
        assert done.code == 0, done.err
        assert published(office.folder / f"again{number}") == published(office.folder / "out")


def test_a_topic_may_have_a_column_of_another_name(office: Town) -> None:
    office.protect()
    text = (office.folder / "town.csv").read_text()
    (office.folder / "town.csv").write_text(text.replace("SEX", "geschlecht", 1))
    (office.folder / "town.toml").write_text(f'{town.PROGRAMME}\n[columns]\nSEX = "geschlecht"\n')
    office.protect("--out", "again")
    assert published(office.folder / "again") == published(office.folder / "out")
    # What the office calls its columns is not published.
    assert "geschlecht" not in (office.folder / "again" / "release.json").read_text()
    assert office.run("assess", "again").code == 0


def test_the_same_run_gives_the_same_bytes(office: Town) -> None:
    office.protect()
    office.protect("--out", "again")
    for path in (office.folder / "out").rglob("*"):
        if path.is_file():
            assert (office.folder / "again" / path.relative_to(office.folder / "out")).read_bytes() == path.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_the_curators_folder_is_private(office: Town) -> None:
    office.protect("--keep-exact")
    assert stat.S_IMODE((office.folder / "out.curator").stat().st_mode) == 0o700


# --- Noise ---


def test_variance_bound_and_threshold(office: Town) -> None:
    office.protect("--threshold", "1", "--keep-exact")
    assert office.record()["law"] == "max-entropy"
    parameters = office.record()["parameters"]
    assert (parameters["variance"], parameters["bound"], parameters["threshold"]) == (3, 5, 1)
    found, true = published(office.folder / "out"), exact(office.folder / "out")
    noise = [found[name].get(cell, 0) - count for name, cells in true.items() for cell, count in cells.items()]
    assert 2 < max(map(abs, noise)) <= 5
    assert all(value > 1 for cells in found.values() for value in cells.values())


def test_zeros_stay_unless_asked(office: Town) -> None:
    office.protect()
    assert not [cell for cells in published(office.folder / "out").values() for cell in cells if "nowhere" in cell]
    office.protect("--perturb-zeros", "--replace")
    empty = [v for cells in published(office.folder / "out").values() for cell, v in cells.items() if "nowhere" in cell]
    assert empty
    assert office.record()["parameters"]["perturb_zeros"] is True


@pytest.mark.parametrize(
    ("flags", "law", "parameters"),
    rows_in(
        3,
        [
            (["--epsilon", "0.5"], "geometric", {"epsilon": 0.5}),
            (["--law", "geometric", "--epsilon", "0.5"], "geometric", {"epsilon": 0.5}),
            (["--law", "laplace", "--scale", "2"], "laplace", {"scale": 2}),
            (["--law", "gaussian", "--sigma", "1.5"], "gaussian", {"sigma": 1.5}),
            (["--law", "discrete-gaussian", "--sigma", "1.5"], "discrete-gaussian", {"sigma": 1.5}),
            (["--law", "uniform", "--bound", "4"], "uniform", {"bound": 4}),
            (["--law", "max-entropy", *NOISE], "max-entropy", {"variance": 3, "bound": 5}),
            (["--law", "truncated-laplace", "--epsilon", "1", "--bound", "6"], "truncated-laplace", {"bound": 6}),
            (["--law", "truncated-laplace", "--epsilon", "0.5", "--delta", "0.008"], "truncated-laplace", {"bound": 7}),
            (["--law", "truncated-gaussian", "--sigma", "2", "--bound", "6"], "truncated-gaussian", {"sigma": 2}),
            (
                ["--law", "truncated-gaussian", "--epsilon", "1.5", "--delta", "2e-5"],
                "truncated-gaussian",
                {"bound": 12},
            ),
        ],
    ),
)
def test_every_law_can_be_asked_for(office: Town, flags: list[str], law: str, parameters: dict[str, float]) -> None:
    done = office.protect(noise=tuple(flags))
    record = office.record()
    assert record["law"] == law
    assert parameters.items() <= record["parameters"].items()
    assert (", unbounded" in done.text) == (law in {"geometric", "laplace", "gaussian", "discrete-gaussian"})


def test_a_ptable_from_a_file(office: Town) -> None:
    office.protect()
    write_ptable(PTable.max_entropy(variance=3, bound=5), office.folder / "mine.csv")
    office.protect("--out", "again", noise=("--ptable", "mine.csv"))
    assert published(office.folder / "again") == published(office.folder / "out")
    assert office.record("again")["law"] == "p-table"


@pytest.mark.parametrize("change", [0, 2])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_ptable_that_reveals_true_counts_needs_consent(office: Town, change: int, dry: tuple[str, ...]) -> None:
    fixed = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (change,), (1.0,))))
    write_ptable(fixed, office.folder / "fixed.toml")
    before = office.names()
    done = office.run(*BARE, *KEYS, "--ptable", "fixed.toml", *dry)
    assert done.code == 2
    assert "does not protect" in done.err
    assert "--allow-disclosure" in done.err
    assert office.names() == before
    office.protect("--allow-disclosure", *dry, noise=("--ptable", "fixed.toml"))


def test_a_release_made_with_consent_is_repeated_without(office: Town) -> None:
    write_ptable(PTable((PTableRow(0, (0,), (1.0,)),)), office.folder / "fixed.toml")
    office.protect("--allow-disclosure", noise=("--ptable", "fixed.toml"))
    assert office.run("protect", "--again", "out.curator", "--secret-file", "office.secret", "--out", "b").code == 0
    assert published(office.folder / "b") == published(office.folder / "out")


def test_warnings_of_a_ptable_are_told_by_protect_assess_and_the_record(office: Town) -> None:
    steps = (-2, -1, 0, 1, 2)
    rows = (
        PTableRow(0, (0,), (1.0,)),
        PTableRow(1, (-2, -1, 1, 2), (0.25, 0.25, 0.25, 0.25)),
        PTableRow(2, steps, (0.125, 0.25, 0.25, 0.25, 0.125)),
        PTableRow(3, steps, (0.125, 0.125, 0.25, 0.25, 0.25)),
    )
    write_ptable(PTable(rows, key_space=256), office.folder / "odd.toml")
    converted = office.run("ptable", "convert", "odd.toml", "odd.csv", "--json")
    told = json.loads(office.protect("--json", noise=("--ptable", "odd.toml")).out)["warnings"]
    assessed = json.loads(office.run("assess", "out", "--measures", "redundancy", "--json").out)["warnings"]
    for part in (
        "The largest is 0.38, for a count of 3.",
        "of row 1 may be published as negative",
        "only 256 keys",
    ):
        (sentence,) = (text for text in json.loads(converted.out)["warnings"] if part in text)
        assert sentence in told
        assert sentence in assessed
        assert sentence in office.record()["warnings"]


def test_exact_counts_are_true_and_said_to_be(office: Town) -> None:
    done = office.run(*BARE, "--mechanism", "exact", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["results"] == []
    assert found["warnings"] == ["The tables contain true counts, without noise. Do not publish them."]
    sexes = Counter(person["SEX"] for person in people())
    assert published(office.folder / "out")["2"]["_T", "F"] == sexes["F"]
    text = office.run(*BARE, "--mechanism", "exact", "--replace").text
    assert "out/ is complete after" in text
    assert "It contains true counts. Do not publish it." in text
    assert "no confidential data" not in text
    assert "Next" not in text


# --- Mechanisms ---


def noise(office: Town, out: str = "out") -> dict[tuple[str, tuple[str, ...]], int]:
    """Return what is published less what is true, by table and cell."""
    found, true = published(office.folder / out), exact(office.folder / out)
    places = {(table, cell) for source in (found, true) for table in source for cell in source[table]}
    return {(table, cell): found[table].get(cell, 0) - true[table].get(cell, 0) for table, cell in places}


def test_noise_by_coordinates_needs_no_keys_and_is_the_same_in_any_order(office: Town) -> None:
    flags = ("--mechanism", "coordinates", "--secret-file", "office.secret", "--keep-exact")
    office.protect(*flags, keys=())
    assert len(set(noise(office).values())) > 4
    lines = (office.folder / "town.csv").read_text().splitlines(keepends=True)
    (office.folder / "town.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    office.protect(*flags, "--out", "again", keys=())
    assert published(office.folder / "again") == published(office.folder / "out")
    assert office.record()["mechanism"] == "coordinates"
    office.protect(*flags, "--out", "later", "--version-label", "2", keys=())
    assert published(office.folder / "later") != published(office.folder / "out")


def test_fresh_noise_needs_neither_keys_nor_secret(office: Town) -> None:
    for out in ("out", "again"):
        office.protect("--mechanism", "fresh", "--no-spsn", "--out", out, keys=())
    record = office.record()
    assert (record["mechanism"], record["spsn"]) == ("fresh", False)
    # 39 cells the same by chance: less than one in 10^20.
    assert published(office.folder / "out") != published(office.folder / "again")


def test_a_law_may_give_empty_cells_noise(office: Town) -> None:
    office.protect("--perturb-zeros", noise=("--epsilon", "0.3"))
    assert office.record()["perturb_zeros"] is True
    assert [cell for cells in published(office.folder / "out").values() for cell in cells if "nowhere" in cell]


@pytest.mark.parametrize(("flag", "counts"), [("--spsn", 12), ("--no-spsn", 14)])
def test_a_budget_is_split_evenly_and_told(office: Town, flag: str, counts: int) -> None:
    done = office.protect("--mechanism", "eps-dp", flag, noise=("--epsilon", "6"), keys=())
    promise = office.record()["privacy"]
    assert (promise["epsilon"], promise["delta"], promise["sensitivity"]) == (pytest.approx(6), 0, counts)
    assert office.record()["parameters"]["epsilon"] == pytest.approx(6 / counts)
    told = f"The output satisfies epsilon 6 with delta 0: a person changes {counts} counts."
    assert f"{told} This holds for one person added" in " ".join(done.out.split())
    description = json.loads((office.folder / "out" / "release.json").read_text())
    assert set(description["noise"]["privacy"]) == {"epsilon", "delta", "condition"}
    answer = office.run("assess", "out", "--measures", "epsilon_delta", "--details")
    assert "The whole output satisfies epsilon 6 with delta 0." in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("text", "epsilon", "shares"),
    [
        ("table,weight\n1.*,1\n2,3\n", ("--epsilon", "5"), {"1.1": 1, "1.2": 1, "2": 3}),
        ("table,epsilon\n1.1,0.5\n*,2\n", (), {"1.1": 0.5, "1.2": 2, "2": 2}),
    ],
)
def test_a_budget_file_splits_by_weights_or_table_by_table(
    office: Town, text: str, epsilon: tuple[str, ...], shares: dict[str, float]
) -> None:
    (office.folder / "budget.csv").write_text(text)
    office.protect("--mechanism", "eps-dp", "--budget", "budget.csv", noise=epsilon, keys=())
    promise = office.record()["privacy"]
    assert promise["tables"] == pytest.approx(shares)
    assert promise["epsilon"] == pytest.approx(sum(shares.values()))


def test_nothing_negative_is_published_where_that_is_asked_for_and_the_bias_is_said(office: Town) -> None:
    flags = ("--perturb-zeros", "--keep-exact")
    office.protect(*flags, noise=("--epsilon", "0.5"))
    assert min(value for cells in published(office.folder / "out").values() for value in cells.values()) < 0
    done = office.protect(*flags, "--non-negative", "--out", "cut", noise=("--epsilon", "0.5"))
    shown = published(office.folder / "cut")
    assert min(value for cells in shown.values() for value in cells.values()) > 0
    for table, cells in published(office.folder / "out").items():
        assert shown[table] == {cell: value for cell, value in cells.items() if value > 0}
    # q / ((1 + q) (1 - q)) with q = e^-0.5, and so on.
    assert (
        "Because negative values are published as 0, counts are too high on average: of 0 by 0.96, of 1 by 0.58"
        in done.text
    )
    found = json.loads(office.protect(*flags, "--non-negative", "--replace", "--json", noise=("--epsilon", "0.5")).out)
    (bias,) = [result for result in found["results"] if result["name"] == "bias"]
    q = math.exp(-0.5)
    assert bias["value"] == pytest.approx(q / ((1 + q) * (1 - q)))
    assert bias["worst"] == "a true count of 0"
    assert office.record("cut")["non_negative"] is True


# --- Keys ---


def record_keys(version: str = "1") -> list[int]:
    ids = pa.array([person["PERSON_ID"] for person in people()])
    return [int(key) for key in keys_of(RecordKeys(SECRET.encode(), version).digests(ids))]


def with_keys(office: Town) -> None:
    """Write the data with a column of ready-made keys."""
    keyed = [{**person, "KEY": str(key)} for person, key in zip(people(), record_keys(), strict=True)]
    (office.folder / "keyed.csv").write_text(town.as_csv(keyed))


def test_ready_made_keys_give_the_same_noise_as_the_ids_they_are_made_from(office: Town) -> None:
    office.protect()
    with_keys(office)
    flags = ("--key", "KEY", "--secret-file", "office.secret", *NOISE, "--programme", "town.toml", "--out", "again")
    done = office.run("protect", "keyed.csv", *flags)
    assert done.code == 0, done.err
    assert published(office.folder / "again") == published(office.folder / "out")


def test_plain_keys_look_the_sum_of_keys_up(office: Town) -> None:
    with_keys(office)
    flags = ("--key", "KEY", "--key-mode", "plain", *NOISE, "--programme", "town.toml", "--out", "out")
    done = office.run("protect", "keyed.csv", *flags)
    assert done.code == 0, done.err
    count = len(people())
    noise = PTable.max_entropy(variance=3, bound=5).draw([count], [sum(record_keys()) % 2**32], mode="plain")
    assert published(office.folder / "out")["2"]["_T", "_T"] == count + noise[0]


def test_the_secret_comes_from_the_file_or_else_from_the_variable(
    office: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.protect()
    monkeypatch.setenv("DISCREET_SECRET", SECRET)
    office.protect("--out", "variable", keys=KEYS[:2])
    monkeypatch.setenv("DISCREET_SECRET", "another secret, just as long")
    office.protect("--out", "file")
    office.protect("--out", "other", keys=KEYS[:2])
    found = {name: published(office.folder / name) for name in ("out", "variable", "file", "other")}
    assert found["out"] == found["variable"] == found["file"] != found["other"]


def test_another_label_gives_other_noise(office: Town) -> None:
    office.protect()
    office.protect("--version-label", "1", "--out", "same")
    office.protect("--version-label", "2", "--out", "other")
    found = {name: published(office.folder / name) for name in ("out", "same", "other")}
    assert found["out"] == found["same"] != found["other"]
    assert office.record("other")["key_version"] == "2"


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_secret_that_its_group_can_read_is_used_with_a_warning(office: Town) -> None:
    (office.folder / "office.secret").chmod(0o640)
    warning = "office.secret contains the secret, but its group has access to it. Run: chmod 600 office.secret"
    assert f"Warning: {warning}" in office.protect().text
    assert json.loads(office.protect("--replace", "--json").out)["warnings"] == [warning]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_secret_that_everybody_can_read_is_refused(office: Town) -> None:
    (office.folder / "office.secret").chmod(0o644)
    done = office.run(*BARE, *KEYS, *NOISE)
    assert done.code == 2
    assert "Run: chmod 600 office.secret" in done.err
    assert office.made() == set()


def test_a_weak_secret_is_warned_of(office: Town) -> None:
    (office.folder / "office.secret").write_text("aaaaaaaaaaaaaaaaaaaaaaaa")
    (warning,) = json.loads(office.protect("--json").out)["warnings"]
    assert "fewer than 16 distinct bytes" in warning


# --- Which tables and which records ---


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [("1.1", ["1.1"]), ("1.*", ["1.1", "1.2"]), ("2, 1.1", ["1.1", "2"]), ("*", ["1.1", "1.2", "2"])],
)
def test_tables_are_chosen_by_id_or_pattern(office: Town, patterns: str, ids: list[str]) -> None:
    office.protect("--tables", patterns)
    description = json.loads((office.folder / "out" / "release.json").read_text())
    assert [file["id"] for file in description["files"]] == ids
    assert list(published(office.folder / "out")) == sorted(ids)


def test_noise_does_not_depend_on_the_choice_of_tables(office: Town) -> None:
    office.protect()
    office.protect("--tables", "2", "--out", "alone")
    assert published(office.folder / "alone")["2"] == published(office.folder / "out")["2"]


def test_the_unit_says_which_tables_are_made(office: Town) -> None:
    office.protect()
    assert list(published(office.folder / "out")) == ["1.1", "1.2", "2"]
    found = json.loads(office.protect("--unit", "dwellings", "--replace", "--json").out)
    assert list(published(office.folder / "out")) == ["9"]
    assert found["results"][0]["unit"] == "dwellings"


def gaps(office: Town) -> int:
    """Write the data with some values missing and return how many records lack one."""
    lacking = [{**person, "AREA": ""} if n % 10 == 3 else person for n, person in enumerate(people())]
    (office.folder / "town.csv").write_text(town.as_csv(lacking))
    return sum(not person["AREA"] for person in lacking)


def test_missing_values_are_refused_counted_or_dropped(office: Town) -> None:
    lacking = gaps(office)
    for more in ([], ["--missing", "error"]):
        done = office.run(*BARE, *KEYS, *NOISE, *more)
        assert done.code == 2
        assert f"AREA: {lacking} records without a value\n" in done.err
        assert "use --missing category or --missing drop" in done.err
    assert office.made() == set()
    category = office.protect("--missing", "category", "--keep-exact", "--json")
    assert json.loads(category.out)["read"] == {"records": PERSONS, "dropped": 0, "margins": 0, "topics": 3}
    assert exact(office.folder / "out")["2"]["_U", "_T"] == lacking
    text = office.protect("--missing", "drop", "--keep-exact", "--replace").out
    assert (
        f"reading    {PERSONS - lacking} records, {lacking} others dropped because of a missing value, 3 topics" in text
    )
    assert exact(office.folder / "out")["2"]["_T", "_T"] == PERSONS - lacking
    assert office.record()["missing"] == "drop"


# --- What is written ---


def test_csv_holds_what_parquet_holds(office: Town) -> None:
    office.protect("--format", "parquet", "--keep-exact")
    office.protect("--format", "csv", "--keep-exact", "--out", "again")
    assert {path.suffix for path in (office.folder / "again" / "tables").iterdir()} == {".csv"}
    assert published(office.folder / "again") == published(office.folder / "out")
    assert exact(office.folder / "again") == exact(office.folder / "out")
    lines = (office.folder / "again" / "tables" / "2.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == "AREA,SEX,value"


def test_true_counts_are_kept_only_when_asked(office: Town) -> None:
    office.protect()
    assert [path.name for path in (office.folder / "out.curator").iterdir()] == ["record.json"]
    office.protect("--keep-exact", "--replace")
    assert exact(office.folder / "out")["1.1"]["_T", "_T"] == PERSONS


def test_a_release_is_replaced_only_when_asked(office: Town) -> None:
    office.protect()
    before = (office.folder / "out" / "release.json").read_bytes()
    done = office.run(*BARE, *KEYS, *NOISE, "--tables", "2")
    assert done.code == 2
    assert "exists already and was not changed. Choose another name, or add --replace." in done.err
    assert (office.folder / "out" / "release.json").read_bytes() == before
    office.protect("--tables", "2", "--replace")
    assert list(published(office.folder / "out")) == ["2"]
    assert office.made() == {"out", "out.curator"}


def test_something_else_is_never_replaced(office: Town) -> None:
    (office.folder / "out").mkdir()
    (office.folder / "out" / "diary.txt").write_text("mine")
    for more in ([], ["--replace"]):
        assert office.run(*BARE, *KEYS, *NOISE, *more).code == 2
    assert (office.folder / "out" / "diary.txt").read_text() == "mine"
    assert office.made() == {"out"}


# --- Settings ---


def test_a_settings_file_stands_for_flags(office: Town) -> None:
    office.protect("--threshold", "1", "--version-label", "2", "--tables", "2", "--keep-exact")
    (office.folder / "run.toml").write_text(
        'programme = "town.toml"\nvariance = 3\nbound = 5\nthreshold = 1\nid = "PERSON_ID"\n'
        'secret-file = "office.secret"\nversion_label = "2"\ntables = "2"\nkeep-exact = true\nperturb-zeros = false\n'
    )
    done = office.run("protect", "town.csv", "--settings", "run.toml", "--out", "again", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["settings"]["threshold"] == 1
    assert published(office.folder / "again") == published(office.folder / "out")
    assert exact(office.folder / "again") == exact(office.folder / "out")


def test_the_command_line_goes_before_the_settings(office: Town) -> None:
    (office.folder / "run.toml").write_text(
        'programme = "elsewhere.toml"\nvariance = 3\nbound = 5\ntables = "1.*"\nversion-label = "2"\n'
    )
    office.protect("--settings", "run.toml", "--tables", "2", noise=("--variance", "2"))
    assert list(published(office.folder / "out")) == ["2"]
    record = office.record()
    assert (record["parameters"]["variance"], record["parameters"]["bound"]) == (2, 5)
    assert (record["programme"], record["key_version"]) == ("town.toml", "2")


def test_a_settings_file_may_say_that_zeros_stay_beside_any_law(office: Town) -> None:
    (office.folder / "run.toml").write_text("perturb-zeros = false\n")
    office.protect("--settings", "run.toml", noise=("--epsilon", "1"))


# --- Dry run ---


def test_a_dry_run_says_what_it_would_take_and_makes_nothing(office: Town) -> None:
    done = office.run(*BARE, "--dry-run")
    assert (done.code, done.err) == (0, "")
    first, data, programme, memory, disk, time = done.out.splitlines()
    assert first == "Dry run: nothing was counted or written."
    assert re.fullmatch(r"data       about \d+ records", data)
    assert programme == "programme  3 tables (all counted from the records), 12 statistics, 42 cells"
    assert re.fullmatch(r"memory     about \d+ MB", memory)
    assert re.fullmatch(r"disk       at most about [\d.]+ kB", disk)
    assert time == "time       less than 1 s on two cores"
    assert office.made() == set()


def test_a_dry_run_as_json(office: Town) -> None:
    pq.write_table(pa.Table.from_pylist(people()), office.folder / "town.parquet")
    office.before = office.names()
    done = office.run("protect", "town.parquet", "--programme", "town.toml", "--tables", "2", "--dry-run", "--json")
    found = json.loads(done.out)
    assert found["dry_run"] is True
    estimate = found["estimate"]
    assert (estimate["records"], estimate["guessed"], estimate["tables"], estimate["cells"]) == (PERSONS, False, 1, 12)
    assert office.made() == set()


def test_a_dry_run_needs_neither_secret_nor_place_but_finds_mistakes(office: Town) -> None:
    assert office.run("protect", "town.csv", "--programme", "town.toml", "--dry-run").code == 0
    for name in ("noise", "law", "missing", "format", "key mode", "mechanism", "id and key", "table", "unit", "ptable",
                 "delta and bound", "spsn", "fresh spsn", "budget", "eps-dp law", "budget file"):  # fmt: skip
        flags, message = MISTAKES[name]
        done = office.run(*BARE, *KEYS[:2], *flags, "--dry-run")
        assert done.code == 2, name
        assert message in done.err
    office.protect()
    assert "exists already" in office.run(*BARE, "--dry-run").err
    assert office.run(*BARE, "--dry-run", "--replace").code == 0
    assert office.made() == {"out", "out.curator"}


def test_a_dry_run_leaves_what_a_killed_run_left(office: Town) -> None:
    left = office.folder / ".out.making-12345678"
    left.mkdir()
    assert office.run(*BARE, "--dry-run").code == 0
    assert left.exists()


# --- Mistakes ---

MISTAKES: dict[str, tuple[list[str], str]] = {
    "noise": (["--variance", "0", "--bound", "5"], "variance must be a positive number"),
    "no noise": ([], "max-entropy needs --variance and --bound. Example: --variance 3 --bound 5"),
    "no bound": (["--variance", "3"], "max-entropy needs --bound. Example: --variance 3 --bound 5"),
    "no scale": (["--law", "laplace"], "The noise distribution laplace needs --scale. Example: --scale 2"),
    "law": (["--law", "gauss"], "There is no noise distribution 'gauss'. Did you mean gaussian?"),
    "other law": (["--epsilon", "1", "--variance", "3"], "geometric, --variance for"),
    "infeasible": ([*NOISE, "--threshold", "3"], "No p-table exists: row 1 is infeasible."),
    "ptable": (["--ptable", "no.csv"], "no.csv: cannot be read: No such file or directory."),
    "ptable and law": (["--ptable", "no.csv", *NOISE], "defines the noise; --variance cannot be given too."),
    "delta and bound": (["--law", "truncated-laplace", "--epsilon", "1", "--delta", "0.1", "--bound", "5"],
                        "takes --epsilon and --delta and computes its bound; --bound cannot be given too."),
    "spsn": ([*NOISE, "--no-spsn"], "The mechanism cell-key always gives the same participants the same noise."),
    "fresh spsn": ([*NOISE, "--mechanism", "fresh", "--spsn"], "The mechanism fresh never gives the same participants"),
    "budget": ([*NOISE, "--budget", "b.csv"], "--budget is for the mechanism eps-dp, not for cell-key."),
    "no budget": (["--mechanism", "eps-dp"], "The budget is missing. Give --epsilon, or an epsilon per table."),
    "eps-dp law": (["--mechanism", "eps-dp", "--epsilon", "1", "--variance", "3"], "Remove --variance."),
    "budget file": (["--mechanism", "eps-dp", "--budget", "b.csv"], "b.csv cannot be read (No such file or directory)"),
    "small budget": (["--mechanism", "eps-dp", "--epsilon", "1e-6"], "is too small: values beyond"),
    "mechanism": (["--mechanism", "cellkey"], "There is no mechanism 'cellkey'. Did you mean cell-key"),
    "key mode": ([*NOISE, "--key-mode", "mix"], "There is no key mode 'mix'. Did you mean mixed?"),
    "id and key": ([*NOISE, "--key", "AGE"], "Specify either --id or --key, not both."),
    "id": ([*NOISE, "--id", "PERSONID"], "There is no column in town.csv 'PERSONID'. Did you mean PERSON_ID?"),
    "shared id": ([*NOISE, "--id", "SEX"], "Column SEX is specified as id, but the programme uses it"),
    "table": ([*NOISE, "--tables", "1.1,7.*"], "There is no table '7.*'."),
    "unit": ([*NOISE, "--unit", "person"], "There is no unit 'person'. Did you mean persons?"),
    "missing": ([*NOISE, "--missing", "drops"], "There is no treatment of missing values 'drops'. Did you mean drop?"),
    "format": ([*NOISE, "--format", "xlsx"], "There is no table format 'xlsx'. Available: parquet, csv."),
    "programme": ([*NOISE, "--programme", "twon.toml"], "twon.toml: cannot be read: No such file or directory."),
    "country": ([*NOISE, "--programme", "eu2021:LX"], "There is no country for eu2021 'LX'."),
    "label": ([*NOISE, "--version-label", ""], "The version label of record keys must be a non-empty text, such as 1."),
    "no secret file": ([*NOISE, "--secret-file", "none"], "none cannot be read as the file of a secret"),
    "folder": ([*NOISE, "--out", "none/out"], "none/out cannot be written: its folder does not exist."),
    "log": ([*NOISE, "--log", "none/log"], "none/log cannot be written: No such file or directory."),
    "log on data": ([*NOISE, "--log", "town.csv"], "town.csv cannot be written: it contains something other"),
    "settings": ([*NOISE, "--settings", "no.toml"], "no.toml cannot be read: No such file or directory."),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "as_json"), [*((name, False) for name in MISTAKES), *rows_in(5, ((name, True) for name in MISTAKES))]
)
def test_a_mistake_is_one_message_and_nothing_is_made(office: Town, name: str, as_json: bool) -> None:
    flags, message = MISTAKES[name]
    data = (office.folder / "town.csv").read_bytes()
    done = office.run(*BARE, *KEYS, *flags, *(["--json"] if as_json else []))
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
    assert "Traceback" not in done.err
    assert office.made() == set()
    assert (office.folder / "town.csv").read_bytes() == data
    if as_json:
        found = json.loads(done.out)
        assert set(found) - {"feasible"} == {"schema", "error"}
        assert done.err == f"error: {found['error']['message']}\n"
    else:
        assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["protect"], "error: DATA is missing: the records to count."),
        (["protect", "town.csv"], "error: --programme is missing. Example: --programme eu2021:LU"),
        (["protect", "town.csv", "--programme", "town.toml", *KEYS, *NOISE], "error: --out is missing: the folder"),
        (["protect", "town.csv", "--programme", "town.toml", "--out", "out", *NOISE], "error: The secret is missing"),
        ([*BARE, *NOISE, "--secret-file", "office.secret"], "error: The mechanism cell-key needs a key for every"),
        ([*BARE, *NOISE, "--key", "AGE", "--key-mode", "plain", "--perturb-zeros"], "error: The secret is missing"),
        ([*BARE, *NOISE, "--mechanism", "coordinates"], "error: The secret is missing"),
        ([*BARE, *KEYS, "--variance", "much"], "Invalid value for '--variance'"),
        ([*BARE, *KEYS, *NOISE, "--variants", "3"], "No such option: --variants"),
    ],
)
def test_what_is_missing_is_named(office: Town, arguments: list[str], message: str) -> None:
    done = office.run(*arguments)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""
    assert office.made() == set()


def test_a_short_secret_is_refused_wherever_it_comes_from(office: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    (office.folder / "office.secret").write_text("short")
    done = office.run(*BARE, *KEYS, *NOISE)
    assert done.code == 2
    assert "office.secret is too short for a secret: it must have 16 to 4096 bytes." in done.err
    monkeypatch.setenv("DISCREET_SECRET", "short")
    done = office.run(*BARE, *KEYS[:2], *NOISE)
    assert done.code == 2
    assert "The environment variable DISCREET_SECRET is too short for a secret" in done.err
    assert office.made() == set()


def test_the_help_fits_a_screen(office: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = office.run("protect", "--help")
    lines = done.out.splitlines()
    flags = [line for line in lines if line.startswith("  --")]
    # Two lines each on average, and a head and an empty line per panel.
    assert len(lines) - lines.index("Input:") <= 2 * len(flags) + 2 * 4
    assert max(len(line) for line in lines if not line.startswith("  Example: ")) <= 80
