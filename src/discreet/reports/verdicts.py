"""The checks of a release against the targets of the office, and the decision that follows from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.attacks.attack_verdicts import CERTAIN, RARER, bound_check, margin_check, singleton_check
from discreet.calibration.constraints import BOUND_DISCLOSURE
from discreet.programme.summary import statistic_label
from discreet.risk.assessment import LARGE_SETS, PLAIN_KEYS
from discreet.risk.residual_bound import IF_KNOWN
from discreet.verdicts import (
    ADDITIVITY,
    AVERAGING,
    BOUND,
    EXPECTED_MARGINS,
    MARGINS,
    SINGLETONS,
    SMALL_AREAS,
    Decision,
    Verdict,
    check,
    percent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.attacks.attack_report import AttackOutcome
    from discreet.release.record import Record
    from discreet.reports.report_results import ReportResults
    from discreet.verdicts import Check, Criterion

SECTIONS = {SMALL_AREAS: "accuracy", ADDITIVITY: "accuracy"}
"""The sections with the evidence of a check; `attacks` for all others."""
NO_NOISE = "Every count is published without noise."
NO_BOUND = "The noise has no bound"


def decision_of(found: ReportResults) -> Decision:
    """Return the decision on a release; that of a public page judges averaging and additivity alone."""
    if found.published.is_public:
        return Decision((_averaging(found), found.utility.measured.additivity.check(found.risk.policy)))
    checks = (
        _averaging(found),
        _singletons(found),
        _bound(found),
        _margins(found),
        _small_areas(found),
        found.utility.measured.additivity.check(found.risk.policy),
    )
    return Decision(checks, tuple(_options(found, checks)))


def _check(found: ReportResults, criterion: Criterion, value: float | None, sentence: str, **more: object) -> Check:
    return check(found.risk.policy, criterion, value, sentence, **more)


def _averaging(found: ReportResults) -> Check:
    result, record = found.risk.worst("averaging_success"), found.published.record
    if record is not None and found.published.is_exact:
        return _check(found, AVERAGING, 1.0, NO_NOISE)
    if result is None or found.risk.assessment is None:
        return _check(found, AVERAGING, None, found.absent.get("risk", "No published count can be averaged."))
    case, lowest = found.risk.assessment.case, found.risk.lowest_averaging
    tables, every = len(case.scope.tables), len(case.programme.tables)
    which = f"{tables} of {every} tables (those of {case.counted})"
    if tables == every:
        which = "the counts of the one table" if every == 1 else f"all {every} tables"
    rate = percent(result.value) if lowest is None else f"{percent(lowest)} to {percent(result.value)}"
    label = statistic_label(case.programme, result.worst or "")
    sentence = f"Combining {which} recovers counts of {label} exactly in {rate} of cases."
    plain = record is not None and record.has_plain_keys
    return _check(found, AVERAGING, result.value, sentence, lowest=lowest, partial=PLAIN_KEYS if plain else "")


def _singletons(found: ReportResults) -> Check:
    if found.published.is_exact:
        return _check(found, SINGLETONS, 1.0, NO_NOISE)
    if found.risk.attacks is None:
        return _check(found, SINGLETONS, None, found.absent.get("attacks", "No attack was run."))
    return singleton_check(found.risk.attacks, found.risk.policy)


def _bound(found: ReportResults) -> Check:
    """Return the probability of identifying the bound: predicted, or 1 if an attack on this release identified it."""
    result, record = found.risk.worst("bound_revealed"), found.published.record
    attacks, value = found.risk.attacks, result.value if result else 0.0
    proven = found.risk.worst(IF_KNOWN)
    limit = f" No use of the large counts exceeds {percent(proven.value)}." if proven and proven.value > value else ""
    predicted = [result.value] if result else []
    if attacks is not None and (judged := bound_check(attacks, found.risk.policy, predicted, limit)):
        return judged
    if result is not None:
        sentence = f"An attacker identifies the bound with a predicted probability of {percent(value)}.{limit}"
        return _check(found, BOUND, value, sentence)
    if _has_no_bound(record):
        return _check(found, BOUND, 0.0, f"{NO_BOUND}, so that there is no bound to identify.")
    return _check(found, BOUND, None, found.absent.get("risk", "Bound disclosure has no result for this noise."))


def _has_no_bound(record: Record | None) -> bool:
    return record is not None and not record.is_exact and not math.isfinite(record.bound)


def _margins(found: ReportResults) -> Check:
    expected, record = found.risk.worst("forced_tuples"), found.published.record
    if found.risk.attacks is not None and _outcome(found, CERTAIN) is not None:
        return margin_check(found.risk.attacks, found.risk.policy)
    if expected is not None:
        return _check(found, EXPECTED_MARGINS, expected.value, expected.sentence, partial=LARGE_SETS, remedy=RARER)
    if _has_no_bound(record):
        return _check(found, MARGINS, 0.0, f"{NO_BOUND}, so that margins reveal no count with certainty.")
    return _check(found, MARGINS, None, found.absent.get("risk", "Margins have no result for this noise."))


def _small_areas(found: ReportResults) -> Check:
    measured = found.utility.measured
    if measured.small_areas is None:
        none = "No area has true counts." if measured.areas else "The programme has no areas; use --areas TOPIC."
        return _check(found, SMALL_AREAS, None, found.absent.get("truth", none))
    return measured.small_areas.check(found.risk.policy)


def _options(found: ReportResults, checks: tuple[Check, ...]) -> Iterator[str]:
    """Give the ways to meet the targets that are missed, the most direct first."""
    missed = [each for each in checks if each.verdict is Verdict.MISSES]
    noise = [each for each in missed if each.criterion in {AVERAGING, BOUND}]
    nearest, record = found.nearest, found.published.record
    if noise and nearest and record and nearest != (record.variance, record.bound):
        yield f"Use variance {nearest.variance:.10g} and bound {nearest.bound}: meets both noise targets."
    relaxations = found.risk.design.region.relaxations if found.risk.design else ()
    for way in relaxations if noise else ():
        if way.constraint == BOUND_DISCLOSURE:
            yield f"Disclose the bound: variance {way.value:.3g} is then enough (discreet design --no-hide-bound)."
    for each in missed:
        accepted = math.ceil(1000 * each.value) / 1000 if each.value is not None else 1.0
        if each.criterion.is_share and accepted < each.criterion.high:
            yield f"Accept {percent(accepted)} (--target {each.criterion.name}={accepted:g})."
        elif each.remedy:
            yield each.remedy
    if noise:
        yield "Publish fewer cells: discreet design --cuts 3 lists what to omit."


def _outcome(found: ReportResults, name: str) -> AttackOutcome | None:
    outcomes = found.risk.attacks.outcomes if found.risk.attacks else ()
    return next((each for each in outcomes if each.finding.name == name), None)
