"""The sentence at the head of every section of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.attacks.attack_verdicts import best_on_singletons, rate_text
from discreet.release.disclosed_noise import typical_change
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING
from discreet.verdicts import percent

if TYPE_CHECKING:
    from discreet.attacks.attack_report import AttackOutcome
    from discreet.reports.report_results import ReportResults

SAME = "A statistic has the same noise in every table."
FRESH = "A statistic has new noise in every table, so that averaging over tables removes the noise."


def section_sentences(found: ReportResults) -> dict[str, str]:
    """Return the sentence of every section that has results."""
    return {
        "output": _output(found),
        "noise": _noise(found),
        "attacks": _attacks(found),
        "accuracy": _accuracy(found),
    }


def _output(found: ReportResults) -> str:
    size, description = found.utility.measured.size, found.published.release.description
    many, rows = len(description["files"]), sum(file["rows"] for file in description["files"])
    tables = "One table" if many == 1 else f"{many} tables"
    same = description["noise"].get("same_count_same_noise")
    consistent = "" if same is None else f" {SAME if same else FRESH}"
    return (
        f"{tables} with {size.statistics:,} statistics, {size.cells:,} cells and {rows:,} published rows.{consistent}"
    )


def _noise(found: ReportResults) -> str:
    told = found.published.release.description["noise"]
    if found.published.is_exact:
        return f"The release states no noise (method: {told.get('method', 'not stated')})."
    how = {ROUNDING: "rounded", FIXED_CHANGE: "changed by a fixed amount"}.get(str(told.get("method")), "")
    change = f"typically by ±{typical_change(told):.1f}" if "typical_noise" in told else "by an undisclosed amount"
    return f"Counts are {how or 'changed by random noise'}, {change}. {why_this_noise(found)}".rstrip()


def why_this_noise(found: ReportResults) -> str:
    """Return why this noise was chosen: the reason given by the caller, or its place in the design."""
    design, record = found.risk.design, found.published.record
    if found.reason or design is None or record is None or record.is_deterministic:
        return found.reason
    here = (record.variance, record.bound)
    if design.recommended and here == tuple(design.recommended):
        return "It is the recommended noise: the smallest feasible bound with the smallest feasible variance."
    if found.nearest and here == tuple(found.nearest):
        return f"It meets the noise targets. {design.answer}"
    return f"It does not meet the noise targets. {design.answer}"


def _attacks(found: ReportResults) -> str:
    best = best_outcome(found)
    if best is None:
        if "attacks" in found.absent and not found.published.is_public:
            return found.absent["attacks"]
        return found.absent.get("risk", found.absent.get("attacks", "No attack estimated a count of this release."))
    share = best.headline()
    without = f"; without an attack {percent(share.naive / share.cells)}" if share.naive is not None else ""
    predicted = f"; predicted {percent(share.predicted)}" if share.predicted is not None else ""
    recovered = f"{rate_text(share.recall)} of {share.cells:,} {best.finding.subject} other than 0"
    sentence = f"The attack {best.finding.name} recovers {recovered} exactly{predicted}{without}."
    if best.finding.cut_off:
        sentence += f" It was cut off ({best.finding.cut_off}); the full attack can recover more."
    if found.risk.attacks and (single := best_on_singletons(found.risk.attacks)):
        outcome, rate = single
        sentence += f" Of {rate.cells:,} singleton cells, {outcome.finding.name} recovers {rate_text(rate.recall)}."
    return sentence


def _accuracy(found: ReportResults) -> str:
    if found.published.is_exact and found.published.record is None:
        return "The release does not state the size of its noise; the errors of its counts are unknown."
    if found.published.is_exact:
        return "Counts are published without errors."
    cells = found.utility.measured.cells
    if cells is None:
        typical: str = found.utility.measured.typical.sentence
        return typical
    zeros, expected = cells.zeros, cells.expected
    return (
        f"Mean absolute error of {zeros.occupied:,} non-zero counts: {cells.distances.absolute.mean:.2f} (expected "
        f"{expected.absolute:.2f}). Lost counts: {percent(zeros.lost / max(zeros.occupied, 1))} (expected "
        f"{percent(expected.lost)})."
    )


def best_outcome(found: ReportResults) -> AttackOutcome | None:
    """Return the scored attack with the largest gain over the published counts; of equal ones that on most counts."""
    scored = [
        each
        for each in (found.risk.attacks.outcomes if found.risk.attacks else ())
        if each.score and len(each.finding.estimate) > 1 and not each.finding.answers and each.headline().cells
    ]
    return max(scored, key=lambda each: (max(each.learnt, 0), each.headline().cells), default=None)
