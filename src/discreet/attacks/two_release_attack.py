"""Attacks on two releases of nearly the same population: changes of counts, and means of unchanged ones.

The information in the difference of two published counts depends on what determines the noise:

- unchanged: the same participants (cell keys), or the same codes with the same count (coordinates), have the same
  noise. A cell with another published value has certainly changed; the difference of two noise terms hides by how much.
- sticky: the noise of a cell depends on its codes alone. It cancels, and the difference of large counts is the true
  change. Gadotti et al. (2019), When the signal is in the noise, USENIX Security. No mechanism of this package does
  that; other software may.
- independent: new keys, a new label, fresh noise. The difference carries two noise terms, and even an unchanged count
  is published alike with probability sum_x p(x)^2 only. The precision-weighted mean of two published values of an
  unchanged count, with noise of variance V1 and V2, has variance

      V1 V2 / (V1 + V2),

  half of V if both are equal. `projection` and `margins` do not use that mean.

The releases reveal the case. Noisy differences add up from parts to totals by chance in a share of at most
sum_x p(x)^2 (Cauchy-Schwarz). If the observed share is nearer to 1 than to this, the noise is sticky. Otherwise the
case is unchanged if a model that publishes unchanged cells alike has a far larger likelihood (`count_differences`) than
independent noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.attack_estimates import (
    ATTACKS,
    CERTAIN,
    AttackEstimates,
    CellEstimates,
    cells_finding,
    nearest_possible,
)
from discreet.attacks.averaging_attack import chance_right
from discreet.attacks.count_differences import (
    EVEN,
    Differences,
    averaged,
    common_cells,
    kinds,
    predicted,
    proven,
    statistics_of,
    turnover,
)
from discreet.attacks.scoring import CLASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView, PopulationCounts
    from discreet.attacks.count_differences import CommonCells, DifferenceEstimates
    from discreet.attacks.scoring import Score

LARGE = 30
"""Counts from this one on have the same noise distribution for the prediction."""
UNCHANGED = "counts did not change between the releases, and their noise is independent"
MORE = "the other attacks use only the first release: with both releases their success would be higher"


def two_release_mean(
    attacker: AttackerView,
    pairs: Sequence[tuple[PopulationCounts, PopulationCounts, CommonCells]],
    second: AssumedNoise,
) -> AttackEstimates:
    """Return every count that both releases publish, estimated as the weighted mean."""
    first = attacker.noise
    whole = first.variance + second.variance
    share = second.variance / whole if whole else 0.5
    variance = first.variance * second.variance / whole if whole else 0.0
    parts = []
    for view, other, common in pairs:
        mean = share * view.published[common.first] + (1 - share) * other.published[common.second]
        sure = np.full(len(mean), chance_right(np.array([variance]))[0])
        parts.append(CellEstimates(view, common.first, mean, sure))
    chance = partial(_chance, first=first, second=second, share=share)
    return cells_finding(
        attacker,
        parts,
        attack="two-releases",
        variant="mean",
        subject="counts",
        predicted={
            name: float(np.mean([chance(count) for count in range(int(low), int(min(high, LARGE)) + 1)]))
            for name, (low, high) in CLASSES.items()
        },
        method="the mean of both releases, weighted by precision",
        assumptions=(UNCHANGED, MORE),
    )


def _chance(count: int, first: AssumedNoise, second: AssumedNoise, share: float) -> float:
    """Return the probability that the mean of two noisy values, rounded to a feasible count, is the true count."""
    one, two = (np.arange(-noise.reach, noise.reach + 1) for noise in (first, second))
    laws = [noise.chance(np.array([count]), count + each) for noise, each in ((first, one), (second, two))]
    mean = count + share * one[:, None] + (1 - share) * two[None, :]
    shown = np.broadcast_to((count + one)[:, None], mean.shape).astype(float)
    right = nearest_possible(mean.ravel(), shown.ravel(), first) == count
    return float((laws[0][:, None] * laws[1][None, :]).ravel() @ right)


FAR = 10.0
"""Minimum log-likelihood ratio that rules out independent noise."""
FAMILIES = 5
"""Minimum number of totals with changed parts for testing whether differences add up."""

METHODS = {
    "unchanged": "the difference of two releases in which unchanged cells keep their noise",
    "sticky": "the difference of two releases in which every cell keeps its noise, whatever its count",
    "independent": "the difference of two releases with independent noise",
}


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """One population in two releases.

    Attributes:
        view: the published counts of the first release.
        second: the published counts of the second release.
        noise: the noise distribution of the first release.
        second_noise: the noise distribution of the second release.
        models: the fitted models, by kind of cells and by whether unchanged cells keep their noise.
    """

    view: PopulationCounts
    second: PopulationCounts
    noise: AssumedNoise
    second_noise: AssumedNoise
    models: dict[tuple[int, bool], Differences] = field(default_factory=dict)

    @cached_property
    def common(self) -> CommonCells:
        """Return the cells that both releases publish."""
        return common_cells(self.view.layout, self.second.layout)

    @cached_property
    def before(self) -> Ints:
        """Return the published counts of the first release."""
        return np.rint(self.view.published[self.common.first]).astype(np.int64)

    @cached_property
    def after(self) -> Ints:
        """Return the published counts of the second release."""
        return np.rint(self.second.published[self.common.second]).astype(np.int64)

    @property
    def difference(self) -> Ints:
        """Return the published count of the second release minus that of the first."""
        return self.after - self.before

    @cached_property
    def kinds(self) -> list[Ints]:
        """Return the cells of every kind of statistics."""
        if not len(self.common.first):
            return []
        kind = kinds(self.before, self.common.statistic_of, self.common.first_tables, self.common.second_tables)
        return [np.flatnonzero(kind == which) for which in range(int(kind.max()) + 1)]

    def model(self, kind: int, random: np.random.Generator, *, alike: bool) -> Differences:
        """Return the model of one kind of cells, fitted once; with `alike`, unchanged cells keep their noise."""
        if (kind, alike) not in self.models:
            cells = self.kinds[kind]
            one = self.common.statistic_of[cells[0]]
            self.models[kind, alike] = Differences(
                self.before[cells],
                self.after[cells],
                averaged(self.noise, int(self.common.first_tables[one])),
                averaged(self.second_noise, int(self.common.second_tables[one])),
                random,
                turnover(self.noise),
                alike=alike,
                exchange=self.noise.shared != "coordinates",
            )
        return self.models[kind, alike]

    @property
    def repeated(self) -> float:
        """Return sum_x p(x)^2 for large counts: the maximum probability that two independent noise terms agree."""
        one, two = (np.mean(noise.laws[-noise.repeat :], axis=0) for noise in (self.noise, self.second_noise))
        return float(np.sqrt((one @ one) * (two @ two)))

    def adding_up(self) -> tuple[int, int]:
        """Return the number of families whose differences of parts add up to that of the total, and of all families.

        Only families with at least two changed parts are considered. If changed cells have independent noise, their
        differences add up only by chance.
        """
        layout = self.view.layout
        known, change = np.zeros(layout.cells, dtype=bool), np.zeros(layout.cells)
        known[self.common.first], change[self.common.first] = True, self.difference
        fits = families = 0
        for link in layout.equations.links:
            below = change[link.fine : link.fine + len(link.parent)]
            above = slice(link.coarse, link.coarse + link.size)
            if not (known[above].all() and known[link.fine : link.fine + len(link.parent)].all()):
                continue
            several = np.bincount(link.parent, below != 0, link.size) >= 2
            gap = change[above] - np.bincount(link.parent, below, link.size)
            fits += int((gap[several] == 0).sum())
            families += int(several.sum())
        return fits, families


def regime(comparisons: list[ReleasePair], attacker: AttackerView) -> str:
    """Return what determines the noise, inferred from two releases: `unchanged`, `sticky` or `independent`."""
    fits, families = (sum(found) for found in zip(*(c.adding_up() for c in comparisons), strict=True))
    chance = max(comparison.repeated for comparison in comparisons)
    if families >= FAMILIES and fits / families > (1 + chance) / 2:
        return "sticky"
    better = 0.0
    for number, comparison in enumerate(comparisons):
        for which in range(len(comparison.kinds)):
            stays, moves = (
                comparison.model(which, attacker.random(number, which), alike=alike).log_likelihood
                for alike in (True, False)
            )
            better += stays - moves
    return "unchanged" if better > FAR else "independent"


@dataclass(frozen=True, eq=False)
class Changes:
    """Estimated changes of some cells of one population."""

    comparison: ReleasePair
    cells: Ints
    guesses: DifferenceEstimates


@ATTACKS.register("two-releases")
def two_releases(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the change of every count that two releases publish, and which cells have changed."""
    comparisons = _comparisons(attacker)
    if not any(len(comparison.common.first) for comparison in comparisons):
        return []
    found = regime(comparisons, attacker)
    parts = _changes(attacker, comparisons, found)
    about: dict[str, Any] = {"attack": "two-releases"}
    findings = [_changes_finding(parts, found, **about)]
    if found == "unchanged":
        findings.append(_changed_finding(parts, by_count=attacker.noise.shared == "coordinates", **about))
    if found == "independent":
        pairs = [(comparison.view, comparison.second, comparison.common) for comparison in comparisons]
        findings.append(two_release_mean(attacker, pairs, comparisons[0].second_noise))
    return findings


def _comparisons(attacker: AttackerView) -> list[ReleasePair]:
    """Return the populations that both releases contain."""
    other = attacker.knowledge.other
    if other is None:
        return []
    # A release that discloses the same noise parameters is assumed to have the same noise.
    second = attacker.noise if _disclosed(other) == _disclosed(attacker) else other.noise
    return [
        ReleasePair(attacker.view(name), other.view(name), attacker.noise, second)
        for name in attacker.populations
        if name in other.populations
    ]


def _disclosed(attacker: AttackerView) -> dict[str, Any]:
    return {name: value for name, value in attacker.disclosed.items() if name != "programme"}


def _changes(attacker: AttackerView, comparisons: list[ReleasePair], found: str) -> list[Changes]:
    """Return the estimated changes of each kind of cells."""
    parts: list[Changes] = []
    total = sum(len(comparison.kinds) for comparison in comparisons)
    for number, comparison in enumerate(comparisons):
        for which, cells in enumerate(comparison.kinds):
            model = comparison.model(which, attacker.random(number, which), alike=found == "unchanged")
            guesses = model.guesses()
            if found == "sticky":
                guesses = _without_noise(comparison, cells, guesses)
            parts.append(Changes(comparison, cells, guesses))
            if attacker.progress:
                attacker.progress("two-releases", len(parts), total)
    return parts


def _without_noise(comparison: ReleasePair, cells: Ints, guesses: DifferenceEstimates) -> DifferenceEstimates:
    """Return the estimates; if both counts have the same distribution, the published difference is the true change."""
    noise = comparison.noise
    sure = np.minimum(comparison.before[cells], comparison.after[cells]) >= len(noise.laws) - 1 + noise.reach
    return replace(
        guesses,
        estimate=np.where(sure, comparison.difference[cells], guesses.estimate),
        confidence=np.where(sure, 1.0, guesses.confidence),
        cells={},
        right={},
    )


def _changes_finding(parts: list[Changes], found: str, **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    groups, group_of = _statistics(parts)

    def actual(truth: Truth) -> Ints:
        return np.concatenate([_true_change(part.comparison, truth)[part.cells] for part in parts])

    estimate = np.concatenate([part.guesses.estimate for part in parts])
    return AttackEstimates(
        subject="changes of counts between two releases",
        variant="changes",
        estimate=estimate,
        confidence=np.concatenate([part.guesses.confidence for part in parts]),
        naive=np.concatenate([part.comparison.difference[part.cells] for part in parts]),
        actual=actual,
        needs_other=True,
        groups=groups,
        group_of=group_of,
        predicted={} if found == "sticky" else predicted([part.guesses for part in parts]),
        method=METHODS[found],
        assumptions=(
            "the noise is determined as the two releases indicate",
            "persons arrive and leave one by one, at rates estimated from the differences of similar statistics",
        ),
        **about,
    )


def _changed_finding(parts: list[Changes], *, by_count: bool, **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return which cells have changed: in participants under cell keys, in the count under coordinates."""
    groups, group_of = _statistics(parts)
    differs = np.concatenate([part.comparison.difference[part.cells] != 0 for part in parts])
    alike = np.concatenate([part.guesses.alike for part in parts])
    changed = differs | (alike < EVEN)
    words = "the count changed" if by_count else "the participants changed"

    def actual(truth: Truth) -> Ints:
        return np.concatenate([_truly_changed(part.comparison, truth, by_count=by_count)[part.cells] for part in parts])

    def sentence(score: Score) -> str:
        sure = score.finding.confidence >= CERTAIN
        proven = sure & (score.finding.estimate == 1)
        right = int(score.right[proven].sum())
        total = int(proven.sum())
        rest = "" if right == total else "; true counts do not show the others, e.g. if one person replaces another"
        return f"In {total:,} cells {words} with certainty: {right:,} of {total:,} correct{rest}."

    return AttackEstimates(
        subject=f"answers to whether {words}",
        variant="changed",
        answers=True,
        estimate=changed.astype(np.int64),
        predicted=proven(differs, alike),
        confidence=np.where(differs, 1.0, np.maximum(alike, 1 - alike)),
        naive=np.zeros(len(changed), dtype=np.int64),
        actual=actual,
        needs_other=True,
        groups=groups,
        group_of=group_of,
        sentence=sentence,
        method="a cell with another published value has changed, since unchanged cells keep their noise",
        assumptions=("both releases have the same keys or label, as the many equal values indicate",),
        **about,
    )


def _statistics(parts: list[Changes]) -> tuple[tuple[str, ...], Ints]:
    """Return the names of all statistics, with the population if there are several, and the number of every change."""
    populations = [part.comparison.view.layout.name for part in parts]
    names = populations if len(set(populations)) > 1 else [""] * len(parts)
    return statistics_of([(who, part.comparison.common, part.cells) for who, part in zip(names, parts, strict=True)])


def _true_change(comparison: ReleasePair, truth: Truth) -> Ints:
    name = comparison.view.layout.name
    change: Ints = truth.other.counts(name)[comparison.common.second] - truth.counts(name)[comparison.common.first]
    return change


def _truly_changed(comparison: ReleasePair, truth: Truth, *, by_count: bool) -> Ints:
    """Return where true counts show a change: of the cell or, for participants, also of a part of it."""
    changed: Ints = (_true_change(comparison, truth) != 0).astype(np.int64)
    if by_count:
        return changed
    layout = comparison.view.layout
    shown = np.zeros(layout.cells)
    shown[comparison.common.first] = changed
    links = layout.equations.links
    before = -1.0
    while shown.sum() > before:
        before = shown.sum()
        for link in links:
            parts = np.bincount(link.parent, shown[link.fine : link.fine + len(link.parent)], link.size)
            above = slice(link.coarse, link.coarse + link.size)
            shown[above] = np.maximum(shown[above], parts > 0)
    return shown[comparison.common.first].astype(np.int64)
