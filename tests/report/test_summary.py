"""The report in short: its numbers are those of the results, and its lights stand where the limits put them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.report.summary import ACCEPTED_LOSS, Verdict, best_outcome, summary_of

if TYPE_CHECKING:
    from discreet.report.gather import Gathered

AREAS = ["Risk by averaging", "Risk by margins", "Risk of the bound", "Utility for small areas"]


def test_there_are_three_sentences_and_four_lights(gathered: Gathered, told: Gathered) -> None:
    for found in (gathered, told):
        summary = summary_of(found)
        assert len(summary.sentences) == 3
        assert [light.area for light in summary.lights] == AREAS


def test_its_numbers_are_those_of_the_results(gathered: Gathered) -> None:
    averaging, margins, bound, areas = (light.result for light in summary_of(gathered).lights)
    assert averaging is gathered.risk("averaging_success")
    assert bound is gathered.risk("bound_revealed")
    assert gathered.attacks
    certain = next(each for each in gathered.attacks.outcomes if each.finding.name == "margins: certain")
    assert margins
    assert margins.value == certain.proven
    small = gathered.utility.small_areas
    assert small
    assert areas
    assert areas.value == pytest.approx(small.single[0].small.expected / small.single[0].small.number)


def test_its_sentences_tell_what_was_found(gathered: Gathered) -> None:
    risk, attack, users = summary_of(gathered).sentences
    averaging = gathered.risk("averaging_success")
    assert averaging
    assert f"{averaging.value:.1%}" in risk
    assert f"{gathered.confidence:.1%}" in risk
    best = best_outcome(gathered)
    assert best
    assert f"{best.headline().right:,} of {best.headline().cells:,}" in attack
    assert gathered.utility.cells
    assert f"{gathered.utility.cells.distances.absolute.mean:.1f} persons off" in users
    assert f"{gathered.utility.additivity.share_of_totals:.1%} of totals" in users


def test_the_worst_of_several_results_counts(gathered: Gathered) -> None:
    assert gathered.assessment
    values = [each.value for each in gathered.assessment.results if each.name == "bound_revealed"]
    assert len(values) > 1
    found = gathered.risk("bound_revealed")
    assert found
    assert found.value == max(values)


def test_a_light_is_above_its_limit_or_keeps_it(gathered: Gathered) -> None:
    for light in summary_of(gathered).lights:
        assert light.result
        assert light.verdict is (Verdict.KEPT if light.result.value <= light.limit else Verdict.ABOVE)
        assert replace(light, limit=light.result.value).verdict is Verdict.KEPT
        assert replace(light, limit=light.result.value - 1e-6).verdict is Verdict.ABOVE
        assert replace(light, result=None).verdict is Verdict.UNKNOWN
    assert summary_of(gathered).lights[-1].limit == ACCEPTED_LOSS


def test_more_is_asked_for_where_the_confidence_is_lower(gathered: Gathered) -> None:
    averaging = gathered.risk("averaging_success")
    assert averaging
    strict = summary_of(replace(gathered, confidence=averaging.value / 2))
    assert strict.lights[0].verdict is Verdict.ABOVE
    assert "more than the" in strict.sentences[0]
    assert "would hold her" in strict.sentences[0]


def test_without_attacks_the_expected_number_stands_for_margins(gathered: Gathered) -> None:
    light = summary_of(replace(gathered, attacks=None)).lights[1]
    assert light.result is gathered.risk("forced_tuples")


def test_an_attack_that_was_cut_off_says_so(gathered: Gathered) -> None:
    assert gathered.attacks
    late = tuple(replace(each, finding=replace(each.finding, cut_off="late")) for each in gathered.attacks.outcomes)
    summary = summary_of(replace(gathered, attacks=replace(gathered.attacks, outcomes=late)))
    assert "cut short" in summary.sentences[1]
    assert "there may be more" in summary.lights[1].reason
    assert summary.lights[1].verdict is Verdict.OPEN
    assert replace(summary.lights[1], limit=-1.0).verdict is Verdict.ABOVE


def test_the_public_is_told_the_size_of_the_noise_and_its_risk(told: Gathered) -> None:
    noise, risk, users = summary_of(told).sentences
    assert f"±{told.release.description['noise']['typical_noise']}" in noise
    averaging = told.risk("averaging_success")
    assert averaging
    assert f"{averaging.value:.1%}" in risk
    assert users == told.utility.typical.sentence
    assert [light.verdict for light in summary_of(told).lights[1:]] == [Verdict.UNKNOWN] * 3
