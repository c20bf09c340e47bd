"""What to relax, and by how much, where the constraints leave nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import ACCEPTABLE_BOUND, ACCURATE_AREAS, AVERAGING, HIDDEN_BOUND, ROOM
from discreet.equations.closed_form import success

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.calibration.curation import Curation
    from discreet.calibration.exposure import Exposure
    from discreet.calibration.region import Allowed, Plane

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
    plane: Plane, plane_at: Callable[[float], Plane], confidence: float, curation: Curation
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


def least_confidence(plane_at: Callable[[float], Plane], confidence: float, bound: int) -> float | None:
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


def _bound_told(plane: Plane) -> Iterator[Relaxation]:
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
