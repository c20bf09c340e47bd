"""A finding: what it is called, and from which confidence on the attacker is certain."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.attack_estimates import CERTAIN, AttackEstimates


def finding(confidence: list[float], variant: str = "") -> AttackEstimates:
    return AttackEstimates(
        attack="guess",
        variant=variant,
        subject="counts",
        estimate=np.zeros(len(confidence), dtype=np.int64),
        confidence=np.array(confidence),
        actual=lambda truth: truth.counts("persons"),
    )


@pytest.mark.parametrize(("variant", "name"), [("", "guess"), ("best", "guess: best")])
def test_the_name_is_that_of_the_attack_and_its_variant(variant: str, name: str) -> None:
    assert finding([], variant).name == name


def test_certain_is_what_leaves_no_other_count() -> None:
    found = finding([0.0, 0.95, 1 - 1e-6, CERTAIN, 1.0])
    assert found.certain.tolist() == [False, False, False, True, True]


def test_what_is_not_said_is_nothing() -> None:
    found = finding([0.5])
    assert (found.naive, found.unknown_of, found.sentence, found.group_of) == (None, None, None, None)
    assert (found.assumptions, found.cut_off, dict(found.predicted)) == ((), "", {})
