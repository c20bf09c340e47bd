"""Results and warnings of a p-table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.sentences import ROUNDING, results, warnings
from tests.each import each

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


def test_the_largest_noise_is_that_of_the_law_and_a_cut_tail_is_warned_of() -> None:
    made = PTable.max_entropy(variance=0.5, bound=10)
    (largest,) = (result for result in results(made) if result.name == "largest_noise")
    assert largest.value == 10
    assert max(row.bound for row in made.rounded[2:]) < 10
    assert "never drawn with plain keys" in warnings(made)[0]


def test_a_coarse_key_space_is_warned_of() -> None:
    made = PTable.max_entropy(variance=2, bound=5, key_space=16)
    assert any("is coarse: on its keys the variance" in warning for warning in warnings(made))
    assert any("only 16 keys: with mixed keys" in warning for warning in warnings(made))
    assert warnings(PTable.max_entropy(variance=2, bound=5)) == []


def test_a_shortfall_names_the_shape_that_was_asked_for() -> None:
    plain, shaped = (PTable.max_entropy(variance=2, bound=5, monotone=monotone) for monotone in (False, True))
    said = [next(r.sentence for r in results(made) if r.name == "variance_shortfall") for made in (plain, shaped)]
    assert "a wider distribution with mean 0 would have less entropy" in said[0]
    assert "a wider distribution with mean 0 and the requested monotone would have less entropy" in said[1]


def test_a_missing_last_row_and_negative_counts_are_warned_of() -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    assert any("A row may be missing" in warning for warning in warnings(PTable(made.rows[:-1])))
    negative = PTable((made.rows[0], replace(made.rows[5], count=1)))
    assert any("negative numbers" in warning for warning in warnings(negative))


def test_a_table_that_is_not_centred_is_warned_of() -> None:
    rule = read_ptable(RULE)
    assert warnings(rule)[:2] == [
        ROUNDING,
        "The mean noise of rows 1, 2, 3, 4, 5, .. is not 0. The largest is -9, for a count of 9.",
    ]
    # Large counts take rows 501 to 750 in turn: noise 0, -1, -2, 2, 1 in equal shares.
    (typical, *_) = results(rule)
    assert typical.value == pytest.approx((sum(v**2 for v in (0, -1, -2, 2, 1)) / 5) ** 0.5)
    assert "posterior_of_one" not in [result.name for result in results(rule)]


def test_perturbed_zeros_are_warned_of() -> None:
    (warning,) = warnings(PTable.max_entropy(variance=2, bound=5, perturb_zeros=True))
    assert "counts may become negative" in warning
    assert "by coordinates" in warning


BIASED = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 0, 1), (0.3, 0.3, 0.4))))


@each("keys", [None, "plain", "mixed", "words"])
def test_biased_rows_are_warned_of_whatever_draws_the_noise(keys: str | None) -> None:
    (warning,) = (text for text in warnings(BIASED, keys) if "The mean noise of" in text)
    assert "row 1 " in warning
    assert "The largest is 0.1, " in warning


@each(("keys", "warned"), [(None, True), ("mixed", True), ("plain", False), ("words", False)])
def test_too_few_keys_matter_where_keys_are_mixed(keys: str | None, warned: bool) -> None:
    few = PTable.max_entropy(variance=2, bound=5, key_space=256)
    assert any("only 256 keys" in text for text in warnings(few, keys)) == warned


def test_the_bias_of_few_mixed_keys_is_told_with_its_size() -> None:
    few = PTable.max_entropy(variance=2, bound=5, key_space=256)
    (warning,) = (text for text in warnings(few, "mixed") if "only 256 keys" in text)
    told = [0.088, (2 / 256) ** 0.5 * 10_000, (2 * 10_000) ** 0.5]
    assert all(f"{number:,.{digits}f}" in warning for number, digits in zip(told, (3, 0, 0), strict=True))
    # The mean over all keys, by secret, has the stated standard deviation.
    keys, counts = np.arange(256, dtype=np.uint64), np.full(256, 9)
    means = [few.draw(counts, keys, secret=f"secret {number:016}".encode()).mean() for number in range(400)]
    assert np.std(means) == pytest.approx((2 / 256) ** 0.5, rel=0.15)


def test_negative_counts_are_not_warned_of_where_0_is_published_instead() -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    for table in (
        PTable((made.rows[0], replace(made.rows[5], count=1))),
        PTable.max_entropy(variance=2, bound=5, perturb_zeros=True),
    ):
        assert any("negative" in text for text in warnings(table, "mixed"))
        assert not any("negative" in text for text in warnings(table, "mixed", non_negative=True))


def test_next_to_no_noise_is_warned_of() -> None:
    assert any("gives almost no protection" in text for text in warnings(PTable.max_entropy(variance=0.005, bound=2)))
