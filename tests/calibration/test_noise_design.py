"""Design: the region, the recommendation and the ways out of a programme, checked from the outside."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.accuracy.release_areas import NO_AREAS
from discreet.calibration.constraints import ATTACKERS
from discreet.calibration.noise_design import CUTS, design
from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.programme.lattice import RULES, lattice
from discreet.programme.model import Breakdown, Programme, Table
from discreet.risk.assessment import assess
from discreet.risk.averaging import averaging, variance_needed
from discreet.risk.bound_disclosure import disclosure_at
from discreet.risk.measures import tuples_by_size
from discreet.risk.residual_bound import noise_terms
from tests.programme.small import programme
from tests.quick import up_to
from tests.tabulation import small_data as small
from tests.tabulation.small_data import programmes

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.calibration.noise_design import NoiseDesign
    from discreet.programme.lattice import Lattice

ONE_SIGMA = 0.6827
SEX = small.topic("SEX", "f m")
AGE = small.topic("AGE", "0 1 2 3 4")
PLACE = small.topic("PLACE", "a b c d e g")
TOWN = programme([["SEX", "AGE", "GEO"], ["SEX", "GEO.1"], ["AGE.1", "JOB"]], {
    "SEX": [2], "AGE": [3, 12], "GEO": [4, 40], "JOB": [5]
})  # fmt: skip


def found_by_gap(sets: dict[int, int], variance: float, bound: int) -> float:
    """Return how surely all sets of parts and total together show the bound."""
    unseen = 1.0
    for parts, many in sets.items():
        unseen *= (1 - disclosure_at(variance, bound, tuples=1, categories=parts).chance) ** many
    return 1 - unseen


def hides(found: NoiseDesign, here: Lattice, variance: float, bound: int) -> bool:
    """Return whether bound disclosure meets the target, recomputed from the programme."""
    if found.question.attacker == "paper":
        sets = {parts: many for parts, (_, many) in tuples_by_size(here, spsn=True).items()}
        return found_by_gap(sets, variance, bound) < found.question.bound_target + 1e-9
    success = assess(
        found.question.programme, rule=found.question.rule, measures=["bound"], variance=variance, bound=bound
    ).results[0]
    return success.value < max(found.question.bound_target, 0.55) + 1e-9


def keeps_all(found: NoiseDesign, spec: Programme, variance: float, bound: int) -> bool:
    """Return whether a setting satisfies all constraints, each recomputed from the programme."""
    if variance > bound * (bound + 1) / 3 or bound > found.question.max_bound:
        return False
    here = lattice(spec, found.question.rule)
    ratios = averaging(here)
    worst = {"optimal": ratios.optimal, "paper": ratios.greedy}[found.question.attacker].min()
    if MaxEntropy(variance=variance, bound=bound).pmf(0) > found.question.averaging_target + 1e-9:
        return False
    enough = variance >= variance_needed(float(worst), found.question.averaging_target) * (1 - 1e-9)
    return enough and hides(found, here, variance, bound)


def rates(share: float) -> dict[str, float]:
    """Return one target for both rates of an attacker."""
    return {"averaging": share, "bound": share}


@settings(max_examples=up_to(60), deadline=None)
@given(
    programmes(universes=False),
    st.floats(0.3, 0.95),
    st.integers(1, 12),
    st.sampled_from(ATTACKERS),
    st.sampled_from(RULES),
)
def test_a_recommendation_satisfies_all_constraints_and_no_smaller_bound_does(
    spec: Programme, confidence: float, max_bound: int, attacker: str, rule: str
) -> None:
    found = design(
        spec,
        targets=rates(confidence),
        max_bound=max_bound,
        attacker=attacker,
        rule=rule,
        cuts=0,
        # The closed form, as in the oracle.
        closed_form=True,
    )
    needed = found.region.plane.needed
    if found.recommended is None:
        assert found.region.relaxations
        assert not any(keeps_all(found, spec, needed, bound) for bound in range(1, max_bound + 1))
        return
    assume(needed > 1e-6)
    variance, bound = found.recommended
    assert keeps_all(found, spec, variance, bound)
    assert not any(keeps_all(found, spec, needed, smaller) for smaller in range(1, bound))
    assert PTable.max_entropy(variance=variance, bound=bound).rows[-1].variance == pytest.approx(variance)


CITY, COUNTRY = (
    programme(
        [["SEX", "GEO", *two] for two in itertools.combinations(["AGE", "JOB", "EDU", "HEALTH"], 2)],
        {"SEX": [2], "AGE": [3, 12], "GEO": [4, 40, areas], "JOB": [5], "EDU": [4], "HEALTH": [3]},
    )
    for areas in (200, 1_000_000)
)
ASKED: dict[str, dict[str, Any]] = {
    "city": {"programme": CITY, "closed_form": True, "max_bound": 3},
    "Luxembourg": {"programme": "eu2021:LU", "closed_form": True},
}
both = pytest.mark.parametrize("place", ["city", pytest.param("Luxembourg", marks=pytest.mark.slow)])


@cache
def nothing_left(place: str) -> NoiseDesign:
    return design(**ASKED[place])


def again(place: str, **other: Any) -> NoiseDesign:  # noqa: ANN401 - of a design
    """Return the design with other arguments; the noise terms of residuals depend only on the tables."""
    return design(**{**ASKED[place], "cuts": 0, "terms": nothing_left(place).exposure.terms, **other})


@cache
def held(place: str) -> NoiseDesign:
    return again(place, attacker="paper", cuts=CUTS)


@pytest.mark.slow
@both
def test_nothing_is_left_against_everything_published(place: str) -> None:
    found = nothing_left(place)
    assert not found.feasible
    assert found.settings == {}
    assert found.answer.startswith(
        f"No setting satisfies all constraints for {found.question.programme.name}: averaging needs"
    )
    assert {each.constraint for each in found.region.relaxations} == {
        "acceptable bound",
        "averaging",
        "bound disclosure",
        "programme",
    }


@pytest.mark.slow
@both
def test_a_relaxed_bound_leaves_something(place: str) -> None:
    bound = next(each.value for each in nothing_left(place).region.relaxations if each.constraint == "acceptable bound")
    assert again(place, max_bound=int(bound)).feasible
    assert not again(place, max_bound=int(bound) - 1).feasible


@both
def test_a_relaxed_success_leaves_something(place: str) -> None:
    share = next(each.value for each in nothing_left(place).region.relaxations if each.constraint == "averaging")
    assert again(place, targets=rates(share)).feasible
    assert not again(place, targets=rates(share - 0.001)).feasible


@both
def test_a_bound_that_may_be_known_leaves_something(place: str) -> None:
    told = next(
        each.sentence for each in nothing_left(place).region.relaxations if each.constraint == "bound disclosure"
    )
    found = again(place, hide_bound=False)
    assert found.recommended
    assert f"A bound of {found.recommended.bound} then allows" in told


def without(breakdown: Breakdown, coarser: Counter[str]) -> Breakdown:
    """Return a breakdown without as many of its finest levels as it was cut."""
    left = len(breakdown.levels) - coarser[breakdown.code]
    return replace(breakdown, levels=breakdown.levels[:left])


@both
def test_the_cuts_that_are_told_leave_something(place: str) -> None:
    cuts = nothing_left(place).region.curation.sufficient
    assert [cut.feasible for cut in cuts] == [False] * (len(cuts) - 1) + [True]
    gone = {cut.name for cut in cuts if cut.kind == "table"}
    coarser = Counter(cut.name for cut in cuts if cut.kind == "breakdown")
    spec = nothing_left(place).question.programme
    tables = tuple(
        Table(table.id, tuple(without(b, coarser) for b in table.breakdowns), table.unit, table.universe)
        for table in spec.tables
        if table.id not in gone
    )
    less = again(place, programme=Programme(spec.name, spec.topics, tables), terms=None)
    assert less.feasible
    assert less.region.plane.needed == pytest.approx(cuts[-1].variance)


@both
def test_the_answer_tells_both_attackers(place: str) -> None:
    found = held(place)
    assert found.recommended
    values = {each.name: each.value for each in found.results}
    assert values["success_of_paper_attacker"] <= ONE_SIGMA
    assert values["success_of_optimal_attacker"] > ONE_SIGMA
    assert values["recommended_variance"] == found.recommended.variance
    assert values["recommended_bound"] == found.recommended.bound
    assert {"delta_at_epsilon_1", "delta_floor", "typical_noise", "reliable_from"} <= values.keys()


@both
def test_every_figure_of_risk_has_its_assumptions(place: str) -> None:
    plain = {"room_variance", "acceptable_bound_bound", "typical_noise", "singleton_lost", "reliable_from"}
    assert {each.name for each in held(place).results if not each.assumptions} <= plain


@both
def test_names_of_results_are_unique(place: str) -> None:
    for found in (held(place), nothing_left(place)):
        names = [each.name for each in found.results]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("place", "variance", "bound"),
    [("city", 0.6, 3), pytest.param("Luxembourg", 4.3, 7, marks=pytest.mark.slow)],
)
def test_the_settings_are_flags_of_protect(place: str, variance: float, bound: int) -> None:
    assert held(place).settings == {"mechanism": "cell-key", "variance": variance, "bound": bound}


@both
def test_what_is_printed_as_json_can_be_read_again(place: str) -> None:
    for found in (held(place), nothing_left(place)):
        told = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert told["feasible"] == found.feasible
        assert [row["bound"] for row in told["region"]] == list(range(1, found.question.max_bound + 1))
        for each in told["constraints"]:
            assert len(each["limits"]) == found.question.max_bound


@both
def test_the_total_that_is_known_helps_the_attacker(place: str) -> None:
    found = nothing_left(place)
    (told,) = [each for each in found.results if each.name == "variance_needed_if_total_known"]
    assert told.value == pytest.approx(again(place, known="total").region.plane.needed)
    assert told.value > found.region.plane.needed


def test_the_papers_averages_make_no_use_of_what_is_known() -> None:
    found = design(TOWN, attacker="paper", known="total", cuts=0)
    assert found.warnings[-1].startswith("The paper's averaging attack does not use known counts")
    assert found.region.plane.needed == design(TOWN, attacker="paper", cuts=0).region.plane.needed


def test_a_given_ptable_is_checked_against_every_constraint(tmp_path: Path) -> None:
    found = design(TOWN, cuts=0)
    assert found.given_result is None
    assert found.recommended
    good = design(TOWN, cuts=0, ptable=found.noise)
    assert good.given_result
    assert (good.given_result.value, good.recommended) == (0, found.recommended)
    write_ptable(PTable.max_entropy(variance=0.05, bound=1), tmp_path / "t.txt", "sas")
    bad = design(TOWN, cuts=0, ptable=tmp_path / "t.txt").given_result
    assert bad
    assert bad.value >= 1
    assert "averaging: variance at least" in bad.sentence
    wide = design(TOWN, cuts=0, ptable=PTable.max_entropy(variance=3, bound=12)).given_result
    assert wide
    assert "bound at most 10" in wide.sentence


def test_everything_known_is_refused() -> None:
    only = programme([["SEX"]], {"SEX": [2]})
    with pytest.raises(ParameterError, match="All published statistics follow from the known statistic"):
        design(only, known="SEX1")


def test_a_programme_without_sexes_has_no_sets_but_residuals() -> None:
    spec = programme([["AGE", "GEO"]], {"AGE": [12], "GEO": [40]})
    paper, optimal = (design(spec, max_bound=20, attacker=who, cuts=0) for who in ("paper", "optimal"))
    assert paper.exposure.sets["paper"] == {}
    assert any("as sex has. Sets of more parts were not examined" in warning for warning in paper.warnings)
    assert {row.high_by for row in paper.region.plane.rows} == {"room"}
    assert not any(each.name == "bound_found_by_paper_attacker" for each in paper.results)
    # Residuals need no sets of few parts.
    assert "bound disclosure" in {row.high_by for row in optimal.region.plane.rows}
    assert not any("as sex has" in warning for warning in optimal.warnings)


def test_one_table_can_be_designed_for() -> None:
    found = design(programme([["SEX"]], {"SEX": [2]}))
    assert found.feasible
    assert [cut.words for cut in found.region.curation.alone] == ["omit breakdown SEX"]


def test_a_table_of_the_total_alone_can_be_designed_for() -> None:
    found = design(programme([[]], {}))
    assert found.feasible
    assert found.exposure.areas is None
    assert found.region.curation.alone == ()
    assert found.exposure.shared["optimal"].ratio == 1


def test_constraints_that_contradict_each_other_say_what_to_relax() -> None:
    found = design(TOWN, max_bound=2)
    assert not found.feasible
    sentences = [each.sentence for each in found.region.relaxations]
    assert any(sentence.startswith("Accept a bound of ") for sentence in sentences)
    assert any(sentence.startswith("Raise the target for averaging ") for sentence in sentences)
    with pytest.raises(ParameterError, match=r"No noise can be recommended\. .*Accept a bound of "):
        _ = found.noise


def test_the_noise_goes_into_a_mechanism_and_is_assessed() -> None:
    found = design(TOWN, attacker="paper", cuts=0)
    assert found.recommended
    mechanism = CellKey(found.noise, secret=b"a secret of the office")
    record = assess(TOWN, mechanism, measures=["redundancy"]).case.record
    assert (record.variance, record.bound) == pytest.approx(found.recommended)


@pytest.mark.parametrize("place", ["country", pytest.param("Luxembourg", marks=pytest.mark.slow)])
def test_noise_without_a_bound_is_told_with_what_to_relax(place: str) -> None:
    found = design(COUNTRY, closed_form=True, cuts=0) if place == "country" else nothing_left(place)
    assert not found.region.line.feasible
    assert found.line_answer.startswith("Unbounded noise: no epsilon satisfies all constraints. Accurate areas need")
    assert {each.constraint for each in found.region.line_relaxations} == {"accurate areas", "averaging"}


def test_noise_without_a_bound_has_its_epsilon_told() -> None:
    found = design(TOWN, cuts=0)
    if found.region.line.feasible:
        assert found.line_answer.startswith("Unbounded noise: the constraints allow an epsilon of")
        assert found.region.line_relaxations == ()


def test_no_cuts_are_tried_if_none_are_asked_for() -> None:
    assert design(TOWN, max_bound=1, cuts=0).region.curation.path == ()
    assert len(design(TOWN, cuts=2).region.curation.path) == 2


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_confidence_outside_0_and_1_is_refused(confidence: float) -> None:
    for name in ("averaging", "bound"):
        with pytest.raises(ParameterError, match=rf"{name} .* from 0\.01 to 0\.999999") as caught:
            design(TOWN, targets={name: confidence})
        assert caught.value.parameter == "target"


def test_a_relaxation_raises_the_targets_that_are_too_low_and_lowers_none() -> None:
    targets = {"averaging": 0.2, "bound": 0.95}
    found = design(TOWN, targets=targets, max_bound=1, cuts=0)
    relaxed = next((each for each in found.region.relaxations if each.constraint == "averaging"), None)
    assert relaxed is not None
    assert "--target averaging=" in relaxed.sentence
    assert ("--target bound=" in relaxed.sentence) == (relaxed.value > 0.95)
    again = {name: max(target, relaxed.value) for name, target in targets.items()}
    assert design(TOWN, targets=again, max_bound=1, cuts=0).feasible


def test_each_target_moves_its_own_constraint() -> None:
    def limits(**targets: float) -> dict[str, float]:
        named = {name.replace("_", "-"): value for name, value in targets.items()}
        found = design(TOWN, cuts=0, areas="GEO", targets=named)
        return {f"{each.name} {each.about}": each.limit(5) for each in found.region.constraints}

    default = limits()
    for target, moved in (
        (
            {"averaging": 0.9},
            {"averaging variance", "as published variance", "averaging epsilon", "accurate areas epsilon"},
        ),
        ({"bound": 0.9}, {"bound disclosure variance"}),
        ({"area_error": 10.0}, {"accurate areas epsilon"}),
    ):
        found = limits(**target)
        assert {name for name in default if found[name] != default[name]} == moved


def test_other_mistakes_are_told() -> None:
    with pytest.raises(ParameterError, match=r"design: max-bound must be from 1 to 50, not 0\."):
        design(TOWN, max_bound=0)
    with pytest.raises(ParameterError, match=r"design: cuts must be from 0 to 60, not 61\."):
        design(TOWN, cuts=61)
    with pytest.raises(UnknownNameError, match=r"optimal"):
        design(TOWN, attacker="optimla")
    with pytest.raises(UnknownNameError, match=r"levels"):
        design(TOWN, rule="level")
    with pytest.raises(UnknownNameError, match=r"GEO"):
        design(TOWN, areas="GOE")


def test_only_areas_need_an_epsilon() -> None:
    ages = programme([["SEX", "AGE"]], {"SEX": [2], "AGE": [91]})
    found = design(ages, cuts=0)
    assert found.exposure.areas is None
    assert found.to_json()["areas"] is None
    assert "accurate areas" not in {each.name for each in found.region.constraints}
    (averaging,) = (each for each in found.region.constraints if each.about == "epsilon")
    assert (found.region.line.low, found.region.line.high) == (0, averaging.limit(1))
    assert NO_AREAS in found.warnings
    assert found.line_answer.endswith(f"allow an epsilon of at most {found.region.line.high:.3g} per count.")
    named = design(ages, areas="AGE", cuts=0)
    assert named.exposure.areas == 91
    assert named.region.line.low == pytest.approx(math.log(91 / (1 - named.question.averaging_target)) / 20)
    assert NO_AREAS not in named.warnings


@pytest.mark.slow
def test_a_stricter_demand_never_gets_a_looser_limit() -> None:
    shares, terms = (0.3, 0.5, 0.52, 0.6, 0.8, 0.95), noise_terms(TOWN)
    found = [design(TOWN, targets=rates(share), closed_form=True, cuts=0, terms=terms) for share in shares]
    for strict, loose in itertools.pairwise(found):
        for less, more in zip(strict.region.plane.rows, loose.region.plane.rows, strict=True):
            assert less.high <= more.high * (1 + 1e-9)
            assert less.low > more.low
    assert any("A guess between two bounds" in warning for warning in found[0].warnings)


UNIVERSES = small.programme(
    [SEX, AGE, PLACE],
    [small.by(SEX), small.by(PLACE)],
    [small.by(PLACE)],
    [small.by(SEX), small.by(AGE), small.by(PLACE)],
    universes=[None, None, "SEX = f"],
)


def test_tables_with_a_universe_are_designed_for_too() -> None:
    found = design(UNIVERSES)
    assert len(found.question.populations) == 2
    each = [design(UNIVERSES, population=name, cuts=0) for name in found.question.populations]
    # Together the universes reveal more than any of them.
    assert found.region.plane.needed > max(one.region.plane.needed for one in each)
    apart = design(UNIVERSES, closed_form=True)
    assert apart.region.plane.needed == max(
        design(UNIVERSES, population=name, closed_form=True, cuts=0).region.plane.needed
        for name in found.question.populations
    )
    assert apart.exposure.shared["optimal"].statistic.endswith("of persons where SEX = f")
    for parts, many in found.exposure.sets["paper"].items():
        assert many == sum(one.exposure.sets["paper"].get(parts, 0) for one in each)
    for one, row in zip(found.region.plane.rows, each[0].region.plane.rows, strict=True):
        assert one.high <= row.high
    t = {result.name: result.value for result in found.results}["sensitivity"]
    assert t == sum({result.name: result.value for result in one.results}["sensitivity"] for one in each)


@pytest.mark.slow
def test_tables_of_luxembourg_that_count_something_else_are_named() -> None:
    warnings = held("Luxembourg").warnings
    assert any("excludes tables of other populations (7 of occupied" in each for each in warnings)


def test_tables_that_count_something_else_are_named() -> None:
    tables = (*TOWN.tables, Table("4", TOWN.tables[1].breakdowns, "dwellings"))
    found = design(replace(TOWN, tables=tables), attacker="paper", cuts=0)
    assert any("excludes tables of other populations (1 of dwellings" in each for each in found.warnings)


def test_who_just_reads_a_count_is_not_right_more_often_than_is_accepted() -> None:
    found = design(small.programme([PLACE], [small.by(PLACE, total=False)]), cuts=0)
    assert found.recommended
    assert found.region.plane.at(1).low_by == "as published"
    assert (
        MaxEntropy(variance=found.recommended.variance, bound=found.recommended.bound).pmf(0)
        <= found.question.averaging_target
    )
