"""Cases in a loop: all are tried, with fixtures of their own, and all that fail are told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.each import each
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_all_cases_are_tried_and_all_that_fail_are_told_by_name() -> None:
    tried: list[int] = []

    @each("number", [1, 2, 3, 4], ids=lambda number: f"number {number}")
    def check(number: int) -> None:
        tried.append(number)
        assert number % 2, "even"
        if number == 3:
            with pytest.raises(ValueError, match="never"):
                pass

    with pytest.raises(BaseExceptionGroup, match="3 of 4 cases fail") as caught:
        check()
    assert tried == [1, 2, 3, 4]
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert notes == [["Case: number 2"], ["Case: number 3"], ["Case: number 4"]]


def test_loops_in_loops_tell_both_cases() -> None:
    @each("one", [1, 2])
    @each(("other", "more"), [(2, "a"), (3, "b")])
    def check(one: int, other: int, more: str) -> None:
        assert more
        assert one != other

    with pytest.raises(BaseExceptionGroup) as caught:
        check()
    (error,) = caught.value.exceptions
    assert error.__notes__ == ["Case: one=2"]
    assert isinstance(error, BaseExceptionGroup)
    assert error.exceptions[0].__notes__ == ["Case: other=2, more='a'"]


@each("text", ["one", "two"])
def test_every_case_has_a_folder_settings_and_output_of_its_own(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
    assert "DISCREET_EACH" not in os.environ
    (tmp_path / text).touch()
    monkeypatch.setenv("DISCREET_EACH", text)
    print(text)  # noqa: T201 - the next case must not see it


@pytest.mark.parametrize(
    "loop",
    [
        each("number", one_in(2, [1, 2, 3])),
        each("number", [1, 2, 3], every=2),
        each("number", lambda: [1, 2, 3], every=2),
    ],
)
def test_slow_cases_are_a_slow_test(loop: Callable[[Callable[[int], None]], Callable[..., None]]) -> None:
    @loop
    def check(number: int) -> None:
        assert number == 2

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases fail"):
        check(quick_or_slow="quick")
    check(quick_or_slow="slow")
    (mark,) = check.pytestmark  # type: ignore[attr-defined]  # pytest sets it
    quick, slow = mark.args[1]
    assert (quick, slow.values, [mark.name for mark in slow.marks]) == ("quick", ("slow",), ["slow"])


def test_a_case_that_is_skipped_skips_no_other() -> None:
    @each("number", [1, 2])
    def check(number: int) -> None:
        if number == 1:
            pytest.skip("not this one")
        assert number == 1

    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases fail"):
        check()


def test_a_loop_over_nothing_fails() -> None:
    @each("number", list[int])
    def check(number: int) -> None:
        assert number

    with pytest.raises(AssertionError, match="there are no cases"):
        check()
