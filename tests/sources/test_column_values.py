"""Values as text: what is the same code has the same text, whatever its type."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.sources.column_values import as_text, is_utf8, without_views
from tests.each import each

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
BAD = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xe9")])


def written(values: Sequence[object], kind: pa.DataType | None = None) -> list[str | None]:
    texts = as_text(pa.array(values, kind))
    assert texts is not None
    assert texts.type == pa.string()
    assert texts.null_count == texts.to_pylist().count(None)
    return list(texts.to_pylist())


@each("kind", TEXTS)
def test_text_stays_and_what_is_empty_is_missing(kind: pa.DataType) -> None:
    assert written(["01", "", None, " ", "NaN", "é"], kind) == ["01", None, None, " ", "NaN", "é"]


@each("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()])
def test_whole_numbers_are_written_as_such(kind: pa.DataType) -> None:
    values = pc.cast(pa.array([1.0, 0.0, 100.0, None]), kind).to_pylist()
    assert written(values, kind) == ["1", "0", "100", None]


def test_floats_are_whole_missing_or_as_short_as_they_can_be() -> None:
    values = [-0.0, 1e10, 123456789012.0, -7.0, 2.5, 0.1, float("nan"), None, float("inf"), 2.0**53]
    expected = ["0", "10000000000", "123456789012", "-7", "2.5", "0.1", None, None, "inf", "9007199254740992"]
    assert written(values)[:-1] == expected[:-1]
    assert float(written(values)[-1] or "") == 2.0**53


@given(st.lists(st.none() | st.integers(-(2**53) + 1, 2**53 - 1), min_size=1))
def test_a_whole_number_has_one_text(values: list[int | None]) -> None:
    expected = [None if value is None else str(value) for value in values]
    assert written(values, pa.int64()) == expected
    assert written([None if value is None else float(value) for value in values], pa.float64()) == expected
    assert written([None if value is None else Decimal(value) for value in values], pa.decimal128(38, 10)) == expected


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_a_float_can_be_read_back(values: list[float]) -> None:
    assert [float(text or "") for text in written(values, pa.float64())] == values


@each("kind", [pa.decimal32(9, 4), pa.decimal64(18, 4), pa.decimal128(38, 4), pa.decimal256(70, 4)])
def test_decimals_end_with_their_last_digit(kind: pa.DataType) -> None:
    values = [Decimal("1.0000"), Decimal("2.5000"), Decimal("0.0000"), None, Decimal("-100.0000"), Decimal("0.0001")]
    assert written(values, kind) == ["1", "2.5", "0", None, "-100", "0.0001"]
    assert written([Decimal("1E-10"), Decimal(0)], pa.decimal128(20, 10)) == ["0.0000000001", "0"]
    assert written([Decimal(1200)], pa.decimal128(20, 0)) == ["1200"]


def test_dates_are_written_as_in_iso_8601() -> None:
    for kind in (pa.date32(), pa.date64()):
        assert written([date(2000, 1, 2), None], kind) == ["2000-01-02", None]


@each("unit", ["s", "ms", "us", "ns"])
def test_times_at_midnight_are_dates(unit: str) -> None:
    values = [datetime(2000, 1, 2), datetime(2000, 1, 2, 3, 40, 50), datetime(2010, 10, 10, 0, 0, 10), None]  # noqa: DTZ001
    expected = ["2000-01-02", "2000-01-02 03:40:50", "2010-10-10 00:00:10", None]
    assert written(values, pa.timestamp(unit)) == expected
    assert written([datetime(2000, 1, 2, 0, 0, 0, 1500)], pa.timestamp("us")) == ["2000-01-02 00:00:00.0015"]  # noqa: DTZ001


def test_other_types_have_a_text_too() -> None:
    assert written([True, False, None]) == ["true", "false", None]
    assert written([time(1, 2, 30)], pa.time64("us")) == ["01:02:30"]
    assert written([datetime(2000, 1, 2, tzinfo=UTC)], pa.timestamp("s", "UTC")) == ["2000-01-02 00:00:00Z"]
    assert written([None, None]) == [None, None]
    assert written([]) == []


@pytest.mark.parametrize("values", [[[1], []], [{"x": 1}], [b"\xff"]])
def test_what_has_no_text_gives_none(values: list[object]) -> None:
    assert as_text(pa.array(values)) is None


@each("kind", [pa.string(), pa.large_string(), pa.string_view()])
@each("index", [pa.int8(), pa.uint32(), pa.int64()])
def test_dictionaries_are_written_as_plain_text(kind: pa.DataType, index: pa.DataType) -> None:
    values = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 1, 3, 0], index), pa.array(["b", "", "a", None], kind)
    )
    texts = as_text(values)
    assert texts is not None
    assert texts.type == pa.string()
    assert texts.to_pylist() == ["a", "b", None, None, None, "b"]
    piece = as_text(values.slice(1, 3))
    assert piece is not None
    assert piece.to_pylist() == ["b", None, None]


def test_dictionaries_of_numbers_are_written_as_their_numbers() -> None:
    texts = as_text(pa.array([1.0, 2.5, float("nan"), None, 1.0]).dictionary_encode())
    assert texts is not None
    assert texts.to_pylist() == ["1", "2.5", None, None, "1"]
    assert as_text(pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]]))) is None


def test_bytes_that_are_no_text_are_seen() -> None:
    assert not is_utf8(BAD)
    assert not is_utf8(pa.DictionaryArray.from_arrays(pa.array([0]), BAD))
    assert not is_utf8(BAD.view(pa.binary()).cast(pa.large_binary()).view(pa.large_string()))
    for good in (["é", None], [1], [b"\xff"], [["a"]]):
        assert is_utf8(pa.array(good))


def test_views_become_plain_text_and_all_else_stays() -> None:
    views = pa.array(["a", None, "b" * 20], pa.string_view())
    batch = pa.record_batch(
        {
            "text": views,
            "code": pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.int8()), views),
            "raw": pa.array([b"x", None, b""], pa.binary_view()),
            "plain": ["1", "2", "3"],
            "kept": pa.array(["u", "v", "u"]).dictionary_encode(),
        }
    )
    plain = without_views(batch)
    assert plain.to_pydict() == batch.to_pydict()
    assert plain.schema.types == [
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.large_string()),
        pa.large_binary(),
        pa.string(),
        pa.dictionary(pa.int32(), pa.string()),
    ]
    assert without_views(batch.select([])).num_rows == 3
