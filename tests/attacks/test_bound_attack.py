"""The bound inferred from additive tuples: worked by hand, success as predicted, and calibrated confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.additive_tuples import additive_tuples, same_cells, single_noises
from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import (
    AssumedNoise,
    AttackerKnowledge,
    AttackerView,
    PopulationCounts,
    attacker_view,
    noise_from_disclosure,
)
from discreet.attacks.bound_attack import Candidates, TupleGaps, bound, bound_curve, shown_chance, tails
from discreet.attacks.scoring import score
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.by_count import transition_matrix
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from discreet.tabulation.cell_vector import layouts
from tests.cli.town import few_rounds
from tests.protection.town import SECRET, TOWN, people
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.programme.model import Programme
    from discreet.tabulation.cell_vector import CellVector

SEX = topic("SEX", "F M")
DISCLOSED = {"typical_noise": 1.4, "method": "random noise with cell keys", "same_count_same_noise": True}


@pytest.fixture(scope="module", autouse=True)
def _few_rounds() -> Iterator[None]:
    """Take little time for residuals, which are tested elsewhere."""
    with few_rounds():
        yield


def areas(number: int) -> Programme:
    """Return a programme of some areas by sex, with all totals."""
    area = topic("AREA", " ".join(f"a{n}" for n in range(number)))
    return programme([area, SEX], [by(area), by(SEX)])


def uniform(reach: int, shared: str = "participants") -> AssumedNoise:
    """Return uniform noise on every count."""
    size = 2 * reach + 1
    return AssumedNoise((np.full(size, 1 / size),), reach * (reach + 1) / 3, float(reach), shared=shared)


@dataclass(frozen=True, eq=False)
class Real:
    """The true values that these tests use."""

    bound: float


def right(attacker: AttackerView, actual: float) -> bool:
    found = bound_curve(attacker)
    return found is not None and found.last.limit == actual


def seen(given: Programme, layout: CellVector, published: Floats, **more: Any) -> AttackerView:  # noqa: ANN401 - as in AttackerView
    """Return what is seen of published cells that are given in the order of their layout."""
    attacker = AttackerView(given, more.pop("disclosed", {}), no_files, **more)
    for what in ("view", "unit"):
        attacker.once(what, layout.name, lambda: PopulationCounts(layout, published))
    return attacker


def no_files(table: str) -> pa.Table:
    raise AssertionError(f"table {table} was read")


def by_hand(cells: dict[tuple[str, str], int]) -> pa.Table:
    """Return a table of areas by sex."""
    area, sex = zip(*cells, strict=True)
    return pa.table({"AREA": area, "SEX": sex, "value": list(cells.values())})


# --- Worked by hand ---

PUBLISHED = {
    ("a0", "F"): 30,
    ("a0", "M"): 40,
    ("a0", "_T"): 79,
    ("a1", "F"): 31,
    ("a1", "M"): 20,
    ("a1", "_T"): 50,
    ("_T", "F"): 60,
    ("_T", "M"): 60,
    ("_T", "_T"): 125,
}
"""Gaps by sex -9, 1 and -5, and by area 1, 0 and 4: the widest implies a bound of 3."""


def hand_made(**more: Any) -> AttackerView:  # noqa: ANN401 - as in AttackerView
    return AttackerView(areas(2), more.pop("disclosed", {}), lambda _: by_hand(PUBLISHED), **more)


def test_the_widest_gap_is_the_limit() -> None:
    attacker = hand_made(knowledge=AttackerKnowledge(noise=uniform(3)))
    (view,) = attacker.views()
    found = additive_tuples(view, same_cells(view, attacker.noise), 2)
    assert sorted(found.gaps.tolist()) == sorted([-9, 1, -5, 1, 0, 4])
    assert sorted(found.smallest.tolist()) == sorted([30, 20, 60, 30, 20, 50])
    curve = bound_curve(attacker)
    assert curve
    assert (curve.last.tuples, curve.last.limit) == (6, 3)
    # p1 = 20 / 7^3 for uniform noise.
    assert curve.predicted == pytest.approx(1 - (1 - 20 / 343) ** 6)


def test_the_finding_is_one_sentence_that_holds() -> None:
    found, *_ = bound(hand_made(knowledge=AttackerKnowledge(noise=uniform(3))))
    assert (found.attack, found.subject, found.estimate.tolist()) == ("bound", "the noise bound", [3])
    larger, *_ = bound(hand_made(knowledge=AttackerKnowledge(noise=uniform(6))))
    assert found.sentence
    for actual, verdict in ((3, "This is correct"), (4, "The actual bound is larger")):
        words = found.sentence(score(found, cast("Truth", Real(actual))))
        assert words.startswith(f"The noise bound is inferred as 3 with confidence {found.confidence[0]:.0%} from 6 ")
        assert f"suffice. {verdict}. Predicted probability of revealing the bound: " in words
    # Noise within 6 would rarely keep all gaps within 9: the attacker infers 3 with low confidence.
    assert larger.estimate.tolist() == [3]
    assert larger.confidence[0] < found.confidence[0] == 1


def test_a_curve_goes_up_to_all_tuples_and_its_limit_never_falls() -> None:
    curve = bound_curve(hand_made(disclosed={**DISCLOSED, "bound": "not more than about 5"}))
    assert curve
    assert curve.predicted is None
    used = [point.tuples for point in curve.points]
    limits = [point.limit for point in curve.points]
    assert used == sorted(set(used))
    assert used[-1] == 6
    assert limits == sorted(limits)
    first = next(point for point in curve.points if point.tuples == curve.reached)
    assert first.limit == limits[-1] == 3
    assert all(point.limit < 3 for point in curve.points if point.tuples < curve.reached)
    assert all(0 <= point.confidence <= 1 for point in curve.points)
    again = bound_curve(hand_made(disclosed={**DISCLOSED, "bound": "not more than about 5"}))
    assert again == curve


def test_of_unbounded_noise_and_of_no_tuples_nothing_is_said() -> None:
    assert bound(hand_made(disclosed=DISCLOSED)) == []
    assert bound(hand_made(knowledge=AttackerKnowledge(noise=replace(uniform(3), bound=math.inf)))) == []
    lonely = programme([SEX], [by(SEX, total=False)])
    table = pa.table({"SEX": ["F", "M"], "value": [3, 4]})
    assert bound(AttackerView(lonely, {}, lambda _: table, AttackerKnowledge(noise=uniform(3)))) == []


# --- Success as predicted by the formula ---


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("law", [[0.3, 0.4, 0.3], [0.1, 0.2, 0.4, 0.05, 0.25], [0.5, 0.0, 0.5]])
def test_tails_are_those_of_all_combinations(law: list[float], size: int) -> None:
    reach = len(law) // 2
    chance = np.zeros(reach + 1)
    for drawn in product(range(-reach, reach + 1), repeat=size + 1):
        gap = sum(drawn[:-1]) - drawn[-1]
        weight = math.prod(law[x + reach] for x in drawn)
        chance += weight * (abs(gap) > (size + 1) * np.arange(reach + 1))
    assert tails(np.array(law), size) == pytest.approx(chance)


def test_uniform_noise_and_the_paper() -> None:
    for reach in (1, 2, 3, 7):
        assert tails(uniform(reach).laws[0], 2)[reach - 1] == pytest.approx(20 / (2 * reach + 1) ** 3)
    law = MaxEntropy(variance=2, bound=5).pmf(np.arange(-5, 6))
    assert tails(law, 2)[4] == pytest.approx(1.52e-7, rel=5e-3)


@pytest.mark.slow
def test_the_bound_is_found_as_often_as_predicted() -> None:
    """Accepts the formula; rejects p1 that is 30 % off."""
    number, reach, times = 15, 3, 1000
    given_, noise, random = areas(number), uniform(reach), np.random.default_rng(5)
    (layout,) = layouts(given_, spsn=True).values()
    hits = []
    for _ in range(times):
        finest = np.full((number, 2), 1000.0)
        statistics = {
            (1, 1): finest,
            (1, 0): finest.sum(axis=1),
            (0, 1): finest.sum(axis=0),
            (0, 0): finest.sum(),
        }
        published = np.zeros(layout.cells)
        for statistic in layout.equations.statistics.tolist():
            a, b = (int(depth) for depth in layout.lattice.depths[statistic].tolist())
            published[layout.equations.cells_of(statistic)] = np.ravel(statistics[a, b])
        published += random.integers(-reach, reach + 1, layout.cells)
        hits.append(right(seen(given_, layout, published, knowledge=AttackerKnowledge(noise=noise)), reach))
    achieved, error = np.mean(hits), np.std(hits) / times**0.5
    tuples = number + 1

    def formula(p1: float) -> float:
        return float(1 - (1 - p1) ** tuples)

    p1 = 20 / (2 * reach + 1) ** 3
    assert abs(achieved - formula(p1)) < 4 * error
    for off in (0.7, 1.3):
        assert abs(achieved - formula(off * p1)) > 4 * error
    gaps = TupleGaps(np.full(tuples, 2), np.zeros(tuples, dtype=np.int64), np.full(tuples, 1000.0))
    assert shown_chance(noise, gaps) == pytest.approx(formula(p1))
    # Tuples of small counts have other laws and do not enter.
    assert shown_chance(noise, replace(gaps, smallest=np.full(tuples, 2.0 * reach))) == 0


# --- Calibrated confidence ---


def test_confidence_is_the_share_that_is_right_if_all_bounds_are_equally_likely() -> None:
    disclosed = {**DISCLOSED, "bound": "not more than about 5"}
    # Of all sizes disclosed as 1.4, that of the distributions below.
    noise, random = replace(noise_from_disclosure(disclosed), variance=1.96), np.random.default_rng(3)
    candidates = Candidates(noise, 4)
    laws = {bound: MaxEntropy(variance=1.96, bound=bound).pmf(np.arange(-bound, bound + 1)) for bound in (2, 3, 4)}
    tuples, hits, sure = 40, [], []
    for _ in range(900):
        actual = int(random.integers(2, 5))
        x = random.choice(np.arange(-actual, actual + 1), (tuples, 3), p=laws[actual])
        gaps = TupleGaps(np.full(tuples, 2), x[:, 0] + x[:, 1] - x[:, 2], np.full(tuples, 100.0))
        limit = int(gaps.limits.max())
        hits.append(limit == actual)
        sure.append(candidates.confidence(limit, gaps))
    difference = np.array(hits) - np.array(sure)
    error = difference.std() / len(hits) ** 0.5
    assert abs(difference.mean()) < 4 * error
    # The test has power: confidences a third off are refused, and they are neither all alike nor all sure.
    assert abs(np.mean(hits) - 1.3 * np.mean(sure)) > 4 * error
    assert np.std(sure) > 0.03


def test_confidence_without_large_tuples_is_a_guess_among_what_is_possible() -> None:
    noise = replace(uniform(6), variance=2.0)
    none = TupleGaps(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    assert Candidates(noise, 6).confidence(3, none) == 1 / 4
    assert Candidates(noise, 6).confidence(6, none) == 1
    # Beyond MOST_CANDIDATES bounds are counted, not computed.
    assert Candidates(noise, 1002).confidence(3, none) == 1 / 1000


@pytest.mark.parametrize("stay", [0.0, 0.6])
def test_other_bounds_have_the_shape_of_a_noise_that_is_known(stay: float) -> None:
    known = transition_matrix(PTable.max_entropy(variance=2, bound=5, stay=stay))
    noise = AssumedNoise(known.laws, known.variance, known.bound, settings=known.settings, shared="participants")
    for other in (4, 6):
        expected = PTable.max_entropy(variance=2, bound=other, stay=stay).large.pmf(np.arange(-other, other + 1))
        assert Candidates(noise, 6).law(other) == pytest.approx(expected, abs=1e-9)


def test_a_bound_without_room_for_the_noise_is_not_believed() -> None:
    noise = replace(noise_from_disclosure({**DISCLOSED, "bound": "not more than about 10"}), variance=4.0)
    gaps = TupleGaps(np.full(50, 2), np.ones(50, dtype=np.int64), np.full(50, 100.0))
    candidates = Candidates(noise, 9)
    assert [candidates.admits_variance(bound) for bound in (1, 2, 3)] == [False, False, True]
    assert candidates.confidence(1, gaps) == 0


# --- Releases of every kind ---


def test_exact_counts_have_the_bound_0_for_certain() -> None:
    release = protect(people(200), TOWN, Exact(), keep_exact=True)
    found, *_ = bound(attacker_view(release))
    assert (found.estimate.tolist(), found.confidence.tolist()) == ([0], [1.0])
    outcome, *_ = attack(release, attacks=["bound"]).outcomes
    assert "inferred as 0" in outcome.sentence
    assert "This is correct" in outcome.sentence


def test_noise_of_1_is_found_in_the_town() -> None:
    ptable = PTable.max_entropy(variance=0.6, bound=1)
    release = protect(people(400), TOWN, CellKey(ptable, secret=SECRET), id="ID", keep_exact=True)
    for public_only in (False, True):
        outcome, *_ = attack(release, attacks=["bound"], public_only=public_only).outcomes
        assert "inferred as 1 " in outcome.sentence
        assert "This is correct" in outcome.sentence


def test_tables_with_noise_of_their_own_are_looked_at_one_by_one() -> None:
    fresh = Fresh(PTable.max_entropy(variance=0.6, bound=1), bits=SeededBits(3))
    release = protect(people(400), TOWN, fresh, keep_exact=True)
    attacker = attacker_view(release)
    assert len(single_noises(attacker)) == 5
    assert all((view.published == np.rint(view.published)).all() for view in single_noises(attacker))
    found, *_ = bound(attacker)
    assert found.estimate.tolist() == [1]


def test_the_same_persons_are_counted_once() -> None:
    # All persons of a0 live in its only part b0, and all of a1 in one of its two parts.
    area = topic("AREA", {"a0": "", "a1": "", "b0": "a0", "b1": "a1", "b2": "a1"})
    given_ = programme([area, SEX], [by(area), by(SEX)])
    value = {
        **{("b0", s): v for s, v in zip("FMT", (30, 41, 70), strict=True)},
        **{("b1", s): v for s, v in zip("FMT", (20, 25, 44), strict=True)},
        **{("b2", s): 0 for s in "FMT"},
    }
    value |= {("a0", s): value["b0", s] for s in "FMT"} | {("a1", s): value["b1", s] for s in "FMT"}
    value |= {("_T", s): v for s, v in zip("FMT", (52, 66, 115), strict=True)}
    table = pa.table({"AREA": [a for a, _ in value], "SEX": [s.replace("T", "_T") for _, s in value]})
    table = table.append_column("value", pa.array(list(value.values())))
    zeros = AssumedNoise((np.array([0, 0, 0, 1.0, 0, 0, 0]), np.full(7, 1 / 7)), 4.0, 3.0, shared="participants")
    for noise, expected in (
        # By sex all, a0 and a1; by area a0 + a1 for each sex and both.
        (zeros, 3 + 3),
        # By coordinates a1 and b1 have noise of their own: b1 by sex, and b1 + b2 = a1.
        (replace(zeros, shared="coordinates"), 4 + 6),
    ):
        curve = bound_curve(AttackerView(given_, {}, lambda _: table, AttackerKnowledge(noise=noise)))
        assert curve
        assert curve.last.tuples == expected


def test_progress_is_told() -> None:
    reported: list[tuple[str, int, int | None]] = []
    attacker = replace(attacker_view(protect(people(200), TOWN, Exact())), progress=lambda *what: reported.append(what))
    bound(attacker)
    assert reported == [("bound", 1, 2), ("bound", 2, 2)]


@settings(max_examples=up_to(40), deadline=None)
@given(reach=st.integers(0, 40), seed=st.integers(0, 10**6), scale=st.integers(1, 200))
def test_the_limit_never_passes_the_bound(reach: int, seed: int, scale: int) -> None:
    random = np.random.default_rng(seed)
    given_ = areas(4)
    (layout,) = layouts(given_, spsn=True).values()
    parent = [
        layout.equations.parents(int(layout.equations.statistics[-1]), int(s)) for s in layout.equations.statistics
    ]
    finest: Ints = random.integers(0, scale, 8) + 1
    counts = np.concatenate([np.bincount(above, finest) for above in parent])
    published = counts + random.integers(-reach, reach + 1, len(counts))
    attacker = seen(given_, layout, published.astype(float), knowledge=AttackerKnowledge(noise=uniform(reach)))
    # No bound is inferred if all published counts are 0.
    for found in bound(attacker)[:1] if published.any() else ():
        assert 0 <= found.estimate[0] <= reach
        assert 0 <= found.confidence[0] <= 1
