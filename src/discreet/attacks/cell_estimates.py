"""Estimates of every published cell, population by population, put together into one finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.attacks.belief import CountNoise
    from discreet.attacks.finding import Truth
    from discreet.attacks.sight import Sight, View


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """What an attack says about cells of one population.

    Attributes:
        view: the population as published.
        places: which cells.
        estimate: their counts, not yet rounded.
        confidence: how sure the attacker is of each.
    """

    view: View
    places: Ints
    estimate: Floats
    confidence: Floats


def settled(estimate: Floats, published: Floats, noise: CountNoise) -> Ints:
    """Return the nearest whole counts that the published ones allow.

    No count is negative, none is farther than the bound from what was published and,
    where zeros stay zeros, whatever is published as something else is not empty.
    """
    found = np.rint(estimate).astype(np.int64)
    lowest = np.zeros(len(found), dtype=np.int64)
    if noise.shared != "nothing":
        seen = np.rint(published).astype(np.int64)
        if np.isfinite(noise.bound):
            reach = int(noise.bound)
            # What was negative is published as 0: a count may then be anything up to the bound.
            found = np.clip(found, seen - reach, seen + reach)
        if not noise.zeros_are_noisy:
            lowest = (seen != 0).astype(np.int64)
    return np.maximum(found, lowest)


def cells_finding(sight: Sight, parts: Sequence[CellEstimates], **about: Any) -> Finding:  # noqa: ANN401 - of Finding
    """Return the finding of estimates of several populations."""
    several = len(sight.populations) > 1
    groups: list[str] = []
    numbers = []
    for part in parts:
        layout = part.view.layout
        numbers.append(layout.statistic_of[part.places] + len(groups))
        groups += [f"{name} of {layout.name}" if several else name for name in layout.names]

    def actual(truth: Truth) -> Ints:
        return np.concatenate([truth.counts(part.view.layout.name)[part.places] for part in parts])

    return Finding(
        estimate=_joined([settled(p.estimate, p.view.published[p.places], sight.noise) for p in parts]),
        confidence=_joined([p.confidence for p in parts]),
        naive=_joined([settled(s := p.view.published[p.places], s, sight.noise) for p in parts]),
        actual=actual,
        groups=tuple(groups),
        cells=tuple((part.view.layout.name, part.places) for part in parts),
        group_of=_joined(numbers),
        unknown_of=_unknowns(sight, parts),
        **about,
    )


def _unknowns(sight: Sight, parts: Sequence[CellEstimates]) -> Ints:
    """Return the number of every estimate's unknown, counted through all populations."""
    found, start = {}, 0
    for joint in sight.units():
        numbers = joint.equations.unknowns
        for view, cells in joint.parts():
            found[view.layout.name] = start + numbers[cells]
        start += int(numbers.max()) + 1
    return _joined([found[part.view.layout.name][part.places] for part in parts])


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
