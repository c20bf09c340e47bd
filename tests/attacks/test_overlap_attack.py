from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import AttackerKnowledge, Overlaps, attacker_view, noise_from_record
from discreet.attacks.overlap_attack import slivers
from discreet.attacks.scoring import TrueCounts, score
from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform
from discreet.protection.pipeline import protect
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

SECRET = b"a secret for the tests only"
PTABLE = PTable.max_entropy(variance=2, bound=5)
KEYS = CellKey(PTABLE, secret=SECRET)


class Country:
    """Islands of two municipalities with some grid cells of their own and one that they share.

    Islands with a second shared cell have a way round: nothing is isolated in between.
    """

    def __init__(self, islands: int, *, largest: int = 5, size: float = 40.0, rings: int = 0, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        self.pairs: list[tuple[str, str]] = []
        self.isolated: set[tuple[str, str]] = set()
        for island in range(islands + rings):
            for side in "AB":
                own = [(f"m{island}{side}", f"g{island}{side}{n}") for n in range(random.integers(1, largest + 1))]
                shared = [(f"m{island}{side}", f"g{island}s{n}") for n in range(1 + (island >= islands))]
                self.pairs += own + shared
                self.isolated |= set(own if island >= islands else own + shared)
        self.counts = dict(zip(self.pairs, (1 + random.poisson(size, len(self.pairs))).tolist(), strict=True))
        areas, cells = (list(dict.fromkeys(pair[n] for pair in self.pairs)) for n in (0, 1))
        self.geo, self.grid = topic("GEO", " ".join(areas)), topic("GRID", " ".join(cells))
        self.sex = topic("SEX", "F M")
        rows = [pair for pair, count in self.counts.items() for _ in range(count)]
        self.persons = pd.DataFrame(rows, columns=["GEO", "GRID"])
        self.persons["SEX"] = random.choice(["F", "M"], len(rows))
        self.persons["ID"] = [f"p{n}" for n in range(len(rows))]
        self.overlaps = Overlaps(("GEO", "GRID"), self.pairs)

    @cached_property
    def keyed(self) -> Release:
        return self.release(KEYS)

    def release(self, mechanism: Mechanism, *, sex: bool = True) -> Release:
        more = [by(self.sex)] if sex else []
        made = programme([self.geo, self.grid, self.sex], [by(self.geo), *more], [by(self.grid), *more])
        return protect(self.persons, made, mechanism, id="ID" if mechanism.needs_keys else None, keep_exact=True)


@pytest.fixture(scope="module")
def country() -> Country:
    return Country(40, rings=5)


def found_in(release: Release, overlaps: Overlaps, **more: Any) -> AttackEstimates:  # noqa: ANN401 - as in attacker_view
    knowledge = AttackerKnowledge(noise=noise_from_record(release.record), overlaps=overlaps)
    (finding,) = slivers(attacker_view(release, knowledge, **more))
    return finding


def test_without_noise_every_sliver_is_known(country: Country) -> None:
    release = country.release(Exact(), sex=False)
    finding = found_in(release, country.overlaps)
    assert sorted(finding.estimate.tolist()) == sorted(country.counts[pair] for pair in country.isolated)
    scored = score(finding, TrueCounts(release))
    assert scored.right.all()
    assert finding.certain.all()


def test_slivers_are_found_by_sex_as_well(country: Country) -> None:
    release = country.release(Exact())
    finding = found_in(release, country.overlaps)
    assert len(finding.estimate) == 3 * len(country.isolated)
    assert score(finding, TrueCounts(release)).right.all()


def areas_of(finding: AttackEstimates) -> Ints:
    """Return how many areas are behind every sliver."""
    sizes = [1 if name == "single areas" else int(name.split()[2]) for name in finding.groups]
    assert finding.group_of is not None
    found: Ints = np.array(sizes)[finding.group_of]
    return found


def law_of_sum(law: Floats, areas: int) -> Floats:
    found = np.ones(1)
    for _ in range(areas):
        found = np.convolve(found, law)
    return found


@pytest.mark.slow
def test_success_by_number_of_areas_is_that_of_the_formula() -> None:
    # P(sum of |S| noise terms = 0) by convolution; slivers are large enough for clipping not to matter.
    country = Country(400, largest=6, size=40)
    release = country.release(KEYS, sex=False)
    finding = found_in(release, country.overlaps)
    right = score(finding, TrueCounts(release)).right
    law = PTABLE.large.pmf(np.arange(-5, 6))
    tested = 0
    for areas in np.unique(areas_of(finding)).tolist():
        those = areas_of(finding) == areas
        total = law_of_sum(law, areas)
        chance = total[len(total) // 2]
        error = np.sqrt(chance * (1 - chance) / those.sum())
        assert abs(right[those].mean() - chance) < 4 * error
        assert finding.confidence[those].mean() == pytest.approx(chance, abs=0.02)
        # The test has power: 30 % off would be seen where cells are many.
        if those.sum() > 1000:
            assert abs(right[those].mean() - 1.3 * chance) > 4 * error
            tested += 1
    assert tested
    assert len(finding.groups) >= 5


def test_confidence_is_the_share_that_is_right_where_slivers_are_small() -> None:
    country = Country(500, largest=4, size=2)
    release = country.keyed
    finding = found_in(release, country.overlaps)
    right = score(finding, TrueCounts(release)).right
    assert right.mean() == pytest.approx(finding.confidence.mean(), abs=0.05)
    assert finding.estimate.min() >= 0


def test_the_formula_of_the_report_predicts_the_success() -> None:
    country = Country(150, largest=3, size=40)
    report = attack(country.keyed, attacks=["slivers"], budget=None, overlaps=country.overlaps)
    (outcome,) = report.outcomes
    for share in outcome.by_count():
        assert share.predicted == pytest.approx(share.achieved, abs=4 / share.cells**0.5 * 0.4)
    assert "slivers between GEO and GRID above 0 are recovered exactly" in outcome.sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        CellKey(Uniform(bound=400), secret=SECRET),
        CellKey(TwoSidedGeometric(epsilon=0.03), secret=SECRET),
        Fresh(TwoSidedGeometric(epsilon=0.03)),
    ],
)
def test_huge_noise_leaves_chance(country: Country, mechanism: Mechanism) -> None:
    release = country.release(mechanism)
    finding = found_in(release, country.overlaps)
    several = areas_of(finding) > 1
    assert score(finding, TrueCounts(release)).right[several].mean() < 0.02
    assert finding.confidence[several & (finding.estimate > 0)].mean() < 0.02


def test_independent_noise_in_every_table_is_averaged(country: Country) -> None:
    release = country.release(Fresh(PTABLE))
    finding = found_in(release, country.overlaps)
    right = score(finding, TrueCounts(release)).right
    assert right.mean() == pytest.approx(finding.confidence.mean(), abs=0.06)


def test_a_sum_of_many_areas_is_taken_as_normal() -> None:
    # One municipality of thirty cells next to one of forty: thirty-one areas on the smaller side.
    country = Country(1, largest=1, size=30)
    pairs = [*[("a", f"a{n}") for n in range(30)], ("a", "s"), ("b", "s"), *[("b", f"b{n}") for n in range(40)]]
    country.geo, country.grid = topic("GEO", "a b"), topic("GRID", " ".join(dict.fromkeys(cell for _, cell in pairs)))
    random = np.random.default_rng(2)
    rows = [pair for pair in pairs for _ in range(20)]
    country.persons = pd.DataFrame(rows, columns=["GEO", "GRID"])
    country.persons["SEX"] = random.choice(["F", "M"], len(rows))
    country.persons["ID"] = [f"p{n}" for n in range(len(rows))]
    release = country.release(KEYS, sex=False)
    finding = found_in(release, Overlaps(("GEO", "GRID"), pairs))
    place = int(np.flatnonzero(areas_of(finding) == 31)[0])
    # P(|N(0, 31 V)| < 1/2)
    assert finding.confidence[place] == pytest.approx(1 / np.sqrt(2 * np.pi * 31 * 2), rel=0.3)


def test_without_a_map_there_is_nothing_to_say(country: Country) -> None:
    release = country.keyed
    assert slivers(attacker_view(release)) == []


def test_without_tables_of_both_topics_there_is_nothing_to_say(country: Country) -> None:
    made = programme([country.geo, country.grid, country.sex], [by(country.geo)])
    release = protect(country.persons, made, Exact(), keep_exact=True)
    assert slivers(attacker_view(release, AttackerKnowledge(overlaps=country.overlaps))) == []


def test_an_unknown_code_is_refused_by_name(country: Country) -> None:
    release = country.release(Exact())
    with pytest.raises(UnknownNameError, match="code of topic GRID in the overlaps"):
        slivers(attacker_view(release, AttackerKnowledge(overlaps=Overlaps(("GEO", "GRID"), [("m0A", "nowhere")]))))


@pytest.mark.parametrize("left_out", [0, -1])
def test_a_map_that_cannot_be_right_is_refused(country: Country, left_out: int) -> None:
    release = country.keyed
    area = country.pairs[left_out][0]
    pairs = [pair for pair in country.pairs if pair[0] != area]
    with pytest.raises(ParameterError, match=r"Near .* of (GEO|GRID), in a component of [0-9,]+ areas"):
        found_in(release, Overlaps(("GEO", "GRID"), pairs))
