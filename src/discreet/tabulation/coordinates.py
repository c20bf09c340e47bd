"""A word per cell that depends on its coordinates alone: the codes of its categories.

word(c) = sum over the axes of w(topic, code) mod 2^64, with w a keyed hash. Totals add
nothing, so the word of a cell does not depend on the table it is shown in. A category that
is the only one below another has the word of that one: if the two differed, one would know
that nobody is there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from discreet.tabulation.axes import codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.tabulation.axes import TopicAxis
    from discreet.tabulation.plan import Plan, Statistic


def coordinate_words(plan: Plan, statistic: Statistic, key: bytes) -> NDArray[np.uint64]:
    """Return the word of every cell of a statistic, in flat order.

    Args:
        plan: the axes.
        statistic: the depths.
        key: what the words depend on beside the codes, at most 64 bytes.
    """
    words = np.zeros(1, dtype=np.uint64)
    for axis, depth in zip(plan.axes, statistic, strict=True):
        if depth:
            words = (words[:, None] + _axis_words(axis, depth, key)[None, :]).reshape(-1)
    return words


def _axis_words(axis: TopicAxis, depth: int, key: bytes) -> NDArray[np.uint64]:
    texts = [f"{axis.topic}\0{axis.same.get(code, code)}".encode() for code in codes(axis.depths[depth - 1][0])]
    digests = b"".join(hashlib.blake2b(text, digest_size=8, key=key).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
