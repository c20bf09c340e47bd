"""Margins: one tuple against exact enumeration, and calibrated confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet.attacks.margin_posterior as attacked
from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import (
    PUBLIC_TOTALS,
    AssumedNoise,
    AttackerKnowledge,
    PopulationCounts,
    attacker_view,
    noise_from_record,
)
from discreet.attacks.count_prior import kind_priors
from discreet.attacks.feasible_counts import intervals
from discreet.attacks.margin_attack import margins
from discreet.attacks.margin_posterior import MarginPosterior
from discreet.attacks.scoring import TrueCounts, score
from discreet.errors import ParameterError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from discreet.release.record import Record
from discreet.risk.margin_exploitation import tuple_posterior
from discreet.tabulation.cell_vector import CellVector
from tests.attacks.test_feasible_counts import drawn_counts, published
from tests.programme.small import programme
from tests.protection.town import SECRET, TOWN, people
from tests.quick import up_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_report import AttackOutcome
    from discreet.attacks.margin_posterior import Posteriors
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

TABLES = {
    "plain": PTable.max_entropy(variance=2, bound=3),
    "threshold": PTable.max_entropy(variance=3, bound=4, threshold=2),
    "noisy zeros": PTable.max_entropy(variance=1.5, bound=2, perturb_zeros=True),
}
SETTINGS = {
    "plain": {"variance": 2.0, "bound": 3},
    "threshold": {"variance": 3.0, "bound": 4, "threshold": 2},
    "noisy zeros": {"variance": 1.5, "bound": 2, "perturb_zeros": True},
}
PTABLE = PTable.max_entropy(variance=2, bound=5)
GEOMETRIC = np.power(0.7, np.arange(40)).astype(np.float64)
"""A prior for one tuple."""


def believed(name: str, shared: str) -> AssumedNoise:
    """Return the law of one of the tables."""
    return replace(noise_from_record(Record(programme="x", parameters=SETTINGS[name])), shared=shared)


def posterior(
    view: PopulationCounts, noise: AssumedNoise, priors: list[Floats] | None = None
) -> tuple[MarginPosterior, Floats]:
    """Return the attacker of a population, and the posterior of the counts of its small cells."""
    possible = intervals(view, noise, {})
    asked = np.ones(view.layout.cells, dtype=bool)
    made = MarginPosterior(view, noise, possible, asked, priors or kind_priors(view, noise))
    return made, made.with_margins()


def by_count(made: MarginPosterior, logs: Floats, place: int) -> dict[int, float]:
    """Return the posterior of one cell."""
    widths = (made.high - made.low + 1)[made.places]
    number = int(np.flatnonzero(made.places == place)[0])
    start = int((np.cumsum(widths) - widths)[number])
    weight = np.exp(logs[start : start + widths[number]])
    return dict(enumerate((weight / weight.sum()).tolist(), start=int(made.low[place])))


@given(
    st.sampled_from(list(TABLES)),
    st.sampled_from(["participants", "coordinates"]),
    st.lists(st.integers(-1, 6), min_size=2, max_size=3),
    st.integers(-3, 12),
)
@settings(max_examples=up_to(60))
def test_one_tuple_is_exact(name: str, shared: str, parts: list[int], total: int) -> None:
    prior = dict(enumerate(GEOMETRIC.tolist()))
    try:
        exact = tuple_posterior(TABLES[name], parts, total, prior=prior, noise_by=shared).marginals()
    except ParameterError:
        assume(False)
    layout = CellVector("persons", programme([("A",)], {"A": (len(parts),)}), spsn=True)
    whole = GEOMETRIC
    for _ in parts[1:]:
        whole = np.convolve(whole, GEOMETRIC)[: len(whole)]
    made, logs = posterior(
        PopulationCounts(layout, np.array([total, *parts], dtype=float)), believed(name, shared), [whole, GEOMETRIC]
    )
    for place in made.places.tolist():
        found = by_count(made, logs, place)
        expected = exact[place - 1]
        assert found == pytest.approx({n: expected.get(n, 0.0) for n in found}, abs=1e-9)
        assert sum(expected.get(n, 0.0) for n in found) == pytest.approx(1)


def test_a_tuple_of_two_worked_by_hand() -> None:
    # Noise -1, 0, 1 with a third each, counts 0 to 3 equally likely: 1 + 1 with total 4 is (2, 2) or (1, 2), (2, 1).
    even, still = np.full(3, 1 / 3), np.array([0.0, 1.0, 0.0])
    noise = AssumedNoise((still, even), 2 / 3, 1.0, shared="coordinates")
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    view = PopulationCounts(layout, np.array([4.0, 1.0, 1.0]))
    made, logs = posterior(view, noise, [np.ones(9), np.ones(9)])
    assert by_count(made, logs, 1) == pytest.approx({1: 1 / 3, 2: 2 / 3})


def village(noise: AssumedNoise, seed: int, *, tables: int = 1) -> tuple[PopulationCounts, Ints]:
    """Return a programme of many small cells, with noise, and its true counts."""
    made = programme([("A", "B")] * tables, {"A": (100, 400), "B": (3,)})
    layout = CellVector("persons", made, spsn=noise.shared != "nothing")
    random = np.random.default_rng(seed)
    counts = drawn_counts(layout, random, 0.4)
    return published(layout, counts, noise, random), counts


def likeliest(view: PopulationCounts, noise: AssumedNoise) -> tuple[MarginPosterior, Posteriors]:
    """Return the posterior and its estimates."""
    made, logs = posterior(view, noise)
    return made, made.estimates(logs)


def off(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """Return by how many standard errors the share right differs from the confidence, in the worst of six bins."""
    found = []
    for low, high in zip([0.2, 0.45, 0.6, 0.75, 0.85, 0.95], [0.45, 0.6, 0.75, 0.85, 0.95, 1.01], strict=True):
        here = (confidence >= low) & (confidence < high)
        if here.sum() > 50:
            sure = confidence[here]
            found.append(float(abs(right[here].sum() - sure.sum()) / np.sqrt((sure * (1 - sure)).sum() + 1)))
    return max(found)


@pytest.mark.parametrize(("shared", "tables"), [("participants", 1), ("coordinates", 1), ("nothing", 2)])
def test_confidence_is_the_share_that_is_right(shared: str, tables: int) -> None:
    noise = replace(noise_from_record(Record(programme="x", parameters={"variance": 2.0, "bound": 5})), shared=shared)
    sure, right, naive = [], [], []
    classes = {str(count): np.zeros(3) for count in range(3)}
    for seed in range(4):
        view, counts = village(noise, seed, tables=tables)
        made, found = likeliest(view, noise)
        actual = counts[made.places]
        sure.append(found.confidence)
        right.append(found.estimate == actual)
        naive.append(found.naive == actual)
        for name, kept in classes.items():
            were = ((found.estimate == actual) & (actual == int(name))).sum()
            named = found.confidence[found.estimate == int(name)].sum()
            kept += [named, found.class_chances[:, int(name)].sum(), were]
    confidence, hit, before = (np.concatenate(parts) for parts in (sure, right, naive))
    assert off(confidence, hit) < 4
    # A success rate 30 percent higher or lower would be detected.
    assert off(confidence * 0.7, hit) > 4
    # Sums help: of the cells where only one estimate is correct, more than half are the attack's, by 4 sigma.
    assert hit.sum() - before.sum() > 4 * np.sqrt((hit != before).sum())
    for named, expected, were in (kept.tolist() for kept in classes.values()):
        assert were == pytest.approx(named, abs=4 * named**0.5)
        assert named <= expected


def test_noise_that_drowns_everything_leaves_nothing_to_learn() -> None:
    noise = replace(
        noise_from_record(Record(programme="x", law="geometric", parameters={"epsilon": 0.15}, perturb_zeros=True)),
        shared="coordinates",
    )
    view, counts = village(noise, 1)
    made, found = likeliest(view, noise)
    actual = counts[made.places]
    gain = (found.estimate == actual).mean() - (found.naive == actual).mean()
    assert gain < 3 / np.sqrt(len(actual))


def test_without_the_attack_a_value_stands_by_itself() -> None:
    # 1 + 1 with total 5 and noise up to 1 is forced to be 2 + 2; by itself each 1 is likeliest a 1.
    noise = AssumedNoise((np.eye(3)[1], np.array([0.3, 0.4, 0.3])), 0.6, 1.0, shared="coordinates")
    layout = CellVector("persons", programme([("A",)], {"A": (2,)}), spsn=True)
    made, logs = posterior(PopulationCounts(layout, np.array([5.0, 1.0, 1.0])), noise, [np.ones(20), np.ones(20)])
    found = made.estimates(logs)
    assert made.places.tolist() == [1, 2]
    assert found.estimate.tolist() == [2, 2]
    assert found.confidence.tolist() == [1, 1]
    assert found.naive.tolist() == [1, 1]


def town(mechanism: Mechanism, engine: Engine) -> Release:
    """Return a release of the town with its true counts."""
    return protect(
        people(400), TOWN, mechanism, id="ID" if mechanism.needs_keys else None, keep_exact=True, engine=engine
    )


def test_without_noise_all_is_certain_and_right(engine: Engine) -> None:
    certain, likely = _by_variant(town(Exact(), engine))
    for outcome in (certain, likely):
        assert outcome.score is not None
        assert outcome.score.right.all()
        assert outcome.finding.certain.all()
    # Every cell of both populations is among what is certain; small ones among the rest.
    cells = sum(view.layout.cells for view in attacker_view(town(Exact(), engine)).views())
    assert len(certain.finding.estimate) == cells
    assert [share.predicted for share in likely.by_count()] == pytest.approx([1.0] * len(likely.by_count()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        CellKey(PTABLE, secret=SECRET),
        CellKey(PTABLE, secret=SECRET, mode="plain"),
        CellKey(PTable.max_entropy(variance=1.5, bound=2, perturb_zeros=True), secret=SECRET),
        CellKey(TwoSidedGeometric(epsilon=0.7), secret=SECRET),
        Coordinates(PTABLE, secret=SECRET),
        Fresh(PTABLE, bits=SeededBits(1)),
        Fresh(TwoSidedGeometric(epsilon=0.7), perturb_zeros=True, bits=SeededBits(2)),
        EpsDP(Budget(2.0), bits=SeededBits(3)),
    ],
    ids=["cell keys", "plain", "noisy zeros", "no bound", "coordinates", "fresh", "fresh, no bound", "budget"],
)
@pytest.mark.parametrize("public_only", [False, True])
def test_it_works_on_every_mechanism(mechanism: Mechanism, public_only: bool, engine: Engine) -> None:
    certain, likely = _by_variant(town(mechanism, engine), public_only=public_only)
    finding = likely.finding
    assert np.isfinite(finding.confidence).all()
    assert ((finding.confidence > 0) & (finding.confidence <= 1)).all()
    assert finding.estimate.min() >= 0
    assert finding.naive is not None
    assert all(0 <= share <= 1 + 1e-9 for share in finding.predicted.values())
    assert certain.score is not None
    if not public_only:
        assert certain.score.right.all()


def test_the_sentence_counts_what_is_certain(engine: Engine) -> None:
    tight = CellKey(PTable.max_entropy(variance=0.6, bound=1), secret=SECRET)
    certain, _ = _by_variant(town(tight, engine))
    estimate = certain.finding.estimate
    single, there = int((estimate == 1).sum()), int((estimate > 0).sum())
    assert 0 < single < there
    assert certain.score is not None
    truth = certain.score.truth
    ones = sum(int((truth.counts(name) == 1).sum()) for name, _ in certain.finding.cells)
    assert certain.sentence.startswith(f"{single} of {ones} singleton cells are certain")
    assert f"Certain counts in total: {there} above 0 and " in certain.sentence
    assert " empty cells (all correct)." in certain.sentence
    assert "Forced tuples: " in certain.sentence
    assert " (expected " in certain.sentence


def test_a_wrong_law_is_noticed(engine: Engine) -> None:
    release = town(CellKey(PTABLE, secret=SECRET), engine)
    narrow = noise_from_record(Record(programme="x", parameters={"variance": 0.6, "bound": 1}))
    certain, likely = margins(attacker_view(release, AttackerKnowledge(noise=narrow)))
    assert len(certain.estimate) == 0
    assert certain.sentence is not None
    assert certain.sentence(score(certain, TrueCounts(release))).startswith("No count is certain: ")
    assert np.isfinite(likely.confidence).all()


def test_known_totals_are_not_estimated(engine: Engine) -> None:
    release = town(CellKey(PTABLE, secret=SECRET), engine)
    layout = attacker_view(release).views()[0].layout
    known = layout.names[-2:]
    for outcome, more in zip(_by_variant(release), _by_variant(release, known=known), strict=True):
        assert PUBLIC_TOTALS in more.finding.assumptions
        named = {f"{name} of {layout.name}" for name in known}
        assert more.finding.group_of is not None
        assert not named & {more.finding.groups[number] for number in more.finding.group_of.tolist()}
        assert more.finding.certain.sum() >= outcome.finding.certain.sum()


def test_progress_is_told(engine: Engine) -> None:
    reported: list[tuple[str, int, int | None]] = []
    margins(
        replace(
            attacker_view(town(CellKey(PTABLE, secret=SECRET), engine)), progress=lambda *what: reported.append(what)
        )
    )
    assert {stage for stage, _, _ in reported} == {"margins"}
    assert all(total is not None and done <= total for _, done, total in reported)


def test_pieces_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = believed("plain", "participants")
    view, _ = village(noise, 3)
    whole = posterior(view, noise)[1]
    monkeypatch.setattr(attacked, "CHUNK", 500)
    assert posterior(view, noise)[1] == pytest.approx(whole, abs=1e-9)


def _by_variant(release: Release, **how: Any) -> tuple[AttackOutcome, AttackOutcome]:  # noqa: ANN401 - as in attack
    """Return what is certain and what is likely."""
    outcomes = {o.finding.variant: o for o in attack(release, attacks=["margins"], budget=None, **how).outcomes}
    return outcomes["certain"], outcomes["posterior"]
