"""The page of comparisons shows what was measured, what it says of it is so, and it comes out again.

The figures of docs/results/compare.md are made by `python -m benchmarks.compare --write` and kept in
benchmarks/results/compare.json. Slow tests measure them again: two mechanisms without attacks, and then all.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.compare import ALIKE, BUDGETS, MEASURED, PAGE, ROOT, SOURCES, budgets, page, rows_of, spent, table
from discreet.calibration.comparison import AT, compare
from discreet.programme.programme_files import load_programme

FOUND: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
TEXT = PAGE.read_text(encoding="utf-8")
ATTACKED = ("right", "singles")
"""What takes long to measure."""
LAWS = ("geometric", "laplace", "gaussian", "discrete-gaussian", "uniform", "truncated-laplace", "truncated-gaussian")
"""The same law for every count from 1 on."""


def rows(data: str, at: str = AT[0]) -> dict[str, dict[str, Any]]:
    """Return the figures of one comparison by mechanism."""
    return {row["name"]: row for run in FOUND["runs"] if (run["data"], run["at"]) == (data, at) for row in run["rows"]}


def test_the_page_shows_what_was_measured() -> None:
    assert page(TEXT, FOUND) == TEXT
    for run in FOUND["runs"]:
        assert table(run["rows"]) in TEXT
    for each in FOUND["budgets"].values():
        assert budgets(each) in TEXT
        assert [row["epsilon"] for row in each] == list(BUDGETS)


def test_what_is_held_equal_is_equal() -> None:
    for data in ("ons", "pt"):
        assert all(row["variance"] == pytest.approx(2, rel=1e-6) for row in rows(data).values())
    assert len({round(row["formula"], 9) for row in rows("ons", "equal-risk").values()}) == 1


def test_the_page_says_what_the_figures_say() -> None:
    ons, pt = rows("ons"), rows("pt")
    for found, right, of_laws, of_tables, of_zeros in (
        (ons, (48, 55), (75, 79), (56, 62), 59),
        (pt, (44, 50), (79, 88), (57, 58), 58),
    ):
        shares = [round(100 * row["right"]) for row in found.values()]
        assert (min(shares), max(shares)) == right
        singles = {name: round(100 * row["singles"]) for name, row in found.items()}
        laws = [singles[name] for name in LAWS]
        tables = [singles[name] for name in ("cell-key", "coordinates", "fresh") if name in singles]
        assert (min(laws), max(laws)) == of_laws
        assert (min(tables), max(tables)) == of_tables
        assert singles["eps-dp"] == of_zeros
        assert 0.24 < found["eps-dp"]["false positives"] < 0.29
    tails = [found[name]["worst"] for found in (ons, pt) for name in ("geometric", "laplace", "eps-dp")]
    assert (min(tails), max(tails)) == (10, 14)
    assert {round(ons[name]["worst"]) for name in ("cell-key", "truncated-laplace", "truncated-gaussian")} == {5}
    assert all(row["right"] - row["as is"] < 0.09 for row in (ons["geometric"], pt["geometric"]))
    assert all(row["right"] - row["as is"] > 0.1 for row in (ons["cell-key"], ons["gaussian"], pt["coordinates"]))
    fresh, shared = rows("ons", "equal-risk")["fresh"], rows("ons", "equal-risk")["cell-key"]
    assert (round(fresh["variance"], 2), round(fresh["off"], 1), round(shared["off"], 1)) == (4.89, 1.7, 1.1)
    one, eight = (next(row for row in FOUND["budgets"]["ons"] if row["epsilon"] == epsilon) for epsilon in (1, 8))
    assert [round(row["expected_absolute_distance"]) for row in (one, eight)] == [181, 23]
    assert 0.49 < one["expected_false_positives"] < 0.51
    assert ons["gaussian"]["worst"] == ons["discrete-gaussian"]["worst"] == pt["gaussian"]["worst"] == 6
    assert 1 - ons["truncated-laplace"]["off"] / ons["cell-key"]["off"] == pytest.approx(1 / 8, abs=0.02)
    assert min(row["apart"] for row in (*ons.values(), *pt.values())) > 0.7


@pytest.mark.slow
def test_two_mechanisms_measured_again_give_the_same() -> None:
    source = SOURCES[0]
    data, programme = pq.read_table(ROOT / source.data), load_programme(str(ROOT / source.programme))
    found = compare(data, programme, ["cell-key", "fresh"], at="equal-risk", attacks=(), **source.reading)
    measured = rows("ons", "equal-risk")
    for row in rows_of(found):
        before = measured[str(row.pop("name"))]
        for name, value in row.items():
            if name not in ATTACKED:
                assert value == pytest.approx(before[name], rel=1e-9), name


@pytest.mark.slow
@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.short)
def test_all_measured_again_give_the_same(source: Any, at: str) -> None:  # noqa: ANN401 - a source
    if at not in ALIKE.get(source.short, AT):
        pytest.skip("equal risk is equal variance where no count is shown twice")
    measured = rows(source.short, at)
    for row in rows_of(source.compared(at)):
        before = measured[row.pop("name")]
        for name, value in row.items():
            assert value == (None if before[name] is None else pytest.approx(before[name], rel=1e-6)), name


@pytest.mark.slow
def test_a_budget_measured_again_gives_the_same() -> None:
    assert spent(SOURCES[0], 1.0) == pytest.approx(FOUND["budgets"]["ons"][2])
