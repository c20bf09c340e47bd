"""Settings that all constraints allow, by confidence, and what to relax where there are none.

The region that all constraints leave: in the plane of variance and bound, and on the line of epsilon.

What to relax, and by how much, where the constraints leave nothing.

How the answer of a design depends on the success that an attacker may have, and on what is known anyway.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet.calibration.constraints import (
    ACCEPTABLE_BOUND,
    ACCURATE_AREAS,
    AT_LEAST,
    AT_MOST,
    AVERAGING,
    BOUND,
    EPSILON,
    HIDDEN_BOUND,
    ROOM,
    SLACK,
    VARIANCE,
)
from discreet.equations.closed_form import success

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.calibration.constraints import Constraint
    from discreet.calibration.curation import Curation
    from discreet.calibration.exposed_statistics import Exposure

FARTHEST = 50
"""The largest bound that is tried when the acceptable one does not do."""


@dataclass(frozen=True)
class Allowed:
    """What one bound, or the line, leaves.

    Attributes:
        bound: the bound; 0 on the line.
        low: the least variance or epsilon.
        high: the largest.
        low_by: the constraint that gives the least.
        high_by: the constraint that gives the largest.
    """

    bound: int
    low: float
    high: float
    low_by: str
    high_by: str

    @property
    def feasible(self) -> bool:
        """Say whether anything is left."""
        return self.low <= self.high * (1 + SLACK)


def allowed(constraints: Sequence[Constraint], about: str, bound: int = 0) -> Allowed:
    """Return what constraints on one number leave; of equal limits the first constraint binds."""
    lows = [(each.limit(bound), each.name) for each in constraints if (each.about, each.side) == (about, AT_LEAST)]
    highs = [(each.limit(bound), each.name) for each in constraints if (each.about, each.side) == (about, AT_MOST)]
    low, low_by = max(lows, key=lambda each: each[0], default=(0.0, ""))
    high, high_by = min(highs, key=lambda each: each[0], default=(float("inf"), ""))
    return Allowed(bound, low, high, low_by, high_by)


@dataclass(frozen=True, eq=False)
class FeasibleRegion:
    """Variance and bound.

    Attributes:
        constraints: on variance and on the bound.
        largest: the largest bound that is looked at.
    """

    constraints: tuple[Constraint, ...]
    largest: int

    @cached_property
    def rows(self) -> tuple[Allowed, ...]:
        """Return what every bound leaves, from 1 on."""
        return tuple(self.at(bound) for bound in range(1, self.largest + 1))

    def at(self, bound: int) -> Allowed:
        """Return what one bound leaves of the variance."""
        return allowed(self.constraints, VARIANCE, bound)

    @property
    def feasible(self) -> tuple[Allowed, ...]:
        """Return the bounds that leave something."""
        return tuple(row for row in self.rows if row.feasible)

    @property
    def needed(self) -> float:
        """Return the least variance that is asked for, which no bound changes."""
        asked = [each for each in self.constraints if (each.about, each.side) == (VARIANCE, AT_LEAST)]
        return allowed(asked, VARIANCE, 1).low

    def allows(self, variance: float, bound: int) -> bool:
        """Say whether a setting keeps all constraints, each asked for itself."""
        values = {VARIANCE: variance, BOUND: float(bound)}
        return all(each.allows(values[each.about], bound) for each in self.constraints if each.about != EPSILON)

    def smallest_bound(self, farthest: int = FARTHEST) -> int | None:
        """Return the smallest bound, acceptable or not, at which the least variance keeps the constraints on it."""
        about = [each for each in self.constraints if each.about == VARIANCE]
        needed = self.needed
        return next((e for e in range(1, farthest + 1) if all(each.allows(needed, e) for each in about)), None)


PROGRAMME = "programme"


@dataclass(frozen=True)
class Relaxation:
    """One constraint that could be relaxed so that something is left.

    Attributes:
        constraint: its name, or `programme` where less is published instead.
        sentence: what it would take, and what it would cost.
        value: the new limit: a bound, a success, a variance, cells, or persons that an area is off.
    """

    constraint: str
    sentence: str
    value: float


def of_plane(
    plane: FeasibleRegion, plane_at: Callable[[float], FeasibleRegion], confidence: float, curation: Curation
) -> Iterator[Relaxation]:
    """Give what each constraint on bounded noise would have to be, the others as they are.

    Args:
        plane: variance and bound.
        plane_at: the same at another confidence.
        confidence: the success an attacker was to have at most.
        curation: what cuts of the output buy.
    """
    wider = plane.smallest_bound()
    if wider is not None and wider > plane.largest:
        yield Relaxation(
            ACCEPTABLE_BOUND,
            f"Accept a bound of {wider} instead of {plane.largest} (--max-bound {wider}): a variance of "
            f"{plane.needed:.3g} keeps everything else there.",
            float(wider),
        )
    share = least_confidence(plane_at, confidence, plane.largest)
    if share is not None:
        yield Relaxation(
            AVERAGING,
            f"Accept that the attacker is right in {share:.1%} of cases instead of {confidence:.1%}, and finds the "
            f"bound as surely (--confidence {share:g}): bound {plane.largest} then leaves a variance of "
            f"{plane_at(share).needed:.3g}.",
            share,
        )
    yield from _bound_told(plane)
    cuts = curation.enough
    if cuts:
        yield Relaxation(
            PROGRAMME,
            f"Publish less: {'; '.join(cut.words for cut in cuts)}. A variance of {cuts[-1].variance:.3g} is then "
            "enough.",
            float(cuts[-1].cells),
        )

    elif curation.path:
        last, many = curation.path[-1], len(curation.path)
        kept = f"keeping {last.cells / curation.whole.cells:.0%} of the cells"
        yield Relaxation(
            PROGRAMME,
            f"Publish far less: after {many} {'cut' if many == 1 else 'cuts'}, {kept}, a variance of "
            f"{last.variance:.3g} is still needed.",
            float(last.cells),
        )


def least_confidence(plane_at: Callable[[float], FeasibleRegion], confidence: float, bound: int) -> float | None:
    """Return the smallest confidence, in thousandths, at which a bound leaves something; None where none does."""

    def enough(thousandths: int) -> bool:
        plane = plane_at(thousandths / 1000)
        return plane.allows(plane.needed, bound)

    low, high = math.floor(confidence * 1000), 999
    if low >= high or not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high / 1000


def _bound_told(plane: FeasibleRegion) -> Iterator[Relaxation]:
    """Give what is left where the bound need not stay hidden."""
    room = next(each for each in plane.constraints if each.name == ROOM)
    hidden = any(each.name == HIDDEN_BOUND for each in plane.constraints)
    if hidden and room.allows(plane.needed, plane.largest):
        first = next(row.bound for row in plane.rows if room.allows(plane.needed, row.bound))
        yield Relaxation(
            HIDDEN_BOUND,
            f"Let the bound be known (--no-hide-bound): a bound of {first} then has room for a variance of "
            f"{plane.needed:.3g}. Published parts and totals that lie far apart then tell true counts for certain.",
            plane.needed,
        )


def of_line(line: Allowed, areas: int, within: float, exposed: Exposure, confidence: float) -> Iterator[Relaxation]:
    """Give what each constraint on epsilon would have to be, the other as it is.

    Args:
        line: what is left of epsilon, which is nothing.
        areas: how many totals are to be accurate.
        within: persons that they may be off.
        exposed: the statistic that is known best where every table has noise of its own.
        confidence: of the totals, and of the attacker.
    """
    off = math.ceil(math.log(areas / (1 - confidence)) / line.high)
    yield Relaxation(
        ACCURATE_AREAS,
        f"Accept that a total of an area is up to {off} off instead of {within:g}: an epsilon of {line.high:.3g} keeps "
        "averaging out.",
        float(off),
    )
    share = success(2 / line.low**2, exposed.ratio)
    yield Relaxation(
        AVERAGING,
        f"Accept that the attacker is right in {_upwards(share)} of cases instead of {confidence:.1%}: an epsilon of "
        f"{line.low:.3g} keeps areas accurate.",
        share,
    )


def _upwards(share: float) -> str:
    """Return a share in percent, rounded up: what is accepted must not be less than what is needed.

    >>> _upwards(0.7101)
    '71.1%'
    """
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


CONFIDENCES = (0.5, 0.6, 0.6827, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class AtConfidence:
    """What is needed at one confidence.

    Attributes:
        confidence: the success an attacker may have.
        variance: that averaging asks for.
        bound: the smallest at which the bound stays hidden with it, acceptable or not; None if there is none.
    """

    confidence: float
    variance: float
    bound: int | None


def by_confidence(
    plane_at: Callable[[float], FeasibleRegion], confidences: Sequence[float]
) -> tuple[AtConfidence, ...]:
    """Return what is needed at several confidences, all else as it is.

    Args:
        plane_at: the constraints on variance and bound at a confidence.
        confidences: to look at.
    """
    found = []
    for confidence in confidences:
        plane = plane_at(confidence)
        found.append(AtConfidence(confidence, plane.needed, plane.smallest_bound()))
    return tuple(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class FeasibleSettings:
    """What the constraints leave.

    Attributes:
        constraints: all of them.
        plane: variance and bound, for noise that is bounded and shared.
        line: epsilon of a count, for noise without a bound and of each table's own.
        relaxations: what would leave something of the plane, where nothing is.
        line_relaxations: the same for the line.
        curation: what cuts of the output buy.
        by_confidence: what is needed at other confidences.
    """

    constraints: tuple[Constraint, ...]
    plane: FeasibleRegion
    line: Allowed
    relaxations: tuple[Relaxation, ...]
    line_relaxations: tuple[Relaxation, ...]
    curation: Curation
    by_confidence: tuple[AtConfidence, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        bounds = range(1, self.plane.largest + 1)
        return {
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
            "by_confidence": [asdict(each) for each in self.by_confidence],
            "curation": self.curation.to_json(),
        }
