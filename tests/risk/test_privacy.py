"""Differential privacy and reconstruction of a record and its programme."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.formats.ptable_toml import PTableToml
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.noise.truncated import TruncatedLaplace
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_to_json
from discreet.release.record import Record
from discreet.risk.assessment import assess
from discreet.risk.composition import compose
from discreet.tabulation.static_output import output_of
from tests.programme.small import programme as small_programme
from tests.quick import one_in

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.distribution import Noise
    from discreet.results import Result

STAY: dict[str, Any] = {"variance": 2, "bound": 5, "stay": 0.6}


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


def test_a_ptable_from_a_file_composes_by_its_own_rows(tmp_path: Path) -> None:
    tables = small_programme([("A", "B"), ("B", "C")], {"A": (2,), "B": (3,), "C": (4, 8)})
    ptable = PTable.max_entropy(variance=2, bound=5, stay=0.6)
    settings = Record(programme="small", definition=programme_to_json(tables), parameters=STAY)
    custom = replace(settings, law="p-table", parameters={}, ptable_text=PTableToml().write(ptable, tmp_path))
    for record in (settings, custom):
        found = {result.name: result for result in assess(record, measures=["composition"]).results}
        t = int(found["sensitivity"].value)
        assert found["delta_floor"].value == pytest.approx(1 - (1 - float(ptable.rows[-1].pmf(5))) ** t)
        # A zCDP figure holds for exp(-lambda x^2) alone.
        assert set(found) == {
            "sensitivity",
            "delta_floor",
            "composed_epsilon_at_1e-06_above_floor",
            "basic_composition",
            "advanced_composition",
        }


SIZES = {"SEX": [2], "AGE": [3, 6], "GEO": [5]}


@pytest.mark.parametrize("tables", ["small", pytest.param("eu2021:LU", marks=pytest.mark.slow)])
def test_plain_keys_carry_a_warning(tables: str) -> None:
    small = programme_to_json(small_programme([["SEX", "AGE"], ["AGE.1", "GEO"]], SIZES)) if tables == "small" else None
    mixed = Record(programme=tables, definition=small, parameters={"variance": 3, "bound": 10})
    plain = replace(mixed, key_mode="plain")
    figures = []
    for record in (mixed, plain):
        found = assess(record, measures=["averaging", "composition"])
        warned = [text for text in found.warnings if "plain" in text]
        assert bool(warned) == (record is plain)
        assert ("plain" in str(found)) == (record is plain)
        for result in found.results:
            if result.name != "sensitivity":
                independent = any("independent" in text for text in result.assumptions)
                related = any(
                    "plain keys: the noise of a total depends on that of its parts" in text
                    for text in result.assumptions
                )
                assert (independent, related) == ((True, False) if record is mixed else (False, True)), result.name
        figures.append([result.value for result in found.results])
    assert figures[0] == figures[1]


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


# --- A person alone, and what a budget promises ---


def by_name(record: Record) -> dict[str, Result]:
    return {result.name: result for result in assess(record, measures=["epsilon_delta"]).results}


@pytest.mark.parametrize("non_negative", [False, True])
@pytest.mark.parametrize(
    ("law", "name", "parameters"),
    [
        (TwoSidedGeometric(epsilon=0.5), "geometric", {"epsilon": 0.5}),
        (TruncatedLaplace(epsilon=1.0, bound=5), "truncated-laplace", {"epsilon": 1.0, "bound": 5}),
    ],
)
def test_a_person_alone_is_seen_where_zeros_stay_zeros(
    law: Noise, name: str, parameters: dict[str, Any], non_negative: bool
) -> None:
    record = Record(programme="eu2021:LU", law=name, parameters=parameters, non_negative=non_negative)
    found = by_name(record)["delta_of_singleton_cell"]
    # By brute force: what is published for nobody, always 0, and for one.
    shown = np.arange(-60, 61)
    one = law.pmf(shown - 1)
    if non_negative:
        one[shown == 0] = one[shown <= 0].sum()
        one[shown < 0] = 0
    nobody = (shown == 0).astype(float)
    for epsilon in (0.0, 1.0, 5.0):
        assert found.value == pytest.approx(np.maximum(0, one - np.exp(epsilon) * nobody).sum())
    assert found.value > np.maximum(0, nobody - np.exp(0.1) * one).sum()
    assert "zeros are not perturbed" in found.assumptions


@pytest.mark.parametrize(
    "record",
    [
        Record(programme="eu2021:LU", law="geometric", parameters={"epsilon": 0.5}, perturb_zeros=True),
        Record(programme="eu2021:LU", parameters={"variance": 2, "bound": 5}),
    ],
)
def test_nobody_is_seen_alone_where_zeros_have_noise_and_a_ptable_tells_it_by_its_rows(record: Record) -> None:
    assert set(by_name(record)) == {"delta_at_epsilon_1", "membership_advantage"}


@pytest.mark.parametrize("spsn", [True, False])
@pytest.mark.parametrize("budget", one_in(2, [Budget(2.5), Budget(2.5, weights={"*": 1.0})]))
def test_the_epsilon_of_an_output_is_that_of_its_budget(budget: Budget, spsn: bool) -> None:
    spec = load_programme("eu2021:LU")
    mechanism = EpsDP(budget, spsn=spsn).ready_for(output_of(spec))
    record = Record(programme="eu2021:LU", **mechanism.described())
    found = by_name(record)
    assert "delta_of_singleton_cell" not in found
    # Sequential composition by hand: every count that she changes, with its own epsilon.
    counts = {shown if spsn else (table, shown): each for (table, shown), each in mechanism.spent.items()}
    promised = found["epsilon_of_output"]
    assert promised.value == pytest.approx(sum(counts.values())) == pytest.approx(2.5)
    assert promised.sentence == "The whole output satisfies epsilon 2.5 with delta 0."
    assert promised.assumptions == (record.privacy["condition"],) if record.privacy else ()


def test_a_delta_that_is_promised_is_told() -> None:
    promise = {"epsilon": 1.0, "delta": 1.23e-6, "condition": "for one person"}
    record = Record(
        programme="eu2021:LU", mechanism="eps-dp", law="geometric", parameters={"epsilon": 0.1}, privacy=promise
    )
    assert by_name(record)["epsilon_of_output"].sentence == "The whole output satisfies epsilon 1 with delta 1.23e-06."
