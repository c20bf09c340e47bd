"""How many additive tuples a programme offers, and what they tell."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.noise.ptable import PTable
from discreet.programme.eu2021.census import census
from discreet.programme.lattice import lattice
from discreet.programme.load import load_programme
from discreet.risk.assess import assess
from discreet.risk.averaging import averaging
from discreet.risk.bound import disclosure_at
from discreet.risk.tuples import all_tuples, tuples_by_size
from tests.programme.small import programme


def test_tuples_are_the_cells_below_a_level() -> None:
    # SEX alone: 1 triple; SEX x AGE: 1 + 3 (one per age).
    assert tuples_by_size(lattice(programme([("S",)], {"S": (2,)})), spsn=True) == {2: ("S1", 1)}
    made = lattice(programme([("S", "A")], {"S": (2,), "A": (3,)}))
    assert tuples_by_size(made, spsn=True) == {2: ("S1", 4), 3: ("A1", 3)}


def test_deeper_levels_are_no_parts_of_the_total() -> None:
    assert tuples_by_size(lattice(programme([("A",)], {"A": (2, 100)})), spsn=True) == {2: ("A1", 1)}
    # The grid has no total, so grid cells are no parts of anything; each has its triple of the sexes.
    found = tuples_by_size(lattice(load_programme("grid2021:LU:3")), spsn=True)
    assert found == {2: ("SEX", 3), 3: ("AGE.G", 3)}


def test_without_spsn_noise_is_not_shared_by_participants() -> None:
    results = assess("eu2021:LU", variance=2, bound=5, spsn=False, measures=["margins"]).results
    assert not any("noise by participants" in text for result in results for text in result.assumptions)


def test_for_sex_they_are_the_papers_k() -> None:
    found = lattice(census("DE"), "flat")
    ratios = averaging(found)
    assert tuples_by_size(found, spsn=True)[2] == ("SEX", round(ratios.k[ratios.names.index("SEX")]))


def test_unbounded_noise_has_no_bound_and_no_forced_tuples() -> None:
    assert assess("eu2021:LU", law="geometric", epsilon=0.3, measures=["bound", "margins"]).results == ()


def test_a_bound_is_revealed_where_tuples_are_many() -> None:
    germany, luxembourg = (
        assess(f"eu2021:{code}", variance=2, bound=5, measures=["bound"]).results[0] for code in ("DE", "LU")
    )
    assert "cannot find" in luxembourg.sentence
    assert "can find" in germany.sentence
    assert germany.value > luxembourg.value


def test_sets_of_all_levels_together_tell_most() -> None:
    waits, weighs, together = assess("eu2021:LU", variance=4.3, bound=7, measures=["bound"]).results
    offered, unseen = all_tuples(lattice(census("LU")), spsn=True), 1.0
    for parts, many in offered.items():
        one = disclosure_at(4.3, 7, tuples=1, categories=parts, attacker="likelihood")
        unseen *= (1 - one.chance) ** many
    assert together.value == pytest.approx((1 + (1 - unseen**2) ** 0.5) / 2)
    assert together.value > weighs.value > waits.value
    assert f"{offered[2]:,} sets of 2 parts" in together.sentence
    # What one level offers is what the second speaks of already.
    assert (
        len(assess(programme([["SEX", "AGE"]], {"SEX": [2], "AGE": [9]}), variance=2, bound=5).by_measure["bound"]) == 2
    )


def test_the_rival_of_a_shaped_table_has_its_shape() -> None:
    settings: dict[str, Any] = {"variance": 2, "stay": 0.6}
    _, weighs, *_ = assess(
        programme([("S", "A")], {"S": (2,), "A": (9,)}), bound=5, measures=["bound"], **settings
    ).results
    # By brute force: the gap of two parts and their total under both tables, each solved by itself.
    gaps = []
    for bound in (5, 6):
        row = PTable.max_entropy(bound=bound, **settings).large.pmf(np.arange(-6, 7))
        gap = np.zeros(37)
        for a, b, total in product(range(13), repeat=3):
            gap[a + b - total + 12] += row[a] * row[b] * row[total]
        gaps.append(gap)
    affinity = float(np.sqrt(gaps[0] * gaps[1]).sum())
    # Ten sets of two sexes: one for every age and one for the total.
    assert weighs.value == pytest.approx((1 + (1 - affinity**20) ** 0.5) / 2, rel=1e-6)
    assert weighs.value < 0.53


def test_margins_follow_the_mechanism() -> None:
    results = assess("eu2021:LU", variance=2, bound=5, measures=["margins"]).results
    assert results[0].name.startswith("forced")
    assert len(results) == 4
