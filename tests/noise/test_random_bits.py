"""Bit sources: uniform, repeatable with a seed, and never the one for the other."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import SYSTEM_BITS, SeededBits, SystemBits
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, chi_square

if TYPE_CHECKING:
    from discreet.noise.random_bits import BitSource

every_source = pytest.mark.parametrize("bits", [SystemBits(), SeededBits(1)], ids=["system", "seeded"])


def test_a_seed_makes_words_repeatable() -> None:
    assert np.array_equal(SeededBits(7).words(100), SeededBits(7).words(100))
    assert not np.array_equal(SeededBits(7).words(100), SeededBits(8).words(100))


def test_a_seed_makes_numbers_repeatable() -> None:
    first, second = SeededBits(7), SeededBits(7)
    assert [first.below(1000) for _ in range(50)] == [second.below(1000) for _ in range(50)]


def test_words_go_on_where_they_stopped() -> None:
    bits = SeededBits(7)
    both = np.concatenate([bits.words(3), bits.words(4)])
    assert np.array_equal(both, SeededBits(7).words(7))


def test_words_are_numpy_s_pcg64() -> None:
    # The same words in every version and on every machine: NumPy promises the raw stream of PCG64.
    assert np.array_equal(SeededBits(7).words(5), np.random.PCG64(7).random_raw(5))


def test_system_words_never_repeat() -> None:
    words = SYSTEM_BITS.words(1000)
    assert len(np.unique(np.concatenate([words, SYSTEM_BITS.words(1000)]))) == 2000


def test_system_bits_are_the_default_of_the_house() -> None:
    assert isinstance(SYSTEM_BITS, SystemBits)


@every_source
@each("size", [0, 1, 1000])
def test_words_are_64_bits_each(bits: BitSource, size: int) -> None:
    words = bits.words(size)
    assert words.dtype == np.uint64
    assert words.shape == (size,)


@every_source
def test_every_bit_is_set_half_of_the_time(bits: BitSource) -> None:
    size = 10_000
    words = bits.words(size)
    share = np.array([(words >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)])
    # Nine standard deviations: a bit that is stuck is seen, chance is not.
    assert np.abs(share - 0.5).max() < 9 * 0.5 / math.sqrt(size)


@every_source
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 10, 256, 257])
def test_numbers_below_a_limit_are_uniform(bits: BitSource, limit: int) -> None:
    size = 50 * limit + 1000
    numbers = np.bincount([bits.below(limit) for _ in range(size)], minlength=limit)
    assert len(numbers) == limit
    if limit > 1:
        level = ACCEPT if isinstance(bits, SeededBits) else REJECT
        assert chi_square(numbers, np.full(limit, size / limit)) > level


@given(st.integers(1, 2**300), st.integers(0, 2**32))
def test_numbers_stay_below_any_limit(limit: int, seed: int) -> None:
    assert 0 <= SeededBits(seed).below(limit) < limit


@every_source
def test_large_limits_use_all_their_bits(bits: BitSource) -> None:
    limit = 2**200
    numbers = [bits.below(limit) for _ in range(200)]
    assert max(numbers).bit_length() > 190
    assert len({number % 2**60 for number in numbers}) == 200


@each("seed", [-1, 1.5, True, "7", None])
def test_what_is_no_seed_is_refused(seed: Any) -> None:  # noqa: ANN401 - wrong types are the point
    with pytest.raises(ParameterError, match="seed must be zero or a positive whole number") as refusal:
        SeededBits(seed)
    assert refusal.value.parameter == "seed"


def test_there_is_no_default_seed() -> None:
    (seed,) = [field for field in dataclasses.fields(SeededBits) if field.name == "seed"]
    assert seed.default is dataclasses.MISSING
    assert seed.default_factory is dataclasses.MISSING


def test_sources_are_compared_by_their_seed() -> None:
    used = SeededBits(3)
    used.words(5)
    assert used == SeededBits(3)
    assert SeededBits(3) != SeededBits(4)
    assert repr(used) == "SeededBits(seed=3)"
