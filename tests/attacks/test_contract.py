"""One contract for all attacks, ours and a user's: requirements that each must satisfy.

- Without noise all estimates are correct.
- With huge noise the attack learns no more than without the attack.
- More noise never helps the attacker (statistically).
- True counts are not read before the attack is scored.
- The same seed gives the same estimates; estimates of target cells equal those in a run on all cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_run import mount
from discreet.attacks.attacker_view import (
    AssumedNoise,
    AttackerKnowledge,
    Overlaps,
    QueryInterface,
    attacker_view,
    noise_from_record,
)
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.target_cells import draw_targets
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release.release import Release
from tests.cli.town import few_rounds
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.attacks.attack_estimates import AttackEstimates, Truth
    from discreet.attacks.attacker_view import AttackerView
    from discreet.attacks.scoring import Score

LEVELS = {"none": None, "hardly": (0.15, 2), "little": (0.5, 3), "some": (2, 5), "much": (10, 10), "huge": (400, 45)}
"""Variance and bound, from no noise to more than any count can bear."""
RISING = list(LEVELS)
SIGMAS = 4


@pytest.fixture(scope="module", autouse=True)
def _few_rounds() -> Iterator[None]:
    """Take little time for residuals, which are tested elsewhere."""
    with few_rounds():
        yield


MUNICIPALITIES = 24
GEO = topic("GEO", {"N": "", "S": ""} | {f"m{n}": "NS"[n % 2] for n in range(MUNICIPALITIES)})
GRID = topic("GRID", " ".join(f"g{n}" for n in range(2 * MUNICIPALITIES + 1)))
SEX = topic("SEX", "F M")
AGE = topic("AGE", "a b c d")
WORK = topic("WORK", "0 1")
COUNTRY = programme(
    [GEO, GRID, SEX, AGE, WORK],
    [by(GEO), by(SEX), by(AGE)],
    [by(GRID), by(SEX)],
    [by(GEO), by(SEX), by(WORK)],
    [by(GEO), by(SEX), by(AGE)],
    universes=[None, None, None, "WORK = 1"],
)


def persons(size: int = 6000, seed: int = 5) -> pa.Table:
    """Return people of a country of strips; a few of each municipality live in a square of the next one."""
    random = np.random.default_rng(seed)
    share = np.geomspace(1, 0.02, MUNICIPALITIES)
    where = random.choice(MUNICIPALITIES, size, p=share / share.sum())
    across = random.random(size) < 0.01
    square = np.where(across, 2 * where + 2, 2 * where + random.integers(0, 2, size))
    return pa.table(
        {
            "ID": np.arange(size),
            "GEO": [f"m{n}" for n in where],
            "GRID": [f"g{n}" for n in square],
            "SEX": random.choice(["F", "M"], size),
            "AGE": random.choice(list("abcd"), size, p=[0.5, 0.3, 0.15, 0.05]),
            "WORK": random.choice(["0", "1"], size, p=[0.02, 0.98]),
        }
    )


@dataclass(frozen=True, eq=False)
class Scene:
    """The attacker's view of the country, with all other knowledge, and the true counts."""

    attacker: AttackerView
    truth: Truth


class Answered(TrueCounts):
    """The true counts of a release that also has a query interface."""

    @property
    def answer(self) -> int:
        return 500


def interface(noise: AssumedNoise) -> QueryInterface:
    """Return a flexible interface about 500 persons in ten categories, with fresh noise on every answer."""
    counts = {f"c{n}": 50 for n in range(10)}
    random = np.random.default_rng(3)

    def query(codes: Sequence[str]) -> int:
        true = np.array([sum(counts[code] for code in codes)])
        return int(noise.publish(true, random)[0])

    return QueryInterface(query, tuple(counts))


def published(data: pa.Table, level: str, secret: bytes, *, keys: bool = True) -> Release:
    settings = LEVELS[level]
    if settings is None:
        return protect(data, COUNTRY, Exact(), keep_exact=True)
    ptable = PTable.max_entropy(variance=settings[0], bound=settings[1])
    if keys:
        return protect(data, COUNTRY, CellKey(ptable, secret=secret), id="ID", keep_exact=True)
    return protect(data, COUNTRY, Coordinates(ptable, secret=secret), keep_exact=True)


@cache
def scene(level: str, *, keys: bool = True, size: int = 6000) -> Scene:
    """Return the country published at a level of noise; the second release has other keys and lacks some persons."""
    now = persons(size)
    release = published(now, level, b"a secret for the tests", keys=keys)
    others = now.filter(np.arange(now.num_rows) % 40 != 0)
    later = published(others, level, b"another for the tests", keys=keys)
    noise = noise_from_record(release.record)
    pairs = sorted({(a, b) for a, b in zip(now["GEO"].to_pylist(), now["GRID"].to_pylist(), strict=True)})
    knowledge = AttackerKnowledge(
        noise=noise,
        other=attacker_view(later, AttackerKnowledge(noise=noise)),
        overlaps=Overlaps(("GEO", "GRID"), pairs),
        interface=interface(noise),
    )
    return Scene(attacker_view(release, knowledge), Answered(release, None, Answered(later)))


@cache
def findings(name: str, level: str, *, keys: bool = True) -> list[AttackEstimates]:
    return mount(scene(level, keys=keys).attacker, ATTACKS.named([name]))


@cache
def scores(name: str, level: str, *, keys: bool = True) -> list[Score]:
    return [score(finding, scene(level, keys=keys).truth) for finding in findings(name, level, keys=keys)]


def anew(name: str, **more: Any) -> list[AttackEstimates]:  # noqa: ANN401 - as in AttackerView
    """Return findings in a small country, of which nothing is kept from earlier attacks."""
    return mount(replace(scene("some", size=600).attacker, _kept={}, **more), ATTACKS.named([name]))


in_small_country = cache(anew)


@cache
def sealed(name: str) -> list[AttackEstimates]:
    """Return findings in the small country once more, while whoever reads true counts fails."""

    def opened(*_: object) -> None:
        raise AssertionError("true counts were read")

    with pytest.MonkeyPatch.context() as patch:
        # Whichever way an attack might take to them.
        patch.setattr(Release, "exact", opened)
        patch.setattr(TrueCounts, "counts", opened)
        return anew(name)


NAMES = list(ATTACKS.all())
WHATEVER_THE_NOISE = frozenset({"complement"})
"""Under cell keys the same persons have the same noise, however large: published differences prove that someone is
between. The attack gains from that at any level; noise by coordinates leaves it nothing."""
FEW = frozenset({"bound", "bi-partitions", "margins: certain"})
"""Estimates of a single value, or of cells selected for certainty: their share correct is not a success rate."""


LONG = frozenset({"bound", "two-releases"})
"""Attacks that take long in the whole country; in every run they are mounted in a small one."""
in_country = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in NAMES]
)


def test_all_attacks_of_the_project_are_registered() -> None:
    assert {
        "averaging", "bi-partitions", "bound", "complement", "keys", "margins", "posterior-projection", "projection",
        "slivers", "two-releases",
    } <= set(NAMES)  # fmt: skip


@in_country
def test_findings_are_well_formed(name: str) -> None:
    found = scores(name, "some")
    assert found
    for each in found:
        finding = each.finding
        assert finding.attack == name
        assert len(finding.estimate) == len(finding.confidence) == len(each.actual)
        assert ((finding.confidence >= 0) & (finding.confidence <= 1 + 1e-9)).all()
        assert finding.estimate.dtype.kind == "i"
        assert finding.naive is None or len(finding.naive) == len(finding.estimate)
        assert finding.subject
        assert finding.method or finding.sentence
        assert finding.assumptions
        assert not finding.cut_off


@in_country
def test_without_noise_everything_said_is_right(name: str) -> None:
    for each in scores(name, "none"):
        assert each.right.all(), each.finding.name


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        *(pytest.param(name, True, marks=[pytest.mark.slow] if name in LONG else []) for name in NAMES),
        *(pytest.param(name, False, marks=[pytest.mark.slow]) for name in NAMES),
    ],
)
def test_with_huge_noise_nothing_is_gained(name: str, *, keys: bool) -> None:
    if keys and name in WHATEVER_THE_NOISE:
        assert any(each.occupied.right > each.occupied.cells / 8 for each in scores(name, "huge"))
        return
    for each in scores(name, "huge", keys=keys):
        found = each.occupied
        naive = found.naive or 0
        error = np.sqrt(max(found.cells, 1) * 0.05)
        assert found.right <= naive + SIGMAS * error + 0.02 * found.cells, each.finding.name


@pytest.mark.parametrize("levels", [RISING[::3] + RISING[-1:], pytest.param(RISING, marks=pytest.mark.slow)], ids=len)
@in_country
def test_more_noise_never_helps(name: str, levels: list[str]) -> None:
    rates: dict[str, list[tuple[float, int]]] = {}
    for level in levels:
        for each in scores(name, level):
            found = each.occupied
            rates.setdefault(each.finding.name, []).append((found.achieved, found.cells))
    for variant, found_at in rates.items():
        if variant in FEW:
            continue
        for (before, many), (after, few) in pairwise(found_at):
            # Estimates of one release are wrong together: few of them are independent.
            error = np.sqrt(0.25 / max(min(many, few) / 5, 1))
            assert after <= before + SIGMAS * error / 2, variant


@pytest.mark.parametrize("name", NAMES)
def test_the_truth_is_not_read_before_scoring(name: str) -> None:
    class Sealed:
        """A truth that raises when it is read."""

        def __getattr__(self, asked: str) -> object:
            raise AssertionError(f"{asked} was read")

    assert sealed(name)
    for each in sealed(name):
        with pytest.raises(AssertionError, match="was read"):
            score(each, Sealed())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bi-partitions"])
def test_the_same_seed_gives_the_same_findings(name: str) -> None:
    assert in_small_country(name)
    for first, second in zip(in_small_country(name), sealed(name), strict=True):
        np.testing.assert_array_equal(first.estimate, second.estimate)
        np.testing.assert_array_equal(first.confidence, second.confidence)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_without_what_it_needs_does_not_apply(name: str) -> None:
    alone = replace(scene("some", size=600).attacker, knowledge=AttackerKnowledge(), _kept={})
    for finding in mount(alone, ATTACKS.named([name])):
        assert finding.attack == name


@pytest.mark.parametrize("name", NAMES)
def test_target_cells_get_the_estimates_that_they_have_among_all_cells(name: str) -> None:
    small = scene("some", size=600)
    drawn = draw_targets(small.attacker, 300, small.truth)
    assert drawn is not None
    for finding, whole in zip(anew(name, targets=drawn.places), in_small_country(name), strict=True):
        if not finding.sampled:
            assert len(finding.estimate) == len(whole.estimate)
            continue
        own, every = (
            {(population, place): number for population, places in each.cells for place in places.tolist()
             for number in [next(numbers)]}
            for each, numbers in ((finding, iter(range(10**6))), (whole, iter(range(10**6))))
        )  # fmt: skip
        assert 50 < len(own) <= 300
        for cell, number in own.items():
            assert finding.estimate[number] == whole.estimate[every[cell]]
            assert finding.confidence[number] == pytest.approx(whole.confidence[every[cell]])
