"""The region that all constraints leave: in the plane of variance and bound, and on the line of epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.calibration.constraints import AT_LEAST, AT_MOST, BOUND, EPSILON, PHRASES, SLACK, VARIANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calibration.constraints import Constraint

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


def phrase(name: str) -> str:
    """Return a constraint as it is called within a sentence.

    >>> phrase("hidden bound"), phrase("averaging")
    ('a hidden bound', 'averaging')
    """
    return PHRASES.get(name, name)


@dataclass(frozen=True, eq=False)
class Plane:
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
