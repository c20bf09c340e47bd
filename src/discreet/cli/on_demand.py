"""The commands of `discreet`, each loaded when it is asked for: a command waits for nothing that it does not need."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from discreet.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = (
    "ptable",
    "programme",
    "keys",
    "assess",
    "design",
    "protect",
    "attack",
    "utility",
    "compare",
    "report",
    "paper",
    "verify",
    "demo",
    "synth",
)
"""In the order of the help; each is a module of this room."""


class OnDemand(Mapping[str, Any]):
    """Commands by name. A module with commands of its own has them in `app`, any other is a function of its name."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a command of click, which typer keeps to itself
        if name not in COMMANDS:
            raise KeyError(name)
        module = import_module(f"discreet.cli.{name}")
        if not hasattr(module, "app"):
            alone = typer.Typer(rich_markup_mode=None, add_completion=False)
            alone.command(name)(getattr(module, name))
            return get_command(alone)
        group = get_command(module.app)
        group.name = name
        return group

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandsOnDemand(TyperGroup):
    """The group of all commands: names are known at once, and help of all of them loads them all."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401 - handed on to typer
        super().__init__(**how)
        self.commands = OnDemand()  # type: ignore[assignment] # nothing is added to it

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - a context of click
        """Read the arguments up to the name of the command."""
        with _short_messages():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - a context of click
        """Run the command, which reads its own arguments."""
        with _short_messages():
            return super().invoke(ctx)


@contextmanager
def _short_messages() -> Iterator[None]:
    """Let no message of typer on an argument show more than the start of it."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            error.message = shortened(error.message)  # type: ignore[attr-defined] # as just seen
        raise
