"""The page on faults shows the figures that were measured, and what it says of them holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.faults import FIGURES, PAGE, page
from tests.hostile.calls import CALLS
from tests.hostile.corpus import NAMES
from tests.hostile.readers import READERS
from tests.hostile.test_mutations import TIMES as MUTATIONS


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return figures


def test_the_page_is_what_the_command_writes_for_its_figures(found: dict[str, Any]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(found)


def test_other_figures_would_give_another_page(found: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(found))
    changed["killed"]["--resume"]["before"] += 1
    assert page(changed) != page(found)


def test_the_figures_are_of_as_many_faults_as_were_promised(found: dict[str, Any]) -> None:
    for way in ("--replace", "--resume"):
        killed = found["killed"][way]
        assert killed["kills"] == 50
        assert killed["before"] + killed["after"] + killed["complete"] == killed["kills"]
        assert killed["hit"] >= 25
    assert sum(point["share"] < 1 for point in found["full"]) == 20
    assert {point["there"] for point in found["full"] if point["code"] == 2} == {"nothing", "old"}
    assert found["power"] == 3 * [{"code": 0, "there": "new", "empty": 0}]
    assert {point["code"] for point in found["shrunk"]} == {2}
    assert len({point["message"].partition(" ")[2] for point in found["shrunk"]}) == 1
    free, limited = found["spilled"]
    assert free["spilled"] == 0 < limited["spilled"]


def test_hostile_inputs_went_through_every_reader(found: dict[str, Any]) -> None:
    assert list(found["hostile"]) == list(READERS)
    for reader, done in found["hostile"].items():
        assert done["read"] + done["refused"] == len(NAMES)
        if reader in CALLS:
            assert done["mutations_read"] + done["mutations_refused"] == MUTATIONS
