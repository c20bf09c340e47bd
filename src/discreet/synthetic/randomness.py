"""Random numbers that depend on nothing but what they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.arrays import Flags, Words

from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
