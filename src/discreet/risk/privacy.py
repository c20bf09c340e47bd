"""The measures of differential privacy and of reconstruction, joined to a record and its programme."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.noise.max_entropy import MaxEntropy
from discreet.risk.composition import compose
from discreet.risk.composition_theorems import advanced_composition, basic_composition, concentrated_composition
from discreet.risk.epsilon_delta import delta_at, membership_advantage
from discreet.risk.reconstruction import PolynomialAttack, epsilon_of_reconstruction, exponential_attack
from discreet.risk.registry import measure
from discreet.risk.sensitivity import sensitivity

if TYPE_CHECKING:
    from discreet.noise.base import Noise
    from discreet.results import Result
    from discreet.risk.case import Case

EPSILON = 1.0
"""The epsilon at which the delta of one count is reported."""
SLACK = 1e-6
"""The delta left above the floor for which composed epsilons are reported."""


def statistics_of_a_person(case: Case) -> int:
    """Return t: in how many independently noised statistics a person is counted."""
    found = case.lattice
    return int(found.published.sum() if case.record.spsn else found.tables.sum())


def _law(case: Case) -> Noise:
    """Return the law of large counts in the form that composes exactly."""
    law = case.record.noise()
    if case.record.has_ptable:
        return MaxEntropy(variance=law.variance, bound=int(law.bound))
    return law


@measure("epsilon_delta")
def epsilon_delta(case: Case) -> list[Result]:
    """Return delta of one published count at epsilon 1, and the best chance to tell whether a person is in it."""
    source = case.record.ptable() if case.record.has_ptable else case.record.noise()
    return [delta_at(source, EPSILON), membership_advantage(source)]


@measure("composition")
def composition(case: Case) -> list[Result]:
    """Return what all statistics together promise a person, exactly and by the theorems beside it."""
    law, t = _law(case), statistics_of_a_person(case)
    together = compose(law, t)
    results = [sensitivity(t), together.floor(), together.epsilon_above_floor(SLACK)]
    theorems = [
        basic_composition(law, t),
        advanced_composition(law, t, slack=SLACK),
        concentrated_composition(law, t, slack=SLACK),
    ]
    return results + [theorem.result() for theorem in theorems if theorem]


@measure("reconstruction")
def reconstruction(case: Case) -> list[Result]:
    """Return where the reconstruction theorems stand; nothing without a number of records."""
    if case.records is None:
        return []
    results = [epsilon_of_reconstruction(case.records)]
    bound = case.record.noise().bound
    if math.isfinite(bound):
        cells = int(case.lattice.cells[case.lattice.published].sum())
        attack = PolynomialAttack(records=case.records, bound=bound, outputs=cells)
        results += [exponential_attack(case.records, bound), attack.result()]
    return results
