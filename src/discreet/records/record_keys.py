"""The key of every record, batch after batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.records.keys import DIGEST_BITS, IdCheck, RecordKeys, is_fraction, keys_of, ready_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.records.record_columns import RecordColumns
    from discreet.sources.source import Source


class KeyReader:
    """Makes keys from ids, or reads ready-made ones; 0 where there are none.

    Args:
        roles: the columns of ids or of ready-made keys.
        space: the number of keys.
        hashing: makes keys from ids; None where no noise depends on them.
        bits: of an id's digest that its key is reduced from.
    """

    def __init__(self, roles: RecordColumns, space: int, hashing: RecordKeys | None, bits: int = DIGEST_BITS) -> None:
        self._roles = roles
        self._space = space
        self._bits = bits
        self._fraction: bool | None = None
        self._records = 0
        self._check: IdCheck | None = None
        if roles.id is not None and hashing is not None:
            self._check = IdCheck(hashing, roles.id)

    def of(self, batch: pa.RecordBatch) -> NDArray[np.uint32]:
        """Return the keys of a batch."""
        self._records += batch.num_rows
        if self._check:
            return keys_of(self._check.digests(batch.column(self._check.column)), self._space, self._bits)
        if self._roles.key is None:
            return np.zeros(batch.num_rows, dtype=np.uint32)
        values = batch.column(self._roles.key)
        if self._fraction is None:
            self._fraction = is_fraction(values)
        offset = self._records - batch.num_rows
        ready = ready_keys(values, self._space, self._roles.key, offset=offset, fraction=self._fraction)
        return ready.astype(np.uint32)

    def finish(self, source: Source) -> None:
        """Refuse ids that are missing or occur twice."""
        if self._check:
            column = self._check.column
            again: Callable[[], Iterator[pa.Array]] = lambda: (b.column(0) for b in source.batches([column]))  # noqa: E731 - said where it is used
            self._check.finish(again)
