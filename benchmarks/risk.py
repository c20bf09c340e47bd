"""Time of averaging risk, compared with listing every pair, and of the projection, compared with plain products."""

from __future__ import annotations

import resource
from itertools import combinations

import numpy as np

from benchmarks.clock import Figure, cpu_seconds, report
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.eu2021.census import census, member_states
from discreet.programme.lattice import RULES, Lattice, lattice
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.risk.averaging import averaging


def by_pairs(found: Lattice) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return inverse-variance ratios by comparing every pair of statistics with plain numpy."""
    ratios = []
    published = np.flatnonzero(found.published)
    for a in published.tolist():
        finer = published[(found.depths[published] >= found.depths[a]).all(axis=1)]
        ratios.append(1 / (found.cells[a] / found.cells[finer]).sum())
    return np.array(ratios)


def both_rules(country: str) -> None:
    """Assess one country's programme, every statistic, under both rules."""
    for rule in RULES:
        averaging(lattice(census(country), rule))


def all_states() -> None:
    """Assess all Member States."""
    for country in member_states():
        both_rules(country)


def generated(topics: int, width: int) -> Programme:
    """Return a programme of all tables of `width` out of some topics with three categories each."""
    made = {f"T{n:02d}": Topic(f"T{n:02d}", (Level(f"T{n:02d}", f"T{n:02d}", 3),)) for n in range(topics)}
    parts = {name: Breakdown(name, name, topic.levels) for name, topic in made.items()}
    tables = [Table(str(n), tuple(parts[t] for t in names)) for n, names in enumerate(combinations(made, width))]
    return Programme("generated", made, tuple(tables))


def main() -> None:
    """Measure closed forms, a large generated programme, and the projection."""
    germany = lattice(census("DE"))
    closed = cpu_seconds(lambda: averaging(germany), runs=3)
    pairs = cpu_seconds(lambda: by_pairs(germany), runs=1)
    one = cpu_seconds(lambda: both_rules("DE"), runs=3)
    every = cpu_seconds(all_states, runs=1, warm=False)
    large = lattice(generated(18, 8))
    many = cpu_seconds(lambda: averaging(large), runs=1, warm=False)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    equations = MarginEquations(lattice(Programme("LU", census("LU").topics, census("LU").of()[:90])))
    product = cpu_seconds(lambda: equations.sums.gaps(np.ones(equations.cells)), runs=3)
    total = equations.lattice.position("total")
    solved = cpu_seconds(lambda: equations.variance_ratio(total), runs=1)
    figures = [
        Figure(f"Germany, {len(germany):,} statistics, all attackers", closed, "inverse variance by all pairs", pairs),
        Figure("Germany, both rules", one, "one rule", closed, "target: below 1 s"),
        Figure("27 Member States, both rules", every, "Germany, both rules", one, "target: below 15 s"),
        Figure(f"generated, {len(large):,} statistics", many, "Germany", closed, f"{memory:.0f} MB peak"),
        Figure(f"projection, {equations.cells:,} cells, one cell", solved, "one plain product", product,
               "target: 10^6 cells below 10 s"),
    ]  # fmt: skip
    report("risk", figures)


if __name__ == "__main__":
    main()
