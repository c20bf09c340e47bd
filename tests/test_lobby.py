"""The lobby: every name that users import, at home where it is said to be, for readers and for the type checker."""

from __future__ import annotations

import ast
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import COMMANDS


def test_the_type_checker_sees_the_names_that_are_there() -> None:
    tree = ast.parse(Path(inspect.getfile(discreet)).read_text(encoding="utf-8"))
    seen = {
        alias.asname: f"{node.module}:{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("discreet.")
        for alias in node.names
    }
    homes = {name: f"discreet.{home}:{name}" for name, home in discreet.HOMES.items()}
    assert seen == homes
    assert list(homes) == sorted(homes)


@pytest.mark.parametrize("name", discreet.HOMES)
def test_every_name_is_there_and_stays_the_same(name: str) -> None:
    found = getattr(discreet, name)
    assert found is getattr(discreet, name)
    assert callable(found)
    assert name in dir(discreet)


def test_a_command_has_a_function_of_the_same_name() -> None:
    others = {"programme", "keys", "paper", "demo"}
    assert {"design", "protect", "assess", "attack", "utility", "compare", "report", "verify", "synth"} <= {*COMMANDS}
    assert {*COMMANDS} - others <= {*discreet.HOMES}


def test_no_room_has_the_name_of_a_function() -> None:
    """Importing a room would replace the function in the package."""
    rooms = {path.stem for path in Path(inspect.getfile(discreet)).parent.iterdir()}
    assert rooms & {*discreet.HOMES} == set()


@pytest.mark.parametrize("name", ["design_noise", "utility_of", "write_report"])
def test_earlier_names_are_gone(name: str) -> None:
    assert not hasattr(discreet, name)


def test_the_version_is_that_of_the_package() -> None:
    assert discreet.__version__ == version("discreet")


def test_a_name_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"discreet has no attribute 'protct'.*Budget, CellKey, .*protect"):
        _ = discreet.protct
