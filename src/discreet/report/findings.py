"""The page in three sentences: each a number, the limit it is held against, and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.programme.words import statistic_words

if TYPE_CHECKING:
    from discreet.report.story import Story

NOISE, ATTACKER = "noise", "attacker"
"""Sections that a finding leads to."""


@dataclass(frozen=True)
class Finding:
    """One sentence with its number.

    Attributes:
        area: what it is about, in a few words.
        value: the number.
        limit: what it is held against.
        kept: whether the limit is kept.
        sentence: both in words, with the condition under which the number holds.
        section: where the evidence is.
    """

    area: str
    value: str
    limit: str
    kept: bool
    sentence: str
    section: str


def findings(story: Story) -> tuple[Finding, ...]:
    """Return the findings, those that the results allow."""
    found = (_noise(story), _averaging(story), _bound(story))
    return tuple(finding for finding in found if finding)


def _noise(story: Story) -> Finding | None:
    largest, unchanged = story.result("largest_change"), story.result("unchanged_counts")
    if not largest or not unchanged:
        return None
    allowed, kept = story.seen.largest_allowed, largest.value <= story.seen.largest_allowed
    if kept:
        sentence = (
            f"All {story.seen.counts:,} counts above 0 were published at most {largest.value:g} away from the true "
            f"one, as the law promises (at most {allowed:g}), and {unchanged.value:.0%} of them as they are."
        )
    else:
        sentence = (
            f"Of {story.seen.counts:,} counts above 0 at least one was published {largest.value:g} away from the true "
            f"one, more than the law allows (at most {allowed:g}): this release should not be used."
        )
    return Finding("Largest change", f"{largest.value:g}", f"at most {allowed:g}", kept, sentence, NOISE)


def _averaging(story: Story) -> Finding | None:
    right, needed = story.result("averaging_success"), story.result("variance_needed")
    if not right or not needed:
        return None
    case = story.assessment.case
    kept = right.value <= case.confidence
    statistic = statistic_words(case.programme, right.worst or "")
    remedy = "" if kept else f"; a variance of {needed.value:.2f} instead of {case.record.variance:.3g} would hold her"
    sentence = (
        f"An attacker who combines all {len(case.programme.of(case.population))} tables gets a count of {statistic} "
        f"right to the person with probability {right.value:.3f}, {_against(kept=kept)} {case.confidence:.0%} to which "
        f"she was to be held, if counts are well above the noise and categories split evenly{remedy}."
    )
    area = "Right by averaging"
    return Finding(area, f"{right.value:.3f}", f"at most {case.confidence:.2f}", kept, sentence, ATTACKER)


def _bound(story: Story) -> Finding | None:
    revealed = story.result("bound_revealed")
    if not revealed:
        return None
    case = story.assessment.case
    kept = revealed.value <= case.confidence
    sentence = (
        f"The bound of the noise ({case.record.noise().bound:g}) is to stay secret; totals that do not add up give it "
        f"away with probability {revealed.value:.3f}, {_against(kept=kept)} {case.confidence:.0%} allowed, if all "
        "counts are above the bound and every set of parts and total has noise of its own."
    )
    area = "Bound found out"
    return Finding(area, f"{revealed.value:.3f}", f"at most {case.confidence:.2f}", kept, sentence, ATTACKER)


def _against(*, kept: bool) -> str:
    return "no more than the" if kept else "more than the"
