"""Random choices by shares, repeatable from one seed: look-ups in a table, quick for millions of persons."""

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
"""A noise is a whole number below this, each equally likely."""


class Draws:
    """A stream of random numbers of its own for every name, as for the block of a country under a seed.

    Philox is counter-based and its raw output is fixed for good, unlike the methods of numpy's Generator, which may
    change between versions of numpy: the same name gives the same numbers on every machine.

    >>> Draws("LU", 7, 0).noise(3).tolist() == Draws("LU", 7, 0).noise(3).tolist()
    True
    """

    def __init__(self, *name: str | int) -> None:
        text = "|".join(map(str, ("discreet synthetic census", *name)))
        key = np.frombuffer(blake2b(text.encode(), digest_size=16).digest(), dtype="<u8").astype(np.uint64)
        self._bits = np.random.Philox(key=key)

    def words(self, size: int) -> Words:
        """Return the next whole numbers below 2^64."""
        return np.asarray(self._bits.random_raw(size), dtype=np.uint64)

    def noise(self, size: int) -> Noise:
        """Return the next whole numbers below 2^16: enough for one choice among a few hundred categories."""
        return self.words(-(-size // 4)).view(np.uint16)[:size]

    def below(self, limits: Places | int, size: int) -> Places:
        """Return whole numbers below limits of at most 2^32, for those that are positive."""
        fractions = self.words(-(-size // 2)).view(np.uint32)[:size].astype(np.uint64)
        return ((fractions * np.asarray(limits, dtype=np.uint64)) >> np.uint64(32)).astype(np.intp)

    def happens(self, chance: float, size: int) -> Flags:
        """Return for each of some cases whether a thing of this chance happens."""
        return self.noise(size) < round(chance * STEPS)

    def order(self, size: int) -> Places:
        """Return the whole numbers below `size` in random order."""
        return np.argsort(self.words(size), kind="stable")


FINE, COARSE = 16, 12
"""Bits of a table: its slots are 2^16 or 2^12, and a share is as exact as one slot."""
OLDEST = 100
"""The last age, which stands for 100 and over."""


def apportion(shares: Sequence[float], slots: int) -> NDArray[np.intp]:
    """Return how many slots each share gets, by largest remainders.

    >>> apportion([2, 1, 1], 9).tolist()
    [5, 2, 2]
    """
    exact = np.asarray(shares, dtype=float) / sum(shares) * slots
    whole = np.floor(exact).astype(np.intp)
    # Rounding of the quotients must not decide between equal remainders, which go to the first.
    last = np.argsort(-np.round(exact - whole, 9), kind="stable")[: slots - int(whole.sum())]
    whole[last] += 1
    return whole


class ShareTable:
    """A value by shares that depend on a row: each value stands in as many slots of its row as its share asks for."""

    def __init__(self, values: Sequence[int], rows: Sequence[Sequence[float]], *, bits: int = COARSE) -> None:
        self._shift = 16 - bits
        self._bits = bits
        slots = [np.repeat(np.array(values, dtype=np.uint8), apportion(row, 1 << bits)) for row in rows]
        self._table = np.concatenate(slots)

    def draw(self, row: NDArray[Any] | int, noise: Noise) -> Bytes:
        """Return one value per noise, by the shares of its row."""
        place = (noise >> self._shift).astype(np.intp)
        place += np.asarray(row, dtype=np.intp) << self._bits
        return self._table.take(place)


class ChoiceByAge:
    """A value by shares that depend on age and sex.

    Args:
        values: what is chosen.
        steps: from which age on which percentages hold, for men and for women, for all values but the last. The last
            value gets the rest.
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
    """Return steps in which men and women have the same percentages."""
    return {age: (percents, percents) for age, percents in steps.items()}


def _with_rest(percents: Sequence[float]) -> list[float]:
    rest = 100 - sum(percents)
    if rest < -1e-9:
        raise InternalError(f"Shares of the synthetic census add up to more than 100: {percents}.")
    return [*percents, max(rest, 0.0)]
