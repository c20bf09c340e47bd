"""The cases: every command with its arguments, as `cases.toml` lists them."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

LIST = Path(__file__).with_name("cases.toml")

Words = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One command on small inputs.

    Attributes:
        name: what its files in `output` are called.
        run: the arguments of the command.
        before: commands that are run first, whose output does not count.
        text: whether it is run as it stands.
        json: whether it is run with --json, too.
    """

    name: str
    run: Words
    before: tuple[Words, ...]
    text: bool
    json: bool


def all_cases() -> list[Case]:
    """Return the cases of the list; a name that is there twice is refused."""
    content = tomllib.loads(LIST.read_text(encoding="utf-8"))
    found = [_case(entry, content["short"]) for entry in content["case"]]
    names = [case.name for case in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"There are two cases of the name {', '.join(sorted(twice))} in {LIST.name}.")
    return found


def chosen(names: list[str]) -> list[Case]:
    """Return the cases of these names, all if none is given; an unknown name is refused."""
    found = {case.name: case for case in all_cases()}
    if unknown := [name for name in names if name not in found]:
        raise SystemExit(f"There is no case {', '.join(unknown)}. There are: {', '.join(found)}.")
    return [found[name] for name in names or found]


def _case(entry: dict[str, Any], short: dict[str, str]) -> Case:
    return Case(
        name=entry["name"],
        run=_words(entry["run"], short),
        before=tuple(_words(command, short) for command in entry.get("before", [])),
        text=entry.get("text", True),
        json=entry.get("json", True),
    )


def _words(command: str, short: dict[str, str]) -> Words:
    """Return the arguments of a command; what begins with a dollar sign is short for others, which may be so, too."""
    while "$" in command:
        command = Template(command).substitute(short)
    return tuple(shlex.split(command))
