"""True and published counts side by side, cell by cell. True counts are the curator's alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.release.release import Release

    Ints = NDArray[np.int64]

VALUE = "value"


@dataclass(frozen=True, eq=False)
class Pairs:
    """The cells of one table that are not 0 on both sides, in no order."""

    true: Ints
    published: Ints


def pairs(release: Release, table: str) -> Pairs:
    """Return true and published counts of a table; a cell that has no row is 0."""
    import pyarrow as pa

    exact, published = release.exact(table), release.table(table)
    both = pa.concat_tables([_plain(exact), _plain(published)])
    cells, place = np.unique(_numbered(both), return_inverse=True)
    found = np.zeros((2, len(cells)), dtype=np.int64)
    found[0, place[: exact.num_rows]] = exact[VALUE].to_numpy()
    found[1, place[exact.num_rows :]] = published[VALUE].to_numpy()
    return Pairs(found[0], found[1])


def _plain(table: pa.Table) -> pa.Table:
    """Return codes as text, however a file holds them."""
    import pyarrow as pa

    codes = [column.cast(pa.string()) for column in table.columns[:-1]]
    return pa.table([*codes, table.columns[-1].cast(pa.int64())], names=table.column_names)


def _numbered(table: pa.Table) -> Ints:
    """Return a number for every row, the same for rows of the same codes."""
    numbers = np.zeros(table.num_rows, dtype=np.int64)
    for column in table.columns[:-1]:
        encoded = column.combine_chunks().dictionary_encode()
        numbers = numbers * len(encoded.dictionary) + encoded.indices.to_numpy()
    return numbers
