"""`discreet protect` in an office: runs repeated from their record, resumed, within limits of memory and threads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from discreet.engines.duckdb import DuckDB
from discreet.release import release_writer as shelves
from discreet.release.run_journal import alone
from tests.cli import town
from tests.protection.office import files

if TYPE_CHECKING:
    from tests.cli.town import Command

NOISE = ("--variance", "3", "--bound", "5")
SECRET = ("--secret-file", "office.secret")
BARE = ("protect", "town.csv", "--programme", "town.toml", "--id", "PERSON_ID", *SECRET)
AGAIN = ("protect", "--again", "out.curator", "--out", "second")


@pytest.fixture
def office(tmp_path: Path) -> Path:
    town.make(tmp_path)
    return tmp_path


@pytest.fixture
def discreet(office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return town.command(office, monkeypatch, capsys)


@pytest.fixture
def made(discreet: Command, published: Path, office: Path) -> Command:
    """Return the command, with a release in the folder."""
    town.copy(published, office)
    return discreet


def hidden(office: Path) -> list[str]:
    return [path.name for path in office.iterdir() if path.name.startswith(".")]


# --- Again ---


def test_a_run_is_repeated_from_its_record(made: Command, office: Path) -> None:
    (office / "town.toml").unlink()
    done = made(*AGAIN, *SECRET)
    assert (done.code, done.err) == (0, "")
    assert "second/ is complete" in done.text
    assert "Warning" not in done.text
    assert files(office / "second") == files(office / "out")
    records = [json.loads((office / name / "record.json").read_text()) for name in ("second.curator", "out.curator")]
    # The programme's file is not read again: the record holds all of it, and what it is called.
    assert [record.pop("programme") for record in records] == ["Town", "town.toml"]
    assert records[0] == records[1]


def test_data_that_have_moved_are_named(made: Command, office: Path) -> None:
    (office / "town.csv").rename(office / "archive.csv")
    done = made(*AGAIN, *SECRET)
    assert done.code == 2
    assert done.err.startswith("error: town.csv cannot be read: No such file or directory.")
    assert made("protect", "archive.csv", *AGAIN[1:], *SECRET).code == 0
    assert files(office / "second") == files(office / "out")


def test_json_tells_what_was_repeated(made: Command) -> None:
    found = json.loads(made(*AGAIN, *SECRET, "--json").out)
    assert found["settings"] == {"again": "out.curator"}
    assert (found["release"], found["written"]["tables"], found["written"]["resumed"]) == ("second", 3, 0)
    found = json.loads(made("protect", "town.csv", *AGAIN[1:], *SECRET, "--json", "--replace").out)
    assert found["settings"] == {"again": "out.curator", "data": ["town.csv"]}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--programme", "town.toml"), "takes all settings from its record; --programme cannot be given too."),
        (("--variance", "3"), "takes all settings from its record; --variance cannot be given too."),
        (("--version-label", "2"), "takes all settings from its record; --version-label cannot be given too."),
        (("--keep-exact",), "takes all settings from its record; --keep-exact cannot be given too."),
        (("--dry-run",), "A repeated run has no dry run. Leave out --again or --dry-run."),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_flags_that_the_record_holds_are_refused(
    made: Command, office: Path, more: tuple[str, ...], message: str
) -> None:
    done = made(*AGAIN, *SECRET, *more)
    assert done.code == 2
    assert message in done.err
    assert not (office / "second").exists()


def test_what_is_missing_for_a_repetition_is_said(made: Command, office: Path) -> None:
    for given, message in (
        (AGAIN[:3], "--out is missing: the folder of the release."),
        (AGAIN, "The secret of this release is missing. Specify it with --secret-file, or set DISCREET_SECRET"),
        (("protect", "--again", "absent", "--out", "second"), "absent cannot be read: No such file or directory."),
        (("protect", "--again", "out.curator", "--out", "out", *SECRET), "out exists already and was not changed"),
    ):
        done = made(*given)
        assert done.code == 2
        assert message in done.err
    (office / "office.secret").write_text("another secret, long enough")
    assert "This is not the secret of the release." in made(*AGAIN, *SECRET).err
    assert not (office / "second").exists()


def test_a_repetition_into_its_own_place_replaces_it(made: Command, office: Path) -> None:
    before = files(office / "out")
    (office / "out" / "tables" / "2.parquet").unlink()
    assert made("protect", "--again", "out.curator", "--out", "out", "--replace", *SECRET).code == 0
    assert files(office / "out") == before


# --- Warnings about earlier releases ---


def test_other_noise_for_the_same_data_is_warned_about(made: Command) -> None:
    done = made(*BARE, *NOISE, "--version-label", "2", "--out", "second")
    assert "Warning: out was made from the same data with another version label." in done.text
    assert "variance 1.50 instead of 3.00" in done.text
    found = json.loads(made(*BARE, *NOISE, "--version-label", "3", "--out", "third", "--json").out)
    assert [text.split()[0] for text in found["warnings"]] == ["second", "out"]


def test_the_same_keys_for_other_data_are_warned_about(made: Command, office: Path) -> None:
    (office / "town.csv").write_text(town.as_csv(town.people()[1:]))
    done = made(*BARE, *NOISE, "--out", "second")
    old, new = (
        {(name, cell): value for name, table in town.published(office / out).items() for cell, value in table.items()}
        for out in ("out", "second")
    )
    either = old.keys() | new.keys()
    differ = sum(old.get(cell, 0) != new.get(cell, 0) for cell in either)
    assert differ
    assert f"Of {len(either)} published cells, {differ} ({differ / len(either):.2%}) differ" in done.text


# --- Resume ---


def cut_short(discreet: Command, *more: str) -> None:
    """Run until all tables are there, and end before they are described."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "describe", _fail)
        assert discreet(*BARE, *NOISE, "--out", "out", "--resume", *more).code == 130


def _fail(*_given: object) -> None:
    raise KeyboardInterrupt


def test_a_run_goes_on_from_the_tables_that_are_there(discreet: Command, office: Path) -> None:
    cut_short(discreet)
    assert len(hidden(office)) == 1
    done = discreet(*BARE, *NOISE, "--out", "out", "--resume")
    assert done.code == 0
    assert "; 3 tables of an earlier run reused, " in done.text.partition("noise ")[0]
    assert hidden(office) == []
    assert discreet(*BARE, *NOISE, "--out", "whole").code == 0
    assert files(office / "out") == files(office / "whole")


def test_json_tells_how_many_tables_were_there(discreet: Command, office: Path) -> None:
    cut_short(discreet)
    found = json.loads(discreet(*BARE, *NOISE, "--out", "out", "--resume", "--json").out)
    assert (found["written"]["tables"], found["written"]["resumed"]) == (3, 3)
    assert hidden(office) == []


def test_looking_at_the_old_release_keeps_what_can_be_resumed(made: Command, office: Path) -> None:
    cut_short(made, "--replace", "--keep-exact")
    for look in (("verify", "out"), ("assess", "out", "--measures", "redundancy")):
        assert made(*look).code == 0
        assert len(hidden(office)) == 1
    done = made(*BARE, *NOISE, "--out", "out", "--resume", "--replace", "--keep-exact", "--json")
    assert json.loads(done.out)["written"]["resumed"] == 3


def test_a_repetition_can_be_resumed(made: Command, office: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "describe", _fail)
        assert made(*AGAIN, *SECRET, "--resume").code == 130
    assert json.loads(made(*AGAIN, *SECRET, "--resume", "--json").out)["written"]["resumed"] == 3
    assert files(office / "second") == files(office / "out")


def test_a_run_without_resume_starts_anew(discreet: Command, office: Path) -> None:
    cut_short(discreet)
    found = json.loads(discreet(*BARE, *NOISE, "--out", "out", "--json").out)
    assert found["written"]["resumed"] == 0
    assert hidden(office) == []


def test_shared_noise_that_is_written_nowhere_cannot_be_resumed(discreet: Command, office: Path) -> None:
    flags = ("protect", "town.csv", "--programme", "town.toml", "--mechanism", "eps-dp", "--epsilon", "9")
    done = discreet(*flags, "--out", "out", "--resume")
    assert done.code == 2
    assert "Remove --resume, or draw independent noise for every table (--no-spsn)." in done.err
    assert not (office / "out").exists()


# --- Other runs and other files in the same place ---


def test_a_run_that_was_replaced_as_soon_as_it_had_published_succeeds(
    made: Command, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = shelves.FolderWriter.finish

    def overtaken(shelf: shelves.FolderWriter, *given: Any) -> Any:  # noqa: ANN401 - as the function it stands for
        found = finish(shelf, *given)
        for name in ("out", "out.curator"):
            (office / name).rename(office / f"old-{name}")
            (office / f"other{name.removeprefix('out')}").rename(office / name)
        return found

    assert made(*BARE, "--variance", "1", "--bound", "3", "--tables", "2", "--out", "other").code == 0
    monkeypatch.setattr(shelves.FolderWriter, "finish", overtaken)
    done = made(*BARE, *NOISE, "--out", "out", "--replace", "--json")
    assert (done.code, done.err) == (0, "")
    content = json.loads(done.out)
    assert content["written"]["tables"] == 3
    assert {each["name"]: each["value"] for each in content["results"]}["largest_noise"] == 5


def test_a_lock_that_another_process_has_is_waited_for_as_long_as_asked(made: Command, office: Path) -> None:
    before = files(office / "out")
    with alone(office):
        done = made(*BARE, *NOISE, "--out", "out", "--replace", "--lock-timeout", "0.1", "--json")
    assert done.code == 2
    assert done.err.startswith(f"error: {office} is locked by ")
    error = json.loads(done.out)["error"]
    assert error["type"] == "LockedError"
    assert (str(os.getpid()) in error["holder"]) == Path("/proc/locks").exists()
    assert files(office / "out") == before
    assert hidden(office) == []
    assert made(*BARE, *NOISE, "--out", "out", "--replace", "--lock-timeout", "0").code == 0
    assert made(*BARE, *NOISE, "--out", "out", "--replace", "--lock-timeout", "-1").code == 2


@pytest.mark.parametrize("name", ["out/.htaccess", "out/tables/README.txt", "out.curator/notes.txt"])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_files_in_a_release_that_are_not_its_own_are_kept(
    made: Command, office: Path, name: str, more: tuple[str, ...]
) -> None:
    (office / name).write_text("mine")
    done = made(*BARE, *NOISE, "--out", "out", "--replace", *more)
    assert done.code == 2
    assert f"does not list ({name.partition('/')[2]})" in done.err
    assert (office / name).read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        (*BARE, *NOISE, "--keep-exact", "--out", "out/inner"),
        (*BARE, *NOISE, "--out", "out/tables/inner", "--dry-run"),
        (*BARE, *NOISE, "--out", "other", "--log", "out/log.jsonl"),
        ("keys", "new", "out/office.secret"),
        ("keys", "add", "town.csv", "--id", "PERSON_ID", *SECRET, "--out", "out/keyed.csv"),
        ("report", "out", "--out", "out/report.html"),
        ("report", "out", "--out", "report.html", "--figures", "out/figures"),
        ("report", "out", "--out", "report.html", "--figures", "out", "--replace"),
        ("ptable", "--variance", "3", "--bound", "5", "--out", "out/table.toml"),
    ],
)
def test_nothing_is_written_into_a_published_folder(made: Command, office: Path, arguments: tuple[str, ...]) -> None:
    before = sorted(office.rglob("*"))
    done = made(*arguments)
    assert done.code == 2
    assert "it would become part of the release out, which is published as a whole. Choose a place" in done.err
    assert sorted(office.rglob("*")) == before


# --- Memory and threads ---


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return the limits of every engine that is made, as the engine itself tells them."""
    found: list[tuple[str, int]] = []
    begin = DuckDB.__enter__

    def enter(engine: DuckDB) -> DuckDB:
        (row,) = engine.table(
            "SELECT current_setting('memory_limit') AS m, CAST(current_setting('threads') AS BIGINT) AS t"
        ).to_pylist()
        found.append((row["m"], row["t"]))
        return begin(engine)

    monkeypatch.setattr(DuckDB, "__enter__", enter)
    return found


@pytest.mark.parametrize("again", [False, True])
def test_memory_and_threads_reach_the_engine_and_change_no_byte(
    made: Command, office: Path, engines: list[tuple[str, int]], again: bool
) -> None:
    limits = ("--memory", "64MiB", "--threads", "1")
    run: tuple[Any, ...] = (*AGAIN, *SECRET) if again else (*BARE, *NOISE, "--out", "second")
    engines.clear()
    done = made(*run, *limits)
    assert done.code == 0, done.err
    assert engines == [("64.0 MiB", 1)]
    assert files(office / "second") == files(office / "out")


def test_limits_may_stand_in_a_settings_file(discreet: Command, office: Path, engines: list[tuple[str, int]]) -> None:
    (office / "flags.toml").write_text('memory = "64MiB"\nthreads = 1\n')
    assert discreet(*BARE, *NOISE, "--settings", "flags.toml", "--threads", "2", "--out", "out").code == 0
    assert engines == [("64.0 MiB", 2)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--memory", "lots"), "memory must be a size such as 500MB or 2GB, not 'lots'"),
        (("--memory", "-1GB"), "memory must be a size such as 500MB or 2GB, not '-1GB'"),
        (("--threads", "0"), "threads must be a whole number from 1 to 1,024, not 0"),
        (("--threads", "-2"), "threads must be a whole number from 1 to 1,024, not -2"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_limits_that_cannot_be_are_refused(
    discreet: Command, office: Path, more: tuple[str, ...], message: str
) -> None:
    done = discreet(*BARE, *NOISE, "--out", "out", *more)
    assert done.code == 2
    assert message in done.err
    assert not (office / "out").exists()
