"""Differential privacy and reconstruction of a record and its programme."""

from __future__ import annotations

import pytest

from discreet.noise.max_entropy import MaxEntropy
from discreet.risk.assess import assess
from discreet.risk.composition import compose


def test_one_count_is_judged_by_its_worst_pair_of_rows() -> None:
    # METHODS: with zeros fixed the pair (0, 1) has 0.512 at every epsilon for V = 2, E = 5.
    delta, advantage = assess("eu2021:LU", variance=2, bound=5, measures=["epsilon_delta"]).results
    assert delta.value == pytest.approx(0.512, abs=5e-4)
    assert "0" in str(delta.worst)
    assert advantage.value >= delta.value


def test_all_statistics_of_a_person_compose() -> None:
    found = assess("eu2021:LU", variance=3, bound=10, measures=["composition"]).results
    by_name = {result.name: result for result in found}
    unique = len(assess("eu2021:LU", variance=3, bound=10, measures=["redundancy"]).case.averaging.names)
    expected = compose(MaxEntropy(variance=3, bound=10), unique).floor()
    assert by_name[expected.name].value == pytest.approx(expected.value)
    assert len(found) == 6
    for result in found[1:]:
        assert any("exceed" in text or "bound" in text for text in result.assumptions), result.name


def test_without_spsn_every_table_counts() -> None:
    with_spsn, without = (
        assess("eu2021:LU", law="geometric", epsilon=0.01, spsn=spsn, measures=["composition"]).results[0].value
        for spsn in (True, False)
    )
    assert (with_spsn, without) == (2316, 5646)


def test_reconstruction_needs_a_number_of_records() -> None:
    assert assess("eu2021:LU", variance=3, bound=5, measures=["reconstruction"]).results == ()
    found = assess("eu2021:LU", variance=3, bound=5, records=645_000, measures=["reconstruction"]).results
    assert len(found) == 3
    unbounded = assess("eu2021:LU", law="geometric", epsilon=0.3, records=645_000, measures=["reconstruction"])
    assert len(unbounded.results) == 1
