"""A crowd for tests of noise: thousands of cells whose true counts are known, in several tables and two populations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.protection.pipeline import protect
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

PAIRS, PLACES = 60, 260
PARENTS = [f"p{number}" for number in range(PAIRS)]
PARTS = [f"p{number}{half}" for number in range(PAIRS) for half in "ab"]
Y_CODES = [f"y{number}" for number in range(PLACES)]

# Every category of X has two parts, so that 15,600 totals of two parts are published.
X = topic("X", dict.fromkeys(PARENTS, "") | {part: part[:-1] for part in PARTS})
Y = topic("Y", " ".join(Y_CODES))
SEX = topic("SEX", "F M")
CROWD = programme(
    [X, Y, SEX],
    [by(X), by(Y)],
    [by(Y, total=False), by(X)],
    [by(X), by(Y)],
    universes=[None, None, "SEX = F"],
)
"""Two tables that show the same counts in another order, and one of another population, which here holds everybody."""

CHOICES = [0, 1, 9, 9]
COUNTS = np.random.default_rng(2).choice(CHOICES, (len(PARTS), PLACES))
"""True counts by part and place: a quarter each of 0 and 1, the others large enough for every law."""
TOTALS = COUNTS.reshape(PAIRS, 2, PLACES).sum(axis=1)


def records(counts: Ints = COUNTS, seed: int = 3) -> pa.Table:
    """Return one record per person, with random keys; those of persons who are there before do not change."""
    part, place = (index.ravel() for index in np.indices(counts.shape))
    times = counts.ravel()
    # A row of keys for every cell: a person more takes the next key, and moves nobody else's.
    keys = np.random.default_rng(seed).integers(0, 2**32, (times.size, max(CHOICES) + 1), dtype=np.uint32)
    own = np.arange(keys.shape[1]) < times[:, None]
    return pa.table(
        {
            "X": pa.DictionaryArray.from_arrays(np.repeat(part, times).astype(np.int16), pa.array(PARTS)),
            "Y": pa.DictionaryArray.from_arrays(np.repeat(place, times).astype(np.int16), pa.array(Y_CODES)),
            "SEX": pa.DictionaryArray.from_arrays(np.zeros(times.sum(), dtype=np.int16), pa.array(["F", "M"])),
            "key": keys[own],
        }
    )


@dataclass(frozen=True)
class Crowd:
    """One release of the crowd, table by table as arrays."""

    release: Release

    def parts(self, table: str) -> Ints:
        """Return what is published by part and place."""
        return self._values(table, PARTS)

    def totals(self, table: str) -> Ints:
        """Return what is published for every two parts together, by place."""
        return self._values(table, PARENTS)

    def _values(self, table: str, codes: list[str]) -> Ints:
        found = np.zeros((len(codes), PLACES), dtype=np.int64)
        rows = self._tables[table]
        x, y = (_places(rows[name], listed) for name, listed in (("X", codes), ("Y", Y_CODES)))
        kept = (x >= 0) & (y >= 0)
        found[x[kept], y[kept]] = rows["value"].to_numpy()[kept]
        return found

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        return {name: self.release.table(name).combine_chunks() for name in self.release.ids}


def _places(column: pa.ChunkedArray, listed: list[str]) -> Ints:
    """Return the place of every code in a list, -1 where it is none of it."""
    coded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    place = {code: number for number, code in enumerate(listed)}
    known = np.array([place.get(code, -1) for code in coded.dictionary.to_pylist()])
    found: Ints = known[coded.indices.to_numpy()]
    return found


def published(mechanism: Mechanism, engine: Engine, counts: Ints = COUNTS) -> Crowd:
    """Return a release of the crowd."""
    return Crowd(protect(records(counts), CROWD, mechanism, key="key", engine=engine))
