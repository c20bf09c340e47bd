"""The bound inferred from residuals: as often as predicted, on counts that are certainly large."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks import residual_attack
from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import (
    AssumedNoise,
    AttackerKnowledge,
    AttackerView,
    PopulationCounts,
    attacker_view,
    noise_from_record,
)
from discreet.attacks.bound_attack import bound
from discreet.attacks.residual_attack import large_residuals
from discreet.equations.residual_terms import concentration, steady_leverages
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.tabulation.cell_vector import layouts
from tests.protection.town import SECRET, TOWN, people
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.arrays import Floats
    from discreet.engines.engine import Engine
    from discreet.release.release import Release
    from discreet.tabulation.cell_vector import CellVector

SEX = topic("SEX", "F M")


def noise_within(bound_: int, variance: float) -> AssumedNoise:
    law = MaxEntropy(variance=variance, bound=bound_).pmf(np.arange(-bound_, bound_ + 1))
    return AssumedNoise((law,), variance, float(bound_), shared="participants")


def computed_once(take: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that gives its first answer again."""
    found: list[Any] = []

    def taken(*arguments: object) -> Any:  # noqa: ANN401 - of any function
        if not found:
            found.append(take(*arguments))
        return found[0]

    return taken


def equal_counts(layout: CellVector) -> Floats:
    """Return counts that add up, 100 in every finest cell."""
    cells = layout.lattice.cells[layout.equations.statistics]
    return np.repeat(100 * cells.max() / cells, cells.astype(int))


@pytest.mark.slow
@pytest.mark.parametrize("releases", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_the_bound_is_identified_as_often_as_predicted(releases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both bounds are drawn equally often, as the prediction has it."""
    # Both depend on the equations alone, which all releases share.
    for take in (concentration, steady_leverages):
        monkeypatch.setattr(residual_attack, take.__name__, computed_once(take))
    area, age = (
        topic(name, " ".join(f"{name[0]}{n}" for n in range(size))) for name, size in (("AREA", 30), ("LIFE", 8))
    )
    given = programme([area, age, SEX], [by(area), by(age), by(SEX)])
    (layout,) = layouts(given, spsn=True).values()
    counts = equal_counts(layout)
    random, hits, predicted = np.random.default_rng(8), [], []
    for actual in [4, 5] * releases:
        law = noise_within(actual, 6.0).laws[0]
        published = counts + random.choice(np.arange(-actual, actual + 1), layout.cells, p=law)
        # What is known of the noise is the same in both cases.
        attacker = AttackerView(given, {}, lambda _: None, AttackerKnowledge(noise=noise_within(4, 6.0)))
        for what in ("view", "unit"):
            attacker.once(what, layout.name, lambda published=published: PopulationCounts(layout, published))  # type: ignore[misc]
        found = next(each for each in bound(attacker) if each.variant == "residuals")
        hits.append(found.estimate[0] == actual)
        predicted.append(found.predicted["21+"])
    assert np.std(predicted) == pytest.approx(0, abs=1e-9)
    assert predicted[0] > 0.6
    assert np.mean(hits) == pytest.approx(predicted[0], abs=3 * np.sqrt(0.25 / len(hits)))


@pytest.fixture(scope="module")
def release(engine: Engine) -> Release:
    ptable = PTable.max_entropy(variance=2, bound=3)
    return protect(people(3000), TOWN, CellKey(ptable, secret=SECRET), id="ID", keep_exact=True, engine=engine)


def test_the_attack_reports_its_prediction(release: Release) -> None:
    (outcome,) = [each for each in attack(release, attacks=["bound"]).outcomes if each.finding.variant == "residuals"]
    assert outcome.score
    assert outcome.finding.estimate[0] in {2, 3, 4}
    assert 0.5 <= outcome.headline().predicted < 1  # type: ignore[operator]
    assert "Predicted probability of success: 0." in outcome.sentence


def test_the_size_of_the_noise_is_measured_where_it_is_not_known(release: Release) -> None:
    outcomes = attack(release, attacks=["bound"], public_only=True).outcomes
    (outcome,) = [each for each in outcomes if each.finding.variant == "residuals"]
    assert outcome.headline().predicted is None
    assert outcome.finding.estimate[0] >= 2


def test_residuals_have_the_variance_of_the_model() -> None:
    area, age = (
        topic(name, " ".join(f"{name[0]}{n}" for n in range(size))) for name, size in (("AREA", 30), ("LIFE", 9))
    )
    given = programme([area, age, SEX], [by(area), by(age), by(SEX)])
    (layout,) = layouts(given, spsn=True).values()
    law = noise_within(5, 3.0).laws[0]
    published = equal_counts(layout) + np.random.default_rng(1).choice(np.arange(-5, 6), layout.cells, p=law)
    attacker = AttackerView(given, {}, lambda _: None, AttackerKnowledge(noise=noise_within(5, 3.0)))
    attacker.once("unit", layout.name, lambda: PopulationCounts(layout, published))
    found = large_residuals(attacker, 6)
    seen, leverage = found.values, found.leverage
    assert len(seen) == layout.cells
    assert (seen**2 * (1 - leverage)).mean() == pytest.approx(3.0, rel=4 * np.sqrt(2 / len(seen)))


@pytest.mark.slow
def test_residuals_do_not_depend_on_a_constant_bias(engine: Engine) -> None:
    ptable = PTable.max_entropy(variance=2, bound=4)
    moved = [replace(row, values=tuple(value + 2 for value in row.values)) for row in ptable.rows[1:]]
    seen = []
    for each in (ptable, PTable((ptable.rows[0], *moved), ptable.key_space)):
        release = protect(people(3000), TOWN, CellKey(each, secret=SECRET), id="ID", engine=engine)
        attacker = attacker_view(release, AttackerKnowledge(noise=noise_from_record(release.record)))
        seen.append(large_residuals(attacker, 9).values)
    # The bias is part of the noise that a residual shows; counts that it moves to 0 change others a little.
    assert len(seen[0]) == len(seen[1]) > 20
    assert np.abs(seen[1] - seen[0] - 2).mean() < 0.1
