"""What attacks learnt, one outcome per finding: achieved beside predicted, in figures and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.results import Result

if TYPE_CHECKING:
    from discreet.attacks.finding import Finding
    from discreet.attacks.scoring import Score, Share
    from discreet.design.data_aware import Predicted

HEADLINE = ("cells", "right", "achieved", "predicted", "predicted_error", "without_attack")
EMPTY = "0"
"""The class of true counts that hold nobody."""
NOT_SCORED = "not scored: no true counts were given, so the figures are the attacker's own belief"


@dataclass(frozen=True, eq=False)
class Outcome:
    """One finding with its score, where the truth is known, and what a formula predicts."""

    finding: Finding
    score: Score | None
    predicted: dict[str, Predicted] = field(default_factory=dict)

    @property
    def learnt(self) -> float:
        """Return how many values the attacker names rightly that she would not have named without the attack."""
        if self.score is None:
            return float(self.finding.confidence.sum())
        whole = self.score.whole
        return whole.right - (whole.naive or 0)

    def headline(self) -> Share:
        """Return how the estimates did whose true value is not 0, with the prediction of their classes together."""
        assert self.score is not None  # noqa: S101 - asked for where there is a score
        found = self.score.occupied
        shares = [share for share in self.by_count() if share.name != EMPTY]
        if not shares or any(share.predicted is None for share in shares):
            return found
        predicted = sum(share.cells * (share.predicted or 0) for share in shares) / found.cells
        error = sum((share.cells / found.cells * (share.error or 0)) ** 2 for share in shares) ** 0.5
        return replace(found, predicted=predicted, error=error)

    def by_count(self) -> list[Share]:
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
        finding = self.finding
        if self.score is None:
            many = f"{len(finding.estimate):,} {finding.subject}"
            return f"{many} are estimated; the attacker expects {self._own_belief:.1%} to be right."
        if finding.sentence is not None:
            return finding.sentence(self.score)
        found = self.headline()
        predicted = f"; predicted {found.predicted:.1%}" if found.predicted is not None else ""
        naive = f", without the attack {found.naive / max(found.cells, 1):.1%}" if found.naive is not None else ""
        return (
            f"{found.right:,} of {found.cells:,} {finding.subject} above 0 are known to the person "
            f"({found.achieved:.1%}{predicted}{naive})."
        )

    @property
    def _own_belief(self) -> float:
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


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackReport:
    """What the attacks learnt, the worst first.

    Attributes:
        outcomes: a finding each.
        mounted: the attacks that were mounted.
        truth: where the true counts came from, None where there were none.
        seed: of the run.
        budget: seconds for all attacks, None without a limit.
        public_only: whether the attacker knew no more of the noise than the release tells.
        known: statistics whose true counts she knew.
    """

    outcomes: tuple[Outcome, ...]
    mounted: tuple[str, ...]
    truth: str | None
    seed: int
    budget: float | None
    public_only: bool
    known: tuple[str, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the outcomes as results."""
        return tuple(outcome.result() for outcome in self.outcomes)

    @property
    def idle(self) -> list[str]:
        """Return the attacks that found nothing to attack."""
        found = {outcome.finding.attack for outcome in self.outcomes}
        return [name for name in self.mounted if name not in found]

    @property
    def warnings(self) -> list[str]:
        """Return what was cut off, and that nothing could be scored."""
        late = [f"{each.finding.name}: {each.finding.cut_off}." for each in self.outcomes if each.finding.cut_off]
        return late + ([] if self.truth else [f"{NOT_SCORED[0].upper()}{NOT_SCORED[1:]}."])

    def opening(self, release: str) -> str:
        """Return what the figures are about, in a sentence."""
        source = f"true counts from {self.truth}" if self.truth else "without true counts"
        noise = "what the release tells of its noise" if self.public_only else "the law of the noise, not the keys"
        also = f" and the true counts of {' and '.join(self.known)}" if self.known else ""
        return f"What an attacker learns from {release} ({source}; she knows {noise}{also}):"

    def __str__(self) -> str:
        return "\n".join(f"{outcome.finding.name}: {outcome.sentence}" for outcome in self.outcomes)
