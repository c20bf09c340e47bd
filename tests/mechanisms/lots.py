"""Hand-made batches of cells to perturb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms.mechanism import NoiseBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from discreet.programme.lattice import Statistic


def batch(
    counts: ArrayLike,
    keys: ArrayLike | None = None,
    words: ArrayLike | None = None,
    *,
    table: str = "1",
    statistics: Sequence[Statistic] = ((),),
) -> NoiseBatch:
    """Return cells with these counts; keys default to 0, and words fail unless given."""
    found = np.asarray(counts, dtype=np.int64)

    def find() -> NDArray[np.uint64]:
        assert words is not None, "these cells have no coordinates"
        return np.asarray(words, dtype=np.uint64)

    given = np.zeros(len(found)) if keys is None else keys
    return NoiseBatch(table, tuple(statistics), found, np.asarray(given, dtype=np.uint32), find)
