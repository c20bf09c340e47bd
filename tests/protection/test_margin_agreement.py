"""Tables that were counted elsewhere: what several of them show must be the same, by brute force over codes."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from discreet.errors import DisagreementError
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.cli import town
from tests.protection.test_data_input import tables_in
from tests.protection.town import SECRET, SEX, TOWN, all_cells, frame, people, squares
from tests.quick import examples
from tests.tabulation.small_data import by, programme, programmes, records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.engines.duckdb import DuckDB
    from discreet.programme.model import Level, Programme, Table
    from discreet.release.release import Release

NOISE = Coordinates(PTable.max_entropy(variance=2, bound=5), SECRET)
Sizes = frozenset[tuple[str, int]]
"""A statistic by the sizes of its levels."""


def publish(folder: Path | str, spec: Programme, engine: DuckDB) -> Release:
    return protect(folder, spec, NOISE, tabulated=True, count="value", engine=engine)


def finest(table: Table, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the rows that are no margins: all codes are of the finest level."""
    last = {b.code: set(b.levels[-1].codes or ()) if b.levels else {"_T"} for b in table.breakdowns}
    return [row for row in rows if all(row[code] in known for code, known in last.items())]


def statistics(spec: Programme, one: Table, other: Table) -> Iterator[dict[str, Level]]:
    """Give every statistic that two tables have in common, by topic its level; the total has none."""
    bases = [{b.topic: b.levels[-1] for b in table.breakdowns if b.levels} for table in (one, other)]
    both = bases[0].keys() & bases[1].keys()
    levels: list[list[tuple[str, Level] | None]] = [
        [None, *((name, v) for v in spec.topics[name].levels if 1 < v.size <= min(base[name].size for base in bases))]
        for name in sorted(both)
    ]
    for choice in product(*levels):
        yield dict(filter(None, choice))


def counts(spec: Programme, table: Table, rows: list[dict[str, object]], chosen: dict[str, Level]) -> Counter[object]:
    found: Counter[object] = Counter()
    columns = {b.topic: b.code for b in table.breakdowns}
    for row in rows:
        cell = []
        for name, level in chosen.items():
            tree = spec.topics[name].tree
            assert tree
            (code,) = [step for step in tree.path(str(row[columns[name]])) if step in (level.codes or ())]
            cell.append((name, code))
        value = row["value"]
        assert isinstance(value, int)
        found[frozenset(cell)] += value
    return +found


def differences(spec: Programme, folder: Path) -> dict[tuple[frozenset[str], Sizes], set[int]]:
    """Return by tables and statistic the differences of counts, of all that differ."""
    found: dict[tuple[frozenset[str], Sizes], set[int]] = {}
    for tables in spec.populations.values():
        rows = {t.id: finest(t, pq.read_table(folder / f"{t.id}.parquet").to_pylist()) for t in tables}
        for one, other in combinations(tables, 2):
            for chosen in statistics(spec, one, other):
                first, second = counts(spec, one, rows[one.id], chosen), counts(spec, other, rows[other.id], chosen)
                if first != second:
                    sizes = frozenset((name, level.size) for name, level in chosen.items())
                    apart = {abs(first[cell] - second[cell]) for cell in first.keys() | second.keys()} - {0}
                    found[frozenset({one.id, other.id}), sizes] = apart
    return found


@examples(given(st.data()), quick=8, slow=60, suppress_health_check=[HealthCheck.too_slow])
def test_tables_are_refused_if_and_only_if_they_disagree(engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes(most=3))
    known = frame(spec, data.draw(records(spec)))
    truth = protect(known, spec, Exact(), engine=engine)
    assume(all(truth.table(name).num_rows for name in truth.ids))
    with tempfile.TemporaryDirectory() as name:
        folder = tables_in(Path(name), spec, known, engine)
        changed = data.draw(st.sampled_from(truth.ids))
        rows = pq.read_table(folder / f"{changed}.parquet").to_pylist()
        rows[data.draw(st.integers(0, len(rows) - 1))]["value"] += data.draw(st.integers(1, 9))
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{changed}.parquet")
        expected = differences(spec, folder)
        if not expected:
            publish(folder, spec, engine)
            return
        with pytest.raises(DisagreementError) as caught:
            publish(folder, spec, engine)
    error = caught.value
    levels = {level.name: level for topic in spec.topics.values() for level in topic.levels}
    named = [] if error.statistic == "total" else [levels[level] for level in error.statistic.split()]
    sizes = frozenset((level.topic, level.size) for level in named)
    assert error.difference in expected[frozenset(error.tables), sizes]
    # No coarser statistic of the two differs: the first is named.
    assert not any((frozenset(error.tables), sizes - {left_out}) in expected for left_out in sizes)


X, Y = squares(2)


def write(folder: Path, **tables: dict[str, list[object]]) -> Path:
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name[-1]}.parquet")
    return folder


def test_different_totals_are_named_with_their_tables_and_the_difference_alone(tmp_path: Path, engine: DuckDB) -> None:
    spec = programme([X, Y], [by(X)], [by(Y)])
    folder = write(
        tmp_path,
        of1={"X": ["X0", "X1"], "value": [60, 50]},
        of2={"Y": ["Y0", "Y1"], "value": [110, 100]},
    )
    message = (
        "Tables 1 and 2 are inconsistent: their counts of the statistic total differ by 100. Correct the files, or "
        "exclude one of the tables (--tables)."
    )
    with pytest.raises(DisagreementError, match=f"^{re.escape(message)}$"):
        publish(folder, spec, engine)


def test_a_cell_that_differs_is_named_where_totals_agree(tmp_path: Path, engine: DuckDB) -> None:
    spec = programme([X, Y, SEX], [by(X), by(SEX)], [by(Y), by(SEX)])
    folder = write(
        tmp_path,
        of1={"X": ["X0", "X1"], "SEX": ["F", "M"], "value": [60, 50]},
        of2={"Y": ["Y0", "Y1"], "SEX": ["F", "M"], "value": [57, 53]},
    )
    with pytest.raises(DisagreementError, match="the statistic SEX:1 differ by 3 in the cell SEX F"):
        publish(folder, spec, engine)


def test_a_table_that_is_made_from_another_must_agree_with_it(tmp_path: Path, engine: DuckDB) -> None:
    data = people(300)
    folder = tables_in(tmp_path / "tables", TOWN, data, engine)
    rows = pq.read_table(folder / "2.parquet").to_pylist()
    fine = next(row for row in rows if "_T" not in row.values())
    fine["value"] += 4
    pq.write_table(pa.Table.from_pylist(rows), folder / "2.parquet")
    with pytest.raises(DisagreementError, match="the statistic total differ by 4"):
        publish(folder, TOWN, engine)
    (folder / "2.parquet").unlink()
    assert all_cells(publish(folder, TOWN, engine)) == all_cells(protect(data, TOWN, NOISE, engine=engine))


def test_the_command_ends_with_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "town.toml").write_text(
        'name = "Town"\n[topics.X]\ncategories = ["a", "b"]\n[topics.Y]\ncategories = ["c", "d"]\n'
        '[[tables]]\nid = "1"\ncolumns = ["X"]\n[[tables]]\nid = "2"\ncolumns = ["Y"]\n'
    )
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "1.csv").write_text("X,N\na,60\nb,50\n")
    (folder / "2.csv").write_text("Y,N\nc,110\nd,100\n")
    done = town.command(tmp_path, monkeypatch, capsys)(
        "protect", "tables", "--tabulated", "--count", "N", "--programme", "town.toml", "--mechanism", "fresh",
        "--variance", "3", "--bound", "5", "--out", "out",
    )  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert "Tables 1 and 2 are inconsistent: their counts of the statistic total differ by 100." in done.err
    # Of true counts the difference alone is shown.
    assert not re.search(r"\b(60|50|110|210)\b", done.err)
    assert not (tmp_path / "out").exists()
