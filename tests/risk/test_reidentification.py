"""Re-identification: the product of the rates, the baseline, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.risk.reconstruction import Reidentification

shares = st.floats(0, 1)


@settings(deadline=None, derandomize=True)
@given(shares, shares, shares)
def test_the_rate_is_the_product(reconstructed: float, guessed: float, matched: float) -> None:
    # Bach (2020): r_reid = r_recon r_match.
    found = Reidentification(reconstructed=reconstructed, guessed=guessed, matched=matched)
    assert found.rate == reconstructed * matched
    assert found.rate <= min(reconstructed, matched)
    assert found.excess == pytest.approx(found.rate - guessed * matched, abs=1e-15)


def test_the_result_stands_beside_guessing() -> None:
    rate, excess = Reidentification(reconstructed=0.6, guessed=0.2, matched=0.5).results()
    assert rate.value == pytest.approx(0.3)
    assert "re-identifies 30.00% of all persons" in rate.sentence
    assert "guessing without the release re-identifies 10.00%" in rate.sentence
    assert excess.value == pytest.approx(0.2)
    assert any("rare attributes" in each for each in rate.assumptions)


@pytest.mark.parametrize("reconstructed", [0.1, 0.2])
def test_an_attack_no_better_than_guessing_is_not_called_safety(reconstructed: float) -> None:
    _, excess = Reidentification(reconstructed=reconstructed, guessed=0.2, matched=1).results()
    assert excess.value <= 0
    assert "a better attack may succeed" in excess.sentence


@pytest.mark.parametrize("name", ["reconstructed", "guessed", "matched"])
@pytest.mark.parametrize("value", [-0.1, 1.1, 46, math.nan, "0.5"])
def test_a_rate_outside_0_and_1_is_refused(name: str, value: float) -> None:
    rates = {"reconstructed": 0.5, "guessed": 0.5, "matched": 0.5, name: value}
    with pytest.raises(ParameterError, match=f"{name} must be a share from 0 to 1") as refusal:
        Reidentification(**rates)
    assert refusal.value.parameter == name
