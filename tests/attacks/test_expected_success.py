"""Predictions that know the true counts, against what attacks achieve on a town that is published many times."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks import expected_success
from discreet.attacks.attack_estimates import AttackEstimates
from discreet.attacks.averaging_attack import averaging
from discreet.attacks.expected_success import Predictions
from discreet.attacks.posterior_projection_attack import posterior_projection
from discreet.attacks.projection_attack import projection
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.simulated_release import noise_groups, simulate_release
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from tests.attacks.scenes import (
    HAMLET,
    LARGE,
    PTABLE,
    SMALL,
    SPARSE,
    KnownTruth,
    Scene,
    informed_attacker,
    residents,
    town_release,
)
from tests.protection.town import SECRET
from tests.quick import one_in

if TYPE_CHECKING:
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView
    from discreet.attacks.scoring import Score
    from discreet.engines.engine import Engine
    from discreet.programme.model import Programme

MORE = PTable.max_entropy(variance=1.3 * 2, bound=PTABLE.bound)
ATTACKS = {"averaging": averaging, "projection": projection, "posterior-projection": posterior_projection}
RUNS = 100


def first(attacker: AttackerView, name: str) -> AttackEstimates:
    return ATTACKS[name](attacker)[-1]


def model(attacker: AttackerView, truth: Truth, name: str) -> Predictions:
    return Predictions(attacker, truth, {name: ATTACKS[name]})


# --- Predicted and achieved ---


TOWNS = {
    "large counts, cell keys": Scene(residents(LARGE), mechanism="cell-key"),
    "large counts, fresh": Scene(residents(LARGE), mechanism="fresh"),
    "small counts, cell keys": Scene(residents(SMALL), mechanism="cell-key", given=SPARSE),
    "small counts, coordinates": Scene(residents(SMALL), mechanism="coordinates", given=SPARSE),
}


def law(scene: Scene, noise: PTable) -> AssumedNoise:
    return Scene(scene.persons, noise, scene.mechanism).belief


@cache
def achieved(scene: Scene, name: str) -> tuple[list[float], Score]:
    """Return the shares that an attack gets right of occupied cells in many releases, and the score of the last."""
    random = np.random.default_rng(5)
    scores = [score(first(scene.attacker(scene.publish(random)), name), scene.truth) for _ in range(RUNS)]
    return [each.occupied.achieved for each in scores], scores[-1]


def apart(scene: Scene, name: str, noise: PTable, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return by how many standard errors predicted and achieved success on occupied cells differ.

    Releases are published by the scene, cell by cell from lists of persons; predictions know counts and codes alone.
    """
    random = np.random.default_rng(6)
    right, scored = achieved(scene, name)
    monkeypatch.setattr(expected_success, "MOST", RUNS)
    truth = KnownTruth(law(scene, noise), {scene.layout.name: scene.counts})
    found = model(scene.attacker(scene.publish(random)), truth, name).predicted(scored)
    cells = {share.name: share.cells for share in scored.by_count() if share.name != "0"}
    expected = sum(cells[each] * found[each].share for each in cells) / sum(cells.values())
    # Both are means over as many releases.
    return float(abs(np.mean(right) - expected) / (np.std(right) * (2 / RUNS) ** 0.5))


@pytest.mark.parametrize(
    ("town", "name"),
    [
        ("large counts, cell keys", "averaging"),
        pytest.param("small counts, cell keys", "projection", marks=pytest.mark.slow),
        pytest.param("small counts, coordinates", "averaging", marks=pytest.mark.slow),
        pytest.param("large counts, fresh", "projection", marks=pytest.mark.slow),
        pytest.param("large counts, cell keys", "projection", marks=pytest.mark.slow),
        pytest.param("small counts, coordinates", "posterior-projection", marks=pytest.mark.slow),
        pytest.param("small counts, cell keys", "posterior-projection", marks=pytest.mark.slow),
    ],
)
def test_attacks_achieve_what_is_predicted_and_not_what_30_percent_more_noise_would_leave(
    town: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert apart(TOWNS[town], name, PTABLE, monkeypatch) < 3.5
    assert town.startswith("small") or apart(TOWNS[town], name, MORE, monkeypatch) > 3.5


# --- Which cells share their noise ---


def partition(numbers: np.ndarray, where: np.ndarray) -> set[frozenset[int]]:
    """Return the groups of cells that have one number."""
    return {frozenset(np.flatnonzero((numbers == number) & where).tolist()) for number in np.unique(numbers[where])}


@pytest.mark.parametrize("size", one_in(2, [SMALL, LARGE]))
@pytest.mark.parametrize("given", [HAMLET, SPARSE], ids=["hamlet", "sparse"])
@pytest.mark.parametrize("mechanism", ["cell-key", "coordinates", "fresh"])
def test_cells_share_their_noise_as_the_mechanism_has_it(
    size: tuple[int, int], given: Programme, mechanism: str
) -> None:
    scene = Scene(residents(size), mechanism=mechanism, given=given)
    counts = {scene.layout.name: scene.counts}
    found = noise_groups(scene.attacker(scene.counts.astype(float)), counts, scene.belief)[scene.layout.name]
    occupied = scene.counts > 0
    # Here every table shows all levels of a topic: with fresh noise too the same codes are one row.
    assert partition(found, occupied) == partition(scene.groups, occupied)


def test_parts_that_hold_everybody_share_under_cell_keys_but_not_under_coordinates(engine: Engine) -> None:
    shared = {}
    for mechanism in (CellKey(PTABLE, secret=SECRET), Coordinates(PTABLE, secret=SECRET)):
        release = town_release(mechanism, engine=engine, programme=SPARSE, data=residents(SMALL))
        attacker, truth = informed_attacker(release), TrueCounts(release)
        (view,) = attacker.views()
        counts = truth.counts(view.layout.name)
        numbers = noise_groups(attacker, {view.layout.name: counts}, attacker.noise)[view.layout.name]
        groups = [np.array(sorted(group)) for group in partition(numbers, counts > 0) if len(group) > 1]
        noise = view.published - counts
        # What the model takes as one noise is one noise in the release.
        assert all(np.ptp(noise[group]) == 0 for group in groups)
        shared[mechanism.name] = len(np.unique(numbers[counts > 0]))
    assert shared["cell-key"] < shared["coordinates"] < (counts > 0).sum()


def test_a_row_that_two_levels_share_has_one_fresh_noise(engine: Engine) -> None:
    # Old persons are one age group of both levels.
    release = town_release(Fresh(PTABLE, bits=SeededBits(1)), engine=engine)
    attacker, truth = informed_attacker(release), TrueCounts(release)
    counts = {view.layout.name: truth.counts(view.layout.name) for view in attacker.views()}
    groups = noise_groups(attacker, counts, attacker.noise)
    again = simulate_release(attacker, counts, attacker.noise, groups, np.random.default_rng(1))
    repeated = 0
    for seen in (*attacker.views(), *again.views()):
        unknowns = seen.layout.equations.unknowns
        first = np.unique(unknowns, return_index=True)[1][unknowns]
        assert (seen.published == seen.published[first]).all()
        repeated += int((first != np.arange(len(first))).sum())
    assert repeated


# --- What is reported ---


@pytest.fixture(scope="module")
def hamlet() -> Scene:
    return TOWNS["large counts, cell keys"]


def test_every_class_that_occurs_has_a_share_with_its_error() -> None:
    scene = TOWNS["small counts, cell keys"]
    attacker = scene.attacker(scene.publish(np.random.default_rng(1)))
    scored = score(first(attacker, "averaging"), scene.truth)
    made = model(attacker, scene.truth, "averaging")
    found = made.predicted(scored)
    assert list(found) == list(scored.classes())
    for each in found.values():
        assert 0 <= each.share <= 1
        assert 0 <= each.error <= 0.5 / expected_success.MOST**0.5 + 1e-9
    # Where zeros stay zeros, an empty cell is known to be one.
    assert found["0"].share == 1
    ((_, places),) = scored.finding.cells
    for name, where in scored.classes().items():
        assert found[name].noise_terms == len(np.unique(made.groups[scene.layout.name][places[where]]))


def test_the_same_seed_predicts_the_same(hamlet: Scene) -> None:
    attacker = hamlet.attacker(hamlet.publish(np.random.default_rng(1)))
    scored = score(first(attacker, "projection"), hamlet.truth)
    one, other = (model(attacker, hamlet.truth, "projection").predicted(scored) for _ in range(2))
    assert one == other


def test_predictions_do_not_depend_on_what_was_published() -> None:
    scene = TOWNS["small counts, cell keys"]
    found = []
    for seed in (1, 2):
        attacker = scene.attacker(scene.publish(np.random.default_rng(seed)))
        scored = score(first(attacker, "projection"), scene.truth)
        found.append(model(attacker, scene.truth, "projection").predicted(scored))
    assert found[0] == found[1]


def test_an_attack_that_is_not_repeated_predicts_for_itself_or_not_at_all(hamlet: Scene) -> None:
    attacker = hamlet.attacker(hamlet.counts.astype(float))

    def made(**more: object) -> AttackEstimates:
        zeros = np.zeros(3)
        return AttackEstimates(
            attack="guess",
            subject="counts",
            estimate=zeros.astype(np.int64),
            confidence=zeros,
            actual=lambda truth: truth.counts(hamlet.layout.name)[:3],
            **more,  # type: ignore[arg-type]  # fields of a finding
        )

    nothing = Predictions(attacker, hamlet.truth, {})
    assert nothing.predicted(score(made(), hamlet.truth)) == {}
    (name, expected), *none = nothing.predicted(score(made(predicted={"21+": 0.4}), hamlet.truth)).items()
    assert not none
    assert (name, expected.share, expected.error, expected.noise_terms) == ("21+", 0.4, 0.0, None)


def test_posteriors_predict_the_share_of_their_own_class_by_weight(hamlet: Scene) -> None:
    chances = np.array([[0.5, 0.5, 0, 0, 0, 0], [0.1, 0.9, 0, 0, 0, 0]])
    finding = AttackEstimates(
        attack="guess",
        subject="counts",
        estimate=np.array([0, 1]),
        confidence=np.array([0.5, 0.9]),
        actual=lambda _: np.array([0, 1]),
        class_chances=chances,
    )
    found = Predictions(hamlet.attacker(hamlet.counts.astype(float)), hamlet.truth, {})
    plain, weighed = (found.predicted(score(finding, hamlet.truth, each)) for each in (None, np.array([3.0, 1.0])))
    assert {name: each.share for name, each in plain.items()} == pytest.approx({"0": 0.5 / 0.6, "1": 0.9 / 1.4})
    assert {name: each.share for name, each in weighed.items()} == pytest.approx({"0": 1.5 / 1.6, "1": 0.9 / 2.4})


def test_without_noise_everything_is_expected_to_be_right(engine: Engine) -> None:
    release = town_release(Exact(), engine=engine)
    attacker, truth = informed_attacker(release), TrueCounts(release)
    for name in ATTACKS:
        found = model(attacker, truth, name).predicted(score(first(attacker, name), truth))
        assert {each.share for each in found.values()} == {1.0}
