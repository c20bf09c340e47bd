"""Which noise the 2021 EU census programme needs, for docs/results/design.md.

    python -m benchmarks.design [--write]

Every Member State is designed for under both rules of counting and both attackers, two at a time; where the constraints
leave nothing, the output is cut until they do. For small Member States the attack is also solved on the real trees.
Nothing is random. The figures are kept in benchmarks/results/design.json, and --write puts them into the page.
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
from discreet.design.counted import sets_of
from discreet.design.curation import curate, output_of
from discreet.design.noise_design import MAX_BOUND, design
from discreet.design.region import Plane
from discreet.programme.eu2021.census import census, member_states
from discreet.programme.lattice import lattice
from discreet.risk.assess import assess
from discreet.risk.averaging import ONE_SIGMA, averaging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.design.curation import Curation
    from discreet.design.noise_design import Design
    from discreet.design.relaxation import Relaxation
    from discreet.programme.lattice import Lattice

PAGE = Path(__file__).parents[1] / "docs/results/design.md"
MEASURED = RESULTS / "design.json"
RULES = ("flat", "levels")
ATTACKERS = (PAPER, OPTIMAL)
FARTHEST = 150
"""More cuts than any Member State has tables and breakdowns to be cut."""
AT_A_TIME = 2
PROJECTED = {"LU": 10, "MT": 3, "CY": 3, "EE": 3, "LV": 3}
"""Member States with few cells, and how many of their most exposed statistics are solved on the real trees."""


def needs(state: str, rule: str, attacker: str) -> dict[str, Any]:
    """Return which noise one Member State needs, and what to relax where nothing is left."""
    found = design(f"eu2021:{state}", rule=rule, attacker=attacker, cuts=0)
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
        "cut": None if found.feasible else cut_down(state, rule, attacker),
        **_line(found),
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


def cut_down(state: str, rule: str, attacker: str) -> dict[str, Any]:
    """Return what is left of the output once cuts, greedily chosen, leave something of variance and bound."""
    found = curated(state, rule, attacker)
    if not found.enough:
        raise RuntimeError(f"{state}, {rule}, {attacker}: {len(found.path)} cuts leave nothing")
    last = found.enough[-1]
    return {
        "cuts": len(found.enough),
        "left_out": [f"{cut.kind} {cut.name}" for cut in found.enough],
        "cells": found.whole.cells,
        "kept": last.cells,
        "variance": last.variance,
    }


def curated(state: str, rule: str, attacker: str) -> Curation:
    """Return the cuts, taken until an acceptable setting is left."""

    def accepts(left: Lattice, variance: float) -> bool:
        return hidden_bound(sets_of(left, attacker), ONE_SIGMA, attacker).allows(variance, MAX_BOUND)

    return curate(
        output_of(census(state), rule=rule, population=None),
        attacker=attacker,
        known=None,
        confidence=ONE_SIGMA,
        steps=1,
        farthest=FARTHEST,
        accepts=accepts,
    )


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
    sets = sets_of(lattice(programme), OPTIMAL)
    constraints = (averaging_variance(worst, "", ONE_SIGMA), hidden_bound(sets, ONE_SIGMA, OPTIMAL), room())
    plane = Plane(constraints, MAX_BOUND)
    return {"state": state, "rows": rows, "variance": plane.needed, "smallest_bound": plane.smallest_bound()}


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
