"""Commands that are loaded when they are asked for: every module has its command, and names are known before."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet.cli
from discreet.cli.main import COMMANDS, OnDemand


def test_every_command_has_its_name_and_its_help() -> None:
    commands = OnDemand()
    assert len(commands) == len(COMMANDS)
    for name, command in commands.items():
        assert command.name == name
        assert command.get_short_help_str()


def test_no_module_with_a_command_is_left_out() -> None:
    (room,) = discreet.cli.__path__
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path(room).glob("*.py")}
    found = {
        name
        for name, text in texts.items()
        if "\napp = typer.Typer(" in text or (f"\ndef {name}(" in text and "Annotated[" in text)
    }
    assert found - {"main"} == set(COMMANDS)


def test_other_names_are_none() -> None:
    assert OnDemand().get("protct") is None
    with pytest.raises(KeyError, match="protct"):
        OnDemand()["protct"]
