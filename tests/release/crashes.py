"""A system that fails at a chosen step: every change of the file system is counted, one of them goes wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.release import exchange

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

CHANGES = ("rename", "unlink", "rmdir", "mkdir")


class KilledError(BaseException):
    """Stands for SIGKILL: nothing that is called after it does anything."""


@dataclass
class Failing:
    """Lets one step fail, or all from there on.

    Attributes:
        error: what the step raises.
        at: its number; None to let all pass.
        lasting: whether everything after it fails too.
        steps: how many there were.
    """

    error: BaseException = field(default_factory=KilledError)
    at: int | None = None
    lasting: bool = True
    steps: int = 0

    def step(self) -> None:
        """Count a step, and fail if it is the one."""
        number, self.steps = self.steps, self.steps + 1
        if self.at is not None and (number == self.at or (self.lasting and number > self.at)):
            raise self.error

    def install(self, patch: pytest.MonkeyPatch, *, one_step: bool) -> None:
        """Put the steps into the functions that change the file system; a text is written by half before it fails."""
        for name in CHANGES:
            patch.setattr(os, name, self._counted(getattr(os, name)))
        write = Path.write_text

        def half(path: Path, text: str, **how: Any) -> int:  # noqa: ANN401 - as the function it stands for
            write(path, text[: len(text) // 2], **how)
            self.step()
            return write(path, text, **how)

        patch.setattr(Path, "write_text", half)
        really = self._counted(exchange._in_one_step)  # noqa: SLF001 - it is what fails
        patch.setattr(exchange, "_in_one_step", really if one_step else lambda _new, _old: False)

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as the function it stands for
            self.step()
            return function(*arguments, **more)

        return counted
