"""From records to tables: every cell equals a count by hand, and nothing secret is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb import DuckDB
from discreet.mechanisms.protect import protect
from tests.tabulation.small_data import counted, programmes, records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.programme.model import Programme
    from discreet.release.release import Release

SECRET = b"a secret for the tests only"
ENGINE = DuckDB(threads=2)
"""One for all examples: to start one takes longer than to count a few records."""


@dataclass(frozen=True)
class Both:
    """Publishes count and key as one number, so that a test sees both: count * K + key."""

    key_space: int
    name: ClassVar[str] = "exact"
    needs_keys: ClassVar[bool] = True
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    perturbs_zeros: ClassVar[bool] = False

    def publish(self, counts: NDArray[np.int64], keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        return counts * self.key_space + keys.astype(np.int64)

    def publish_empty(self, coordinates: NDArray[np.uint64]) -> NDArray[np.int64]:
        return np.zeros(len(coordinates), dtype=np.int64)

    def described(self) -> dict[str, Any]:
        return {"mechanism": "exact", "law": "none", "parameters": {}, "spsn": True, "key_mode": "plain"}


def cells(release: Release, table: str) -> dict[tuple[str, ...], int]:
    """Return the rows of a table as a dictionary, and refuse a cell that stands there twice."""
    found = release.table(table)
    columns = [column.to_pylist() for column in found.columns]
    rows = list(zip(*columns[:-1], strict=True))
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, columns[-1], strict=True))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
@pytest.mark.parametrize("key_space", [2**32, 10**8, 256])
def test_every_cell_has_the_count_and_the_key_of_a_direct_count(key_space: int, data: st.DataObject) -> None:
    programme: Programme = data.draw(programmes())
    people = data.draw(records(programme))
    keys = data.draw(st.lists(st.integers(0, key_space - 1), min_size=len(people), max_size=len(people)))
    frame = pa.table({name: [record[name] for record in people] for name in programme.topics} | {"key": keys})
    release = protect(frame, programme, Both(key_space), key="key", engine=ENGINE)
    for table in programme.tables:
        expected = counted(programme, table, people, keys, key_space)
        assert cells(release, table.id) == {cell: n * key_space + k for cell, (n, k) in expected.items()}
