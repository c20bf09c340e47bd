"""Cases that are many of a kind and take long together: some are tried in every run, all with the slow tests."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _pytest.mark.structures import ParameterSet

    Test = Callable[..., None]


Case = TypeVar("Case")
ALL = 100
"""Examples that are tried beside the slow tests unless a test says otherwise."""


def one_in(every: int, cases: Iterable[Case], ids: Callable[[Case], str] | None = None) -> list[ParameterSet]:
    """Return cases of one parameter of which the first, and then one in so many, is tried in every run."""
    return [
        pytest.param(case, id=ids(case) if ids else None, marks=[pytest.mark.slow] if place % every else [])
        for place, case in enumerate(cases)
    ]


def rows_in(every: int, rows: Iterable[tuple[Any, ...]]) -> list[ParameterSet]:
    """Return cases of several parameters of which the first, and then one in so many, is tried in every run."""
    return [pytest.param(*row, marks=[pytest.mark.slow] if place % every else []) for place, row in enumerate(rows)]


def up_to(number: int) -> int:
    """Return a fifth of so many examples, at least eight; beside the slow tests all of them are tried."""
    return number if settings().max_examples >= ALL else max(8, number // 5)


def examples(drawn: Callable[[Test], Test], quick: int, slow: int, **more: Any) -> Callable[[Test], Test]:  # noqa: ANN401 - settings
    """Try a test with a few examples that are drawn in every run, and with more of them as a slow test."""

    def decorate(check: Test) -> Test:
        tests = {number: settings(max_examples=number, **more)(drawn(check)) for number in (quick, slow)}

        def test(number: int, **fixtures: object) -> None:
            tests[number](**fixtures)

        left = list(inspect.signature(tests[quick]).parameters.values())
        number = inspect.Parameter("number", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        vars(test)["__signature__"] = inspect.Signature([number, *left])
        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        vars(test)["pytestmark"] = list(getattr(check, "pytestmark", []))
        return pytest.mark.parametrize("number", [quick, pytest.param(slow, marks=pytest.mark.slow)])(test)

    return decorate
