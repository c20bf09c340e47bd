"""Where the command starts: a Ctrl-C while its libraries load ends it without a trace, and leaves nothing to clean."""

from __future__ import annotations

import signal

# `main` sets its own. A signal that is ignored, as by nohup, stays so.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from discreet.cli.main import main

__all__ = ["main"]
