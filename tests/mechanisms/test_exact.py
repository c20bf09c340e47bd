"""The exact mechanism: true counts as they are, marked as not for publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.exact import Exact
from discreet.protection.pipeline import protect
from tests.mechanisms.lots import batch
from tests.protection.town import TOWN, cells, participants, people

if TYPE_CHECKING:
    from discreet.engines.duckdb import DuckDB


def test_counts_stay_as_they_are() -> None:
    counts = np.array([1, 5, 10**9])
    assert Exact().publish(batch(counts, [1, 2, 3])).tolist() == counts.tolist()
    assert Exact().publish(batch([0, 0])).tolist() == [0, 0]


def test_every_table_is_a_count_by_hand_without_ids_or_keys(engine: DuckDB) -> None:
    data = people(300)
    release = protect(data.drop_columns("ID"), TOWN, Exact(), engine=engine)
    assert release.ids == tuple(table.id for table in TOWN.tables)
    records = data.to_pylist()
    for table in TOWN.tables[:3]:
        expected = {cell: len(numbers) for cell, numbers in participants(TOWN, table, records).items() if numbers}
        assert cells(release.table(table.id)) == expected


def test_a_release_of_true_counts_says_so_and_cannot_be_assessed(engine: DuckDB) -> None:
    release = protect(people(20), TOWN, Exact(), engine=engine)
    assert release.description["noise"]["method"] == "none: these are true counts, not for publication"
    assert (release.record.mechanism, release.record.law, release.record.parameters) == ("exact", "none", {})
    with pytest.raises(
        ParameterError, match="This release contains true counts without noise, so there is no noise to assess"
    ):
        _ = release.record.noise
