"""A setting with its reasons: what is risked under each attacker, what users get, and what it promises a person."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.expected_accuracy import what_to_expect
from discreet.accuracy.small_areas import small_areas
from discreet.calibration.constraints import ATTACKERS, PAPER
from discreet.calibration.feasible_region import phrase
from discreet.noise.by_count import by_count
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.programme.programme_json import programme_to_json
from discreet.release.record import Record
from discreet.risk.assessment import assess
from discreet.risk.bound_disclosure import disclosures_at, result_of_sets
from discreet.risk.measures import composed
from discreet.risk.residual_bound import rivals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.calibration.exposed_statistics import Exposure
    from discreet.calibration.feasible_region import FeasibleRegion
    from discreet.programme.model import Programme
    from discreet.results import Result
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


def reasons(setting: Setting, plane: FeasibleRegion) -> tuple[str, ...]:
    """Return why this setting, one sentence for the bound and one for the variance."""
    row = plane.at(setting.bound)
    if setting.bound == 1:
        below = "No bound is smaller."
    else:
        less = plane.at(setting.bound - 1)
        below = (
            f"At a bound of {less.bound} {phrase(less.low_by)} asks for a variance of at least {less.low:.3g}, and "
            f"{phrase(less.high_by)} allows at most {less.high:.3g}."
        )
    most = f"{phrase(row.high_by)} would allow up to {row.high:.3g}"
    return (
        f"The bound is the smallest that leaves something. {below}",
        f"The variance is the least that {phrase(row.low_by)} asks for there ({row.low:.3g}); {most}.",
    )


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
    law = by_count(PTable.max_entropy(variance=setting.variance, bound=setting.bound))
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
