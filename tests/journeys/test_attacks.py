"""Real data published, attacked and scored: the page of results is what comes out, and predictions hold.

The figures of docs/results/attacks.md are made by `python -m benchmarks.attacks --write` and kept in
benchmarks/results/attacks.json. Here one setting is measured again (all of them among the slow tests).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.attacks import BOUNDS, MEASURED, PAGE, ROUNDS, SOURCES, VARIANCES, measure, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.attacks import Source

RESULTS: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
RUNS: list[dict[str, Any]] = RESULTS["runs"]
ENOUGH = 100
"""Cells of a class from which on its share says something."""
SIGMAS = 4.5
"""Some 600 pairs are compared."""
TOGETHER = 2.0
"""Neighbouring estimates share noise terms: fewer of them are independent than there are terms."""
OF_A_MODEL = 0.5
"""How far an attacker's own model may be off, relative to what is right or wrong, whichever is less: it takes
equations, or changes, as independent that are not."""
ROUGH = 0.12
"""How far it may be off in any case."""
TOGETHER_OFF = 0.02
"""How far predictions of one attack may be off on average, over all settings and classes."""


def pairs(run: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Give every finding with its classes that have a prediction and cells enough."""
    for finding in run["findings"]:
        for row in finding["by_count"]:
            if row["predicted"] is not None and row["cells"] >= ENOUGH:
                yield (
                    f"{run['data']} V={run['variance']} E={run['bound']} {finding['name']} {row['class']}",
                    finding,
                    row,
                )


def of_a_model(row: dict[str, Any]) -> bool:
    """Say whether a prediction is what the attacker's own model expects."""
    return not row["predicted_error"]


def drift(row: dict[str, Any], predicted: float) -> float:
    """Return how far achieved is from predicted, in standard errors of both."""
    terms = row["noise_terms"] or row["cells"]
    # A share of 0 or 1 in a sample is no certainty: one more of either kind is counted.
    share = (predicted * terms + 0.5) / (terms + 1)
    achieved_error = math.sqrt(TOGETHER * share * (1 - share) / terms)
    sampled_error = max(row["predicted_error"] or 0.0, math.sqrt(share * (1 - share) / 40) / 3)
    return abs(float(row["achieved"]) - predicted) / math.hypot(achieved_error, sampled_error)


def test_every_setting_was_measured_on_both_data_sets() -> None:
    done = {(run["data"], run["variance"], run["bound"]) for run in RUNS}
    assert done == {(source.name, v, e) for source in SOURCES for v in VARIANCES for e in BOUNDS}


def test_the_page_shows_what_was_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text, RESULTS) == text


def test_bi_partitions_are_as_published() -> None:
    published = dict(zip(map(str, ROUNDS), (0.521, 0.711, 0.917, 0.987), strict=True))
    assert {name: round(share, 3) for name, share in RESULTS["bipartitions"].items()} == published


def test_what_was_achieved_is_what_was_predicted() -> None:
    """For sums of published counts, by true count: within standard errors; a prediction 30 % off is noticed."""
    found = [(name, row) for run in RUNS for name, finding, row in pairs(run) if not of_a_model(row)]
    assert len(found) > 300
    assert {name: row for name, row in found if drift(row, row["predicted"]) > SIGMAS} == {}


def test_predictions_hold_on_average_and_30_percent_off_is_noticed() -> None:
    by_attack: dict[str, list[dict[str, Any]]] = {}
    for run in RUNS:
        for _, finding, row in pairs(run):
            if not of_a_model(row) and 0.1 < row["predicted"] < 0.7:
                by_attack.setdefault(finding["name"], []).append(row)
    assert len(by_attack) == 5
    for name, rows in by_attack.items():
        off = [sum(row["achieved"] - share * row["predicted"] for row in rows) / len(rows) for share in (1, 0.7, 1.3)]
        assert abs(off[0]) < TOGETHER_OFF, name
        assert min(map(abs, off[1:])) > 2 * TOGETHER_OFF, name


def test_what_an_attacker_expects_of_her_own_model_comes_out() -> None:
    found = [(name, row) for run in RUNS for name, finding, row in pairs(run) if of_a_model(row)]
    assert len(found) > 40

    def far(row: dict[str, Any]) -> bool:
        less = min(row["predicted"], 1 - row["predicted"])
        error = math.sqrt(row["predicted"] * (1 - row["predicted"]) / row["cells"])
        return bool(abs(row["achieved"] - row["predicted"]) > max(OF_A_MODEL * less, ROUGH) + 3 * error)

    assert {name: (row["achieved"], row["predicted"]) for name, row in found if far(row)} == {}


def test_more_noise_never_helps() -> None:
    for source in SOURCES:
        for bound in BOUNDS:
            runs = [run for run in RUNS if run["data"] == source.name and run["bound"] == bound]
            shares = [next(f["achieved"] for f in run["findings"] if f["name"] == "projection") for run in runs]
            assert shares == sorted(shares, reverse=True)


def compare(source: Source, variance: float, bound: int) -> None:
    again = measure(source, variance, bound)
    kept = next(run for run in RUNS if (run["data"], run["variance"], run["bound"]) == (source.name, variance, bound))
    found = {finding["name"]: finding for finding in again["findings"]}
    assert set(found) == {finding["name"] for finding in kept["findings"]}
    for old in kept["findings"]:
        new = found[old["name"]]
        assert new["cells"] == old["cells"]
        # Sums of floating-point numbers may end in another last digit on another machine, and be rounded otherwise.
        assert new["achieved"] == pytest.approx(old["achieved"], abs=0.002)
        assert (new["predicted"] is None) == (old["predicted"] is None)
        if new["predicted"] is not None:
            assert new["predicted"] == pytest.approx(old["predicted"], abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_setting_measured_again_gives_the_same(source: Source, variance: float, bound: int) -> None:
    compare(source, variance, bound)
