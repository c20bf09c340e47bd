"""Data that are counted already: rows with counts, and a folder of tables, give the release of the records."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet.errors import (
    DataFileError,
    DataProblemsError,
    InputError,
    NothingToCountError,
    ParameterError,
    RecordKeyError,
)
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release.table_files import file_stem, write_table
from tests.each import each
from tests.protection.town import GEO, SECRET, SEX, TOWN, all_cells, cells, frame, people
from tests.quick import examples, up_to
from tests.tabulation.small_data import by, programme, programmes, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.duckdb import DuckDB
    from discreet.programme.model import Programme

PTABLE = PTable.max_entropy(variance=2, bound=5)
BY_KEY, BY_PLACE = CellKey(PTABLE, secret=SECRET), Coordinates(PTABLE, SECRET)
SPACE = 2**32
PEOPLE = people(300)


def summed(table: pa.Table, spec: Programme, keys: list[int]) -> pa.Table:
    """Return one row per combination of codes, with the count and the sum of the keys."""
    count: Counter[tuple[str, ...]] = Counter()
    key: Counter[tuple[str, ...]] = Counter()
    for row, own in zip(zip(*(table[name].to_pylist() for name in spec.topics), strict=True), keys, strict=True):
        count[row] += 1
        key[row] += own
    columns = {name: [row[place] for row in count] for place, name in enumerate(spec.topics)}
    return pa.table({**columns, "n": list(count.values()), "key": [key[row] % SPACE for row in count]})


# --- Rows with counts ---


@settings(max_examples=up_to(25), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_rows_with_counts_and_keys_give_the_release_of_their_records(engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes())
    known = data.draw(records(spec))
    keys = data.draw(st.lists(st.integers(0, SPACE - 1), min_size=len(known), max_size=len(known)))
    single = frame(spec, known, key=keys)
    whole = protect(single, spec, BY_KEY, key="key", engine=engine)
    again = protect(summed(single, spec, keys), spec, BY_KEY, key="key", count="n", engine=engine)
    assert all_cells(again) == all_cells(whole)
    assert again.record.records == whole.record.records == len(known)


def test_margins_among_the_rows_are_left_out_and_made_again(engine: DuckDB) -> None:
    rows = summed(PEOPLE, TOWN, [0] * PEOPLE.num_rows)
    margins = {"GEO": ["_T", "d1", "v10"], "AGE": ["Y1", "_T", "Y"], "SEX": ["F", "M", "_T"], "EMP": ["1", "2", "_T"]}
    extra = pa.table({**margins, "n": [1000, 2000, 3000], "key": [7, 8, 9]})
    found = protect(pa.concat_tables([rows, extra]), TOWN, BY_PLACE, count="n", engine=engine)
    assert all_cells(found) == all_cells(protect(PEOPLE, TOWN, BY_PLACE, engine=engine))


def test_a_row_of_nobody_is_nobody(engine: DuckDB) -> None:
    rows = pa.table({"GEO": ["v10"], "AGE": ["Y1"], "SEX": ["F"], "EMP": ["1"], "n": [5], "key": [3]})
    nobody = pa.table({"GEO": ["v20"], "AGE": ["Y2"], "SEX": ["M"], "EMP": ["2"], "n": [0], "key": [99]})
    both = protect(pa.concat_tables([rows, nobody]), TOWN, BY_KEY, key="key", count="n", engine=engine)
    assert all_cells(both) == all_cells(protect(rows, TOWN, BY_KEY, key="key", count="n", engine=engine))


@each(
    ("counts", "kind", "message"),
    [
        ([1, None], RecordKeyError, "n has no valid count in 1 record: in record 2 it is missing."),
        ([-1, 2], RecordKeyError, "n has no valid count in 1 record: in record 1 it is negative."),
        ([1.5, 2.0], RecordKeyError, "in record 1 it is not a whole number."),
        (["two", "3"], RecordKeyError, "in record 1 it is not a number."),
        ([2**32, 1], RecordKeyError, "in record 1 it is too large."),
        ([[1], [2]], RecordKeyError, "n contains values of type list"),
        (
            [2**31, 2**31],
            ParameterError,
            "sum to more than 4,294,967,295, in 2 rows. If there are margins among the rows",
        ),
        (
            [0, 0],
            NothingToCountError,
            "has no row to count: all rows are margins or have a count of 0.",
        ),
    ],
)
def test_counts_that_are_none_are_refused(
    counts: list[object], kind: type[InputError], message: str, engine: DuckDB
) -> None:
    columns = {"GEO": ["v10", "v20"], "AGE": ["Y1", "O"], "SEX": ["F", "M"], "EMP": ["1", "2"]}
    with pytest.raises(kind, match=re.escape(message)):
        protect(pa.table({**columns, "n": counts}), TOWN, Exact(), count="n", engine=engine)


def test_a_row_of_several_persons_has_no_id(engine: DuckDB) -> None:
    with pytest.raises(ParameterError, match=r"a row with a count represents several persons and has no single id\."):
        protect(PEOPLE, TOWN, BY_KEY, id="ID", count="n", engine=engine)


def test_totals_of_a_column_that_no_table_uses_are_refused_beside_other_codes(engine: DuckDB) -> None:
    rows = pa.table({"SEX": ["F", "M", "F", "M"], "EMP": ["1", "1", "_T", "_T"], "n": [3, 4, 3, 4]})
    spec = programme([SEX], [by(SEX)])
    with pytest.raises(ParameterError, match=r"Column EMP of the data frame contains totals \(_T\) and other"):
        protect(rows, spec, Exact(), count="n", engine=engine)
    # Totals alone are what is wanted, and other codes alone add up to it.
    for part in (rows.slice(0, 2), rows.slice(2)):
        assert cells(protect(part, spec, Exact(), count="n", engine=engine).table("1"))["_T",] == 7


@pytest.mark.parametrize("universe", [None, "GEO = d2"])
def test_a_coarse_row_whose_parts_are_not_there_is_refused(universe: str | None, engine: DuckDB) -> None:
    rows = pa.table({"GEO": ["d2", "v10", "v30"], "SEX": ["F", "M", "M"], "n": [20, 10, 10]})
    spec = programme([GEO, SEX], [by(GEO), by(SEX)], universes=[universe])
    with pytest.raises(DataProblemsError, match="d2"):
        protect(rows, spec, Exact(), count="n", engine=engine)


def test_rows_that_are_left_out_as_margins_are_counted(engine: DuckDB) -> None:
    rows = pa.table({"SEX": ["F", "M", "_T"], "n": [3, 4, 7]})
    summary = protect(rows, programme([SEX], [by(SEX)]), Exact(), count="n", engine=engine).summary
    assert summary
    assert (summary.records, summary.margins) == (7, 1)


def test_unknown_codes_are_still_refused_beside_margins(engine: DuckDB) -> None:
    rows = pa.table({"GEO": ["v10", "v99"], "AGE": ["Y1", "_T"], "SEX": ["F", "M"], "EMP": ["1", "2"], "n": [1, 1]})
    with pytest.raises(DataProblemsError, match="v99"):
        protect(rows, TOWN, Exact(), count="n", engine=engine)


# --- A folder of tables ---


def tables_in(folder: Path, spec: Programme, data: pa.Table, engine: DuckDB, form: str = "parquet") -> Path:
    """Write the true counts of every table to a folder, as a release keeps them."""
    truth = protect(data, spec, Exact(), engine=engine)
    folder.mkdir(exist_ok=True)
    for name in truth.ids:
        write_table(name, truth.table(name), folder, form)
    return folder


@examples(given(st.data()), quick=4, slow=25, suppress_health_check=[HealthCheck.too_slow])
def test_tables_that_are_counted_already_give_the_release_of_the_records(engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes())
    known = frame(spec, data.draw(records(spec)))
    truth = protect(known, spec, Exact(), engine=engine)
    # A table of nobody is a file without rows, which is refused.
    assume(all(truth.table(name).num_rows for name in truth.ids))
    with tempfile.TemporaryDirectory() as folder:
        tables_in(Path(folder), spec, known, engine, data.draw(st.sampled_from(["parquet", "csv"])))
        found = protect(folder, spec, BY_PLACE, tabulated=True, count="value", engine=engine)
    assert all_cells(found) == all_cells(protect(known, spec, BY_PLACE, engine=engine))


def test_only_the_tables_that_hold_the_finest_cells_are_read(tmp_path: Path, engine: DuckDB) -> None:
    folder = tables_in(tmp_path / "tables", TOWN, PEOPLE, engine)
    # Table 2 shows sums of table 1's cells.
    (folder / "2.parquet").unlink()
    found = protect(folder, TOWN, BY_PLACE, tabulated=True, count="value", engine=engine)
    assert all_cells(found) == all_cells(protect(PEOPLE, TOWN, BY_PLACE, engine=engine))


def test_columns_may_be_called_by_topic_too(tmp_path: Path, engine: DuckDB) -> None:
    folder = tables_in(tmp_path / "tables", TOWN, PEOPLE, engine)
    table = pq.read_table(folder / "4.parquet")
    pq.write_table(table.rename_columns(["GEO", "SEX", "value"]), folder / "4.parquet")
    found = protect(folder, TOWN, BY_PLACE, tabulated=True, count="value", engine=engine)
    assert all_cells(found) == all_cells(protect(PEOPLE, TOWN, BY_PLACE, engine=engine))


def test_what_is_known_by_its_files_has_their_fingerprint(tmp_path: Path, engine: DuckDB) -> None:
    folder = tables_in(tmp_path / "tables", TOWN, PEOPLE, engine)
    ask: Callable[[], str | None] = lambda: (  # noqa: E731 - said where it is used
        protect(folder, TOWN, BY_PLACE, tabulated=True, count="value", engine=engine).record.data_fingerprint
    )
    first = ask()
    assert first == ask()
    table = pq.read_table(folder / "3.parquet")
    pq.write_table(table.take(list(reversed(range(table.num_rows)))), folder / "3.parquet")
    assert ask() != first


def test_a_table_without_a_file_is_named(tmp_path: Path, engine: DuckDB) -> None:
    folder = tables_in(tmp_path / "tables", TOWN, PEOPLE, engine)
    (folder / "3.parquet").unlink()
    message = "has no file 3.parquet or 3.csv for table 3. Add it, or exclude the table (--tables)."
    with pytest.raises(DataFileError, match=re.escape(message)):
        protect(folder, TOWN, BY_PLACE, tabulated=True, count="value", engine=engine)


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        ("absent", {"count": "value"}, "must be one folder with a file per table, named after the id of the table."),
        (".", {}, "need a column of counts. Specify it, for example: --count value"),
        (".", {"count": "value", "missing": "drop"}, "Pre-tabulated data must not have missing values."),
    ],
)
def test_what_a_folder_of_tables_needs_is_said(data: str, more: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        protect(tmp_path / data, TOWN, BY_PLACE, tabulated=True, **more)  # type: ignore[arg-type]


def test_csv_files_are_taken_as_well(tmp_path: Path, engine: DuckDB) -> None:
    folder = tables_in(tmp_path / "tables", TOWN, PEOPLE, engine)
    for name in ("1", "3"):
        arrow_csv.write_csv(_plain(pq.read_table(folder / f"{file_stem(name)}.parquet")), folder / f"{name}.csv")
        (folder / f"{name}.parquet").unlink()
    found = protect(folder, TOWN, BY_PLACE, tabulated=True, count="value", engine=engine)
    assert all_cells(found) == all_cells(protect(PEOPLE, TOWN, BY_PLACE, engine=engine))


def _plain(table: pa.Table) -> pa.Table:
    return pa.table(
        {name: table[name].cast(pa.string()) if name != "value" else table[name] for name in table.schema.names}
    )
