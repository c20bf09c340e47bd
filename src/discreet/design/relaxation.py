"""What to relax, and by how much, where the constraints leave nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.design.constraints import ACCEPTABLE_BOUND, ACCURATE_AREAS, AVERAGING, HIDDEN_BOUND, ROOM
from discreet.equations.closed_form import success

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.design.curation import Cut
    from discreet.design.exposure import Exposure
    from discreet.design.region import Allowed, Plane

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


def of_plane(plane: Plane, exposed: Exposure, confidence: float, cuts: Sequence[Cut]) -> Iterator[Relaxation]:
    """Give what each constraint on bounded noise would have to be, the others as they are.

    Args:
        plane: variance and bound.
        exposed: the statistic that is known best.
        confidence: the success an attacker was to have at most.
        cuts: of the output, after which something is left; none where they do not lead there.
    """
    wider = plane.smallest_bound()
    if wider is not None and wider > plane.largest:
        yield Relaxation(
            ACCEPTABLE_BOUND,
            f"Accept a bound of {wider} instead of {plane.largest}: a variance of {plane.needed:.3g} keeps everything "
            "else there.",
            float(wider),
        )
    widest = plane.rows[-1]
    share = success(widest.high, exposed.ratio)
    yield Relaxation(
        AVERAGING,
        f"Accept that the attacker is right in {_upwards(share)} of cases instead of {confidence:.1%}: bound "
        f"{widest.bound} leaves a variance of {widest.high:.3g}.",
        share,
    )
    yield from _bound_told(plane)
    if cuts:
        yield Relaxation(
            PROGRAMME,
            f"Publish less: {'; '.join(cut.words for cut in cuts)}. A variance of {cuts[-1].variance:.3g} is then "
            "enough.",
            float(cuts[-1].cells),
        )


def _bound_told(plane: Plane) -> Iterator[Relaxation]:
    """Give what is left where the bound need not stay hidden."""
    room = next(each for each in plane.constraints if each.name == ROOM)
    if plane.rows[-1].high_by == HIDDEN_BOUND and room.allows(plane.needed, plane.largest):
        first = next(row.bound for row in plane.rows if room.allows(plane.needed, row.bound))
        yield Relaxation(
            HIDDEN_BOUND,
            f"Let the bound be known: a bound of {first} then has room for a variance of {plane.needed:.3g}. Published "
            "parts and totals that lie far apart then tell true counts for certain.",
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
