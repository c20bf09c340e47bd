"""Signals that wait: some steps must not be cut short."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and the like wait for the end of a step, such as loading a library that would abort the process.

    Python calls handlers in the main thread alone, so in other threads nothing disturbs anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {}
    for number in [getattr(signal, name) for name in ENDING if hasattr(signal, name)]:
        # A signal that is ignored, or that ends the process as it should, is left as it is.
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda got, _frame: waiting.append(got))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting[:1]:
            signal.raise_signal(number)
