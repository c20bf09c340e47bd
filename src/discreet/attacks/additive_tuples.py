"""Additive tuples in a release: published cells of which one, the total, is the sum of the others.

Their true counts add up, so that the gap g = sum of the published parts - published total consists of noise only.
A tuple is listed once, even if several statistics contain the same persons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attacker_view import PopulationCounts
from discreet.tabulation.cell_vector import CellVector

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView


@dataclass(frozen=True, eq=False)
class AdditiveTuples:
    """Tuples with equally many parts.

    Attributes:
        published: the value of every cell.
        parts: the positions of the parts, one row per tuple.
        totals: the positions of the totals.
    """

    published: Floats
    parts: Ints
    totals: Ints

    @property
    def gaps(self) -> Ints:
        """Return the gap of every tuple: the sum of the published parts minus the published total."""
        gap = self.published[self.parts].sum(axis=1) - self.published[self.totals]
        found: Ints = np.rint(gap).astype(np.int64)
        return found

    @property
    def smallest(self) -> Floats:
        """Return the smallest published count of each tuple."""
        found: Floats = self.published[self.parts].min(axis=1, initial=np.inf)
        return np.minimum(found, self.published[self.totals])

    def above(self, count: float) -> AdditiveTuples:
        """Return the tuples whose published counts all exceed `count`."""
        large = self.smallest > count
        return replace(self, parts=self.parts[large], totals=self.totals[large])


def single_noises(attacker: AttackerView) -> list[PopulationCounts]:
    """Return counts with one noise term per cell: by population, or by table if tables have independent noise."""
    if attacker.spsn:
        return attacker.views()
    found = []
    for name, tables in attacker.programme.populations.items():
        for table in tables:
            layout = CellVector(name, replace(attacker.programme, tables=(table,)), spsn=False)
            found.append(PopulationCounts(layout, layout.vector(attacker.read)))
    return found


def same_cells(view: PopulationCounts, noise: AssumedNoise) -> Ints:
    """Return a number for every cell; cells that appear to share their noise have equal numbers.

    A category shares the noise of its single child. Under noise by participants, so does a part that has the published
    value of its total while all other parts appear empty. A wrong match loses a tuple but makes no false claim.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    layout, published = view.layout, view.published
    if noise.shared == "nothing":
        return np.arange(layout.cells)
    looks_empty = noise.reach if noise.zeros_are_noisy else 0
    upper, lower = [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for link in layout.equations.links:
        above, below = link.coarse + link.parent, link.fine + np.arange(len(link.parent))
        alike = link.children[link.parent] == 1
        if noise.shared == "participants":
            shown = np.abs(published[below]) > looks_empty
            alone = shown & (np.bincount(link.parent, shown, link.size)[link.parent] == 1)
            alike |= alone & (published[above] == published[below])
        upper.append(above[alike])
        lower.append(below[alike])
    ends = (np.concatenate(upper), np.concatenate(lower))
    same = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(layout.cells, layout.cells))
    found: Ints = connected_components(same, directed=False)[1].astype(np.int64)
    return found


def additive_tuples(view: PopulationCounts, same: Ints, size: int) -> AdditiveTuples:
    """Return the distinct tuples of `size` parts, given the cells that share their noise.

    Tuples without information are excluded: one part equals the total, or all published values are 0.
    """
    parts, totals = [np.zeros((0, size), dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for link in view.layout.equations.links:
        of_size = link.children == size
        order = np.argsort(link.parent, kind="stable")
        order = order[of_size[link.parent[order]]]
        parts.append(link.fine + order.reshape(-1, size))
        totals.append(link.coarse + np.flatnonzero(of_size))
    found = AdditiveTuples(view.published, np.concatenate(parts), np.concatenate(totals))
    # The total and one part identify a tuple: equal totals minus equal parts contain the same persons.
    name = same[found.totals] * len(same) + same[found.parts].min(axis=1, initial=len(same))
    once = np.sort(np.unique(name, return_index=True)[1])
    parted = (same[found.parts[once]] != same[found.totals[once]][:, None]).all(axis=1)
    shown = view.published[found.parts[once]].any(axis=1) | (view.published[found.totals[once]] != 0)
    once = once[parted & shown]
    return replace(found, parts=found.parts[once], totals=found.totals[once])
