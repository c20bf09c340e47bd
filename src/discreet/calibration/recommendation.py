"""A setting with its reasons: what is risked under each attacker, what users get, and what it promises a person."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.expected_accuracy import what_to_expect
from discreet.accuracy.small_areas import small_areas
from discreet.calibration.constraints import ATTACKERS, BOUND, PAPER, UNITS, VARIANCE
from discreet.calibration.sentences import reasons
from discreet.noise.by_count import transition_matrix
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.programme.programme_json import programme_to_json
from discreet.release.record import Record
from discreet.results import Result
from discreet.risk.assessment import assess
from discreet.risk.bound_disclosure import disclosures_at, result_of_sets
from discreet.risk.measures import composed
from discreet.risk.residual_bound import rivals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.calibration.comparison import TrialRelease
    from discreet.calibration.design_question import DesignQuestion
    from discreet.calibration.exposed_statistics import Exposure, OutputExposure
    from discreet.calibration.feasible_region import FeasibleRegion
    from discreet.programme.model import Programme
    from discreet.risk.residual_bound import NoiseTerms

LIST = "lau:2016"
"""The municipalities of all Member States with their residents."""
OF_VILLAGES = ("counts_off_by_20_percent", "areas_off_by_20_percent")
STEPS = (10, 1000, 100_000)
"""A variance is told in tenths, rounded up, or, where that breaks a constraint, in smaller parts."""


class Setting(NamedTuple):
    """Noise of cell keys: its variance and its bound."""

    variance: float
    bound: int

    def record(self, programme: Programme) -> Record:
        """Return how a release with this noise would be made."""
        return Record(
            programme=programme.name,
            definition=programme_to_json(programme),
            mechanism="cell-key",
            parameters={"variance": self.variance, "bound": self.bound},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Recommendation:
    """The noise to take, and what follows from it.

    Attributes:
        setting: variance and bound.
        reasons: why the bound, and why the variance.
        risk: of the setting, under both attackers.
        promised: epsilon and delta of the setting, with conditions.
        utility: what users can expect of the setting.
        on_data: what a release of the data would give; None without data.
    """

    setting: Setting
    reasons: tuple[str, ...]
    risk: tuple[Result, ...]
    promised: tuple[Result, ...]
    utility: tuple[Result, ...]
    on_data: TrialRelease | None

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the setting and what follows from it without data, each in a sentence."""
        assumed = ("cell keys: the same participants have the same noise", "all constraints as they are told here")
        values = {BOUND: float(self.setting.bound), VARIANCE: self.setting.variance}
        chosen = [
            Result(
                name=f"recommended_{name}",
                value=value,
                unit=UNITS[name],
                sentence=why,
                assumptions=assumed,
                equation="least E with V_averaging <= V_hidden(E), then least V",
            )
            for (name, value), why in zip(values.items(), self.reasons, strict=True)
        ]
        return (*chosen, *self.risk, *self.promised, *self.utility)


def recommend(
    setting: Setting,
    plane: FeasibleRegion,
    question: DesignQuestion,
    exposure: OutputExposure,
    *,
    statistics: int,
    country: str | None,
    on_data: TrialRelease | None,
) -> Recommendation:
    """Return a setting with its reasons and what follows from it.

    Args:
        setting: variance and bound.
        plane: what the constraints leave.
        question: what was asked.
        exposure: what the structure of the output reveals.
        statistics: how many of them count a person who is in every population.
        country: the Member State whose municipalities are looked at, None for none.
        on_data: what a release of the data would give.
    """
    return Recommendation(
        setting=setting,
        reasons=reasons(setting, plane),
        risk=tuple(risks(setting, exposure.shared, exposure.sets, question.confidence, exposure.terms)),
        promised=privacy_guarantees(setting, question.programme, statistics),
        utility=tuple(expected_utility(setting, country)),
        on_data=on_data,
    )


def best_setting(plane: FeasibleRegion) -> Setting | None:
    """Return the smallest bound that leaves something and the least variance there, in tenths where that fits.

    A smaller bound spares users the worst errors, a smaller variance the usual ones; neither can be had without
    breaking a constraint.
    """
    if not plane.feasible:
        return None
    row = plane.feasible[0]
    rounded = (math.ceil(row.low * step) / step for step in STEPS)
    return Setting(next((each for each in rounded if plane.allows(each, row.bound)), row.low), row.bound)


def risks(
    setting: Setting,
    exposed: Mapping[str, Exposure],
    sets: Mapping[str, Mapping[int, int]],
    confidence: float,
    terms: NoiseTerms,
) -> Iterator[Result]:
    """Give what each attacker achieves against a setting: by averaging, and on the bound."""
    law, wider = rivals(setting.variance, setting.bound)
    for attacker in ATTACKERS:
        yield exposed[attacker].result(setting.variance, attacker, float(law.pmf(0)))
    predicted, limit = terms.results(law, wider, confidence)
    yield replace(predicted, name="bound_found_by_optimal_attacker")
    yield limit
    if sets[PAPER]:
        found = disclosures_at(setting.variance, setting.bound, sets[PAPER], confidence=confidence)
        yield result_of_sets(found, "bound_found_by_paper_attacker")


def privacy_guarantees(setting: Setting, programme: Programme, statistics: int) -> tuple[Result, ...]:
    """Return epsilon and delta of one count and of all that count a person, with their conditions."""
    one = assess(setting.record(programme), measures=["epsilon_delta"]).results
    return (*one, *composed(MaxEntropy(variance=setting.variance, bound=setting.bound), statistics))


def expected_utility(setting: Setting, country: str | None) -> list[Result]:
    """Return what users can expect of a setting, and what it does to the municipalities of a Member State."""
    law = transition_matrix(PTable.max_entropy(variance=setting.variance, bound=setting.bound))
    found = what_to_expect(law)
    if country is not None:
        villages = small_areas(load_areas(f"{LIST}:{country}"), law, sample=False)
        found += [
            replace(
                each,
                name=f"municipal_{each.name}",
                sentence=f"In its municipalities: {each.sentence[0].lower()}{each.sentence[1:]}",
                assumptions=(*villages.assumptions, *each.assumptions),
            )
            for each in villages.results
            if each.name in OF_VILLAGES
        ]
    return found
