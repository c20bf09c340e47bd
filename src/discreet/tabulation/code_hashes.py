"""Keyed hashes of sets of finest codes: one of 64 bits for all sets that are equal, whatever they are called."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.universe import finest_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Words
    from discreet.programme.model import Topic

# The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit of the input reaches every bit of the output.
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


class CodeHashes:
    """Hashes under one version label for one unit.

    Args:
        version: a label; another one gives other hashes.
        unit: what is counted.
    """

    def __init__(self, version: str, unit: str) -> None:
        self._key = hashlib.blake2b(f"{version}\0{unit}".encode(), digest_size=32).digest()
        self._known: dict[str, dict[str, int]] = {}

    @property
    def unrestricted(self) -> int:
        """Return the word of a cell that leaves every code of every column."""
        return self._hash("unrestricted")

    def codes(self, topic: Topic) -> dict[str, int]:
        """Return the hash of every finest code of a topic."""
        column = column_of(topic)
        if column not in self._known:
            self._known[column] = {code: self._hash(f"code of {column}\0{code}") for code in finest_codes(topic)}
        return self._known[column]

    def sets(self, column: str, sums: Words) -> Words:
        """Return the word of sets of codes of one column, each given by the sum of the hashes of its codes."""
        different, place = np.unique(sums, return_inverse=True)
        words = np.array([self._hash(f"set of {column}\0{total}") for total in different.tolist()], dtype=np.uint64)
        return words[place.reshape(-1)].reshape(sums.shape)

    def combinations(self, columns: Sequence[str], allowed: Flags, hashes: Sequence[Words]) -> int:
        """Return the word of a set of combinations of codes of several columns.

        Args:
            columns: in the order of the axes; the word does not depend on this order.
            allowed: which combinations are in the set.
            hashes: the hash of every code along each axis.
        """
        chosen = np.nonzero(allowed)
        mixed = np.zeros(len(chosen[0]), dtype=np.uint64)
        order = sorted(range(len(columns)), key=columns.__getitem__)
        for axis in order:
            mixed = _mixed(mixed + hashes[axis][chosen[axis]])
        names = "\0".join(columns[axis] for axis in order)
        return self._hash(f"combinations of {names}\0{mixed.sum(dtype=np.uint64)}")

    def _hash(self, text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=self._key).digest(), "little")


def column_of(topic: Topic) -> str:
    """Return the column of a topic: topics of one column say the same of a person."""
    return topic.column or topic.name


def _mixed(values: Words) -> Words:
    for shift, factor in MIXING:
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values
