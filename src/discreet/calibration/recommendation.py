"""A recommended setting with its reasons, its risk under each attacker model, its utility and its guarantees."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.expected_accuracy import expected_effects
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
"""The municipalities of all Member States with their numbers of residents."""
MUNICIPAL_MEASURES = ("counts_off_by_20_percent", "areas_off_by_20_percent")
STEPS = (10, 1000, 100_000)
"""A variance is rounded up to tenths, or to smaller units if the rounded value violates a constraint."""


class Setting(NamedTuple):
    """The variance and the bound of cell-key noise."""

    variance: float
    bound: int

    def record(self, programme: Programme) -> Record:
        """Return the record of a release with this noise."""
        return Record(
            programme=programme.name,
            definition=programme_to_json(programme),
            mechanism="cell-key",
            parameters={"variance": self.variance, "bound": self.bound},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Recommendation:
    """The recommended noise with its risk and utility.

    Attributes:
        setting: the variance and the bound.
        reasons: the reasons for the bound and for the variance.
        risk: the risk of the setting under both attacker models.
        promised: epsilon and delta of the setting, with conditions.
        utility: the expected utility of the setting.
        on_data: the results of a trial release of the data; None without data.
    """

    setting: Setting
    reasons: tuple[str, ...]
    risk: tuple[Result, ...]
    promised: tuple[Result, ...]
    utility: tuple[Result, ...]
    on_data: TrialRelease | None

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the setting with its risk and utility, without results on data."""
        assumed = ("consistent noise by cell keys (same participants, same noise)", "all constraints as stated here")
        values = {BOUND: float(self.setting.bound), VARIANCE: self.setting.variance}
        chosen = [
            Result(
                name=f"recommended_{name}",
                value=value,
                unit=UNITS[name],
                sentence=why,
                assumptions=assumed,
                equation="smallest E with V_averaging <= V_disclosure(E), then smallest V",
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
    """Return a setting with its reasons, its risk and its utility.

    Args:
        setting: the variance and the bound.
        plane: the feasible region.
        question: the requirements of the design.
        exposure: the exposure that follows from the structure of the output.
        statistics: the number of statistics that count a person who belongs to every population.
        country: the Member State whose municipalities are evaluated; None for none.
        on_data: the results of a trial release of the data; None without data.
    """
    return Recommendation(
        setting=setting,
        reasons=reasons(setting, plane),
        risk=tuple(risks(setting, exposure.shared, exposure.sets, question.bound_target, exposure.terms)),
        promised=privacy_guarantees(setting, question.programme, statistics),
        utility=tuple(expected_utility(setting, country)),
        on_data=on_data,
    )


def best_setting(plane: FeasibleRegion) -> Setting | None:
    """Return the smallest feasible bound and the minimum variance there, rounded up to tenths if feasible.

    A smaller bound reduces the largest errors, a smaller variance the typical errors. Apart from rounding, any smaller
    value of either violates a constraint.
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
    """Yield the success of each attacker model against a setting: by averaging, and in bound disclosure."""
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
    """Return epsilon and delta of one count and of all counts that include a person, with their conditions."""
    one = assess(setting.record(programme), measures=["epsilon_delta"]).results
    return (*one, *composed(MaxEntropy(variance=setting.variance, bound=setting.bound), statistics))


def expected_utility(setting: Setting, country: str | None) -> list[Result]:
    """Return the expected utility of a setting, also for the municipalities of a Member State."""
    law = transition_matrix(PTable.max_entropy(variance=setting.variance, bound=setting.bound))
    found = expected_effects(law)
    if country is not None:
        municipalities = small_areas(load_areas(f"{LIST}:{country}"), law, sample=False)
        found += [
            replace(
                each,
                name=f"municipal_{each.name}",
                sentence=f"In its municipalities: {each.sentence[0].lower()}{each.sentence[1:]}",
                assumptions=(*municipalities.assumptions, *each.assumptions),
            )
            for each in municipalities.results
            if each.name in MUNICIPAL_MEASURES
        ]
    return found
