"""Mixing a cell key before it is looked up, so that related cells get unrelated noise.

Cell keys add up: the key of F + M is the sum of the keys of F and M. Looked up in
a table whose noise rises with the key, the three noises would be linearly related
and their joint law far from independent. A keyed pseudo-random function in between
breaks the relation and keeps the rule that the same participants get the same noise.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import SecretError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Ints, Words

SHORTEST_SECRET = 16
OF_CELLS = np.uint64(1 << 63)
"""Marks the second half of a block made from coordinates: that of a key is 0."""


class SecretAsGiven(bytes):
    """A secret to which the whitespace around it belongs: some releases were made with all bytes of its file."""

    __slots__ = ()


def bare_secret(secret: bytes) -> bytes:
    r"""Return a secret without the whitespace around it: the line end of its file does not belong to it.

    >>> bare_secret(b"a secret of the office\n")
    b'a secret of the office'
    """
    return secret if isinstance(secret, SecretAsGiven) else secret.strip()


def secret_material(secret: bytes) -> bytes:
    """Return M = BLAKE2b_64(secret), from which all keys are derived; whitespace around the secret does not count."""
    return hashlib.blake2b(bare_secret(secret), digest_size=64).digest()


class KeyMixer:
    """AES-128 of the key as one block; the first 64 bits of the result are the mixed key.

    The cipher key is derived from the office's secret by keyed BLAKE2b, so the
    secret itself serves no other purpose here and cannot be read off.
    """

    def __init__(self, secret: bytes | None) -> None:
        if not secret:
            raise SecretError(
                "Mixed keys need the office's secret and none was given. "
                "Pass the secret, or choose plain keys where another tool's noise must be reproduced."
            )
        if not isinstance(secret, bytes):
            raise SecretError("The secret must be bytes, as read from its file.")
        if len(bare_secret(secret)) < SHORTEST_SECRET:
            raise SecretError(f"The secret is too short: it must have at least {SHORTEST_SECRET} bytes.")
        derived = hashlib.blake2b(digest_size=16, key=secret_material(secret), person=b"discreet.mixing").digest()
        self._cipher = Cipher(algorithms.AES(derived), modes.ECB())  # noqa: S305 - single blocks as a PRF, not a message

    def __call__(self, keys: NDArray[np.unsignedinteger]) -> Words:
        """Return the mixed keys, uniform on 64 bits for whoever lacks the secret."""
        block = np.zeros((len(keys), 2), dtype="<u8")
        block[:, 0] = keys
        return self._mixed(block)

    def of_cells(self, coordinates: Words, counts: Ints) -> Words:
        """Return a word per cell from the word of its coordinates and its count; never that of a key."""
        block = np.empty((len(coordinates), 2), dtype="<u8")
        block[:, 0] = coordinates
        block[:, 1] = counts.astype(np.uint64) | OF_CELLS
        return self._mixed(block)

    def _mixed(self, block: Words) -> Words:
        return np.frombuffer(self._cipher.encryptor().update(block.tobytes()), dtype="<u8")[::2]
