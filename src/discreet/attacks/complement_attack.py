"""Complement attack: counts of persons in a population who are not in a narrower one of the same release.

For every statistic published for both, such as all persons and usual residents, n(rest) = n(whole) - n(part), with two
noise terms. Under noise by participants, and none on empty cells, an empty rest means that whole and part are published
alike; unequal values prove a non-empty rest. The posterior of n(rest) is that of `count_differences` without
departures:

    P(c | part, whole)  proportional to  rho(c) sum_n pi(n) P(part | n) P(whole | n + c),   c >= 0.

Hundepool et al. (2012), Statistical Disclosure Control, on disclosure by differencing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, AttackEstimates
from discreet.attacks.count_differences import (
    ADDED,
    EVEN,
    Differences,
    averaged,
    common_cells,
    kinds,
    predicted,
    proven,
    statistics_of,
)
from discreet.programme.universe import universe_of
from discreet.tabulation.cell_vector import JointLayout, unit_layouts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Flags, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AttackerView, PopulationCounts
    from discreet.attacks.count_differences import CommonCells, DifferenceEstimates
    from discreet.attacks.scoring import Score
    from discreet.programme.model import Programme


@dataclass(frozen=True, eq=False)
class Complement:
    """The persons of one population who are not in a narrower one.

    Attributes:
        part: the published counts of the narrower population.
        whole: the published counts of the wider population.
        common: the cells that both publish and whose complement their universes do not determine.
    """

    part: PopulationCounts
    whole: PopulationCounts
    common: CommonCells

    @cached_property
    def of_part(self) -> Ints:
        """Return the published counts of the part."""
        return np.rint(self.part.published[self.common.first]).astype(np.int64)

    @cached_property
    def of_whole(self) -> Ints:
        """Return the published counts of the whole."""
        return np.rint(self.whole.published[self.common.second]).astype(np.int64)

    def true(self, truth: Truth) -> Ints:
        """Return the true counts of the complement."""
        whole, part = truth.counts(self.whole.layout.name), truth.counts(self.part.layout.name)
        found: Ints = whole[self.common.second] - part[self.common.first]
        return found

    @property
    def name(self) -> str:
        """Return the name of the complement."""
        return f"{self.whole.layout.name} without {self.part.layout.name}"


@dataclass(frozen=True, eq=False)
class ComplementEstimates:
    """Estimates for some cells of a complement."""

    rest: Complement
    cells: Ints
    guesses: DifferenceEstimates


def narrower(programme: Programme) -> list[tuple[str, str, frozenset[str]]]:
    """Return pairs of populations of one unit, part and whole, with the topics that restrict the part."""
    universes = {
        name: (tables[0].unit, universe_of(programme, tables[0])) for name, tables in programme.populations.items()
    }
    found = []
    for part, (unit, universe) in universes.items():
        for whole, (other, wider) in universes.items():
            if unit == other and all(universe.implies(factor) for factor in wider.factors):
                topics = frozenset(
                    topic for factor in universe.factors if not wider.implies(factor) for topic in factor.topics
                )
                found += [(part, whole, topics)] if topics else []
    return found


@ATTACKS.register("complement")
def complement(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the counts of persons who are in a population and not in a narrower one."""
    rests = [rest for rest in _rests(attacker) if len(rest.common.first)]
    if not rests:
        return []
    # Noisy empty cells draw noise by coordinates: their values may differ although the complement is empty.
    alike = attacker.noise.shared == "participants" and not attacker.noise.zeros_are_noisy
    found = _estimated(attacker, rests, alike=alike)
    about: dict[str, Any] = {
        "attack": "complement",
        "assumptions": (
            "the ratio of complement to part is estimated from the published differences of similar statistics",
        ),
    }
    counts = _counts_finding(found, **about)
    return [counts, _presence_finding(found, **about)] if alike and attacker.noise.variance else [counts]


def _rests(attacker: AttackerView) -> Iterator[Complement]:
    """Yield every pair of a part and its whole with the cells whose complement their universes do not determine.

    In some cells the universes and codes alone imply that the part is empty, in others that it equals the whole. The
    published counts add nothing there, and these cells are excluded.
    """
    unknowns: dict[str, Ints] = {}
    possible: dict[str, Flags] = {}
    for layout in unit_layouts(attacker.programme, spsn=True).values():
        start = 0
        for own in layout.layouts if isinstance(layout, JointLayout) else (layout,):
            cells = slice(start, start + own.cells)
            unknowns[own.name] = layout.equations.unknowns[cells]
            possible[own.name] = layout.equations.spread[cells] > 0
            start = cells.stop
    for part, whole, _ in narrower(attacker.programme):
        first, second = attacker.view(part), attacker.view(whole)
        common = common_cells(first.layout, second.layout)
        same = unknowns[part][common.first] == unknowns[whole][common.second]
        yield Complement(first, second, common.chosen(possible[part][common.first] & ~same))


def _estimated(attacker: AttackerView, rests: list[Complement], *, alike: bool) -> list[ComplementEstimates]:
    """Return the estimates for each kind of cells."""
    found: list[ComplementEstimates] = []
    for number, rest in enumerate(rests):
        common = rest.common
        kind = kinds(rest.of_part, common.statistic_of, common.first_tables, common.second_tables)
        total = int(kind.max()) + 1
        for which in range(total):
            cells = np.flatnonzero(kind == which)
            one = common.statistic_of[cells[0]]
            guesses = Differences(
                rest.of_part[cells],
                rest.of_whole[cells],
                averaged(attacker.noise, int(common.first_tables[one])),
                averaged(attacker.noise, int(common.second_tables[one])),
                attacker.random(number, which),
                ADDED,
                alike=alike,
                exchange=False,
            ).guesses()
            found.append(ComplementEstimates(rest, cells, guesses))
            if attacker.progress:
                attacker.progress("complement", which + 1, total)
    return found


def _counts_finding(parts: list[ComplementEstimates], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    groups, group_of = statistics_of([(part.rest.name, part.rest.common, part.cells) for part in parts])

    def actual(truth: Truth) -> Ints:
        return np.concatenate([part.rest.true(truth)[part.cells] for part in parts])

    estimate = np.maximum(np.concatenate([part.guesses.estimate for part in parts]), 0)
    return AttackEstimates(
        subject="complement counts",
        variant="counts",
        estimate=estimate,
        confidence=np.concatenate([part.guesses.confidence for part in parts]),
        naive=np.maximum(np.concatenate([(p.rest.of_whole - p.rest.of_part)[p.cells] for p in parts]), 0),
        actual=actual,
        groups=groups,
        group_of=group_of,
        predicted=predicted([part.guesses for part in parts]),
        method="the tables of a whole minus those of a part of it",
        **about,
    )


def _presence_finding(parts: list[ComplementEstimates], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return which complements are non-empty; unequal published values prove it."""
    groups, group_of = statistics_of([(part.rest.name, part.rest.common, part.cells) for part in parts])
    differs = np.concatenate([(part.rest.of_whole != part.rest.of_part)[part.cells] for part in parts])
    alike = np.concatenate([part.guesses.alike for part in parts])

    def actual(truth: Truth) -> Ints:
        true = np.concatenate([part.rest.true(truth)[part.cells] for part in parts])
        return (true > 0).astype(np.int64)

    def sentence(score: Score) -> str:
        proven = score.finding.certain & (score.finding.estimate == 1)
        right, total = int(score.right[proven].sum()), int(proven.sum())
        return f"In {total:,} cells the complement certainly contains persons: {right:,} of {total:,} correct."

    return AttackEstimates(
        subject="answers to whether the complement contains persons",
        variant="presence",
        answers=True,
        estimate=(differs | (alike < EVEN)).astype(np.int64),
        predicted=proven(differs, alike),
        confidence=np.where(differs, 1.0, np.maximum(alike, 1 - alike)),
        naive=np.zeros(len(differs), dtype=np.int64),
        actual=actual,
        groups=groups,
        group_of=group_of,
        sentence=sentence,
        method="whole and part have equal published values if they contain the same persons",
        **about,
    )
