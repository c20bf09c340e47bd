"""The optimal linear attack against dense least squares, with known totals and zeros that count like other values."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.attack_estimates import CERTAIN, nearest_possible
from discreet.attacks.averaging_attack import averaging, chance_right
from discreet.attacks.posterior_projection_attack import posterior_projection
from discreet.attacks.projection_attack import Projection, projection
from discreet.attacks.scoring import TrueCounts, score
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from tests.attacks.scenes import (
    LARGE,
    PTABLE,
    SMALL,
    SPARSE,
    Scene,
    cells_by_hand,
    informed_attacker,
    residents,
    town_release,
)
from tests.protection.town import SECRET, people

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism

ATTACKS = {"projection": projection, "posterior-projection": posterior_projection}


@pytest.fixture(scope="module", params=["cell-key", "coordinates", "fresh"])
def hamlet(request: pytest.FixtureRequest) -> Scene:
    return Scene(residents(LARGE), mechanism=request.param)


def projection_of(scene: Scene, published: Floats, **knowledge: object) -> Projection:
    attacker = scene.attacker(published, **knowledge)
    return Projection(attacker, attacker.units()[0])


def raw(scene: Scene, published: Floats) -> Floats:
    """Return the estimates of all cells, not rounded."""
    return projection_of(scene, published).fitted


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
    if not scene.spsn:
        # Every table has noise of its own. An area that is not split again is a row of the coarser statistic, which
        # every table with the finer one shows as well.
        shown = scene.layout.lattice.tables[scene.layout.equations.statistics]
        times = shown[scene.layout.statistic_of[first]].astype(float)
    root = np.sqrt(times)
    found = np.linalg.lstsq(rows * root[:, None], published[first] * root, rcond=1e-10)[0]
    estimate: Floats = matrix @ found
    return estimate


def test_it_is_dense_least_squares(hamlet: Scene) -> None:
    for seed in range(3):
        published = hamlet.publish(np.random.default_rng(seed))
        found = raw(hamlet, published)
        # The gaps fall to a ten-thousandth of what they were.
        assert found == pytest.approx(dense(hamlet, published), abs=5e-3)
        assert np.abs(found - published).max() > 0.5
        (finding,) = projection(hamlet.attacker(published))
        assert finding.estimate.tolist() == nearest_possible(found, published, hamlet.belief).tolist()


def test_cells_of_the_same_persons_get_one_estimate() -> None:
    scene = Scene(residents(LARGE), mechanism="coordinates")
    found = raw(scene, scene.publish(np.random.default_rng(1)))
    _, place = np.unique(scene.groups, return_inverse=True)
    pairs = [np.flatnonzero(place == group) for group in range(place.max() + 1)]
    assert sum(len(pair) > 1 for pair in pairs) >= 3
    for pair in pairs:
        assert np.ptp(found[pair]) < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize(("variance", "fits"), [(2.0, True), (2.6, False)])
def test_errors_over_many_releases_are_as_large_as_the_equations_say(variance: float, fits: bool) -> None:
    scene = Scene(residents(LARGE), mechanism="coordinates")
    more = Scene(scene.persons, PTable.max_entropy(variance=variance, bound=5), "coordinates")
    equations = scene.layout.equations
    rows = np.array([equations.row(place) for place in range(equations.cells)])
    said = 2.0 * ((equations.spread * rows) ** 2).sum(axis=1).mean()
    random, runs = np.random.default_rng(6), 120
    errors = [raw(scene, more.publish(random)) - scene.counts for _ in range(runs)]
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
    found = projection_of(hamlet, published, known={(layout.name, name): true})
    values, spread = found.start
    assert values[cells].tolist() == true.tolist()
    assert not spread[cells].any()
    fitted = found.fitted
    assert fitted[cells].tolist() == true.tolist()
    total = layout.equations.place(layout.lattice.position("total"))
    assert fitted[total] == pytest.approx(true.sum(), abs=5e-3)
    (estimates,) = found.estimates(fitted, found.confidence)
    assert set(range(cells.start, cells.stop)).isdisjoint(estimates.places.tolist())
    plain = projection_of(hamlet, published)
    assert estimates.confidence.mean() > plain.confidence[estimates.places].mean()
    assert estimates.confidence[estimates.places.tolist().index(total)] == pytest.approx(1, abs=2e-6)


def test_known_totals_of_another_population_change_nothing(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(7))
    known = {("dwellings", "total"): np.array([5.0])}
    one, other = (projection_of(hamlet, published, **more).fitted for more in ({}, {"known": known}))
    assert one.tolist() == other.tolist()


def test_that_totals_are_known_is_said(hamlet: Scene) -> None:
    known = {(hamlet.layout.name, "total"): hamlet.counts[:1].astype(float)}
    published = hamlet.publish(np.random.default_rng(7))
    with_them, without = (projection(hamlet.attacker(published, **more))[0] for more in ({"known": known}, {}))
    assert any("given as known" in text for text in with_them.assumptions)
    assert not any("given as known" in text for text in without.assumptions)


# --- Zeros ---


def test_zeros_weigh_like_any_other_value() -> None:
    # An estimate is the same sum of published values whatever they are: weights do not depend on the noise.
    scene = Scene(residents(SMALL), given=SPARSE)
    first, second = (scene.publish(np.random.default_rng(seed)) for seed in (1, 2))
    assert (first == 0).sum() > 10
    assert ((first == 0) != (second == 0)).any()
    both = raw(scene, first) + raw(scene, second)
    assert raw(scene, first + second) == pytest.approx(both, abs=0.02)


def test_the_confidence_is_that_of_a_normal_error(hamlet: Scene) -> None:
    found = projection_of(hamlet, hamlet.publish(np.random.default_rng(2)))
    equations = hamlet.layout.equations
    rows = np.array([equations.row(place) for place in range(equations.cells)])
    if hamlet.spsn:
        by_unknown = np.array([np.bincount(equations.unknowns, row) for row in rows])
        exact = (by_unknown**2).sum(axis=1)
    else:
        exact = ((equations.spread * rows) ** 2).sum(axis=1)
    right, wrong = (chance_right(factor * hamlet.belief.variance * exact).mean() for factor in (1, 1.3))
    # Four probes of 60 cells, and the closed form for equal blocks.
    assert found.confidence.mean() == pytest.approx(right, abs=0.03)
    assert found.confidence.mean() != pytest.approx(wrong, abs=0.03)


# --- The attack as a whole ---


@pytest.mark.parametrize("name", ATTACKS)
def test_without_noise_everything_is_known(name: str, engine: Engine) -> None:
    release = town_release(Exact(), engine=engine)
    for finding in ATTACKS[name](informed_attacker(release)):
        assert score(finding, TrueCounts(release)).whole.achieved == 1
        assert finding.certain.all()


@pytest.mark.parametrize("name", ATTACKS)
def test_with_huge_noise_hardly_anything_is(name: str, engine: Engine) -> None:
    release = town_release(
        Coordinates(TwoSidedGeometric(epsilon=0.01), secret=SECRET, perturb_zeros=True), engine=engine
    )
    for finding in ATTACKS[name](informed_attacker(release)):
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
    reported: list[tuple[str, int, int | None]] = []
    attacker = replace(
        informed_attacker(town_release(mechanism, engine=engine)), progress=lambda *what: reported.append(what)
    )
    findings = ATTACKS[name](attacker)
    assert reported[-1] == (name, 1, 1)
    (finding,) = findings
    assert finding.name == name
    # All cells except those that the universe excludes.
    assert len(finding.estimate) == sum(int((unit.equations.spread > 0).sum()) for unit in attacker.units())
    assert finding.estimate.min() >= 0
    assert ((finding.confidence >= 0) & (finding.confidence <= 1)).all()
    assert finding.cut_off == ""


def shifted(ptable: PTable, by: int) -> PTable:
    """Return a p-table with a constant added to the noise of every count above 0."""
    moved = [replace(row, values=tuple(value + by for value in row.values)) for row in ptable.rows[1:]]
    return PTable((ptable.rows[0], *moved), ptable.key_space)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ATTACKS, "averaging"])
def test_a_constant_bias_protects_nobody(name: str, engine: Engine) -> None:
    right = []
    for ptable in (PTABLE, shifted(PTABLE, 3)):
        found = []
        for secret in (b"one secret for this test", b"and another one beside it"):
            release = town_release(CellKey(ptable, secret=secret), engine=engine, data=people(3000))
            attacker, truth = informed_attacker(release), TrueCounts(release)
            finding = ({**ATTACKS, "averaging": averaging}[name])(attacker)[-1]
            actual = finding.actual(truth)
            found.append((finding.estimate == actual)[actual > 0].mean())
        right.append(np.mean(found))
    # The keys are the same: what was published is the same but for the bias, and small counts that it moved to 0.
    assert right[1] > right[0] - 0.01


def test_the_same_seed_gives_the_same_confidence(hamlet: Scene) -> None:
    published = hamlet.publish(np.random.default_rng(3))
    one, same, other = (
        projection(replace(hamlet.attacker(published), seed=seed))[0].confidence.tolist() for seed in (1, 1, 2)
    )
    assert one == same != other


def test_no_average_is_certain() -> None:
    assert chance_right(np.array([1e-9]))[0] < CERTAIN
    assert chance_right(np.array([0.0]))[0] == 1
