"""Results are frozen and print as JSON objects."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.results import Result


def test_a_result_is_frozen_and_becomes_json() -> None:
    result = Result(name="n", value=1.5, unit="1", sentence="One and a half.", assumptions=("a",))
    assert result.to_json() == {
        "name": "n",
        "value": 1.5,
        "unit": "1",
        "sentence": "One and a half.",
        "worst": None,
        "assumptions": ("a",),
        "equation": "",
    }
    unlimited = dataclasses.replace(result, value=float("inf"))
    assert unlimited.to_json()["value"] is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 2  # type: ignore[misc]
