"""Whether households drawn live in the LAUs and cells that the geography plans for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.marginals import Marginal, Share
from discreet.synthetic.places import LOCALITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.synthetic.places import Geography

LEAST = 100
"""Households that a LAU is expected to have to be looked at by itself; smaller ones are looked at together."""
POINTS = 8000
"""Places in each locality from which the plan of its cells is taken."""
DENSITIES = {"the densest tenth of the cells of a LAU": 0.1, "the next four tenths": 0.5, "the other half": 1.0}
"""Cells of a LAU in the order of their density, up to this part of them."""


def lau_sizes(area: NDArray[np.uint16], names: Sequence[str], geography: Geography) -> Marginal:
    """Return the households of every LAU beside the share of real residents."""
    seen = np.bincount(area, minlength=len(names))
    planned = geography.residents / geography.residents.sum()
    large = _large(area, geography)
    shares = [Share(names[place], int(seen[place]), len(area), float(planned[place])) for place in large.tolist()]
    rest = Share("smaller LAUs", len(area) - int(seen[large].sum()), len(area), 1 - float(planned[large].sum()))
    return Marginal("households by LAU", (*shares, rest))


def cells(area: NDArray[np.uint16], cell: Ints, geography: Geography) -> Marginal:
    """Return the households in dense and in thin cells of the larger LAUs beside the plan."""
    order = np.argsort(area, kind="stable")
    ends = np.cumsum(np.bincount(area, minlength=len(geography.residents)))
    seen, planned, among = np.zeros(len(DENSITIES)), np.zeros(len(DENSITIES)), 0
    for place in _large(area, geography).tolist():
        inside = cell[order[ends[place - 1] if place else 0 : ends[place]]]
        known, density, shares = _plan(place, geography)
        # A cell that the plan has missed is one in which hardly anybody lives.
        found = np.searchsorted(known, inside).clip(max=len(known) - 1)
        drawn = np.where(known[found] == inside, density[found], len(DENSITIES) - 1)
        seen += np.bincount(drawn, minlength=len(DENSITIES))
        planned += len(inside) * np.bincount(density, shares, minlength=len(DENSITIES))
        among += len(inside)
    targets = planned / max(among, 1)
    return Marginal(
        "households by density of cells",
        tuple(Share(name, int(seen[k]), among, float(targets[k])) for k, name in enumerate(DENSITIES)),
    )


def _large(area: NDArray[np.uint16], geography: Geography) -> NDArray[np.intp]:
    return np.flatnonzero(geography.residents * len(area) >= LEAST * geography.residents.sum())


def _plan(area: int, geography: Geography) -> tuple[Ints, NDArray[np.intp], Floats]:
    """Return the cells of a LAU, how dense each is as a place in `DENSITIES`, and its share of the households."""
    luck = np.tile((np.arange(POINTS) + 0.5) * 2 / POINTS - 1, len(LOCALITIES))
    locality = np.repeat(np.arange(len(LOCALITIES), dtype=np.uint8), POINTS)
    found = geography.grid.cells(np.full(len(luck), area, dtype=np.uint16), locality, luck)
    known, place = np.unique(found, return_inverse=True)
    shares = np.asarray(np.bincount(place, np.array(LOCALITIES).take(locality) / POINTS), dtype=np.float64)
    rank = np.argsort(np.argsort(-shares, kind="stable"))
    ends = [np.ceil(part * len(known)) for part in DENSITIES.values()]
    return known, np.searchsorted(ends, rank, side="right"), shares
