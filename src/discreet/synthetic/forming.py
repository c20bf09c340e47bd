"""Households while they are being formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.synthetic.people import People
    from discreet.synthetic.randomness import Bytes, Draws, Places
    from discreet.synthetic.roles import Role


@dataclass
class Forming:
    """Persons of one block on their way into households.

    Attributes:
        people: ages and sexes.
        role: the role of each person; changes until households are formed.
        draws: where chance comes from.
        head: the person after whom each person's household is called; at first everybody's own.
        couples: the heads of couples.
        younger: the age of the younger partner of each couple.
    """

    people: People
    role: Bytes
    draws: Draws
    head: Places = field(init=False)
    couples: Places = field(init=False)
    younger: Bytes = field(init=False)

    def __post_init__(self) -> None:
        self.head = np.arange(len(self.role))

    def having(self, role: Role) -> Places:
        """Return the persons of a role."""
        return np.flatnonzero(self.role == role)
