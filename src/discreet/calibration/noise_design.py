"""Design: which noise a programme needs, the function behind `discreet design`.

All constraints that the structure of the output gives, the region they leave, a setting in it with its reasons, or,
where nothing is left, what to relax and by how much; and what curating the output would buy.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.accuracy.release_areas import NO_AREAS, area_topic
from discreet.calibration.comparison import try_on_data
from discreet.calibration.constraints import (
    ACCURATE,
    ATTACKERS,
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
from discreet.calibration.exposed_statistics import OutputLattices, counted
from discreet.calibration.feasible_region import (
    CONFIDENCES,
    FeasibleRegion,
    allowed,
    by_confidence,
    of_line,
    of_plane,
    phrase,
)
from discreet.calibration.recommendation import best_setting, expected_utility, privacy_guarantees, reasons, risks
from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.ptable import PTable
from discreet.programme.eu2021.census import member_states
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.results import Result, ResultSet
from discreet.risk.assessment import SUREST
from discreet.risk.averaging import ONE_SIGMA, variance_needed
from discreet.risk.bound_disclosure import LEAST_SURE
from discreet.risk.residual_bound import noise_terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.arrays import Flags
    from discreet.calibration.comparison import TrialRelease
    from discreet.calibration.constraints import Constraint
    from discreet.calibration.curation import Curation
    from discreet.calibration.exposed_statistics import Exposure
    from discreet.calibration.feasible_region import Allowed, AtConfidence, Relaxation
    from discreet.calibration.recommendation import Setting
    from discreet.programme.lattice import Lattice
    from discreet.progress import Progress
    from discreet.risk.residual_bound import NoiseTerms

MAX_BOUND = 10
"""The largest bound that the paper takes users to accept."""
MOST_BOUND = 50
CUTS = 3
"""Cuts of the output that are taken one after the other, unless told otherwise."""
MOST_CUTS = 60
"""Cuts that are tried where nothing is left."""
LEVELS = "levels"
"""The rule whose ratios are a surrogate."""
LEAST = 0.01
"""The smallest success that an attacker can be held to: below it rounding decides."""
UNITS = {VARIANCE: "persons squared", BOUND: "persons", EPSILON: "1"}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoiseDesign(ResultSet):
    """What the constraints leave, and what to take of it.

    Attributes:
        programme: what is published.
        populations: what the tables count that are designed for.
        attacker: who is held off.
        confidence: the success she may have.
        max_bound: the largest bound that users accept.
        rule: of counting levels.
        exposed: by attacker, the most exposed statistic where a count has one noise in all tables.
        exposed_fresh: the same where every table has noise of its own.
        exposed_total_known: the same as `exposed` where the true total is known anyway; None if it is not published.
        sets: of the paper's attacker, by number of parts, how many sets of parts and their total are published.
        terms: what the residuals of published counts reveal of their noise.
        areas: the number of areas at the finest level; None if the programme has no topic of areas.
        constraints: all of them.
        plane: variance and bound, for noise that is bounded and shared.
        line: epsilon of a count, for noise without a bound and of each table's own.
        recommended: variance and bound, None where nothing is left.
        reasons: why.
        relaxations: what would leave something of the plane, where nothing is.
        line_relaxations: the same for the line.
        curation: what cuts of the output buy.
        by_confidence: what is needed at other confidences.
        risk: of the setting, under both attackers.
        promised: epsilon and delta of the setting, with conditions.
        utility: what users can expect of the setting.
        on_data: what a release of the data would give; None without data.
        warnings: what a reader should know.
    """

    programme: Programme
    populations: tuple[str, ...]
    attacker: str
    confidence: float
    max_bound: int
    rule: str
    exposed: dict[str, Exposure]
    exposed_fresh: dict[str, Exposure]
    exposed_total_known: Exposure | None
    sets: dict[str, dict[int, int]]
    terms: NoiseTerms
    areas: int | None
    constraints: tuple[Constraint, ...]
    plane: FeasibleRegion
    line: Allowed
    recommended: Setting | None
    reasons: tuple[str, ...]
    relaxations: tuple[Relaxation, ...]
    line_relaxations: tuple[Relaxation, ...]
    curation: Curation
    by_confidence: tuple[AtConfidence, ...]
    risk: tuple[Result, ...]
    promised: tuple[Result, ...]
    utility: tuple[Result, ...]
    on_data: TrialRelease | None
    warnings: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Say whether the constraints on bounded noise leave something."""
        return self.recommended is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the flags of `protect` for the recommended noise; none where nothing is left."""
        if self.recommended is None:
            return {}
        return {"mechanism": "cell-key", "variance": self.recommended.variance, "bound": self.recommended.bound}

    @property
    def noise(self) -> PTable:
        """Return the p-table of the recommended setting, or raise an error that names what to relax."""
        if self.recommended is None:
            ways = " ".join(each.sentence for each in self.relaxations)
            raise ParameterError(f"There is no noise to recommend. {self.answer} {ways}".rstrip(), parameter="noise")
        return PTable.max_entropy(variance=self.recommended.variance, bound=self.recommended.bound)

    @property
    def title(self) -> str:
        """Return the programme and the answer."""
        return f"{self.programme.name}. {self.answer}"

    @property
    def answer(self) -> str:
        """Return the answer in a sentence."""
        if self.recommended is None:
            widest = self.plane.rows[-1]
            return (
                f"Nothing is left for {self.programme.name}: {phrase(widest.low_by)} asks for a variance of at least "
                f"{widest.low:.3g}, and at a bound of {widest.bound} {phrase(widest.high_by)} allows at most "
                f"{widest.high:.3g}."
            )
        return f"Take a variance of {self.recommended.variance:.10g} and a bound of {self.recommended.bound}."

    @property
    def line_answer(self) -> str:
        """Return what is left for noise without a bound, in a sentence."""
        if not self.line.low:
            return f"Noise without a bound could have an epsilon of at most {self.line.high:.3g} a count."
        if self.line.feasible:
            return (
                f"Noise without a bound could have an epsilon of {self.line.low:.3g} to {self.line.high:.3g} a count."
            )
        return (
            f"Noise without a bound: nothing is left. {self.line.low_by.capitalize()} ask for an epsilon of at least "
            f"{self.line.low:.3g} a count, and {self.line.high_by} allows at most {self.line.high:.3g}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside the results."""
        bounds = range(1, self.max_bound + 1)
        return {
            "feasible": self.feasible,
            "recommended": self.recommended._asdict() if self.recommended else None,
            "reasons": list(self.reasons),
            "constraints": [
                {
                    **{name: getattr(each, name) for name in ("name", "about", "side", "formula", "reason")},
                    "assumptions": list(each.assumptions),
                    "limits": [each.limit(bound) for bound in bounds],
                }
                for each in self.constraints
            ],
            "region": [{**asdict(row), "feasible": row.feasible} for row in self.plane.rows],
            "line": {**asdict(self.line), "feasible": self.line.feasible},
            "relaxations": [asdict(each) for each in (*self.relaxations, *self.line_relaxations)],
            "exposed": {attacker: asdict(each) for attacker, each in self.exposed.items()},
            "exposed_fresh": {attacker: asdict(each) for attacker, each in self.exposed_fresh.items()},
            "sets": {who: {str(parts): many for parts, many in each.items()} for who, each in self.sets.items()},
            "noise_terms": {
                "large": self.terms.large,
                "published": self.terms.published,
                "from_data": self.terms.from_data,
                "surrogate": self.terms.surrogate,
            },
            "populations": list(self.populations),
            "areas": self.areas,
            "by_confidence": [asdict(each) for each in self.by_confidence],
            "curation": self.curation.to_json(),
        }

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the limits, the recommendation, and what follows from it, each in a sentence."""
        found = [*self._limits(), *self._recommendation(), *self.risk, *self.promised, *self.utility]
        if self.exposed_total_known is not None:
            found.append(self._known_total(self.exposed_total_known))
        return (*found, *(self.on_data.results if self.on_data else ()))

    def _limits(self) -> Iterator[Result]:
        at = self.recommended.bound if self.recommended else self.max_bound
        for each in self.constraints:
            where = f" at bound {at}" if each.limit(1) != each.limit(2) else ""
            value = each.limit(at)
            yield Result(
                name=f"{each.name.replace(' ', '_')}_{each.about}",
                value=value,
                unit=UNITS[each.about],
                sentence=f"{each.name.capitalize()}: {each.about} {each.side} {value:.4g}{where}, "
                f"so that {each.reason}.",
                assumptions=each.assumptions,
                equation=each.formula,
            )

    def _recommendation(self) -> Iterator[Result]:
        if self.recommended is None:
            return
        assumed = ("cell keys: the same participants have the same noise", "all constraints as they are told here")
        for name, value, why in zip(
            (BOUND, VARIANCE), (float(self.recommended.bound), self.recommended.variance), self.reasons, strict=True
        ):
            yield Result(
                name=f"recommended_{name}",
                value=value,
                unit=UNITS[name],
                sentence=why,
                assumptions=assumed,
                equation="least E with V_averaging <= V_hidden(E), then least V",
            )

    def _known_total(self, exposed: Exposure) -> Result:
        needed = variance_needed(exposed.ratio, self.confidence)
        return Result(
            name="variance_needed_if_total_known",
            value=needed,
            unit=UNITS[VARIANCE],
            sentence=f"If the true total is known anyway, a variance of {needed:.3g} is needed for what is left to "
            f"hide; {exposed.statistic} is then the most exposed.",
            worst=exposed.statistic,
            assumptions=("counts well above the bound", "errors of the estimate close to Gaussian"),
            equation="V = 1 / (4 z^2 r)",
        )

    def __str__(self) -> str:
        return "\n".join([self.answer, *self.reasons, *(each.sentence for each in self.relaxations), self.line_answer])


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
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.

    >>> print(design("eu2021:MT", attacker="paper", rule="flat", cuts=0).answer)
    Take a variance of 1.9 and a bound of 5.
    """
    _check(confidence, max_bound, attacker, cuts)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    found = counted(spec, rule, population, closed_form=closed_form)
    exposed = found.exposed(spsn=True, known=known, progress=progress)
    # Noise of each table's own decides by the attacker who is asked for: the paper's needs no exact solution.
    decides = found if attacker == OPTIMAL else replace(found, scope=None)
    fresh = decides.exposed(spsn=False, known=known, progress=progress)
    sets = {PAPER: found.sets}
    number = _areas(spec, areas)
    terms = terms or noise_terms(spec, rule=rule, populations=list(found.lattices))

    def bounded(alpha: float) -> FeasibleRegion:
        averaging = averaging_variance(
            exposed[attacker].ratio,
            exposed[attacker].statistic,
            alpha,
            attacker=attacker,
            surrogate=rule == LEVELS and not exposed[attacker].exact,
        )
        hides = hide_bound and (attacker == OPTIMAL or sets[PAPER])
        hidden = (bound_disclosure_limit(sets[PAPER], alpha, attacker, terms),) if hides else ()
        return FeasibleRegion(
            (averaging, as_published(alpha), *hidden, variance_limit(), acceptable_bound(max_bound)), max_bound
        )

    plane = bounded(confidence)
    unbounded = (
        averaging_epsilon(
            fresh[attacker].ratio,
            fresh[attacker].statistic,
            confidence,
            attacker=attacker,
            surrogate=rule == LEVELS and not fresh[attacker].exact,
        ),
        *([accurate_areas(number, confidence)] if number else []),
    )
    line = allowed(unbounded, EPSILON)
    setting = best_setting(plane)
    curation = _curation(
        spec,
        found,
        terms,
        rule=rule,
        attacker=attacker,
        known=known,
        confidence=confidence,
        cuts=cuts,
        max_bound=max_bound,
        hide_bound=hide_bound,
        feasible=setting is not None,
        progress=progress,
    )
    tried = None
    if data is not None and setting is not None:
        tried = try_on_data(data, spec, setting, progress=progress, **reading)
    return NoiseDesign(
        programme=spec,
        populations=tuple(found.lattices),
        attacker=attacker,
        confidence=confidence,
        max_bound=max_bound,
        rule=rule,
        exposed=exposed,
        exposed_fresh=fresh,
        exposed_total_known=_total_known(found, attacker, known),
        sets=sets,
        terms=terms,
        areas=number,
        constraints=(*plane.constraints, *unbounded),
        plane=plane,
        line=line,
        recommended=setting,
        reasons=reasons(setting, plane) if setting else (),
        relaxations=() if setting else tuple(of_plane(plane, bounded, confidence, curation)),
        line_relaxations=()
        if line.feasible or not number
        else tuple(of_line(line, number, ACCURATE, fresh[attacker], confidence)),
        curation=curation,
        by_confidence=by_confidence(bounded, sorted({*CONFIDENCES, confidence})),
        risk=tuple(risks(setting, exposed, sets, confidence, terms)) if setting else (),
        promised=privacy_guarantees(setting, spec, found.statistics) if setting else (),
        utility=tuple(expected_utility(setting, _member_state(programme))) if setting else (),
        on_data=tried,
        warnings=tuple(
            _warnings(
                sets[PAPER],
                confidence,
                attacker,
                known,
                surrogate=rule == LEVELS and not exposed[OPTIMAL].exact,
                has_universes=len(found.lattices) > 1,
                left_out=_left_out(spec, tuple(found.lattices)),
                has_cuts=bool(curation.alone),
                no_release=data is not None and setting is None,
                tried=tried,
                areas=number,
            )
        ),
    )  # fmt: skip


def _curation(
    programme: Programme,
    found: OutputLattices,
    terms: NoiseTerms,
    *,
    rule: str,
    attacker: str,
    known: str | None,
    confidence: float,
    cuts: int,
    max_bound: int,
    hide_bound: bool,
    feasible: bool,
    progress: Progress | None,
) -> Curation:
    """Return what cuts buy in the population that asks for most; the others stay as they are."""
    needed = {
        name: variance_needed(each[attacker].ratio, confidence)
        for name, each in found.by_population(known=known).items()
    }
    worst = max(needed, key=needed.__getitem__)
    others = {name: each for name, each in found.lattices.items() if name != worst}

    def accepts(left: Lattice, variance: float) -> bool:
        sets = OutputLattices({**others, worst: left}).sets
        if not hide_bound or (attacker != OPTIMAL and not sets):
            return variance_limit().allows(variance, max_bound)
        # Where less is published leverages are larger: those of the whole make the attack too strong, never too weak.
        still = [_still(each, left if name == worst else each) for name, each in found.lattices.items()]
        kept = terms if terms.from_data else terms.restricted(np.concatenate(still))
        return bound_disclosure_limit(sets, confidence, attacker, kept).allows(variance, max_bound)

    return curate(
        cuttable(programme, rule=rule, population=worst),
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


def _check(confidence: float, max_bound: int, attacker: str, cuts: int) -> None:
    if not LEAST <= confidence <= SUREST:
        words = f"a share from {LEAST} to {SUREST}, which an attacker may be right in"
        raise ParameterError.outside("design", "confidence", confidence, words, "0.5 to 0.7; more is less noise")
    if not 1 <= max_bound <= MOST_BOUND:
        raise ParameterError.outside("design", "max-bound", max_bound, f"from 1 to {MOST_BOUND}", "5 to 10")
    if not 0 <= cuts <= MOST_CUTS:
        raise ParameterError.outside("design", "cuts", cuts, f"from 0 to {MOST_CUTS}", "3 to 10")
    if attacker not in ATTACKERS:
        raise UnknownNameError.among("attacker", attacker, ATTACKERS)


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


def _left_out(programme: Programme, populations: tuple[str, ...]) -> str:
    """Return which tables the design is not about."""
    others = [f"{len(t)} of {name}" for name, t in programme.populations.items() if name not in populations]
    return ", ".join(others)


def _known_better(known: str | None) -> Iterator[str]:
    """Say what lets an attacker know more than the constraints count."""
    if known is not None:
        yield (
            "An attacker who knows true counts sees noise and identifies the bound more often than predicted. The "
            "prediction is for an attacker who knows no true count."
        )


def _approximate(*, surrogate: bool, has_universes: bool, has_cuts: bool) -> Iterator[str]:
    """Give what is a closed form and no exact solution."""
    if surrogate:
        yield (
            "Averaging is measured by the closed form for equal blocks. Real blocks differ and may need more noise or "
            "less."
        )
        if has_universes:
            yield "The closed form takes each universe by itself. All of them together reveal more than stated here."
    if has_cuts:
        yield (
            "What cuts buy is estimated by the closed form for equal blocks, each universe by itself. Run design again "
            "on the programme without these tables to confirm it."
        )


def _warnings(
    sets: dict[int, int],
    confidence: float,
    attacker: str,
    known: str | None,
    *,
    surrogate: bool,
    has_universes: bool,
    left_out: str,
    has_cuts: bool,
    no_release: bool,
    tried: TrialRelease | None,
    areas: int | None,
) -> Iterator[str]:
    if tried is not None:
        yield from tried.alarms(confidence)
    if left_out:
        yield f"Not designed for: tables that count something else ({left_out}); name them with --population."
    if areas is None:
        yield NO_AREAS
    yield from _approximate(surrogate=surrogate, has_universes=has_universes, has_cuts=has_cuts)
    if has_cuts and attacker != OPTIMAL:
        yield (
            "Cuts are weighed by the paper's averages, which stop where they first get worse: some cuts look better "
            "than they are against an attacker who does not stop."
        )
    if not sets and attacker != OPTIMAL:
        yield (
            "No level next to a published total has 2 to 4 categories, such as sexes. Sets of more parts were not "
            "looked at and may show the bound: nothing but its room limits the variance from above."
        )
    if attacker == OPTIMAL and confidence < LEAST_SURE:
        yield (
            "A guess between two bounds is right in half of the cases: the target for bound disclosure is "
            f"{LEAST_SURE:.0%}, not {confidence:.0%}."
        )
    yield from _known_better(known)
    if known is not None and attacker != OPTIMAL:
        yield "The paper's averages make no use of what is known: only the optimal attacker does."
    if no_release:
        yield "Nothing was tried on the data, because no setting is left to try."
