"""Key arithmetic: exact areas, more than chance on plain keys, no more on mixed ones, and as often as predicted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import AssumedNoise, AttackerKnowledge, attacker_view, noise_from_record
from discreet.attacks.key_arithmetic_attack import (
    FINEST,
    GapModel,
    by_one,
    evidence_of,
    fit_plain_keys,
    independent_model,
    key_areas,
    keys,
    plain_model,
)
from discreet.attacks.scoring import Score, TrueCounts, score
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.protection.town import SECRET, TOWN, people
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints
    from discreet.noise.distribution import Noise
    from discreet.release.release import Release

PTABLE = PTable.max_entropy(variance=3, bound=10)
AREAS = 2500
SEX = topic("SEX", "F M")
BORN = topic("BORN", "here there")
AREA = topic("AREA", " ".join(f"a{number}" for number in range(AREAS)))
BY_BOTH = programme([AREA, SEX, BORN], [by(AREA), by(SEX), by(BORN)])
NO_NOISE_ON_0 = np.array([0.0, 0, 1, 0, 0])


def laws(length: int = 3) -> st.SearchStrategy[list[int]]:
    """Return laws on -E .. E, some with holes."""
    return st.lists(st.integers(0, 20), min_size=2 * length + 1, max_size=2 * length + 1).filter(any)


def normal(weights: Sequence[float]) -> Floats:
    return np.array(weights, dtype=float) / sum(weights)


# --- Areas ---


@settings(max_examples=up_to(25), deadline=None)
@given(weights=laws())
def test_areas_are_those_of_all_pairs_of_keys(weights: list[int]) -> None:
    """Against K^2 pairs of keys in the middle of K slots; a slot on an edge is off by at most its share."""
    law = normal(weights)
    size = 5 * sum(weights)
    noise = np.repeat(np.arange(len(law)), 5 * np.array(weights))
    # A key stands for a slot of length 1 / K. The sum of two slots covers two slots, half of each on average.
    u, v = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    brute = np.zeros((len(law),) * 3)
    for carry in (0, 1):
        np.add.at(brute, (noise[u], noise[v], noise[(u + v + carry) % size]), 0.5 / size**2)
    ends = np.concatenate([[0], np.cumsum(law)])
    assert key_areas((ends, ends), ends) == pytest.approx(brute, abs=1e-12)


@settings(max_examples=up_to(25), deadline=None)
@given(weights=laws(), finest=st.sampled_from([1, 7, 128]))
def test_margins_are_the_law(weights: list[int], finest: int) -> None:
    law = normal(weights)
    model = plain_model(law, finest)
    reach = len(law) // 2
    for joint in (model.part, model.total):
        assert joint.sum() == pytest.approx(1)
        by_noise = np.bincount(model.noise + reach, joint.sum(axis=1), len(law))
        assert by_noise == pytest.approx(law, abs=1e-12)
    assert model.part.sum(axis=0) == pytest.approx(model.total.sum(axis=0), abs=1e-12)
    # Finer key intervals give the same posterior for one gap.
    assert model.expected() == pytest.approx(plain_model(law).expected())


@settings(max_examples=up_to(25), deadline=None)
@given(weights=laws(2))
def test_independent_noises_have_the_product_law(weights: list[int]) -> None:
    law = normal(weights)
    model = independent_model(law)
    part, total = np.zeros((5, 13)), np.zeros((5, 13))
    for x, y, z in product(range(-2, 3), repeat=3):
        chance = law[x + 2] * law[y + 2] * law[z + 2]
        part[x + 2, x + y - z + 6] += chance
        total[z + 2, x + y - z + 6] += chance
    assert model.part == pytest.approx(part)
    assert model.total == pytest.approx(total)


def test_the_keys_of_a_p_table_add_up_to_the_areas() -> None:
    """Draws with keys of our own key space, and rejects products."""
    row = PTABLE.rows[-1]
    law = row.pmf(np.arange(-10, 11))
    random = np.random.default_rng(2)
    first, second = random.integers(0, 2**32, (2, 200_000), dtype=np.uint64)
    many = np.full(len(first), 100)
    x, y, z = (PTABLE.draw(many, key % 2**32, mode="plain") for key in (first, second, first + second))
    seen = np.bincount(x + y - z + 30, minlength=61) / len(x)
    error = np.sqrt(seen.clip(min=1e-5) / len(x))
    assert (np.abs(seen - plain_model(law).part.sum(axis=0)) < 5 * error).all()
    assert (np.abs(seen - independent_model(law).part.sum(axis=0)) > 5 * error).any()


def brute_guess(law: Floats, first: int, second: int, size: int = 400) -> Floats:
    """Return the posterior of the noise of a cell that is a part in one tuple and the total in another."""
    reach = len(law) // 2
    ends = np.cumsum(law)
    middle = (np.arange(size) + 0.5) / size
    noise = np.searchsorted(ends, middle, side="right").clip(max=len(law) - 1) - reach
    other = noise[None, :]
    added = (np.arange(size)[:, None] + np.arange(size)[None, :]) % size
    as_part = (noise[:, None] + other - noise[added] == first).mean(axis=1)
    rest = (np.arange(size)[:, None] - np.arange(size)[None, :]) % size
    as_total = (other + noise[rest] - noise[:, None] == second).mean(axis=1)
    found = np.bincount(noise + reach, as_part * as_total, len(law)).astype(float)
    found /= found.sum()
    return found


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (-2, 1), (2, 2)])
def test_gaps_of_two_tuples_are_weighed_together(first: int, second: int) -> None:
    law = normal([1, 2, 4, 2, 1])
    model = plain_model(law, FINEST)
    evidence = np.zeros((1, 2 * model.gaps))
    evidence[0, first + 6] = 1
    evidence[0, model.gaps + second + 6] = 1
    noise, sure = model.guess(evidence)
    posterior = brute_guess(law, first, second)
    assert sure[0] == pytest.approx(posterior.max(), abs=0.02)
    assert posterior[noise[0] + 2] == pytest.approx(posterior.max(), abs=0.02)


def test_two_noises_of_1_worked_by_hand() -> None:
    """Noise -1 below key 1/2 and +1 above: given x = y = -1 the total is -1 if u + v < 1/2, half of the time."""
    model = plain_model(np.array([0.5, 0, 0.5]))
    gaps = dict(zip(range(-3, 4), model.part.sum(axis=0).tolist(), strict=True))
    # x = y = -1, z = 1 or x = y = 1, z = -1 make +-3, each with probability 1/8; all others make +-1.
    assert gaps == pytest.approx({-3: 1 / 8, -2: 0, -1: 3 / 8, 0: 0, 1: 3 / 8, 2: 0, 3: 1 / 8})
    noise, sure = model.guess(np.eye(2 * model.gaps))
    assert (noise[0], sure[0]) == (-1, pytest.approx(1))


# --- Releases ---


def persons(seed: int = 1) -> pa.Table:
    """Return some 50 to 70 persons of each kind in every area: enough for any bound in these tests."""
    random = np.random.default_rng(seed)
    times = random.integers(50, 71, (AREAS, 2, 2))
    area, sex, born = (np.repeat(axis.ravel(), times.ravel()) for axis in np.indices(times.shape))
    return pa.table(
        {
            "AREA": pa.array([f"a{n}" for n in range(AREAS)]).take(pa.array(area)),
            "SEX": pa.array(["F", "M"]).take(pa.array(sex)),
            "BORN": pa.array(["here", "there"]).take(pa.array(born)),
            "KEY": random.integers(0, 2**32, len(area), dtype=np.uint32),
        }
    )


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    data = persons()
    return {
        mode: protect(data, BY_BOTH, CellKey(PTABLE, secret=SECRET, mode=mode), key="KEY", keep_exact=True)
        for mode in ("plain", "mixed")
    }


def scored(release: Release, *, public_only: bool = False) -> dict[str, Score]:
    knowledge = AttackerKnowledge(noise=None if public_only else noise_from_record(release.record))
    found = keys(attacker_view(release, knowledge))
    return {finding.variant: score(finding, TrueCounts(release)) for finding in found}


def areas_of(release: Release) -> Ints:
    """Return for every cell of a release the number of its area; the last for all areas together."""
    layout = attacker_view(release).views()[0].layout
    axis = [axis.name for axis in layout.lattice.axes].index("AREA")
    found = []
    for statistic in layout.equations.statistics.tolist():
        inside = np.indices(layout.equations.shape(statistic))[axis].ravel()
        found.append(inside if layout.lattice.depths[statistic, axis] else np.full(inside.shape, AREAS))
    return np.concatenate(found)


def mean(values: Floats, areas: Ints) -> tuple[float, float]:
    """Return the mean and its standard error; cells of one area share keys, areas do not."""
    centred = np.bincount(areas, values - values.mean())
    return float(values.mean()), float(np.sqrt((centred**2).sum()) / len(values))


def gain(found: Score, areas: Ints) -> tuple[float, float]:
    """Return how many more are right than under independence, as a share, and its standard error."""
    assert found.finding.naive is not None
    return mean(found.right.astype(float) - (found.finding.naive == found.actual), areas)


def test_plain_keys_tell_more_than_chance_and_mixed_ones_do_not(releases: dict[str, Release]) -> None:
    areas = areas_of(releases["plain"])
    plain, mixed = scored(releases["plain"]), scored(releases["mixed"])
    for variant, least in (("one tuple", 0.01), ("all tuples", 0.05)):
        more, error = gain(plain[variant], areas)
        assert more > least
        assert more > 6 * error
    # Under mixed keys the estimate for independent noise is optimal, and its confidence is correct.
    assert list(mixed) == ["one tuple"]
    assert gain(mixed["one tuple"], areas)[0] == 0
    finding = mixed["one tuple"].finding
    assert finding.sentence is not None
    assert finding.sentence(mixed["one tuple"]).startswith("Keys disclose nothing: the gaps show mixed keys.")
    assert plain["all tuples"].whole.achieved > plain["one tuple"].whole.achieved + 0.03


def test_who_insists_on_plain_keys_does_worse_on_mixed_ones(releases: dict[str, Release]) -> None:
    attacker = attacker_view(releases["mixed"], AttackerKnowledge(noise=noise_from_record(releases["mixed"].record)))
    law = attacker.noise.laws[-1]
    evidence = evidence_of(attacker.views()[0], attacker, len(law) // 2)
    guesses = by_one(evidence, plain_model(law), independent_model(law))
    actual = TrueCounts(releases["mixed"]).counts(attacker.populations[0])[evidence.places]
    right = [(guesses.counts(each) == actual).astype(float) for each in (guesses.plain, guesses.independent)]
    more, error = mean(right[0] - right[1], areas_of(releases["mixed"]))
    assert more < -4 * error


def test_the_predicted_share_is_achieved(releases: dict[str, Release]) -> None:
    """Within its standard error on plain keys; rejects one that is 30 % off, and mixed keys."""
    found = scored(releases["plain"])["one tuple"]
    predicted = found.finding.predicted["21+"]
    achieved, error = mean(found.right.astype(float), areas_of(releases["plain"]))
    assert abs(achieved - predicted) < 4 * error
    for off in (0.7, 1.3):
        assert abs(achieved - off * predicted) > 4 * error
    assert scored(releases["mixed"])["one tuple"].whole.achieved < predicted - 4 * error


def test_confidence_is_the_share_that_is_right(releases: dict[str, Release]) -> None:
    for variant, found in scored(releases["plain"]).items():
        sure = found.finding.confidence
        for low, high in ((0, 0.3), (0.3, 0.45), (0.45, 1.01)):
            here = (sure >= low) & (sure < high)
            if here.sum() > 500:
                assert found.right[here].mean() == pytest.approx(sure[here].mean(), abs=0.035), variant


def test_whether_keys_are_plain_shows_in_the_gaps(releases: dict[str, Release]) -> None:
    for mode, plain in (("plain", True), ("mixed", False)):
        attacker = attacker_view(releases[mode], AttackerKnowledge(noise=noise_from_record(releases[mode].record)))
        law = attacker.noise.laws[-1]
        evidence = evidence_of(attacker.views()[0], attacker, len(law) // 2)
        assert fit_plain_keys([evidence], plain_model(law), independent_model(law)) == plain
        for finding in keys(attacker):
            assert ("mixed keys" in finding.method) != plain


def test_a_law_that_is_only_told_serves_as_well(releases: dict[str, Release]) -> None:
    found = scored(releases["plain"], public_only=True)["all tuples"]
    more, error = gain(found, areas_of(releases["plain"]))
    assert more > 4 * error


def test_every_cell_of_a_tuple_is_named_once(releases: dict[str, Release]) -> None:
    finding = scored(releases["plain"])["all tuples"].finding
    # By area all of 3 x 3 combinations with totals, and the same for all areas together.
    assert len(finding.estimate) == 9 * (AREAS + 1)
    assert finding.group_of is not None
    assert len(finding.group_of) == len(finding.estimate)
    assert {finding.groups[number] for number in np.unique(finding.group_of).tolist()} == set(finding.groups)
    assert np.isfinite(finding.confidence).all()
    assert (finding.confidence <= 1 + 1e-9).all()


def test_the_report_shows_both_variants(releases: dict[str, Release]) -> None:
    report = attack(releases["plain"], attacks=["keys"])
    assert sorted(outcome.finding.name for outcome in report.outcomes) == ["keys: all tuples", "keys: one tuple"]


def test_exact_counts_are_known_exactly() -> None:
    release = protect(people(300), TOWN, Exact(), keep_exact=True)
    for found in scored(release).values():
        assert found.right.all()
        assert found.finding.certain.all()


def test_small_counts_are_left_alone() -> None:
    release = protect(people(300), TOWN, CellKey(PTABLE, secret=SECRET, mode="plain"), id="ID", keep_exact=True)
    attacker = attacker_view(release, AttackerKnowledge(noise=noise_from_record(release.record)))
    for view in attacker.views():
        evidence = evidence_of(view, attacker, 10)
        assert (view.published[evidence.places] >= 20).all()


@pytest.mark.parametrize(
    "noise",
    [
        AssumedNoise((NO_NOISE_ON_0, np.full(5, 0.2)), 2.0, 2.0, shared="coordinates"),
        AssumedNoise((NO_NOISE_ON_0, np.full(5, 0.2)), 2.0, 2.0, shared="nothing"),
        AssumedNoise((NO_NOISE_ON_0, np.full(5, 0.2), np.full(5, 0.2)), 2.0, 2.0, repeat=2, shared="participants"),
        AssumedNoise((np.full(2001, 1 / 2001),), 333666.0, 1000.0, shared="participants"),
    ],
)
def test_nothing_is_said_where_no_keys_add_up(noise: AssumedNoise) -> None:
    release = protect(people(300), TOWN, Coordinates(PTABLE, secret=SECRET))
    assert keys(attacker_view(release, AttackerKnowledge(noise=noise))) == []


@pytest.mark.slow
def test_noise_without_bound_is_told_apart_as_far_as_it_matters() -> None:
    from discreet.noise.geometric import TwoSidedGeometric

    law: Noise = TwoSidedGeometric(epsilon=0.35)
    release = protect(people(600), TOWN, CellKey(law, secret=SECRET, mode="plain"), id="ID", keep_exact=True)
    attacker = attacker_view(release, AttackerKnowledge(noise=noise_from_record(release.record)))
    assert attacker.noise.reach > 60
    for finding in keys(attacker):
        assert ((finding.confidence >= 0) & (finding.confidence <= 1 + 1e-9)).all()


def test_a_model_knows_what_is_impossible() -> None:
    model: GapModel = plain_model(np.array([0.5, 0, 0.5]))
    # All gaps are odd here; the impossible gap 0 carries no information and must not fail.
    evidence = np.zeros((1, 2 * model.gaps))
    evidence[0, 3] = 1
    _, sure = model.guess(evidence)
    assert 0 <= sure[0] <= 1
