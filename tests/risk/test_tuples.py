"""How many additive tuples a programme offers, and what they tell."""

from __future__ import annotations

from discreet.programme.eu2021.census import census
from discreet.programme.lattice import lattice
from discreet.programme.programme_files import load_programme
from discreet.risk.assessment import assess
from discreet.risk.averaging import averaging
from discreet.risk.measures import tuples_by_size
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


def test_margins_follow_the_mechanism() -> None:
    results = assess("eu2021:LU", variance=2, bound=5, measures=["margins"]).results
    assert results[0].name.startswith("forced")
    assert len(results) == 4
