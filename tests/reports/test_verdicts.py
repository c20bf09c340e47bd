"""The decision on a release: its rule, and checks whose values are those of the results."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.attack_verdicts import CERTAIN, MAIN, best_on_singletons
from discreet.attacks.expected_success import Predicted
from discreet.attacks.scoring import CLASSES, ClassScore, Rate, wilson
from discreet.calibration.constraints import bound_disclosure_limit
from discreet.reports.report_results import gather
from discreet.reports.sentences import best_outcome, section_sentences
from discreet.reports.verdicts import decision_of
from discreet.risk.assessment import assess
from discreet.risk.residual_bound import rivals
from discreet.verdicts import (
    ADDITIVITY,
    AVERAGING,
    BOUND,
    CRITERIA,
    EXPECTED_MARGINS,
    MARGINS,
    SINGLETONS,
    SMALL_AREAS,
    Check,
    Decision,
    Policy,
    Verdict,
    percent,
)
from tests.quick import one_in
from tests.reports.facts import with_facts

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.reports.report_results import ReportResults
    from discreet.verdicts import Criterion

CHECKED = [AVERAGING, SINGLETONS, BOUND, MARGINS, SMALL_AREAS, ADDITIVITY]
STATES: dict[str, dict[str, Any]] = {
    "meets": {"value": 0.1, "target": 0.2},
    "at the target": {"value": 0.2, "target": 0.2},
    "misses": {"value": 0.3, "target": 0.2},
    "no target": {"value": 0.3, "target": None},
    "not assessed": {"value": None, "target": 0.2},
    "meets in part": {"value": 0.1, "target": 0.2, "partial": "half"},
    "misses in part": {"value": 0.3, "target": 0.2, "partial": "half"},
}


def check_of(found: ReportResults, criterion: Criterion) -> Check:
    return next(each for each in decision_of(found).checks if each.criterion is criterion)


def with_targets(found: ReportResults, **targets: float) -> ReportResults:
    return with_facts(found, policy=Policy({name.replace("_", "-"): value for name, value in targets.items()}))


def outcome_of(found: ReportResults, name: str) -> Any:  # noqa: ANN401 - an outcome that was scored
    assert found.risk.attacks
    return next(each for each in found.risk.attacks.outcomes if each.finding.name == name)


def with_bound(found: ReportResults, name: str = "bound", **changed: Any) -> Check:  # noqa: ANN401 - of the finding
    """Return the check of the bound for another estimate of an attack on it."""
    assert found.risk.attacks
    old = outcome_of(found, name)
    finding = replace(old.finding, **changed)
    new = replace(old, finding=finding, score=replace(old.score, finding=finding))
    outcomes = tuple(new if each is old else each for each in found.risk.attacks.outcomes)
    return check_of(with_facts(found, attacks=replace(found.risk.attacks, outcomes=outcomes)), BOUND)


@pytest.mark.parametrize("many", [1, 2, 3])
def test_the_rule_holds_for_all_combinations_of_states(many: int) -> None:
    for states in itertools.product(STATES, repeat=many):
        checks = tuple(
            Check(criterion=criterion, origin="chosen", sentence=f"Sentence {number}.", **STATES[state])
            for number, (criterion, state) in enumerate(zip(CHECKED, states, strict=False))
        )
        decision = Decision(checks)
        missed = [state.startswith("misses") for state in states]
        judged = [state in {"meets", "at the target"} for state in states]
        if any(missed):
            assert decision.headline == "Do not publish yet"
            assert decision.reason.startswith(f"Sentence {missed.index(True)}; the target is at most ")
        elif all(judged):
            assert decision.headline == "Meets all targets"
        else:
            labels = [each.criterion.label.lower() for each, known in zip(checks, judged, strict=True) if not known]
            begin = "Meets the targets set; not judged: " if any(judged) else "Not judged: "
            assert decision.headline == begin + ", ".join(labels)
            assert decision.reason.startswith(f"Sentence {judged.index(False)}")
        verdict = Verdict.MISSES if any(missed) else Verdict.MEETS if all(judged) else Verdict.NOT_ASSESSED
        assert decision.verdict is verdict


def test_the_checks_are_in_the_order_of_the_report(gathered: ReportResults, told: ReportResults) -> None:
    assert [each.criterion for each in decision_of(gathered).checks] == CHECKED
    assert [each.criterion for each in decision_of(told).checks] == [AVERAGING, ADDITIVITY]
    # How to meet a target is not public.
    assert decision_of(with_targets(told, averaging=0.01)).options == ()


def test_values_are_those_of_the_results(gathered: ReportResults) -> None:
    averaging, _, bound, margins, areas, additivity = decision_of(gathered).checks
    success, formula = gathered.risk.worst("averaging_success"), gathered.risk.worst("bound_revealed")
    assert success
    assert formula
    assert averaging.value == success.value
    predicted = [outcome_of(gathered, name).headline().predicted for name in ("bound", "bound: residuals")]
    assert bound.value == max(formula.value, *predicted)
    assert margins.value == outcome_of(gathered, "margins: certain").proven
    small = gathered.utility.measured.small_areas
    assert small
    assert areas.value == pytest.approx(small.single[0].small.expected / small.single[0].small.number)
    assert areas.cases == small.single[0].small.number
    assert additivity.value == gathered.utility.measured.additivity.share_of_totals


def with_singletons(found: ReportResults, *rates: tuple[int, int], cut_off: str = "") -> ReportResults:
    """Return the results with attacks that recover so many of so many singleton cells."""
    outcomes = tuple(
        SimpleNamespace(
            finding=SimpleNamespace(name=f"attack {number}", answers=None, cut_off=cut_off),
            by_count=lambda right=right, cells=cells: [
                ClassScore("1", Rate(right, cells, cells, cells), None, 0.5, None, 0)
            ],
        )
        for number, (right, cells) in enumerate(rates)
    )
    return with_facts(found, attacks=SimpleNamespace(outcomes=outcomes, failed={}, mounted=MAIN, truth="exact"))


def test_counts_that_are_certain_do_not_state_the_rate_of_singleton_cells(gathered: ReportResults) -> None:
    found = with_singletons(gathered, (2, 2), (270, 400))
    assert found.risk.attacks is not None
    certain, every = found.risk.attacks.outcomes
    vars(certain.finding)["name"] = CERTAIN
    best = best_on_singletons(found.risk.attacks)
    assert best is not None
    assert best[0] is every


def test_the_best_attack_on_singleton_cells_is_judged(gathered: ReportResults) -> None:
    # The town has no singleton cell, and so no verdict on them.
    assert gathered.risk.attacks is not None
    assert best_on_singletons(gathered.risk.attacks) is None
    assert check_of(gathered, SINGLETONS).verdict is Verdict.NOT_ASSESSED
    found = check_of(with_singletons(gathered, (100, 400), (270, 400), (50, 400)), SINGLETONS)
    assert (found.value, found.lowest, found.cases, found.verdict) == (0.675, None, 400, Verdict.NO_TARGET)
    assert "attack 1 recovers 67.5 % of 400 singleton cells" in found.sentence


def test_a_rate_of_few_cases_is_judged_by_the_end_of_its_interval(gathered: ReportResults) -> None:
    found = with_singletons(gathered, (30, 60))
    singletons, (low, high) = check_of(found, SINGLETONS), wilson(0.5, 60)
    assert (singletons.lowest, singletons.value) == (low, high)
    assert f"50.0 % (95 % interval {percent(low)} to {percent(high)})" in singletons.sentence
    for target, verdict in (((0.5 + high) / 2, Verdict.MISSES), (high, Verdict.MEETS)):
        assert check_of(with_targets(found, singletons=target), SINGLETONS).verdict is verdict


def test_sentences_state_the_values_of_their_tiles(gathered: ReportResults, told: ReportResults) -> None:
    for found in (gathered, told):
        for each in decision_of(found).checks:
            if each.criterion is SINGLETONS:
                continue
            assert each.value is not None
            shown = percent(each.value) if each.criterion.is_share else f"{each.value:,.0f}"
            assert shown in each.sentence
            assert len(each.sentence.split(". ")[0].split()) <= 30


def test_section_sentences_agree_with_the_results(gathered: ReportResults) -> None:
    sentences, best = section_sentences(gathered), best_outcome(gathered)
    assert best
    assert f"of {best.headline().cells:,} {best.finding.subject}" in sentences["attacks"]
    assert percent(best.headline().achieved) in sentences["attacks"]
    cells = gathered.utility.measured.cells
    assert cells
    assert f"{cells.distances.absolute.mean:.2f} (expected {cells.expected.absolute:.2f})" in sentences["accuracy"]
    assert percent(cells.zeros.lost / cells.zeros.occupied) in sentences["accuracy"]
    assert f"{cells.zeros.occupied:,} non-zero counts" in sentences["accuracy"]


@pytest.mark.parametrize("target", one_in(3, [0.56, 0.6, 0.6827, 0.75, 0.9]))
def test_the_check_of_the_bound_agrees_with_the_design(gathered: ReportResults, target: float) -> None:
    assert gathered.published.record
    assert gathered.risk.design
    assert gathered.risk.bound
    variance, bound = gathered.published.record.variance, int(gathered.published.record.bound)
    terms = gathered.risk.bound.case.noise_terms
    assert gathered.risk.design.exposure.terms is terms
    hidden = bound_disclosure_limit({}, target, "optimal", terms)
    found = check_of(with_facts(with_targets(gathered, bound=target), attacks=None), BOUND)
    assert found.value == pytest.approx(terms.success(*rivals(variance, bound)))
    assert (found.verdict is Verdict.MEETS) == hidden.allows(variance, bound)
    # The largest variance that the design allows has the target as its risk.
    limit = min(hidden.limit(bound), bound * (bound + 1) / 3 - 1e-6)
    assert terms.success(*rivals(limit, bound)) <= target + 1e-6


def test_a_lucky_guess_does_not_identify_the_bound(gathered: ReportResults) -> None:
    assert gathered.published.record
    right = np.array([int(gathered.published.record.bound)])
    guessed, found = (
        with_bound(gathered, "bound: residuals", estimate=right, confidence=np.array([sure])) for sure in (0.6, 0.99)
    )
    assert guessed.value is not None
    assert guessed.value < 1
    assert (found.value, found.verdict) == (1.0, Verdict.MISSES)


def test_a_bound_that_an_attack_identified_misses_any_target(gathered: ReportResults) -> None:
    assert gathered.published.record
    right = np.array([int(gathered.published.record.bound)])
    for name in ("bound", "bound: residuals"):
        found = with_bound(gathered, name, estimate=right, confidence=np.array([0.9]))
        assert (found.value, found.verdict) == (1.0, Verdict.MISSES)
        # Not surer than the target: the confidence counts, not the luck.
        found = with_bound(gathered, name, estimate=right, confidence=np.array([0.66]))
        assert (found.value, found.verdict) == (0.66, Verdict.MEETS)


def test_the_larger_of_formula_and_attack_is_the_risk_of_the_bound(gathered: ReportResults) -> None:
    assert gathered.risk.attacks
    old, formula = outcome_of(gathered, "bound"), gathered.risk.worst("bound_revealed")
    assert formula
    for chance in (0.0, 0.9999):
        sure = replace(old, predicted={name: Predicted(chance, 0.0) for name in CLASSES})
        outcomes = tuple(sure if each is old else each for each in gathered.risk.attacks.outcomes)
        found = check_of(with_facts(gathered, attacks=replace(gathered.risk.attacks, outcomes=outcomes)), BOUND)
        residuals = outcome_of(gathered, "bound: residuals").headline().predicted
        assert found.value == max(chance, formula.value, residuals)
    assert check_of(with_facts(gathered, attacks=None), BOUND).value == formula.value


def test_without_attacks_the_expectation_is_judged_for_margins(gathered: ReportResults) -> None:
    found = with_facts(gathered, attacks=None)
    expected = gathered.risk.worst("forced_tuples")
    assert expected
    assert check_of(found, EXPECTED_MARGINS).value == expected.value
    assert check_of(found, SINGLETONS).verdict is Verdict.NOT_ASSESSED


@pytest.mark.parametrize("target", [0.3, 0.2])
def test_the_first_option_is_a_setting_that_meets_the_targets(town_folder: Path, target: float) -> None:
    found = gather(town_folder / "out", targets={"averaging": target})
    decision, nearest = decision_of(found), found.nearest
    assert decision.verdict is Verdict.MISSES
    assert found.risk.design
    assert nearest
    row = found.risk.design.region.plane.at(nearest.bound)
    assert row.low <= nearest.variance <= row.high
    assert f"variance {nearest.variance:.10g} and bound {nearest.bound}" in decision.options[0]
    # The noise of that option meets the target that the present one misses.
    better = assess(
        found.published.release.programme,
        measures=["averaging"],
        targets={"averaging": target},
        **nearest._asdict(),
    )
    assert better.results[0].value <= target < check_of(found, AVERAGING).value  # type: ignore[operator]
    accepting = next(option for option in decision.options if "--target averaging=" in option)
    accepted = float(accepting.partition("averaging=")[2].rstrip(")."))
    assert 0 <= accepted - (check_of(found, AVERAGING).value or 0) < 0.001


def test_an_attack_that_was_cut_off_cannot_meet_a_target(gathered: ReportResults) -> None:
    whole, late = (
        check_of(with_targets(with_singletons(gathered, (30, 300), cut_off=text), singletons=0.5), SINGLETONS)
        for text in ("", "late")
    )
    assert whole.verdict is Verdict.MEETS
    assert late.verdict is Verdict.NOT_ASSESSED
    assert "late" in late.partial
    missed = check_of(with_targets(with_singletons(gathered, (30, 300), cut_off="late"), singletons=0.05), SINGLETONS)
    assert missed.verdict is Verdict.MISSES


def test_a_public_range_is_judged_by_its_upper_end(told: ReportResults) -> None:
    found = check_of(told, AVERAGING)
    assert found.value
    assert found.lowest
    assert found.lowest < found.value
    middle = (found.value + found.lowest) / 2
    assert check_of(with_targets(told, averaging=middle), AVERAGING).verdict is Verdict.MISSES
    assert check_of(with_targets(told, averaging=found.value), AVERAGING).verdict is Verdict.MEETS


def test_every_criterion_has_a_name_of_its_own() -> None:
    assert all(name == each.name for name, each in CRITERIA.items())
    assert len({each.word for each in Verdict}) == len({each.shape for each in Verdict}) == len(Verdict)
