"""The joint law of true and published tuples by following every noise: what posteriors are checked against."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.noise.ptable import PTable

Tuple: TypeAlias = tuple[int, ...]


def changes(ptable: PTable, count: int) -> dict[int, float]:
    """Return the noise of a true count and its probabilities."""
    row = ptable.rows[min(count, len(ptable.rows) - 1)]
    return {v: p for v, p in zip(row.values, row.probabilities, strict=True) if p > 0}


def outcomes(ptable: PTable, truth: Tuple, *, shares: bool) -> Iterator[tuple[Tuple, float]]:
    """Yield every published tuple (parts, then total) of a truth with its probability."""
    for noises in itertools.product(*(changes(ptable, count).items() for count in truth)):
        chance = math.prod(p for _, p in noises)
        parts = [count + v for count, (v, _) in zip(truth, noises, strict=True)]
        present = [place for place, count in enumerate(truth) if count > 0]
        if shares and len(present) == 1:
            # The part has the participants of the total, hence its key and its noise.
            yield (*parts, parts[present[0]]), chance
            continue
        for v, p in changes(ptable, sum(truth)).items():
            yield (*parts, sum(truth) + v), chance * p


def joint_law(
    ptable: PTable, weights: dict[int, float], parts: int, *, shares: bool
) -> dict[Tuple, dict[Tuple, float]]:
    """Return P(truth, published) by published tuple, then by true parts, for independent parts with these weights."""
    found: dict[Tuple, dict[Tuple, float]] = {}
    for truth in itertools.product(weights, repeat=parts):
        weight = math.prod(weights[count] / sum(weights.values()) for count in truth)
        for published, chance in outcomes(ptable, truth, shares=shares):
            behind = found.setdefault(published, {})
            behind[truth] = behind.get(truth, 0.0) + weight * chance
    return found
