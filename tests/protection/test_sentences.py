"""The sentences of `discreet protect`, one and many, with noise and without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import (
    Budget,
    CellKey,
    EpsDP,
    Exact,
    Laplace,
    PTable,
    SeededBits,
    TwoSidedGeometric,
    protect,
)
from discreet.noise.published_counts import cut_bias
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.protection.dry_run import RunEstimate
from discreet.protection.sentences import estimate_text, noise_results, protect_text
from discreet.release.release import Release, RunSummary

SEX = Level("SEX", "SEX", 2, ("F", "M"))
SECONDS = {"reading": 2.0, "counting": 0.1, "noise": 0.2, "writing": 0.34, "all": 3.06}


def release(mechanism: CellKey | EpsDP | Exact, unit: str = "persons") -> Release:
    programme = Programme(
        "Town", {"SEX": Topic("SEX", (SEX,))}, (Table("1", (Breakdown("SEX", "SEX", (SEX,)),), unit=unit),)
    )
    data = pa.table({"SEX": ["F"] * 40 + ["M"] * 50, "KEY": pa.array(range(90), pa.uint32())})
    return protect(data, programme, mechanism, key="KEY")


def text(made: Release, rows: list[int], size: int, **changes: Any) -> list[str]:  # noqa: ANN401
    files = [{"id": str(n), "rows": r, "bytes": size} for n, r in enumerate(rows)]
    summary: dict[str, Any] = {
        "records": 90,
        "dropped": 0,
        "topics": 2,
        "statistics": 5,
        "cells": 1234567,
        "seconds": SECONDS,
    } | changes
    described = Release(None, {**made.description, "files": files}, RunSummary(**summary), own_record=made.record)
    return protect_text(described, Path("out"), ["Mind the gap."]).splitlines()


NOISY = CellKey(PTable.max_entropy(variance=3, bound=5), secret=b"a secret for the tests only")


def test_many() -> None:
    assert text(release(NOISY), [5000, 5000], 2_345_678, dropped=12) == [
        "reading    90 records, 12 others dropped because of a missing value, 2 topics, 2.0 s, 45 a second",
        "counting   2 tables, 5 statistics, 1,234,567 cells, 0.1 s",
        "noise      standard deviation 1.73, at most 5, 0.2 s",
        "writing    10,000 published rows, 4.7 MB, 0.3 s",
        "out/ is complete after 3.1 s. It contains no confidential data. Assess or attack it before you publish it.",
        "out.curator/ contains confidential data. Do not publish it.",
        "Warning: Mind the gap.",
        "Next: discreet assess out",
    ]


def test_one() -> None:
    found = text(release(NOISY), [1], 640, records=1, dropped=1, topics=1, statistics=1, cells=1)
    assert found[0].startswith("reading    1 record, 1 other dropped because of a missing value, 1 topic, 2.0 s")
    assert found[1].startswith("counting   1 table, 1 statistic, 1 cell, ")
    assert found[3].startswith("writing    1 published row, 0.6 kB, ")


def test_true_counts_are_never_called_harmless() -> None:
    found = text(release(Exact()), [3], 640)
    assert found[2] == "noise      none: these are true counts, 0.2 s"
    assert found[4] == "out/ is complete after 3.1 s. It contains true counts. Do not publish it."
    assert found[-1] == "Warning: Mind the gap."
    assert noise_results(release(Exact())) == []


def test_noise_without_a_bound() -> None:
    made = release(CellKey(Laplace(scale=2), secret=b"a secret for the tests only"))
    assert text(made, [3], 640)[2] == f"noise      standard deviation {made.record.variance**0.5:.2f}, unbounded, 0.2 s"
    assert [result.name for result in noise_results(made)] == ["typical_noise"]


def test_a_bias_is_that_of_the_counts_with_most_noise() -> None:
    # A count that spends less has more noise, and is cut more often.
    made = release(EpsDP(Budget(2.0), bits=SeededBits(1)))
    record = made.record
    assert record.privacy
    assert record.parameters == {"epsilon": 1.0}
    for smallest in (1.0, 0.25):
        told = replace(record, non_negative=True, privacy={**record.privacy, "smallest_epsilon_of_a_count": smallest})
        described = Release(None, made.description, made.summary, own_record=told)
        bias = noise_results(described)[-1]
        assert bias.name == "bias"
        assert bias.value == pytest.approx(cut_bias(TwoSidedGeometric(epsilon=smallest), 0))
        assert bias.sentence in protect_text(described, Path("out"), [])


def test_a_p_table_that_keeps_zeros_has_no_bias_to_tell() -> None:
    told = replace(release(NOISY).record, non_negative=True)
    results = noise_results(Release(None, release(NOISY).description, None, own_record=told))
    assert "bias" not in {result.name for result in results}


@pytest.mark.parametrize("unit", ["persons", "dwellings"])
def test_results_are_in_the_unit_of_the_tables(unit: str) -> None:
    typical, largest = noise_results(release(NOISY, unit))
    assert (typical.unit, largest.unit) == (unit, unit)
    assert (
        typical.sentence
        == "The typical difference between a published count and the true count is 1.73 (standard deviation)."
    )
    assert largest.sentence == "No published count differs from the true count by more than 5."


ESTIMATE: dict[str, Any] = {
    "records": 600_000, "guessed": False, "tables": 103, "maximal": 98, "statistics": 2316, "cells": 3_195_402,
    "memory": 161_554_800, "disk": 7_988_505, "seconds": 3.6,
}  # fmt: skip


def test_an_estimate() -> None:
    assert estimate_text(RunEstimate(**ESTIMATE)).splitlines() == [
        "Dry run: nothing was counted or written.",
        "data       600,000 records",
        (
            "programme  103 tables (98 counted from the records, the others aggregated from these), "
            "2,316 statistics, 3,195,402 cells"
        ),
        "memory     about 162 MB",
        "disk       at most about 8.0 MB",
        "time       about 4 s on two cores",
    ]


def test_an_estimate_that_guesses() -> None:
    one: dict[str, Any] = {
        "guessed": True,
        "tables": 1,
        "maximal": 1,
        "statistics": 1,
        "cells": 1,
        "seconds": 0.4,
        "disk": 99_940,
    }
    found = estimate_text(RunEstimate(**ESTIMATE | one)).splitlines()
    assert found[1:3] == [
        "data       about 600,000 records",
        "programme  1 table (all counted from the records), 1 statistic, 1 cell",
    ]
    assert found[4:] == ["disk       at most about 99.9 kB", "time       less than 1 s on two cores"]
