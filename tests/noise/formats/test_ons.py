"""The full look-up of the ONS."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_files import read_ptable

RULE = Path(__file__).parents[2] / "data/ons/ptable_10_5_rule.csv.gz"


def lines() -> list[str]:
    return gzip.decompress(RULE.read_bytes()).decode().splitlines()


def refused(tmp_path: Path, text: list[str], message: str) -> None:
    (tmp_path / "t.csv").write_text("\n".join(text))
    with pytest.raises(PTableFileError, match=message):
        read_ptable(tmp_path / "t.csv")


def test_the_shipped_rule_rounds_to_base_five_and_hides_below_ten() -> None:
    table = read_ptable(RULE)
    assert (table.key_space, table.repeat, len(table.rows)) == (256, 250, 751)
    counts = [0, 1, 9, 10, 12, 13, 748, 750, 751, 10_001, 10_003]
    noise = table.draw(counts, [7] * len(counts), mode="plain").tolist()
    assert [n + x for n, x in zip(counts, noise, strict=True)] == [0, 0, 0, 10, 10, 15, 750, 750, 750, 10_000, 10_005]


def test_a_last_line_without_an_end_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n".join(lines()))
    assert read_ptable(tmp_path / "t.csv") == read_ptable(RULE)


def test_a_missing_row_is_named(tmp_path: Path) -> None:
    refused(tmp_path, [line for line in lines() if not line.startswith("200,")], "row pcv = 200 is missing")


def test_a_table_cut_short_is_not_taken_for_noise_0(tmp_path: Path) -> None:
    refused(tmp_path, lines()[: 1 + 200 * 256], "row pcv = 201 is missing.*add no noise for a missing row")


def test_a_missing_or_repeated_key_is_named(tmp_path: Path) -> None:
    refused(tmp_path, [line for line in lines() if not line.startswith("3,17,")], "pcv = 3: ckey = 17 is missing")
    refused(tmp_path, [*lines(), "3,17,0"], "pcv = 3: ckey = 17 is given more than once")


def test_rows_outside_the_rule_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, [*lines(), "0,0,0"], "pcv must be at least 1")
    refused(tmp_path, [*lines(), "751,0,0"], "a row has a pcv above 750")
    refused(tmp_path, ["pcv;ckey;pvalue", "1;0;0"], "separated by a semicolon instead of a comma")
    refused(tmp_path, ["pcv,ckey,pvalue"], "header but no rows")
