"""What an output shows of one person, against counting which published counts change when a person is added."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from hypothesis import given

from discreet.programme.programme_files import load_programme
from discreet.risk.assessment import assess
from discreet.tabulation.static_output import output_of
from tests.protection.town import AGE, EMP, GEO, SEX, TOWN
from tests.quick import examples
from tests.tabulation.small_data import by, codes_of, in_universe, programme, programmes

if TYPE_CHECKING:
    from discreet.programme.model import Breakdown, Programme
    from tests.tabulation.small_data import Record


def partition(spec: Programme, breakdown: Breakdown, code: str) -> Any:  # noqa: ANN401 - only compared
    """Return by which groups of finest codes a published code is counted: those of the coarsest level that has it."""
    tree = spec.topics[breakdown.topic].tree
    assert tree
    listed = next((level.codes for level in breakdown.levels if code in (level.codes or ())), ())
    groups = {frozenset(leaf for leaf in tree.leaves if other in tree.path(leaf)) for other in listed or ()}
    return frozenset(groups) if len(groups) > 1 else "total"


def changed(spec: Programme, person: Record, *, spsn: bool) -> int:
    """Return how many noisy counts one person more changes; the same noise in several tables is one."""
    found = set()
    for table in spec.tables:
        if not in_universe(spec, table, person):
            continue
        for cell in product(*(codes_of(spec, b, person[b.topic]) for b in table.breakdowns)):
            codes = frozenset(
                (breakdown.topic, groups)
                for breakdown, code in zip(table.breakdowns, cell, strict=True)
                if (groups := partition(spec, breakdown, code)) != "total"
            )
            found.add((table.population, codes, None if spsn else table.id))
    return len(found)


def everybody(spec: Programme) -> list[Record]:
    """Return every person that there could be."""
    leaves = [[(name, leaf) for leaf in topic.tree.leaves] for name, topic in spec.topics.items() if topic.tree]
    return [dict(person) for person in product(*leaves)]


@examples(given(programmes(shuffled=True, universes=False)), quick=10, slow=60)
def test_delta_is_the_most_counts_that_a_person_changes(spec: Programme) -> None:
    for spsn in (True, False):
        most = max(changed(spec, person, spsn=spsn) for person in everybody(spec))
        assert output_of(spec).sensitivity(spsn=spsn) == most


@examples(given(programmes(shuffled=True)), quick=8, slow=60)
def test_nobody_changes_more_where_there_are_several_populations(spec: Programme) -> None:
    for spsn in (True, False):
        most = max(changed(spec, person, spsn=spsn) for person in everybody(spec))
        delta = output_of(spec).sensitivity(spsn=spsn)
        assert most <= delta
        # Whoever is left out of a population is looked at as if she were in it: never by more than all its statistics.
        left_out = {name for name, tables in spec.populations.items() if tables[0].universe}
        assert delta - most <= sum(
            len(shown) for table, shown in output_of(spec).statistics.items() if population(spec, table) in left_out
        )


def population(spec: Programme, table: str) -> str:
    return next(given_table.population for given_table in spec.tables if given_table.id == table)


def test_delta_by_hand() -> None:
    # Sexes with their total, twice, and sexes by two levels of age and the total: 2 + 3 * 2, of which 2 are shared.
    spec = programme([SEX, AGE], [by(SEX)], [by(AGE), by(SEX)])
    assert (output_of(spec).sensitivity(spsn=True), output_of(spec).sensitivity(spsn=False)) == (6, 8)
    # Without totals sexes by age are two statistics; the country and its region are the total.
    bare = programme([SEX, AGE, GEO], [by(AGE, total=False), by(SEX, total=False)], [by(GEO, 1, 2)])
    assert output_of(bare).sensitivity(spsn=True) == 2 + 1
    # The same table of a part of the persons is counted again: a person may be in both.
    both = programme([SEX, EMP], [by(SEX)], [by(SEX)], universes=[None, "EMP = 1"])
    assert output_of(both).sensitivity(spsn=True) == output_of(both).sensitivity(spsn=False) == 4


def test_statistics_are_listed_by_table_with_their_population() -> None:
    output = output_of(TOWN)
    assert set(output.statistics) == {table.id for table in TOWN.tables}
    assert {name for shown in output.statistics.values() for name, _ in shown} == set(TOWN.populations)
    assert output.tables_of.total() == output.sensitivity(spsn=False)


def test_delta_is_the_number_of_statistics_that_risk_counts() -> None:
    spec = load_programme("eu2021:LU")
    tables = spec.populations["persons"]
    output = output_of(type(spec)(spec.name, spec.topics, tables))
    for spsn in (True, False):
        (t, *_) = assess("eu2021:LU", law="geometric", epsilon=1, spsn=spsn, measures=["composition"]).results
        assert output.sensitivity(spsn=spsn) == t.value
