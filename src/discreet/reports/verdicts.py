"""The report in short: three sentences, and a light for every area, each with its number and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from discreet.attacks.attack_report import of_single_persons
from discreet.calibration.constraints import HIDDEN_BOUND
from discreet.calibration.feasible_region import FARTHEST
from discreet.programme.summary import statistic_label
from discreet.release.disclosed_noise import typical_change
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING
from discreet.results import Result
from discreet.risk.bound_disclosure import LEAST_SURE
from discreet.risk.sentences import downwards, upwards

if TYPE_CHECKING:
    from collections.abc import Iterator

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
UNTOLD = (
    "Risk by margins, risk of the bound and utility for small areas are not told here: they need true counts or the "
    "exact noise, which would help an attacker."
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
    if found.is_public:
        return ReportSummary(tuple(_of_public(found)), (_averaging(found),), UNTOLD)
    lights = (_averaging(found), _margins(found), _bound(found), _small_areas(found))
    return ReportSummary(tuple(_of_curator(found)), lights)


def _averaging(found: ReportResults) -> VerdictLine:
    area, result = "Risk by averaging", found.risk("averaging_success")
    reason = "success of the best combination of everything published, on the most exposed statistic"
    if found.record is not None and found.is_exact:
        result, reason = _all_known(), "every count is published as it is"
    elif result is None:
        reason = found.absent.get("risk", "nothing can be averaged")
    plain = found.record is not None and found.record.has_plain_keys
    reason += "; keys are plain, and tell her more than this" if plain else ""
    return VerdictLine(
        area,
        ATTACKER,
        result,
        found.confidence,
        reason,
        is_open=plain,
        mildest=_mildest(found),
        todo="" if found.is_public else _noise_for_averaging(found),
    )


def _noise_for_averaging(found: ReportResults) -> str:
    """Return the variance that averaging asks for, with as many digits as tell it from the present one."""
    needed = found.risk("variance_needed")
    if needed is None or found.record is None:
        return ""
    now = found.record.variance
    digits = next((n for n in range(3, 16) if float(upwards(needed.value, n)) > float(f"{now:.{n}g}")), 3)
    return (
        f"Publish with a variance of at least {upwards(needed.value, digits)} instead of {now:.{digits}g}, or publish "
        "less (discreet design)."
    )


def _mildest(found: ReportResults) -> float | None:
    """Return the success of averaging if the noise is the largest that is told so; None where it is known."""
    named = [each.value for each in found.mildest.results if each.name == "averaging_success"] if found.mildest else []
    return max(named, default=None)


def _all_known() -> Result:
    """Return how well counts without noise are known."""
    sentence = "Every count is published as it is, and known to the person."
    return Result(name="averaging_success", value=1.0, unit="1", sentence=sentence, equation="P(0 = 0)")


def _margins(found: ReportResults) -> VerdictLine:
    area, outcome, expected = "Risk by margins", _outcome(found, CERTAIN), found.risk("forced_tuples")
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
    area, result = "Risk of the bound", found.risk("bound_revealed")
    # A guess between two bounds is right in half of the cases.
    limit = max(found.confidence, LEAST_SURE)
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
    hidden = next(
        (each for each in (found.design.constraints if found.design else ()) if each.name == HIDDEN_BOUND), None
    )
    if hidden is None or found.record is None:
        return ""
    bound, variance = int(found.record.bound), found.record.variance
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
    area, small = "Utility for small areas", found.utility.small_areas
    if small is None or not small.single[0].small.number:
        none = "no area of this release has fewer than 500 persons of a kind"
        none = none if found.utility.areas else "the programme has no area variable; declare it with --areas TOPIC"
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


def _of_curator(found: ReportResults) -> Iterator[str]:
    if found.is_exact:
        yield "This release holds true counts without any noise: it is the curator's alone and must not be published."
        yield "Whoever has it knows every count; no attack is needed."
        yield "Users lose nothing."
        return
    yield _averaging_sentence(found)
    yield _attack_sentence(found)
    yield _users_sentence(found)


def _of_public(found: ReportResults) -> Iterator[str]:
    told = found.release.description["noise"]
    many, name = len(found.release.ids), found.release.description["name"]
    tables = f"One table of {name} is" if many == 1 else f"{many} tables of {name} are"
    if found.is_exact:
        yield f"{tables} published, and no noise is told of (method: {told.get('method', 'not told')})."
        yield found.absent["risk"]
        yield "If there is none, every published count is the true one."
        return
    bound = f", {told['bound']}" if "bound" in told else ""
    how = {ROUNDING: "after rounding", FIXED_CHANGE: "after a fixed change"}.get(
        str(told.get("method")), "with random noise"
    )
    yield f"{tables} published {how}, typically ±{typical_change(told):.1f}{bound}."
    yield _averaging_sentence(found) if found.assessment else found.absent["risk"]
    yield found.utility.typical.sentence


def _averaging_sentence(found: ReportResults) -> str:
    light, needed = _averaging(found), found.risk("variance_needed")
    if light.result is None and found.record is not None and found.record.rounds:
        return found.absent["risk"]
    if light.result is None or needed is None or found.assessment is None:
        return "Nothing that is published can be averaged, so that averaging tells an attacker nothing more."
    case, right = found.assessment.case, light.result
    tables, every = case.scope.tables, len(case.programme.tables)
    counts = "counts" if len(tables) == 1 else "count"
    which = f"{len(tables)} of {every} tables, which {counts} {case.counted},"
    if len(tables) == every:
        which = "the counts of the one table" if every == 1 else f"all {every} tables"
    than = {Verdict.ABOVE: "more than", Verdict.ABOUT: "about"}.get(light.verdict, "no more than")
    remedy = f" {light.remedy}" if light.remedy else ""
    return (
        f"An attacker who combines {which} gets a count of {statistic_label(case.programme, right.worst or '')} right "
        f"to the person in {_how_often(light)} of cases, {than} the {found.confidence:.1%} to which she was to be "
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
    exposed = found.risk("averaging_success")
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
    best = max(of_single_persons(found.attacks) if found.attacks else (), key=lambda each: each.value, default=None)
    return f" {best.sentence}" if best is not None else ""


def _users_sentence(found: ReportResults) -> str:
    cells, apart = found.utility.cells, found.utility.additivity
    totals = f"{apart.share_of_totals:.1%} of totals are not the sums of their parts"
    if cells is None:
        typical = found.utility.typical.sentence
        return f"{typical} Of what is published, {totals}." if apart.totals else typical
    off = f"Counts above 0 are published {cells.distances.absolute.mean:.1f} persons off on average"
    gone = f"{cells.zeros.gone:.1%} of them as 0 or less"
    return f"{off}, {gone}; {totals}." if apart.totals else f"{off}, and {gone}."


def best_outcome(found: ReportResults) -> AttackOutcome | None:
    """Return the scored attack on many counts that names most beyond what is published; of equal ones the widest."""
    scored = [
        each
        for each in (found.attacks.outcomes if found.attacks else ())
        if each.score and len(each.finding.estimate) > 1 and not each.finding.answers and each.headline().cells
    ]
    return max(scored, key=lambda each: (max(each.learnt, 0), each.headline().cells), default=None)


def _outcome(found: ReportResults, name: str) -> AttackOutcome | None:
    outcomes = found.attacks.outcomes if found.attacks else ()
    return next((each for each in outcomes if each.finding.name == name), None)
