"""Bound disclosure by the residuals of all published counts: predicted success of the attack, and a proven upper bound.

The attacker fits least squares to all published counts and compares the leave-one-out residuals of large counts with
the noise distributions for E and for E + 1 (`equations.residual_terms`). The upper bound is for an attacker who knows
all true counts, and so every noise term. No test between the two bounds is right more often (Le Cam).
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.margin_equations import MOST_CELLS, MarginEquations
from discreet.equations.residual_terms import (
    closed_form_leverages,
    concentration,
    first_cells,
    histogram,
    joined,
    probed_leverages,
    residuals_of,
    steady_leverages,
    success_of,
)
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.rival_noise import bhattacharyya
from discreet.noise.uniform import Uniform
from discreet.programme.lattice import lattice
from discreet.programme.programme_json import programme_to_json
from discreet.risk.bound_disclosure import MIN_CONFIDENCE, NOISE_TERMS, RESIDUALS, identified, le_cam_bound
from discreet.tabulation.cell_vector import JointLayout, unit_layouts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.arrays import Flags, Floats
    from discreet.equations.residual_terms import Leverages
    from discreet.noise.distribution import Noise
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.release.release import Release
    from discreet.results import Result
    from discreet.tabulation.cell_vector import CellVector

PREDICTED = "Phi(sqrt(2 B S)), B = sum of -log(integral of sqrt(f_E f_(E+1))) over all residuals, S their concentration"
PROVEN = "(1 + sqrt(1 - exp(-2 B))) / 2, B = -n log(sum sqrt(p_E p_(E+1))), n the number of noise terms"
SMALLEST, PRECISE = 1e-6, 1e-9
"""The smallest variance in the search, and the relative error of the largest feasible variance."""
LEVELS = "levels"
"""The rule that counts every level."""
KEPT = 8
"""The number of programmes whose noise terms are cached."""
_KEPT: dict[bytes, NoiseTerms] = {}
IF_KNOWN = "bound_revealed_if_counts_known"
CORRECTED = (
    "a prediction, not a bound: residuals with Gaussian errors, corrected for shared noise terms; within 0.01 of the "
    "success in simulated releases"
)
SURROGATE = (
    "a prediction, not a bound: leverages of the closed form for equal blocks, not corrected for noise terms that "
    "residuals share; the correction would raise the figure"
)
KNOWN = ("the attacker knows the noise distribution except its bound; prior probability 0.5 for each of E and E + 1",)


@dataclass(frozen=True, eq=False)
class NoiseTerms:
    """The independent noise terms of the large counts of a release, and the leverage of each in its equations.

    Attributes:
        leverages: the leverages of the noise terms of large counts.
        published: the number of noise terms of all counts.
        from_data: whether large counts are determined from published values; if not, all counts are treated as large.
    """

    leverages: Leverages
    published: int
    from_data: bool = False

    @property
    def large(self) -> int:
        """Return the number of noise terms of large counts."""
        return self.leverages.number

    @property
    def surrogate(self) -> bool:
        """Return whether some leverages are those of the closed form."""
        return self.leverages.surrogate

    def restricted(self, statistics: Flags) -> NoiseTerms:
        """Return the noise terms of some published statistics, population by population."""
        left = self.leverages.restricted(statistics)
        return NoiseTerms(left, left.number, self.from_data)

    def success(self, law: Noise, other: Noise) -> float:
        """Return the predicted success of the residual attack on two noise distributions with the same variance."""
        return success_of(self.leverages.exponent(*_both(law, other), law.variance))

    def largest_variance(self, bound: int, confidence: float) -> float:
        """Return the largest variance of maximum-entropy noise with an attack success below the confidence."""
        from scipy.optimize import brentq

        def excess(log_variance: float) -> float:
            return self.success(*rivals(math.exp(log_variance), bound)) - confidence

        highest = math.log(Uniform(bound=bound).variance)
        if excess(highest) < 0:
            return Uniform(bound=bound).variance
        found = brentq(excess, math.log(SMALLEST), highest, xtol=PRECISE)
        return math.exp(found - 2 * PRECISE)

    def limit(self, law: Noise, other: Noise) -> float:
        """Return an upper bound of the success of an attacker who knows all true counts."""
        return le_cam_bound(self.large * bhattacharyya(*_both(law, other), 0.0))

    def results(self, law: Noise, other: Noise, confidence: float) -> list[Result]:
        """Return the predicted success and its upper bound as results.

        Args:
            law: the noise distribution of large counts.
            other: the noise distribution with a larger bound.
            confidence: the target for the probability of identifying the bound.
        """
        bound, sure = int(law.bound), max(confidence, MIN_CONFIDENCE)
        residuals = identified(
            RESIDUALS,
            self.success(law, other),
            bound,
            sure,
            evidence=f"predicted from the noise terms of {self.large:,} counts",
            assumptions=self.assumptions,
            equation=PREDICTED,
        )
        noises = identified(
            NOISE_TERMS,
            self.limit(law, other),
            bound,
            None,
            evidence=f"an upper bound for any use of the {self.large:,} noise terms of large counts",
            assumptions=("a proven upper bound, far above the success from published counts alone", *KNOWN),
            equation=PROVEN,
        )
        return [residuals, replace(noises, name=IF_KNOWN)]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return the assumptions of the prediction."""
        which = (
            f"{self.large:,} of {self.published:,} noise terms belong to counts that are certainly large"
            if self.from_data
            else "every published count is treated as large"
        )
        how = (SURROGATE,) if self.leverages.surrogate else (CORRECTED,)
        return (which, *how, *KNOWN)


def rivals(variance: float, bound: int) -> tuple[MaxEntropy, MaxEntropy]:
    """Return maximum-entropy noise with a given variance and the bounds E and E + 1."""
    return MaxEntropy(variance=variance, bound=bound), MaxEntropy(variance=variance, bound=bound + 1)


def _both(law: Noise, other: Noise) -> tuple[Floats, Floats]:
    """Return the probabilities of two noise distributions on the values of the wider one."""
    bound = int(max(law.bound, other.bound))
    noise = np.arange(-bound, bound + 1)
    return law.pmf(noise), other.pmf(noise)


def noise_terms(
    programme: Programme,
    *,
    rule: str = LEVELS,
    keep_single: bool = False,
    populations: Sequence[str] | None = None,
    spsn: bool = True,
    progress: Progress | None = None,
) -> NoiseTerms:
    """Return the noise terms of a programme; every count is treated as large.

    Args:
        programme: the tables.
        rule: `levels`, with all universes of a unit together, or `flat`, each universe separately.
        keep_single: whether levels with one category count as levels.
        populations: the counted populations; all by default.
        spsn: whether cells with the same participants have the same noise.
        progress: a callback with the stage, the completed steps and the total steps.
    """
    chosen = _chosen(programme, populations)
    text = json.dumps([programme_to_json(chosen), rule, keep_single, spsn], sort_keys=True, default=str)
    key = hashlib.sha256(text.encode()).digest()
    if key not in _KEPT:
        while len(_KEPT) >= KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        found = joined(list(_leverages(chosen, rule, keep_single=keep_single, spsn=spsn, progress=progress)))
        _KEPT[key] = NoiseTerms(found, found.number)
    return _KEPT[key]


def _leverages(
    programme: Programme, rule: str, *, keep_single: bool, spsn: bool, progress: Progress | None
) -> Iterator[Leverages]:
    """Yield the leverages by unit: from random probes, or from the closed form if there are too many cells."""
    if rule == LEVELS and not keep_single:
        for layout in unit_layouts(programme, spsn=spsn).values():
            lattices = [each.lattice for each in _layouts_of(layout)]
            if sum(map(_cells, lattices)) > MOST_CELLS:
                yield from (closed_form_leverages(each, spsn=spsn) for each in lattices)
            else:
                yield probed_leverages(layout.equations, layout.statistic_of.astype(np.int64), progress)
        return
    for name in programme.populations:
        shown = lattice(programme, rule, keep_single=keep_single, population=name)
        if _cells(shown) > MOST_CELLS:
            yield closed_form_leverages(shown, spsn=spsn)
        else:
            number = np.repeat(np.arange(int(shown.published.sum())), shown.cells[shown.published].astype(np.int64))
            yield probed_leverages(MarginEquations(shown, spsn), number, progress)


def noise_terms_in(
    release: Release, populations: Sequence[str] | None = None, progress: Progress | None = None
) -> NoiseTerms:
    """Return the noise terms of the large counts of a release, determined from published values.

    Args:
        release: the release with its record.
        populations: the counted populations; all by default.
        progress: a callback with the stage, the completed steps and the total steps.
    """
    record = release.record
    law = record.transition_matrix()
    smallest = max(int(law.bound) + 1, len(law.laws))
    parts, published = [], 0
    for layout in unit_layouts(_chosen(release.programme, populations), spsn=record.spsn).values():
        lattices = [each.lattice for each in _layouts_of(layout)]
        if sum(map(_cells, lattices)) > MOST_CELLS:
            parts += [closed_form_leverages(each, spsn=record.spsn) for each in lattices]
            published += sum(each.number for each in parts[-len(lattices) :])
            continue
        equations, statistic = layout.equations, layout.statistic_of.astype(np.int64)
        leverage, first = steady_leverages(equations, statistic, progress=progress), first_cells(equations)
        found = residuals_of(equations, law.centred(layout.vector(release.table)), leverage, record.variance)
        large = histogram(statistic, leverage, equations, first[found.large(smallest)])
        parts.append(replace(large, concentration=concentration(equations, leverage, progress)))
        published += histogram(statistic, leverage, equations, first).number
    return NoiseTerms(joined(parts), published, from_data=True)


def _chosen(programme: Programme, populations: Sequence[str] | None) -> Programme:
    """Return a programme restricted to the tables of some populations."""
    if populations is None:
        return programme
    tables = {table for name in populations for table in programme.populations[name]}
    return replace(programme, tables=tuple(table for table in programme.tables if table in tables))


def _layouts_of(layout: CellVector | JointLayout) -> tuple[CellVector, ...]:
    return layout.layouts if isinstance(layout, JointLayout) else (layout,)


def _cells(shown: Lattice) -> float:
    return float(shown.cells[shown.published].sum())
