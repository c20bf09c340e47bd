"""Sources of random bits: the operating system, or a seed for research.

A publication uses `SystemBits`. `SeededBits` makes runs reproducible and is not
secret. The package has no default seed and no fall-back from one source to the other.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.arrays import Words


class BitSource(Protocol):
    """A stream of independent uniform bits."""

    def words(self, size: int) -> Words:
        """Return the next `size` words of 64 bits."""

    def below(self, limit: int) -> int:
        """Return a whole number uniform on 0 .. limit - 1, exactly."""


@dataclass(frozen=True)
class SystemBits:
    """Cryptographic bits of the operating system."""

    def words(self, size: int) -> Words:
        """Return `size` words of 64 bits."""
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def below(self, limit: int) -> int:
        """Return a whole number uniform on 0 .. limit - 1 by rejection."""
        return _below(limit, lambda size: int.from_bytes(os.urandom(size)))


@dataclass(frozen=True)
class SeededBits:
    """Reproducible bits for research (PCG64), not for a publication.

    >>> SeededBits(7).words(2) == SeededBits(7).words(2)
    array([ True,  True])
    """

    seed: int
    _generator: np.random.PCG64 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or self.seed < 0:
            raise ParameterError.outside("SeededBits", "seed", self.seed, "zero or a positive whole number")
        object.__setattr__(self, "_generator", np.random.PCG64(self.seed))

    def words(self, size: int) -> Words:
        """Return the next `size` words of 64 bits."""
        return np.asarray(self._generator.random_raw(size), dtype=np.uint64)

    def below(self, limit: int) -> int:
        """Return a whole number uniform on 0 .. limit - 1 by rejection."""
        return _below(limit, lambda size: int.from_bytes(self.words(-(-size // 8)).tobytes()[:size]))


def _below(limit: int, draw: Callable[[int], int]) -> int:
    """Return a uniform number below the limit from whole bytes by rejection."""
    bits = (limit - 1).bit_length()
    size = -(-bits // 8)
    excess = 8 * size - bits
    while (number := (draw(size) >> excess) if size else 0) >= limit:
        pass
    return number


SYSTEM_BITS = SystemBits()
