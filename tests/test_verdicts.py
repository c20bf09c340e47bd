"""Targets, checks and the decision rule, against a second implementation of the rule on all combinations."""

from __future__ import annotations

import itertools

import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.verdicts import (
    ADDITIVITY,
    AVERAGING,
    BOUND,
    CRITERIA,
    DELTA,
    MARGINS,
    SINGLETONS,
    Check,
    Decision,
    Policy,
    Verdict,
    check,
    percent,
)

STATES: dict[Verdict, dict[str, object]] = {
    Verdict.MEETS: {"value": 0.5, "target": 0.6},
    Verdict.MISSES: {"value": 0.7, "target": 0.6},
    Verdict.NO_TARGET: {"value": 0.7, "target": None},
    Verdict.NOT_ASSESSED: {"value": None, "target": 0.6},
}


def made(verdict: Verdict, **more: object) -> Check:
    return Check(**{"criterion": AVERAGING, "origin": "default", "sentence": "A rate.", **STATES[verdict], **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "states", list(itertools.product(Verdict, repeat=3)), ids=lambda s: "-".join(v.name for v in s)
)
def test_the_decision_is_the_worst_state_in_any_order(states: tuple[Verdict, ...]) -> None:
    decision = Decision(tuple(made(state) for state in states))
    assert [each.verdict for each in decision.checks] == list(states)
    if Verdict.MISSES in states:
        expected, start = Verdict.MISSES, "Do not publish yet"
    elif set(states) == {Verdict.MEETS}:
        expected, start = Verdict.MEETS, "Meets all targets"
    elif Verdict.MEETS in states:
        expected, start = Verdict.NOT_ASSESSED, "Meets the targets set; not judged: averaging"
    else:
        expected, start = Verdict.NOT_ASSESSED, "Not judged: averaging"
    assert decision.verdict is expected
    assert decision.headline.startswith(start)
    assert len(decision.missed) == states.count(Verdict.MISSES)
    first = next(iter((*decision.missed, *decision.not_judged, *decision.checks)))
    assert decision.reason.startswith(first.sentence.rstrip("."))


def test_a_value_at_its_target_meets_it_and_one_above_misses_it() -> None:
    assert made(Verdict.MEETS, value=0.6).verdict is Verdict.MEETS
    assert made(Verdict.MEETS, value=0.6 + 1e-12).verdict is Verdict.MISSES


def test_a_figure_that_covers_a_part_can_miss_a_target_but_not_meet_it() -> None:
    assert made(Verdict.MEETS, partial="plain keys").verdict is Verdict.NOT_ASSESSED
    assert made(Verdict.MISSES, partial="plain keys").verdict is Verdict.MISSES


def test_a_range_is_judged_by_its_upper_end() -> None:
    assert made(Verdict.MISSES, lowest=0.1).verdict is Verdict.MISSES
    assert made(Verdict.MISSES, lowest=0.1).value_text == "10.0 % to 70.0 %"


def test_the_reason_is_the_first_sentence_with_the_target() -> None:
    decision = Decision((made(Verdict.MISSES, sentence="A rate of 0.7. The rest is detail."),))
    assert decision.reason == "A rate of 0.7; the target is at most 60.0 %."


def test_targets_are_chosen_or_default() -> None:
    policy = Policy.of(["averaging=0.5", "singletons=10 %", "margins=3"])
    assert policy.target(AVERAGING) == 0.5
    assert policy.target(SINGLETONS) == pytest.approx(0.1)
    assert policy.target(MARGINS) == 3
    assert policy.target(BOUND) == BOUND.default
    assert policy.target(ADDITIVITY) is None
    assert [policy.origin(each) for each in (AVERAGING, BOUND, ADDITIVITY)] == ["chosen", "default", "none"]
    assert Policy.of(policy.flags()).chosen == pytest.approx(dict(policy.chosen))
    assert check(policy, AVERAGING, 0.55, "").verdict is Verdict.MISSES


def test_targets_of_a_record_stand_behind_those_chosen_now() -> None:
    policy = Policy.of({"averaging": 0.5}).over({"averaging": 0.9, "bound": 0.8, "delta": 0.1}, (AVERAGING, BOUND))
    assert policy.chosen == {"averaging": 0.5, "bound": 0.8}


@pytest.mark.parametrize("text", ["averaging", "averaging=", "averaging=high", "=0.5", "averaging=0", "averaging=1"])
def test_a_target_that_is_not_one_is_refused(text: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError)):
        Policy.of([text])


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_values_outside_the_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(ParameterError):
        Policy({name: value})


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="averaging"):
        Policy.of({"avraging": 0.5})


def test_a_command_refuses_targets_that_it_does_not_judge() -> None:
    with pytest.raises(ParameterError, match="delta"):
        Policy.of({"delta": 0.1}).restricted("design", (AVERAGING, BOUND))
    assert Policy.of({"delta": 0.1}).restricted("assess", (DELTA,)).target(DELTA) == 0.1


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0.0 %"), (1.0, "100.0 %"), (1e-9, "under 0.1 %"), (0.99999, "over 99.9 %")]
)
def test_shares_near_the_ends_are_not_rounded_to_them(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_value_that_is_not_a_number_meets_no_target() -> None:
    assert made(Verdict.MEETS, value=float("nan")).verdict is Verdict.MISSES


@pytest.mark.parametrize("value", ["0.5", None, True])
def test_a_target_must_be_a_number(value: object) -> None:
    with pytest.raises(ParameterError):
        Policy.of({"averaging": value})
