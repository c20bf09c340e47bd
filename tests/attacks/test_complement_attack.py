from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import AttackerKnowledge, attacker_view, noise_from_record
from discreet.attacks.complement_attack import complement, narrower
from discreet.attacks.scoring import TrueCounts, score
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.protection.town import AGE, EMP, GEO, SECRET, SEX, TOPICS, people
from tests.quick import one_in
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

PTABLE = PTable.max_entropy(variance=2, bound=5)
WORKERS = "EMP != 3"
TABLES = programme(
    TOPICS,
    [by(GEO), by(AGE), by(SEX)],
    [by(GEO), by(SEX), by(EMP)],
    [by(GEO), by(AGE), by(SEX)],
    [by(EMP), by(SEX)],
    universes=[None, None, WORKERS, WORKERS],
)


def made(mechanism: Mechanism, size: int = 3000) -> Release:
    return protect(people(size), TABLES, mechanism, id="ID" if mechanism.needs_keys else None, keep_exact=True)


def found_in(release: Release, **more: Any) -> dict[str, AttackEstimates]:  # noqa: ANN401 - as in attacker_view
    attacker = attacker_view(release, AttackerKnowledge(noise=noise_from_record(release.record)), **more)
    return {finding.variant: finding for finding in complement(attacker)}


# --- Which universe contains which ---


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        (None, "EMP = 1", {(1, 0): "EMP"}),
        ("EMP != 3", "EMP = 1", {(1, 0): "EMP"}),
        ("EMP != 3", "EMP != 3 and AGE = Y", {(1, 0): "AGE"}),
        ("EMP = 1", "AGE = Y", {}),
        ("EMP != 3", "EMP != 1", {}),
        # The same persons in other words: the complement is empty.
        ("EMP != 3", "EMP in (1, 2)", {}),
        ("EMP = 1 or SEX = F", "EMP = 1", {(1, 0): "EMP"}),
        ("EMP = 1 or SEX = F", "EMP = 2", {}),
    ],
)
def test_a_universe_contains_another_if_each_of_its_conditions_is_wider(
    first: str | None, second: str, pairs: dict[tuple[int, int], str]
) -> None:
    tables = programme(TOPICS, [by(SEX)], [by(SEX)], universes=[first, second])
    names = ["persons" if universe is None else f"persons where {universe}" for universe in (first, second)]
    wanted = {(names[part], names[whole], frozenset({topic})) for (part, whole), topic in pairs.items()}
    assert set(narrower(tables)) == wanted


def test_other_units_are_not_compared() -> None:
    from dataclasses import replace

    tables = programme(TOPICS, [by(SEX)], [by(SEX)], universes=[None, "EMP = 1"])
    households = replace(tables, tables=(tables.tables[0], replace(tables.tables[1], unit="households")))
    assert narrower(households) == []


# --- Findings ---


def test_without_noise_everybody_left_out_is_counted() -> None:
    release = made(Exact())
    found = found_in(release)
    scored = score(found["counts"], TrueCounts(release))
    assert scored.right.all()
    assert found["counts"].certain.all()
    assert scored.actual.max() > 20
    # What is broken down by the condition itself is left out: its rest is empty or the whole.
    assert not any("EMP" in name.split(" of ")[0] for name in found["counts"].groups)
    assert {name.split(" of ", 1)[1] for name in found["counts"].groups} == {f"persons without persons where {WORKERS}"}


def test_under_cell_keys_unequal_values_prove_that_somebody_is_there() -> None:
    release = made(CellKey(PTABLE, secret=SECRET), 400)
    found = found_in(release)["presence"]
    scored = score(found, TrueCounts(release))
    proven = found.certain & (found.estimate == 1)
    assert proven.sum() > 30
    assert scored.right[proven].all()
    assert found.sentence is not None
    assert found.sentence(scored) == (
        f"In {proven.sum()} cells the complement certainly contains persons: {proven.sum()} of {proven.sum()} correct."
    )


@pytest.mark.parametrize(
    "mechanism",
    [
        Coordinates(PTABLE, SECRET),
        Fresh(PTABLE),
        CellKey(TwoSidedGeometric(epsilon=0.7), secret=SECRET, perturb_zeros=True),
    ],
)
def test_nothing_is_certain_where_the_same_persons_may_have_two_noises(mechanism: Mechanism) -> None:
    release = made(mechanism, 400)
    found = found_in(release)
    assert found.keys() == {"counts"}
    right = score(found["counts"], TrueCounts(release)).right
    assert right[found["counts"].certain].all()
    assert found["counts"].estimate.min() >= 0


@pytest.mark.parametrize(
    "mechanism", one_in(3, [CellKey(PTABLE, secret=SECRET), Coordinates(PTABLE, SECRET), Fresh(PTABLE)])
)
def test_confidence_is_the_share_that_is_right(mechanism: Mechanism) -> None:
    right, sure, naive = [], [], []
    for size in (200, 1000, 3000):
        release = made(mechanism, size)
        found = found_in(release)["counts"]
        scored = score(found, TrueCounts(release))
        right.append(scored.right)
        sure.append(found.confidence)
        naive.append(scored.actual == 0)
    assert np.concatenate(sure).mean() == pytest.approx(np.concatenate(right).mean(), abs=0.08)
    assert np.concatenate(right).mean() > np.concatenate(naive).mean()


@pytest.mark.slow
def test_large_differences_are_right_as_often_as_two_noises_cancel() -> None:
    # sum_x p(x)^2 over the law of large counts, for rests too large for a prior.
    law = PTABLE.large.pmf(np.arange(-5, 6))
    right = []
    for seed in range(6):
        release = made(CellKey(PTABLE, secret=SECRET + bytes([seed])), 4000)
        found = found_in(release)["counts"]
        scored = score(found, TrueCounts(release))
        right.append(scored.right[scored.actual > 60])
    share, chance = np.concatenate(right).mean(), law @ law
    error = np.sqrt(chance * (1 - chance) / len(np.concatenate(right)))
    assert abs(share - chance) < 5 * error
    assert abs(share - 2 * chance) > 5 * error


@pytest.mark.slow
def test_huge_noise_leaves_chance() -> None:
    release = made(CellKey(TwoSidedGeometric(epsilon=0.03), secret=SECRET))
    found = found_in(release)["counts"]
    scored = score(found, TrueCounts(release))
    assert scored.right[scored.actual > 5].mean() < 0.05
    assert not found.certain.any()


def test_the_report_shows_what_was_expected() -> None:
    report = attack(made(CellKey(PTABLE, secret=SECRET)), attacks=["complement"], budget=None)
    counts = next(outcome for outcome in report.outcomes if outcome.finding.variant == "counts")
    shares = {share.name: share for share in counts.by_count()}
    assert shares["21+"].predicted == pytest.approx(shares["21+"].achieved, abs=0.2)
    assert "complement counts above 0 are recovered exactly" in counts.sentence


def test_one_population_leaves_nobody_out() -> None:
    release = protect(people(50), programme(TOPICS, [by(SEX)]), Exact(), keep_exact=True)
    assert complement(attacker_view(release)) == []


def test_populations_without_common_statistics_say_nothing() -> None:
    tables = programme(TOPICS, [by(SEX, total=False)], [by(AGE, total=False)], universes=[None, WORKERS])
    assert complement(attacker_view(protect(people(50), tables, Exact(), keep_exact=True))) == []


def test_what_universes_tell_by_themselves_is_not_reported() -> None:
    # The part is empty in categories outside its universe, and the complement is empty in those inside it; the coarse
    # category Y contains persons of the universe and others.
    tables = programme(
        TOPICS,
        [by(GEO), by(AGE), by(SEX)],
        [by(GEO), by(AGE), by(SEX)],
        universes=[None, "AGE != Y1"],
    )
    for mechanism in (CellKey(PTABLE, secret=SECRET), Fresh(PTABLE)):
        release = protect(people(3000), tables, mechanism, id="ID" if mechanism.needs_keys else None, keep_exact=True)
        for finding in found_in(release).values():
            assert finding.group_of is not None
            cells = {}
            for number, count in zip(*np.unique(finding.group_of, return_counts=True), strict=True):
                cells[finding.groups[number].partition(" of ")[0]] = int(count)
            ages = {name: count for name, count in cells.items() if "AGE" in name}
            # Of the ages Y and O, and of Y1, Y2 and O below them, Y alone is open.
            sizes = {"AGE:1": 1, "AGE:1 SEX:1": 2}
            assert {name: count for name, count in ages.items() if name in sizes} == sizes
            assert not any("AGE:2" in name for name in ages)
            assert cells["total"] == 1
            assert cells["SEX:1"] == 2
