"""Values as the text of category codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    import pyarrow as pa

EXACT = 2.0**53
"""Whole numbers below this are exact as floating-point numbers, so they are codes and not measurements."""


def as_text(values: pa.Array) -> pa.Array | None:
    """Return values as plain text with null for what is missing, or None if they have no text.

    What is the same code has the same text whatever its type: 1, 1.0 and 1.00 are "1", a time at midnight is
    its date. Null, NaN and "" are missing.
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
    """Progress whether text is what it says it is; libraries pass on the bytes of a file without a look at them."""
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
    """Return a batch whose texts are no views, with which the library cannot do much more than pass them on."""
    import pyarrow as pa

    settled = [_without_view(values) for values in batch.columns]
    # A batch made of no columns would have no records.
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
    # As a floating-point number ten milliards would be written 1e+10.
    texts = pc.cast(pc.cast(pc.if_else(whole, values, None), pa.int64()), pa.string())
    return texts if texts.null_count == values.null_count else pc.coalesce(texts, pc.cast(values, pa.string()))


def _write_decimals(values: pa.Array) -> pa.Array:
    import pyarrow as pa

    # The library writes a zero with ten decimals as 0E-10, so every different value is written here.
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
    # Data frames keep dates as times at midnight, with as many zeros as their clock has digits.
    for zeros, instead in ((r"(\.[0-9]*[1-9])0+$", r"\1"), (r"\.0+$", ""), (" 00:00:00$", "")):
        texts = pc.replace_substring_regex(texts, zeros, instead)
    return texts
