"""Bound disclosure by residuals: the prediction by brute force, and the limit for an attacker who knows the counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.noise.rival_noise import bhattacharyya
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.risk import residual_bound
from discreet.risk.assessment import assess
from discreet.risk.residual_bound import noise_terms, noise_terms_in, rivals
from tests.programme.small import programme
from tests.protection.town import SECRET, TOWN, people

SMALL = programme([("S", "A")], {"S": (2,), "A": (9,)})
NOISE = np.arange(-6, 7)


def success(p: np.ndarray, q: np.ndarray, variance: float) -> float:
    """Return the predicted success on SMALL with the leverages of equal blocks: total, sexes, ages, both."""
    # Components of 1 x 1, 1 x 8, 1 x 1, 1 x 8 degrees of freedom, each of variance 1 / (sum of 1 / N over finer ones).
    cells = {(0, 0): 1, (1, 0): 2, (0, 1): 9, (1, 1): 18}
    exponent = 0.0
    for (s, a), number in cells.items():
        ratio = 0.0
        for b, c in cells:
            if b <= s and c <= a:
                precision = sum(1 / many for (d, e), many in cells.items() if d >= b and e >= c)
                ratio += (8 if c else 1) / precision
        ratio /= number**2
        exponent += number * bhattacharyya(p, q, variance * ratio / (1 - ratio))
    shared = noise_terms(SMALL).leverages.concentration
    return 0.5 * (1 + math.erf(math.sqrt(shared * exponent)))


@pytest.mark.parametrize("shape", [{}, {"stay": 0.6}])
def test_the_measure_is_the_formula_with_the_shape_of_the_table(shape: dict[str, Any]) -> None:
    found = {each.name: each for each in assess(SMALL, variance=2, bound=5, measures=["bound"], **shape).results}
    p, q = (PTable.max_entropy(variance=2, bound=bound, **shape).large.pmf(NOISE) for bound in (5, 6))
    # The leverages are those of random probes: 0.002 one by one, and as much more together as the residuals reveal.
    shared = noise_terms(SMALL).leverages.concentration
    assert found["bound_revealed"].value == pytest.approx(success(p, q, 2), abs=2e-3 * math.sqrt(shared))
    affinity = float(np.sqrt(p * q).sum())
    limit = (1 + math.sqrt(1 - affinity**60)) / 2
    assert found["bound_revealed_if_counts_known"].value == pytest.approx(limit, rel=1e-6)
    assert found["bound_revealed"].value < limit


def test_only_what_is_proven_reads_at_most() -> None:
    words = {each.name: each.sentence for each in assess(SMALL, variance=2, bound=5, measures=["bound"]).results}
    assert "an upper bound" in words.pop("bound_revealed_if_counts_known")
    for sentence in words.values():
        assert "at most" not in sentence
        assert "cannot" not in sentence
    assert "predicted from the noise terms of 30 counts" in words["bound_revealed"]


def test_without_data_every_count_is_taken_as_large_and_that_is_stated() -> None:
    found = assess(SMALL, variance=2, bound=5, measures=["bound"]).results[0]
    assert "every published count is treated as large" in found.assumptions


def test_unbounded_noise_has_no_bound() -> None:
    assert assess(SMALL, law="geometric", epsilon=0.3, measures=["bound"]).results == ()


@pytest.mark.slow
def test_all_populations_reveal_one_bound() -> None:
    every = load_programme("src/discreet/sources/ons_sample/census.toml")
    assert len(every.populations) > 1
    terms = [noise_terms(every, populations=[name]) for name in every.populations]
    together = noise_terms(every)
    # Cells with the same participants in two universes have one noise; equations across them lower leverages.
    assert max(each.large for each in terms) < together.large <= sum(each.large for each in terms)
    law, wider = rivals(3.0, 5)
    assert together.success(law, wider) > max(each.success(law, wider) for each in terms)
    found = assess(every, variance=3, bound=5, measures=["bound"]).results[0]
    assert found.value == pytest.approx(together.success(law, wider))


def test_programmes_too_large_for_equations_have_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = programme([("A", "B")], {"A": (5,), "B": (6,)})
    for most, rule in ((41, "levels"), (42, "levels"), (41, "flat"), (42, "flat")):
        monkeypatch.setattr(residual_bound, "MOST_CELLS", most)
        residual_bound._KEPT.clear()  # noqa: SLF001
        found = noise_terms(spec, rule=rule)
        assert found.large == 42
        assert found.surrogate == (most < 42)
        assert any("equal blocks" in each for each in found.assumptions) == found.surrogate
    residual_bound._KEPT.clear()  # noqa: SLF001


@pytest.mark.parametrize("bound", [2, 5, 9])
@pytest.mark.parametrize("confidence", [0.55, 0.6827, 0.95])
def test_the_largest_variance_is_the_edge(bound: int, confidence: float) -> None:
    terms = noise_terms(programme([("S", "A", "B")], {"S": (2,), "A": (9,), "B": (4, 20)}))
    found = terms.largest_variance(bound, confidence)
    room = bound * (bound + 1) / 3
    assert 0 < found <= room
    assert terms.success(*rivals(found * 0.9999, bound)) < confidence
    assert found == room or terms.success(*rivals(found * 1.0001, bound)) > confidence


def test_a_release_counts_large_cells_by_what_is_published() -> None:
    release = protect(people(3000), TOWN, CellKey(PTable.max_entropy(variance=2, bound=3), secret=SECRET), id="ID")
    found = noise_terms_in(release)
    assert found.from_data
    assert found.published == noise_terms(TOWN).large
    assert 0 < found.large < found.published
    by_release, *_ = assess(release, measures=["bound"]).results
    by_programme, *_ = assess(TOWN, measures=["bound"], variance=2, bound=3).results
    assert 0.5 <= by_release.value < by_programme.value
    assert f"{found.large:,} of {found.published:,} noise terms belong to counts" in by_release.assumptions[0]


def test_the_maximum_entropy_rival_has_one_more() -> None:
    law, wider = rivals(3.0, 5)
    assert (law, wider) == (MaxEntropy(variance=3.0, bound=5), MaxEntropy(variance=3.0, bound=6))
