"""The checks of a release by the attacks on it: averaging, singleton cells, bound disclosure and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.attacks.scoring import FEW
from discreet.verdicts import AVERAGING, BOUND, MARGINS, SINGLETONS, Decision, check, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.attacks.attack_report import AttackOutcome, AttackReport
    from discreet.attacks.scoring import ClassScore, Rate
    from discreet.verdicts import Check, Policy

JUDGED = (AVERAGING, SINGLETONS, BOUND, MARGINS)
"""The figures that attacks judge."""
LINEAR = ("averaging", "projection", "posterior-projection")
"""Attacks that estimate all counts from all tables."""
MAIN = (*LINEAR, "margins")
"""Attacks without which the rate on singleton cells is partial."""
SINGLETON = "1"
"""The class of singleton cells."""
CERTAIN = "margins: certain"
"""The attack that derives counts with certainty."""
BOUND_ATTACKS = ("bound", "bound: residuals")
"""The attacks that identify the bound."""
WIDER = "Use a larger bound at the same variance, which makes extreme gaps rarer."
RARER = "Use a larger bound at the same variance, or omit the totals of the counts that margins reveal."
OVERALL = "This is the rate over all counts. `discreet assess` states that of the most exposed statistic."


def attack_decision(found: AttackReport, policy: Policy) -> Decision:
    """Return the verdict on a release by the attacks on it."""
    bound = bound_check(found, policy) or check(policy, BOUND, None, "No attack on the bound was scored and predicted.")
    return Decision((_averaging(found, policy), singleton_check(found, policy), bound, margin_check(found, policy)))


def _averaging(found: AttackReport, policy: Policy) -> Check:
    """Return the check of the best linear attack; a rate over all counts can miss the target, but not meet it."""
    scored = [each for each in found.outcomes if each.finding.attack in LINEAR and each.score]
    best = max(scored, key=lambda each: each.headline().achieved, default=None)
    if best is None:
        return check(policy, AVERAGING, None, "No linear attack was scored.")
    rate = best.headline().recall
    return check(policy, AVERAGING, **_range(rate), sentence=best.sentence, cases=rate.cases, partial=OVERALL)


def best_on_singletons(found: AttackReport) -> tuple[AttackOutcome, ClassScore] | None:
    """Return the attack with the largest exact recovery rate of singleton cells, and that rate."""
    rates = [
        (outcome, share)
        for outcome in found.outcomes
        for share in outcome.by_count()
        # Counts that are certain are a selection: their rate is not one of all singleton cells.
        if share.name == SINGLETON and not outcome.finding.answers and outcome.finding.name != CERTAIN
    ]
    return max(rates, key=lambda each: each[1].achieved, default=None)


def singleton_check(found: AttackReport, policy: Policy) -> Check:
    """Return the check of the attack that recovers most singleton cells."""
    best = best_on_singletons(found)
    if best is None:
        why = "No attack estimated a singleton cell." if found.truth else "No true counts were given."
        return check(policy, SINGLETONS, None, why)
    outcome, share = best
    recovered = f"{rate_text(share.recall)} of {share.cells:,} singleton cells"
    sentence = f"The attack {outcome.finding.name} recovers {recovered} exactly."
    partial, cases = _not_covered(found), share.recall.cases
    return check(policy, SINGLETONS, **_range(share.recall), sentence=sentence, cases=cases, partial=partial)


def bound_check(found: AttackReport, policy: Policy, predicted: Sequence[float] = (), limit: str = "") -> Check | None:
    """Return the check of the attacks on the bound; None if there is no attack and no prediction.

    Args:
        found: the attacks.
        policy: the targets.
        predicted: probabilities of identifying the bound from an assessment.
        limit: a further sentence, on an upper bound of the probability.
    """
    outcomes = [each for each in found.outcomes if each.finding.name in BOUND_ATTACKS and each.score]
    right = [each for each in outcomes if each.score and each.score.right.all()]
    sure = max((float(each.finding.confidence[0]) for each in right), default=0.0)
    # An attacker who does not trust a correct guess has not identified the bound.
    if right and sure > policy.accepted(BOUND):
        sentence = f"An attack identified the bound of this release with confidence {percent(sure)}."
        return check(policy, BOUND, 1.0, sentence, remedy=WIDER)
    chances = [chance for each in outcomes if (chance := each.headline().predicted) is not None]
    values = [sure] * bool(right) + [*chances, *predicted]
    if not values:
        return None
    tried = "the attacks on this release did not identify it"
    tried = f"an attack on this release guesses it correctly with confidence {percent(sure)}" if right else tried
    tried = f"; {tried}" if outcomes else ""
    stated = f"An attacker identifies the bound with a predicted probability of {percent(max(values))}{tried}."
    return check(policy, BOUND, max(values), stated + limit)


def margin_check(found: AttackReport, policy: Policy) -> Check:
    """Return the check of counts that margins reveal with certainty."""
    outcome = next((each for each in found.outcomes if each.finding.name == CERTAIN), None)
    if outcome is None:
        return check(policy, MARGINS, None, "The noise has no bound, or the attack was not run.")
    sentence = f"The margins of this release reveal {outcome.proven:,} positive counts with certainty."
    late = f"Cut off: {outcome.finding.cut_off}." if outcome.finding.cut_off else ""
    return check(policy, MARGINS, float(outcome.proven), sentence, partial=late, remedy=RARER)


def _not_covered(found: AttackReport) -> str:
    """Return what the best attack may miss: attacks that were not run, failed or were cut off."""
    left = [name for name in MAIN if name not in found.mounted or name in found.failed]
    late = [f"{each.finding.name} ({each.finding.cut_off})" for each in found.outcomes if each.finding.cut_off]
    texts = [f"Not run: {', '.join(left)}."] * bool(left) + [f"Cut off: {', '.join(late)}."] * bool(late)
    return " ".join(texts)


def _range(rate: Rate) -> dict[str, float]:
    """Return a rate as arguments of `check`; with few cases its interval, of which the upper end is judged."""
    if rate.cases >= FEW:
        return {"value": rate.share}
    low, high = rate.interval
    return {"value": high, "lowest": low}


def rate_text(rate: Rate) -> str:
    """Return a rate in percent, with its 95 % interval where cases are few."""
    low, high = rate.interval
    return percent(rate.share) + ("" if rate.cases >= FEW else f" (95 % interval {percent(low)} to {percent(high)})")
