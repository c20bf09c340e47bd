"""Things by name: loaded once, by several threads too, and beside a package that is broken."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint

import pytest

from discreet.errors import ParameterError
from discreet.registry import Registry

GROUP = "discreet.tests"


def with_entries(**modules: str) -> Registry[object]:
    """Return a registry whose entry points are these modules, by name."""
    made: Registry[object] = Registry(GROUP, "thing")
    vars(made)["_entries"] = tuple(EntryPoint(name, module, GROUP) for name, module in modules.items())
    return made


def test_threads_that_ask_at_once_all_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = with_entries(slow="slow_module")

    def load(_entry: EntryPoint) -> None:
        time.sleep(0.05)
        made.register("slow")(len)

    monkeypatch.setattr(EntryPoint, "load", load)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(made.get, ["slow"] * 8)) == [len] * 8


def test_a_package_that_cannot_be_loaded_is_named_and_stands_in_nobodys_way() -> None:
    made = with_entries(broken="a_module_that_is_not_there", ours="json")
    made.known["ours"] = len
    assert made.get("ours") is len
    for _ in range(2):
        with pytest.raises(ParameterError, match=r"The thing broken of a_module_that_is_not_there cannot be loaded"):
            made.all()


def test_what_is_no_such_class_is_refused() -> None:
    made: Registry[type] = Registry(GROUP, "thing", base=OSError)
    assert made.register("file")(FileNotFoundError) is FileNotFoundError
    with pytest.raises(ParameterError, match="derived from OSError; 'other' is not"):
        made.register("other")(int)
