"""A flexible query interface as an attacker sees it: she names categories, it answers with a noisy count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Interface:
    """What can be asked.

    Attributes:
        query: returns the noisy number of persons in the categories that are named.
        categories: the codes that may be named; together they are everybody the attack is about.
        refusal: what it raises when it answers no more, because a limit of queries is reached.
    """

    query: Callable[[Sequence[str]], int]
    categories: tuple[str, ...]
    refusal: type[Exception] = PermissionError
