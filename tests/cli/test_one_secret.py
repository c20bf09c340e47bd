"""One secret and one set of warnings, whether a release is made by the command or by a program."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import discreet as dc
from discreet.noise import key_lookup
from discreet.protection.repetition import repeat, verify
from discreet.records import secret as secret_files
from tests.cli import town
from tests.protection.office import files

if TYPE_CHECKING:
    from tests.cli.town import Command

FLAGS = ("protect", "town.csv", "--programme", "town.toml", "--id", "PERSON_ID", "--secret-file", "office.secret",
         "--variance", "3", "--bound", "5", "--out")  # fmt: skip
VERIFY = ("verify", "old", "--data", "town.csv", "--secret-file", "office.secret")
AGAIN = ("protect", "--again", "old.curator", "--secret-file", "office.secret", "--out", "again")


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    town.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return town.command(office, monkeypatch, capsys)


def publish(out: str, secret: bytes | None, **more: Any) -> dc.Release:  # noqa: ANN401 - as in CellKey and protect
    label = more.pop("version", "1")
    mechanism = dc.CellKey(dc.ptable(variance=3, bound=5), secret=secret, version=label)
    return dc.protect("town.csv", "town.toml", mechanism, id="PERSON_ID", out=out, **more)


@pytest.fixture
def old(office: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Make a release by the old rule, by which all bytes of the file were the secret; return these bytes."""
    content = (office / "office.secret").read_bytes()
    assert content.endswith(b"\n")
    with monkeypatch.context() as patch:
        for module in (key_lookup, secret_files):
            patch.setattr(module, "bare_secret", bytes)
        publish("old", content)
    record = json.loads(Path("old.curator/record.json").read_text())
    material = hashlib.blake2b(content, digest_size=64).digest()
    check = hashlib.blake2b(digest_size=8, key=material, person=b"discreet.check").hexdigest()
    assert record["secret_check"] == check
    publish("new", content)
    assert files(Path("old")) != files(Path("new"))
    return content


# --- The secret ---


def test_the_bytes_of_the_file_give_the_noise_of_the_command(run: Command) -> None:
    assert run(*FLAGS, "by_command").code == 0
    publish("by_bytes", Path("office.secret").read_bytes())
    publish("by_reading", dc.read_secret("office.secret"))
    assert files(Path("by_bytes")) == files(Path("by_reading")) == files(Path("by_command"))


def test_the_secret_of_the_environment_is_that_of_the_file(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(*FLAGS, "by_command").code == 0
    monkeypatch.setenv("DISCREET_SECRET", f"{town.SECRET}\n")
    assert dc.read_secret() == dc.read_secret(Path("office.secret")) == town.SECRET.encode()
    monkeypatch.delenv("DISCREET_SECRET")
    assert dc.read_secret() is None


def test_a_release_of_the_old_rule_is_verified_and_repeated_by_the_command(old: bytes, run: Command) -> None:
    done = run(*VERIFY)
    assert (done.code, done.err) == (0, "")
    assert "repeating the release from the data gives the same bytes" in done.out
    assert run(*AGAIN).code == 0
    assert files(Path("again")) == files(Path("old"))
    Path("office.secret").write_bytes(old + b"another")
    assert run(*VERIFY).code == 2


@pytest.mark.parametrize("read", [Path.read_bytes, dc.read_secret], ids=["bytes", "read_secret"])
def test_a_release_of_the_old_rule_is_verified_and_repeated_by_a_program(old: bytes, read: Any) -> None:  # noqa: ANN401
    secret = read(Path("office.secret"))
    assert secret.strip() == old.strip()
    assert verify("old", data="town.csv", secret=secret).repeated
    repeat("old.curator", secret=secret, out="again")
    assert files(Path("again")) == files(Path("old"))


# --- Warnings ---


def test_a_program_is_warned_as_the_command_is(run: Command) -> None:
    assert run(*FLAGS, "first").code == 0
    done = run(*FLAGS, "second", "--version-label", "2", "--json")
    assert done.err == ""
    (expected,) = json.loads(done.out)["warnings"]
    assert expected.startswith("first was made from the same data with another version label.")
    for folder in (Path("second"), Path("second.curator")):
        folder.rename(folder.with_name(f"{folder.name}.away"))
    with pytest.warns(dc.ReleaseWarning) as caught:
        release = publish("third", dc.read_secret("office.secret"), version="2")
    assert release.summary
    assert [str(each.message) for each in caught] == list(release.summary.warnings) == [expected]
    assert caught[0].filename == __file__


def test_a_release_that_is_replaced_is_not_warned_about(run: Command) -> None:
    assert run(*FLAGS, "first").code == 0
    done = run(*FLAGS, "first", "--version-label", "2", "--replace", "--json")
    assert (done.code, json.loads(done.out)["warnings"]) == (0, [])
    release = publish("first", dc.read_secret("office.secret"), version="3", replace=True)
    assert release.summary
    assert not release.summary.warnings
