"""`discreet verify`: what is in order is said in one line, and whatever is not is named with its file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli import town

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.town import Command

WITH_DATA = ("verify", "out", "--data", "town.csv", "--secret-file", "office.secret")


@pytest.fixture
def office(tmp_path: Path) -> Path:
    town.make(tmp_path)
    return tmp_path


@pytest.fixture
def discreet(
    office: Path, published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return the command, in a folder with a release."""
    town.copy(published, office)
    return town.command(office, monkeypatch, capsys)


def test_a_release_in_order_is_said_to_be(discreet: Command) -> None:
    done = discreet("verify", "out")
    assert (done.code, done.err) == (0, "")
    assert done.text == "out: Every file matches release.json (3 files), and release.json matches its record."


def test_with_the_data_the_release_is_made_again(discreet: Command, office: Path) -> None:
    before = sorted(path.name for path in office.iterdir())
    done = discreet(*WITH_DATA)
    assert (done.code, done.err) == (0, "")
    assert done.text == (
        "out: Every file matches release.json (3 files), and release.json matches its record, and repeating "
        "the release from the data gives the same bytes."
    )
    assert sorted(path.name for path in office.iterdir()) == before


def test_the_secret_may_come_from_the_environment(discreet: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done = discreet("verify", "out", "--data", "town.csv")
    assert done.code == 2
    assert done.err.startswith("error: The secret of this release is missing.")
    monkeypatch.setenv("DISCREET_SECRET", town.SECRET)
    assert discreet("verify", "out", "--data", "town.csv").code == 0


def test_several_files_are_several_data(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = town.people()
    (office / "a.csv").write_text(town.as_csv(people[:100]))
    (office / "b.csv").write_text(town.as_csv(people[100:]))
    command = town.command(office, monkeypatch, capsys)
    assert command("protect", "a.csv", "b.csv", *town.PROTECT[2:]).code == 0
    assert command("verify", "out", "--data", "a.csv", "--data", "b.csv", *WITH_DATA[4:]).code == 0
    done = command("verify", "out", "--data", "a.csv", *WITH_DATA[4:])
    assert done.code == 2
    assert "The fingerprint of the data differs" in done.err


def test_a_secret_that_its_group_can_read_is_warned_about(discreet: Command, office: Path) -> None:
    (office / "office.secret").chmod(0o640)
    done = discreet(*WITH_DATA)
    assert done.code == 0
    warning = "office.secret contains the secret, but its group has access to it. Run: chmod 600 office.secret"
    assert done.text.endswith(f" Warning: {warning}")
    assert json.loads(discreet(*WITH_DATA, "--json").out)["warnings"] == [warning]


@pytest.mark.parametrize("with_data", [False, True])
def test_json_tells_the_same(discreet: Command, with_data: bool) -> None:
    found = json.loads(discreet(*(WITH_DATA if with_data else WITH_DATA[:2]), "--json").out)
    assert (found["command"], found["release"], found["repeated"]) == ("verify", "out", True if with_data else None)
    assert found["described"] is True
    assert found["settings"] == {
        "release": "out",
        "data": ["town.csv"] if with_data else None,
        "secret_file": "office.secret" if with_data else None,
    }
    (result,) = found["results"]
    assert (result["name"], result["value"], result["unit"]) == ("files", 3, "files")
    assert result["sentence"].startswith("Every file matches release.json")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda out: (out / "tables" / "2.parquet").unlink(), "it has no file tables/2.parquet."),
        (lambda out: (out / "tables" / "2.parquet").write_bytes(b""), "a file tables/2.parquet that is damaged or was"),
        (lambda out: (out / "true.csv").write_text("1"), "a file true.csv that is not part of it."),
        (lambda out: (out / ".true.csv").write_text("1"), "a file .true.csv that is not part of it."),
        (
            lambda out: (out / "release.json").write_text((out / "release.json").read_text().replace("about 10", "9")),
            "a release.json in which noise.bound was changed.",
        ),
    ],
    ids=["missing", "changed", "extra", "hidden", "forged"],
)
def test_what_is_not_in_order_ends_with_2_and_names_the_file(
    discreet: Command, office: Path, spoil: object, message: str
) -> None:
    spoil(office / "out")  # type: ignore[operator]  # one of the functions above
    done = discreet("verify", "out")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: out differs from the published release: it has ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert discreet(*WITH_DATA).err == done.err


def test_other_data_and_another_secret_end_with_2(discreet: Command, office: Path) -> None:
    (office / "town.csv").write_text(town.as_csv(town.people()[1:]))
    done = discreet(*WITH_DATA)
    assert done.code == 2
    assert done.err.startswith("error: The fingerprint of the data differs from that of the release to be repeated.")
    (office / "office.secret").write_text("another secret, long enough")
    done = discreet(*WITH_DATA)
    assert done.code == 2
    assert done.err.startswith("error: This is not the secret of the release.")


def test_what_is_no_release_is_refused(discreet: Command) -> None:
    for place in ("nowhere", "out.curator", "town.csv"):
        done = discreet("verify", place)
        assert done.code == 2
        assert done.err.startswith(f"error: {place} ")
