"""Design: which noise a programme needs, the function behind `discreet design`.

All constraints that the structure of the output gives, the region they leave, a setting in it with its reasons, or,
where nothing is left, what to relax and by how much; and what curating the output would buy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.calibration.comparison import try_on_data
from discreet.calibration.constraints import (
    ACCURATE,
    BOUND,
    EPSILON,
    OPTIMAL,
    PAPER,
    VARIANCE,
    acceptable_bound,
    accurate_areas,
    as_published,
    averaging_epsilon,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.curation import curate
from discreet.calibration.curation import output_of as cuttable
from discreet.calibration.design_question import MOST_CUTS, DesignQuestion, check_question
from discreet.calibration.exposed_statistics import OutputExposure, OutputLattices, counted
from discreet.calibration.feasible_region import (
    CONFIDENCES,
    FeasibleRegion,
    FeasibleSettings,
    allowed,
    by_confidence,
    of_line,
    of_plane,
)
from discreet.calibration.recommendation import best_setting, recommend
from discreet.calibration.sentences import left_of_line, nothing_left, warnings_of
from discreet.errors import ParameterError
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.ptable import PTable
from discreet.programme.eu2021.census import member_states
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import area_topic
from discreet.results import Result, ResultSet
from discreet.risk.averaging import ONE_SIGMA, variance_needed
from discreet.risk.residual_bound import noise_terms

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.arrays import Flags
    from discreet.calibration.curation import Curation
    from discreet.calibration.exposed_statistics import Exposure
    from discreet.calibration.recommendation import Recommendation, Setting
    from discreet.programme.lattice import Lattice
    from discreet.progress import Progress
    from discreet.risk.residual_bound import NoiseTerms

MAX_BOUND = 10
"""The largest bound that the paper takes users to accept."""
CUTS = 3
"""Cuts of the output that are taken one after the other, unless told otherwise."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoiseDesign(ResultSet):
    """What the constraints leave, and what to take of it.

    Attributes:
        question: what the noise is for: programme, populations, attacker, confidence and what else was asked.
        exposure: what the structure of the output reveals: the most exposed statistics, sets, noise terms, areas.
        region: what the constraints leave: constraints, plane, line, relaxations, curation, by_confidence.
        recommendation: the noise to take: setting, reasons, risk, promised, utility, on_data; None where nothing is
            left.
        warnings: what a reader should know.
        given: a p-table that is checked against the constraints.
    """

    question: DesignQuestion
    exposure: OutputExposure
    region: FeasibleSettings
    recommendation: Recommendation | None
    warnings: tuple[str, ...]
    given: PTable | None = None

    @property
    def recommended(self) -> Setting | None:
        """Return variance and bound, None where nothing is left."""
        return self.recommendation.setting if self.recommendation else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why this setting; nothing where nothing is left."""
        return self.recommendation.reasons if self.recommendation else ()

    @property
    def feasible(self) -> bool:
        """Say whether the constraints on bounded noise leave something."""
        return self.recommendation is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the flags of `protect` for the recommended noise; none where nothing is left."""
        return {} if self.recommended is None else {"mechanism": "cell-key", **self.recommended._asdict()}

    @property
    def noise(self) -> PTable:
        """Return the p-table of the recommended setting, or raise an error that names what to relax."""
        if self.recommended is None:
            ways = " ".join(each.sentence for each in self.region.relaxations)
            raise ParameterError(f"There is no noise to recommend. {self.answer} {ways}".rstrip(), parameter="noise")
        return PTable.max_entropy(**self.recommended._asdict())

    @property
    def title(self) -> str:
        """Return the programme and the answer."""
        return f"{self.question.programme.name}. {self.answer}"

    @property
    def answer(self) -> str:
        """Return the answer in a sentence."""
        if self.recommended is None:
            return nothing_left(self.question.programme.name, self.region.plane.rows[-1])
        return f"Take a variance of {self.recommended.variance:.10g} and a bound of {self.recommended.bound}."

    @cached_property
    def given_result(self) -> Result | None:
        """Return how many constraints the given p-table misses, and which; None if none is given."""
        if self.given is None:
            return None
        values = {VARIANCE: self.given.large.variance, BOUND: float(self.given.bound)}
        bound, plane = self.given.bound, self.region.plane
        missed = [each for each in plane.constraints if not each.allows(values[each.about], bound)]
        what = f"The p-table given (variance {values[VARIANCE]:.3g}, bound {bound})"
        limits = "; ".join(f"{each.name}: {each.about} {each.side} {each.limit(bound):.3g}" for each in missed)
        return Result(
            name="ptable_constraints_missed",
            value=len(missed),
            unit="constraints",
            sentence=f"{what} misses {limits}." if missed else f"{what} satisfies all constraints.",
            assumptions=("its variance and bound are those of large counts; rows of small counts are not checked",),
            equation="constraints that do not allow (V, E)",
        )

    @property
    def line_answer(self) -> str:
        """Return what is left for noise without a bound, in a sentence."""
        return left_of_line(self.region.line)

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside the results."""
        return {
            "feasible": self.feasible,
            "recommended": self.recommended._asdict() if self.recommended else None,
            "reasons": list(self.reasons),
            **self.region.to_json(),
            **self.exposure.to_json(),
            "populations": list(self.question.populations),
        }

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the limits, the recommendation, and what follows from it, each in a sentence."""
        at = self.recommended.bound if self.recommended else self.question.max_bound
        found = [each.result(at) for each in self.region.constraints]
        tried = self.recommendation.on_data if self.recommendation else None
        if self.recommendation:
            found += self.recommendation.results
        found += [self.given_result] if self.given_result else []
        if self.exposure.total_known is not None:
            found.append(self.exposure.total_known.if_total_known(self.question.confidence))
        return (*found, *(tried.results if tried else ()))

    def __str__(self) -> str:
        ways = (each.sentence for each in self.region.relaxations)
        given = [self.given_result.sentence] if self.given_result else []
        return "\n".join([*given, self.answer, *self.reasons, *ways, self.line_answer])


def design(
    programme: Programme | str | Path,
    *,
    data: object = None,
    confidence: float = ONE_SIGMA,
    max_bound: int = MAX_BOUND,
    attacker: str = OPTIMAL,
    rule: str = "levels",
    known: str | None = None,
    population: str | None = None,
    areas: str | None = None,
    hide_bound: bool = True,
    cuts: int = CUTS,
    closed_form: bool = False,
    terms: NoiseTerms | None = None,
    ptable: PTable | Path | str | None = None,
    progress: Progress | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> NoiseDesign:
    """Return which noise a programme needs.

    Args:
        programme: a Programme, or its name as in `eu2021:LU`.
        data: records to try the recommended noise on, as for `protect`.
        confidence: the success an attacker may have.
        max_bound: the largest noise that users accept.
        attacker: `optimal` or `paper`.
        rule: `levels` or `flat`.
        known: a statistic whose true counts are public.
        population: which tables, by what they count; all that count the unit of most tables if left out.
        areas: the topic of areas.
        hide_bound: whether the bound is to stay hidden.
        cuts: how many cuts of the output to take one after the other, to see what they buy; 0 for none at all.
        closed_form: measure the optimal attacker by the closed form for equal blocks instead of exact solutions;
            faster, errs both ways.
        terms: what residuals reveal of the noise of large counts in a release, as `noise_terms_in` gives it; without it
            every published count is taken as large.
        ptable: a p-table or its file, to be checked against the constraints.
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.

    >>> print(design("eu2021:MT", population="conventional dwellings", cuts=0).answer)
    Take a variance of 1 and a bound of 3.
    """
    check_question(confidence, max_bound, attacker, cuts)
    given = ptable if ptable is None or isinstance(ptable, PTable) else read_ptable(ptable)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    found = counted(spec, rule, population, closed_form=closed_form)
    question = DesignQuestion(
        programme=spec,
        populations=tuple(found.lattices),
        attacker=attacker,
        confidence=confidence,
        max_bound=max_bound,
        rule=rule,
        known=known,
        hide_bound=hide_bound,
    )
    exposure = _exposure(question, found, areas, terms, progress)
    region = _region(question, found, exposure, cuts, progress)
    setting, recommendation = best_setting(region.plane), None
    if setting is not None:
        recommendation = recommend(
            setting,
            region.plane,
            question,
            exposure,
            statistics=found.statistics,
            country=_member_state(programme),
            on_data=None if data is None else try_on_data(data, spec, setting, progress=progress, **reading),
        )
    told = warnings_of(question, exposure, region, recommendation, has_data=data is not None)
    return NoiseDesign(
        question=question,
        exposure=exposure,
        region=region,
        recommendation=recommendation,
        warnings=tuple(told),
        given=given,
    )


def _exposure(
    question: DesignQuestion,
    found: OutputLattices,
    areas: str | None,
    terms: NoiseTerms | None,
    progress: Progress | None,
) -> OutputExposure:
    """Return what the structure of the output reveals."""
    shared = found.exposed(spsn=True, known=question.known, progress=progress)
    # Noise of each table's own decides by the attacker who is asked for: the paper's needs no exact solution.
    decides = found if question.attacker == OPTIMAL else replace(found, scope=None)
    return OutputExposure(
        shared=shared,
        fresh=decides.exposed(spsn=False, known=question.known, progress=progress),
        total_known=_total_known(found, question.attacker, question.known),
        sets={PAPER: found.sets},
        areas=_areas(question.programme, areas),
        terms=terms or noise_terms(question.programme, rule=question.rule, populations=list(found.lattices)),
    )


def _region(
    question: DesignQuestion,
    found: OutputLattices,
    exposure: OutputExposure,
    cuts: int,
    progress: Progress | None,
) -> FeasibleSettings:
    """Return what the constraints leave of bounded and of unbounded noise, and what would leave more."""
    fresh, confidence = exposure.fresh[question.attacker], question.confidence

    def bounded(alpha: float) -> FeasibleRegion:
        return _plane(question, exposure, alpha)

    plane = bounded(confidence)
    unbounded = (
        averaging_epsilon(
            fresh.ratio,
            fresh.statistic,
            confidence,
            attacker=question.attacker,
            surrogate=question.is_surrogate(fresh),
        ),
        *([accurate_areas(exposure.areas, confidence)] if exposure.areas else []),
    )
    line = allowed(unbounded, EPSILON)
    curation = _curation(question, found, exposure.terms, cuts, feasible=bool(plane.feasible), progress=progress)
    return FeasibleSettings(
        constraints=(*plane.constraints, *unbounded),
        plane=plane,
        line=line,
        relaxations=() if plane.feasible else tuple(of_plane(plane, bounded, confidence, curation)),
        line_relaxations=()
        if line.feasible or not exposure.areas
        else tuple(of_line(line, exposure.areas, ACCURATE, fresh, confidence)),
        curation=curation,
        by_confidence=by_confidence(bounded, sorted({*CONFIDENCES, confidence})),
    )


def _plane(question: DesignQuestion, exposure: OutputExposure, confidence: float) -> FeasibleRegion:
    """Return the constraints on bounded noise where an attacker may have a success."""
    attacker, exposed, sets = question.attacker, exposure.shared[question.attacker], exposure.sets[PAPER]
    averaging = averaging_variance(
        exposed.ratio, exposed.statistic, confidence, attacker=attacker, surrogate=question.is_surrogate(exposed)
    )
    hides = question.hide_bound and (attacker == OPTIMAL or sets)
    hidden = (bound_disclosure_limit(sets, confidence, attacker, exposure.terms),) if hides else ()
    room, bound = variance_limit(), acceptable_bound(question.max_bound)
    return FeasibleRegion((averaging, as_published(confidence), *hidden, room, bound), question.max_bound)


def _curation(
    question: DesignQuestion,
    found: OutputLattices,
    terms: NoiseTerms,
    cuts: int,
    *,
    feasible: bool,
    progress: Progress | None,
) -> Curation:
    """Return what cuts buy in the population that asks for most; the others stay as they are."""
    attacker, confidence, known = question.attacker, question.confidence, question.known
    needed = {
        name: variance_needed(each[attacker].ratio, confidence)
        for name, each in found.by_population(known=known).items()
    }
    worst = max(needed, key=needed.__getitem__)
    others = {name: each for name, each in found.lattices.items() if name != worst}

    def accepts(left: Lattice, variance: float) -> bool:
        sets = OutputLattices({**others, worst: left}).sets
        if not question.hide_bound or (attacker != OPTIMAL and not sets):
            return variance_limit().allows(variance, question.max_bound)
        # Where less is published leverages are larger: those of the whole make the attack too strong, never too weak.
        still = [_still(each, left if name == worst else each) for name, each in found.lattices.items()]
        kept = terms if terms.from_data else terms.restricted(np.concatenate(still))
        return bound_disclosure_limit(sets, confidence, attacker, kept).allows(variance, question.max_bound)

    return curate(
        cuttable(question.programme, rule=question.rule, population=worst),
        attacker=attacker,
        known=known if known and found.lattices[worst].publishes(known) else None,
        confidence=confidence,
        steps=cuts,
        farthest=MOST_CUTS if cuts and not feasible else 0,
        # What other tables ask for, and that no count is readable as it stands, no cut here lowers.
        floor=max([as_published(confidence).limit(1), *(each for name, each in needed.items() if name != worst)]),
        accepts=accepts,
        progress=progress,
    )


def _still(whole: Lattice, left: Lattice) -> Flags:
    """Return which of the statistics that are published now still are after cuts."""
    found: Flags = left.published[whole.published]
    return found


def _areas(programme: Programme, asked: str | None) -> int | None:
    """Return the number of areas at the finest level; None without a topic of areas."""
    topic = area_topic(programme, asked)
    return None if topic is None else programme.topics[topic].levels[-1].size


def _member_state(programme: Programme | str | Path) -> str | None:
    """Return the Member State whose census is named, None where it is none or another programme."""
    kind, _, rest = str(programme).partition(":") if isinstance(programme, str) else ("", "", "")
    country = rest.partition(":")[0].upper()
    return country if kind == "eu2021" and country in member_states() else None


def _total_known(found: OutputLattices, attacker: str, known: str | None) -> Exposure | None:
    """Return the statistic known best where the totals are known too; nothing where that is so already or not asked."""
    if known is not None or attacker != OPTIMAL or any(len(each) == 1 for each in found.lattices.values()):
        return None
    if not all(each.published[0] for each in found.lattices.values()):
        return None
    return found.exposed(spsn=True, known="total")[OPTIMAL]
