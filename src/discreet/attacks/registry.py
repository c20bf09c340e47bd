"""Attacks by name: ours and a user's register alike, by decorator and by entry point.

An attack is a function of what an attacker sees that returns findings. An entry point of
the group `discreet.attacks` names a module; importing it runs its `@attack` decorators.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AttackerView

Attack: TypeAlias = "Callable[[AttackerView], Sequence[AttackEstimates]]"

_ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    """Make a function known as an attack of this name (a decorator)."""

    def register(function: Attack) -> Attack:
        taken = _ATTACKS.get(name)
        if taken is not None and taken.__module__ != function.__module__:
            what = f"There is an attack {name!r} already, in {taken.__module__}. Choose another name."
            raise ParameterError(what, parameter="name")
        _ATTACKS[name] = function
        return function

    return register


@cache
def _load() -> None:
    for entry in entry_points(group="discreet.attacks"):
        entry.load()


def attacks() -> dict[str, Attack]:
    """Return every registered attack by name."""
    _load()
    return dict(sorted(_ATTACKS.items()))


def attacks_named(names: Sequence[str] | None) -> dict[str, Attack]:
    """Return the attacks asked for, or all."""
    known = attacks()
    for name in names or ():
        if name not in known:
            raise UnknownNameError.among("attack", name, known)
    return {name: known[name] for name in names} if names else known
