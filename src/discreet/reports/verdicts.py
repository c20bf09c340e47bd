"""The verdicts of a report: for every area a number, its target, and how the two compare."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from discreet.calibration.constraints import HIDDEN_BOUND
from discreet.calibration.feasible_region import FARTHEST
from discreet.results import Result
from discreet.risk.bound_disclosure import LEAST_SURE
from discreet.risk.sentences import downwards, upwards

if TYPE_CHECKING:
    from discreet.attacks.attack_report import AttackOutcome
    from discreet.reports.report_results import ReportResults

ACCEPTED_LOSS = 0.05
"""Share of the counts of small areas that may be far off: 1 in 20."""
NONE_CERTAIN = 0.0
EXPECTED_CERTAIN = 1.0
"""Fewer sets than one are expected to give their counts away."""
CERTAIN = "margins: certain"
"""The attack that knows counts for certain."""
BOUND, BY_RESIDUALS = "bound", "bound: residuals"
"""The attacks that look for the bound."""
RARER = (
    "Publish with a larger bound at the same variance, which makes extreme gaps rarer, or without the totals of the "
    "parts that are certain."
)
PLAIN = "plain"
"""Keys that are used as they are."""
ATTACKER, USERS = "attacker", "users"
"""Sections that a light leads to."""


class Verdict(Enum):
    """How a number stands to its limit: a word and a shape, for those who see no colours too."""

    KEPT = ("kept", "●")
    OPEN = ("kept so far", "◐")
    ABOUT = ("about at the limit", "◆")
    ABOVE = ("above the limit", "▲")
    UNKNOWN = ("no number", "○")

    @property
    def word(self) -> str:
        """Return the word."""
        return self.value[0]

    @property
    def shape(self) -> str:
        """Return the shape."""
        return self.value[1]


@dataclass(frozen=True)
class VerdictLine:
    """One area of the summary.

    Attributes:
        area: what it is about, in a few words.
        section: where the evidence is.
        result: the number, None where there is none.
        limit: what it is held against.
        reason: why there is no number; else what number it is.
        is_share: whether number and limit are shares.
        is_open: whether the number may be too small, because something was not counted.
        mildest: the least that the number may be, where what is told stands for a range; the result is the most.
        todo: what the curator can do where the number is above its limit.
    """

    area: str
    section: str
    result: Result | None
    limit: float
    reason: str
    is_share: bool = True
    is_open: bool = False
    mildest: float | None = None
    todo: str = ""

    @property
    def remedy(self) -> str:
        """Return what to do, "" where the limit is kept."""
        return self.todo if self.verdict is Verdict.ABOVE else ""

    @property
    def verdict(self) -> Verdict:
        """Return how the number stands to its limit."""
        if self.result is None:
            return Verdict.UNKNOWN
        if self.result.value > self.limit:
            return Verdict.ABOUT if self.mildest is not None and self.mildest <= self.limit else Verdict.ABOVE
        return Verdict.OPEN if self.is_open else Verdict.KEPT


def verdicts_of(found: ReportResults) -> tuple[VerdictLine, ...]:
    """Return the lights: risk by averaging, by margins, by the bound, and utility; for everybody the first."""
    if found.published.is_public:
        return (_averaging(found),)
    return (_averaging(found), _margins(found), _bound(found), _small_areas(found))


def _averaging(found: ReportResults) -> VerdictLine:
    area, result, record = "Risk by averaging", found.risk.worst("averaging_success"), found.published.record
    reason = "success of the best combination of everything published, on the most exposed statistic"
    if record is not None and found.published.is_exact:
        result, reason = _all_known(), "every count is published as it is"
    elif result is None:
        reason = found.absent.get("risk", "nothing can be averaged")
    plain = record is not None and record.has_plain_keys
    reason += "; keys are plain, and tell her more than this" if plain else ""
    return VerdictLine(
        area,
        ATTACKER,
        result,
        found.risk.confidence,
        reason,
        is_open=plain,
        mildest=_mildest(found),
        todo="" if found.published.is_public else _noise_for_averaging(found),
    )


def _noise_for_averaging(found: ReportResults) -> str:
    """Return the variance that averaging asks for, with as many digits as tell it from the present one."""
    needed = found.risk.worst("variance_needed")
    if needed is None or found.published.record is None:
        return ""
    now = found.published.record.variance
    digits = next((n for n in range(3, 16) if float(upwards(needed.value, n)) > float(f"{now:.{n}g}")), 3)
    return (
        f"Publish with a variance of at least {upwards(needed.value, digits)} instead of {now:.{digits}g}, or publish "
        "less (discreet design)."
    )


def _mildest(found: ReportResults) -> float | None:
    """Return the success of averaging if the noise is the largest that is told so; None where it is known."""
    results = found.risk.mildest.results if found.risk.mildest else ()
    return max((each.value for each in results if each.name == "averaging_success"), default=None)


def _all_known() -> Result:
    """Return how well counts without noise are known."""
    sentence = "Every count is published as it is, and known to the person."
    return Result(name="averaging_success", value=1.0, unit="1", sentence=sentence, equation="P(0 = 0)")


def _margins(found: ReportResults) -> VerdictLine:
    area, outcome, expected = "Risk by margins", _outcome(found, CERTAIN), found.risk.worst("forced_tuples")
    if outcome is not None:
        reason = "counts above 0 that an attacker knows for certain in this release"
        return VerdictLine(area, ATTACKER, _certain(outcome), NONE_CERTAIN, reason, is_share=False, todo=RARER)
    if expected is not None:
        reason = "sets of parts and total that are expected to give their true counts away with certainty"
        return VerdictLine(area, ATTACKER, expected, EXPECTED_CERTAIN, reason, is_share=False, todo=RARER)
    unbounded = "without a bound no published count leaves a true one certain"
    return VerdictLine(area, ATTACKER, None, NONE_CERTAIN, found.absent.get("risk", unbounded), is_share=False)


def _certain(outcome: AttackOutcome) -> Result:
    return Result(
        name="certain_counts",
        value=float(outcome.proven),
        unit="counts",
        sentence=outcome.sentence,
        assumptions=outcome.finding.assumptions,
        equation="counts above 0 that published totals and parts leave no doubt about",
    )


def _bound(found: ReportResults) -> VerdictLine:
    """Return the light of the bound: the prediction, or what an attack on this release found."""
    area, result = "Risk of the bound", found.risk.worst("bound_revealed")
    # A guess between two bounds is right in half of the cases.
    limit = max(found.risk.confidence, LEAST_SURE)
    reason = "predicted probability that the residuals of all large counts identify the bound"
    outcomes = [each for name in (BOUND, BY_RESIDUALS) if (each := _outcome(found, name)) and each.score]
    if result is None and not outcomes:
        reason = found.absent.get("risk", "this noise has no bound")
        return VerdictLine(area, ATTACKER, result, limit, reason)
    predicted = f"; the predicted probability was {result.value:.1%}" if result else ""
    for each in outcomes:
        # A guess that happens to be right is not a finding.
        sure = each.finding.name == BOUND or each.finding.confidence[0] > limit
        if sure and each.score and each.score.right.all():
            reason = f"identified in this release by {each.finding.method}{predicted}"
            return VerdictLine(area, ATTACKER, _found_out(each, 1.0), limit, reason, todo=_noise_for_bound(found))
    for each in outcomes:
        chance = each.headline().predicted
        if chance is not None and (result is None or chance > result.value):
            result, reason = _found_out(each, chance), f"predicted probability of {each.finding.method}"
    if outcomes:
        reason += "; the attacks on this release did not identify it"
    return VerdictLine(area, ATTACKER, result, limit, reason, todo=_noise_for_bound(found))


def _noise_for_bound(found: ReportResults) -> str:
    """Return which noise keeps the bound from being identified, by the constraint of the design."""
    constraints = found.risk.design.region.constraints if found.risk.design else ()
    hidden = next((each for each in constraints if each.name == HIDDEN_BOUND), None)
    if hidden is None or found.published.record is None or not found.published.record.variance:
        return ""
    bound, variance = int(found.published.record.bound), found.published.record.variance
    wider = next((each for each in range(bound + 1, FARTHEST + 1) if hidden.allows(variance, each)), None)
    instead = f", or a bound of at least {wider}" if wider else ""
    return (
        f"Publish with a variance of at most {downwards(hidden.limit(bound))} at bound {bound}{instead}, or treat the "
        "bound as public."
    )


def _found_out(outcome: AttackOutcome, chance: float) -> Result:
    return Result(
        name="bound_found",
        value=chance,
        unit="1",
        sentence=outcome.sentence,
        assumptions=outcome.finding.assumptions,
        equation="1 where the attack names the bound, else its predicted success",
    )


def _small_areas(found: ReportResults) -> VerdictLine:
    area, small = "Utility for small areas", found.utility.measured.small_areas
    if small is None or not small.single[0].small.number:
        none = "no area of this release has fewer than 500 persons of a kind"
        none = (
            none
            if found.utility.measured.areas
            else "the programme has no area variable; declare it with --areas TOPIC"
        )
        return VerdictLine(area, USERS, None, ACCEPTED_LOSS, found.absent.get("truth", none))
    single = small.single[0]
    share = single.small.expected / single.small.number
    result = Result(
        name="small_areas_off",
        value=share,
        unit="1",
        sentence=f"Of {single.small.number:,} counts of areas below 500, {share:.1%} are expected to be more than "
        f"{single.relative:.0%} off.",
        assumptions=small.assumptions,
        equation=f"mean of P(|x| > {single.relative:g} n)",
    )
    reason = f"counts of areas below 500 that are expected to be more than {single.relative:.0%} off"
    return VerdictLine(area, USERS, result, ACCEPTED_LOSS, reason)


def _outcome(found: ReportResults, name: str) -> AttackOutcome | None:
    outcomes = found.risk.attacks.outcomes if found.risk.attacks else ()
    return next((each for each in outcomes if each.finding.name == name), None)
