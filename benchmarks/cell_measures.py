"""Time of all measures of single cells on ten million cells, compared with plain numpy passes over the same cells."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.clock import Figure, cpu_seconds, report
from discreet.accuracy.cell_errors import by_size, distances, zeros
from discreet.accuracy.count_pairs import pair_times
from discreet.accuracy.expected_accuracy import expected
from discreet.accuracy.hellinger import hellinger
from discreet.accuracy.true_count_intervals import coverage
from discreet.noise.by_count import transition_matrix
from discreet.noise.ptable import PTable

if TYPE_CHECKING:
    from discreet.accuracy.count_pairs import CountPairs
    from discreet.arrays import Floats, Ints
    from discreet.noise.by_count import TransitionMatrix
    from discreet.results import Result

CELLS = 10**7
VARIANCE, BOUND = 2, 5
TAIL = 0.9
"""P(count >= n) decreases as n^-TAIL: half of the cells have 0 or 1 persons, a few have millions."""
LARGEST = 10**7


def heavy_tailed(cells: int, random: np.random.Generator) -> Ints:
    """Return true counts typical of detailed tables: mostly small, some very large."""
    drawn: Floats = np.floor((1 - random.random(cells)) ** (-1 / TAIL)) - 1
    return drawn.clip(max=LARGEST).astype(np.int64)


def measures(found: CountPairs, law: TransitionMatrix) -> list[Result]:
    """Return the results of all measures of single cells."""
    made = (distances(found), by_size(found), zeros(found), coverage(found, law), expected(found, law))
    return [result for each in made for result in each.results()]


def packed_pairs(true: Ints, published: Ints) -> int:
    """Return the number of different pairs with plain numpy."""
    return len(np.unique(true * (2 * BOUND + 1) + (published - true + BOUND), return_counts=True)[0])


def main() -> None:
    """Measure counting the pairs and all measures against one mean and one sort."""
    random = np.random.default_rng(2021)
    law = transition_matrix(PTable.max_entropy(variance=VARIANCE, bound=BOUND))
    true = heavy_tailed(CELLS, random)
    published = law.publish(true, random)
    found = pair_times(true, published)
    assert len(found) == packed_pairs(true, published)

    mean = cpu_seconds(lambda: np.abs(published - true).mean(), runs=3)
    unique = cpu_seconds(lambda: packed_pairs(true, published), runs=3)
    counting = cpu_seconds(lambda: pair_times(true, published), runs=3)
    every = cpu_seconds(lambda: (measures(pair_times(true, published), law), hellinger(true, published)), runs=3)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    large = random.integers(10**5, 10**6, CELLS)
    shown = law.publish(large, random)
    hardest = cpu_seconds(lambda: measures(pair_times(large, shown), law), runs=1)
    hardest_unique = cpu_seconds(lambda: packed_pairs(large, shown), runs=1)
    bare = "one mean of |noise| and one sort"
    figures = [
        Figure(f"{CELLS:,} cells, {len(found):,} different pairs", counting, "one np.unique of packed pairs", unique),
        Figure("all cell measures", every, bare, mean + unique, f"target: below 5 s; {memory:.0f} MB peak"),
        Figure("all, every count from 100,000 on", hardest, "one np.unique of packed pairs", hardest_unique,
               "hardly a pair is repeated"),
    ]  # fmt: skip
    report("cell_measures", figures)


if __name__ == "__main__":
    main()
