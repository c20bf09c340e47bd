"""Signals wait for the end of a step, and then they are heard."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from discreet.engines.duckdb import signals_deferred

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def usual_interrupt() -> Iterator[None]:
    """Start from Python's own handler: the command, run within the tests, listens in its own way."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_comes_after_the_step() -> None:
    done = []

    def work() -> None:
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_handler_of_ones_own_is_called_once_and_stays(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda got, _frame: heard.append(got))
    try:
        handler = signal.getsignal(number)
        with signals_deferred():
            signal.raise_signal(number)
            assert heard == []
        assert heard == [number]
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, before)


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_deferred():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_error_of_the_step_is_told_and_handlers_are_back() -> None:
    with pytest.raises(ImportError, match="no such library"), signals_deferred():
        raise ImportError("no such library")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_leave_handlers_alone() -> None:
    seen = []

    def work() -> None:
        with signals_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
