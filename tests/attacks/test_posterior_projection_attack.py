"""Method C against plain least squares over many secrets: what is recovered, totals without bias, honest confidence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.averaging_attack import averaging
from discreet.attacks.posterior_projection_attack import (
    FEWEST_CELLS,
    HIGHEST_LEVERAGE,
    LEAST_VARIANCE,
    PosteriorProjection,
    posterior_projection,
)
from discreet.attacks.projection_attack import Projection, projection
from discreet.attacks.scoring import score
from tests.attacks.releases import luxembourg, ons_file, published, sparse_file
from tests.attacks.scenes import SMALL, SPARSE, Scene, residents
from tests.quick import rows_in

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.attacks.scoring import Score
    from tests.attacks.releases import Data

ALL_SECRETS = "ONS, all secrets"
DATA = {"ONS": ons_file, ALL_SECRETS: ons_file, "sparse": sparse_file}
FILES = rows_in(5, [("sparse", 3.0), ("ONS", 2.0), ("ONS", 3.0), (ALL_SECRETS, 2.0), ("sparse", 2.0)])
SECRETS, TOTALS = 5, 20
FEW_SECRETS = 2
"""Of the large file in quick runs; the slow tests try all."""
ESTIMATED_COUNTS = 0.02
"""How far confidence may be off because the counts of the simulated release are estimates."""


def scores(data: Data, variance: float, secrets: int) -> dict[str, list[Score]]:
    """Return the scores of attacks on releases with different secrets, by attack."""
    found: dict[str, list[Score]] = {}
    for attacker, truth in published(data, variance, secrets):
        findings = [*projection(attacker), *posterior_projection(attacker), *averaging(attacker)]
        for finding in findings:
            found.setdefault(finding.name, []).append(score(finding, truth))
    return found


@cache
def of_file(name: str, variance: float) -> dict[str, list[Score]]:
    return scores(DATA[name](), variance, FEW_SECRETS if (name, variance) == ("ONS", 2.0) else SECRETS)


def percent(found: list[Score], *, all_cells: bool) -> float:
    """Return the mean share of counts that are right, in percent."""
    shares = [each.whole.achieved if all_cells else each.occupied.achieved for each in found]
    return 100 * float(np.mean(shares))


def percent_read(found: list[Score], *, all_cells: bool) -> float:
    """Return the mean share of counts that are published as they are."""
    shares = [each.whole if all_cells else each.occupied for each in found]
    return 100 * float(np.mean([(share.naive or 0) / share.cells for share in shares]))


# --- What is recovered ---


@pytest.mark.parametrize("all_cells", [False, True])
@pytest.mark.parametrize(("name", "variance"), FILES)
def test_posteriors_recover_half_a_point_more_than_least_squares(name: str, variance: float, all_cells: bool) -> None:
    found = of_file(name, variance)
    plain, improved = (percent(found[each], all_cells=all_cells) for each in ("projection", "posterior-projection"))
    assert improved >= plain + 0.5


@pytest.mark.parametrize("all_cells", [False, True])
@pytest.mark.parametrize("variance", [2.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_least_squares_recover_more_than_averages_and_these_more_than_reading(variance: float, all_cells: bool) -> None:
    found = of_file("ONS", variance)
    read = percent_read(found["projection"], all_cells=all_cells)
    averaged = percent(found["averaging: inverse variance"], all_cells=all_cells)
    assert read <= averaged <= percent(found["projection"], all_cells=all_cells)


@pytest.mark.parametrize("variance", [3.0, pytest.param(2.0, marks=pytest.mark.slow)])
def test_so_do_those_of_a_sparse_release_on_counts_above_0(variance: float) -> None:
    # On all cells reading wins there: whatever is published as 0 is mostly empty, and least squares do not know it.
    found = of_file("sparse", variance)
    read = percent_read(found["projection"], all_cells=False)
    averaged = percent(found["averaging: inverse variance"], all_cells=False)
    assert read <= averaged <= percent(found["projection"], all_cells=False)


@pytest.mark.parametrize(
    ("variance", "plain", "improved"),
    [(2.0, 45.9, 47.5), pytest.param(3.0, 39.2, 41.2, marks=pytest.mark.slow)],
)
def test_ons_figures_are_those_of_an_independent_computation(variance: float, plain: float, improved: float) -> None:
    # Fresh secrets, another implementation.
    found = of_file("ONS", variance)
    assert percent(found["projection"], all_cells=False) > plain - 0.8
    assert percent(found["posterior-projection"], all_cells=False) > improved - 0.8


def test_cells_that_are_one_unknown_count_once() -> None:
    (first, *_) = of_file("ONS", 2.0)["projection"]
    assert first.occupied.cells == 11_753
    assert int((first.actual != 0).sum()) == 13_415


@pytest.mark.slow
@pytest.mark.parametrize(("variance", "plain", "improved"), [(2.0, 49.5, 53.0), (3.0, 43.9, 47.7)])
def test_luxembourg(variance: float, plain: float, improved: float, tmp_path: Path) -> None:
    found = scores(luxembourg(tmp_path), variance, SECRETS)
    for all_cells in (False, True):
        read = percent_read(found["projection"], all_cells=all_cells)
        shares = [
            percent(found[name], all_cells=all_cells)
            for name in ("averaging: inverse variance", "projection", "posterior-projection")
        ]
        assert [read, *shares] == sorted([read, *shares])
    # Those of another implementation, on releases with other secrets.
    assert percent(found["projection"], all_cells=False) > plain - 0.8
    assert percent(found["posterior-projection"], all_cells=False) > improved - 1


# --- Totals ---


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sparse", pytest.param("ONS", marks=pytest.mark.slow)])
def test_totals_are_without_bias(name: str) -> None:
    errors: dict[str, list[float]] = {}
    for attacker, truth in published(DATA[name](), 3.0, TOTALS):
        for number, view in enumerate(attacker.units()):
            total = view.views[0].layout.equations.place(view.views[0].layout.lattice.position("total"))
            fits = {
                "plain": Projection(attacker, view).fitted,
                "posteriors": PosteriorProjection(attacker, view).fitted,
            }
            for kind, fitted in fits.items():
                error = fitted[total] - truth.counts(view.name)[total]
                errors.setdefault(f"{kind} {number}", []).append(float(error))
    assert len(errors) == 2 * len(attacker.units())
    for each in errors.values():
        assert abs(np.mean(each)) < 3 * np.std(each, ddof=1) / len(each) ** 0.5


# --- The step, by hand ---


def test_sites_are_those_of_the_six_steps() -> None:
    attacker, _ = next(published(sparse_file(), 3.0, 1))
    (view,) = attacker.units()
    projected = PosteriorProjection(attacker, view)
    values, precision = projected.sites()
    noise, cells = attacker.noise, np.bincount(view.statistic_of)
    checked = 0
    for place in np.random.default_rng(2).choice(len(values), 400, replace=False).tolist():
        y, x = view.published[place], projected.plain.fitted[place]
        if y > 10 or cells[view.statistic_of[place]] < FEWEST_CELLS:
            assert (values[place], precision[place]) == (y, pytest.approx(1 / 3))
            continue
        h = min(projected.plain.leverages[place], HIGHEST_LEVERAGE)
        m, v = (x - h * y) / (1 - h), 3 * h / (1 - h)
        counts = np.arange(max(0, int(y) - 5), int(y) + 6)
        weight = np.array([noise.laws[min(n, len(noise.laws) - 1)][noise.reach + int(y) - n] for n in counts.tolist()])
        weight = weight * np.exp(-((counts - m) ** 2) / (2 * v))
        weight /= weight.sum()
        t = weight @ counts
        s = max(weight @ (counts - t) ** 2, LEAST_VARIANCE)
        w = np.clip(1 / s - 1 / v, 1 / 12, 50)
        assert precision[place] == pytest.approx(w)
        assert values[place] == pytest.approx(t if w == 1 / 12 else (t / s - m / v) / w, abs=1e-9)
        checked += 1
    assert checked > 200


def test_small_statistics_stay_at_the_plain_projection() -> None:
    attacker, _ = next(published(sparse_file(), 3.0, 1))
    (view,) = attacker.units()
    projected = PosteriorProjection(attacker, view)
    few = (np.bincount(view.statistic_of) < FEWEST_CELLS)[view.statistic_of]
    assert 0 < few.sum() < len(few)
    assert projected.fitted[few].tolist() == projected.plain.fitted[few].tolist()
    assert np.abs(projected.fitted - projected.plain.fitted)[~few].max() > 0.5
    assert view.equations.project(projected.fitted).values == pytest.approx(projected.fitted, abs=0.01)


# --- Confidence ---


def off_by(found: list[Score]) -> list[float]:
    """Return by how much the share right exceeds the confidence, in four bins of the confidence."""
    sure = np.concatenate([each.finding.confidence[each.once] for each in found])
    right = np.concatenate([each.right[each.once] for each in found])
    ends = np.quantile(sure, [0, 0.25, 0.5, 0.75, 1.0])
    bins = np.clip(np.searchsorted(ends, sure, side="right") - 1, 0, 3)
    return [float(right[bins == number].mean() - sure[bins == number].mean()) for number in range(4)]


@pytest.mark.parametrize(("name", "variance"), FILES)
def test_the_confidence_is_what_is_achieved(name: str, variance: float) -> None:
    found = of_file(name, variance)["posterior-projection"]
    # The binomial standard error of the release and of the simulated one, whose counts are themselves estimates.
    cells = sum(int(each.once.sum()) for each in found)
    error = np.sqrt(2 * 0.25 / cells)
    assert max(abs(gap) for gap in off_by(found)) < ESTIMATED_COUNTS + 3 * 2 * error
    sure, right = (np.mean([getattr(each.whole, what) for each in found]) for what in ("confidence", "achieved"))
    assert abs(sure - right) < ESTIMATED_COUNTS + 3 * error


@pytest.mark.parametrize("variance", [2.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_the_confidence_of_the_plain_projection_would_not_do(variance: float) -> None:
    assert max(abs(gap) for gap in off_by(of_file("ONS", variance)["projection"])) > 0.15


def test_noise_by_coordinates_and_fresh_noise_are_attacked_as_well() -> None:
    for mechanism in ("coordinates", "fresh"):
        scene = Scene(residents(SMALL), mechanism=mechanism, given=SPARSE)
        attacker = scene.attacker(scene.publish(np.random.default_rng(1)))
        (finding,) = posterior_projection(attacker)
        assert len(finding.estimate) == scene.layout.cells
        assert np.isfinite(finding.confidence).all()
