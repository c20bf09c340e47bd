"""The guide table against a naive walk along the pieces, for any rows, keys and key spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import PTable, SeededBits, Uniform
from discreet.noise.key_lookup import CHUNK, MOST_BUCKETS, Lookup, in_chunks, keys_in_space
from discreet.noise.rounded import RoundedRow
from tests.each import each
from tests.quick import one_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Ints

KEY_SPACES = [2, 3, 255, 256, 1000, MOST_BUCKETS, MOST_BUCKETS + 1, 10**8, 2**32, 2**32 - 5, 2**62, 2**64 - 1, 2**64]


def naive(row: RoundedRow, key: int) -> int:
    """Return the noise of a key by walking along the pieces."""
    for value, weight in zip(row.values, row.weights, strict=True):
        if key < weight:
            return value
        key -= weight
    raise AssertionError(key)


@st.composite
def cut_rows(draw: st.DrawFn, key_space: int) -> RoundedRow:
    """Return a key space cut at random places, with pieces of no key and of repeated values among them."""
    cuts = sorted(draw(st.lists(st.integers(0, key_space), max_size=12)))
    weights = [high - low for low, high in zip([0, *cuts], [*cuts, key_space], strict=True)]
    values = draw(st.lists(st.integers(-300, 300), min_size=len(weights), max_size=len(weights)))
    return RoundedRow(tuple(values), tuple(weights))


def edges(row: RoundedRow) -> list[int]:
    """Return the keys on both sides of every boundary."""
    near = {edge + step for edge in (0, *row.upper) for step in (-1, 0, 1)}
    return [key for key in near if 0 <= key < row.key_space]


@each("key_space", KEY_SPACES, every=3)
def test_guide_table_equals_a_naive_search(key_space: int) -> None:
    @given(st.lists(cut_rows(key_space), min_size=1, max_size=4), st.lists(st.integers(0, key_space - 1), max_size=20))
    def check(rows: list[RoundedRow], keys: list[int]) -> None:
        lookup = Lookup(rows, key_space)
        pairs = [(number, key) for number, row in enumerate(rows) for key in [*edges(row), *keys]]
        number, key = np.array([n for n, _ in pairs]), np.array([k for _, k in pairs], dtype=np.uint64)
        assert lookup(number, key).tolist() == [naive(rows[n], k) for n, k in pairs]

    check()


@each("key_space", [2, 3, 255, 1000, 4096, 5000])
def test_every_key_of_a_small_space_is_answered(key_space: int) -> None:
    row = Uniform(bound=3).rounded(key_space)
    keys = np.arange(key_space, dtype=np.uint64)
    found = Lookup([row], key_space)(np.zeros(key_space, dtype=np.int64), keys)
    assert found.tolist() == np.repeat(row.values, row.weights).tolist()


@each(
    ("key_space", "buckets"),
    [(2, 2), (4096, 4096), (4097, 2049), (8192, 4096), (10**8, 3052), (2**32, 4096), (2**64 - 1, 4096), (2**64, 4096)],
)
def test_the_guide_has_as_many_buckets_as_fit(key_space: int, buckets: int) -> None:
    # 4,097 keys go two to a bucket; 10^8 keys have 27 bits and go 2^15 to a bucket.
    row = RoundedRow((0, 1), (1, key_space - 1))
    assert len(Lookup([row], key_space)._guide) == buckets  # noqa: SLF001 - answers are right with any number
    assert len(Lookup([row] * 3, key_space)._guide) == 3 * buckets  # noqa: SLF001


@each(("bound", "size"), [(1, 1), (126, 1), (127, 2), (128, 2), (32_766, 2), (32_767, 4), (2**31, 8)])
def test_guide_is_as_narrow_as_the_noise_allows(bound: int, size: int) -> None:
    row = RoundedRow((-bound, 0, bound), (100, 300, 600))
    keys = np.array([0, 99, 100, 399, 400, 999], dtype=np.uint64)
    found = Lookup([row], 1000)(np.zeros(6, dtype=np.int64), keys)
    assert found.dtype.itemsize == size
    assert found.tolist() == [-bound, -bound, 0, 0, bound, bound]


@each("bound", one_in(4, [128, 100, 127, 200]))
def test_wide_tables_draw_their_outermost_noise(bound: int) -> None:
    ptable = PTable.max_entropy(variance=bound**2 / 2, bound=bound)
    assert ptable.draw([10**6, 10**6], [0, 2**32 - 1], mode="plain").tolist() == [-bound, bound]


@each("kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_keys_of_any_width_mean_the_same(kind: str) -> None:
    law = Uniform(bound=9)
    keys = np.arange(100)
    for key_space in (100, 2**32, 2**64):
        assert law.draw(keys.astype(kind), key_space).tolist() == law.draw(keys, key_space).tolist()


def test_keys_become_unsigned_of_their_own_width() -> None:
    assert keys_in_space(np.array([1, 2], dtype=np.int32), 10).dtype == np.uint32
    words = SeededBits(1).words(5)
    assert keys_in_space(words, 2**64) is words


@each("keys", [[-1], [0.5], [1.0], ["1"], [True], [None], np.array([-1], dtype=np.int8)])
def test_keys_that_are_no_whole_numbers_from_0_on_are_refused(keys: Any) -> None:  # noqa: ANN401 - wrong types
    with pytest.raises(ParameterError, match="keys must be whole numbers from 0 on") as refusal:
        keys_in_space(keys, 100)
    assert refusal.value.parameter == "keys"


@pytest.mark.parametrize("key_space", [100, 10**8, 2**32])
def test_keys_beyond_the_key_space_are_refused_without_being_shown(key_space: int) -> None:
    secret_key = key_space + 123_456_789
    with pytest.raises(ParameterError, match=f"below the key space of {key_space}.*modulo the key space") as refusal:
        keys_in_space([3, secret_key], key_space)
    assert str(secret_key) not in str(refusal.value)
    keys_in_space([0, key_space - 1], key_space)


@each("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
def test_chunks_join_to_the_whole(size: int) -> None:
    lengths = []

    def double(values: Ints, others: Ints) -> NDArray[np.signedinteger]:
        lengths.append(len(values))
        return values * 2 + others

    values = np.arange(size)
    assert np.array_equal(in_chunks(double, values, np.array(5)), values * 2 + 5)
    assert sum(lengths) == size
    assert max(lengths, default=0) <= CHUNK


def test_shapes_are_broadcast_and_kept() -> None:
    ptable = PTable.max_entropy(variance=2, bound=5)
    counts, keys = np.array([[1], [7]]), np.array([0, 2**31, 2**32 - 1])
    found = ptable.draw(counts, keys, mode="plain")
    assert found.shape == (2, 3)
    for row, count in enumerate([1, 7]):
        assert found[row].tolist() == [int(ptable.draw(count, key, mode="plain")) for key in keys.tolist()]
    assert ptable.draw(3, 5, mode="plain").shape == ()
    empty = np.zeros((0, 4), dtype=np.int64)
    assert ptable.draw(empty, empty, mode="plain").shape == (0, 4)
