"""The report in short: its numbers are those of the results, and its lights stand where the limits put them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.scoring import CLASSES
from discreet.design.predictions import Predicted
from discreet.report.summary import ACCEPTED_LOSS, Verdict, best_outcome, summary_of

if TYPE_CHECKING:
    from discreet.report.gather import Gathered
    from discreet.report.summary import Light

AREAS = ["Risk by averaging", "Risk by margins", "Risk of the bound", "Utility for small areas"]


def bound_attack(found: Gathered) -> Any:  # noqa: ANN401 - an outcome that was scored
    assert found.attacks
    return next(each for each in found.attacks.outcomes if each.finding.name == "bound")


def with_bound(found: Gathered, **changed: Any) -> Light:  # noqa: ANN401 - of the finding
    """Return the light of the bound if the attack on it had found something else."""
    assert found.attacks
    old = bound_attack(found)
    finding = replace(old.finding, **changed)
    new = replace(old, finding=finding, score=replace(old.score, finding=finding))
    outcomes = tuple(new if each is old else each for each in found.attacks.outcomes)
    return summary_of(replace(found, attacks=replace(found.attacks, outcomes=outcomes))).lights[2]


def test_there_are_three_sentences_and_four_lights(gathered: Gathered, told: Gathered) -> None:
    for found, areas in ((gathered, AREAS), (told, AREAS[:1])):
        summary = summary_of(found)
        assert len(summary.sentences) == 3
        assert [light.area for light in summary.lights] == areas
        # What has no row is named, with the reason, once.
        assert all((area.lower() in summary.untold.lower()) == (area not in areas and found is told) for area in AREAS)


def test_its_numbers_are_those_of_the_results(gathered: Gathered) -> None:
    averaging, margins, bound, areas = (light.result for light in summary_of(gathered).lights)
    assert averaging is gathered.risk("averaging_success")
    assert gathered.attacks
    formula, attacked = gathered.risk("bound_revealed"), bound_attack(gathered)
    assert bound
    assert formula
    assert not attacked.score.right.any()
    assert bound.value == max(formula.value, attacked.headline().predicted)
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
    assert f"are published {gathered.utility.cells.distances.absolute.mean:.1f} persons off on average" in users
    assert f"{gathered.utility.cells.zeros.gone:.1%} of them as 0 or less" in users
    assert f"{gathered.utility.additivity.share_of_totals:.1%} of totals" in users


@pytest.mark.parametrize(("formula", "bridged"), [(0.9, True), (0.1, False)])
def test_one_exposed_statistic_and_all_counts_are_told_apart(gathered: Gathered, formula: float, bridged: bool) -> None:
    assert gathered.assessment
    results = tuple(
        replace(each, value=formula) if each.name == "averaging_success" else each
        for each in gathered.assessment.by_measure["averaging"]
    )
    by_measure = {**gathered.assessment.by_measure, "averaging": results}
    found = replace(gathered, assessments=(replace(gathered.assessment, by_measure=by_measure),))
    assert ("over all counts, most of which are less exposed" in summary_of(found).sentences[1]) is bridged


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


def test_a_bound_that_the_attack_found_is_above_any_limit(gathered: Gathered) -> None:
    assert gathered.record
    light = with_bound(gathered, estimate=np.array([int(gathered.record.bound)]))
    assert light.result
    assert (light.result.value, light.verdict) == (1.0, Verdict.ABOVE)
    assert light.reason.startswith("found in this release")
    # What the formula says, and of what, stands beside it.
    formula = gathered.risk("bound_revealed")
    assert formula
    assert f"{formula.value:.1%}" in light.reason
    assert "sets of 2 to 4 parts next to a total" in light.reason


def test_the_larger_of_formula_and_attack_stands_for_a_bound_that_was_not_found(gathered: Gathered) -> None:
    assert gathered.attacks
    old, formula = bound_attack(gathered), gathered.risk("bound_revealed")
    assert formula
    for chance in (0.0, 0.9999):
        sure = replace(old, predicted={name: Predicted(chance, 0.0) for name in CLASSES})
        outcomes = tuple(sure if each is old else each for each in gathered.attacks.outcomes)
        found = replace(gathered, attacks=replace(gathered.attacks, outcomes=outcomes))
        light = summary_of(found).lights[2]
        assert light.result
        assert light.result.value == max(chance, formula.value)
        assert "did not find it" in light.reason
        assert light.verdict is (Verdict.ABOVE if light.result.value > found.confidence else Verdict.KEPT)


def test_an_attack_on_the_bound_that_was_cut_off_may_find_it_yet(gathered: Gathered) -> None:
    light = with_bound(gathered, cut_off="late")
    assert light.is_open
    assert "time ran out" in light.reason


def test_without_attacks_the_formula_stands_for_the_bound(gathered: Gathered) -> None:
    light = summary_of(replace(gathered, attacks=None)).lights[2]
    assert light.result is gathered.risk("bound_revealed")
    assert "sets of 2 to 4 parts next to a total" in light.reason


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
    (light,) = summary_of(told).lights
    assert light.result
    assert light.mildest
    assert light.mildest < light.result.value
    assert f"in {100 * light.mildest:.1f} to {light.result.value:.1%} of cases" in risk
    assert users == told.utility.typical.sentence


def test_what_is_told_roughly_is_held_against_the_limit_as_a_range(told: Gathered) -> None:
    (light,) = summary_of(told).lights
    assert light.result
    assert light.mildest
    most, least = light.result.value, light.mildest
    verdicts = {most: Verdict.KEPT, (most + least) / 2: Verdict.ABOUT, least - 1e-6: Verdict.ABOVE}
    said = {Verdict.KEPT: ", no more than the", Verdict.ABOUT: ", about the", Verdict.ABOVE: ", more than the"}
    for limit, verdict in verdicts.items():
        summary = summary_of(replace(told, confidence=limit))
        assert summary.lights[0].verdict is verdict
        assert said[verdict] in summary.sentences[1]
        # How to mend it is the curator's business.
        assert "would hold her" not in summary.sentences[1]
