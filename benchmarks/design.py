"""Compute which noise the 2021 EU census programme needs, for docs/results/design.md.

    python -m benchmarks.design [--write]

Every Member State has a design under both rules of counting and both attackers, two processes at a time. The optimal
attacker on all levels is solved exactly on the real category trees if memory allows; all other figures are the closed
form for equal blocks, as are those of independent noise per table. Random probes have a fixed seed. The figures are
stored in benchmarks/results/design.json, and --write updates the page. To print one Member State as JSON:

    python -m benchmarks.design --state LU
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.clock import RESULTS
from benchmarks.design_page import page
from discreet.calibration.constraints import (
    ACCURATE_AREAS,
    AVERAGING,
    OPTIMAL,
    PAPER,
    acceptable_bound,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.feasible_region import FeasibleRegion, least_confidence
from discreet.calibration.noise_design import MAX_BOUND, design
from discreet.calibration.recommendation import best_setting
from discreet.equations.closed_form import success
from discreet.programme.eu2021.census import census, member_states
from discreet.risk.most_exposed import most_exposed, solvable
from discreet.risk.residual_bound import LEVELS, noise_terms
from discreet.verdicts import ONE_SIGMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calibration.feasible_region import Relaxation
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.risk.most_exposed import ExposedCell

PAGE = Path(__file__).parents[1] / "docs/results/design.md"
MEASURED = RESULTS / "design.json"
RULES = ("flat", LEVELS)
ATTACKERS = (PAPER, OPTIMAL)
AT_A_TIME = 2
SHOWN = 10
"""Number of solved statistics that are stored, the most exposed first."""
DECIDED = (
    "variance",
    "smallest_bound",
    "recommended",
    "success_to_accept",
    "bound_noises",
    "bound_surrogate",
    "bound_allows",
)
"""Figures of a design that exact solutions replace."""


def needs(state: str, rule: str, attacker: str) -> dict[str, Any]:
    """Return the noise that one Member State needs, and the relaxations if no setting is feasible."""
    found = design(f"eu2021:{state}", rule=rule, attacker=attacker, closed_form=True, cuts=0)
    widest = found.region.plane.rows[-1]
    return {
        "state": state,
        "rule": rule,
        "attacker": attacker,
        "statistic": found.exposure.shared[attacker].statistic,
        "ratio": found.exposure.shared[attacker].ratio,
        "variance": found.region.plane.needed,
        "allowed": widest.high,
        "allowed_by": widest.high_by,
        "smallest_bound": found.region.plane.smallest_bound(),
        "recommended": found.recommended._asdict() if found.recommended else None,
        "optimal_success": found.exposure.shared[OPTIMAL].success(found.recommended.variance)
        if found.recommended
        else None,
        "success_to_accept": _relaxed(found.region.relaxations, AVERAGING),
        "exact": False,
        **_bound(found),
        **_line(found),
    }


def _bound(found: NoiseDesign) -> dict[str, Any]:
    """Return the largest variance by bound against the residual attack, for the optimal attacker."""
    if found.question.attacker != OPTIMAL:
        return {}
    return {
        "bound_noises": found.exposure.terms.large,
        "bound_surrogate": found.exposure.terms.surrogate,
        "bound_allows": {str(row.bound): row.high for row in found.region.plane.rows},
    }


def _line(found: NoiseDesign) -> dict[str, Any]:
    """Return the feasible range of epsilon."""
    return {
        "areas": found.exposure.areas,
        "epsilon_needed": found.region.line.low,
        "epsilon_allowed": found.region.line.high,
        "epsilon_statistic": found.exposure.fresh[found.question.attacker].statistic,
        "off_to_accept": _relaxed(found.region.line_relaxations, ACCURATE_AREAS),
    }


def _relaxed(relaxations: Sequence[Relaxation], constraint: str) -> float | None:
    """Return the limit of one constraint that makes a setting feasible."""
    return next((each.value for each in relaxations if each.constraint == constraint), None)


def on_real_trees(state: str) -> dict[str, Any]:
    """Return the most exposed counts of the optimal linear attack on the real trees, and the noise they need."""
    began, programme = time.process_time(), census(state)
    tables = programme.of(None)
    searched = most_exposed(replace(programme, tables=tables))
    statistics: dict[str, ExposedCell] = {}
    for cell in searched.solved:
        statistics.setdefault(cell.statistic, cell)
    terms = noise_terms(programme, rule=LEVELS, populations=[tables[0].population])

    def plane_at(confidence: float) -> FeasibleRegion:
        worst = searched.worst
        needed = averaging_variance(worst.ratio, worst.statistic, confidence)
        hidden = bound_disclosure_limit({}, confidence, OPTIMAL, terms)
        return FeasibleRegion((needed, hidden, variance_limit(), acceptable_bound(MAX_BOUND)), MAX_BOUND)

    plane = plane_at(ONE_SIGMA)
    return {
        "state": state,
        "probed": searched.probed,
        "solved": len(searched.solved),
        "rows": [asdict(cell) for cell in list(statistics.values())[:SHOWN]],
        "variance": plane.needed,
        "smallest_bound": plane.smallest_bound(),
        "recommended": setting._asdict() if (setting := best_setting(plane)) else None,
        "success_to_accept": least_confidence(plane_at, ONE_SIGMA, MAX_BOUND),
        "bound_noises": terms.large,
        "bound_surrogate": terms.surrogate,
        "bound_allows": {str(row.bound): row.high for row in plane.rows},
        "seconds": round(time.process_time() - began),
    }


def decided(row: dict[str, Any], solved: dict[str, Any]) -> dict[str, Any]:
    """Return a design on all levels with the exact figures in place of the closed form's."""
    worst = solved["rows"][0]
    if row["attacker"] == PAPER:
        setting = row["recommended"]
        return {**row, "optimal_success": success(setting["variance"], worst["ratio"]) if setting else None}
    return {
        **row,
        "statistic": worst["statistic"],
        "ratio": worst["ratio"],
        "allowed": solved["bound_allows"][str(MAX_BOUND)],
        "exact": True,
        **{name: solved[name] for name in DECIDED},
    }


def of_state(state: str) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the four designs of one Member State, and the exact solutions on its real trees if memory allows."""
    programme = census(state)
    solved = on_real_trees(state) if solvable(replace(programme, tables=programme.of(None))) else None
    found = [needs(state, rule, attacker) for rule in RULES for attacker in ATTACKERS]
    if solved:
        found = [decided(row, solved) if row["rule"] == LEVELS else row for row in found]
    return found, solved


def main() -> None:
    """Measure, and write the page with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the figures of docs/results/design.md")
    parser.add_argument("--state", help="measure one Member State and print it")
    asked = parser.parse_args()
    if asked.state:
        print(json.dumps(of_state(asked.state)))
        return
    with ProcessPoolExecutor(AT_A_TIME) as pool:
        found = list(pool.map(of_state, member_states()))
    measured = gathered(found)
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if asked.write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")


def gathered(found: Sequence[tuple[list[dict[str, Any]], dict[str, Any] | None]]) -> dict[str, list[dict[str, Any]]]:
    """Return the stored figures of all Member States."""
    return {"designs": [row for rows, _ in found for row in rows], "projected": [each for _, each in found if each]}


if __name__ == "__main__":
    main()
