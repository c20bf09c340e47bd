"""From records to noise, cell by cell as the peers do it: R cellKey and the ONS tool, no mismatch allowed."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from discreet import PTable, read_ptable
from tests.quick import rows_in

DATA = Path(__file__).parents[1] / "data"
TESTDATA = "DISCREET_CELLKEY_VECTORS"


def table(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.DictReader(io.StringIO(text)))


def geo_codes(code: str) -> tuple[str, str, str]:
    return code, f"R{int(code[1:]) // 5}", "Total"


def age_codes(code: str) -> tuple[str, str, str]:
    number = int(code[1:])
    return code, "Y" if number <= 3 else "W" if number <= 12 else "O", "Total"


def test_every_cell_of_cellkey_gets_its_noise() -> None:
    count: dict[tuple[str, ...], int] = defaultdict(int)
    key: dict[tuple[str, ...], int] = defaultdict(int)
    for record in table(DATA / "cellkey/records.csv.gz"):
        choices = (
            geo_codes(record["geo"]),
            (record["sex"], "Total"),
            age_codes(record["age"]),
            (record["emp"], "Total"),
        )
        for cell in product(*choices):
            count[cell] += 1
            key[cell] += int(record["key"])
    cells = table(DATA / "cellkey/cells.csv.gz")
    names = [(cell["geo"], cell["sex"], cell["age"], cell["emp"]) for cell in cells]
    assert [count[name] for name in names] == [int(cell["count"]) for cell in cells]
    ptable = read_ptable(DATA / "formats/cnts_D5_V3_js2_cellkey.yaml")
    noise = ptable.draw([count[n] for n in names], [key[n] % ptable.key_space for n in names], mode="plain")
    expected = [int(cell["noise"]) for cell in cells]
    assert len(expected) == 8250
    assert noise.tolist() == expected


ONS = [
    ("ptable_10_5_rule", "test_microdata.csv", "test_output_var1_var5_var8_thr10"),
    ("ptable_stochastic_D5_V2_js1_256", "test_microdata.csv", "test_output_stochastic_var1_var5_var8_thr10"),
    ("ptable_stochastic_D5_V2_js1_256", "test_microdata.csv", "test_output_stochastic_var1_var5_var8_thr0"),
    ("ptable_stochastic_D5_V2_js1_256", "microdata_20000.csv.gz", "test_output_stochastic_20000_var2_thr0"),
]


@pytest.mark.parametrize(("rule", "records", "output"), rows_in(4, ONS))
def test_every_cell_of_the_ons_tool_gets_its_noise(rule: str, records: str, output: str) -> None:
    cells = table(DATA / f"ons/{output}.csv")
    variables = [name for name in cells[0] if name.startswith("var")]
    count: dict[tuple[str, ...], int] = defaultdict(int)
    key: dict[tuple[str, ...], int] = defaultdict(int)
    for record in table(DATA / "ons" / records):
        cell = tuple(record[name] for name in variables)
        count[cell] += 1
        key[cell] += int(record["record_key"])
    ptable = read_ptable(DATA / f"ons/{rule}.csv.gz")
    names = [tuple(cell[name] for name in variables) for cell in cells]
    assert [count[name] for name in names] == [int(cell["pre_sdc_count"]) for cell in cells]
    noise = ptable.draw([count[n] for n in names], [key[n] % ptable.key_space for n in names], mode="plain")
    assert noise.tolist() == [int(cell["pvalue"]) for cell in cells]


@pytest.mark.slow
@pytest.mark.skipif(TESTDATA not in os.environ, reason=f"{TESTDATA} names no folder: cellKey's own records are GPL")
@pytest.mark.parametrize("variable", ["total", "cnt_highincome"])
def test_cellkeys_own_records_give_its_own_noise(variable: str) -> None:
    folder = Path(os.environ[TESTDATA])
    count: dict[tuple[str, ...], int] = defaultdict(int)
    key: dict[tuple[str, ...], int] = defaultdict(int)
    for record in table(folder / "testdata_records.csv"):
        if variable == "total" or record[variable] == "1":
            for cell in product((record["sex"], "Total"), (record["age"], "Total")):
                count[cell] += 1
                key[cell] += round(float(record["rkey"]) * 10**8)
    cells = table(folder / f"T1_{variable}_sex_age.csv")
    names = [(cell["sex"], cell["age"]) for cell in cells]
    # cellKey's example table: bound 2, variance 1.05, threshold 1, on eight decimals; its row 3, the only one
    # that is not monotone, serves counts of 3, and none of these cells has one.
    made = PTable.max_entropy(variance=1.05, bound=2, threshold=1, monotone=True, floor=1e-8, key_space=10**8)
    noise = made.draw([count[n] for n in names], [key[n] % 10**8 for n in names], mode="plain")
    assert [count[name] for name in names] == [int(float(cell["uwc"])) for cell in cells]
    assert noise.tolist() == [int(cell["pert"]) for cell in cells]
