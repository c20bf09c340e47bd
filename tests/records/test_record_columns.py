"""The columns that are no topics: what fits together and what does not."""

from __future__ import annotations

import re

import pytest

from discreet.errors import ParameterError
from discreet.records.record_columns import RecordColumns


def test_columns_are_read_in_one_order() -> None:
    assert RecordColumns(key="K", count="N", weight="W").columns == ["K", "N", "W"]
    assert RecordColumns().columns == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": "A", "key": "B"}, "Specify either --id or --key, not both."),
        ({"id": "A", "count": "N"}, "a row with a count represents several persons and has no single id."),
        ({"key": "A", "weight": "A"}, "Column A is specified for two roles. Correct one of them."),
    ],
)
def test_what_contradicts_itself_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        RecordColumns(**given)
