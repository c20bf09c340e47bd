"""Assess takes the noise of a programme as keywords, a p-table, a distribution or a mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.noise.truncated import Truncated
from discreet.release.record import Record
from discreet.risk.assessment import assess
from discreet.verdicts import Verdict
from tests.programme.small import programme

if TYPE_CHECKING:
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.distribution import Noise

TOWN = programme([["SEX", "AGE"], ["SEX", "GEO"]], {"SEX": [2], "AGE": [3, 9], "GEO": [4]})
PTABLE = PTable.max_entropy(variance=3, bound=5)
SECRET = b"a secret of the office"
GEOMETRIC = TwoSidedGeometric(epsilon=0.4)


@pytest.mark.parametrize("noise", [PTABLE, MaxEntropy(variance=3, bound=5), CellKey(PTABLE, secret=SECRET)])
def test_a_p_table_is_assessed_as_its_keywords_are(noise: PTable | Noise | Mechanism) -> None:
    assert assess(TOWN, noise).results == assess(TOWN, variance=3, bound=5).results


def test_a_distribution_is_assessed_as_its_keywords_are() -> None:
    for spsn in (True, False):
        expected = assess(TOWN, law="geometric", epsilon=0.4, spsn=spsn)
        assert assess(TOWN, GEOMETRIC, spsn=spsn).results == expected.results
    assert assess(TOWN, Fresh(GEOMETRIC)).results == expected.results


def test_every_kind_of_noise_is_recorded_with_its_mechanism() -> None:
    assert assess(TOWN, Truncated(GEOMETRIC, 8), measures=["bound"]).case.record.bound == 8
    by_codes = assess(TOWN, Coordinates(PTABLE, secret=SECRET), measures=["bound"]).case.record
    assert by_codes.mechanism == "coordinates"
    own = PTable(PTABLE.rows, PTABLE.key_space)
    assert assess(TOWN, own, measures=["bound"]).case.record.law == "p-table"
    budget = assess("eu2021:LU", EpsDP(Budget(epsilon=10)), measures=["composition"]).case.record
    assert budget.mechanism == "eps-dp"
    assert budget.privacy
    assert budget.privacy["epsilon"] == pytest.approx(10)


def test_the_key_space_of_a_p_table_is_kept() -> None:
    small = PTable.max_entropy(variance=3, bound=5, key_space=2**16)
    assert assess(TOWN, small, measures=["bound"]).case.record.noise == small


def test_a_named_programme_takes_a_mechanism() -> None:
    found = assess("eu2021:LU", CellKey(PTABLE, secret=SECRET), measures=["redundancy"])
    assert found.case.record.programme == "eu2021:LU"


def test_noise_cannot_be_given_twice() -> None:
    with pytest.raises(ParameterError, match="PTable defines the noise; variance cannot be given too"):
        assess(TOWN, PTABLE, variance=3)
    with pytest.raises(ParameterError, match="CellKey defines the noise; spsn cannot be given too"):
        assess(TOWN, CellKey(PTABLE, secret=SECRET), spsn=False)
    record = Record(programme="eu2021:LU", parameters={"variance": 3, "bound": 5})
    with pytest.raises(ParameterError, match="A record defines the noise; noise cannot be given too"):
        assess(record, PTABLE)


def test_what_is_no_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"assess: noise must be a p-table, a noise distribution .*, not 3"):
        assess(TOWN, 3)  # type: ignore[arg-type]


def test_the_decision_compares_the_results_with_the_targets() -> None:
    found = assess(TOWN, variance=3, bound=5, targets={"averaging": 0.99, "bound": 0.999, "expected-margins": 1e9})
    values = {each.name: each.value for each in found.results}
    checks = {each.criterion.name: each for each in found.decision.checks}
    assert checks["averaging"].value == values["averaging_success"]
    assert checks["bound"].value == values["bound_revealed"]
    assert "delta" not in checks
    assert {name for name, each in checks.items() if each.verdict is Verdict.MEETS} == {"averaging", "bound"}
    # The expectation covers large counts alone: it can miss its target, but not meet it.
    assert checks["expected-margins"].verdict is Verdict.NOT_ASSESSED
    assert found.decision.headline == "Meets the targets set; not judged: expected margins, singleton cells"

    stricter = assess(TOWN, variance=3, bound=5, targets={"averaging": values["averaging_success"] - 1e-9})
    assert stricter.decision.headline == "Do not publish yet"
    assert stricter.decision.missed[0].criterion.name == "averaging"
    assert stricter.to_dict()["decision"]["verdict"] == "misses target"
    assert stricter.to_dict()["targets"]["averaging"]["origin"] == "chosen"


def test_delta_is_judged_where_it_has_a_target() -> None:
    found = assess(TOWN, variance=3, bound=5, targets={"delta": 1e-9})
    delta = next(each for each in found.decision.checks if each.criterion.name == "delta")
    assert delta.value == next(each.value for each in found.results if each.name == "delta_at_epsilon_1")
    assert delta.verdict is Verdict.MISSES


def test_plain_keys_never_meet_the_averaging_target() -> None:
    found = assess(TOWN, CellKey(PTABLE, mode="plain"), targets={"averaging": 0.999})
    averaging = found.decision.checks[0]
    assert averaging.value is not None
    assert averaging.value < 0.999
    assert averaging.verdict is Verdict.NOT_ASSESSED


def test_targets_of_the_record_are_used_unless_others_are_chosen() -> None:
    record = assess(TOWN, variance=3, bound=5).case.record
    stored = replace(record, targets={"averaging": 0.9, "small-areas": 0.1})
    assert assess(stored).case.policy.chosen == {"averaging": 0.9}
    assert assess(stored, targets={"averaging": 0.5}).case.policy.chosen == {"averaging": 0.5}
