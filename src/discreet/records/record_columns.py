"""Columns of the data with a special role: id or key of a record, and count and weight of a row.

Counts are whole numbers. Weights are stored as multiples of 2^-20, so that their sums are exact in any order.
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
    """Columns with a special role; None if there is no such column.

    Attributes:
        id: the column of stable ids, from which record keys are derived.
        key: the column of ready-made keys; for a row of several persons, the sum of their keys.
        count: the column with the number of persons in each row, for pre-tabulated data; one person per row without it.
        weight: the column with the weight of each row.
    """

    id: str | None = None
    key: str | None = None
    count: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        if self.id is not None and self.key is not None:
            raise ParameterError("Specify either --id or --key, not both.", parameter="key")
        if self.id is not None and self.count is not None:
            raise ParameterError(
                "--id cannot be combined with --count: a row with a count represents several persons and has no "
                "single id. Remove --id; if the data contain the sum of the keys, specify its column (--key).",
                parameter="id",
            )
        named = self.columns
        twice = [column for column in named if named.count(column) > 1]
        if twice:
            raise ParameterError(f"Column {twice[0]} is specified for two roles. Correct one of them.", parameter="key")

    @property
    def columns(self) -> list[str]:
        """Return the columns that must be read."""
        return [column for column in (self.id, self.key, self.count, self.weight) if column is not None]


MOST_PERSONS = (1 << 32) - 1
"""Maximum number of persons of one row, and of one cell."""
STEPS = 1 << 20
"""Number of steps of a weight of 1."""
LARGEST_WEIGHT = 1e9
LARGEST_SUM = 1 << 62
"""Maximum sum of all weights in steps, which are summed in 64 bits."""


def row_counts(values: pa.Array, column: str, offset: int) -> NDArray[np.uint32]:
    """Return the number of persons of every row."""
    accepted = f"Counts must be whole numbers from 0 to {MOST_PERSONS}. Correct the column, or specify another."
    missing, numbers = _numbers(values, column, accepted)
    faults = {
        "is missing": missing,
        "is not a number": np.isnan(numbers),
        "is negative": numbers < 0,
        "is not a whole number": numbers != np.rint(numbers),
        "is too large": numbers > MOST_PERSONS,
    }
    refuse(faults, column, offset, accepted, what="count")
    return numbers.astype(np.uint32)


def row_weights(values: pa.Array, column: str, offset: int) -> Ints:
    """Return the weight of every row in steps of 2^-20."""
    accepted = f"Weights must be numbers from 0 to {LARGEST_WEIGHT:g}. Correct the column, or specify another."
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
