"""A budget of time: what is left, what a part of it is, and what is said of work that was cut off."""

from __future__ import annotations

import pytest

from discreet.attacks import clock as module
from discreet.attacks.clock import Clock


class Time:
    """A clock on the wall that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(module, "time", found)
    return found


def started(time: Time, seconds: float | None) -> Clock:
    return Clock(seconds, time.monotonic())


def test_time_runs_from_the_moment_a_clock_is_made(time: Time) -> None:
    clock = started(time, 10)
    assert (clock.left, clock.over) == (10, False)
    time.now += 4
    assert (clock.left, clock.over) == (6, False)
    time.now += 6
    assert (clock.left, clock.over) == (0, True)
    assert clock.words == "cut off by the time budget of 10 s"


def test_without_a_limit_it_is_never_over(time: Time) -> None:
    clock = started(time, None)
    time.now += 1e9
    assert clock.left == float("inf")
    assert not clock.over
    assert not clock.part(0.5).over
    assert clock.part(0.5).seconds is None
    assert clock.words == ""


def test_a_part_is_a_share_of_what_is_left(time: Time) -> None:
    clock = started(time, 10)
    time.now += 4
    assert clock.part(0.5).seconds == pytest.approx(3)
    assert clock.part(1).seconds == pytest.approx(6)
    time.now += 60
    assert clock.part(0.5).seconds == 0
    assert clock.left == -60 + 6


def test_a_new_clock_is_the_real_one() -> None:
    assert 0 < Clock(60).left <= 60
    assert Clock(60).part(1 / 3).part(1 / 2).seconds == pytest.approx(10, rel=1e-2)
    assert Clock(0).over
    assert Clock(-1).over
    assert Clock(1.5).words == "cut off by the time budget of 1.5 s"
