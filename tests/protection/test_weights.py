"""Weighted counts: the noisy count times the mean weight, with the same noise as without weights."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from discreet.accuracy.release_utility import utility
from discreet.engines.duckdb import DuckDB
from discreet.errors import InputError, ParameterError, RecordKeyError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.protection.repetition import repeat
from discreet.release.release import open_release
from discreet.tabulation import cell_counts as cells_of_statistics
from tests.each import each
from tests.protection.town import SECRET, TOWN, cells, frame, participants, people
from tests.quick import examples
from tests.tabulation.small_data import counted, programmes, records

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.mechanisms.mechanism import Mechanism

BY_PLACE = Coordinates(PTable.max_entropy(variance=2, bound=5), SECRET)
PEOPLE = people(300)
WEIGHTS = np.round(np.random.default_rng(5).gamma(3, 20, PEOPLE.num_rows), 2)
WEIGHTED = PEOPLE.append_column("W", pa.array(WEIGHTS))


@examples(
    given(st.data()),
    quick=10,
    slow=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@pytest.mark.parametrize("dense_most", [20_000_000, 0])
def test_every_cell_has_its_sum_of_weights(
    dense_most: int, engine: DuckDB, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    monkeypatch.setattr(cells_of_statistics, "DENSE_MOST", dense_most)
    spec = data.draw(programmes())
    known = data.draw(records(spec))
    # In steps of 1/1024 sums are exact; some are large enough to fill more than 32 bits.
    weight = data.draw(
        st.lists(st.integers(0, 10**9 * 1024), min_size=len(known), max_size=len(known)).map(
            lambda given: [step / 1024 for step in given]
        )
    )
    release = protect(frame(spec, known, W=weight), spec, Exact(), weight="W", engine=engine)
    for table in spec.tables:
        expected = counted(spec, table, known, [round(each * 1024) for each in weight], 2**62)
        found = release.table(table.id)
        shown = cells(found.drop(["weighted"]))
        assert shown == {cell: n for cell, (n, _) in expected.items()}
        sums = cells(found.drop(["value"]))
        assert sums == pytest.approx({cell: total / 1024 for cell, (_, total) in expected.items()}, abs=0.5)


def test_weights_change_no_noise_and_are_multiplied_by_it(engine: DuckDB) -> None:
    plain = protect(PEOPLE, TOWN, BY_PLACE, engine=engine)
    release = protect(WEIGHTED, TOWN, BY_PLACE, weight="W", engine=engine)
    rows = [
        dict(zip(PEOPLE.column_names, row, strict=True)) for row in zip(*(c.to_pylist() for c in PEOPLE), strict=True)
    ]
    for table in TOWN.tables[:3]:
        found = release.table(table.id)
        assert cells(found.drop(["weighted"])) == cells(plain.table(table.id))
        inside = participants(TOWN, table, rows)
        for cell, value in cells(plain.table(table.id)).items():
            mean = sum(WEIGHTS[number] for number in inside[cell]) / len(inside[cell])
            assert cells(found.drop(["value"]))[cell] == pytest.approx(value * mean, abs=0.5 + 1e-3)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_weighted_release_reads_back_as_it_was_written(form: str, tmp_path: Path, engine: DuckDB) -> None:
    protect(WEIGHTED, TOWN, BY_PLACE, weight="W", out=tmp_path / "out", form=form, keep_exact=True, engine=engine)
    release = open_release(tmp_path / "out")
    held = protect(WEIGHTED, TOWN, BY_PLACE, weight="W", engine=engine)
    for name in release.ids:
        assert release.table(name).to_pylist() == held.table(name).to_pylist()
        assert release.exact(name).column_names[-2:] == ["value", "weighted"]
    assert "weighted" in release.description["columns"]


@pytest.mark.parametrize("threads", [1, 4])
def test_sums_of_weights_are_the_same_whatever_the_order(threads: int, engine: DuckDB) -> None:
    shuffled = WEIGHTED.take(np.random.default_rng(8).permutation(WEIGHTED.num_rows))
    with DuckDB(threads=threads) as other:
        first = protect(WEIGHTED, TOWN, Exact(), weight="W", engine=engine)
        second = protect(shuffled, TOWN, Exact(), weight="W", engine=other)
    assert all(first.table(name).equals(second.table(name)) for name in first.ids)


@each(
    ("weights", "message"),
    [
        ([1.0, None], "W has no valid weight in 1 record: in record 2 it is missing."),
        ([-0.5, 1.0], "in record 1 it is negative."),
        ([1e10, 1.0], "in record 1 it is too large. Weights must be numbers from 0 to 1e+09."),
        (["heavy", "1"], "in record 1 it is not a number."),
        ([True, False], "W contains values of type bool."),
    ],
)
def test_weights_that_are_none_are_refused(weights: list[object], message: str, engine: DuckDB) -> None:
    columns = {"GEO": ["v10", "v20"], "AGE": ["Y1", "O"], "SEX": ["F", "M"], "EMP": ["1", "2"]}
    with pytest.raises(RecordKeyError, match=re.escape(message)):
        protect(pa.table({**columns, "W": weights}), TOWN, Exact(), weight="W", engine=engine)


@pytest.mark.parametrize(
    "mechanism",
    [
        EpsDP(Budget(1.0)),
        CellKey(PTable.max_entropy(variance=2, bound=5, perturb_zeros=True), secret=SECRET),
    ],
)
def test_an_empty_cell_has_no_mean_weight(mechanism: Mechanism, engine: DuckDB) -> None:
    with pytest.raises(ParameterError, match=r"an empty cell has no mean weight\. Remove --weight"):
        protect(WEIGHTED, TOWN, mechanism, id="ID", weight="W", engine=engine)


def test_the_mean_weight_tells_no_true_count(engine: DuckDB) -> None:
    # With decimals only the true count would make the sum of whole weights whole.
    whole = PEOPLE.append_column("W", pa.array(np.rint(WEIGHTS).astype(int)))
    release = protect(whole, TOWN, BY_PLACE, weight="W", engine=engine)
    truth = cells(protect(PEOPLE, TOWN, Exact(), engine=engine).table("1"))
    for row in release.table("1").to_pylist():
        value, weighted = row["value"], row["weighted"]
        near = [
            (count * (weighted - 0.5) / value, count * (weighted + 0.5) / value)
            for count in range(value - 2, value + 3)
        ]
        fits = [np.floor(high) >= np.ceil(low) for low, high in near if low > 0]
        assert sum(fits) >= len(fits) - 1
    assert truth
    assert release.summary
    assert "Publish only weighted counts (--weighted-only)" in release.summary.warnings[0]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_weighted_counts_can_be_published_alone(tmp_path: Path, form: str, engine: DuckDB) -> None:
    light = PEOPLE.append_column("W", pa.array(np.where(np.array(PEOPLE["SEX"].to_pylist()) == "F", 0.0, WEIGHTS)))
    both = protect(light, TOWN, BY_PLACE, weight="W", engine=engine)
    path = tmp_path / "alone"
    alone = protect(
        light, TOWN, BY_PLACE, weight="W", weighted_only=True, keep_exact=True, out=path, form=form, engine=engine
    )
    assert alone.summary
    assert not alone.summary.warnings
    for name in both.ids:
        expected = cells(both.table(name).drop(["value"]))
        found = open_release(path).table(name)
        assert found.column_names[-1] == "weighted"
        assert "value" not in found.column_names
        # Weighted counts of 0 are left out as unweighted ones are: a row would show that somebody is there.
        assert cells(found) == {cell: value for cell, value in expected.items() if value}
    assert any(0 in both.table(name).column("weighted").to_pylist() for name in both.ids)
    again = repeat(tmp_path / "alone.curator", data=light, secret=SECRET)
    assert all(cells(again.table(name)) == cells(alone.table(name)) for name in alone.ids)
    with pytest.raises(InputError, match="contains only weighted counts"):
        utility(path)
    with pytest.raises(ParameterError, match="Weighted counts need weights"):
        protect(PEOPLE, TOWN, BY_PLACE, weighted_only=True, engine=engine)


def test_weights_that_add_up_to_too_much_are_refused(engine: DuckDB) -> None:
    heavy = PEOPLE.append_column("W", pa.array([1e9] * PEOPLE.num_rows))
    many = pa.concat_tables([heavy] * 20)
    with pytest.raises(ParameterError, match=r"The weights in the data frame sum to more than 4,398,046,511,104\."):
        protect(many, TOWN, BY_PLACE, weight="W", engine=engine)


def test_weights_of_rows_with_counts_are_those_of_the_row(engine: DuckDB) -> None:
    rows = pa.table({"GEO": ["v10"], "AGE": ["Y1"], "SEX": ["F"], "EMP": ["1"], "n": [4], "W": [10.0]})
    found = protect(rows, TOWN, Exact(), count="n", weight="W", engine=engine).table("3").to_pylist()
    assert all((row["value"], row["weighted"]) == (4, 10.0) for row in found)
