"""The measures of differential privacy and of reconstruction, joined to a record and its programme."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.noise.max_entropy import MaxEntropy
from discreet.results import Result
from discreet.risk.composition import compose
from discreet.risk.composition_theorems import advanced_composition, basic_composition, concentrated_composition
from discreet.risk.epsilon_delta import delta_at, membership_advantage
from discreet.risk.reconstruction import PolynomialAttack, epsilon_of_reconstruction, exponential_attack
from discreet.risk.registry import measure
from discreet.risk.sensitivity import sensitivity
from discreet.risk.wording import downwards, upwards

if TYPE_CHECKING:
    from discreet.noise.base import Noise
    from discreet.release.record import Record
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
    found = [delta_at(source, EPSILON), membership_advantage(source)]
    if not case.record.has_ptable and not case.record.zeros_are_noisy and case.record.mechanism != "eps-dp":
        found.append(_seen_alone(case.record))
    return found + _promised(case.record)


def _seen_alone(record: Record) -> Result:
    """Return delta of the counts 0 and 1 where zeros stay zeros: P(1 is not shown as 0), the same at every epsilon."""
    law = record.noise()
    seen = 1 - float(law.cdf(-1) if record.non_negative else law.pmf(-1))
    return Result(
        name="delta_of_a_person_alone",
        value=seen,
        unit="1",
        sentence=f"A person alone in a cell is seen there with probability {downwards(seen)}: empty cells are "
        "published as 0, so that anything else means somebody.",
        assumptions=("zeros stay zeros", "a law that every count from 1 on has"),
        equation=f"delta = 1 - P(X {'<=' if record.non_negative else '='} -1)",
    )


def _promised(record: Record) -> list[Result]:
    """Return what a privacy budget promises for the whole output."""
    if not record.privacy:
        return []
    epsilon, delta = float(record.privacy["epsilon"]), float(record.privacy["delta"])
    return [
        Result(
            name="epsilon_of_output",
            value=epsilon,
            unit="1",
            sentence=f"The whole output keeps epsilon {upwards(epsilon, 6)} with delta {upwards(delta)}.",
            assumptions=(str(record.privacy["condition"]),),
            equation="eps = sum over the counts that one person changes of their epsilon",
        )
    ]


@measure("composition")
def composition(case: Case) -> list[Result]:
    """Return what all statistics together promise a person, exactly and by the theorems beside it."""
    return composed(_law(case), statistics_of_a_person(case))


def composed(law: Noise, t: int) -> list[Result]:
    """Return what t counts of a person promise together, exactly and by the theorems beside it."""
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
