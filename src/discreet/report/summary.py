"""The report in short: three sentences, and a light for every area, each with its number and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from discreet.programme.words import statistic_words
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.design.attack_report import Outcome
    from discreet.report.gather import Gathered

ACCEPTED_LOSS = 0.05
"""Share of the counts of small areas that may be far off: 1 in 20."""
NONE_CERTAIN = 0.0
EXPECTED_CERTAIN = 1.0
"""Fewer sets than one are expected to give their counts away."""
FOR_THE_CURATOR = "not told on a page for everybody"
CERTAIN = "margins: certain"
"""The attack that knows counts for certain."""
ATTACKER, USERS = "attacker", "users"
"""Sections that a light leads to."""


class Verdict(Enum):
    """How a number stands to its limit: a word and a shape, for those who see no colours too."""

    KEPT = ("kept", "●")
    OPEN = ("kept so far", "◐")
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
class Light:
    """One area of the summary.

    Attributes:
        area: what it is about, in a few words.
        section: where the evidence is.
        result: the number, None where there is none.
        limit: what it is held against.
        reason: why there is no number; else what number it is.
        is_share: whether number and limit are shares.
        is_open: whether the number may be too small, for time ran out.
    """

    area: str
    section: str
    result: Result | None
    limit: float
    reason: str
    is_share: bool = True
    is_open: bool = False

    @property
    def verdict(self) -> Verdict:
        """Return how the number stands to its limit."""
        if self.result is None:
            return Verdict.UNKNOWN
        if self.result.value > self.limit:
            return Verdict.ABOVE
        return Verdict.OPEN if self.is_open else Verdict.KEPT


@dataclass(frozen=True)
class Summary:
    """Three sentences and the lights.

    Attributes:
        sentences: the report in short.
        lights: risk by averaging, by margins, by the bound, and utility for small areas.
    """

    sentences: tuple[str, ...]
    lights: tuple[Light, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the numbers of the lights."""
        return tuple(light.result for light in self.lights if light.result)


def summary_of(found: Gathered) -> Summary:
    """Return what a report says first."""
    lights = (_averaging(found), _margins(found), _bound(found), _small_areas(found))
    sentences = _of_public(found) if found.is_public else _of_curator(found)
    return Summary(tuple(sentences), lights)


def _averaging(found: Gathered) -> Light:
    area, result = "Risk by averaging", found.risk("averaging_success")
    reason = "success of the best combination of everything published, on the most exposed statistic"
    if found.record is not None and found.is_exact:
        result, reason = _all_known(), "every count is published as it is"
    elif result is None:
        reason = found.absent.get("risk", "nothing can be averaged")
    return Light(area, ATTACKER, result, found.confidence, reason)


def _all_known() -> Result:
    """Return how well counts without noise are known."""
    sentence = "Every count is published as it is, and known to the person."
    return Result(name="averaging_success", value=1.0, unit="1", sentence=sentence, equation="P(0 = 0)")


def _margins(found: Gathered) -> Light:
    area, outcome, expected = "Risk by margins", _outcome(found, CERTAIN), found.risk("forced_tuples")
    if outcome is not None:
        late = bool(outcome.finding.cut_off)
        reason = "counts above 0 that an attacker knows for certain in this release"
        reason += "; time ran out, and there may be more" if late else ""
        return Light(area, ATTACKER, _certain(outcome), NONE_CERTAIN, reason, is_share=False, is_open=late)
    if expected is not None:
        reason = "sets of parts and total that are expected to give their true counts away with certainty"
        return Light(area, ATTACKER, expected, EXPECTED_CERTAIN, reason, is_share=False)
    unbounded = "without a bound no published count leaves a true one certain"
    reason = found.absent.get("risk") or (FOR_THE_CURATOR if found.is_public else unbounded)
    return Light(area, ATTACKER, None, NONE_CERTAIN, reason, is_share=False)


def _certain(outcome: Outcome) -> Result:
    return Result(
        name="certain_counts",
        value=float(outcome.proven),
        unit="counts",
        sentence=outcome.sentence,
        assumptions=outcome.finding.assumptions,
        equation="counts above 0 that published totals and parts leave no doubt about",
    )


def _bound(found: Gathered) -> Light:
    result = found.risk("bound_revealed")
    reason = "chance that totals which do not add up give the bound away"
    if result is None:
        none = "this noise has no bound, or no totals of few parts show it"
        reason = found.absent.get("risk") or (FOR_THE_CURATOR if found.is_public else none)
    return Light("Risk of the bound", ATTACKER, result, found.confidence, reason)


def _small_areas(found: Gathered) -> Light:
    area, small = "Utility for small areas", found.utility.small_areas
    if small is None or not small.single[0].small.number:
        none = "no area of this release has fewer than 500 persons of a kind"
        reason = FOR_THE_CURATOR if found.is_public else found.absent.get("truth", none)
        return Light(area, USERS, None, ACCEPTED_LOSS, reason)
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
    return Light(area, USERS, result, ACCEPTED_LOSS, reason)


def _of_curator(found: Gathered) -> Iterator[str]:
    if found.is_exact:
        yield "This release holds true counts without any noise: it is the curator's alone and must not be published."
        yield "Whoever has it knows every count; no attack is needed."
        yield "Users lose nothing."
        return
    yield _averaging_sentence(found)
    yield _attack_sentence(found)
    yield _users_sentence(found)


def _of_public(found: Gathered) -> Iterator[str]:
    told = found.release.description["noise"]
    tables = f"{len(found.release.ids)} tables of {found.release.description['name']}"
    if found.is_exact:
        yield f"{tables} are published, and no noise is told of (method: {told.get('method', 'not told')})."
        yield found.absent["risk"]
        yield "If there is none, every published count is the true one."
        return
    bound = f", {told['bound']}" if "bound" in told else ""
    yield f"{tables} are published with random noise, typically ±{told['typical_noise']}{bound}."
    yield _averaging_sentence(found) if found.assessment else found.absent["risk"]
    yield found.utility.typical.sentence


def _averaging_sentence(found: Gathered) -> str:
    right, needed = found.risk("averaging_success"), found.risk("variance_needed")
    if right is None or needed is None or found.assessment is None:
        return "Nothing that is published can be averaged, so that averaging tells an attacker nothing more."
    case = found.assessment.case
    tables, kept = case.programme.of(case.population), right.value <= found.confidence
    every = len(case.programme.tables)
    which = f"all {every} tables" if len(tables) == every else f"{len(tables)} of {every} tables, which count the same,"
    remedy = f"; a variance of {needed.value:.2f} instead of {case.record.variance:.3g} would hold her"
    than = f"{'no more than' if kept else 'more than'} the {found.confidence:.1%} to which she was to be held"
    return (
        f"An attacker who combines {which} gets a count of {statistic_words(case.programme, right.worst or '')} right "
        f"to the person in {right.value:.1%} of cases, {than}, if counts are well above the noise and the errors of "
        f"her estimate are close to Gaussian{'' if kept else remedy}."
    )


def _attack_sentence(found: Gathered) -> str:
    best = best_outcome(found)
    if best is None:
        return found.absent.get("attacks", "No attack found anything to name in this release.")
    share, late = best.headline(), ""
    if best.finding.cut_off:
        late = "; the time for attacks was cut short, and she may learn more"
    if best.learnt <= 0 and share.naive is not None:
        return (
            f"In this release no attack names more counts above 0 than are published as they are, "
            f"{share.naive / share.cells:.1%} of {share.cells:,}{late}."
        )
    without = f", {share.naive / share.cells:.1%} without any attack" if share.naive is not None else ""
    return (
        f"In this release the attack {best.finding.name} names {share.right:,} of {share.cells:,} "
        f"{best.finding.subject} above 0 exactly ({share.achieved:.1%}{without}), if she knows the law of the noise "
        f"but not the keys{late}."
    )


def _users_sentence(found: Gathered) -> str:
    cells, apart = found.utility.cells, found.utility.additivity
    totals = f"{apart.share_of_totals:.1%} of totals are not the sums of their parts"
    if cells is None:
        typical = found.utility.typical.sentence
        return f"{typical} Of what is published, {totals}." if apart.totals else typical
    told = f"A published count above 0 is {cells.distances.absolute.mean:.1f} persons off on average, {{}}"
    gone = f"{cells.zeros.gone:.1%} of them are published as 0 or less"
    return told.format(f"{gone}, and {totals}." if apart.totals else f"and {gone}.")


def best_outcome(found: Gathered) -> Outcome | None:
    """Return the scored attack on many counts that names most beyond what is published; of equal ones the widest."""
    scored = [
        each
        for each in (found.attacks.outcomes if found.attacks else ())
        if each.score and len(each.finding.estimate) > 1 and not each.finding.answers and each.headline().cells
    ]
    return max(scored, key=lambda each: (max(each.learnt, 0), each.headline().cells), default=None)


def _outcome(found: Gathered, name: str) -> Outcome | None:
    outcomes = found.attacks.outcomes if found.attacks else ()
    return next((each for each in outcomes if each.finding.name == name), None)
