"""Data in memory: what is taken over, its fingerprint, and what is refused without a value."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Never

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import DataFileError, UnknownNameError
from discreet.sources import data_frame
from discreet.sources.data_frame import open_frame
from tests.each import each

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {"sex": ["F", "M", None, "F", ""], "age": [1, None, 3, 40, 5]}
TABLE = pa.table(COLUMNS)


def test_a_frame_tells_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_frame(TABLE)
    assert (source.name, source.columns, source.rows) == ("the data frame", ("sex", "age"), 5)
    assert source.size == TABLE.nbytes
    source.check_unchanged()
    monkeypatch.setattr(data_frame, "ROWS", 2)
    assert [batch.to_pydict()["age"] for batch in source.batches(["age"])] == [[1, None], [3, 40], [5]]
    assert [batch.num_rows for batch in source.batches([])] == [2, 2, 1]
    assert next(source.batches(["age", "sex", "age"])).schema.names == ["age", "sex", "age"]


def test_a_source_that_is_printed_shows_no_value() -> None:
    assert "canary" not in repr(open_frame(pa.table({"a": ["canary"]})))


def test_batches_of_a_frame_are_never_views() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": pl.Series(["u", "v"], dtype=pl.Categorical)})
    (batch,) = open_frame(frame).batches(["b", "a"])
    assert batch.schema.types == [pa.dictionary(pa.uint32(), pa.large_string()), pa.large_string()]
    assert batch.to_pydict() == {"b": ["u", "v"], "a": ["x", "y"]}


def test_a_column_that_is_not_there_is_told_at_once() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no column of the data frame 'aeg'\. Did you mean age\?"):
        open_frame(TABLE).batches(["aeg"])


def garbage_under_null() -> pa.Table:
    age = np.array([1, 999, 3, 40, 5])
    return TABLE.set_column(1, "age", pa.Array.from_buffers(pa.int64(), 5, [pa.py_buffer(b"\xfd"), pa.py_buffer(age)]))


@each(
    "same",
    [
        lambda: pa.concat_tables([TABLE.slice(0, 2), TABLE.slice(2)]),
        lambda: pa.concat_tables([TABLE, TABLE]).combine_chunks().slice(0, 5),
        lambda: pa.concat_tables([TABLE, TABLE]).combine_chunks().slice(5, 5),
        lambda: TABLE.combine_chunks().to_batches()[0],
        TABLE.to_reader,
        garbage_under_null,
        lambda: pl.DataFrame(COLUMNS),
        lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("sex").cast(pl.Categorical)),
        lambda: pl.concat([pl.DataFrame(COLUMNS)[:3], pl.DataFrame(COLUMNS)[3:]], rechunk=False),
        lambda: pd.DataFrame(COLUMNS).astype({"age": "Int64"}),
        lambda: pd.DataFrame(COLUMNS).astype({"age": "Int64", "sex": "category"}),
    ],
)
def test_the_fingerprint_is_of_what_is_in_the_frame_and_not_how(
    same: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_frame(same()).fingerprint() == open_frame(TABLE).fingerprint()
    monkeypatch.setattr(data_frame, "ROWS", 2)
    assert open_frame(same()).fingerprint() == open_frame(TABLE).fingerprint()


def test_the_fingerprint_changes_with_any_value_name_or_order() -> None:
    others = [
        TABLE,
        pa.table({**COLUMNS, "sex": ["F", "M", None, "F", None]}),
        pa.table({**COLUMNS, "age": [1, None, 3, 40, 6]}),
        pa.table({**COLUMNS, "age": [1, 0, 3, 40, 5]}),
        TABLE.rename_columns(["sex", "agf"]),
        TABLE.select(["age", "sex"]),
        TABLE.slice(0, 4),
        TABLE.take([1, 0, 2, 3, 4]),
    ]
    prints = [open_frame(other).fingerprint() for other in others]
    assert len(set(prints)) == len(others)
    assert all(text.startswith("sha256:") and len(text) == 71 for text in prints)


def test_any_type_has_a_fingerprint() -> None:
    dictionaries = [pa.array(map(str, range(k, k + 100))).dictionary_encode() for k in (0, 100)]
    small = [part.cast(pa.dictionary(pa.int8(), pa.string())) for part in dictionaries]
    one, other = (
        open_frame(
            pa.table(
                {
                    "codes": pa.chunked_array(small),
                    "lists": pa.array([[last], ["b"]] * 100, pa.list_(pa.string_view())),
                    "records": [{"x": 1}, None] * 100,
                    "nothing": pa.nulls(200),
                    "raw": pa.array([b"x", None] * 100, pa.binary_view()),
                }
            )
        ).fingerprint()
        for last in ("a", "c")
    )
    assert one != other


class Stubborn:
    def __arrow_c_stream__(self, requested_schema: object = None) -> Never:
        raise RuntimeError("canary" if requested_schema is None else "")


@each(
    ("data", "message"),
    [
        (pd.DataFrame({"a": [1, "canary"]}), r"converted to an Arrow table \(Conversion failed for column a with"),
        (pd.DataFrame([["canary", "2"]], columns=["a", "a"]), "cannot be converted to an Arrow table. Use a single"),
        (pd.Series(["canary"]), "cannot be converted to an Arrow table. Use a single type in every column, or save"),
        (pl.Series(["canary"]), "cannot be converted"),
        (pa.array(["canary"]), "cannot be converted"),
        (Stubborn(), "cannot be converted"),
        (pa.table([["canary"], ["2"]], ["a", "a"]), "has two columns named 'a'. Use a unique name for every column"),
        (pd.DataFrame(), "has no columns. Specify a data frame with a name for every column"),
        (pl.DataFrame({"a": []}), "has columns but no records. Specify a data frame with at least one record"),
    ],
)
def test_a_frame_that_cannot_be_read_is_refused(data: object, message: str) -> None:
    with pytest.raises(DataFileError, match=f"^the data frame .*{message}") as caught:
        open_frame(data)
    assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_text_that_is_none_is_refused() -> None:
    codes = pa.array([b"1", b"canary\xe9"], pa.binary()).view(pa.string())
    with pytest.raises(DataFileError, match="the data frame is not text in UTF-8") as caught:
        list(open_frame(pa.table({"a": codes})).batches(["a"]))
    assert "canary" not in "".join(traceback.format_exception(caught.value))
