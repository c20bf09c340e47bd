"""Comparison of a published number with ours; the two agree if ours lies within the published rounding.

Printed numbers are taken literally: 0.0867 means plus or minus half a unit of its last digit, 2.8e7 means 2.75e7 to
2.85e7, O(10^-7) the nearest power of ten, 2 to 3 any number in this range, and 9/16 exactly this fraction. For printed
words or formulas our number is compared with the reading in `READINGS`. Such comparisons are counted separately.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.paper.published_numbers import PUBLISHED, READINGS

if TYPE_CHECKING:
    from discreet.paper.published_numbers import PublishedNumber, ReadAs

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
PRINTED = re.compile(rf"(?:(?P<low>{NUMBER}) to )?(?P<value>{NUMBER})(?: %)?")
ORDER = re.compile(r"O\(10\^(-?\d+)\)")
FRACTION = re.compile(r"\d+/\d+")
HAIR = 1e-9
"""Relative tolerance on half a unit, for numbers at the edge of the rounding interval."""
EXACT = 1e-14
"""Relative error of a sum of floating-point numbers."""

FORMULA, READING, PROGRAMME, AREAS = "formula", "reading", "programme", "areas"
DRAW, NOT_COMPUTED = "draw", "not computed"
BASES = {
    FORMULA: "printed in the paper and computed from its own formulas and inputs",
    READING: "inferred by us from its formulas, sentences and figures",
    PROGRAMME: "counted in the 2021 EU census programme, mostly under two rules of counting",
    AREAS: "counted in public lists of local administrative units",
    DRAW: "counted by the paper in its one draw of noise",
    NOT_COMPUTED: "not computable from public data",
}
"""The basis of our number, as a phrase after the number of cases."""


@dataclass(frozen=True)
class NumberComparison:
    """A number of the paper with ours.

    Attributes:
        id: a short name, with the variant after a slash if we have several numbers.
        where: the place in the paper.
        published: the number as printed.
        ours: our number in the published unit (percent if printed in percent); None if it cannot be computed.
        note: the reason for a difference, and the assumptions.
        part: the part of the paper.
        basis: the basis of our number, one of BASES.
        likely: for a draw of noise, whether the published number lies within the range of 19 out of 20 draws.
        read_as: our reading of printed words or of a formula as a number; otherwise empty.
    """

    id: str
    where: str
    published: str
    ours: float | None
    note: str
    part: str
    basis: str = FORMULA
    likely: bool | None = None
    read_as: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether our number rounds to the printed number, or to our reading."""
        return self.ours is not None and rounds_to(self.ours, self.read_as or self.published)

    @property
    def kind(self) -> str:
        """Return the group in which it is counted, one of BASES: a reading is one regardless of our basis."""
        return READING if self.read_as and self.ours is not None else self.basis

    @property
    def unit(self) -> str:
        """Return the published unit: percent or empty."""
        return "%" if self.published.endswith("%") else ""

    def to_json(self) -> dict[str, Any]:
        """Return the number as an object; JSON has no infinity, so such a number is null."""
        finite = self.ours is not None and math.isfinite(self.ours)
        return {
            "id": self.id,
            "where": self.where,
            "published": self.published,
            "ours": self.ours if finite else None,
            "agrees": self.agrees,
            "note": self.note,
        }


def number(
    name: str,
    ours: float | None,
    note: str = "",
    *,
    variant: str = "",
    basis: str = FORMULA,
    likely: bool | None = None,
) -> NumberComparison:
    """Return our number for a published one.

    Args:
        name: the name of the published number.
        ours: our number in the published unit; None if it cannot be computed.
        note: the reason for a difference, or the assumptions.
        variant: the name of the variant if we have several numbers.
        basis: the basis of our number.
        likely: for a draw of noise, whether the published number lies within the range of 19 out of 20 draws.
    """
    printed: PublishedNumber = PUBLISHED[name]
    basis = NOT_COMPUTED if ours is None else basis
    full = f"{name}/{variant}" if variant else name
    read = READINGS.get(name)
    if read:
        note = f"{_our_reading(read, printed.text)}: {note}"
    return NumberComparison(
        full, printed.where, printed.text, ours, note, printed.part, basis, likely, read.value if read else ""
    )


def _our_reading(read: ReadAs, text: str) -> str:
    taken = "" if read.value == text else f" as {read.value}"
    return f'our reading of "{read.words}"{taken}'


def rounds_to(ours: float, published: str) -> bool:
    """Return whether a number lies within half a unit of the last printed digit.

    >>> rounds_to(2.84e7, "2.8e7"), rounds_to(2.86e7, "2.8e7"), rounds_to(0.3, "O(10^0)")
    (True, False, False)
    """
    if not math.isfinite(ours):
        return False
    if order := ORDER.fullmatch(published):
        return ours > 0 and abs(math.log10(ours) - int(order[1])) <= 0.5 + HAIR
    if FRACTION.fullmatch(published):
        return math.isclose(ours, Fraction(published), rel_tol=HAIR)
    printed = PRINTED.fullmatch(published)
    if not printed:
        return False
    low, high = (float(text) for text in (printed["low"] or printed["value"], printed["value"]))
    below, above = _half_unit(printed["low"] or printed["value"]), _half_unit(printed["value"])
    tiny = EXACT * abs(ours)
    return low - below * (1 + HAIR) - tiny <= ours <= high + above * (1 + HAIR) + tiny


def _half_unit(text: str) -> float:
    """Return half a unit of the last printed digit."""
    digits, _, power = text.partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
