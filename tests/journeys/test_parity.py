"""`discreet protect` from end to end against the peers: R cellKey and the ONS tool, every published cell the same."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from math import sqrt
from pathlib import Path

import pytest

from discreet.release.release import open_release
from tests.journeys.running import DATA, PROGRAMMES, Cells, cells, discreet
from tests.quick import rows_in

TESTDATA = "DISCREET_CELLKEY_VECTORS"
TOTAL = {"Total": "_T"}
"""The peers' word for a total, and ours."""


def lines(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.DictReader(io.StringIO(text)))


def protect(records: Path, programme: str, ptable: Path, key: str, table: str, out: Path) -> Cells:
    """Run the command with plain keys, which are those of the peers, and return one of the tables it published."""
    data = ("protect", records, "--programme", PROGRAMMES / programme, "--tables", table)
    discreet(*data, "--ptable", ptable, "--key", key, "--key-mode", "plain", "--out", out)
    return cells(open_release(out).table(table))


def check_every_cell(published: Cells, expected: Cells) -> None:
    """Compare all cells: one that is not published is a 0, and nothing else is published."""
    assert published.keys() <= expected.keys()
    wrong = {cell: (published.get(cell, 0), value) for cell, value in expected.items()}
    assert not {cell: pair for cell, pair in wrong.items() if pair[0] != pair[1]}


def test_every_cell_is_published_as_cellkey_would(tmp_path: Path) -> None:
    ptable = DATA / "formats/cnts_D5_V3_js2_cellkey.yaml"
    published = protect(DATA / "cellkey/records.csv.gz", "cellkey.toml", ptable, "key", "T3", tmp_path / "release")
    expected = {
        tuple(TOTAL.get(cell[name], cell[name]) for name in ("geo", "sex", "age", "emp")): int(cell["count"])
        + int(cell["noise"])
        for cell in lines(DATA / "cellkey/cells.csv.gz")
    }
    assert len(expected) == 8250
    assert 0 in expected.values()
    check_every_cell(published, expected)


ONS = [
    ("ptable_10_5_rule", "test_microdata.csv", "test_output_var1_var5_var8_thr10"),
    ("ptable_stochastic_D5_V2_js1_256", "test_microdata.csv", "test_output_stochastic_var1_var5_var8_thr10"),
    ("ptable_stochastic_D5_V2_js1_256", "test_microdata.csv", "test_output_stochastic_var1_var5_var8_thr0"),
    ("ptable_stochastic_D5_V2_js1_256", "microdata_20000.csv.gz", "test_output_stochastic_20000_var2_thr0"),
]


@pytest.mark.parametrize(("rule", "records", "output"), rows_in(4, ONS))
def test_every_cell_is_published_as_by_the_ons_tool(rule: str, records: str, output: str, tmp_path: Path) -> None:
    found = lines(DATA / f"ons/{output}.csv")
    variables = [name for name in found[0] if name.startswith("var")]
    ptable, table = DATA / f"ons/{rule}.csv.gz", "_".join(variables)
    published = protect(DATA / "ons" / records, "ons_tool.toml", ptable, "record_key", table, tmp_path / "release")
    # The tool has no margins; it sets counts below its threshold missing after the noise, which is not our doing.
    finest = {cell: value for cell, value in published.items() if "_T" not in cell}
    expected = {
        tuple(cell[name] for name in variables): int(cell["pre_sdc_count"]) + int(cell["pvalue"]) for cell in found
    }
    check_every_cell(finest, expected)
    threshold = int(output.rpartition("thr")[2])
    for cell in found:
        value = published.get(tuple(cell[name] for name in variables), 0)
        assert cell["count"] in {"", str(value)}
        assert (cell["count"] == "") == (value < threshold)


def test_what_is_said_of_the_noise_holds_for_every_row_of_a_ptable(tmp_path: Path) -> None:
    # The 10-5 rule changes a 9 to 0, but no count of 10 and more by more than 2.
    out, ptable = tmp_path / "release", DATA / "ons/ptable_10_5_rule.csv.gz"
    data = ("protect", DATA / "ons/test_microdata.csv", "--programme", PROGRAMMES / "ons_tool.toml")
    told = json.loads(
        discreet(*data, "--ptable", ptable, "--key", "record_key", "--key-mode", "plain", "--out", out, "--json")
    )
    results = {result["name"]: result["value"] for result in told["results"]}
    assert results["largest_noise"] == 9
    assert results["typical_noise"] == pytest.approx(sqrt(2))  # -2, -1, 0, 1, 2 in turn
    description = open_release(out).description
    assert description["noise"]["bound"] == "not more than about 10"
    assert str(PROGRAMMES) not in json.dumps(description)
    assert json.loads(discreet("assess", out, "--json"))["results"]


@pytest.mark.slow
@pytest.mark.skipif(TESTDATA not in os.environ, reason=f"{TESTDATA} names no folder: cellKey's own records are GPL")
@pytest.mark.parametrize("variable", ["total", "cnt_highincome"])
def test_cellkeys_own_records_are_published_as_by_cellkey(variable: str, tmp_path: Path) -> None:
    folder = Path(os.environ[TESTDATA])
    # cellKey's example table; its row 3, the only one that is not monotone, serves counts of 3: no cell has one.
    law = ("--variance", "1.05", "--bound", "2", "--threshold", "1", "--monotone", "--floor", "1e-8")
    ptable = tmp_path / "ptable.yaml"
    discreet("ptable", *law, "--format", "cellkey", "--out", ptable)
    # The keys of these records are fractions, as cellKey makes them.
    records = folder / "testdata_records.csv"
    published = protect(records, "cellkey_own.toml", ptable, "rkey", variable, tmp_path / "release")
    cells_of_cellkey = lines(folder / f"T1_{variable}_sex_age.csv")
    names = [tuple(TOTAL.get(cell[name], cell[name]) for name in ("sex", "age")) for cell in cells_of_cellkey]
    check_every_cell(published, {name: int(cell["puwc"]) for name, cell in zip(names, cells_of_cellkey, strict=True)})
    # With weights: the same noise, times the mean weight, to the nearest whole number.
    out, data = tmp_path / "weighted", ("protect", records, "--programme", PROGRAMMES / "cellkey_own.toml")
    flags = ("--ptable", ptable, "--key", "rkey", "--key-mode", "plain", "--weight", "sampling_weight")
    discreet(*data, *flags, "--tables", variable, "--out", out)
    rows = open_release(out).table(variable).to_pylist()
    weighted: dict[tuple[str, ...], tuple[int, int]] = {
        (row["SEX"], row["AGE"]): (row["value"], row["weighted"]) for row in rows
    }
    for name, cell in zip(names, cells_of_cellkey, strict=True):
        value, sum_of_weights = weighted.get(name, (0, 0))
        assert value == int(cell["puwc"])
        assert abs(sum_of_weights - float(cell["pwc"] or 0)) <= 0.5
