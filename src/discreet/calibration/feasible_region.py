"""Feasible settings, and the relaxations needed if the constraints are incompatible.

The feasible region lies in the plane of variance and bound for bounded noise, and on the line of epsilon for unbounded
noise. If a region is empty, the relaxations state by how much one constraint has to change.

The module also states how the minimum variance and bound depend on the target for the attacker's success.
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
    BOUND_DISCLOSURE,
    EPSILON,
    ROOM,
    SLACK,
    VARIANCE,
)
from discreet.equations.closed_form import success

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from discreet.calibration.constraints import Constraint
    from discreet.calibration.curation import Curation
    from discreet.calibration.exposed_statistics import Exposure

FARTHEST = 50
"""Largest bound of the search if no acceptable bound is feasible."""


@dataclass(frozen=True)
class AllowedRange:
    """The range of the variance at one bound, or of epsilon.

    Attributes:
        bound: the bound; 0 for epsilon.
        low: the minimum variance or epsilon.
        high: the maximum.
        low_by: the constraint that sets the minimum.
        high_by: the constraint that sets the maximum.
    """

    bound: int
    low: float
    high: float
    low_by: str
    high_by: str

    @property
    def feasible(self) -> bool:
        """Return whether the range is not empty."""
        return self.low <= self.high * (1 + SLACK)


def allowed_range(constraints: Sequence[Constraint], about: str, bound: int = 0) -> AllowedRange:
    """Return the range that constraints allow for one parameter; among equal limits the first constraint binds."""
    lows = [(each.limit(bound), each.name) for each in constraints if (each.about, each.side) == (about, AT_LEAST)]
    highs = [(each.limit(bound), each.name) for each in constraints if (each.about, each.side) == (about, AT_MOST)]
    low, low_by = max(lows, key=lambda each: each[0], default=(0.0, ""))
    high, high_by = min(highs, key=lambda each: each[0], default=(float("inf"), ""))
    return AllowedRange(bound, low, high, low_by, high_by)


@dataclass(frozen=True, eq=False)
class FeasibleRegion:
    """The feasible region of variance and bound.

    Attributes:
        constraints: the constraints on the variance and on the bound.
        largest: the largest acceptable bound.
    """

    constraints: tuple[Constraint, ...]
    largest: int

    @cached_property
    def rows(self) -> tuple[AllowedRange, ...]:
        """Return the allowed range of the variance for every bound, from 1 on."""
        return tuple(self.at(bound) for bound in range(1, self.largest + 1))

    def at(self, bound: int) -> AllowedRange:
        """Return the allowed range of the variance at one bound."""
        return allowed_range(self.constraints, VARIANCE, bound)

    @property
    def feasible(self) -> tuple[AllowedRange, ...]:
        """Return the rows of the bounds that are feasible."""
        return tuple(row for row in self.rows if row.feasible)

    @property
    def needed(self) -> float:
        """Return the minimum variance, which does not depend on the bound."""
        lower = [each for each in self.constraints if (each.about, each.side) == (VARIANCE, AT_LEAST)]
        return allowed_range(lower, VARIANCE, 1).low

    def allows(self, variance: float, bound: int) -> bool:
        """Return whether a setting satisfies all constraints, each evaluated separately."""
        values = {VARIANCE: variance, BOUND: float(bound)}
        return all(each.allows(values[each.about], bound) for each in self.constraints if each.about != EPSILON)

    def smallest_bound(self, farthest: int = FARTHEST) -> int | None:
        """Return the smallest bound, acceptable or not, at which the minimum variance satisfies its constraints."""
        about = [each for each in self.constraints if each.about == VARIANCE]
        needed = self.needed
        return next((e for e in range(1, farthest + 1) if all(each.allows(needed, e) for each in about)), None)


PROGRAMME = "programme"


@dataclass(frozen=True)
class Relaxation:
    """One relaxation that makes the constraints compatible.

    Attributes:
        constraint: the name of the constraint, or `programme` if less is published instead.
        sentence: the change and its effect.
        value: the new limit: a bound, a success rate, a variance, a number of cells, or an error in persons.
    """

    constraint: str
    sentence: str
    value: float


def plane_relaxations(
    plane: FeasibleRegion, plane_at: Callable[[float], FeasibleRegion], targets: Mapping[str, float], curation: Curation
) -> Iterator[Relaxation]:
    """Yield the relaxations of each constraint on bounded noise, with the others unchanged.

    Args:
        plane: the region of variance and bound.
        plane_at: the region with all targets raised to a confidence.
        targets: the targets for the attacker's success by name: averaging and bound.
        curation: the effects of cuts of the output.
    """
    wider = plane.smallest_bound()
    if wider is not None and wider > plane.largest:
        yield Relaxation(
            ACCEPTABLE_BOUND,
            f"Accept a bound of {wider} instead of {plane.largest} (--max-bound {wider}). A variance of "
            f"{plane.needed:.3g} then satisfies all other constraints.",
            float(wider),
        )
    share = least_confidence(plane_at, min(targets.values()), plane.largest)
    if share is not None:
        raised = {name: target for name, target in targets.items() if target < share}
        names = " and ".join({"bound": "bound disclosure"}.get(name, name) for name in raised)
        values = " and ".join(dict.fromkeys(f"{target:.1%}" for target in raised.values()))
        flags = " ".join(f"--target {name}={share:g}" for name in raised)
        yield Relaxation(
            AVERAGING,
            f"Raise the target for {names} from {values} to {share:.1%} ({flags}). A variance of "
            f"{plane_at(share).needed:.3g} at bound {plane.largest} then satisfies all constraints.",
            share,
        )
    yield from _bound_disclosed(plane)
    cuts = curation.sufficient
    if cuts:
        yield Relaxation(
            PROGRAMME,
            f"Publish less: {'; '.join(cut.words for cut in cuts)}. A variance of {cuts[-1].variance:.3g} is then "
            "sufficient.",
            float(cuts[-1].cells),
        )

    elif curation.path:
        last, many = curation.path[-1], len(curation.path)
        kept = f"with {last.cells / curation.whole.cells:.0%} of the cells kept"
        yield Relaxation(
            PROGRAMME,
            f"Publish far less: after {many} {'cut' if many == 1 else 'cuts'}, {kept}, a variance of "
            f"{last.variance:.3g} is still needed.",
            float(last.cells),
        )


def least_confidence(plane_at: Callable[[float], FeasibleRegion], confidence: float, bound: int) -> float | None:
    """Return the smallest confidence, in thousandths, at which a bound is feasible; None if it never is."""

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


def _bound_disclosed(plane: FeasibleRegion) -> Iterator[Relaxation]:
    """Yield the relaxation that drops the constraint on bound disclosure."""
    room = next(each for each in plane.constraints if each.name == ROOM)
    constrained = any(each.name == BOUND_DISCLOSURE for each in plane.constraints)
    if constrained and room.allows(plane.needed, plane.largest):
        first = next(row.bound for row in plane.rows if room.allows(plane.needed, row.bound))
        yield Relaxation(
            BOUND_DISCLOSURE,
            f"Accept bound disclosure (--no-hide-bound). A bound of {first} then allows a variance of "
            f"{plane.needed:.3g}. Extreme differences between published parts and totals then disclose true counts "
            "with certainty.",
            plane.needed,
        )


def epsilon_relaxations(
    line: AllowedRange, areas: int, within: float, exposed: Exposure, confidence: float
) -> Iterator[Relaxation]:
    """Yield the relaxations of each constraint on epsilon, with the other unchanged.

    Args:
        line: the range of epsilon, which is empty.
        areas: the number of totals that have to be accurate.
        within: the largest accepted error of a total, in persons.
        exposed: the most exposed statistic if every table has independent noise.
        confidence: the probability of accurate totals, and the target for the attacker's success.
    """
    off = math.ceil(math.log(areas / (1 - confidence)) / line.high)
    yield Relaxation(
        ACCURATE_AREAS,
        f"Accept an error of up to {off} in the total of an area instead of {within:g}. An epsilon of {line.high:.3g} "
        "then meets the target for averaging.",
        float(off),
    )
    share = success(2 / line.low**2, exposed.ratio)
    yield Relaxation(
        AVERAGING,
        f"Raise the target for averaging from {confidence:.1%} to {_upwards(share)}. An epsilon of {line.low:.3g} then "
        "keeps the totals of all areas accurate.",
        share,
    )


def _upwards(share: float) -> str:
    """Return a share in percent, rounded up, so that the stated target is not smaller than needed.

    >>> _upwards(0.7101)
    '71.1%'
    """
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


CONFIDENCES = (0.5, 0.6, 0.6827, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class AtConfidence:
    """The minimum variance and bound at one confidence.

    Attributes:
        confidence: the target for the attacker's success.
        variance: the minimum variance.
        bound: the smallest feasible bound for this variance, acceptable or not; None if no bound is feasible.
    """

    confidence: float
    variance: float
    bound: int | None


def by_confidence(
    plane_at: Callable[[float], FeasibleRegion], confidences: Sequence[float]
) -> tuple[AtConfidence, ...]:
    """Return the minimum variance and bound at several confidences, all else equal.

    Args:
        plane_at: the constraints on variance and bound as a function of the confidence.
        confidences: the confidences to evaluate.
    """
    found = []
    for confidence in confidences:
        plane = plane_at(confidence)
        found.append(AtConfidence(confidence, plane.needed, plane.smallest_bound()))
    return tuple(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class FeasibleSettings:
    """All settings that the constraints allow.

    Attributes:
        constraints: all constraints.
        plane: the region of variance and bound, for bounded consistent noise.
        line: the range of epsilon per count, for unbounded noise, independent in every table.
        relaxations: the relaxations that make the plane feasible; empty if it is feasible.
        line_relaxations: the relaxations that make the line feasible; empty if it is feasible.
        curation: the effects of cuts of the output.
        by_confidence: the minimum variance and bound at other confidences.
    """

    constraints: tuple[Constraint, ...]
    plane: FeasibleRegion
    line: AllowedRange
    relaxations: tuple[Relaxation, ...]
    line_relaxations: tuple[Relaxation, ...]
    curation: Curation
    by_confidence: tuple[AtConfidence, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the part of the `--json` output about feasible settings."""
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
