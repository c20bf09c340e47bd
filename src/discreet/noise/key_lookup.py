"""From cell keys to noise: mix the key, then look up its interval.

Cell keys are additive: the key of F + M is the sum of the keys of F and M. In a table whose noise rises with the key,
the three noise terms would be linearly related and far from jointly independent. A keyed pseudo-random function before
the look-up breaks the relation. The same participants still get the same noise.

The look-up uses a guide table. The top bits of a key select a bucket. Nearly every bucket lies within one interval of
its row and stores the noise itself. Buckets that contain a boundary are marked, and only their keys are searched. Keys
are processed in chunks that fit into the cache.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import ParameterError, SecretError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from discreet.arrays import Ints, Words
    from discreet.noise.rounded import RoundedRow

CHUNK = 1 << 14
MOST_BUCKETS = 1 << 12
ALL_BITS = (1 << 64) - 1


def keys_in_space(keys: ArrayLike, key_space: int) -> NDArray[np.unsignedinteger]:
    """Return keys as unsigned whole numbers, or raise an error for keys outside 0 .. key_space - 1."""
    array = np.asarray(keys)
    if not array.size:
        return np.zeros(array.shape, dtype=np.uint64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "i" and array.size and array.min() < 0):
        raise ParameterError(
            "keys must be whole numbers from 0 on; got another type or a negative key.", parameter="keys"
        )
    if array.size and int(array.max()) >= key_space:
        raise ParameterError(
            f"keys must be below the key space of {key_space}; at least one is not. "
            "Reduce cell keys modulo the key space, or use the p-table with their key space.",
            parameter="keys",
        )
    return array.astype(f"u{array.dtype.itemsize}", copy=False)


def in_chunks(function: Callable[..., NDArray[np.signedinteger]], *arrays: NDArray[np.integer]) -> Ints:
    """Return a function of whole arrays, computed in chunks so that intermediate arrays stay in the cache."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    flat = [np.broadcast_to(array, shape).ravel() for array in arrays]
    result = np.empty(len(flat[0]), dtype=np.int64)
    for start in range(0, len(result), CHUNK):
        part = slice(start, start + CHUNK)
        result[part] = function(*(array[part] for array in flat))
    return result.reshape(shape)


class Lookup:
    """The inverse of the rows of a rounded table, for keys of one key space."""

    def __init__(self, rows: Sequence[RoundedRow], key_space: int) -> None:
        self._several = len(rows) > 1
        self._shift = max((key_space - 1).bit_length() - (MOST_BUCKETS.bit_length() - 1), 0)
        self._buckets = ((key_space - 1) >> self._shift) + 1
        self._tops, self._noise = zip(*(_pieces(row) for row in rows), strict=True)
        widest = max(int(np.abs(noise).max()) for noise in self._noise)
        self._type = np.dtype(next(code for code in ("i1", "i2", "i4", "i8") if widest < np.iinfo(code).max))
        self._crossed = int(np.iinfo(self._type).min)
        self._guide = np.concatenate([self._guide_row(number, key_space) for number in range(len(rows))])

    def _guide_row(self, number: int, key_space: int) -> NDArray[np.signedinteger]:
        """Return the noise of every bucket whose first and last key lie in one piece, and a mark for the others."""
        first = np.arange(self._buckets, dtype=np.uint64) << np.uint64(self._shift)
        last = np.append(first[1:] - np.uint64(1), np.uint64(key_space - 1))
        piece = np.searchsorted(self._tops[number], first)
        crossed = np.searchsorted(self._tops[number], last) != piece
        return np.where(crossed, self._crossed, self._noise[number][piece]).astype(self._type)

    def __call__(self, rows: Ints, keys: NDArray[np.unsignedinteger]) -> NDArray[np.signedinteger]:
        """Return the noise of each key in its row; keys must lie in the key space."""
        bucket = (keys >> keys.dtype.type(self._shift)).astype(np.int64) if self._shift else keys.astype(np.int64)
        if self._several:
            bucket += rows * self._buckets
        noise = self._guide.take(bucket)
        crossed = np.flatnonzero(noise == self._crossed)
        if len(crossed):
            noise[crossed] = self._search(rows[crossed], keys[crossed])
        return noise

    def _search(self, rows: Ints, keys: NDArray[np.unsignedinteger]) -> Ints:
        noise = np.empty(len(keys), dtype=np.int64)
        for row in np.unique(rows):
            here = rows == row
            noise[here] = self._noise[row][np.searchsorted(self._tops[row], keys[here].astype(np.uint64))]
        return noise


def _pieces(row: RoundedRow) -> tuple[Words, Ints]:
    """Return the last key and the noise of every piece with at least one key."""
    held = np.array([weight > 0 for weight in row.weights])
    # Sums modulo 2^64: an exclusive upper key of 2^64 becomes 0, and the key below it the last one.
    weights = np.array([weight & ALL_BITS for weight in row.weights], dtype=np.uint64)
    return np.cumsum(weights[held]) - np.uint64(1), np.array(row.values, dtype=np.int64)[held]


SHORTEST_SECRET = 16
OF_CELLS = np.uint64(1 << 63)
"""Mark in the second half of a block made from coordinates; the second half of a key's block is 0."""


class SecretAsGiven(bytes):
    """A secret that includes the whitespace around it: some releases were made with all bytes of its file."""

    __slots__ = ()


def bare_secret(secret: bytes) -> bytes:
    r"""Return a secret without the whitespace around it, such as the line end of its file.

    >>> bare_secret(b"a secret of the office\n")
    b'a secret of the office'
    """
    return secret if isinstance(secret, SecretAsGiven) else secret.strip()


def secret_material(secret: bytes) -> bytes:
    """Return M = BLAKE2b_64(secret), from which all keys are derived; whitespace around the secret is ignored."""
    return hashlib.blake2b(bare_secret(secret), digest_size=64).digest()


class KeyMixer:
    """AES-128 of the key as one block; the first 64 bits of the result are the mixed key.

    The cipher key is derived from the office's secret by keyed BLAKE2b, so that the
    secret itself cannot be recovered from it.
    """

    def __init__(self, secret: bytes | None) -> None:
        if not secret:
            raise SecretError(
                "Mixed keys require the office's secret, but none was given. "
                "Give the secret, or choose plain keys to reproduce the noise of another tool."
            )
        if not isinstance(secret, bytes):
            raise SecretError("The secret must be bytes, as read from its file.")
        if len(bare_secret(secret)) < SHORTEST_SECRET:
            raise SecretError(f"The secret is too short: it must have at least {SHORTEST_SECRET} bytes.")
        derived = hashlib.blake2b(digest_size=16, key=secret_material(secret), person=b"discreet.mixing").digest()
        self._cipher = Cipher(algorithms.AES(derived), modes.ECB())  # noqa: S305 - single blocks as a PRF, not a message

    def __call__(self, keys: NDArray[np.unsignedinteger]) -> Words:
        """Return the mixed keys, uniform on 64 bits for anyone without the secret."""
        block = np.zeros((len(keys), 2), dtype="<u8")
        block[:, 0] = keys
        return self._mixed(block)

    def of_cells(self, coordinates: Words, counts: Ints) -> Words:
        """Return a word per cell from the word of its coordinates and its count, distinct from the words of keys."""
        block = np.empty((len(coordinates), 2), dtype="<u8")
        block[:, 0] = coordinates
        block[:, 1] = counts.astype(np.uint64) | OF_CELLS
        return self._mixed(block)

    def _mixed(self, block: Words) -> Words:
        return np.frombuffer(self._cipher.encryptor().update(block.tobytes()), dtype="<u8")[::2]
