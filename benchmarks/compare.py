"""Compare mechanisms on real data, for docs/results/compare.md.

    python -m benchmarks.compare [--write]

The ONS teaching file (10,000 persons, with keys) and the parishes of Portugal by citizenship and sex (counts, without
keys) are published with every mechanism and noise distribution, at equal variance and at equal risk. Seeds are fixed,
so the figures are repeatable; they are stored in benchmarks/results/compare.json, and --write updates the page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from benchmarks.clock import RESULTS
from discreet.accuracy.release_utility import utility
from discreet.calibration.comparison import AT, compare
from discreet.charts.rendering import save_chart
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.random_bits import SeededBits
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.reports.calibration_charts import LOSS, RISK, chart_of
from discreet.tabulation.static_output import output_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calibration.comparison import Comparison

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/results/compare.md"
MEASURED = RESULTS / "compare.json"
COLUMNS = (*RISK, *LOSS)
BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Budgets of a whole output that were tested for the US census of 2020, as given in the paper."""
ALIKE = {"pt": AT[:1]}
"""Data with one table, in which no count is shown twice: equal risk is equal variance."""
SPENT = (
    "expected_absolute_distance",
    "expected_relative_distance",
    "largest_distance",
    "expected_lost_counts",
    "expected_false_positives",
)


@dataclass(frozen=True)
class Source:
    """Data and their programme."""

    name: str
    short: str
    data: str
    programme: str
    reading: dict[str, Any]

    def compared(self, at: str, mechanisms: Sequence[str] | None = None) -> Comparison:
        """Return the comparison of mechanisms, all by default."""
        data, programme = pq.read_table(ROOT / self.data), load_programme(str(ROOT / self.programme))
        return compare(data, programme, mechanisms, at=at, budget=None, **self.reading)


SOURCES = (
    Source(
        "ONS teaching file",
        "ons",
        "src/discreet/sources/ons_sample/persons.parquet",
        "src/discreet/sources/ons_sample/census.toml",
        {"id": "person_id"},
    ),
    Source(
        "Parishes of Portugal",
        "pt",
        "tests/data/pt_parish/counts.parquet",
        "tests/journeys/programmes/pt_parish.toml",
        {"count": "persons"},
    ),
)


def rows_of(found: Comparison) -> list[dict[str, Any]]:
    """Return the figures of the table, one object per mechanism."""
    return [
        {
            "name": each.name,
            "variance": each.record.variance,
            "bound": each.to_json()["bound"],
            **{column.head: each.value(*column.names) for column in COLUMNS},
        }
        for each in found.compared
    ]


def spent(source: Source, epsilon: float) -> dict[str, float]:
    """Return the errors of counts under a privacy budget for the whole output."""
    programme = load_programme(str(ROOT / source.programme))
    mechanism = EpsDP(Budget(epsilon), bits=SeededBits(0))
    reading = {name: column for name, column in source.reading.items() if name == "count"}
    release = protect(pq.read_table(ROOT / source.data), programme, mechanism, keep_exact=True, **reading)
    figures = {each.name: each.value for each in utility(release).results}
    each = epsilon / output_of(programme).sensitivity(spsn=True)
    return {
        "epsilon": epsilon,
        "each": each,
        "variance": release.record.variance,
        **{name: figures[name] for name in SPENT},
    }


# --- The page ---


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the figures of one comparison as a table of the page."""
    heads = [column.head for column in COLUMNS]
    lines = [f"| mechanism | V | E | {' | '.join(heads)} |", "|---|---|---|" + "---|" * len(heads)]
    for row in rows:
        shown = ["-" if row[each.head] is None else each.form.format(row[each.head]) for each in COLUMNS]
        bound = "-" if row["bound"] is None else f"{row['bound']:g}"
        lines.append(f"| {row['name']} | {row['variance']:.2f} | {bound} | {' | '.join(shown)} |")
    return "\n".join(lines)


def budgets(rows: Sequence[dict[str, float]]) -> str:
    """Return the errors by budget as a table of the page."""
    lines = ["| ε of the output | ε of a count | √V | off | share | worst | lost | false positives |", f"|{'---|' * 8}"]
    for row in rows:
        off, share, worst, lost, positives = (row[name] for name in SPENT)
        lines.append(
            f"| {row['epsilon']:g} | {row['each']:.2g} | {row['variance'] ** 0.5:,.0f} | {off:,.0f} | {share:,.0%} | "
            f"{worst:,.0f} | {lost:.1%} | {positives:.1%} |"
        )
    return "\n".join(lines)


def page(text: str, measured: dict[str, Any]) -> str:
    """Return the page with updated tables."""
    parts = {f"{run['data']}-{run['at']}": table(run["rows"]) for run in measured["runs"]}
    parts |= {f"{name}-budgets": budgets(rows) for name, rows in measured["budgets"].items()}
    for name, made in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text


def main() -> None:
    """Measure, draw the charts, and write the page with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the figures of docs/results/compare.md")
    write = parser.parse_args().write
    runs: list[dict[str, Any]] = []
    for source in SOURCES:
        for at in ALIKE.get(source.short, AT):
            began = time.perf_counter()
            found = source.compared(at)
            save_chart(chart_of(found), RESULTS / f"compare-{source.short}-{at}.png")
            runs.append({"data": source.short, "at": at, "rows": rows_of(found)})
            print(f"{source.name} at {at}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    measured = {
        "runs": runs,
        "budgets": {source.short: [spent(source, epsilon) for epsilon in BUDGETS] for source in SOURCES},
    }
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    for run in runs:
        print(f"\n{run['data']} at {run['at']}\n{table(run['rows'])}")


if __name__ == "__main__":
    main()
