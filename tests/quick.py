"""Cases that are many of a kind and take long together: some are tried in every run, all with the slow tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _pytest.mark.structures import ParameterSet


Case = TypeVar("Case")


def one_in(every: int, cases: Iterable[Case], ids: Callable[[Case], str] | None = None) -> list[ParameterSet]:
    """Return cases of one parameter of which the first, and then one in so many, is tried in every run."""
    return [
        pytest.param(case, id=ids(case) if ids else None, marks=[pytest.mark.slow] if place % every else [])
        for place, case in enumerate(cases)
    ]
