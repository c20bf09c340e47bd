"""What a p-table says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.noise.explain import results, warnings
from discreet.noise.formats.files import read_ptable
from discreet.noise.ptable import PTable

RULE = Path(__file__).parents[1] / "data/ons/ptable_10_5_rule.csv.gz"


def test_results_carry_number_unit_sentence_and_assumptions() -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    found = {result.name: result for result in results(made)}
    assert found["typical_noise"].value == pytest.approx(2**0.5)
    assert found["largest_noise"].value == 5
    assert found["variance_shortfall"].value == pytest.approx(2 - made.rows[1].variance)
    assert found["variance_shortfall"].worst == "row 1"
    assert found["posterior_of_one"].assumptions[0].startswith("flat prior")
    assert all(result.sentence.endswith(".") for result in found.values())


def test_no_shortfall_is_reported_where_there_is_none() -> None:
    assert "variance_shortfall" not in [r.name for r in results(PTable.max_entropy(variance=2, bound=5, equality=True))]


def test_the_largest_noise_is_that_of_the_keys() -> None:
    made = PTable.max_entropy(variance=0.5, bound=10)
    (largest,) = (result for result in results(made) if result.name == "largest_noise")
    assert largest.value == max(row.bound for row in made.rounded) < 10
    assert "never drawn with plain keys" in warnings(made)[0]


def test_a_table_that_is_not_centred_is_warned_of() -> None:
    rule = read_ptable(RULE)
    assert warnings(rule) == [
        "The noise of rows 1, 2, 3, 4, 5, .. does not average 0 on its keys; most for a count of 9: -9."
    ]
    # Large counts take rows 501 to 750 in turn: noise 0, -1, -2, 2, 1 in equal shares.
    (typical, *_) = results(rule)
    assert typical.value == pytest.approx((sum(v**2 for v in (0, -1, -2, 2, 1)) / 5) ** 0.5)
    assert "posterior_of_one" not in [result.name for result in results(rule)]


def test_perturbed_zeros_are_warned_of() -> None:
    (warning,) = warnings(PTable.max_entropy(variance=2, bound=5, perturb_zeros=True))
    assert "counts may become negative" in warning
    assert "by coordinates" in warning
