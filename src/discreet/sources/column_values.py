"""Conversion of column values of any type to category codes as text, or to numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import RecordKeyError

if TYPE_CHECKING:
    from decimal import Decimal

    import pyarrow as pa

    from discreet.arrays import Flags, Floats

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def refuse(faults: dict[str, Flags], column: str, offset: int, accepted: str, *, what: str = "key") -> None:
    """Refuse records with a fault; the message states the fault of the first record."""
    bad = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
    if len(bad):
        why = next(why for why, holds in faults.items() if holds[bad[0]])
        raise RecordKeyError.unusable(column, len(bad), offset + int(bad[0]) + 1, why, accepted, what=what)


def as_numbers(values: pa.Array) -> tuple[Flags, Floats]:
    """Return a mask of missing values, and all values in double precision, NaN for values that are not numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = values.is_null()
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    if is_text(values.type):
        missing = pc.fill_null(pc.equal(pc.binary_length(values), 0), fill_value=True)
        values = pc.if_else(pc.match_substring_regex(values, NUMBER), values, None)
        # Some versions of Arrow cannot read a plus sign.
        values = pc.replace_substring_regex(values, r"^\+", "")
    numbers = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    return missing.to_numpy(zero_copy_only=False), numbers.to_numpy(zero_copy_only=False)


def decoded(values: pa.Array) -> pa.Array:
    """Return values decoded from dictionaries and text views."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_whole(kind: pa.DataType) -> bool:
    """Return whether a type is whole numbers; databases also store them as decimals of scale 0."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0))


def may_hold_numbers(kind: pa.DataType) -> bool:
    """Return whether a type can contain keys; single precision is too inexact for fractions of eight decimals."""
    import pyarrow as pa

    known = is_text(kind) or is_whole(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    return bool(known or pa.types.is_float64(kind))


EXACT = 2.0**53
"""Whole numbers below this are exact as floating-point numbers and are treated as codes."""


def as_text(values: pa.Array) -> pa.Array | None:
    """Return values as plain text, with null for missing values, or None if their type has no text.

    The same code has the same text for all types: 1, 1.0 and 1.00 are "1", and a time at midnight is its date. Null,
    NaN and "" are missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        texts = as_text(values.dictionary)
        return None if texts is None else texts.take(values.indices)
    try:
        texts = _write(values)
    except MemoryError:
        raise
    except pa.ArrowException:
        return None
    empty = pc.equal(texts, "")
    return pc.if_else(empty, None, texts) if pc.any(empty).as_py() else texts


def is_utf8(values: pa.Array) -> bool:
    """Return whether text is valid UTF-8; libraries do not check the bytes of a file."""
    import pyarrow as pa

    texts = values.dictionary if pa.types.is_dictionary(values.type) else values
    kind = texts.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return True
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with text views converted to plain text, because the library supports few operations on views."""
    import pyarrow as pa

    settled = [_without_view(values) for values in batch.columns]
    # A batch without columns would have no records.
    return pa.RecordBatch.from_arrays(settled, batch.schema.names) if settled else batch


def _without_view(values: pa.Array) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        texts = _without_view(values.dictionary)
        return values if texts is values.dictionary else pa.DictionaryArray.from_arrays(values.indices, texts)
    if pa.types.is_string_view(values.type):
        return values.cast(pa.large_string())
    return values.cast(pa.large_binary()) if pa.types.is_binary_view(values.type) else values


def _write(values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        return _write_floats(values)
    if pa.types.is_decimal(values.type):
        return _write_decimals(values)
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        return _write_times(values)
    return pc.cast(values, pa.string())


def _write_floats(values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.cast(values, pa.float64()) if pa.types.is_float16(values.type) else values
    values = pc.if_else(pc.is_nan(values), None, values)
    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), pa.scalar(EXACT, values.type)))
    # As a floating-point number ten billion would be written 1e+10.
    texts = pc.cast(pc.cast(pc.if_else(whole, values, None), pa.int64()), pa.string())
    return texts if texts.null_count == values.null_count else pc.coalesce(texts, pc.cast(values, pa.string()))


def _write_decimals(values: pa.Array) -> pa.Array:
    import pyarrow as pa

    # The library writes a zero with ten decimals as 0E-10, so convert every distinct value here.
    if values.type.bit_width < 128:
        values = values.cast(pa.decimal128(values.type.precision, values.type.scale))
    encoded = values.dictionary_encode()
    return pa.array(map(_shorten, encoded.dictionary.to_pylist()), pa.string()).take(encoded.indices)


def _shorten(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _write_times(values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(values, pa.string())
    # Data frames store dates as times at midnight, with trailing zeros according to their resolution.
    for zeros, instead in ((r"(\.[0-9]*[1-9])0+$", r"\1"), (r"\.0+$", ""), (" 00:00:00$", "")):
        texts = pc.replace_substring_regex(texts, zeros, instead)
    return texts
