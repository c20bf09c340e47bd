"""How the answer of a design depends on the success that an attacker may have, and on what is known anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.design.constraints import averaging_variance, hidden_bound, room
from discreet.design.region import Plane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.design.exposure import Exposure

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
    exposed: Exposure, tuples: Mapping[int, int], attacker: str, confidences: Sequence[float] = CONFIDENCES
) -> tuple[AtConfidence, ...]:
    """Return what is needed at several confidences, all else as it is."""
    found = []
    for confidence in confidences:
        averaging = averaging_variance(exposed.ratio, exposed.statistic, confidence)
        hidden = (hidden_bound(tuples, confidence, attacker),) if tuples else ()
        plane = Plane((averaging, room(), *hidden), 1)
        found.append(AtConfidence(confidence, plane.needed, plane.smallest_bound()))
    return tuple(found)
