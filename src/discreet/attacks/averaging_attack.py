"""Massive averaging: the mean of all published representations of a count.

For a statistic a, every published statistic s that refines it gives a representation of its counts: sums of k_s cells,
each with its own noise of variance V. Bach (2020), "massive averaging".

- plain: mean of all t of them; variance V k / t^2 with k the sum of the k_s.
- greedy: by rising size while k / t^2 falls, the paper's improvement.
- inverse variance: weights 1 / k_s; variance V / sum(1 / k_s), never worse than a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, CellEstimates, cells_finding
from discreet.equations.closed_form import success_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView, PopulationCounts

MAX_CONFIDENCE = 1 - 1e-6
"""Maximum confidence of an average with noise."""
WELL_ABOVE = (
    "the attacker's confidence assumes independent noise of full variance, which holds for counts well above the bound"
)


@dataclass(frozen=True, eq=False)
class Representations:
    """All representations of one statistic by finer ones, coarse to fine, with sums and numbers of cells per count.

    Attributes:
        statistics: the finer statistics.
        tables: the number of independent noise terms of each cell, by finer statistic.
        sums: the counts by each representation, one row per representation.
        sizes: the number of cells of each sum.
    """

    statistics: list[int]
    tables: Ints
    sums: Floats
    sizes: Floats

    def plain(self) -> Floats:
        """Return the weights of the plain mean."""
        return np.broadcast_to(self.tables[:, None] / self.tables.sum(), self.sums.shape)

    def greedy(self) -> Floats:
        """Return the weights of the mean of the first representations, until k / t^2 first rises; ties continue."""
        # The paper uses the mean number of terms per cell, the same for all cells of a statistic.
        terms = np.repeat(self.sizes.mean(axis=1), self.tables)
        ratio = np.cumsum(terms) / np.arange(1, len(terms) + 1) ** 2
        rises = np.flatnonzero(ratio[1:] > ratio[:-1] * (1 + 1e-12))
        taken = int(rises[0]) + 1 if len(rises) else len(terms)
        before = np.cumsum(self.tables) - self.tables
        used = np.clip(taken - before, 0, self.tables)
        return np.broadcast_to(used[:, None] / used.sum(), self.sums.shape)

    def inverse_variance(self) -> Floats:
        """Return the weights by inverse variance, for each cell."""
        precise = self.tables[:, None] / self.sizes
        found: Floats = precise / precise.sum(axis=0)
        return found

    def ratio(self, weights: Floats) -> Floats:
        """Return the variance of the weighted mean in units of V: sum of w^2 k / m."""
        found: Floats = (weights**2 * self.sizes / self.tables[:, None]).sum(axis=0)
        return found


VARIANTS: dict[str, Callable[[Representations], Floats]] = {
    "plain": Representations.plain,
    "greedy": Representations.greedy,
    "inverse variance": Representations.inverse_variance,
}


@dataclass(frozen=True, eq=False)
class Averages:
    """The averages of one population.

    Attributes:
        view: the published counts of the population.
        noise: the noise distribution, whose mean is subtracted.
    """

    view: PopulationCounts
    noise: AssumedNoise | None = None

    @cached_property
    def _values(self) -> Floats:
        return self.view.published if self.noise is None else self.noise.centred(self.view.published)

    @cached_property
    def _depths(self) -> NDArray[np.int8]:
        layout = self.view.layout
        return layout.lattice.depths[layout.equations.statistics]

    def representations(self, statistic: int) -> Representations:
        """Return all representations of the cells of a statistic, the shortest first."""
        layout = self.view.layout
        equations, lattice = layout.equations, layout.lattice
        finer = equations.statistics[(self._depths >= lattice.depths[statistic]).all(axis=1)]
        finer = finer[np.argsort(lattice.cells[finer], kind="stable")]
        size, sums, sizes = int(lattice.cells[statistic]), [], []
        for fine in finer.tolist():
            parent = equations.parents(fine, statistic)
            sums.append(np.bincount(parent, self._values[equations.cells_of(fine)], size))
            sizes.append(np.bincount(parent, minlength=size))
        return Representations(
            finer.tolist(), equations.noise_term_counts[finer], np.array(sums), np.array(sizes, dtype=float)
        )


@ATTACKS.register("averaging")
def averaging(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the counts of every statistic by the three averages, coarse statistics first."""
    parts: dict[str, list[CellEstimates]] = {name: [] for name in VARIANTS}
    views = attacker.views()
    total = sum(len(view.layout.names) for view in views)
    for view in views:
        for name, part in _estimates(attacker, Averages(view, attacker.noise), total).items():
            parts[name].append(part)
    return [
        cells_finding(
            attacker,
            parts[name],
            attack="averaging",
            variant=name,
            subject="counts",
            rerun=True,
            method=f"the mean of all representations of a count, {name}",
            assumptions=(WELL_ABOVE,),
        )
        for name in VARIANTS
    ]


def _estimates(attacker: AttackerView, averages: Averages, total: int) -> dict[str, CellEstimates]:
    """Return the estimates of one population by variant."""
    view = averages.view
    equations = view.layout.equations
    order = equations.statistics[np.argsort(view.layout.lattice.cells[equations.statistics], kind="stable")]
    places: list[Ints] = []
    values: dict[str, list[Floats]] = {name: [] for name in VARIANTS}
    sure: dict[str, list[Floats]] = {name: [] for name in VARIANTS}
    for done, statistic in enumerate(order.tolist()):
        sums = averages.representations(statistic)
        cells = equations.cells_of(statistic)
        places.append(np.arange(cells.start, cells.stop))
        for name, weigh in VARIANTS.items():
            weights = weigh(sums)
            values[name].append((weights * sums.sums).sum(axis=0))
            sure[name].append(chance_right(attacker.noise.variance * sums.ratio(weights)))
        if attacker.progress:
            attacker.progress("averaging", done + 1, total)
    where = np.concatenate(places)
    return {
        name: CellEstimates(
            view,
            where,
            np.concatenate(values[name]),
            np.concatenate(sure[name]),
        )
        for name in VARIANTS
    }


def chance_right(variance: Floats) -> Floats:
    """Return P(|N(0, variance)| < 1/2): the probability that a rounded estimate is the true count.

    It is below 1 for any positive variance, because a normal distribution excludes no value.
    """
    return np.minimum(success_rates(variance), np.where(variance > 0, MAX_CONFIDENCE, 1.0))
