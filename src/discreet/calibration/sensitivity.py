"""How the answer of a design depends on the success that an attacker may have, and on what is known anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.calibration.region import Plane

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


def by_confidence(plane_at: Callable[[float], Plane], confidences: Sequence[float]) -> tuple[AtConfidence, ...]:
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
