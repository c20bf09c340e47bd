"""The columns of the data that are no topics: id and key of a record, and the count and weight of the persons in a row.

Counts are whole. Weights are kept as whole multiples of 2^-20, so that their sums are exact and the same in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError, RecordKeyError
from discreet.sources.column_values import as_numbers, decoded, may_hold_numbers, refuse

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints


@dataclass(frozen=True)
class RecordColumns:
    """Columns by their role.

    Attributes:
        id: a stable id to make record keys from.
        key: a ready-made key; of a row that stands for several persons, the sum of theirs.
        count: how many persons a row stands for, in data that are tabulated already; one if left out.
        weight: the weight of a row.
    """

    id: str | None = None
    key: str | None = None
    count: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        if self.id is not None and self.key is not None:
            raise ParameterError("Give an id to make keys from or a ready-made key, not both.", parameter="key")
        if self.id is not None and self.count is not None:
            raise ParameterError(
                "A row with a count stands for several persons and has no id of one. Leave --id out, and give the sum "
                "of their keys (--key) if there is one.",
                parameter="id",
            )
        named = self.columns
        twice = [column for column in named if named.count(column) > 1]
        if twice:
            raise ParameterError(f"Column {twice[0]} is named for two things at once. Correct one.", parameter="key")

    @property
    def columns(self) -> list[str]:
        """Return the columns that must be read."""
        return [column for column in (self.id, self.key, self.count, self.weight) if column is not None]


MOST_PERSONS = (1 << 32) - 1
"""Persons of one row, and of one cell."""
STEPS = 1 << 20
"""The steps into which a weight of 1 is divided."""
LARGEST_WEIGHT = 1e9
LARGEST_SUM = 1 << 62
"""Steps of all weights together: they are summed up in words of 64 bits."""


def row_counts(values: pa.Array, column: str, offset: int) -> NDArray[np.uint32]:
    """Return how many persons every row stands for."""
    accepted = f"Counts are whole numbers from 0 to {MOST_PERSONS}. Mend the column, or name another."
    missing, numbers = _numbers(values, column, accepted)
    faults = {
        "is missing": missing,
        "is not a number": np.isnan(numbers),
        "is negative": numbers < 0,
        "is no whole number": numbers != np.rint(numbers),
        "is too large": numbers > MOST_PERSONS,
    }
    refuse(faults, column, offset, accepted, what="count")
    return numbers.astype(np.uint32)


def row_weights(values: pa.Array, column: str, offset: int) -> Ints:
    """Return the weight of every row in steps of 2^-20."""
    accepted = f"Weights are numbers from 0 to {LARGEST_WEIGHT:g}. Mend the column, or name another."
    missing, numbers = _numbers(values, column, accepted)
    faults = {
        "is missing": missing,
        "is not a number": np.isnan(numbers),
        "is negative": numbers < 0,
        "is too large": numbers > LARGEST_WEIGHT,
    }
    refuse(faults, column, offset, accepted, what="weight")
    return np.rint(numbers * STEPS).astype(np.int64)


def _numbers(values: pa.Array, column: str, accepted: str) -> tuple[Flags, Floats]:
    import pyarrow as pa

    values = decoded(values)
    if pa.types.is_float32(values.type):
        values = values.cast(pa.float64())
    if not may_hold_numbers(values.type):
        raise RecordKeyError.kind(column, str(values.type), accepted)
    return as_numbers(values)
