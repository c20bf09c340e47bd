"""Whatever data come in, the same records come out."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sources.column_values import as_text
from discreet.sources.source import Source, open_source
from tests.each import each
from tests.quick import up_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Columns = dict[str, list[str | None]]

TEXT = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["01", "1.0", "NA", " ", ",", '"', "\n", ";"]
)
ROWS = st.lists(st.tuples(*[st.none() | TEXT] * 3), min_size=2, max_size=12)


def read(source: Source, columns: Sequence[str]) -> Columns:
    """Return the text of columns, with what every source promises checked on the way."""
    found: Columns = {name: [] for name in columns}
    for batch in source.batches(columns):
        assert batch.schema.names == list(columns)
        for name, values in zip(columns, batch.columns, strict=True):
            texts = as_text(values)
            assert texts is not None
            found[name] += texts.to_pylist()
    assert source.rows in {None, len(found[columns[0]])}
    assert source.fingerprint() == source.fingerprint()
    source.check_unchanged()
    return found


def as_csv(columns: Mapping[str, Sequence[str | None]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def in_files(folder: Path, columns: Columns) -> Iterator[object]:
    """Yield the same records in files of every kind."""
    table = pa.table(columns, pa.schema([(name, pa.string()) for name in columns]))
    cut = table.num_rows // 2
    parts = [table.slice(0, cut), table.slice(cut).select(list(reversed(columns)))]
    pq.write_table(table, folder / "whole.parquet", row_group_size=3)
    yield str(folder / "whole.parquet")
    (folder / "parts").mkdir()
    for number, part in enumerate(parts):
        pq.write_table(part, folder / "parts" / f"{number}.parquet", use_dictionary=bool(number))
        (folder / "parts" / f"{number}.csv").write_bytes(as_csv(part.to_pydict(), ",;"[number]))
    yield folder / "parts"
    yield folder / "parts" / "*.csv"
    yield f"{folder}/**/[01].parquet"
    yield [folder / "parts" / "1.parquet", str(folder / "parts" / "0.parquet")]
    (folder / "whole.csv").write_bytes(as_csv(columns))
    yield folder / "whole.csv"
    (folder / "whole.csv.gz").write_bytes(gzip.compress(as_csv(columns, "\t")))
    yield (folder / "whole.csv.gz",)
    pl.DataFrame(columns, dict.fromkeys(columns, pl.String)).write_parquet(folder / "polars.parquet")
    yield folder / "polars.parquet"


def in_memory(columns: Columns) -> Iterator[object]:
    """Yield the same records in frames of every kind."""
    table = pa.table(columns)
    yield table
    yield table.to_batches()[0]
    yield table.to_reader(max_chunksize=3)
    yield pa.table({name: pa.array(values, pa.string()).dictionary_encode() for name, values in columns.items()})
    yield pd.DataFrame(columns)
    yield pd.DataFrame(columns).astype("category")
    texts = pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
    yield texts
    yield texts.with_columns(pl.all().cast(pl.Categorical))
    yield pl.concat([texts[:1], texts[1:]], rechunk=False)


@settings(deadline=None, max_examples=up_to(40))
@given(ROWS)
def test_every_kind_of_input_gives_the_same_texts(rows: list[tuple[str | None, ...]]) -> None:
    columns: Columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    expected = {name: [value or None for value in columns[name]] for name in ("c", "a")}
    with tempfile.TemporaryDirectory() as name:
        for data in (*in_files(Path(name), columns), *in_memory(columns)):
            assert read(open_source(data), ["c", "a"]) == expected, data


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
            st.none() | st.booleans(),
            st.none() | st.dates(date(1700, 1, 1), date(2200, 1, 1)),
            st.none() | st.floats(allow_infinity=False, allow_nan=False),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_numbers_and_dates_have_the_same_texts_in_every_library(rows: list[tuple[object, ...]]) -> None:
    kinds = pa.schema([("n", pa.int64()), ("b", pa.bool_()), ("d", pa.date32()), ("x", pa.float64())])
    columns = dict(zip(kinds.names, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns, kinds)
    expected = read(open_source(table), kinds.names)
    assert expected["n"] == [None if value is None else str(value) for value in columns["n"]]
    assert expected["d"] == [None if value is None else str(value) for value in columns["d"]]
    times = pd.DataFrame({**columns, "d": pd.to_datetime(pd.Series(columns["d"], dtype="object"))})
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(table, f"{name}/d.parquet")
        for data in (f"{name}/d.parquet", pd.DataFrame(columns), times, table.to_pandas(), pl.DataFrame(table)):
            assert read(open_source(data), kinds.names) == expected


def test_what_gives_an_arrow_stream_is_read() -> None:
    relation = duckdb.sql("SELECT 'F' AS sex, 1 AS age UNION ALL SELECT 'F', 1")
    assert read(open_source(relation), ["sex", "age"]) == {"sex": ["F", "F"], "age": ["1", "1"]}


def test_sources_are_called_by_what_was_given(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    assert open_source(tmp_path / "a.csv").name == "a.csv"
    assert open_source(f"{tmp_path}/*.csv").name == f"{tmp_path.name}/*.csv (2 files)"
    assert open_source(tmp_path).name == f"{tmp_path.name} (2 files)"
    assert open_source([tmp_path / "b.csv", tmp_path / "a.csv"]).name == "a.csv and 1 more"
    assert open_source(pa.table({"x": [1]})).name == "the data frame"


@each(
    ("data", "what"),
    [
        (None, "an object of type NoneType"),
        ({"a": ["canary"]}, "an object of type dict"),
        (b"canary", "an object of type bytes"),
        (pl.LazyFrame({"a": ["canary"]}), "an object of type LazyFrame"),
        ([], "a list without paths"),
        ([["canary"]], "a list without paths"),
        (["a.csv", pa.table({"a": ["canary"]})], "a list with objects other than paths"),
        ("a,b\n1,canary\n", "an empty text or a text with line breaks"),
    ],
)
def test_what_is_no_data_is_refused_with_what_would_be(data: object, what: str) -> None:
    accepted = (
        r"Specify the path of a \.parquet, \.csv or \.csv\.gz file, a folder .* a data frame of pandas or polars\."
    )
    with pytest.raises(InputError, match=f"^Data cannot be read from {what}. {accepted}") as caught:
        open_source(data)
    assert "canary" not in str(caught.value)
