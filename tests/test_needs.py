"""A missing program skips a test, or fails it where skips are not allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import NO_SKIPS, program


def test_a_program_that_is_there_is_found() -> None:
    assert Path(program("no-such-program", "sh")).name == "sh"


def test_a_missing_program_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NO_SKIPS, raising=False)
    with pytest.raises(pytest.skip.Exception, match="there is no program no-such-program"):
        program("no-such-program")


def test_a_missing_program_fails_where_skips_are_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NO_SKIPS, "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        program("no-such-program")
