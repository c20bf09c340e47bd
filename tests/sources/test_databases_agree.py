"""The same records from a file, DuckDB and PostgreSQL give the same release."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.sources.source import open_source
from tests.protection.town import all_cells
from tests.quick import examples
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.engines.duckdb import DuckDB
    from tests.postgres_server import PostgresServer

SEX, AGE, WORKS = topic("SEX", "F M"), topic("AGE", "0 15 30 65"), topic("WORKS", "true false")
TOWN = programme([SEX, AGE, WORKS], [by(SEX), by(AGE)], [by(AGE), by(WORKS)])
CELL_KEY = CellKey(PTable.max_entropy(variance=2, bound=5), secret=b"a secret for the tests only")
RECORDS = st.lists(
    st.tuples(
        st.none() | st.sampled_from(["F", "M"]), st.none() | st.sampled_from([0, 15, 30, 65]), st.none() | st.booleans()
    ),
    min_size=1,
    max_size=30,
)
KINDS = pa.schema([("ID", pa.int64()), ("SEX", pa.string()), ("AGE", pa.int16()), ("WORKS", pa.bool_())])


def everywhere(folder: Path, server: PostgresServer, table: pa.Table) -> list[str]:
    """Write records into a file and two databases, and return their names."""
    pq.write_table(table, folder / "town.parquet")
    with duckdb.connect(folder / "town.duckdb") as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE town AS FROM given ORDER BY ID DESC")
    server.put("town", table)
    return [f"{folder}/town.parquet", f"{folder}/town.duckdb#town", f"{server.address()}#town"]


@examples(
    given(RECORDS), quick=3, slow=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_records_give_one_release_wherever_they_lie(
    engine: DuckDB, postgres: PostgresServer, records: list[tuple[str | None, int | None, bool | None]]
) -> None:
    columns = list(zip(*[(number, *record) for number, record in enumerate(records)], strict=True))
    table = pa.table([pa.array(values, field.type) for values, field in zip(columns, KINDS, strict=True)], schema=KINDS)
    with tempfile.TemporaryDirectory() as folder:
        made = [
            all_cells(protect(data, TOWN, CELL_KEY, id="ID", missing="category", engine=engine))
            for data in everywhere(Path(folder), postgres, table)
        ]
    assert made[0] == made[1] == made[2]


def test_a_fingerprint_is_the_same_each_time_it_is_taken(postgres: PostgresServer, tmp_path: Path) -> None:
    table = pa.table({"ID": [1, 2], "SEX": ["F", None]})
    for data in everywhere(tmp_path, postgres, table):
        with closing(open_source(data)) as one, closing(open_source(data)) as other:
            assert one.fingerprint() == one.fingerprint() == other.fingerprint()
