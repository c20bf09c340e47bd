"""Every reference p-table of the R package ptable, row by row; see tests/data/reference-ptables/README.md."""

from __future__ import annotations

import csv
import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InfeasibleError
from discreet.noise import PTable
from discreet.noise.ptable import PTableRow
from discreet.noise.published_counts import NEARLY_CERTAIN
from tests.each import each

DATA = Path(__file__).parents[1] / "data" / "reference-ptables"
FLOOR = 1e-8
"""The least probability that ptable gives to any change."""

TOLERANCE = 2e-6
"""The precision of ptable's own solver."""

EXAMPLE = "extra_pt_ex_cnts_D2_V1p05_js1.csv"


@cache
def tables() -> dict[str, dict[tuple[int, int], float]]:
    """Return p by true count i and target j, for every file."""
    found: dict[str, dict[tuple[int, int], float]] = {}
    with gzip.open(DATA / "tables.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            found.setdefault(line["file"], {})[int(line["i"]), int(line["j"])] = float(line["p_raw"])
    return found


@cache
def index() -> list[dict[str, str]]:
    with (DATA / "index.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@each("name", lambda: sorted(tables()), every=20)
def test_reference_tables_hide_counts(name: str) -> None:
    rows: dict[int, dict[int, float]] = {}
    for (count, target), probability in tables()[name].items():
        rows.setdefault(count, {})[target - count] = probability
    laws = [PTableRow(count, tuple(rows[count]), tuple(rows[count].values())) for count in sorted(rows)]
    assert PTable(tuple(laws)).most_revealing_count()[1] < NEARLY_CERTAIN


def solved_lines() -> list[dict[str, str]]:
    return [line for line in index() if line["status"] == "ok"]


def failed_lines(*, feasible: bool) -> list[dict[str, str]]:
    found = [line for line in index() if line["status"] == "error"]
    return [line for line in found if feasible == (not line["infeasible_rows_exact"])]


def setting(line: dict[str, str]) -> str:
    """Return a setting of the index in words."""
    return f"D={line['D']} V={line['V']} js={line['js']} optim={line['optim']} mono={line['mono']}"


def wishes_of_file(name: str) -> dict[str, Any]:
    """Return the settings that a file name stands for."""
    found = re.match(r"\w+_D(\d+)_V([0-9p]+)_js(\d+)(?:_pstay([0-9p]+))?(_optim4)?(_mono0)?\.csv", name)
    assert found, name
    bound, variance, threshold, stay, equality, free = found.groups()
    return {
        "bound": int(bound),
        "variance": float(variance.replace("p", ".")),
        "threshold": int(threshold),
        "stay": float((stay or "0").replace("p", ".")),
        "equality": bool(equality),
        "monotone": not free,
        "floor": FLOOR,
    }


def wishes_of_line(line: dict[str, str]) -> dict[str, Any]:
    """Return the settings of a line of the index."""
    return {
        "bound": int(line["D"]),
        "variance": float(line["V"]),
        "threshold": int(line["js"]),
        "stay": 0.0,
        "equality": line["optim"] == "4",
        "monotone": line["mono"] == "True",
        "floor": FLOOR,
    }


@cache
def solved(*wishes: tuple[str, Any]) -> PTable:
    return PTable.max_entropy(**dict(wishes))


def probabilities(table: PTable) -> dict[tuple[int, int], float]:
    return {
        (row.count, row.count + value): p
        for row in table.rows
        for value, p in zip(row.values, row.probabilities, strict=True)
    }


def test_the_reference_is_complete() -> None:
    assert len(tables()) == 119
    listed = {line["file"] for line in solved_lines()}
    assert listed >= {name for name in tables() if not name.startswith("extra")}
    # The index has these settings, with their variances, but their tables were not kept.
    assert {wishes_of_file(name)["bound"] for name in listed - set(tables())} == {3}
    assert {wishes_of_file(name)["variance"] for name in listed - set(tables())} == {2}


@each("name", lambda: [name for name in tables() if name != EXAMPLE], every=8)
def test_table_conforms(name: str) -> None:
    ours = probabilities(solved(*wishes_of_file(name).items()))
    assert ours == pytest.approx(tables()[name], rel=0, abs=TOLERANCE)


def test_the_package_s_example_conforms() -> None:
    # pt_ex_cnts() requests the monotone side in rows 1, 2 and 4, and not in row 3.
    wishes = wishes_of_file(EXAMPLE)
    rising = probabilities(PTable.max_entropy(**wishes))
    free = probabilities(PTable.max_entropy(**wishes | {"monotone": False}))
    ours = {cell: free[cell] if cell[0] == 3 else p for cell, p in rising.items()}
    assert ours == pytest.approx(tables()[EXAMPLE], rel=0, abs=TOLERANCE)


@each("line", solved_lines, ids=setting, every=8)
def test_variances_conform(line: dict[str, str]) -> None:
    variances = [row.variance for row in solved(*wishes_of_line(line).items()).rows[1:]]
    # An error of 2e-6 in a few probabilities, times squares of up to D^2.
    tolerance = TOLERANCE * int(line["D"]) ** 2
    assert min(variances) == pytest.approx(float(line["var_min"]), rel=0, abs=tolerance)
    assert max(variances) == pytest.approx(float(line["var_max"]), rel=0, abs=tolerance)


@each("line", lambda: failed_lines(feasible=True), ids=setting)
def test_a_feasible_setting_that_ptable_fails_on_is_solved(line: dict[str, str]) -> None:
    table = PTable.max_entropy(**wishes_of_line(line))
    assert len(table.rows) == int(line["D"]) + 1 + (int(line["js"]) + 1 if int(line["js"]) else 0)
    for row in table.rows:
        assert row.mean == pytest.approx(0, abs=1e-11)
        assert row.variance <= float(line["V"]) * (1 + 1e-11)


@each("line", lambda: failed_lines(feasible=False), ids=setting, every=24)
def test_an_infeasible_setting_is_refused_with_one_of_its_rows(line: dict[str, str]) -> None:
    with pytest.raises(InfeasibleError) as refusal:
        PTable.max_entropy(**wishes_of_line(line))
    assert refusal.value.row in map(int, line["infeasible_rows_exact"].split())
