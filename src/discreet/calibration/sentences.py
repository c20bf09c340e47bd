"""What a design says: the answer, why it is that, and what a reader should know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.accuracy.release_areas import NO_AREAS
from discreet.calibration.constraints import AS_PUBLISHED, HIDDEN_BOUND, OPTIMAL, PAPER, ROOM
from discreet.risk.bound_disclosure import LEAST_SURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.design_question import DesignQuestion
    from discreet.calibration.exposed_statistics import OutputExposure
    from discreet.calibration.feasible_region import Allowed, FeasibleRegion, FeasibleSettings
    from discreet.calibration.recommendation import Recommendation, Setting

PHRASES = {AS_PUBLISHED: "reading counts as published", HIDDEN_BOUND: "a hidden bound", ROOM: "its room"}
"""How constraints are called within a sentence, where their name alone does not do."""


def phrase(name: str) -> str:
    """Return a constraint as it is called within a sentence.

    >>> phrase("hidden bound"), phrase("averaging")
    ('a hidden bound', 'averaging')
    """
    return PHRASES.get(name, name)


def nothing_left(programme: str, widest: Allowed) -> str:
    """Return that no setting is left for a programme, and which constraints exclude each other at the widest bound."""
    return (
        f"Nothing is left for {programme}: {phrase(widest.low_by)} asks for a variance of at least {widest.low:.3g}, "
        f"and at a bound of {widest.bound} {phrase(widest.high_by)} allows at most {widest.high:.3g}."
    )


def left_of_line(line: Allowed) -> str:
    """Return what is left for noise without a bound."""
    if not line.low:
        return f"Noise without a bound could have an epsilon of at most {line.high:.3g} a count."
    if line.feasible:
        return f"Noise without a bound could have an epsilon of {line.low:.3g} to {line.high:.3g} a count."
    return (
        f"Noise without a bound: nothing is left. {line.low_by.capitalize()} ask for an epsilon of at least "
        f"{line.low:.3g} a count, and {line.high_by} allows at most {line.high:.3g}."
    )


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


def warnings_of(
    question: DesignQuestion,
    exposure: OutputExposure,
    region: FeasibleSettings,
    recommendation: Recommendation | None,
    *,
    has_data: bool,
) -> Iterator[str]:
    """Give what a reader of a design should know."""
    if recommendation is not None and recommendation.on_data is not None:
        yield from recommendation.on_data.alarms(question.confidence)
    if question.left_out:
        yield f"Not designed for: tables that count something else ({question.left_out}); name them with --population."
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
    elif question.confidence < LEAST_SURE:
        yield (
            "A guess between two bounds is right in half of the cases: the target for bound disclosure is "
            f"{LEAST_SURE:.0%}, not {question.confidence:.0%}."
        )
    if question.known is not None:
        yield (
            "An attacker who knows true counts sees noise and identifies the bound more often than predicted. The "
            "prediction is for an attacker who knows no true count."
        )
        if question.attacker != OPTIMAL:
            yield "The paper's averages make no use of what is known: only the optimal attacker does."
    if has_data and recommendation is None:
        yield "Nothing was tried on the data, because no setting is left to try."


def _of_paper_attacker(*, has_sets: bool, has_cuts: bool) -> Iterator[str]:
    """Give what the paper's attacker leaves open."""
    if has_cuts:
        yield (
            "Cuts are weighed by the paper's averages, which stop where they first get worse: some cuts look better "
            "than they are against an attacker who does not stop."
        )
    if not has_sets:
        yield (
            "No level next to a published total has 2 to 4 categories, such as sexes. Sets of more parts were not "
            "looked at and may show the bound: nothing but its room limits the variance from above."
        )


def _approximate(*, surrogate: bool, has_universes: bool, has_cuts: bool) -> Iterator[str]:
    """Give what is a closed form and no exact solution."""
    if surrogate:
        yield (
            "Averaging is measured by the closed form for equal blocks. Real blocks differ and may need more noise or "
            "less."
        )
        if has_universes:
            yield "The closed form takes each universe by itself. All of them together reveal more than stated here."
    if has_cuts:
        yield (
            "What cuts buy is estimated by the closed form for equal blocks, each universe by itself. Run design again "
            "on the programme without these tables to confirm it."
        )
