"""Columns of numbers that are no codes: keys, counts and weights, from any type that can hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import RecordKeyError

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.arrays import Flags, Floats

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def refuse(faults: dict[str, Flags], column: str, offset: int, accepted: str, *, what: str = "key") -> None:
    """Refuse records with any fault, and say the fault of the first of them."""
    bad = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
    if len(bad):
        why = next(why for why, holds in faults.items() if holds[bad[0]])
        raise RecordKeyError.unusable(column, len(bad), offset + int(bad[0]) + 1, why, accepted, what=what)


def as_numbers(values: pa.Array) -> tuple[Flags, Floats]:
    """Return which values are missing, and all as double precision numbers: NaN for what is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = values.is_null()
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    if is_text(values.type):
        missing = pc.fill_null(pc.equal(pc.binary_length(values), 0), fill_value=True)
        values = pc.if_else(pc.match_substring_regex(values, NUMBER), values, None)
        # Arrow reads no sign of a positive number in every version.
        values = pc.replace_substring_regex(values, r"^\+", "")
    numbers = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    return missing.to_numpy(zero_copy_only=False), numbers.to_numpy(zero_copy_only=False)


def decoded(values: pa.Array) -> pa.Array:
    """Return values as they are meant: a dictionary's entries in place of its codes, and no views of text."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_whole(kind: pa.DataType) -> bool:
    """Return whether a type holds whole numbers only; databases keep them as decimals without a fraction, too."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0))


def may_hold_numbers(kind: pa.DataType) -> bool:
    """Return whether a type can hold keys; single precision cannot hold the eight decimals of a fraction."""
    import pyarrow as pa

    known = is_text(kind) or is_whole(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    return bool(known or pa.types.is_float64(kind))
