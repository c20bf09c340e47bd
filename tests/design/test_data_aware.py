"""Predictions that know the true counts, against what attacks achieve on a town that is published many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.averaging import averaging
from discreet.attacks.clock import Clock
from discreet.attacks.finding import Combination, Finding
from discreet.attacks.projection import projection
from discreet.attacks.scoring import score
from discreet.attacks.truth import TrueCounts
from discreet.design.data_aware import DRAWS, DataAware
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from tests.attacks.scenes import (
    HAMLET,
    LARGE,
    PTABLE,
    SMALL,
    SPARSE,
    KnownTruth,
    Scene,
    residents,
    sight_with_law,
    town_release,
)
from tests.mechanisms.town import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.attacks.belief import CountNoise
    from discreet.attacks.sight import Sight
    from discreet.engines.base import Engine
    from discreet.programme.model import Programme

MORE = PTable.max_entropy(variance=1.3 * 2, bound=PTABLE.bound)


def inverse_variance(sight: Sight) -> Finding:
    return next(finding for finding in averaging(sight) if finding.variant == "inverse variance")


def optimal(sight: Sight) -> Finding:
    (found,) = projection(sight)
    return found


# --- Predicted and achieved ---


@dataclass(frozen=True)
class Comparison:
    """The share of estimates that was right beside the one predicted, and how far both may be apart by chance."""

    achieved: float
    predicted: float
    error: float

    @property
    def apart(self) -> float:
        """Return the difference in standard errors."""
        return abs(self.achieved - self.predicted) / self.error


def compared(
    scene: Scene, attack: Callable[[Sight], Finding], *laws: CountNoise, runs: int, sample: int | None = None
) -> list[Comparison]:
    """Attack many releases of one town and compare the estimates of occupied cells with their predictions.

    Args:
        scene: the town.
        attack: the attack.
        laws: the laws that predictions take the noise to have.
        runs: the number of releases.
        sample: estimates per release that are predicted anew; by default all of the first release, once and for all.
    """
    random = np.random.default_rng(5)
    truths = [KnownTruth(law, {scene.layout.name: scene.counts}) for law in laws]
    chosen, chances = np.zeros(0, dtype=np.int64), np.zeros((len(laws), 0))
    right, expected = [], []
    for run in range(runs):
        sight = scene.sight(scene.publish(random))
        finding = attack(sight)
        actual = finding.actual(scene.truth)
        if sample or run == 0:
            occupied = np.flatnonzero(actual)
            chosen = random.choice(occupied, sample, replace=False) if sample else occupied
            chances = np.array([DataAware(sight, truth).chances(finding, actual, chosen, random) for truth in truths])
        right.append((finding.estimate == actual)[chosen].mean())
        expected.append(chances.mean(axis=1))
    gaps = np.array(right)[:, None] - np.array(expected)
    drawn = np.zeros(len(laws)) if sample else (chances * (1 - chances)).mean(axis=1) / (DRAWS * len(chosen))
    errors = np.sqrt(gaps.var(axis=0) / runs + drawn)
    means = np.mean(expected, axis=0)
    return [Comparison(float(np.mean(right)), *pair) for pair in zip(means.tolist(), errors.tolist(), strict=True)]


TOWNS = {
    "large counts, cell keys": Scene(residents(LARGE), mechanism="cell-key"),
    "large counts, fresh": Scene(residents(LARGE), mechanism="fresh"),
    "small counts, cell keys": Scene(residents(SMALL), mechanism="cell-key", given=SPARSE),
    "small counts, coordinates": Scene(residents(SMALL), mechanism="coordinates", given=SPARSE),
}


def law(scene: Scene, noise: PTable) -> CountNoise:
    return Scene(scene.persons, noise, scene.mechanism).belief


@pytest.mark.parametrize("name", TOWNS)
def test_the_average_achieves_what_is_predicted_and_not_what_30_percent_more_noise_would_leave(name: str) -> None:
    scene = TOWNS[name]
    right, wrong = compared(scene, inverse_variance, law(scene, PTABLE), law(scene, MORE), runs=120)
    assert right.apart < 3.5
    assert wrong.apart > 5


@pytest.mark.parametrize("name", ["large counts, cell keys", "large counts, fresh"])
def test_so_does_the_projection_of_large_counts(name: str) -> None:
    scene = TOWNS[name]
    right, wrong = compared(scene, optimal, law(scene, PTABLE), law(scene, MORE), runs=200)
    assert right.apart < 3.5
    assert wrong.apart > 5


def test_and_of_small_ones_given_the_zeros_of_each_release() -> None:
    scene = TOWNS["small counts, cell keys"]
    # Twenty-five releases cannot tell 30 percent; a fifth of the variance they can.
    smaller = PTable.max_entropy(variance=0.4, bound=PTABLE.bound)
    right, wrong = compared(scene, optimal, law(scene, PTABLE), law(scene, smaller), runs=25, sample=10)
    assert right.apart < 3.5
    assert wrong.apart > 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small counts, cell keys", "small counts, coordinates"])
def test_eight_hundred_releases_tell_30_percent_there_too(name: str) -> None:
    scene = TOWNS[name]
    right, wrong = compared(scene, optimal, law(scene, PTABLE), law(scene, MORE), runs=800, sample=12)
    assert right.apart < 3.5
    assert wrong.apart > 3.5


@pytest.mark.parametrize("given_zeros", [False, True])
@pytest.mark.parametrize("shown", [0.0, 2.0])
def test_given_which_cells_are_published_as_0_other_noise_is_left(given_zeros: bool, shown: float) -> None:
    scene = TOWNS["small counts, coordinates"]
    place = int(np.flatnonzero(scene.counts == 1)[0])
    published = scene.counts.astype(float)
    published[place] = shown
    finding = Finding(
        attack="as published",
        subject="counts",
        estimate=np.array([shown]).astype(np.int64),
        confidence=np.zeros(1),
        actual=lambda truth: truth.counts(scene.layout.name)[[place]],
        combination=lambda _: Combination(scene.layout.name, np.array([place]), np.ones(1), place),
        given_zeros=given_zeros,
    )
    model = DataAware(scene.sight(published), scene.truth)
    (found,) = model.chances(finding, np.array([1]), np.array([0]), np.random.default_rng(1))
    stays, vanishes = scene.belief.chance(np.array([1, 1]), np.array([1, 0]))
    # A true 1 that is published as 0 is not named; one that is not was never a 0.
    expected = stays if not given_zeros else 0 if shown == 0 else stays / (1 - vanishes)
    assert found == pytest.approx(expected, abs=0.09)
    assert not (given_zeros and shown == 0) or found == 0


# --- Which cells share their noise ---


def partition(numbers: np.ndarray, where: np.ndarray) -> set[frozenset[int]]:
    """Return the groups of cells that have one number."""
    return {frozenset(np.flatnonzero((numbers == number) & where).tolist()) for number in np.unique(numbers[where])}


@pytest.mark.parametrize("size", [LARGE, SMALL])
@pytest.mark.parametrize("given", [HAMLET, SPARSE], ids=["hamlet", "sparse"])
@pytest.mark.parametrize("mechanism", ["cell-key", "coordinates", "fresh"])
def test_cells_share_their_noise_as_the_mechanism_has_it(
    size: tuple[int, int], given: Programme, mechanism: str
) -> None:
    scene = Scene(residents(size), mechanism=mechanism, given=given)
    model = DataAware(scene.sight(scene.counts.astype(float)), scene.truth)
    found = model.same_noise(scene.layout.name)
    occupied = scene.counts > 0
    expected = scene.groups if mechanism != "fresh" else np.arange(len(found))
    assert partition(found, occupied) == partition(expected, occupied)


def test_parts_that_hold_everybody_share_under_cell_keys_but_not_under_coordinates(engine: Engine) -> None:
    shared = {}
    for mechanism in (CellKey(PTABLE, secret=SECRET), Coordinates(PTABLE, secret=SECRET)):
        release = town_release(mechanism, engine=engine, programme=SPARSE, data=residents(SMALL))
        sight, truth = sight_with_law(release), TrueCounts(release)
        (view,) = sight.views()
        model = DataAware(sight, truth)
        numbers = model.same_noise(view.layout.name)
        counts = truth.counts(view.layout.name)
        groups = [np.array(sorted(group)) for group in partition(numbers, counts > 0) if len(group) > 1]
        noise = view.published - counts
        # What the model takes as one noise is one noise in the release.
        assert all(np.ptp(noise[group]) == 0 for group in groups)
        shared[mechanism.name] = len(np.unique(numbers[counts > 0]))
    assert shared["cell-key"] < shared["coordinates"] < (counts > 0).sum()


# --- What is reported ---


@pytest.fixture(scope="module")
def hamlet() -> Scene:
    return TOWNS["large counts, cell keys"]


def test_every_class_that_occurs_has_a_share_with_its_error() -> None:
    scene = TOWNS["small counts, cell keys"]
    sight = scene.sight(scene.publish(np.random.default_rng(1)))
    scored = score(inverse_variance(sight), scene.truth)
    found = DataAware(sight, scene.truth).predicted(scored, Clock(), sample=10)
    assert list(found) == list(scored.classes())
    for each in found.values():
        assert 0 <= each.share <= 1
        assert 0 <= each.error <= 0.5 / 10**0.5 + 1e-9
    # Where zeros stay zeros, an empty cell is known to be one.
    assert found["0"].share == 1
    numbers = DataAware(sight, scene.truth).same_noise(scene.layout.name)
    for name, where in scored.classes().items():
        assert scored.finding.combination is not None
        places = np.array([scored.finding.combination(n).target for n in np.flatnonzero(where).tolist()])
        assert found[name].noises == len(np.unique(numbers[places]))


def test_the_same_seed_predicts_the_same(hamlet: Scene) -> None:
    sight = hamlet.sight(hamlet.publish(np.random.default_rng(1)))
    scored = score(inverse_variance(sight), hamlet.truth)
    one, other = (DataAware(sight, hamlet.truth).predicted(scored, Clock(), sample=5) for _ in range(2))
    assert one == other


def test_no_time_leaves_classes_without_a_prediction(hamlet: Scene) -> None:
    sight = hamlet.sight(hamlet.publish(np.random.default_rng(1)))
    scored = score(inverse_variance(sight), hamlet.truth)
    assert DataAware(sight, hamlet.truth).predicted(scored, Clock(0)) == {}


def test_an_attack_that_is_no_sum_predicts_for_itself_or_not_at_all(hamlet: Scene) -> None:
    sight = hamlet.sight(hamlet.counts.astype(float))

    def made(**more: object) -> Finding:
        zeros = np.zeros(3)
        return Finding(
            attack="guess",
            subject="counts",
            estimate=zeros.astype(np.int64),
            confidence=zeros,
            actual=lambda truth: truth.counts(hamlet.layout.name)[:3],
            **more,  # type: ignore[arg-type]  # fields of a finding
        )

    model = DataAware(sight, hamlet.truth)
    assert model.predicted(score(made(), hamlet.truth), Clock()) == {}
    (name, told), *none = model.predicted(score(made(predicted={"21+": 0.4}), hamlet.truth), Clock()).items()
    assert not none
    assert (name, told.share, told.error, told.noises) == ("21+", 0.4, 0.0, None)


def test_without_noise_everything_is_expected_to_be_right(engine: Engine) -> None:
    release = town_release(Exact(), engine=engine)
    sight, truth = sight_with_law(release), TrueCounts(release)
    for attack in (inverse_variance, optimal):
        found = DataAware(sight, truth).predicted(score(attack(sight), truth), Clock(), sample=3)
        assert {each.share for each in found.values()} == {1.0}
