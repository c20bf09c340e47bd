"""Outcomes of attacks: achieved and predicted success of each set of estimates, as figures and as a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.attacks.attack_verdicts import JUDGED, attack_decision
from discreet.results import Result, ResultSet
from discreet.verdicts import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.expected_success import Predicted
    from discreet.attacks.scoring import ClassScore, Score
    from discreet.tabulation.distinct_cells import ProgrammeSize
    from discreet.verdicts import Decision

HEADLINE = (
    "cells", "cases", "right", "achieved", "interval", "predicted", "predicted_error", "without_attack", "precision",
    "precision_interval",
)  # fmt: skip
EMPTY = "0"
"""The class of empty cells."""
SINGLE, SINGLE_PERSONS = "1", "single persons"
"""The class of singleton cells, and the label of its results."""
NOT_SCORED = "not scored: no true counts were given, so the figures are the attacker's own confidence"


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """The estimates of one attack with their score, if true counts are known, and the predicted success by class."""

    finding: AttackEstimates
    score: Score | None
    predicted: dict[str, Predicted] = field(default_factory=dict)

    @property
    def learnt(self) -> float:
        """Return the gain: non-zero values recovered exactly, minus those recovered without the attack."""
        if self.score is None:
            return float(self.finding.confidence.sum())
        found = self.score.occupied
        return found.right - (found.naive or 0)

    @property
    def proven(self) -> int:
        """Return the number of non-zero estimates that are certain and, if scored, correct."""
        about = self.finding.certain & (self.finding.estimate != 0)
        return int((about if self.score is None else about & self.score.right).sum())

    @property
    def rank(self) -> tuple[bool, float]:
        """Return the sort key of outcomes: certain estimates before likely ones, then the gain."""
        return (self.proven > 0 and len(self.finding.estimate) > 1, self.learnt)

    def headline(self) -> ClassScore:
        """Return the score of estimates with a non-zero true value, with the combined prediction of their classes."""
        assert self.score is not None  # noqa: S101 - called only with a score
        found = self.score.occupied
        shares = [share for share in self.by_count() if share.name != EMPTY]
        if not shares or any(share.predicted is None for share in shares):
            return found
        predicted = sum(share.cells * (share.predicted or 0) for share in shares) / found.cells
        error = sum((share.cells / found.cells * (share.error or 0)) ** 2 for share in shares) ** 0.5
        return replace(found, predicted=predicted, error=error)

    def by_count(self) -> list[ClassScore]:
        """Return the scores by class of true count, each with its prediction."""
        if self.score is None:
            return []
        found = []
        for share in self.score.by_count():
            expected = self.predicted.get(share.name)
            found.append(expected.attach_to(share) if expected else share)
        return found

    @property
    def sentence(self) -> str:
        """Return the outcome as a sentence."""
        late = " Stopped early: the complete attack may learn more." if self.finding.cut_off else ""
        if self.score is None:
            return self._unscored() + late
        if self.finding.sentence is not None:
            return self.finding.sentence(self.score) + late
        return self._scored(self.headline()) + late

    def _unscored(self) -> str:
        """Return the estimates and the attacker's confidence as a sentence, without true counts."""
        finding = self.finding
        if len(finding.estimate) == 1:
            value, confidence = finding.estimate[0], self._mean_confidence
            return f"The attacker estimates {finding.subject} as {value:,} with confidence {confidence:.0%}."
        certain = f"; {self.proven:,} non-zero estimates are certain" if self.proven else ""
        many = f"{len(finding.estimate):,} {finding.subject} are estimated, including empty cells"
        return f"{many}; the attacker expects {self._mean_confidence:.1%} to be correct{certain}."

    def _scored(self, found: ClassScore) -> str:
        """Return the exact recovery of non-zero values as a sentence, with prediction and rate without the attack."""
        finding, score = self.finding, self.score
        if not found.cells:
            return f"The true values of all {len(finding.estimate):,} {finding.subject} are 0."
        signed = score is not None and bool((score.actual < 0).any())
        predicted = f"; predicted {found.predicted:.1%}" if found.predicted is not None else ""
        naive = f", without the attack {found.naive / found.cells:.1%}" if found.naive is not None else ""
        nothing = "No gain over the published counts: " if found.naive and found.right <= found.naive else ""
        which = f"{finding.subject} {'other than' if signed else 'above'} 0"
        figures = f"({found.recall.words}{predicted}{naive})"
        return f"{nothing}{found.right:,} of {found.cells:,} {which} are recovered exactly {figures}."

    @property
    def _mean_confidence(self) -> float:
        if self.score is not None:
            return self.score.whole.confidence
        return float(self.finding.confidence.mean()) if len(self.finding.confidence) else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints for one set of estimates."""
        finding = self.finding
        found: dict[str, Any] = {
            "attack": finding.attack,
            "variant": finding.variant,
            "subject": finding.subject,
            "method": finding.method,
            "estimates": len(finding.estimate),
            "confidence": self._mean_confidence,
            "certain": int(finding.certain.sum()),
            "cut_off": finding.cut_off or None,
        }
        if self.score is None:
            return found
        found |= {name: value for name, value in self.headline().to_json().items() if name in HEADLINE}
        whole = self.score.whole
        found |= {
            "all_cells": whole.cells,
            "accuracy": whole.achieved,
            "accuracy_interval": list(whole.recall.interval),
        }
        found["by_count"] = [share.to_json() for share in self.by_count()]
        found["by_statistic"] = [share.to_json() for share in self.score.by_group()]
        return found

    def result(self) -> Result:
        """Return the outcome as a result with its sentence and assumptions."""
        finding = self.finding
        value = self.headline().achieved if self.score else self._mean_confidence
        unscored = (NOT_SCORED,) if self.score is None else ()
        late = (finding.cut_off,) if finding.cut_off else ()
        return Result(
            name=finding.name,
            value=value,
            unit="1",
            sentence=self.sentence,
            assumptions=(*finding.assumptions, *unscored, *late),
            equation="correct estimates / estimates, over non-zero true values",
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AttackReport(ResultSet):
    """The outcomes of several attacks, the most successful first.

    Attributes:
        outcomes: one per set of estimates.
        size: the numbers of statistics and cells of the release.
        mounted: the names of the attacks that were run.
        truth: the source of the true counts; None if there were none.
        seed: the seed of the run.
        budget: number of target cells of attacks that work cell by cell; None for all cells.
        failed: the error messages of the attacks that failed, by name.
        public_only: whether the attacker knew only the noise parameters that the release discloses.
        known: statistics whose true counts the attacker knew.
        policy: the targets of the office.
    """

    outcomes: tuple[AttackOutcome, ...]
    size: ProgrammeSize
    mounted: tuple[str, ...]
    truth: str | None
    seed: int
    budget: int | None
    public_only: bool
    known: tuple[str, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)

    @property
    def decision(self) -> Decision:
        """Return the verdict on the release by the attacks on it."""
        return attack_decision(self, self.policy)

    @property
    def title(self) -> str:
        """Return the title of the report."""
        return self.opening("the release")

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the outcomes as results."""
        return tuple(outcome.result() for outcome in self.outcomes)

    @property
    def idle(self) -> list[str]:
        """Return the attacks that made no estimates."""
        found = {outcome.finding.attack for outcome in self.outcomes}
        return [name for name in self.mounted if name not in found and name not in self.failed]

    @property
    def warnings(self) -> list[str]:
        """Return warnings: incomplete or failed attacks, sampled rates, and missing true counts."""
        found = [f"{each.finding.name}: {each.finding.cut_off}." for each in self.outcomes if each.finding.cut_off]
        found += [f"The attack {name} failed: {why}." for name, why in self.failed.items()]
        for outcome in self.outcomes:
            if outcome.finding.sampled:
                which = ", stratified by true count" if self.truth else ""
                found.append(
                    f"{outcome.finding.name}: rates from a sample of {self.budget:,} cells{which}. "
                    "A larger --budget estimates more cells."
                )
            if self.truth and outcome.score is None:
                found.append(f"{outcome.finding.name}: not scored, because the second release has no true counts.")
        return found + ([] if self.truth else [f"{NOT_SCORED[0].upper()}{NOT_SCORED[1:]}."])

    def opening(self, release: str) -> str:
        """Return the release, the source of true counts, the attacker model and the programme size as sentences."""
        source = f"scored against true counts from {self.truth}" if self.truth else "without true counts"
        noise = "the disclosed noise parameters only" if self.public_only else "the noise distribution, not the keys"
        also = f"the true counts of {' and '.join(self.known)}, and " if self.known else ""
        return f"Attacks on {release}, {source}. Attacker model: knows {also}{noise}. {self.size.sentence}"

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints in addition to settings, results and warnings."""
        return {
            **vars(self.size),
            "attacks": [each.to_json() for each in self.outcomes],
            "targets": self.policy.to_json(JUDGED),
            "decision": self.decision.to_json(),
        }

    def __str__(self) -> str:
        return "\n".join(f"{outcome.finding.name}: {outcome.sentence}" for outcome in self.outcomes)


def singleton_results(report: AttackReport) -> Iterator[Result]:
    """Yield the exact recovery rate of singleton cells for every attack that estimates counts of cells."""
    for outcome in report.outcomes:
        share = next((each for each in outcome.by_count() if each.name == SINGLE), None)
        if share is None or outcome.finding.answers:
            continue
        yield Result(
            name=f"{outcome.finding.name}: {SINGLE_PERSONS}",
            value=share.achieved,
            unit="1",
            sentence=f"{share.recall.words} of {share.cells:,} singleton cells are recovered exactly.",
            assumptions=outcome.finding.assumptions,
            equation="estimates of 1 / cells whose true count is 1",
        )
