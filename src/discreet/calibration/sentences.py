"""Sentences of a design: the answer, the reasons for it, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.accuracy.release_areas import NO_AREAS
from discreet.calibration.constraints import AS_PUBLISHED, OPTIMAL, PAPER, ROOM
from discreet.risk.bound_disclosure import MIN_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.design_question import DesignQuestion
    from discreet.calibration.exposed_statistics import OutputExposure
    from discreet.calibration.feasible_region import AllowedRange, FeasibleRegion, FeasibleSettings
    from discreet.calibration.recommendation import Recommendation, Setting

PHRASES = {AS_PUBLISHED: "the limit on unchanged counts", ROOM: "the uniform distribution"}
"""Names of constraints within a sentence, where they differ from the name of the constraint."""


def phrase(name: str) -> str:
    """Return the name of a constraint for use within a sentence.

    >>> phrase("room"), phrase("averaging")
    ('the uniform distribution', 'averaging')
    """
    return PHRASES.get(name, name)


def infeasible_answer(programme: str, widest: AllowedRange) -> str:
    """Return that no setting satisfies all constraints, and which two conflict at the largest acceptable bound."""
    return (
        f"No setting satisfies all constraints for {programme}: {phrase(widest.low_by)} needs a variance of at least "
        f"{widest.low:.3g}, and {phrase(widest.high_by)} allows at most {widest.high:.3g} at bound {widest.bound}."
    )


def epsilon_answer(line: AllowedRange) -> str:
    """Return which epsilon the constraints allow for unbounded noise."""
    if not line.low:
        return f"Unbounded noise: the constraints allow an epsilon of at most {line.high:.3g} per count."
    if line.feasible:
        return f"Unbounded noise: the constraints allow an epsilon of {line.low:.3g} to {line.high:.3g} per count."
    return (
        f"Unbounded noise: no epsilon satisfies all constraints. {line.low_by.capitalize()} need an epsilon of at "
        f"least {line.low:.3g} per count, and {line.high_by} allows at most {line.high:.3g}."
    )


def reasons(setting: Setting, plane: FeasibleRegion) -> tuple[str, ...]:
    """Return the reasons for a setting: one for the bound and one for the variance."""
    row = plane.at(setting.bound)
    if setting.bound == 1:
        below = "A bound cannot be smaller than 1."
    else:
        less = plane.at(setting.bound - 1)
        below = (
            f"At bound {less.bound}, {phrase(less.low_by)} needs a variance of at least {less.low:.3g}, and "
            f"{phrase(less.high_by)} allows at most {less.high:.3g}."
        )
    allows = f"{phrase(row.high_by)} allows up to {row.high:.3g}"
    return (
        f"{setting.bound} is the smallest bound for which the constraints are compatible. {below}",
        f"The variance is the minimum that {phrase(row.low_by)} needs at this bound ({row.low:.3g}); {allows}.",
    )


def warnings_of(
    question: DesignQuestion,
    exposure: OutputExposure,
    region: FeasibleSettings,
    recommendation: Recommendation | None,
    *,
    has_data: bool,
) -> Iterator[str]:
    """Yield the warnings of a design."""
    if recommendation is not None and recommendation.on_data is not None:
        yield from recommendation.on_data.alarms(question.averaging_target)
    if question.left_out:
        yield (f"The design excludes tables of other populations ({question.left_out}). Select them with --population.")
    if exposure.areas is None:
        yield NO_AREAS
    has_cuts = bool(region.curation.alone)
    yield from _approximate(
        surrogate=question.is_surrogate(exposure.shared[OPTIMAL]),
        has_universes=len(question.populations) > 1,
        has_cuts=has_cuts,
    )
    if question.attacker != OPTIMAL:
        yield from _of_paper_attacker(has_sets=bool(exposure.sets[PAPER]), has_cuts=has_cuts)
    elif question.bound_target < MIN_CONFIDENCE:
        yield (
            "A guess between two bounds is correct in half of the cases. The target for bound disclosure is therefore "
            f"{MIN_CONFIDENCE:.0%}, not {question.bound_target:.0%}."
        )
    if question.known is not None:
        yield (
            "An attacker who knows true counts observes noise values and identifies the bound more often than "
            "predicted. The prediction assumes an attacker who knows no true count."
        )
        if question.attacker != OPTIMAL:
            yield "The paper's averaging attack does not use known counts. Only the optimal attacker uses them."
    if has_data and recommendation is None:
        yield "The data were not used, because no setting satisfies all constraints."


def _of_paper_attacker(*, has_sets: bool, has_cuts: bool) -> Iterator[str]:
    """Yield the limitations of a design against the paper's attacker."""
    if has_cuts:
        yield (
            "Cuts are evaluated with the paper's averaging attack, which stops at the first average that is worse. "
            "Some cuts therefore appear more effective than they are against an attacker who does not stop."
        )
    if not has_sets:
        yield (
            "No level with a published total has 2 to 4 categories, as sex has. Sets of more parts were not examined "
            "and may disclose the bound. The only upper limit on the variance is that of the uniform distribution."
        )


def _approximate(*, surrogate: bool, has_universes: bool, has_cuts: bool) -> Iterator[str]:
    """Yield which figures come from a closed form instead of an exact solution."""
    if surrogate:
        yield (
            "The averaging attack is evaluated with the closed form for equal blocks. Real blocks differ in size and "
            "may need more or less noise."
        )
        if has_universes:
            yield (
                "The closed form evaluates each universe separately. All universes combined disclose more than stated "
                "here."
            )
    if has_cuts:
        yield (
            "The effect of cuts is estimated with the closed form for equal blocks, separately for each universe. "
            "Confirm it by running design again on the programme without these tables."
        )
