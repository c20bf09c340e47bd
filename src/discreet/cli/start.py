"""Entry point of the command. Ctrl-C while its libraries load ends it without a message: nothing was written."""

from __future__ import annotations

import signal

# `main` sets its own handler. An ignored signal, as under nohup, stays ignored.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from discreet.cli.main import main

__all__ = ["main"]
