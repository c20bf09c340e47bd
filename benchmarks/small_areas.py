"""Measure the speed of small areas under noise, and update the figures of docs/results/small_areas.md.

    python -m benchmarks.small_areas [--write]

The speed is that of all LAUs of the EU-28 under six noise distributions, expected figures and a release drawn of each,
compared with drawing the same noise with numpy alone. --write updates the figures of the page.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.clock import Figure, cpu_seconds, report
from benchmarks.small_areas_page import EPSILONS, page
from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.small_areas import small_areas
from discreet.noise.geometric import TwoSidedGeometric

if TYPE_CHECKING:
    from discreet.accuracy.area_counts import AreaCounts
    from discreet.arrays import Ints

PAGE = Path(__file__).parents[1] / "docs/results/small_areas.md"


def measure_all(areas: AreaCounts) -> None:
    """Measure all areas under six noise distributions, drawing a release of each."""
    for epsilon in EPSILONS:
        _ = small_areas(areas, TwoSidedGeometric(epsilon=epsilon)).results


def numpy_alone(counts: Ints) -> None:
    """Draw as much two-sided geometric noise with numpy, as the difference of two geometric numbers."""
    random = np.random.default_rng(0)
    for epsilon in EPSILONS:
        chance = -math.expm1(-epsilon)
        counts + random.geometric(chance, counts.shape) - random.geometric(chance, counts.shape)


def measure() -> None:
    """Measure the speed."""
    areas = load_areas("lau:2016")
    ours, bare = cpu_seconds(lambda: measure_all(areas), runs=3), cpu_seconds(lambda: numpy_alone(areas.counts), runs=3)
    note = f"{len(areas):,} areas, 3 counts each, 6 noise distributions"
    report("small_areas", [Figure("small areas of the EU-28", ours, "drawing the noise with numpy", bare, note)])


def main() -> None:
    """Measure the speed, and write the page with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the figures of docs/results/small_areas.md")
    if parser.parse_args().write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    measure()


if __name__ == "__main__":
    main()
