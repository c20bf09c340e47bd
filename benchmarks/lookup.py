"""Keys per second in the noise look-up, compared with a search per p-table row and a plain copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.clock import Figure, cpu_seconds, report
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SYSTEM_BITS, SeededBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Ints

CELLS = 10**7
SECRET = b"a secret for the benchmark"


def by_search(ptable: PTable, counts: Ints, keys: NDArray[np.uint32]) -> Ints:
    """Return the noise by one numpy searchsorted per p-table row."""
    rows = np.minimum(counts, len(ptable.rows) - 1)
    noise = np.empty(len(keys), dtype=np.int64)
    for number, row in enumerate(ptable.rounded):
        here = np.flatnonzero(rows == number)
        tops = np.array(row.upper, dtype=np.uint64) - np.uint64(1)
        noise[here] = np.array(row.values)[np.searchsorted(tops, keys[here])]
    return noise


def main() -> None:
    """Measure plain and mixed keys and the samplers."""
    ptable = PTable.max_entropy(variance=2, bound=5)
    words = SeededBits(1).words(CELLS)
    keys = (words >> np.uint64(32)).astype(np.uint32)
    counts = (words % np.uint64(30)).astype(np.int64)
    assert (ptable.draw(counts, keys, mode="plain") == by_search(ptable, counts, keys)).all()
    search = cpu_seconds(lambda: by_search(ptable, counts, keys), runs=3)
    copy = cpu_seconds(counts.copy)
    plain = cpu_seconds(lambda: ptable.draw(counts, keys, mode="plain"))
    mixed = cpu_seconds(lambda: ptable.draw(counts, keys, secret=SECRET))
    law, small = TwoSidedGeometric(epsilon=0.3), 2000
    fast = cpu_seconds(lambda: law.sample(CELLS // 10)) / (CELLS // 10)
    exact = cpu_seconds(lambda: law.sample_exact(small, SYSTEM_BITS), runs=3) / small

    def rate(seconds: float, wanted: str) -> str:
        return f"{CELLS / seconds / 1e6:.0f} million per CPU second; target: {wanted}"

    figures = [
        Figure("10^7 cells, plain keys", plain, "searchsorted per row", search, rate(plain, "50")),
        Figure("10^7 cells, mixed keys", mixed, "searchsorted per row", search, rate(mixed, "25")),
        Figure("10^7 cells, plain keys", plain, "a copy of 10^7 counts", copy),
        Figure("one geometric draw, exact", exact, "one 64-bit draw", fast, "the audit path"),
    ]
    report("lookup", figures)


if __name__ == "__main__":
    main()
