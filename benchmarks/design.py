"""Which noise the 2021 EU census programme needs, for docs/results/design.md.

    python -m benchmarks.design [--write]

Every Member State is designed for under both rules of counting and both attackers, two at a time, by the closed form
for equal blocks. For small Member States the most exposed counts are also solved exactly. Random probes have a fixed
seed. The figures are kept in benchmarks/results/design.json, and --write puts them into the page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.clock import RESULTS
from benchmarks.design_page import page
from discreet.design.constraints import (
    ACCURATE_AREAS,
    AVERAGING,
    OPTIMAL,
    PAPER,
    averaging_variance,
    hidden_bound,
    room,
)
from discreet.design.noise_design import MAX_BOUND, design
from discreet.design.region import Plane
from discreet.programme.eu2021.census import census, member_states
from discreet.programme.lattice import lattice
from discreet.risk.assess import assess
from discreet.risk.averaging import ONE_SIGMA, averaging
from discreet.risk.residual_bound import noise_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.design.noise_design import Design
    from discreet.design.relaxation import Relaxation
    from discreet.risk.residual_bound import NoiseTerms

PAGE = Path(__file__).parents[1] / "docs/results/design.md"
MEASURED = RESULTS / "design.json"
RULES = ("flat", "levels")
ATTACKERS = (PAPER, OPTIMAL)
AT_A_TIME = 2
PROJECTED = {"LU": 10, "MT": 3, "CY": 3, "EE": 3, "LV": 3}
"""Member States with few cells, and how many of their most exposed statistics are solved on the real trees."""


def needs(state: str, rule: str, attacker: str) -> dict[str, Any]:
    """Return which noise one Member State needs, and what to relax where nothing is left."""
    found = design(f"eu2021:{state}", rule=rule, attacker=attacker, closed_form=True, cuts=0)
    widest = found.plane.rows[-1]
    return {
        "state": state,
        "rule": rule,
        "attacker": attacker,
        "statistic": found.exposed[attacker].statistic,
        "ratio": found.exposed[attacker].ratio,
        "variance": found.plane.needed,
        "allowed": widest.high,
        "allowed_by": widest.high_by,
        "smallest_bound": found.plane.smallest_bound(),
        "recommended": found.recommended._asdict() if found.recommended else None,
        "optimal_success": found.exposed[OPTIMAL].success(found.recommended.variance) if found.recommended else None,
        "success_to_accept": _relaxed(found.relaxations, AVERAGING),
        **_bound(found),
        **_line(found),
    }


def _bound(found: Design) -> dict[str, Any]:
    """Return what residuals of all published counts allow by bound, for the attacker who uses them."""
    if found.attacker != OPTIMAL:
        return {}
    return {
        "bound_noises": found.terms.large,
        "bound_surrogate": found.terms.surrogate,
        "bound_allows": {str(row.bound): row.high for row in found.plane.rows},
    }


def _line(found: Design) -> dict[str, Any]:
    """Return what the line of epsilon leaves."""
    return {
        "areas": found.areas,
        "epsilon_needed": found.line.low,
        "epsilon_allowed": found.line.high,
        "epsilon_statistic": found.exposed_fresh[found.attacker].statistic,
        "off_to_accept": _relaxed(found.line_relaxations, ACCURATE_AREAS),
    }


def _relaxed(relaxations: Sequence[Relaxation], constraint: str) -> float | None:
    """Return the limit of one constraint that would leave something."""
    return next((each.value for each in relaxations if each.constraint == constraint), None)


def on_real_trees(state: str, number: int) -> dict[str, Any]:
    """Return what the best linear attack knows by projection, where the closed form takes levels to divide evenly.

    Args:
        state: the Member State.
        number: how many statistics to solve, the most exposed by the closed form first; three cells of each.
    """
    programme = census(state)
    closed = averaging(lattice(programme))
    rows = []
    for place in closed.optimal.argsort(kind="stable")[:number].tolist():
        statistic = closed.names[place]
        (found,) = assess(f"eu2021:{state}", variance=1, bound=2, measures=["projection"], exact=statistic).results
        rows.append({"statistic": statistic, "closed": float(closed.optimal[place]), "projected": found.value})
    worst = min(row["projected"] for row in rows)
    terms = _terms(state, "levels")
    constraints = (averaging_variance(worst, "", ONE_SIGMA), hidden_bound({}, ONE_SIGMA, OPTIMAL, terms), room())
    plane = Plane(constraints, MAX_BOUND)
    return {
        "state": state,
        "rows": rows,
        "variance": plane.needed,
        "smallest_bound": plane.smallest_bound(),
        "bound_surrogate": terms.surrogate,
    }


def _terms(state: str, rule: str) -> NoiseTerms:
    """Return what residuals reveal of the noise of the tables that count persons."""
    programme = census(state)
    return noise_terms(programme, rule=rule, populations=[programme.of(None)[0].population])


def of_state(state: str) -> list[dict[str, Any]]:
    """Return the four designs of one Member State."""
    began = time.perf_counter()
    found = [needs(state, rule, attacker) for rule in RULES for attacker in ATTACKERS]
    print(f"{state}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return found


def main() -> None:
    """Measure, and write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results/design.md")
    write = parser.parse_args().write
    began = time.perf_counter()
    with ProcessPoolExecutor(AT_A_TIME) as pool:
        designs = [row for rows in pool.map(of_state, member_states()) for row in rows]
        projected = list(pool.map(on_real_trees, PROJECTED, PROJECTED.values()))
    measured = {"designs": designs, "projected": projected}
    print(f"all: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")


if __name__ == "__main__":
    main()
