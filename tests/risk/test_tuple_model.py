"""The attacker's model of a tuple: chances, weights and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.ptable import PTable
from discreet.risk.margin_exploitation import TupleModel

PTABLE = PTable.max_entropy(variance=2, bound=3, threshold=1)


def test_chances_are_those_of_the_row_of_each_count() -> None:
    model = TupleModel(PTABLE, None, "coordinates")
    counts = np.array([0, 1, 2, 5, 50, 51])
    for published in (0, 1, 2, 49):
        expected = [
            float(PTABLE.rows[min(count, len(PTABLE.rows) - 1)].pmf(published - count)) for count in counts.tolist()
        ]
        np.testing.assert_allclose(np.exp(model.log_chance(counts, published)), expected, rtol=1e-13)


def test_rows_that_serve_in_turn_are_followed() -> None:
    base = PTable.max_entropy(variance=1, bound=2)
    ptable = PTable((*base.rows[:2], base.rows[2], base.rows[0]), repeat=2)
    model = TupleModel(ptable, None, "coordinates")
    # Counts 2, 4, 6 have noise; 3, 5, 7 have none.
    assert np.isneginf(model.log_chance(np.array([3, 5, 7]), 4)).all()
    assert np.isfinite(model.log_chance(np.array([2, 4, 6]), 4)).all()


def test_a_prior_weighs_the_counts_it_names() -> None:
    assert TupleModel(PTABLE, {1: 2.0, 4: 3}, "participants").weights(np.arange(5)).tolist() == [0, 2, 0, 0, 3]
    assert TupleModel(PTABLE, None, "participants").weights(np.arange(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("prior", [{}, {1: 0.0}, {-1: 1.0}, {0.5: 1.0}, {1: -1.0, 2: 3.0}, {1: math.nan}])
def test_a_prior_that_is_none_is_refused(prior: dict[int, float]) -> None:
    with pytest.raises(ParameterError, match="prior must map true counts") as refusal:
        TupleModel(PTABLE, prior, "participants")
    assert refusal.value.parameter == "prior"


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean participants\?"):
        TupleModel(PTABLE, None, "participant")


def test_assumptions_name_the_prior_and_the_shared_noise() -> None:
    flat = TupleModel(PTABLE, None, "participants").assumptions("all alike")
    assert flat[0] == "flat prior: all alike"
    assert "a part that contains all persons of the total" in flat[1]
    given = TupleModel(PTABLE, {1: 1.0}, "coordinates").assumptions("all alike")
    assert "given prior" in given[0]
    assert "everybody" not in given[1]
