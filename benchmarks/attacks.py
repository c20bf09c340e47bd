"""Real data published and attacked: predicted and achieved success, for docs/results/attacks.md.

    python -m benchmarks.attacks [--write]

The ONS teaching file (10,000 persons, cell keys) and the parishes of Portugal by citizenship and sex (coordinates) are
protected at every variance and bound, and attacked with all attacks. The secret is fixed, so the figures are
repeatable; they are stored in benchmarks/results/attacks.json, and --write updates the tables of the page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.clock import RESULTS
from discreet.attacks.attack_run import attack
from discreet.attacks.bipartition_attack import exact_success
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.attacks.attack_report import AttackReport
    from discreet.mechanisms.mechanism import Mechanism

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/results/attacks.md"
MEASURED = RESULTS / "attacks.json"
SECRET = b"the same in every run: not a secret"
VARIANCES, BOUNDS = (1, 2, 3, 6, 9), (5, 10)
ROUNDS = (10, 20, 50, 100)
DIFFERENCES = ("two-releases", "complement")
"""Attacks whose values are not counts of cells, but changes, persons left out, or whether there are any."""
LEFT = 100
"""One row or person in this many is missing in the second release."""


@dataclass(frozen=True)
class Source:
    """Data, their programme, and the mechanism."""

    name: str
    data: str
    programme: str
    mechanism: Callable[[PTable], Mechanism]
    reading: dict[str, Any]

    def table(self) -> pa.Table:
        """Return the data."""
        return pq.read_table(ROOT / self.data)

    def later(self) -> pa.Table:
        """Return the data without one person in every hundredth row."""
        now = self.table()
        if "count" not in self.reading:
            return now.take([row for row in range(now.num_rows) if row % LEFT])
        name = self.reading["count"]
        fewer = [n - (row % LEFT == 0) for row, n in enumerate(now[name].to_pylist())]
        return now.set_column(now.column_names.index(name), name, pa.array(fewer, now[name].type))


SOURCES = (
    Source(
        "ONS teaching file, cell keys",
        "src/discreet/sources/ons_sample/persons.parquet",
        "src/discreet/sources/ons_sample/census.toml",
        lambda table: CellKey(table, secret=SECRET),
        {"id": "person_id"},
    ),
    Source(
        "Parishes of Portugal, coordinates",
        "tests/data/pt_parish/counts.parquet",
        "tests/journeys/programmes/pt_parish.toml",
        lambda table: Coordinates(table, secret=SECRET),
        {"count": "persons"},
    ),
)


@cache
def ptable(variance: float, bound: int) -> PTable:
    """Return the p-table of one setting."""
    return PTable.max_entropy(variance=variance, bound=bound)


def measure(source: Source, variance: float, bound: int) -> dict[str, Any]:
    """Return predicted and achieved success of every attack on one release."""
    mechanism = source.mechanism(ptable(variance, bound))
    programme, later = load_programme(str(ROOT / source.programme)), source.later()
    keep = {"keep_exact": True, "allow_disclosure": True, **source.reading}
    release = protect(source.table(), programme, mechanism, **keep)
    second = None if later is None else protect(later, programme, mechanism, **keep)
    report = attack(release, other=second, budget=None)
    return {"data": source.name, "variance": variance, "bound": bound, "findings": list(_findings(report))}


def _findings(report: AttackReport) -> Iterator[dict[str, Any]]:
    for outcome in report.outcomes:
        found = outcome.to_json()
        del found["by_statistic"]
        yield {"name": outcome.finding.name, "sentence": outcome.sentence, **found}


def bipartitions() -> dict[str, float]:
    """Return the exact success of the bi-partition attack by rounds, for uniform noise with bound 2."""
    law = Uniform(bound=2).pmf(range(-2, 3))
    return {str(rounds): exact_success(law, rounds) for rounds in ROUNDS}


# --- The page ---


def tables(measured: dict[str, Any]) -> str:
    """Return the tables of the page."""
    parts = []
    for source in SOURCES:
        runs = [run for run in measured["runs"] if run["data"] == source.name]
        parts.append(f"### {source.name}\n\n{_success(runs)}\n\n{_singles(runs)}\n\n{_sentences(runs)}")
    rounds = " | ".join(measured["bipartitions"])
    shares = " | ".join(f"{share:.3f}" for share in measured["bipartitions"].values())
    parts.append(f"### Bi-partitions\n\n| rounds | {rounds} |\n|---|{'---|' * len(ROUNDS)}\n| success | {shares} |")
    return "\n\n".join(parts)


def _names(runs: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(each["name"] for run in runs for each in run["findings"] if each.get("cells", 0) > 1))


def _success(runs: list[dict[str, Any]]) -> str:
    """Return achieved and predicted success on counts above 0, by attack and setting."""
    lines = [
        "Values other than 0 recovered exactly, in percent: achieved (predicted); *none*: the published count itself.",
        "",
    ]
    head = " | ".join(f"V={run['variance']:g}, E={run['bound']}" for run in runs)
    lines += [f"| attack | {head} |", "|---|" + "---|" * len(runs)]
    lines.append("| *none* | " + " | ".join(_without(run) for run in runs) + " |")
    for name in _names(runs):
        lines.append(f"| {name} | " + " | ".join(_pair(_named(run, name)) for run in runs) + " |")
    return "\n".join(lines)


def _singles(runs: list[dict[str, Any]]) -> str:
    """Return the same for singleton cells."""
    lines = ["The same for singleton cells:", ""]
    head = " | ".join(f"V={run['variance']:g}, E={run['bound']}" for run in runs)
    lines += [f"| attack | {head} |", "|---|" + "---|" * len(runs)]
    for name in (name for name in _names(runs) if not name.startswith(DIFFERENCES)):
        cells = [_pair(_of_class(_named(run, name), "1")) for run in runs]
        if any(cell != "-" for cell in cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _sentences(runs: list[dict[str, Any]]) -> str:
    """Return the sentences of single findings, setting by setting."""
    lines = ["Findings as sentences:", ""]
    for run in runs:
        for name in ("bound", "margins: certain", "two-releases: changed"):
            found = _named(run, name)
            if found:
                lines.append(f"- V={run['variance']:g}, E={run['bound']}, {name}: {found['sentence']}")
    return "\n".join(lines)


def _named(run: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((each for each in run["findings"] if each["name"] == name), None)


def _of_class(found: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    return next((row for row in found["by_count"] if row["class"] == name), None) if found else None


def _pair(found: dict[str, Any] | None) -> str:
    if found is None or not found.get("cells"):
        return "-"
    predicted = f" ({100 * found['predicted']:.0f})" if found["predicted"] is not None else ""
    return f"{100 * found['achieved']:.0f}{predicted}"


def _without(run: dict[str, Any]) -> str:
    found = _named(run, "projection")
    return f"{100 * found['without_attack']:.0f}" if found else "-"


def page(text: str, measured: dict[str, Any]) -> str:
    """Return the page with updated tables."""
    made = f"<!-- figures -->\n\n{tables(measured)}\n\n<!-- end of figures -->"
    return re.sub(r"<!-- figures -->.*<!-- end of figures -->", lambda _: made, text, flags=re.DOTALL)


def main() -> None:
    """Measure, and write the page with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the tables of docs/results/attacks.md")
    write = parser.parse_args().write
    runs = []
    for source in SOURCES:
        for bound in BOUNDS:
            for variance in VARIANCES:
                began = time.perf_counter()
                runs.append(measure(source, variance, bound))
                print(f"{source.name} V={variance} E={bound}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    measured = {"runs": runs, "bipartitions": bipartitions()}
    MEASURED.write_text(json.dumps(measured) + "\n", encoding="utf-8")
    if write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    print(tables(measured))


if __name__ == "__main__":
    main()
