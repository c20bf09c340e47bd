"""Random choices with given shares, reproducible from one seed, by fast table look-ups for millions of persons."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.arrays import Flags, Words

    ByAge = Mapping[int, tuple[Sequence[float], Sequence[float]]]

Bytes: TypeAlias = NDArray[np.uint8]
Noise: TypeAlias = NDArray[np.uint16]
Places: TypeAlias = NDArray[np.intp]

STEPS = 1 << 16
"""Random numbers are uniform on the whole numbers below this."""


class Draws:
    """A separate stream of random numbers for every name, e.g. for a block of a country under a seed.

    The same name gives the same numbers on every machine. Philox is counter-based and its raw output is fixed, unlike
    the methods of numpy's Generator, which may change between versions of numpy.

    >>> Draws("LU", 7, 0).noise(3).tolist() == Draws("LU", 7, 0).noise(3).tolist()
    True
    """

    def __init__(self, *name: str | int) -> None:
        text = "|".join(map(str, ("discreet synthetic census", *name)))
        key = np.frombuffer(blake2b(text.encode(), digest_size=16).digest(), dtype="<u8").astype(np.uint64)
        self._bits = np.random.Philox(key=key)

    def words(self, size: int) -> Words:
        """Return the next random whole numbers below 2^64."""
        return np.asarray(self._bits.random_raw(size), dtype=np.uint64)

    def noise(self, size: int) -> Noise:
        """Return the next random whole numbers below 2^16, sufficient for a choice among a few hundred categories."""
        return self.words(-(-size // 4)).view(np.uint16)[:size]

    def below(self, limits: Places | int, size: int) -> Places:
        """Return random whole numbers below positive limits of at most 2^32."""
        fractions = self.words(-(-size // 2)).view(np.uint32)[:size].astype(np.uint64)
        return ((fractions * np.asarray(limits, dtype=np.uint64)) >> np.uint64(32)).astype(np.intp)

    def happens(self, chance: float, size: int) -> Flags:
        """Return for each of `size` cases whether an event of this probability occurs."""
        return self.noise(size) < round(chance * STEPS)

    def order(self, size: int) -> Places:
        """Return the whole numbers below `size` in random order."""
        return np.argsort(self.words(size), kind="stable")


FINE, COARSE = 16, 12
"""Bits of a table: it has 2^16 or 2^12 slots, and shares are accurate to one slot."""
OLDEST = 100
"""The last age, which represents 100 and over."""


def apportion(shares: Sequence[float], slots: int) -> NDArray[np.intp]:
    """Return the number of slots of each share, by largest remainders.

    >>> apportion([2, 1, 1], 9).tolist()
    [5, 2, 2]
    """
    exact = np.asarray(shares, dtype=float) / sum(shares) * slots
    whole = np.floor(exact).astype(np.intp)
    # Among equal remainders the first ones are rounded up; rounding errors must not change this order.
    last = np.argsort(-np.round(exact - whole, 9), kind="stable")[: slots - int(whole.sum())]
    whole[last] += 1
    return whole


class ShareTable:
    """Random values with shares by row: each value fills the slots of its row in proportion to its share."""

    def __init__(self, values: Sequence[int], rows: Sequence[Sequence[float]], *, bits: int = COARSE) -> None:
        self._shift = 16 - bits
        self._bits = bits
        slots = [np.repeat(np.array(values, dtype=np.uint8), apportion(row, 1 << bits)) for row in rows]
        self._table = np.concatenate(slots)

    def draw(self, row: NDArray[Any] | int, noise: Noise) -> Bytes:
        """Return one value per random number, with the shares of its row."""
        place = (noise >> self._shift).astype(np.intp)
        place += np.asarray(row, dtype=np.intp) << self._bits
        return self._table.take(place)


class ChoiceByAge:
    """Random values with shares by age and sex.

    Args:
        values: the possible values.
        steps: the percentages from each age on, for men and for women, of all values except the last. The last value
            has the remaining percentage.
    """

    def __init__(self, values: Sequence[int], steps: ByAge) -> None:
        rows = [_with_rest(percents) for both in steps.values() for percents in both]
        self._choice = ShareTable(values, rows)
        starts = np.array(list(steps), dtype=np.intp)
        self._row = (2 * (np.searchsorted(starts, np.arange(OLDEST + 1), side="right") - 1)).astype(np.uint8)

    def draw(self, age: Bytes, sex: Bytes, noise: Noise) -> Bytes:
        """Return one value per person."""
        return self._choice.draw(self._row.take(age) + sex, noise)


def same_for_both(steps: Mapping[int, Sequence[float]]) -> ByAge:
    """Return steps with the same percentages for men and women."""
    return {age: (percents, percents) for age, percents in steps.items()}


def _with_rest(percents: Sequence[float]) -> list[float]:
    rest = 100 - sum(percents)
    if rest < -1e-9:
        raise InternalError(f"Percentages of the synthetic census add up to more than 100: {percents}.")
    return [*percents, max(rest, 0.0)]
