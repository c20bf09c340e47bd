"""Outcomes of attacks: achieved and predicted success of each set of estimates, figures and sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.results import Result, ResultSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.expected_success import Predicted
    from discreet.attacks.scoring import ClassScore, Score
    from discreet.tabulation.distinct_cells import ProgrammeSize

HEADLINE = (
    "cells", "cases", "right", "achieved", "interval", "predicted", "predicted_error", "without_attack", "precision",
    "precision_interval",
)  # fmt: skip
EMPTY = "0"
"""The class of true counts that hold nobody."""
SINGLE, SINGLE_PERSONS = "1", "single persons"
"""The class of true counts of a single person, and how its figures are called."""
NOT_SCORED = "not scored: no true counts were given, so the figures are the attacker's own belief"


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """One finding with its score, where the truth is known, and what a formula predicts."""

    finding: AttackEstimates
    score: Score | None
    predicted: dict[str, Predicted] = field(default_factory=dict)

    @property
    def learnt(self) -> float:
        """Return how many values other than 0 she names rightly that she would not have named without the attack."""
        if self.score is None:
            return float(self.finding.confidence.sum())
        found = self.score.occupied
        return found.right - (found.naive or 0)

    @property
    def proven(self) -> int:
        """Return how many values other than 0 she is certain of, and right about."""
        about = self.finding.certain & (self.finding.estimate != 0)
        return int((about if self.score is None else about & self.score.right).sum())

    @property
    def rank(self) -> tuple[bool, float]:
        """Return what outcomes are ranked by: what is proven before what is likely, then how much was learnt."""
        return (self.proven > 0 and len(self.finding.estimate) > 1, self.learnt)

    def headline(self) -> ClassScore:
        """Return how the estimates did whose true value is not 0, with the prediction of their classes together."""
        assert self.score is not None  # noqa: S101 - asked for where there is a score
        found = self.score.occupied
        shares = [share for share in self.by_count() if share.name != EMPTY]
        if not shares or any(share.predicted is None for share in shares):
            return found
        predicted = sum(share.cells * (share.predicted or 0) for share in shares) / found.cells
        error = sum((share.cells / found.cells * (share.error or 0)) ** 2 for share in shares) ** 0.5
        return replace(found, predicted=predicted, error=error)

    def by_count(self) -> list[ClassScore]:
        """Return how estimates did by true count, with the prediction for each."""
        if self.score is None:
            return []
        found = []
        for share in self.score.by_count():
            told = self.predicted.get(share.name)
            found.append(told.beside(share) if told else share)
        return found

    @property
    def sentence(self) -> str:
        """Return what was learnt, in a sentence."""
        late = " Cut off: she may learn more." if self.finding.cut_off else ""
        if self.score is None:
            return self._unscored() + late
        if self.finding.sentence is not None:
            return self.finding.sentence(self.score) + late
        return self._scored(self.headline()) + late

    def _unscored(self) -> str:
        """Return what she believes, where nobody can tell whether it is right."""
        finding = self.finding
        if len(finding.estimate) == 1:
            return f"She takes {finding.subject} for {finding.estimate[0]:,}, with confidence {self._own_belief:.0%}."
        certain = f"; she is certain of {self.proven:,} that are not 0" if self.proven else ""
        many = f"{len(finding.estimate):,} {finding.subject} are estimated, those of nobody among them"
        return f"{many}; she expects {self._own_belief:.1%} to be right{certain}."

    def _scored(self, found: ClassScore) -> str:
        """Return how many values other than 0 are recovered, with what was predicted and what needs no attack."""
        finding, score = self.finding, self.score
        if not found.cells:
            return f"Of {len(finding.estimate):,} {finding.subject} none is other than 0."
        signed = score is not None and bool((score.actual < 0).any())
        predicted = f"; predicted {found.predicted:.1%}" if found.predicted is not None else ""
        naive = f", without the attack {found.naive / found.cells:.1%}" if found.naive is not None else ""
        nothing = "Nothing beyond what is published: " if found.naive and found.right <= found.naive else ""
        which = f"{finding.subject} {'other than' if signed else 'above'} 0"
        figures = f"({found.recall.words}{predicted}{naive})"
        return f"{nothing}{found.right:,} of {found.cells:,} {which} are recovered exactly {figures}."

    @property
    def _own_belief(self) -> float:
        if self.score is not None:
            return self.score.whole.confidence
        return float(self.finding.confidence.mean()) if len(self.finding.confidence) else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints for one finding."""
        finding = self.finding
        found: dict[str, Any] = {
            "attack": finding.attack,
            "variant": finding.variant,
            "subject": finding.subject,
            "method": finding.method,
            "estimates": len(finding.estimate),
            "confidence": self._own_belief,
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
        """Return the outcome as a number with its sentence and assumptions."""
        finding = self.finding
        value = self.headline().achieved if self.score else self._own_belief
        unscored = (NOT_SCORED,) if self.score is None else ()
        late = (finding.cut_off,) if finding.cut_off else ()
        return Result(
            name=finding.name,
            value=value,
            unit="1",
            sentence=self.sentence,
            assumptions=(*finding.assumptions, *unscored, *late),
            equation="estimates that equal the true value / estimates, where that is not 0",
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AttackReport(ResultSet):
    """What the attacks learnt, the worst first.

    Attributes:
        outcomes: a finding each.
        size: how many statistics and cells the release has.
        mounted: the attacks that were mounted.
        truth: where the true counts came from, None where there were none.
        seed: of the run.
        budget: target cells of attacks that work cell by cell; None for all cells.
        failed: attacks that ended in an error, with what it said.
        public_only: whether the attacker knew no more of the noise than the release tells.
        known: statistics whose true counts she knew.
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

    @property
    def title(self) -> str:
        """Return what the figures are about."""
        return self.opening("the release")

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the outcomes as results."""
        return tuple(outcome.result() for outcome in self.outcomes)

    @property
    def idle(self) -> list[str]:
        """Return the attacks that found nothing to attack."""
        found = {outcome.finding.attack for outcome in self.outcomes}
        return [name for name in self.mounted if name not in found and name not in self.failed]

    @property
    def warnings(self) -> list[str]:
        """Return what was left out, which rates are those of a sample, and that nothing could be scored."""
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
                found.append(f"{outcome.finding.name}: not scored, for the second release has no true counts.")
        return found + ([] if self.truth else [f"{NOT_SCORED[0].upper()}{NOT_SCORED[1:]}."])

    def opening(self, release: str) -> str:
        """Return what the figures are about, in a sentence."""
        source = f"true counts from {self.truth}" if self.truth else "without true counts"
        noise = "what the release tells of its noise" if self.public_only else "the law of the noise, not the keys"
        also = f"the true counts of {' and '.join(self.known)}, and " if self.known else ""
        learnt = f"What an attacker learns from {release} ({source}; she knows {also}{noise})."
        return f"{learnt} {self.size.sentence}"

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside settings, results and warnings."""
        return {**vars(self.size), "attacks": [each.to_json() for each in self.outcomes]}

    def __str__(self) -> str:
        return "\n".join(f"{outcome.finding.name}: {outcome.sentence}" for outcome in self.outcomes)


def of_single_persons(report: AttackReport) -> Iterator[Result]:
    """Give the success of attacks on cells of a single person, where counts of cells are what they name."""
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
