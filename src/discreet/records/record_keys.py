"""Record keys: a keyed hash of the id of a record, or a ready-made key in the data.

A hashed key depends only on the secret, the version label and the id. A record keeps its key if other records are
added, removed or reordered.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError, RecordIdError, RecordKeyError
from discreet.noise.key_lookup import secret_material
from discreet.records.secret import check_secret
from discreet.sources.column_values import NUMBER, as_numbers, decoded, is_text, is_whole, may_hold_numbers, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Words
    from discreet.records.record_columns import RecordColumns
    from discreet.sources.source import Source

DIGEST_BITS = 64
"""Number of bits of a digest, all of which determine the key."""

WIDEST_SPACE = 2**53
"""Maximum key space for ready-made keys; up to here whole numbers are exact in double precision."""


class RecordKeys:
    """Computes the digest of an id with a secret, from which its record key is derived.

    With BLAKE2b_n(text; key, person) the keyed and personalized hash of n bytes (RFC 7693, the BLAKE2 paper):

        digest(id) = BLAKE2b_8(id as UTF-8 text; key = M, person = P)
        M = BLAKE2b_64(secret),  P = BLAKE2b_16("discreet.record:" + version label)
        record key(id) = digest(id) mod K, the digest read as a little-endian number, K the key space

    A whole number is hashed as its decimal text, so 7 and "7" have the same key, and "07" has another. To an attacker
    without the secret, the keys are uniform and independent.

    >>> import pyarrow as pa
    >>> keys = RecordKeys(b"a secret of the office")
    >>> bool((keys.digests(pa.array([7, 8])) == keys.digests(pa.array(["7", "8"]))).all())
    True

    Args:
        secret: the office's secret, at least 16 bytes.
        version: the version label; another label gives other keys with the same secret.
    """

    def __init__(self, secret: bytes, version: str = "1") -> None:
        material = secret_material(check_secret(secret, "The secret"))
        person = hashlib.blake2b(b"discreet.record:" + _label(version), digest_size=16).digest()
        self._empty = hashlib.blake2b(digest_size=8, key=material, person=person)

    def digests(self, ids: pa.Array, column: str = "The id") -> Words:
        """Return the digest of every id, or refuse missing ids and inexact data types."""
        import pyarrow as pa

        texts = id_texts(ids, column)
        if texts.null_count:
            raise RecordIdError.missing(column, texts.null_count, _first_null(texts) + 1)
        # Copying the hash state is much faster than initialising it.
        copy, found = self._empty.copy, []
        for text in texts.cast(pa.large_binary()).to_pylist():
            state = copy()
            state.update(text)
            found.append(state.digest())
        return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64, copy=False)


def keys_of(digests: Words, key_space: int = 2**32, bits: int = DIGEST_BITS) -> NDArray[np.uint32]:
    """Return the record keys: the digests modulo a key space of at most 2^32.

    A key is more likely than another by a factor of at most 1 + K / 2^64. Earlier versions reduced only the lower 32
    bits (`bits`). This gives the same keys if K is a power of two; otherwise, some keys are up to twice as likely.
    """
    return ((digests & np.uint64(2**bits - 1)) % np.uint64(key_space)).astype(np.uint32)


def id_texts(ids: pa.Array, column: str) -> pa.Array:
    """Return ids as text, null for missing ids, or refuse data types without an exact text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = decoded(ids)
    if not (is_text(ids.type) or is_whole(ids.type) or pa.types.is_null(ids.type)):
        raise RecordIdError.inexact(column, str(ids.type))
    texts = ids.cast(pa.large_string())
    empty = pc.equal(pc.binary_length(texts), 0)
    return pc.if_else(empty, None, texts) if pc.any(empty).as_py() else texts


# --- Uniqueness of ids ---


class IdCheck:
    """Computes digests of batches of ids, and checks at the end that every record has a unique id.

    Args:
        keys: the hash function.
        column: the name of the column, for messages.
    """

    def __init__(self, keys: RecordKeys, column: str) -> None:
        self.keys = keys
        self.column = column
        self.records = 0
        self.missing = 0
        self._first = 0
        self._digests: list[Words] = []

    def digests(self, ids: pa.Array) -> Words:
        """Return the digests of the next batch; zeros after a missing id, because `finish` will refuse the data."""
        texts = id_texts(ids, self.column)
        if texts.null_count and not self.missing:
            self._first = self.records + _first_null(texts) + 1
        self.records += len(texts)
        self.missing += texts.null_count
        if self.missing:
            self._digests.clear()
            return np.zeros(len(texts), dtype=np.uint64)
        self._digests.append(self.keys.digests(texts, self.column))
        return self._digests[-1]

    def finish(self, again: Callable[[], Iterable[pa.Array]] | None = None) -> None:
        """Refuse data with missing or duplicate ids.

        Args:
            again: a function that returns the ids again. Two different ids among n share a digest by chance with
                probability n^2 / 2^65. If there is only one such pair, its ids are compared and accepted if they
                differ.
        """
        if self.missing:
            raise RecordIdError.missing(self.column, self.missing, self._first)
        found = duplicates(self._digests)
        if found is None:
            return
        how_many, first, twin = found
        if how_many == 2 and again and not share_id(again(), first, twin):
            return
        raise RecordIdError.repeated(self.column, how_many, first, twin)


def duplicates(digests: Sequence[Words]) -> tuple[int, int, int] | None:
    """Return the number of records that share a digest, and the numbers of the first such record and its duplicate.

    Records are numbered from 1 across all batches. Return None if all digests differ.

    >>> duplicates([np.array([5, 9], dtype=np.uint64), np.array([7, 5], dtype=np.uint64)])
    (2, 1, 4)
    """
    shared = _shared(digests)
    if not len(shared):
        return None
    places, values, start = [], [], 1
    for batch in digests:
        nearest = np.minimum(np.searchsorted(shared, batch), len(shared) - 1)
        hits = np.flatnonzero(shared[nearest] == batch)
        places.append(hits + start)
        values.append(batch[hits])
        start += len(batch)
    place, value = np.concatenate(places), np.concatenate(values)
    twin = 1 + np.argmax(value[1:] == value[0])
    return len(place), int(place[0]), int(place[twin])


def share_id(batches: Iterable[pa.Array], one: int, other: int) -> bool:
    """Return whether two records, numbered from 1 across all batches, have the same id."""
    found, start = set(), 1
    for ids in batches:
        for record in (one, other):
            if start <= record < start + len(ids):
                found.update(id_texts(ids.slice(record - start, 1), "The id").to_pylist())
        start += len(ids)
    return len(found) == 1


def _shared(digests: Sequence[Words]) -> Words:
    """Return the digests that occur more than once, in ascending order."""
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *digests])
    joined.sort()
    return np.unique(joined[1:][joined[1:] == joined[:-1]])


# --- Ready-made keys ---


def is_fraction(values: pa.Array) -> bool:
    """Return whether a column of ready-made keys contains fractions, as cellKey creates them, not whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = decoded(values)
    if not is_text(values.type):
        return bool(pa.types.is_floating(values.type) or (pa.types.is_decimal(values.type) and values.type.scale > 0))
    pointed = pc.and_(pc.match_substring_regex(values, NUMBER), pc.match_substring_regex(values, "[.eE]"))
    return bool(pc.any(pointed).as_py())


def ready_keys(
    values: pa.Array, key_space: int, column: str, *, offset: int = 0, fraction: bool | None = None
) -> Words:
    """Return ready-made record keys as whole numbers below the key space.

    Whole numbers are used unchanged. A fraction f from 0 to 1 becomes round(f * key_space) mod key_space, which is
    exact for eight decimals and a key space of 10^8. Numbers may be stored as text, as in a CSV file.

    Args:
        values: a column or a batch of it.
        key_space: the number of keys.
        column: the name of the column, for messages.
        offset: the number of records in earlier batches.
        fraction: whether the whole column contains fractions; by default determined from these values.
    """
    import pyarrow as pa

    if not 1 <= key_space <= WIDEST_SPACE:
        raise ParameterError.outside("ready_keys", "key_space", key_space, "a whole number from 1 to 2^53")
    accepted = (
        f"Keys must be whole numbers from 0 to {key_space - 1}, or fractions from 0 to 1 in double precision, as "
        "cellKey creates them. A column must not mix the two. Correct the column, or specify another."
    )
    values = decoded(values)
    if not may_hold_numbers(values.type):
        raise RecordKeyError.kind(column, str(values.type), accepted)
    fraction = is_fraction(values) if fraction is None else fraction
    if pa.types.is_integer(values.type) and not fraction and not values.null_count:
        whole: NDArray[np.integer] = values.to_numpy(zero_copy_only=False)
        if whole.size and whole.min() >= 0 and whole.max() < key_space:
            return whole.astype(np.uint64)
    missing, numbers = as_numbers(values)
    faults = {
        "is missing": missing,
        "is not a number": np.isnan(numbers),
        "is negative": numbers < 0,
        **(_beyond_one(numbers) if fraction else _off_grid(numbers, key_space)),
    }
    refuse(faults, column, offset, accepted)
    return np.rint(numbers * key_space).astype(np.uint64) % np.uint64(key_space) if fraction else numbers.astype("u8")


def _beyond_one(numbers: Floats) -> dict[str, Flags]:
    return {"is larger than 1, in a column of fractions": numbers > 1}


def _off_grid(numbers: Floats, key_space: int) -> dict[str, Flags]:
    broken = numbers != np.rint(numbers)
    return {"is a fraction, in a column of whole numbers": broken, "is too large": numbers >= key_space}


def _first_null(texts: pa.Array) -> int:
    return int(np.argmax(texts.is_null().to_numpy(zero_copy_only=False)))


def _label(version: str) -> bytes:
    """Return a version label as bytes, or refuse a label that is empty or not text."""
    try:
        label = version.encode()
    except (AttributeError, UnicodeEncodeError):
        label = b""
    if not label:
        raise ParameterError(
            "The version label of record keys must be a non-empty text, such as 1.", parameter="version"
        )
    return label


class KeyReader:
    """Derives keys from ids, or reads ready-made keys; without either, all keys are 0.

    Args:
        roles: the columns of ids or of ready-made keys.
        space: the number of keys.
        hashing: the hash function of ids; None if the noise does not depend on keys.
        bits: the number of bits of the digest of an id from which its key is derived.
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
        """Refuse missing and duplicate ids."""
        if self._check:
            column = self._check.column
            again: Callable[[], Iterator[pa.Array]] = lambda: (b.column(0) for b in source.batches([column]))  # noqa: E731 - a typed lambda
            self._check.finish(again)
