"""One published number beside ours, and when the two agree: within the rounding of the print, no more.

What is printed is read as it stands: 0.0867 is 0.0867 give or take half a unit of its last digit, 2.8e7 is 2.75e7 to
2.85e7, O(10^-7) is the nearest power of ten, 2 to 3 is anything from one to the other, 9/16 is exactly that. Where
words or a formula are printed, ours is held against the number that `readings` takes them for, and counted apart.
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
"""Relative slack of half a unit, for numbers that lie on the edge of what rounds to the print."""
EXACT = 1e-14
"""Relative error of a sum of floating-point numbers."""

FORMULA, READING, PROGRAMME, AREAS = "formula", "reading", "programme", "areas"
DRAW, NOT_COMPUTED = "draw", "not computed"
BASES = {
    FORMULA: "printed in the paper and computed from its own formulas and inputs",
    READING: "not printed as such but read by us in its formulas, sentences and figures",
    PROGRAMME: "counted in the 2021 EU census programme, mostly under two rules of counting",
    AREAS: "counted in public lists of local administrative units",
    DRAW: "counted by the paper in its one draw of noise",
    NOT_COMPUTED: "not to be had from what is public",
}
"""What our number rests on, in words that follow on how many there are."""


@dataclass(frozen=True)
class NumberComparison:
    """A number of the paper, and what we find for it.

    Attributes:
        id: a short name, with the variant behind a slash where there are several of ours.
        where: where the paper has it.
        published: as printed.
        ours: in the unit of the print (percent where it has percent), None where it cannot be computed.
        note: why it differs where it does, and what was assumed.
        part: the part of the paper that it belongs to.
        basis: what ours rests on, one of BASES.
        likely: of a draw of noise, whether the published number is within what 19 of 20 draws show.
        read_as: what is printed in words or as a formula, as the number that we take it for; else empty.
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
        """Say whether ours rounds to what is printed, or to what we read in it."""
        return self.ours is not None and rounds_to(self.ours, self.read_as or self.published)

    @property
    def kind(self) -> str:
        """Return what it is counted among, one of BASES: a reading is one whatever ours rests on."""
        return READING if self.read_as and self.ours is not None else self.basis

    @property
    def unit(self) -> str:
        """Return the unit of the print, percent or none."""
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
        name: of the published number.
        ours: in its unit.
        note: why it differs, or what was assumed.
        variant: which of several of ours.
        basis: what it rests on.
        likely: of a draw, whether the published one is no surprise.
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
    taken = "" if read.value == text else f", taken for {read.value}"
    return f'our reading of "{read.words}"{taken}'


def rounds_to(ours: float, published: str) -> bool:
    """Say whether a number lies within half a unit of the last printed digit.

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
    """Return half a unit of the last digit that is printed."""
    digits, _, power = text.partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
