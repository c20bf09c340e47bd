"""Scores of attacks: estimates compared with true counts, by true count and by statistic.

The true counts behind a release are one vector per population. Attacks never read them; scores, target cells,
predictions and public totals do. Cells that are one unknown count once, except by statistic. Estimates of a sample of
cells are weighted by the number of cells each represents. Recall is the share correct among the cells of a true count,
precision the share correct among the estimates of a count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.attacker_view import noise_from_disclosure, noise_from_record
from discreet.errors import ReleaseError
from discreet.release.true_tables import RESTORE_TRUTH, TrueTables
from discreet.tabulation.cell_vector import layouts, unit_layouts

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates, Truth
    from discreet.attacks.attacker_view import AssumedNoise
    from discreet.release.release import Release

CLASSES = {"0": (0, 0), "1": (1, 1), "2": (2, 2), "3-5": (3, 5), "6-20": (6, 20), "21+": (21, np.inf)}
"""Classes of true counts: small counts have noise distributions of their own."""
FEW = 100
"""Number of cases below which a rate is reported with its interval."""
TWO_SIDED = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


def class_numbers(counts: Ints) -> Ints:
    """Return the number of the class of every count in `CLASSES`; changes are classed by absolute value."""
    lows = [low for low, _ in CLASSES.values()]
    return np.searchsorted(lows, np.abs(counts), side="right") - 1


def wilson(share: float, cases: float) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share.

    >>> [round(end, 3) for end in wilson(0.0, 10)]
    [0.0, 0.278]
    """
    if not cases:
        return 0.0, 1.0
    z = TWO_SIDED
    centre = (share + z**2 / (2 * cases)) / (1 + z**2 / cases)
    half = z / (1 + z**2 / cases) * math.sqrt(share * (1 - share) / cases + z**2 / (4 * cases**2))
    # Rounding could otherwise exclude the share itself at 0 or 1.
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)


@dataclass(frozen=True)
class Rate:
    """A share of cells.

    Attributes:
        right: the number of correct cells.
        cells: the number of cells.
        cases: the number of scored cells: fewer than `cells` in a sample.
        effective: the effective sample size, i.e. the equivalent number of cases of equal weight.
    """

    right: float
    cells: float
    cases: int
    effective: float

    @property
    def share(self) -> float:
        """Return the share."""
        return self.right / self.cells if self.cells else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return its 95 % Wilson interval."""
        return wilson(min(self.share, 1.0), self.effective)

    @property
    def words(self) -> str:
        """Return the share in percent, with its 95 % interval if there are few cases."""
        if self.cases >= FEW:
            return f"{self.share:.1%}"
        low, high = self.interval
        return f"{self.share:.1%} [{low:.0%} to {high:.0%}]"


def rate(right: Flags, where: Flags, weights: Floats) -> Rate:
    """Return the share of correct cells among the selected ones."""
    weight = weights[where]
    total = float(weight.sum())
    # Kish: the effective sample size is (sum w)^2 / sum w^2.
    effective = total**2 / float((weight**2).sum()) if total else 0.0
    return Rate(float(weight[right[where]].sum()), total, int(where.sum()), effective)


@dataclass(frozen=True)
class ClassScore:
    """The score of the estimates of one class.

    Attributes:
        name: the class, a true count or a statistic.
        recall: the share correct among the cells of the class.
        precision: the share correct among the estimates of the class; None for a class of statistics.
        confidence: the mean of the attacker's confidence.
        naive: the number correct without the attack; None if there are no estimates without it.
        certain: the number of certain estimates.
        predicted: the predicted share correct, given the true counts; None if it was not computed.
        error: the standard error of the prediction.
        noise_terms: the number of distinct noise terms of the cells; None if unknown.
    """

    name: str
    recall: Rate
    precision: Rate | None
    confidence: float
    naive: int | None
    certain: int
    predicted: float | None = None
    error: float | None = None
    noise_terms: int | None = None

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return round(self.recall.cells)

    @property
    def right(self) -> int:
        """Return the number of correct cells."""
        return round(self.recall.right)

    @property
    def achieved(self) -> float:
        """Return the share of correct estimates."""
        return self.recall.share

    def to_json(self) -> dict[str, Any]:
        """Return the row that `--json` prints."""
        return {
            "class": self.name,
            "cells": self.cells,
            "cases": self.recall.cases,
            "right": self.right,
            "achieved": self.achieved,
            "interval": list(self.recall.interval),
            "predicted": self.predicted,
            "predicted_error": self.error,
            "noise_terms": self.noise_terms,
            "confidence": self.confidence,
            "without_attack": None if self.naive is None else self.naive / max(self.cells, 1),
            "certain": self.certain,
            "estimated": None if self.precision is None else round(self.precision.cells),
            "precision": None if self.precision is None or not self.precision.cases else self.precision.share,
            "precision_interval": None if self.precision is None else list(self.precision.interval),
        }


@dataclass(frozen=True, eq=False)
class Score:
    """Estimates compared with the true values.

    Attributes:
        finding: the estimates.
        actual: the true values of the estimated quantities.
        truth: all true counts.
        given_weights: the number of cells that every estimate represents; None if all cells were estimated.
    """

    finding: AttackEstimates
    actual: Ints
    truth: Truth
    given_weights: Floats | None = None

    @cached_property
    def right(self) -> Flags:
        """Return which estimates are correct."""
        found: Flags = self.finding.estimate == self.actual
        return found

    @cached_property
    def weights(self) -> Floats:
        """Return the number of cells that every estimate represents."""
        return np.ones(len(self.actual)) if self.given_weights is None else self.given_weights

    @cached_property
    def once(self) -> Flags:
        """Return the first estimate of every unknown: cells with the same unknown are scored once."""
        unknown_of = self.finding.unknown_of
        if unknown_of is None:
            return np.ones(len(self.actual), dtype=bool)
        found = np.zeros(len(unknown_of), dtype=bool)
        found[np.unique(unknown_of, return_index=True)[1]] = True
        return found

    @property
    def whole(self) -> ClassScore:
        """Return the score of all estimates."""
        return self.share("all", np.ones(len(self.actual), dtype=bool))

    @property
    def occupied(self) -> ClassScore:
        """Return the score of estimates with a non-zero true value: most empty cells are published as 0 anyway."""
        return self.share("not 0", self.actual != 0, self.finding.estimate != 0)

    def by_count(self) -> list[ClassScore]:
        """Return the scores by class of true value; classes without cells are omitted."""
        estimated = self._in_classes(self.finding.estimate)
        return [self.share(name, where, estimated[name]) for name, where in self.classes().items()]

    def classes(self) -> dict[str, Flags]:
        """Return the estimates with a true value in each class; changes are classed by absolute value."""
        return {name: where for name, where in self._in_classes(self.actual).items() if where.any()}

    @staticmethod
    def _in_classes(values: Ints) -> dict[str, Flags]:
        number = class_numbers(values)
        return {name: number == place for place, name in enumerate(CLASSES)}

    def by_group(self) -> list[ClassScore]:
        """Return the scores by statistic, the highest share correct first."""
        finding, weights, group_of = self.finding, self.weights, self.finding.group_of
        if group_of is None:
            return []
        groups = len(finding.groups)

        def total(values: Floats | Flags) -> Floats:
            return np.bincount(group_of, weights * values, groups).astype(float)

        cases, squares = np.bincount(group_of, minlength=groups), total(weights)
        cells, right, certain = total(np.ones(len(weights))), total(self.right), total(finding.certain)
        sure = total(finding.confidence)
        naive = None if finding.naive is None else total(finding.naive == self.actual)
        found = [
            ClassScore(
                finding.groups[g],
                Rate(float(right[g]), float(cells[g]), int(cases[g]), float(cells[g] ** 2 / squares[g])),
                None,
                float(sure[g] / cells[g]),
                None if naive is None else round(naive[g]),
                round(certain[g]),
            )
            for g in np.flatnonzero(cases).tolist()
        ]
        return sorted(found, key=lambda share: -share.achieved)

    def share(self, name: str, where: Flags, estimated: Flags | None = None) -> ClassScore:
        """Return the score of a class of estimates.

        Args:
            name: the name of the class.
            where: the estimates whose true value is in the class.
            estimated: the estimates that are themselves in the class; None for a class of statistics.
        """
        finding, weights = self.finding, self.weights
        where = where & self.once
        found = rate(self.right, where, weights)
        weight = weights[where]
        return ClassScore(
            name,
            found,
            None if estimated is None else rate(self.right, estimated & self.once, weights),
            float(finding.confidence[where] @ weight) / found.cells if found.cells else 0.0,
            None if finding.naive is None else round(float(weight @ (finding.naive == self.actual)[where])),
            round(float(weight @ finding.certain[where])),
        )


def score(finding: AttackEstimates, truth: Truth, weights: Floats | None = None) -> Score:
    """Return the score of estimates; `weights` is the number of cells that each represents in a sample."""
    return Score(finding, np.asarray(finding.actual(truth), dtype=np.int64), truth, weights)


class TrueCounts:
    """The true counts of a release: in memory, in the curator's folder or in a given folder.

    Args:
        release: the release.
        folder: the folder of the true counts; OUT.curator/exact by default.
        other: the true counts of a second release.
        answer: the true total behind a query interface.
    """

    def __init__(
        self,
        release: Release,
        folder: Path | None = None,
        other: TrueCounts | None = None,
        answer: int | None = None,
    ) -> None:
        self._release = release
        self._tables = TrueTables(release, folder)
        self._other = other
        self._answer = answer
        self._counts: dict[str, Ints] = {}

    @property
    def has_other(self) -> bool:
        """Return whether the true counts of a second release are available."""
        return self._other is not None

    @property
    def other(self) -> TrueCounts:
        """Return the true counts of the second release."""
        if self._other is None:
            raise ReleaseError.at(self._where, "has no second release with true counts", RESTORE_TRUTH)
        return self._other

    @cached_property
    def noise(self) -> AssumedNoise:
        """Return the actual noise distribution, or the disclosed one if the noise record is not available."""
        if self._release.has_record:
            return noise_from_record(self._release.record)
        return noise_from_disclosure(self._release.description["noise"])

    @property
    def bound(self) -> float:
        """Return the noise bound of the release."""
        return self.noise.bound

    @property
    def answer(self) -> int:
        """Return the true total behind a query interface."""
        if self._answer is None:
            raise ReleaseError.at(self._where, "has no true total of the query interface", "Pass it as `answer`.")
        return self._answer

    @property
    def place(self) -> str:
        """Return the source of the true counts."""
        return self._tables.place

    @property
    def _where(self) -> Path:
        return self._release.path or Path("This release in memory")

    def counts(self, population: str) -> Ints:
        """Return the true count of every cell of a population or a unit, in the order of the published cells."""
        if population not in self._counts:
            programme = self._release.programme
            layout = (layouts(programme, spsn=True) | unit_layouts(programme, spsn=True))[population]
            self._counts[population] = np.rint(layout.vector_of(self._tables.laid_out)).astype(np.int64)
        return self._counts[population]
