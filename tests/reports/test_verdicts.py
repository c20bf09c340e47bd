"""The report in short: its numbers are those of the results, and its lights stand where the limits put them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.expected_success import Predicted
from discreet.attacks.scoring import CLASSES
from discreet.calibration.constraints import bound_disclosure_limit
from discreet.reports.sentences import best_outcome, summary_of
from discreet.reports.verdicts import ACCEPTED_LOSS, Verdict
from discreet.risk.residual_bound import rivals
from discreet.risk.sentences import upwards
from tests.quick import one_in
from tests.reports.facts import with_facts

if TYPE_CHECKING:
    from discreet.reports.report_results import ReportResults
    from discreet.reports.verdicts import VerdictLine

AREAS = ["Risk by averaging", "Risk by margins", "Risk of the bound", "Utility for small areas"]


def outcome_of(found: ReportResults, name: str) -> Any:  # noqa: ANN401 - an outcome that was scored
    assert found.risk.attacks
    return next(each for each in found.risk.attacks.outcomes if each.finding.name == name)


def bound_attack(found: ReportResults) -> Any:  # noqa: ANN401 - an outcome that was scored
    return outcome_of(found, "bound")


def with_bound(found: ReportResults, name: str = "bound", **changed: Any) -> VerdictLine:  # noqa: ANN401 - of the finding
    """Return the light of the bound if an attack on it had found something else."""
    assert found.risk.attacks
    old = outcome_of(found, name)
    finding = replace(old.finding, **changed)
    new = replace(old, finding=finding, score=replace(old.score, finding=finding))
    outcomes = tuple(new if each is old else each for each in found.risk.attacks.outcomes)
    return summary_of(with_facts(found, attacks=replace(found.risk.attacks, outcomes=outcomes))).lights[2]


def test_there_are_three_sentences_and_four_lights(gathered: ReportResults, told: ReportResults) -> None:
    for found, areas in ((gathered, AREAS), (told, AREAS[:1])):
        summary = summary_of(found)
        assert len(summary.sentences) == 3
        assert [light.area for light in summary.lights] == areas
        # What has no row is named, with the reason, once.
        assert all((area.lower() in summary.untold.lower()) == (area not in areas and found is told) for area in AREAS)


def test_its_numbers_are_those_of_the_results(gathered: ReportResults) -> None:
    averaging, margins, bound, areas = (light.result for light in summary_of(gathered).lights)
    assert averaging is gathered.risk.worst("averaging_success")
    assert gathered.risk.attacks
    formula, attacked = gathered.risk.worst("bound_revealed"), bound_attack(gathered)
    assert bound
    assert formula
    assert not attacked.score.right.any()
    residuals = outcome_of(gathered, "bound: residuals")
    assert bound.value == max(formula.value, attacked.headline().predicted, residuals.headline().predicted)
    certain = next(each for each in gathered.risk.attacks.outcomes if each.finding.name == "margins: certain")
    assert margins
    assert margins.value == certain.proven
    small = gathered.utility.measured.small_areas
    assert small
    assert areas
    assert areas.value == pytest.approx(small.single[0].small.expected / small.single[0].small.number)


def test_its_sentences_tell_what_was_found(gathered: ReportResults) -> None:
    risk, attack, users = summary_of(gathered).sentences
    averaging = gathered.risk.worst("averaging_success")
    assert averaging
    assert f"{averaging.value:.1%}" in risk
    assert f"{gathered.risk.confidence:.1%}" in risk
    best = best_outcome(gathered)
    assert best
    assert f"{best.headline().right:,} of {best.headline().cells:,}" in attack
    assert gathered.utility.measured.cells
    assert (
        f"are published {gathered.utility.measured.cells.distances.absolute.mean:.1f} persons off on average" in users
    )
    assert f"{gathered.utility.measured.cells.zeros.gone:.1%} of them as 0 or less" in users
    assert f"{gathered.utility.measured.additivity.share_of_totals:.1%} of totals" in users


@pytest.mark.parametrize(("formula", "bridged"), [(0.9, True), (0.1, False)])
def test_one_exposed_statistic_and_all_counts_are_told_apart(
    gathered: ReportResults, formula: float, bridged: bool
) -> None:
    assert gathered.risk.assessment
    results = tuple(
        replace(each, value=formula) if each.name == "averaging_success" else each
        for each in gathered.risk.assessment.by_measure["averaging"]
    )
    by_measure = {**gathered.risk.assessment.by_measure, "averaging": results}
    found = with_facts(gathered, assessments=(replace(gathered.risk.assessment, by_measure=by_measure),))
    assert ("over all counts, most of which are less exposed" in summary_of(found).sentences[1]) is bridged


def test_the_bound_is_one_for_all_populations(gathered: ReportResults) -> None:
    assert gathered.risk.bound
    (predicted,) = [each for each in gathered.risk.bound.results if each.name == "bound_revealed"]
    assert gathered.risk.worst("bound_revealed") is predicted
    assert not any(each.name == "bound_revealed" for part in gathered.risk.assessments for each in part.results)


@pytest.mark.parametrize("confidence", one_in(3, [0.5, 0.55, 0.6, 0.6827, 0.75, 0.9]))
def test_the_light_of_the_bound_agrees_with_the_design(gathered: ReportResults, confidence: float) -> None:
    assert gathered.published.record
    assert gathered.risk.design
    assert gathered.risk.bound
    variance, bound = gathered.published.record.variance, int(gathered.published.record.bound)
    terms = gathered.risk.bound.case.noise_terms
    assert gathered.risk.design.exposure.terms is terms
    for closer in (0.98, 1.0, 1.02):
        # The confidence at which the light is about to change, and a little to both sides.
        alpha = confidence if closer == 1.0 else min(terms.success(*rivals(variance, bound)) * closer, 0.99)
        hidden = bound_disclosure_limit({}, alpha, "optimal", terms)
        light = summary_of(with_facts(gathered, confidence=alpha, attacks=None)).lights[2]
        assert (light.verdict is Verdict.KEPT) == hidden.allows(variance, bound)
        assert (light.verdict is Verdict.KEPT) == (variance <= hidden.limit(bound))


def test_a_bound_at_risk_comes_with_noise_that_hides_it(gathered: ReportResults) -> None:
    assert gathered.published.record
    assert gathered.risk.design
    variance, bound = gathered.published.record.variance, int(gathered.published.record.bound)
    light = with_bound(gathered, estimate=np.array([bound]))
    (hidden,) = [each for each in gathered.risk.design.region.constraints if each.name == "hidden bound"]
    wider = int(re.search(r"a bound of at least (\d+)", light.remedy)[1])  # type: ignore[index]
    allowed = float(re.search(r"variance of at most ([\d.]+) at bound", light.remedy)[1])  # type: ignore[index]
    assert hidden.allows(variance, wider)
    assert wider == bound + 1 or not hidden.allows(variance, wider - 1)
    assert hidden.allows(allowed, bound)
    assert replace(light, limit=1.0).remedy == ""


def test_a_lucky_guess_of_the_bound_is_no_finding(gathered: ReportResults) -> None:
    assert gathered.published.record
    right = np.array([int(gathered.published.record.bound)])
    guessed, found = (
        with_bound(gathered, "bound: residuals", estimate=right, confidence=np.array([sure])) for sure in (0.6, 0.99)
    )
    assert guessed.result
    assert guessed.result.value < 1
    assert found.result
    assert (found.result.value, found.verdict) == (1.0, Verdict.ABOVE)
    assert "identified in this release by the likelihood of the leave-one-out residuals" in found.reason


def test_a_light_is_above_its_limit_or_keeps_it(gathered: ReportResults) -> None:
    for light in summary_of(gathered).lights:
        assert light.result
        assert light.verdict is (Verdict.KEPT if light.result.value <= light.limit else Verdict.ABOVE)
        assert replace(light, limit=light.result.value).verdict is Verdict.KEPT
        assert replace(light, limit=light.result.value - 1e-6).verdict is Verdict.ABOVE
        assert replace(light, result=None).verdict is Verdict.UNKNOWN
    assert summary_of(gathered).lights[-1].limit == ACCEPTED_LOSS


def test_a_bound_that_the_attack_found_is_above_any_limit(gathered: ReportResults) -> None:
    assert gathered.published.record
    light = with_bound(gathered, estimate=np.array([int(gathered.published.record.bound)]))
    assert light.result
    assert (light.result.value, light.verdict) == (1.0, Verdict.ABOVE)
    assert light.reason.startswith("identified in this release")
    # What the formula says, and of what, stands beside it.
    formula = gathered.risk.worst("bound_revealed")
    assert formula
    assert f"{formula.value:.1%}" in light.reason


def test_the_larger_of_formula_and_attack_stands_for_a_bound_that_was_not_found(gathered: ReportResults) -> None:
    assert gathered.risk.attacks
    old, formula = bound_attack(gathered), gathered.risk.worst("bound_revealed")
    assert formula
    for chance in (0.0, 0.9999):
        sure = replace(old, predicted={name: Predicted(chance, 0.0) for name in CLASSES})
        outcomes = tuple(sure if each is old else each for each in gathered.risk.attacks.outcomes)
        found = with_facts(gathered, attacks=replace(gathered.risk.attacks, outcomes=outcomes))
        light = summary_of(found).lights[2]
        assert light.result
        residuals = outcome_of(gathered, "bound: residuals").headline().predicted
        assert light.result.value == max(chance, formula.value, residuals)
        assert "did not identify it" in light.reason
        assert light.verdict is (Verdict.ABOVE if light.result.value > found.risk.confidence else Verdict.KEPT)


def test_without_attacks_the_formula_stands_for_the_bound(gathered: ReportResults) -> None:
    light = summary_of(with_facts(gathered, attacks=None)).lights[2]
    assert light.result is gathered.risk.worst("bound_revealed")
    assert light.reason == "predicted probability that the residuals of all large counts identify the bound"


def test_more_is_asked_for_where_the_confidence_is_lower(gathered: ReportResults) -> None:
    averaging = gathered.risk.worst("averaging_success")
    assert averaging
    strict = summary_of(with_facts(gathered, confidence=averaging.value / 2))
    assert strict.lights[0].verdict is Verdict.ABOVE
    assert "more than the" in strict.sentences[0]
    needed = gathered.risk.worst("variance_needed")
    assert needed
    assert f"Publish with a variance of at least {upwards(needed.value)} instead of" in strict.sentences[0]


def test_a_variance_that_is_nearly_enough_reads_differently(gathered: ReportResults) -> None:
    assert gathered.published.record
    assert gathered.risk.assessment
    variance = gathered.published.record.variance
    results = tuple(
        replace(each, value=variance * (1 + 2e-5)) if each.name == "variance_needed" else each
        for each in gathered.risk.assessment.by_measure["averaging"]
    )
    by_measure = {**gathered.risk.assessment.by_measure, "averaging": results}
    found = with_facts(
        gathered, assessments=(replace(gathered.risk.assessment, by_measure=by_measure),), confidence=0.01
    )
    words = summary_of(found).lights[0].remedy
    least, now = re.findall(r"at least ([\d.]+) instead of ([\d.]+),", words)[0]
    assert float(least) >= variance * (1 + 2e-5)
    assert float(least) > float(now)


def test_without_attacks_the_expected_number_stands_for_margins(gathered: ReportResults) -> None:
    light = summary_of(with_facts(gathered, attacks=None)).lights[1]
    assert light.result is gathered.risk.worst("forced_tuples")


def test_an_attack_that_was_cut_off_says_so(gathered: ReportResults) -> None:
    assert gathered.risk.attacks
    late = tuple(
        replace(each, finding=replace(each.finding, cut_off="late")) for each in gathered.risk.attacks.outcomes
    )
    summary = summary_of(with_facts(gathered, attacks=replace(gathered.risk.attacks, outcomes=late)))
    assert "late, and she may learn more" in summary.sentences[1]


def test_the_public_is_told_the_size_of_the_noise_and_its_risk(told: ReportResults) -> None:
    noise, risk, users = summary_of(told).sentences
    assert f"±{told.published.release.description['noise']['typical_noise']}" in noise
    (light,) = summary_of(told).lights
    assert light.result
    assert light.mildest
    assert light.mildest < light.result.value
    assert f"in {100 * light.mildest:.1f} to {light.result.value:.1%} of cases" in risk
    assert users == told.utility.measured.typical.sentence


def test_what_is_told_roughly_is_held_against_the_limit_as_a_range(told: ReportResults) -> None:
    (light,) = summary_of(told).lights
    assert light.result
    assert light.mildest
    most, least = light.result.value, light.mildest
    verdicts = {most: Verdict.KEPT, (most + least) / 2: Verdict.ABOUT, least - 1e-6: Verdict.ABOVE}
    said = {Verdict.KEPT: ", no more than the", Verdict.ABOUT: ", about the", Verdict.ABOVE: ", more than the"}
    for limit, verdict in verdicts.items():
        summary = summary_of(with_facts(told, confidence=limit))
        assert summary.lights[0].verdict is verdict
        assert said[verdict] in summary.sentences[1]
        # How to mend it is the curator's business.
        assert "Publish with" not in summary.sentences[1]
