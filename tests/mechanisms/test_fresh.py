"""Fresh noise: every cell takes a word of its own, and nothing but the law is kept."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.fresh import Fresh
from discreet.noise.distribution import WORDS
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SYSTEM_BITS, SeededBits
from discreet.release.record import Record
from tests.each import each
from tests.mechanisms.lots import batch
from tests.noise.goodness import ACCEPT, REJECT, p_value

LAW = TwoSidedGeometric(epsilon=0.5)
PTABLE = PTable.max_entropy(variance=2, bound=5)
ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
COUNTS = np.full(20_000, 9)


def test_every_cell_takes_the_next_word() -> None:
    mechanism = Fresh(LAW, bits=SeededBits(4))
    bits = SeededBits(4)
    for _ in range(2):
        assert np.array_equal(mechanism.publish(batch(COUNTS)) - COUNTS, LAW.draw(bits.words(len(COUNTS)), WORDS))


def test_the_noise_has_the_law_whatever_keys_and_words_say() -> None:
    noise = Fresh(PTABLE, bits=SeededBits(5)).publish(batch(COUNTS, COUNTS, COUNTS)) - COUNTS
    assert p_value(noise, PTABLE.rows[-1]) > ACCEPT
    assert p_value(noise, PTable.max_entropy(variance=2.6, bound=5).rows[-1]) < REJECT


def test_the_system_gives_the_bits_unless_a_seed_is_given() -> None:
    assert Fresh(LAW).bits is SYSTEM_BITS
    one, other = (Fresh(LAW).publish(batch(COUNTS)) for _ in range(2))
    # 20,000 cells the same by chance: a probability below 10^-10,000.
    assert not np.array_equal(one, other)


@each(
    ("mechanism", "zeros"),
    [
        (Fresh(PTABLE, bits=SeededBits(1)), False),
        (Fresh(ZEROS, bits=SeededBits(1)), True),
        (Fresh(LAW, bits=SeededBits(1)), False),
        (Fresh(LAW, perturb_zeros=True, bits=SeededBits(1)), True),
    ],
)
def test_zeros_stay_unless_they_are_to_have_noise(mechanism: Fresh, zeros: bool) -> None:
    assert mechanism.perturbs_zeros is zeros
    assert mechanism.publish(batch(np.zeros(500))).any() == zeros
    record = Record(programme="x", **mechanism.described())
    assert (record.mechanism, record.spsn, record.zeros_are_noisy) == ("fresh", False, zeros)


def test_it_needs_neither_key_nor_secret() -> None:
    mechanism = Fresh(LAW)
    assert (mechanism.needs_keys, mechanism.secret, mechanism.spsn) == (False, None, False)
    assert mechanism.ready_for(None) is mechanism  # type: ignore[arg-type]  # it looks at no output


def test_a_ptable_whose_zeros_stay_cannot_give_them_noise() -> None:
    with pytest.raises(ParameterError, match="This p-table does not perturb zeros"):
        Fresh(PTABLE, perturb_zeros=True)
