"""Cramer's V of tables worked by hand, before and after noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association as of_scipy

from discreet.accuracy.association import Associations, association, cramers_v
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.ptable import PTable

tables = st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=2, max_size=5)
WEAK = ([[20, 10], [10, 10]], [[20, 12], [10, 9]])
STRONG = ([[30, 0], [0, 20]], [[28, 3], [2, 19]])


def test_v_of_a_two_by_two_table_is_phi() -> None:
    a, b, c, d = 20, 10, 10, 15
    phi = (a * d - b * c) / math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    assert cramers_v([[a, b], [c, d]]) == pytest.approx(phi)


def test_v_is_0_for_independent_topics_and_1_where_one_decides_the_other() -> None:
    assert cramers_v(np.outer([1, 2, 5], [3, 4])) == pytest.approx(0, abs=1e-12)
    assert cramers_v(np.diag([7, 1, 30])) == pytest.approx(1)
    assert cramers_v([[5, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 9]]) == pytest.approx(1)


@given(tables)
def test_v_is_that_of_scipy_without_empty_rows_and_columns(table: list[list[int]]) -> None:
    counts = np.array(table)
    kept = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    found = cramers_v(table)
    if found is None:
        assert min(kept.shape) < 2
    else:
        assert found == pytest.approx(float(of_scipy(kept, method="cramer")), abs=1e-9)
        assert found == pytest.approx(cramers_v(kept.T), abs=1e-9)
        assert -1e-9 <= found <= 1 + 1e-9


def test_before_after_and_difference() -> None:
    found = association(*WEAK, "ages by sex")
    assert (found.before, found.after) == (cramers_v(WEAK[0]), cramers_v(WEAK[1]))
    assert found.difference == (found.after or 0) - (found.before or 0)
    assert (found.negatives, found.reason) == (0, "")
    result = found.result()
    assert result.value == found.difference
    assert result.sentence == (
        f"Cramer's V of table ages by sex is {found.before:.3f} for the true counts and {found.after:.3f} for the "
        "published counts."
    )


def test_negative_published_counts_are_taken_as_0_and_said() -> None:
    found = association([[20, 1], [1, 20]], [[21, -1], [0, 20]], "t")
    assert found.after == pytest.approx(1)
    assert found.negatives == 1
    assert "negative published counts set to 0: 1" in found.result().assumptions


def test_a_table_that_loses_its_second_row_has_no_v_and_says_why() -> None:
    found = association([[20, 10], [1, 0]], [[20, 10], [0, 0]], "t")
    assert found.before is not None
    assert found.after is None
    assert found.difference is None
    assert found.reason == "the published table has fewer than two non-empty rows or columns"
    assert math.isnan(found.result().value)
    assert found.result().to_json()["value"] is None
    assert found.reason in found.result().sentence
    both = association([[20, 10]], [[20, 11]])
    assert both.reason.startswith("the true table has fewer than two")
    assert both.reason.count("table has fewer") == 2


def test_of_several_tables_the_one_with_the_largest_change_is_named() -> None:
    tables = {"weak": WEAK, "flat": ([[1, 2]], [[1, 2]]), "strong": STRONG}
    found = Associations(tuple(association(*counts, name) for name, counts in tables.items()))
    assert [table.name for table in found.tables] == ["weak", "flat", "strong"]
    changes = {table.name: abs(table.difference or 0) for table in found.measured}
    assert changes["strong"] > changes["weak"]
    assert found.worst is found.tables[2]
    largest, mean = found.results()
    assert (largest.worst, largest.value) == ("strong", changes["strong"])
    assert mean.value == pytest.approx((changes["weak"] + changes["strong"]) / 2)
    assert (
        "Of 2 two-way statistics, strong has the largest change of Cramer's V: 1.000 for the true counts"
        in largest.sentence
    )
    assert mean.assumptions[-1].endswith("non-empty rows or columns: 1")


def test_tables_without_any_v_give_no_result() -> None:
    found = Associations((association([[1, 2]], [[1, 2]], "flat"),))
    assert found.worst is None
    assert found.results() == []


def test_noise_makes_independent_topics_look_associated() -> None:
    law = transition_matrix(PTable.max_entropy(variance=2, bound=5))
    true = np.full((4, 4), 6)
    random = np.random.default_rng(2)
    after = [association(true, law.publish(true, random)).after or 0 for _ in range(300)]
    # Without sampling of persons chi2 is the noise alone: 9 of its 16 parts are left, each of variance V / 6.
    expected = 9 * 2 / 6 / (16 * 6 * 3)
    squares = np.square(after)
    error = squares.std() / math.sqrt(len(after))
    assert abs(squares.mean() - expected) < 4 * error
    assert abs(squares.mean() - 1.3 * expected) > 4 * error


def test_tables_of_different_shape_are_refused() -> None:
    with pytest.raises(ParameterError, match="Table t: the published table has 1 rows and 2 columns, the true one 2"):
        association([[1, 2], [3, 4]], [[1, 2]], "t")
