"""Many small cases in one test: all are tried, and all that fail are told by name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

import pytest
from _pytest.mark.structures import ParameterSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Cases = Iterable[Any] | Callable[[], Iterable[Any]]
    Test = Callable[..., None]


def each(
    names: str | tuple[str, ...],
    cases: Cases,
    ids: Callable[[Any], object] | Iterable[object] | None = None,
    every: int = 1,
) -> Callable[[Test], Test]:
    """Try a test with all cases, as `pytest.mark.parametrize` does, but as one test.

    Cases may be a function, which is called when the test runs. `tmp_path`, `monkeypatch` and `capsys` are new for
    every case; other fixtures are the same for all. Cases that are marked as slow are tried in a slow test, and so are
    all but the first and then one in `every`.
    """
    named = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names

    def all_cases() -> list[tuple[str, dict[str, Any], bool]]:
        listed = list(cases() if callable(cases) else cases)
        names_of = [None] * len(listed) if ids is None else list(map(ids, listed) if callable(ids) else ids)
        found = [_case(named, *both) for both in zip(listed, names_of, strict=True)]
        return [(told, values, late or place % every > 0) for place, (told, values, late) in enumerate(found)]

    def decorate(check: Test) -> Test:
        def try_those(slow: bool, fixtures: dict[str, object]) -> None:
            _try_all(check, [(told, values) for told, values, late in all_cases() if late == slow], fixtures)

        def try_quick(**fixtures: object) -> None:
            try_those(False, fixtures)

        def try_some(quick_or_slow: str, **fixtures: object) -> None:
            try_those(quick_or_slow == "slow", fixtures)

        lates = {False, every > 1} if callable(cases) else {late for _, _, late in all_cases()}
        test = try_some if True in lates else try_quick
        wanted = inspect.signature(check).parameters
        assert set(named) <= set(wanted), (named, wanted)
        left = [value for name, value in wanted.items() if name not in named]
        if test is try_some:
            left.insert(0, inspect.Parameter("quick_or_slow", inspect.Parameter.POSITIONAL_OR_KEYWORD))
        vars(test)["__signature__"] = inspect.Signature(left)
        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        vars(test)["pytestmark"] = list(getattr(check, "pytestmark", []))
        if lates == {True}:
            return pytest.mark.slow(pytest.mark.parametrize("quick_or_slow", ["slow"])(test))
        if True in lates:
            both = ["quick", pytest.param("slow", marks=pytest.mark.slow)]
            return pytest.mark.parametrize("quick_or_slow", both)(test)
        return test

    return decorate


def _case(names: tuple[str, ...], case: object, told: object) -> tuple[str, dict[str, Any], bool]:
    """Return how a case is told, its values by name, and whether it is slow."""
    late = False
    if isinstance(case, ParameterSet):
        late = [mark.name for mark in case.marks] == ["slow"]
        assert late or not case.marks, case.marks
        values, told = case.values, case.id if told is None else told
    else:
        values = (case,) if len(names) == 1 else tuple(cast("Iterable[object]", case))
    found = dict(zip(names, values, strict=True))
    return str(told) if told is not None else ", ".join(f"{name}={found[name]!r}" for name in names), found, late


def _try_all(check: Test, cases: list[tuple[str, dict[str, Any]]], fixtures: dict[str, Any]) -> None:
    failed: list[BaseException] = []
    skipped: BaseException | None = None
    assert cases, "there are no cases"
    for (told, values), own in zip(cases, _fixtures(fixtures, len(cases)), strict=True):
        try:
            check(**values, **own)
        except pytest.skip.Exception as skip:
            skipped = skip
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever it is, it is told
            error.add_note(f"Case: {told}")
            failed.append(error)
    if failed:
        message = f"{len(failed)} of {len(cases)} cases fail"
        raise BaseExceptionGroup(message, failed)
    if skipped is not None:
        raise skipped


def _fixtures(fixtures: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """Give the fixtures of a test so often, those new that a case could leave something in."""
    for place in range(size):
        own = dict(fixtures)
        if "tmp_path" in own:
            folder: Path = own["tmp_path"] / str(place)
            folder.mkdir()
            own["tmp_path"] = folder
        if "capsys" in own:
            own["capsys"].readouterr()
        if "monkeypatch" in own:
            with pytest.MonkeyPatch.context() as own["monkeypatch"]:
                yield own
        else:
            yield own
