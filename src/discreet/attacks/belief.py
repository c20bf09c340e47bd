"""What an attacker believes about the noise: its law for every true count, and which cells share it.

The law may be known whole (offices publish their settings, and secrecy of a method is no
protection), or only as far as a release tells it: a typical size and a vague bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.noise.by_count import LawByCount
from discreet.release.told import told_law

if TYPE_CHECKING:
    from discreet.release.record import Record

SHARED = {"cell-key": "participants", "coordinates": "coordinates", "eps-dp": "coordinates", "exact": "participants"}
"""What shares its noise under each mechanism; nothing does under the others."""


@dataclass(frozen=True, eq=False)
class CountNoise(LawByCount):
    """The law of noise by true count as an attacker has it.

    Attributes:
        shared: `participants`, `coordinates` or `nothing`: which cells have one noise.
        exactly: whether the law is known, or made up from what a release tells.
    """

    shared: str = "nothing"
    exactly: bool = True


def belief_of(record: Record) -> CountNoise:
    """Return the whole law of a record, as an attacker knows it who knows all but the keys."""
    if record.law != "none" and record.largest_variance > record.variance * (1 + 1e-9):
        raise ParameterError(
            "This release spends its privacy budget unevenly: some counts have less noise than others. The attacks "
            "take all counts to have one law and would find less than there is. Attack one with an even budget.",
            parameter="budget",
        )
    return _believed(record.by_count(), SHARED.get(record.mechanism, "nothing") if record.spsn else "nothing")


def belief_told(told: dict[str, Any]) -> CountNoise:
    """Return a law that fits what a release tells its users."""
    law = told_law(told)
    if not law.variance:
        return _believed(law, "participants", exactly="typical_noise" not in told)
    shared = "participants" if "cell keys" in str(told.get("method")) else "coordinates"
    return _believed(law, shared if told.get("same_count_same_noise") else "nothing", exactly=False)


def _believed(law: LawByCount, shared: str, *, exactly: bool = True) -> CountNoise:
    return CountNoise(
        law.laws, law.variance, law.bound, law.repeat, law.non_negative, law.settings, shared=shared, exactly=exactly
    )
