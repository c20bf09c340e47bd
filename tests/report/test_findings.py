"""Findings say a number, the limit it is held against, and whether it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.report.findings import findings

if TYPE_CHECKING:
    from discreet.report.story import Story


def changed(story: Story, measure: str, name: str, value: float) -> Story:
    """Return the story with another value in one result."""
    by_measure = {
        key: tuple(replace(r, value=value) if key == measure and r.name == name else r for r in found)
        for key, found in story.assessment.by_measure.items()
    }
    return replace(story, assessment=replace(story.assessment, by_measure=by_measure))


def test_there_are_three_each_one_sentence_with_its_number_and_limit(story: Story) -> None:
    found = findings(story)
    assert [finding.area for finding in found] == ["Largest change", "Right by averaging", "Bound found out"]
    for finding in found:
        assert finding.value in finding.sentence
        assert finding.sentence.endswith(".")
        assert finding.sentence.count(". ") == 0
        assert finding.limit.startswith("at most ")


def test_the_numbers_are_those_of_the_results(story: Story) -> None:
    largest, averaging, bound = findings(story)
    results = {result.name: result.value for result in reversed(story.assessment.results)}
    assert largest.value == str(story.seen.largest)
    assert averaging.value == f"{results['averaging_success']:.3f}"
    assert f"a variance of {results['variance_needed']:.2f} instead of 3 would hold her" in averaging.sentence
    assert bound.value == f"{results['bound_revealed']:.3f}"


def test_a_limit_that_is_kept_is_said_to_be(story: Story) -> None:
    _, averaging, _ = findings(changed(story, "averaging", "averaging_success", 0.25))
    assert averaging.kept
    assert "with probability 0.250, no more than the 68%" in averaging.sentence
    assert "instead of" not in averaging.sentence


def test_noise_beyond_the_law_is_said_aloud(story: Story) -> None:
    largest, *_ = findings(replace(story, seen=replace(story.seen, times={**story.seen.times, (3, 9): 1})))
    assert not largest.kept
    assert "more than the law allows (at most 5): this release should not be used" in largest.sentence


def test_what_was_not_measured_is_not_told(story: Story) -> None:
    bare = replace(story, assessment=replace(story.assessment, by_measure={}))
    assert [finding.area for finding in findings(bare)] == ["Largest change"]
