"""Design: which noise a programme needs, the function behind `discreet design`.

All constraints that the structure of the output gives, the region they leave, a setting in it with its reasons, or,
where nothing is left, what to relax and by how much; and what curating the output would buy.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from discreet.design.constraints import (
    ACCURATE,
    ATTACKERS,
    BOUND,
    COIN,
    EPSILON,
    OPTIMAL,
    VARIANCE,
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    hidden_bound,
    room,
)
from discreet.design.curation import curate
from discreet.design.curation import output_of as cuttable
from discreet.design.exposure import exposures
from discreet.design.on_data import try_on_data
from discreet.design.recommendation import best_setting, promises, reasons, risks, uses
from discreet.design.region import Plane, allowed, phrase
from discreet.design.relaxation import of_line, of_plane
from discreet.design.sensitivity import CONFIDENCES, by_confidence
from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.eu2021.census import member_states
from discreet.programme.lattice import lattice
from discreet.programme.load import load_programme
from discreet.programme.model import Programme
from discreet.results import Result
from discreet.risk.assess import SUREST
from discreet.risk.averaging import ONE_SIGMA, averaging, variance_needed
from discreet.risk.tuples import tuples_by_size
from discreet.utility.release_areas import area_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from discreet.design.constraints import Constraint
    from discreet.design.curation import Curation
    from discreet.design.exposure import Exposure
    from discreet.design.on_data import OnData
    from discreet.design.recommendation import Setting
    from discreet.design.region import Allowed
    from discreet.design.relaxation import Relaxation
    from discreet.design.sensitivity import AtConfidence
    from discreet.programme.lattice import Lattice

MAX_BOUND = 10
"""The largest bound that the paper takes users to accept."""
MOST_BOUND = 50
CUTS = 3
"""Cuts of the output that are taken one after the other, unless told otherwise."""
MOST_CUTS = 40
"""Cuts that are tried where nothing is left."""
UNITS = {VARIANCE: "persons squared", BOUND: "persons", EPSILON: "1"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """What the constraints leave, and what to take of it.

    Attributes:
        programme: what is published.
        attacker: who is held off.
        confidence: the success she may have.
        max_bound: the largest bound that users accept.
        rule: of counting levels.
        exposed: by attacker, the most exposed statistic where a count has one noise in all tables.
        exposed_fresh: the same where every table has noise of its own.
        exposed_total_known: the same as `exposed` where the true total is known anyway; None if it is not published.
        tuples: by number of parts, how many sets of parts and their total are published.
        areas: how many there are of the finest level of the geographic topic.
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
    attacker: str
    confidence: float
    max_bound: int
    rule: str
    exposed: dict[str, Exposure]
    exposed_fresh: dict[str, Exposure]
    exposed_total_known: Exposure | None
    tuples: dict[int, int]
    areas: int
    constraints: tuple[Constraint, ...]
    plane: Plane
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
    on_data: OnData | None
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
    def answer(self) -> str:
        """Return the answer in a sentence."""
        if self.recommended is None:
            widest = self.plane.rows[-1]
            return (
                f"Nothing is left for {self.programme.name}: {widest.low_by} asks for a variance of at least "
                f"{widest.low:.3g}, and at a bound of {widest.bound} {phrase(widest.high_by)} allows at most "
                f"{widest.high:.3g}."
            )
        return f"Take a variance of {self.recommended.variance:.6g} and a bound of {self.recommended.bound}."

    @property
    def line_answer(self) -> str:
        """Return what is left for noise without a bound, in a sentence."""
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
            "tuples": {str(parts): many for parts, many in self.tuples.items()},
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
    cuts: int = CUTS,
    progress: Callable[[str, int, int | None], None] | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> Design:
    """Return which noise a programme needs.

    Args:
        programme: a Programme, or its name as in `eu2021:LU`.
        data: records to try the recommended noise on, as for `protect`.
        confidence: the success an attacker may have.
        max_bound: the largest noise that users accept.
        attacker: `optimal` or `paper`.
        rule: `levels` or `flat`.
        known: a statistic whose true counts are public.
        population: which tables, by what they count.
        areas: the topic of areas.
        cuts: how many cuts of the output to take one after the other, to see what they buy; 0 for none at all.
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.

    >>> print(design("eu2021:MT", attacker="paper", rule="flat", cuts=0).answer)
    Take a variance of 1.9 and a bound of 5.
    """
    _check(confidence, max_bound, attacker, cuts)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    found = lattice(spec, rule, population=population)
    exposed, fresh = (exposures(averaging(found, spsn=spsn, known=known)) for spsn in (True, False))
    tuples = _tuples(found)
    number = _areas(spec, areas)
    shared = exposed[attacker]
    constraints = (
        averaging_variance(shared.ratio, shared.statistic, confidence, surrogate=rule == "levels"),
        *((hidden_bound(tuples, confidence, attacker),) if tuples else ()),
        room(),
        acceptable_bound(max_bound),
        averaging_epsilon(
            fresh[attacker].ratio, fresh[attacker].statistic, confidence, surrogate=rule == "levels"
        ),
        accurate_areas(number, confidence),
    )  # fmt: skip
    plane = Plane(constraints[:-2], max_bound)
    line = allowed(constraints, EPSILON)
    setting = best_setting(plane)
    curation = curate(
        cuttable(spec, rule=rule, population=population),
        attacker=attacker,
        known=known,
        confidence=confidence,
        steps=cuts,
        farthest=MOST_CUTS if cuts and setting is None else 0,
        accepts=lambda left, variance: _accepts(left, variance, confidence, attacker, max_bound),
        progress=progress,
    )
    tried = None
    if data is not None and setting is not None:
        tried = try_on_data(data, spec, setting, progress=progress, **reading)
    return Design(
        programme=spec,
        attacker=attacker,
        confidence=confidence,
        max_bound=max_bound,
        rule=rule,
        exposed=exposed,
        exposed_fresh=fresh,
        exposed_total_known=_total_known(found, attacker, known),
        tuples=tuples,
        areas=number,
        constraints=constraints,
        plane=plane,
        line=line,
        recommended=setting,
        reasons=reasons(setting, plane) if setting else (),
        relaxations=() if setting else tuple(of_plane(plane, shared, confidence, curation.enough)),
        line_relaxations=()
        if line.feasible
        else tuple(of_line(line, number, ACCURATE, fresh[attacker], confidence)),
        curation=curation,
        by_confidence=by_confidence(shared, tuples, attacker, sorted({*CONFIDENCES, confidence})),
        risk=tuple(risks(setting, exposed, tuples, confidence)) if setting else (),
        promised=promises(setting, spec, rule=rule, population=population) if setting else (),
        utility=tuple(uses(setting, _member_state(programme))) if setting else (),
        on_data=tried,
        warnings=tuple(
            _warnings(tuples, confidence, attacker, known, no_release=data is not None and setting is None)
        ),
    )  # fmt: skip


def _check(confidence: float, max_bound: int, attacker: str, cuts: int) -> None:
    if not 0 < confidence <= SUREST:
        raise ParameterError.outside("design", "confidence", confidence, f"between 0 and {SUREST}", "0.68 to 0.95")
    if not 1 <= max_bound <= MOST_BOUND:
        raise ParameterError.outside("design", "max-bound", max_bound, f"from 1 to {MOST_BOUND}", "5 to 10")
    if not 0 <= cuts <= MOST_CUTS:
        raise ParameterError.outside("design", "cuts", cuts, f"from 0 to {MOST_CUTS}", "3 to 10")
    if attacker not in ATTACKERS:
        raise UnknownNameError.among("attacker", attacker, ATTACKERS)


def _tuples(found: Lattice) -> dict[int, int]:
    return {parts: many for parts, (_, many) in tuples_by_size(found, spsn=True).items()}


def _areas(programme: Programme, asked: str | None) -> int:
    """Return how many areas there are; a programme without any breakdown is about one."""
    if not any(table.breakdowns for table in programme.tables):
        return 1
    return programme.topics[area_topic(programme, asked)].levels[-1].size


def _member_state(programme: Programme | str | Path) -> str | None:
    """Return the Member State whose census is named, None where it is none or another programme."""
    kind, _, rest = str(programme).partition(":") if isinstance(programme, str) else ("", "", "")
    country = rest.partition(":")[0].upper()
    return country if kind == "eu2021" and country in member_states() else None


def _accepts(left: Lattice, variance: float, confidence: float, attacker: str, max_bound: int) -> bool:
    """Say whether a variance has an acceptable bound, given what is published."""
    tuples = _tuples(left)
    hidden = hidden_bound(tuples, confidence, attacker) if tuples else room()
    return hidden.allows(variance, max_bound)


def _total_known(found: Lattice, attacker: str, known: str | None) -> Exposure | None:
    """Return the statistic known best where the total is known too; nothing where that is so already or not asked."""
    if known is not None or attacker != OPTIMAL or len(found) == 1 or not found.published[0]:
        return None
    return exposures(averaging(found, known="total"))[OPTIMAL]


def _warnings(
    tuples: dict[int, int], confidence: float, attacker: str, known: str | None, *, no_release: bool
) -> Iterator[str]:
    if not tuples:
        yield (
            "No level next to a published total has 2 to 4 categories, such as sexes: the bound cannot be found from "
            "parts and totals, and nothing but its room limits the variance from above."
        )
    if attacker == OPTIMAL and confidence <= COIN:
        yield (
            f"At a confidence of {confidence:.0%} or less the toss of a coin tells two bounds apart as well: only "
            "extreme gaps are held off."
        )
    if known is not None and attacker != OPTIMAL:
        yield "The paper's averages make no use of what is known: only the optimal attacker does."
    if no_release:
        yield "Nothing was tried on the data, because no setting is left to try."
