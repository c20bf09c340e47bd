"""The optimal linear attack against dense least squares, with known totals, near certainties and no time at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.averaging import chance_right
from discreet.attacks.cell_estimates import settled
from discreet.attacks.clock import Clock
from discreet.attacks.finding import CERTAIN
from discreet.attacks.projection import NEARLY_CERTAIN, Projection, projection, successive
from discreet.attacks.scoring import score
from discreet.attacks.truth import TrueCounts
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.bits import SeededBits
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from tests.attacks.scenes import (
    LARGE,
    PTABLE,
    SMALL,
    SPARSE,
    Scene,
    cells_by_hand,
    residents,
    sight_with_law,
    town_release,
)
from tests.mechanisms.town import SECRET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.attacks.sight import Sight
    from discreet.engines.base import Engine
    from discreet.mechanisms.base import Mechanism

    Floats = NDArray[np.float64]

ATTACKS = {"projection": projection, "successive": successive}
SLIGHT = PTable.max_entropy(variance=0.2, bound=2)
"""Noise so small that some totals are nearly certain at once."""


@pytest.fixture(scope="module", params=["cell-key", "coordinates", "fresh"])
def hamlet(request: pytest.FixtureRequest) -> Scene:
    return Scene(residents(LARGE), mechanism=request.param)


@pytest.fixture(scope="module")
def slight() -> Scene:
    return Scene(residents(LARGE), SLIGHT)


def attacker(scene: Scene, published: Floats, **knowledge: object) -> Projection:
    sight = scene.sight(published, **knowledge)
    return Projection(sight, sight.view(scene.layout.name), Clock())


def design(scene: Scene) -> Floats:
    """Return for every cell which of the finest cells it sums up."""
    topics = scene.given.topics
    finest = [
        dict(zip(topics, codes, strict=True)) for codes in product(*(t.levels[-1].codes or () for t in topics.values()))
    ]
    return np.array(
        [
            [float(all(one[name] in cell[name] for name in topics)) for one in finest]
            for cell in cells_by_hand(scene.layout)
        ]
    )


def dense(scene: Scene, published: Floats) -> Floats:
    """Return the best linear estimate by generalised least squares on the finest cells."""
    matrix = design(scene)
    rows, first = np.unique(matrix, axis=0, return_index=True)
    times = np.ones(len(rows))
    values = published[first]
    if not scene.spsn:
        # Every look has noise of its own, also at an area that is not split again.
        rows, values = matrix, published
        times = scene.layout.lattice.tables[scene.layout.equations.statistics][scene.layout.statistic_of].astype(float)
    root = np.sqrt(times)
    found = np.linalg.lstsq(rows * root[:, None], values * root, rcond=1e-10)[0]
    estimate: Floats = matrix @ found
    return estimate


def test_it_is_dense_least_squares(hamlet: Scene) -> None:
    for seed in range(3):
        published = hamlet.publish(np.random.default_rng(seed))
        found, complete = attacker(hamlet, published).estimates()
        assert complete
        assert found.places.tolist() == list(range(hamlet.layout.cells))
        # The gaps fall to a ten-thousandth of what they were.
        assert found.estimate == pytest.approx(dense(hamlet, published), abs=5e-3)
        assert np.abs(found.estimate - published).max() > 0.5


def test_sums_times_the_published_vector_are_the_estimates(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(4))
    sight = hamlet.sight(published)
    (finding,) = projection(sight)
    raw = attacker(hamlet, published).estimates()[0].estimate
    assert finding.combination is not None
    for number in range(hamlet.layout.cells):
        combination = finding.combination(number)
        assert combination.target == number
        value = combination.weights @ published[combination.places]
        # Weights are right to a hundredth of the noise; what adds up is not touched by their error.
        assert value == pytest.approx(raw[number], abs=0.06)
        assert combination.weights @ hamlet.counts[combination.places] == pytest.approx(hamlet.counts[number], abs=1e-6)
    assert finding.estimate.tolist() == settled(raw, published, sight.noise).tolist()


def test_cells_of_the_same_persons_get_one_estimate() -> None:
    scene = Scene(residents(LARGE), mechanism="coordinates")
    found, _ = attacker(scene, scene.publish(np.random.default_rng(1))).estimates()
    _, place = np.unique(scene.groups, return_inverse=True)
    pairs = [np.flatnonzero(place == group) for group in range(place.max() + 1)]
    assert sum(len(pair) > 1 for pair in pairs) >= 3
    for pair in pairs:
        assert np.ptp(found.estimate[pair]) < 5e-3


@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_the_variance_is_about_that_of_the_equations(size: tuple[int, int]) -> None:
    scene = Scene(residents(size), mechanism="coordinates")
    found = attacker(scene, scene.publish(np.random.default_rng(2)))
    claimed = found.variances(scene.layout.equations.spread)
    rows = np.array([scene.layout.equations.row(place) for place in range(scene.layout.cells)])
    exact = ((scene.layout.equations.spread * rows) ** 2).sum(axis=1)
    # One probe of 60 cells: the mean is known to about a seventh.
    assert claimed.mean() == pytest.approx(exact.mean(), rel=0.3)
    assert (claimed <= scene.layout.equations.spread**2 + 1e-9).all()


def test_the_confidence_is_that_of_a_normal_error(hamlet: Scene) -> None:
    found = attacker(hamlet, hamlet.publish(np.random.default_rng(2)))
    estimates, _ = found.estimates()
    expected = chance_right(hamlet.belief.variance * found.variances(found.start[1]))
    assert estimates.confidence == pytest.approx(expected)


@pytest.mark.parametrize(("variance", "fits"), [(2.0, True), (2.6, False)])
def test_errors_over_many_releases_are_as_large_as_the_equations_say(variance: float, fits: bool) -> None:
    scene = Scene(residents(LARGE), mechanism="coordinates")
    more = Scene(scene.persons, PTable.max_entropy(variance=variance, bound=5), "coordinates")
    equations = scene.layout.equations
    rows = np.array([equations.row(place) for place in range(equations.cells)])
    said = 2.0 * ((equations.spread * rows) ** 2).sum(axis=1).mean()
    random, runs = np.random.default_rng(6), 120
    errors = [attacker(scene, more.publish(random)).estimates()[0].estimate - scene.counts for _ in range(runs)]
    square = (np.array(errors) ** 2).mean(axis=1)
    off = abs(square.mean() - said) / (square.std() / runs**0.5)
    assert (off < 3) if fits else (off > 6)


# --- Known totals ---


def test_known_totals_are_kept_exactly_and_sharpen_the_rest(hamlet: Scene) -> None:
    layout = hamlet.layout
    name = "AGE:1"
    cells = layout.equations.cells_of(layout.lattice.position(name))
    true = hamlet.counts[cells].astype(float)
    published = hamlet.publish(np.random.default_rng(7))
    found = attacker(hamlet, published, known={(layout.name, name): true})
    values, spread = found.start
    assert values[cells].tolist() == true.tolist()
    assert not spread[cells].any()
    fitted, _ = found.fitted(values, spread)
    assert fitted[cells].tolist() == true.tolist()
    total = layout.equations.place(layout.lattice.position("total"))
    assert fitted[total] == pytest.approx(true.sum(), abs=5e-3)
    estimates, _ = found.estimates()
    assert set(range(cells.start, cells.stop)).isdisjoint(estimates.places.tolist())
    plain, _ = attacker(hamlet, published).estimates()
    assert estimates.confidence.mean() > plain.confidence[estimates.places].mean()
    assert estimates.confidence[estimates.places.tolist().index(total)] == pytest.approx(1, abs=2e-6)


def test_known_totals_of_another_population_change_nothing(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(7))
    known = {("dwellings", "total"): np.array([5.0])}
    assert not attacker(hamlet, published, known=known).known
    one, other = (attacker(hamlet, published, **more).estimates()[0] for more in ({}, {"known": known}))
    assert one.estimate.tolist() == other.estimate.tolist()


def test_that_totals_are_known_is_said(hamlet: Scene) -> None:
    known = {(hamlet.layout.name, "total"): hamlet.counts[:1].astype(float)}
    published = hamlet.publish(np.random.default_rng(7))
    with_them, without = (projection(hamlet.sight(published, **more))[0] for more in ({"known": known}, {}))
    assert any("given as known" in text for text in with_them.assumptions)
    assert not any("given as known" in text for text in without.assumptions)


# --- Zeros ---


@pytest.mark.parametrize("zeros", [False, True])
def test_published_zeros_weigh_more_only_where_zeros_stay_zeros(zeros: bool, engine: Engine) -> None:
    noise = PTable.max_entropy(variance=2, bound=4, perturb_zeros=zeros)
    release = town_release(Coordinates(noise, secret=SECRET), engine=engine, programme=SPARSE, data=residents(SMALL))
    sight = sight_with_law(release)
    (view,) = sight.views()
    _, spread = Projection(sight, view, Clock()).start
    usual = view.layout.equations.spread
    zero = view.published == 0
    assert 3 < zero.sum() < len(zero) - 10
    if zeros:
        assert spread.tolist() == usual.tolist()
    else:
        assert (spread[zero] < usual[zero]).all()
        assert (spread[zero] > 0).all()
        assert spread[~zero].tolist() == usual[~zero].tolist()
    (finding,) = projection(sight)
    assert finding.given_zeros is not zeros


# --- Near certainties ---


@dataclass(frozen=True, eq=False)
class Watched(Projection):
    """An attacker whose steps are noted: what she fits, and how certain she is then."""

    fits: list[tuple[Floats, Floats]] = field(default_factory=list)
    sure: list[Floats] = field(default_factory=list)

    def fitted(self, values: Floats, spread: Floats, *more: float) -> tuple[Floats, bool]:
        if not more:
            self.fits.append((values.copy(), spread.copy()))
        return super().fitted(values, spread, *more)

    def variances(self, spread: Floats, round_number: int = 0) -> Floats:
        found = super().variances(spread, round_number)
        self.sure.append(chance_right(self.sight.noise.variance * found))
        return found


def test_no_cell_is_taken_as_known_before_it_is_nearly_certain(slight: Scene) -> None:
    published = slight.publish(np.random.default_rng(8))
    sight = slight.sight(published)
    watched = Watched(sight, sight.view(slight.layout.name), Clock())
    first, _ = watched.estimates()
    found, rounds, complete = watched.successive(first)
    assert rounds
    assert complete
    assert len(watched.fits) == len(watched.sure) > 1
    (_, before), *later = watched.fits
    for number, (values, spread) in enumerate(later):
        taken = (before > 0) & (spread == 0)
        assert taken.any()
        assert (watched.sure[number][taken] >= NEARLY_CERTAIN).all()
        # All that is nearly certain is taken, and as a whole number.
        assert (spread[watched.sure[number] >= NEARLY_CERTAIN] == 0).all()
        assert values[spread == 0].tolist() == np.rint(values[spread == 0]).tolist()
        assert spread[spread > 0].tolist() == before[spread > 0].tolist()
        before = spread
    assert len(found.places) == slight.layout.cells
    # Who takes more as known is never less sure.
    assert (found.confidence >= first.confidence - 1e-9).mean() > 0.9


def test_where_nothing_is_nearly_certain_the_first_estimates_stay(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(3))
    found = attacker(hamlet, published)
    first, _ = found.estimates()
    assert first.confidence.max() < NEARLY_CERTAIN
    again, rounds, complete = found.successive(first)
    assert not rounds
    assert complete
    assert again.estimate.tolist() == first.estimate.tolist()
    assert again.confidence.tolist() == first.confidence.tolist()


# --- The attack as a whole ---


@pytest.mark.parametrize("name", ATTACKS)
def test_without_noise_everything_is_known(name: str, engine: Engine) -> None:
    release = town_release(Exact(), engine=engine)
    for finding in ATTACKS[name](sight_with_law(release)):
        assert score(finding, TrueCounts(release)).whole.achieved == 1
        assert finding.certain.all()


@pytest.mark.parametrize("name", ATTACKS)
def test_with_huge_noise_hardly_anything_is(name: str, engine: Engine) -> None:
    release = town_release(
        Coordinates(TwoSidedGeometric(epsilon=0.01), secret=SECRET, perturb_zeros=True), engine=engine
    )
    for finding in ATTACKS[name](sight_with_law(release)):
        large = {share.name: share for share in score(finding, TrueCounts(release)).by_count()}["21+"]
        assert large.achieved < 0.06
        assert finding.confidence.max() < 0.06


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize(
    "mechanism",
    [
        None,
        Fresh(PTABLE, bits=SeededBits(2)),
        Coordinates(TwoSidedGeometric(epsilon=0.7), secret=SECRET, perturb_zeros=True),
    ],
    ids=["cell keys", "fresh", "unbounded"],
)
def test_every_cell_of_every_population_is_estimated(name: str, mechanism: Mechanism | None, engine: Engine) -> None:
    told: list[tuple[str, int, int | None]] = []
    sight = replace(sight_with_law(town_release(mechanism, engine=engine)), tell=lambda *what: told.append(what))
    findings = ATTACKS[name](sight)
    assert told[-1] == (name, 2, 2)
    if name == "successive" and not findings:
        # Nothing is nearly certain: then there is nothing to go on from.
        assert (projection(sight)[0].confidence < NEARLY_CERTAIN).all()
        return
    (finding,) = findings
    assert finding.name == name
    assert len(finding.estimate) == sum(view.layout.cells for view in sight.views())
    assert finding.estimate.min() >= 0
    assert ((finding.confidence >= 0) & (finding.confidence <= 1)).all()
    assert finding.cut_off == ""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_clock_that_is_over_at_once_cuts_off_says_so_and_leaves_finite_estimates(name: str, engine: Engine) -> None:
    sight: Sight = sight_with_law(town_release(engine=engine), clock=Clock(0))
    (finding,) = ATTACKS[name](sight)
    first, second = sight.populations
    told = f"the equations of {first} and {second} were not solved to the end, cut off by the time budget of 0 s"
    assert finding.cut_off == told
    assert len(finding.estimate) == sum(view.layout.cells for view in sight.views())
    assert np.isfinite(finding.confidence).all()
    # One step is always made: the estimates are near the published counts, not wild.
    assert finding.naive is not None
    assert np.abs(finding.estimate - finding.naive).max() <= sight.noise.bound


def test_the_same_seed_gives_the_same_confidence(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(3))
    one, same, other = (
        projection(replace(hamlet.sight(published), seed=seed))[0].confidence.tolist() for seed in (1, 1, 2)
    )
    assert one == same != other


def test_successive_is_not_worse_than_one_projection_and_ends_by_itself() -> None:
    scene, random = Scene(residents(LARGE), PTable.max_entropy(variance=0.2, bound=2)), np.random.default_rng(8)
    one = again = 0
    for _ in range(40):
        sight = scene.sight(scene.publish(random))
        one += int((projection(sight)[0].estimate == scene.counts).sum())
        (finding,) = successive(sight)
        again += int((finding.estimate == scene.counts).sum())
        assert not finding.cut_off
    assert again >= one


def test_no_average_is_certain() -> None:
    assert chance_right(np.array([1e-9]))[0] < CERTAIN
    assert chance_right(np.array([0.0]))[0] == 1
