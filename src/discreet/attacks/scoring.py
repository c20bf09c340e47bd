"""Scoring: estimates beside the truth, by true count and by statistic. Here alone the truth is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.attacks.finding import Finding, Truth

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

CLASSES = {"0": (0, 0), "1": (1, 1), "2": (2, 2), "3-5": (3, 5), "6-20": (6, 20), "21+": (21, np.inf)}
"""True counts that are told apart: small ones have laws of noise of their own."""


@dataclass(frozen=True)
class Share:
    """How the estimates of one class did.

    Attributes:
        name: the class, a true count or a statistic.
        cells: how many estimates.
        right: how many are right.
        confidence: the mean of the attacker's own confidence.
        naive: how many are right without the attack; None where nothing could be said.
        certain: how many she is certain of.
        predicted: the share that a formula predicts, given the truth; None where it was not computed.
        error: the standard error of the prediction.
        noises: how many different noises stand behind the estimates, where that is known.
    """

    name: str
    cells: int
    right: int
    confidence: float
    naive: int | None
    certain: int
    predicted: float | None = None
    error: float | None = None
    noises: int | None = None

    @property
    def achieved(self) -> float:
        """Return the share of estimates that are right."""
        return self.right / max(self.cells, 1)

    def to_json(self) -> dict[str, Any]:
        """Return the row that `--json` prints."""
        return {
            "class": self.name,
            "cells": self.cells,
            "right": self.right,
            "achieved": self.achieved,
            "predicted": self.predicted,
            "predicted_error": self.error,
            "noises": self.noises,
            "confidence": self.confidence,
            "without_attack": None if self.naive is None else self.naive / max(self.cells, 1),
            "certain": self.certain,
        }


@dataclass(frozen=True, eq=False)
class Score:
    """A finding beside the truth.

    Attributes:
        finding: what the attacker said.
        actual: the true values of what she estimated.
        truth: everything else that is true.
    """

    finding: Finding
    actual: Ints
    truth: Truth

    @cached_property
    def right(self) -> Flags:
        """Return which estimates are right."""
        found: Flags = self.finding.estimate == self.actual
        return found

    @property
    def whole(self) -> Share:
        """Return how all estimates did."""
        return self.share("all", np.ones(len(self.actual), dtype=bool))

    @property
    def occupied(self) -> Share:
        """Return how the estimates did whose true value is not 0: an empty cell is mostly published as one."""
        return self.share("not 0", self.actual != 0)

    def by_count(self) -> list[Share]:
        """Return how estimates did by true value; classes that do not occur are left out."""
        return [self.share(name, where) for name, where in self.classes().items()]

    def classes(self) -> dict[str, Flags]:
        """Return which estimates have a true value of each class; sizes of changes count without their sign."""
        size = np.abs(self.actual)
        found = {name: (size >= low) & (size <= high) for name, (low, high) in CLASSES.items()}
        return {name: where for name, where in found.items() if where.any()}

    def by_group(self) -> list[Share]:
        """Return how estimates did by statistic, the best known first."""
        finding = self.finding
        if finding.group_of is None:
            return []
        groups = len(finding.groups)
        cells = np.bincount(finding.group_of, minlength=groups)
        right = np.bincount(finding.group_of, self.right, groups)
        sure = np.bincount(finding.group_of, finding.confidence, groups)
        certain = np.bincount(finding.group_of, finding.certain, groups)
        naive = None if finding.naive is None else np.bincount(finding.group_of, finding.naive == self.actual, groups)
        found = [
            Share(
                finding.groups[g],
                int(cells[g]),
                int(right[g]),
                float(sure[g] / cells[g]),
                None if naive is None else int(naive[g]),
                int(certain[g]),
            )
            for g in np.flatnonzero(cells).tolist()
        ]
        return sorted(found, key=lambda share: -share.achieved)

    def share(self, name: str, where: Flags) -> Share:
        """Return how some of the estimates did."""
        finding = self.finding
        cells = int(where.sum())
        return Share(
            name,
            cells,
            int(self.right[where].sum()),
            float(finding.confidence[where].mean()) if cells else 0.0,
            None if finding.naive is None else int((finding.naive == self.actual)[where].sum()),
            int(finding.certain[where].sum()),
        )


def score(finding: Finding, truth: Truth) -> Score:
    """Compare a finding with the truth."""
    return Score(finding, np.asarray(finding.actual(truth), dtype=np.int64), truth)
