from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import AttackerKnowledge, AttackerView, attacker_view, noise_from_record
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.two_release_attack import ReleasePair, regime, two_releases
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.protection.town import AGE, EMP, GEO, SECRET, SEX, TOPICS, TOWN, people
from tests.quick import one_in, rows_in
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme
    from discreet.release.release import Release

PTABLE = PTable.max_entropy(variance=2, bound=5)
OTHER = b"another secret for the tests"
GEOMETRIC = TwoSidedGeometric(epsilon=0.7)
TABLES = programme(TOPICS, [by(GEO, 3), by(AGE), by(SEX)], [by(GEO, 3), by(EMP)])
BEFORE = people(4000)


def without(persons: pa.Table, share: float, seed: int = 2) -> pa.Table:
    """Return the persons without a random share of them."""
    return persons.filter(pa.array(np.random.default_rng(seed).random(len(persons)) >= share))


MECHANISMS: dict[str, Mechanism] = {
    "keys": CellKey(PTABLE, secret=SECRET),
    "other keys": CellKey(PTABLE, secret=OTHER),
    "keys, unbounded": CellKey(GEOMETRIC, secret=SECRET),
    "label": Coordinates(PTABLE, SECRET),
    "other label": Coordinates(PTABLE, SECRET, version="2"),
    "fresh": Fresh(PTABLE),
    "eps-dp": EpsDP(Budget(40.0)),
    "noisy zeros": CellKey(GEOMETRIC, secret=SECRET, perturb_zeros=True),
    "other noisy zeros": CellKey(GEOMETRIC, secret=OTHER, perturb_zeros=True),
    "wide": CellKey(TwoSidedGeometric(epsilon=0.1), secret=SECRET),
    "other wide": CellKey(TwoSidedGeometric(epsilon=0.1), secret=OTHER),
    "exact": Exact(),
}


class Office:
    """Makes releases, each of them once."""

    def __init__(self, engine: DuckDB) -> None:
        self.engine = engine
        self._made: dict[tuple[str, float], Release] = {}

    def release(self, name: str, persons: pa.Table, tables: Programme = TABLES) -> Release:
        mechanism = MECHANISMS[name]
        key = "ID" if mechanism.needs_keys else None
        return protect(persons, tables, mechanism, id=key, keep_exact=True, engine=self.engine)

    def pair(self, first: str, second: str, share: float = 0.01) -> tuple[Release, Release]:
        """Return two releases of the town, before and after a share of it left."""
        for key in ((first, 0.0), (second, share)):
            if key not in self._made:
                self._made[key] = self.release(key[0], without(BEFORE, key[1]))
        # Of the same data a mechanism with fresh bits publishes other values the second time.
        if first == second and not share and first in {"fresh", "eps-dp"}:
            return self._made[first, 0.0], self.release(second, BEFORE)
        return self._made[first, 0.0], self._made[second, share]


@pytest.fixture(scope="module")
def office(engine: DuckDB) -> Office:
    return Office(engine)


def attacker_on(first: Release, second: Release, **more: Any) -> AttackerView:  # noqa: ANN401 - as in attacker_view
    return attacker_view(
        first, AttackerKnowledge(noise=noise_from_record(first.record), other=attacker_view(second)), **more
    )


def found_in(first: Release, second: Release, **more: Any) -> dict[str, AttackEstimates]:  # noqa: ANN401 - as in attacker_view
    return {finding.variant: finding for finding in two_releases(attacker_on(first, second, **more))}


def truth_of(first: Release, second: Release) -> TrueCounts:
    return TrueCounts(first, None, TrueCounts(second))


def compared(first: Release, second: Release) -> list[ReleasePair]:
    noise = noise_from_record(first.record)
    mine, other = attacker_view(first), attacker_view(second)
    return [ReleasePair(mine.view(name), other.view(name), noise, noise) for name in mine.populations]


# --- Which regime it is ---


@pytest.mark.parametrize(
    ("first", "second", "share", "wanted"),
    rows_in(
        3,
        [
            ("keys", "keys", 0.0, "unchanged"),
            ("keys", "keys", 0.01, "unchanged"),
            ("label", "label", 0.01, "unchanged"),
            ("keys", "other keys", 0.0, "independent"),
            ("keys", "other keys", 0.01, "independent"),
            ("label", "other label", 0.0, "independent"),
            ("fresh", "fresh", 0.0, "independent"),
            ("eps-dp", "eps-dp", 0.01, "independent"),
        ],
    ),
)
def test_the_regime_is_seen_from_what_is_published_alike(
    office: Office, first: str, second: str, share: float, wanted: str
) -> None:
    one, two = office.pair(first, second, share)
    assert regime(compared(one, two), attacker_on(one, two)) == wanted


# --- The same keys ---


@pytest.mark.parametrize("keys", one_in(2, ["keys", "keys, unbounded"]))
def test_under_the_same_keys_a_difference_proves_a_change(office: Office, keys: str) -> None:
    first, second = office.pair(keys, keys)
    found = found_in(first, second)
    scored = score(found["changed"], truth_of(first, second))
    certain = found["changed"].certain & (found["changed"].estimate == 1)
    assert certain.sum() > 50
    assert scored.right[certain].all()
    assert found["changed"].sentence is not None
    total = f"{certain.sum():,}"
    assert found["changed"].sentence(scored) == (
        f"In {total} cells the participants changed with certainty: {total} of {total} correct."
    )
    # All departures are found, or hidden by two noise terms that cancel.
    assert scored.right.mean() > 0.9


def test_an_exchange_that_true_counts_do_not_show_is_told(office: Office) -> None:
    rows = BEFORE.to_pylist()
    for number in range(0, len(rows), 40):
        rows[number]["ID"] = f"newcomer {number}"
    first, second = office.pair("keys", "keys")[0], office.release("keys", pa.Table.from_pylist(rows))
    found = found_in(first, second)["changed"]
    scored = score(found, truth_of(first, second))
    assert found.sentence is not None
    assert "0 of" in found.sentence(scored)
    assert found.sentence(scored).endswith("; true counts do not show the others, e.g. if one person replaces another.")


def test_a_part_that_changed_shows_that_the_whole_did(office: Office) -> None:
    rows = BEFORE.to_pylist()
    # Arrivals and departures differ only in age: the counts by area and sex stay the same.
    place = next(n for n, row in enumerate(rows) if row["AGE"] == "O")
    rows[place] = {**rows[place], "ID": "newcomer", "AGE": "Y1"}
    first, second = office.pair("keys", "keys")[0], office.release("keys", pa.Table.from_pylist(rows))
    found = found_in(first, second)["changed"]
    truth = truth_of(first, second)
    whole = found.group_of == found.groups.index("total")
    assert found.actual(truth)[whole].tolist() == [1]


# --- Coordinates ---


def test_under_one_label_a_difference_proves_another_count(office: Office) -> None:
    first, second = office.pair("label", "label")
    found = found_in(first, second)
    scored = score(found["changed"], truth_of(first, second))
    certain = found["changed"].certain & (found["changed"].estimate == 1)
    assert scored.right[certain].all()
    assert found["changed"].sentence is not None
    assert "cells the count changed with certainty" in found["changed"].sentence(scored)
    changes = found["changes"]
    assert (changes.estimate[certain] != 0).all()


# --- How large changes are ---


@pytest.mark.parametrize(
    ("first", "second"),
    rows_in(
        4,
        [
            ("keys", "keys"),
            ("keys", "other keys"),
            ("label", "label"),
            ("fresh", "fresh"),
            ("noisy zeros", "other noisy zeros"),
        ],
    ),
)
def test_confidence_is_the_share_that_is_right(office: Office, first: str, second: str) -> None:
    one, two = office.pair(first, second)
    found = found_in(one, two)["changes"]
    scored = score(found, truth_of(one, two))
    assert found.confidence.mean() == pytest.approx(scored.right.mean(), abs=0.08)
    # The attack is not worse than assuming no change.
    assert scored.right.mean() > (scored.actual == 0).mean() - 0.03


def test_without_noise_every_change_is_known(office: Office) -> None:
    first, second = office.pair("exact", "exact", 0.05)
    found = found_in(first, second)["changes"]
    scored = score(found, truth_of(first, second))
    assert scored.right.all()
    assert found.certain.all()
    assert found.estimate.min() < -20


def test_huge_noise_with_new_keys_leaves_chance(office: Office) -> None:
    first, second = office.pair("wide", "other wide")
    found = found_in(first, second)["changes"]
    scored = score(found, truth_of(first, second))
    assert scored.right[scored.actual != 0].mean() < 0.15
    assert not found.certain.any()


# --- Noise that sticks to the codes of a cell ---


def sticking(release: Release, noise: dict[tuple[str, ...], int]) -> AttackerView:
    """Return what is seen of a release in which the codes of a cell alone decide its noise."""
    random = np.random.default_rng(9)

    def read(table: str) -> pa.Table:
        rows = release.exact(table).to_pylist()
        for row in rows:
            codes = tuple(f"{name}={value}" for name, value in row.items() if name != "value" and value != "_T")
            row["value"] += noise.setdefault(codes, int(random.integers(-3, 4)))
        return pa.Table.from_pylist(rows)

    return AttackerView(release.programme, release.description["noise"], read)


def test_noise_that_sticks_to_a_cell_hides_no_change(office: Office) -> None:
    tables = programme(TOPICS, [by(GEO), by(SEX)])
    noise: dict[tuple[str, ...], int] = {}
    first, second = (office.release("fresh", persons, tables) for persons in (BEFORE, without(BEFORE, 0.02)))
    seen, then = sticking(first, noise), sticking(second, noise)
    disclosed = {**seen.disclosed, "same_count_same_noise": True}
    then = replace(then, disclosed=disclosed)
    attacker = replace(
        seen, disclosed=disclosed, knowledge=AttackerKnowledge(noise=noise_from_record(first.record), other=then)
    )
    (found,) = two_releases(attacker)
    assert found.method.startswith("the difference of two releases in which every cell keeps its noise")
    assert found.certain.sum() > 20
    right = score(found, truth_of(first, second)).right
    assert right[found.certain].all()


# --- Other releases, other programmes ---


def test_programmes_may_differ(office: Office) -> None:
    turned = programme(TOPICS, [by(SEX), by(GEO)], [by(EMP)])
    first, second = office.pair("exact", "exact", 0.05)[0], office.release("exact", without(BEFORE, 0.05), turned)
    found = found_in(first, second)["changes"]
    assert {"total", "SEX:1", "EMP:1"} < set(found.groups)
    assert not any("AGE" in name for name in found.groups)
    assert score(found, truth_of(first, second)).right.all()


def test_several_populations_are_compared_each_with_itself(office: Office) -> None:
    first, second = (office.release("keys", persons, TOWN) for persons in (BEFORE, without(BEFORE, 0.005)))
    found = found_in(first, second)
    assert any("of persons where" in name for name in found["changes"].groups)
    scored = score(found["changed"], truth_of(first, second))
    assert scored.right[found["changed"].certain].all()
    assert len(found["changes"].estimate) == sum(view.layout.cells for view in attacker_view(first).views())


def test_without_a_second_release_there_is_nothing_to_say(office: Office) -> None:
    assert two_releases(attacker_view(office.pair("keys", "keys")[0])) == []


def test_without_common_statistics_there_is_nothing_to_say(office: Office) -> None:
    first = office.release("exact", people(50), programme(TOPICS, [by(SEX, total=False)]))
    second = office.release("exact", people(50), programme(TOPICS, [by(AGE, total=False)]))
    assert two_releases(attacker_on(first, second)) == []


def test_the_report_compares_two_releases(office: Office) -> None:
    first, second = office.pair("keys", "keys")
    report = attack(first, attacks=["two-releases"], budget=None, other=second)
    outcomes = {outcome.finding.variant: outcome for outcome in report.outcomes}
    assert "the participants changed with certainty" in outcomes["changed"].sentence
    shares = {share.name: share for share in outcomes["changes"].by_count()}
    assert shares["0"].predicted == pytest.approx(shares["0"].achieved, abs=0.05)
    assert shares["1"].predicted == pytest.approx(shares["1"].achieved, abs=0.2)
