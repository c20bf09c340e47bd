"""Design of the noise for a programme: the function behind `discreet design`.

A design contains all constraints that follow from the structure of the output, the feasible region, and a recommended
setting with its reasons. If the region is empty, it contains the relaxations instead. It also contains the effects of
curating the output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.calibration.comparison import try_on_data
from discreet.calibration.constraints import (
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
from discreet.calibration.design_question import JUDGED, MOST_CUTS, DesignQuestion, check_question
from discreet.calibration.exposed_statistics import OutputExposure, OutputLattices, counted
from discreet.calibration.feasible_region import (
    CONFIDENCES,
    FeasibleRegion,
    FeasibleSettings,
    allowed_range,
    by_confidence,
    epsilon_relaxations,
    plane_relaxations,
)
from discreet.calibration.recommendation import best_setting, recommend
from discreet.calibration.sentences import epsilon_answer, infeasible_answer, warnings_of
from discreet.errors import ParameterError
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.ptable import PTable
from discreet.programme.eu2021.census import member_states
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import area_topic
from discreet.results import Result, ResultSet
from discreet.risk.averaging import variance_needed
from discreet.risk.residual_bound import noise_terms
from discreet.verdicts import AREA_ERROR, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from discreet.arrays import Flags
    from discreet.calibration.curation import Curation
    from discreet.calibration.exposed_statistics import Exposure
    from discreet.calibration.recommendation import Recommendation, Setting
    from discreet.programme.lattice import Lattice
    from discreet.progress import Progress
    from discreet.risk.residual_bound import NoiseTerms

MAX_BOUND = 10
"""The largest bound that users accept according to the paper."""
CUTS = 3
"""Default length of the sequence of cuts of the output."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoiseDesign(ResultSet):
    """The feasible region of a programme and the recommended noise.

    Attributes:
        question: the requirements: programme, populations, attacker, confidence and the other arguments.
        exposure: the exposure that follows from the output: the most exposed statistics, sets, noise terms, areas.
        region: the feasible settings: constraints, plane, line, relaxations, curation, by_confidence.
        recommendation: the recommended noise: setting, reasons, risk, promised, utility, on_data; None if no setting is
            feasible.
        warnings: the warnings for the reader.
        given: a p-table that is checked against the constraints; None for none.
    """

    question: DesignQuestion
    exposure: OutputExposure
    region: FeasibleSettings
    recommendation: Recommendation | None
    warnings: tuple[str, ...]
    given: PTable | None = None

    @property
    def recommended(self) -> Setting | None:
        """Return the recommended variance and bound; None if no setting is feasible."""
        return self.recommendation.setting if self.recommendation else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons for the recommended setting; empty if no setting is feasible."""
        return self.recommendation.reasons if self.recommendation else ()

    @property
    def feasible(self) -> bool:
        """Return whether the constraints on bounded noise are compatible."""
        return self.recommendation is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the flags of `protect` for the recommended noise; empty if no setting is feasible."""
        return {} if self.recommended is None else {"mechanism": "cell-key", **self.recommended._asdict()}

    @property
    def noise(self) -> PTable:
        """Return the p-table of the recommended setting, or raise an error that names the relaxations."""
        if self.recommended is None:
            changes = " ".join(each.sentence for each in self.region.relaxations)
            raise ParameterError(f"No noise can be recommended. {self.answer} {changes}".rstrip(), parameter="noise")
        return PTable.max_entropy(**self.recommended._asdict())

    @property
    def title(self) -> str:
        """Return the programme and the answer."""
        return f"{self.question.programme.name}. {self.answer}"

    @property
    def answer(self) -> str:
        """Return the answer in a sentence."""
        if self.recommended is None:
            return infeasible_answer(self.question.programme.name, self.region.plane.rows[-1])
        return f"Recommended noise: variance {self.recommended.variance:.10g}, bound {self.recommended.bound}."

    @cached_property
    def given_result(self) -> Result | None:
        """Return the number of constraints that the given p-table violates; None if no p-table is given."""
        if self.given is None:
            return None
        values = {VARIANCE: self.given.large.variance, BOUND: float(self.given.bound)}
        bound, plane = self.given.bound, self.region.plane
        missed = [each for each in plane.constraints if not each.allows(values[each.about], bound)]
        what = f"The given p-table (variance {values[VARIANCE]:.3g}, bound {bound})"
        limits = "; ".join(f"{each.name}: {each.about} {each.side} {each.limit(bound):.3g}" for each in missed)
        return Result(
            name="ptable_constraints_missed",
            value=len(missed),
            unit="constraints",
            sentence=f"{what} violates {limits}." if missed else f"{what} satisfies all constraints.",
            assumptions=("variance and bound of the row for large counts; rows of small counts are not checked",),
            equation="constraints that do not allow (V, E)",
        )

    @property
    def line_answer(self) -> str:
        """Return which epsilon the constraints allow for unbounded noise, in a sentence."""
        return epsilon_answer(self.region.line)

    def to_json(self) -> dict[str, Any]:
        """Return the part of the `--json` output next to the results."""
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
        """Return the limits, the recommended setting, and its risk and utility."""
        at = self.recommended.bound if self.recommended else self.question.max_bound
        found = [each.result(at) for each in self.region.constraints]
        tried = self.recommendation.on_data if self.recommendation else None
        if self.recommendation:
            found += self.recommendation.results
        found += [self.given_result] if self.given_result else []
        if self.exposure.total_known is not None:
            found.append(self.exposure.total_known.if_total_known(self.question.averaging_target))
        return (*found, *(tried.results if tried else ()))

    def __str__(self) -> str:
        changes = (each.sentence for each in self.region.relaxations)
        given = [self.given_result.sentence] if self.given_result else []
        return "\n".join([*given, self.answer, *self.reasons, *changes, self.line_answer])


def design(
    programme: Programme | str | Path,
    *,
    data: object = None,
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
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
    """Return the noise that a programme needs.

    Args:
        programme: a Programme, or its name as in `eu2021:LU`.
        data: the records for a trial release with the recommended noise, as for `protect`; None for none.
        targets: the targets of the office by name, as {"averaging": 0.68}; the others have their defaults.
        max_bound: the largest bound that users accept.
        attacker: `optimal` or `paper`.
        rule: `levels` or `flat`.
        known: a statistic whose true counts are public; None for none.
        population: the population whose tables are designed for; None for all tables with the most frequent unit.
        areas: the topic of areas.
        hide_bound: whether to constrain bound disclosure.
        cuts: the length of the sequence of cuts of the output; 0 evaluates no cut.
        closed_form: whether to use the closed form for equal blocks instead of exact solutions for the optimal
            attacker; faster, with errors in both directions.
        terms: the noise terms of large counts that the residuals of a release disclose, as returned by
            `noise_terms_in`; without it every published count is treated as large.
        ptable: a p-table or its file, to be checked against the constraints.
        progress: a callback with the stage, the completed steps and the total steps.
        reading: further arguments of `protect`, as `id` or `count`.

    >>> print(design("eu2021:MT", population="conventional dwellings", cuts=0).answer)
    Recommended noise: variance 1, bound 3.
    """
    check_question(max_bound, attacker, cuts)
    given = ptable if ptable is None or isinstance(ptable, PTable) else read_ptable(ptable)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    found = counted(spec, rule, population, closed_form=closed_form)
    question = DesignQuestion(
        programme=spec,
        populations=tuple(found.lattices),
        attacker=attacker,
        policy=Policy.of(targets).restricted("design", JUDGED),
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
    warnings = warnings_of(question, exposure, region, recommendation, has_data=data is not None)
    return NoiseDesign(
        question=question,
        exposure=exposure,
        region=region,
        recommendation=recommendation,
        warnings=tuple(warnings),
        given=given,
    )


def _exposure(
    question: DesignQuestion,
    found: OutputLattices,
    areas: str | None,
    terms: NoiseTerms | None,
    progress: Progress | None,
) -> OutputExposure:
    """Return the exposure that follows from the structure of the output."""
    shared = found.exposed(spsn=True, known=question.known, progress=progress)
    # With independent noise in every table the chosen attacker decides: the paper's attacker needs no exact solution.
    decides = found if question.attacker == OPTIMAL else replace(found, scope=None)
    return OutputExposure(
        shared=shared,
        fresh=decides.exposed(spsn=False, known=question.known, progress=progress),
        total_known=_total_known(found, question.attacker, question.known, progress),
        sets={PAPER: found.sets},
        areas=_areas(question.programme, areas),
        terms=terms
        or noise_terms(question.programme, rule=question.rule, populations=list(found.lattices), progress=progress),
    )


def _region(
    question: DesignQuestion,
    found: OutputLattices,
    exposure: OutputExposure,
    cuts: int,
    progress: Progress | None,
) -> FeasibleSettings:
    """Return the feasible settings of bounded and of unbounded noise, and the relaxations."""
    fresh, averaging = exposure.fresh[question.attacker], question.averaging_target
    within = question.policy.accepted(AREA_ERROR)

    def bounded(alpha: float) -> FeasibleRegion:
        return _plane(question, exposure, alpha, alpha)

    def raised(alpha: float) -> FeasibleRegion:
        return _plane(question, exposure, max(alpha, averaging), max(alpha, question.bound_target))

    rates = {"averaging": averaging, "bound": question.bound_target}
    plane = _plane(question, exposure, averaging, question.bound_target)
    unbounded = (
        averaging_epsilon(
            fresh.ratio,
            fresh.statistic,
            averaging,
            attacker=question.attacker,
            surrogate=question.is_surrogate(fresh),
        ),
        *([accurate_areas(exposure.areas, averaging, within)] if exposure.areas else []),
    )
    line = allowed_range(unbounded, EPSILON)
    curation = _curation(question, found, exposure.terms, cuts, feasible=bool(plane.feasible), progress=progress)
    return FeasibleSettings(
        constraints=(*plane.constraints, *unbounded),
        plane=plane,
        line=line,
        relaxations=() if plane.feasible else tuple(plane_relaxations(plane, raised, rates, curation)),
        line_relaxations=()
        if line.feasible or not exposure.areas
        else tuple(epsilon_relaxations(line, exposure.areas, within, fresh, averaging)),
        curation=curation,
        by_confidence=by_confidence(bounded, sorted({*CONFIDENCES, averaging})),
    )


def _plane(
    question: DesignQuestion, exposure: OutputExposure, averaging_target: float, bound_target: float
) -> FeasibleRegion:
    """Return the constraints on bounded noise for the two targets."""
    attacker, exposed, sets = question.attacker, exposure.shared[question.attacker], exposure.sets[PAPER]
    averaging = averaging_variance(
        exposed.ratio, exposed.statistic, averaging_target, attacker=attacker, surrogate=question.is_surrogate(exposed)
    )
    constrained = question.hide_bound and (attacker == OPTIMAL or sets)
    disclosure = (bound_disclosure_limit(sets, bound_target, attacker, exposure.terms),) if constrained else ()
    uniform, bound = variance_limit(), acceptable_bound(question.max_bound)
    return FeasibleRegion((averaging, as_published(averaging_target), *disclosure, uniform, bound), question.max_bound)


def _curation(
    question: DesignQuestion,
    found: OutputLattices,
    terms: NoiseTerms,
    cuts: int,
    *,
    feasible: bool,
    progress: Progress | None,
) -> Curation:
    """Return the effects of cuts in the population that needs the largest variance; the others stay unchanged."""
    attacker, target, known = question.attacker, question.averaging_target, question.known
    needed = {
        name: variance_needed(each[attacker].ratio, target) for name, each in found.by_population(known=known).items()
    }
    worst = max(needed, key=needed.__getitem__)
    others = {name: each for name, each in found.lattices.items() if name != worst}

    def accepts(left: Lattice, variance: float) -> bool:
        sets = OutputLattices({**others, worst: left}).sets
        if not question.hide_bound or (attacker != OPTIMAL and not sets):
            return variance_limit().allows(variance, question.max_bound)
        # Publishing less increases leverages: those of the whole output overestimate the attack and never
        # underestimate it.
        still = [_still(each, left if name == worst else each) for name, each in found.lattices.items()]
        kept = terms if terms.from_data else terms.restricted(np.concatenate(still))
        return bound_disclosure_limit(sets, question.bound_target, attacker, kept).allows(variance, question.max_bound)

    return curate(
        cuttable(question.programme, rule=question.rule, population=worst),
        attacker=attacker,
        known=known if known and found.lattices[worst].publishes(known) else None,
        confidence=target,
        steps=cuts,
        farthest=MOST_CUTS if cuts and not feasible else 0,
        # No cut here lowers the variance that other tables need, or that keeps counts from being published unchanged.
        floor=max([as_published(target).limit(1), *(each for name, each in needed.items() if name != worst)]),
        accepts=accepts,
        progress=progress,
    )


def _still(whole: Lattice, left: Lattice) -> Flags:
    """Return which of the statistics published now are still published after cuts."""
    found: Flags = left.published[whole.published]
    return found


def _areas(programme: Programme, name: str | None) -> int | None:
    """Return the number of areas at the finest level; None without a topic of areas."""
    topic = area_topic(programme, name)
    return None if topic is None else programme.topics[topic].levels[-1].size


def _member_state(programme: Programme | str | Path) -> str | None:
    """Return the Member State of a census programme; None for any other programme."""
    kind, _, rest = str(programme).partition(":") if isinstance(programme, str) else ("", "", "")
    country = rest.partition(":")[0].upper()
    return country if kind == "eu2021" and country in member_states() else None


def _total_known(found: OutputLattices, attacker: str, known: str | None, progress: Progress | None) -> Exposure | None:
    """Return the most exposed statistic if the totals are known too.

    Return None if a statistic is known already, for the paper's attacker, if a population has no statistic but its
    total, or if a population does not publish its total.
    """
    if known is not None or attacker != OPTIMAL or any(len(each) == 1 for each in found.lattices.values()):
        return None
    if not all(each.published[0] for each in found.lattices.values()):
        return None
    return found.exposed(spsn=True, known="total", progress=progress)[OPTIMAL]
