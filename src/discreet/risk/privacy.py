"""The measures of differential privacy and of reconstruction, joined to a record and its programme."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.noise.ptable import PTable
from discreet.results import Result
from discreet.risk.composition import compose, compose_large, large_law
from discreet.risk.composition_theorems import advanced_composition, basic_composition, concentrated_composition
from discreet.risk.epsilon_delta import delta_at, membership_advantage
from discreet.risk.reconstruction import PolynomialAttack, epsilon_of_reconstruction, exponential_attack
from discreet.risk.redundancy import PLAIN
from discreet.risk.registry import measure
from discreet.risk.sensitivity import sensitivity
from discreet.risk.sentences import INDEPENDENT, downwards, upwards

if TYPE_CHECKING:
    from discreet.release.record import Record
    from discreet.risk.case import Case
    from discreet.risk.pairs import Source

EPSILON = 1.0
"""The epsilon at which the delta of one count is reported."""
SLACK = 1e-6
"""The delta left above the floor for which composed epsilons are reported."""


def statistics_of_a_person(case: Case) -> int:
    """Return t: in how many independently noised statistics a person is counted who is in every universe."""
    return case.statistics


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
    source = case.record.ptable() if case.record.has_ptable else case.record.noise()
    found = composed(source, statistics_of_a_person(case))
    return [_of_plain_keys(each) for each in found] if case.record.has_plain_keys else found


def _of_plain_keys(result: Result) -> Result:
    """Return a result whose assumptions say that its noises are related."""
    kept = tuple(text for text in result.assumptions if text != INDEPENDENT)
    return result if kept == result.assumptions else replace(result, assumptions=(*kept, PLAIN))


def composed(source: Source, t: int) -> list[Result]:
    """Return what t counts of a person promise together, exactly and by the theorems beside it.

    The rows of a p-table are composed as they are. The theorems are for one distribution, not for rows in turn.
    """
    if isinstance(source, PTable):
        together, law = compose_large(source, t), large_law(source)
    else:
        together, law = compose(source, t), source
    results = [sensitivity(t), together.floor(), together.epsilon_above_floor(SLACK)]
    if isinstance(source, PTable) and source.repeat > 1:
        return results
    theorems = [
        basic_composition(law, t),
        advanced_composition(law, t, slack=SLACK),
        concentrated_composition(law, t, slack=SLACK),
    ]
    return results + [replace(theorem, condition=together.condition).result() for theorem in theorems if theorem]


@measure("reconstruction")
def reconstruction(case: Case) -> list[Result]:
    """Return where the reconstruction theorems stand; nothing without a number of records."""
    if case.records is None:
        return []
    results = [epsilon_of_reconstruction(case.records)]
    bound = case.record.noise().bound
    if math.isfinite(bound):
        cells = sum(int(each.cells[each.published].sum()) for each in case.lattices.values())
        attack = PolynomialAttack(records=case.records, bound=bound, outputs=cells)
        results += [exponential_attack(case.records, bound), attack.result()]
    return results
