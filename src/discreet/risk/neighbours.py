"""Whose presence is to stay hidden: the two populations that an attacker must not tell apart."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import UnknownNameError
from discreet.risk.arguments import HOUSEHOLD, STATISTICS

RELATIONS = {"add-remove": 1, "replace-one": 2}
"""How many counts of one statistic change: a person comes or goes, or moves from one cell to another."""


@dataclass(frozen=True)
class Neighbours:
    """Two populations that differ by one person or by one household.

    With households of h persons, all h may fall into one cell of a statistic, which
    then changes by h. This is what is composed: t changes by h. It is worse than h
    persons in h cells, t h changes by 1, for every law whose log-probability is
    concave: by a chain of h steps of one person each, the loss of the product never
    exceeds that of the single change by h.

    Attributes:
        relation: "add-remove" (with and without the person) or "replace-one" (one person or another).
        household: how many persons are protected together.
    """

    relation: str = "add-remove"
    household: int = 1

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise UnknownNameError.among("neighbour relation", self.relation, RELATIONS)
        HOUSEHOLD.check("Neighbours", "household", self.household)

    def counts(self, statistics: int) -> int:
        """Return how many published counts change, given that of the statistics one person falls in.

        >>> Neighbours("replace-one").counts(2775)
        5550
        """
        STATISTICS.check("Neighbours", "statistics", statistics)
        return statistics * RELATIONS[self.relation]

    @property
    def who(self) -> str:
        """Return the protected as words."""
        return "one person" if self.household == 1 else f"one household of {self.household}"

    @property
    def assumption(self) -> str:
        """Return the relation as an assumption."""
        change = (
            "added or removed" if self.relation == "add-remove" else "replaced by another, two counts per statistic"
        )
        together = "" if self.household == 1 else ", all its members in one cell of every statistic"
        return f"neighbours: {self.who} {change}{together}"


ONE_PERSON = Neighbours()
"""One person added or removed."""
