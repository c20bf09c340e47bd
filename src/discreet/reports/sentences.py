"""The summary of a report: three sentences and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.attacks.attack_report import of_single_persons
from discreet.programme.summary import statistic_label
from discreet.release.disclosed_noise import typical_change
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING
from discreet.reports.verdicts import Verdict, verdicts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.attacks.attack_report import AttackOutcome
    from discreet.reports.report_results import ReportResults
    from discreet.reports.verdicts import VerdictLine
    from discreet.results import Result

UNTOLD = (
    "Risk by margins, risk of the bound and utility for small areas are not told here: they need true counts or the "
    "exact noise, which would help an attacker."
)


@dataclass(frozen=True)
class ReportSummary:
    """Three sentences and the lights.

    Attributes:
        sentences: the report in short.
        lights: risk by averaging, by margins, by the bound, and utility for small areas; for everybody the first.
        untold: what a page for everybody does not tell and why, "" where nothing is left out.
    """

    sentences: tuple[str, ...]
    lights: tuple[VerdictLine, ...]
    untold: str = ""

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the numbers of the lights."""
        return tuple(light.result for light in self.lights if light.result)


def summary_of(found: ReportResults) -> ReportSummary:
    """Return what a report says first."""
    lights = verdicts_of(found)
    if found.published.is_public:
        return ReportSummary(tuple(_of_public(found, lights[0])), lights, UNTOLD)
    return ReportSummary(tuple(_of_curator(found, lights[0])), lights)


def _of_curator(found: ReportResults, averaging: VerdictLine) -> Iterator[str]:
    if found.published.is_exact:
        yield "This release holds true counts without any noise: it is the curator's alone and must not be published."
        yield "Whoever has it knows every count; no attack is needed."
        yield "Users lose nothing."
        return
    yield _averaging_sentence(found, averaging)
    yield _attack_sentence(found)
    yield _users_sentence(found)


def _of_public(found: ReportResults, averaging: VerdictLine) -> Iterator[str]:
    told = found.published.release.description["noise"]
    many, name = len(found.published.release.ids), found.published.release.description["name"]
    tables = f"One table of {name} is" if many == 1 else f"{many} tables of {name} are"
    if found.published.is_exact:
        yield f"{tables} published, and no noise is told of (method: {told.get('method', 'not told')})."
        yield found.absent["risk"]
        yield "If there is none, every published count is the true one."
        return
    bound = f", {told['bound']}" if "bound" in told else ""
    how = {ROUNDING: "after rounding", FIXED_CHANGE: "after a fixed change"}.get(
        str(told.get("method")), "with random noise"
    )
    yield f"{tables} published {how}, typically ±{typical_change(told):.1f}{bound}."
    yield _averaging_sentence(found, averaging) if found.risk.assessment else found.absent["risk"]
    yield found.utility.measured.typical.sentence


def _averaging_sentence(found: ReportResults, light: VerdictLine) -> str:
    needed = found.risk.worst("variance_needed")
    if light.result is None and found.published.record is not None and found.published.record.rounds:
        return found.absent["risk"]
    if light.result is None or needed is None or found.risk.assessment is None:
        return "Nothing that is published can be averaged, so that averaging tells an attacker nothing more."
    case, right = found.risk.assessment.case, light.result
    tables, every = case.scope.tables, len(case.programme.tables)
    counts = "counts" if len(tables) == 1 else "count"
    which = f"{len(tables)} of {every} tables, which {counts} {case.counted},"
    if len(tables) == every:
        which = "the counts of the one table" if every == 1 else f"all {every} tables"
    than = {Verdict.ABOVE: "more than", Verdict.ABOUT: "about"}.get(light.verdict, "no more than")
    remedy = f" {light.remedy}" if light.remedy else ""
    return (
        f"An attacker who combines {which} gets a count of {statistic_label(case.programme, right.worst or '')} right "
        f"to the person in {_how_often(light)} of cases, {than} the {found.risk.confidence:.1%} to which she was to be "
        f"held, if counts are well above the noise and the errors of her estimate are close to Gaussian.{remedy}"
    )


def _how_often(light: VerdictLine) -> str:
    """Return the number of a light in percent, as a range where it is one."""
    assert light.result is not None  # noqa: S101 - asked for where there is a number
    most = f"{light.result.value:.1%}"
    least = most if light.mildest is None else f"{light.mildest:.1%}"
    return most if least == most else f"{least.removesuffix('%')} to {most}"


def _attack_sentence(found: ReportResults) -> str:
    best = best_outcome(found)
    if best is None:
        return found.absent.get("attacks", "No attack found anything to name in this release.")
    share, late = best.headline(), ""
    if best.finding.cut_off:
        late = f"; {best.finding.cut_off}, and she may learn more"
    if best.learnt <= 0 and share.naive is not None:
        return (
            f"In this release no attack names more counts above 0 than are published as they are, "
            f"{share.naive / share.cells:.1%} of {share.cells:,}{late}."
        )
    without = f", {share.naive / share.cells:.1%} without any attack" if share.naive is not None else ""
    exposed = found.risk.worst("averaging_success")
    bridge = ""
    if exposed is not None and exposed.value > share.achieved:
        bridge = f"; this is over all {best.finding.subject}, most of which are less exposed than the one above"
    return (
        f"In this release the attack {best.finding.name} names {share.right:,} of {share.cells:,} "
        f"{best.finding.subject} above 0 exactly ({share.achieved:.1%}{without}), if she knows the law of the noise "
        f"but not the keys{bridge}{late}.{_single_persons(found)}"
    )


def _single_persons(found: ReportResults) -> str:
    """Return how many cells of one person the best attack on them names: these count most."""
    best = max(
        of_single_persons(found.risk.attacks) if found.risk.attacks else (), key=lambda each: each.value, default=None
    )
    return f" {best.sentence}" if best is not None else ""


def _users_sentence(found: ReportResults) -> str:
    cells, apart = found.utility.measured.cells, found.utility.measured.additivity
    totals = apart.totals_apart
    if cells is None:
        typical = found.utility.measured.typical.sentence
        return f"{typical} Of what is published, {totals}." if apart.totals else typical
    off = f"Counts above 0 are published {cells.distances.absolute.mean:.1f} persons off on average"
    gone = f"{cells.zeros.gone:.1%} of them as 0 or less"
    return f"{off}, {gone}; {totals}." if apart.totals else f"{off}, and {gone}."


def best_outcome(found: ReportResults) -> AttackOutcome | None:
    """Return the scored attack on many counts that names most beyond what is published; of equal ones the widest."""
    scored = [
        each
        for each in (found.risk.attacks.outcomes if found.risk.attacks else ())
        if each.score and len(each.finding.estimate) > 1 and not each.finding.answers and each.headline().cells
    ]
    return max(scored, key=lambda each: (max(each.learnt, 0), each.headline().cells), default=None)
