"""The notebooks in docs/notebooks are short, executed, the same in every run, and contain nothing of the machine."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.test_docs import loaded, run

if TYPE_CHECKING:
    from types import ModuleType

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
NAMES = ["design-a-noise", "protect-and-attack", "use-a-release"]
MOST_SECONDS = 25
SMALL: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {},
            "execution_count": 9,
            "outputs": [],
            "source": ["print(1 + 1)"],
        },
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"x": 1},
            "execution_count": 1,
            "outputs": [],
            "source": ["'text'"],
        },
    ],
    "metadata": {"language_info": {"name": "python", "version": "3.0"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    return loaded("refresh")


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_short_and_executed(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert 8 <= len(cells) <= 12
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"execute_result", "stream"}
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert all(cell["outputs"] for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_contains_nothing_of_the_machine_and_no_times(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    content = json.loads(text)
    assert not re.search(r"/(?:tmp|home|work|root|var)/|Traceback|Warning", text)
    addresses = set(re.findall(r"https?://[^\\\"' ]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(content["metadata"]) == {"kernelspec", "language_info"}
    assert content["metadata"]["language_info"] == {"name": "python"}
    assert [cell["id"] for cell in content["cells"]] == [f"cell-{n}" for n in range(1, len(content["cells"]) + 1)]
    assert all(cell["metadata"] == {} for cell in content["cells"])


def children_seconds() -> float:
    """Return the processor time of all processes that were started and have ended: other work does not count."""
    found = os.times()
    return found.children_user + found.children_system


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_up_to_date_and_quick(path: Path) -> None:
    before = children_seconds()
    done = run("--check", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    # Start-up alone takes longer than a second: the kernel is included.
    assert 1 < children_seconds() - before < MOST_SECONDS


@pytest.mark.slow
def test_a_stale_output_is_found_and_mended(tmp_path: Path, refresh: ModuleType) -> None:
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    stale = refresh.complaints(path, check=True)
    assert [re.sub(r".*: (cell \d).*", r"\1", each) for each in stale] == ["cell 2", "cell 3"]
    assert json.loads(path.read_text(encoding="utf-8")) == SMALL
    assert refresh.complaints(path, check=False) == []
    mended = path.read_text(encoding="utf-8")
    first, second = json.loads(mended)["cells"][1:]
    assert [first["outputs"][0]["text"], second["outputs"][0]["data"]["text/plain"]] == [["2\n"], ["'text'"]]
    assert refresh.complaints(path, check=True) == []
    assert refresh.executed(mended) == mended


def test_a_cell_that_fails_is_an_error(tmp_path: Path, refresh: ModuleType) -> None:
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps(SMALL).replace("1 + 1", "1 / 0"), encoding="utf-8")
    assert refresh.complaints(path, check=False) == [f"{path}: a cell ended with ZeroDivisionError: division by zero"]
