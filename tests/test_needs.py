"""A missing program skips a test, or fails it where skips are not allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import NO_SKIPS, program


def test_a_program_that_is_there_is_found() -> None:
    assert Path(program("no-such-program", "sh")).name == "sh"


def test_a_program_is_also_looked_for_elsewhere(tmp_path: Path) -> None:
    for version in ("9", "15"):
        place = tmp_path / version / "bin" / "no-such-program"
        place.parent.mkdir(parents=True)
        place.touch(mode=0o700)
    assert Path(program("no-such-program", also_in=f"{tmp_path}/*/bin")).parent.parent.parent == tmp_path
    assert Path(program("no-such-program", "sh", also_in=f"{tmp_path}/none")).name == "sh"


def test_a_missing_program_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NO_SKIPS, raising=False)
    with pytest.raises(pytest.skip.Exception, match="there is no program no-such-program"):
        program("no-such-program")


def test_a_missing_program_fails_where_skips_are_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NO_SKIPS, "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        program("no-such-program")
