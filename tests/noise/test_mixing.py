"""Mixed keys: a keyed function of the key, and what it does to the joint law of parts and totals.

With plain keys the key of T = F + M is the sum of the keys of F and M, and the
noise is a rising function of the key. The joint law is then the area of strips of
the unit square, known in closed form.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import SecretError
from discreet.noise import PTable, SeededBits
from discreet.noise.key_lookup import SHORTEST_SECRET, KeyMixer
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, chi_square

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints, Words

SECRET = b"a secret of the office, 32 bytes"
SIZE = 1_000_000
BOUND = 5


def direct(secret: bytes, key: int) -> int:
    """Return the mixed key from its definition: one AES block, the derived key by BLAKE2b."""
    material = hashlib.blake2b(secret, digest_size=64).digest()
    derived = hashlib.blake2b(digest_size=16, key=material, person=b"discreet.mixing").digest()
    block = key.to_bytes(8, "little") + bytes(8)
    encryptor = Cipher(algorithms.AES(derived), modes.ECB()).encryptor()  # noqa: S305 - one block as a PRF
    return int.from_bytes((encryptor.update(block) + encryptor.finalize())[:8], "little")


def mixed(secret: bytes, keys: list[int]) -> Words:
    return KeyMixer(secret)(np.array(keys, dtype=np.uint64))


def test_mixed_key_is_the_first_half_of_an_aes_block() -> None:
    keys = [0, 1, 2, 255, 2**31, 2**32 - 1, 2**62, 2**64 - 1]
    assert mixed(SECRET, keys).tolist() == [direct(SECRET, key) for key in keys]


@each("kind", ["u1", "u2", "u4", "u8"])
def test_keys_of_any_width_mix_alike(kind: str) -> None:
    keys = np.arange(200).astype(kind)
    assert np.array_equal(KeyMixer(SECRET)(keys), mixed(SECRET, list(range(200))))


def test_one_secret_mixes_the_same_way_every_time() -> None:
    keys = list(range(1000))
    assert np.array_equal(mixed(SECRET, keys), mixed(bytes(SECRET), keys))


def test_another_secret_mixes_another_way() -> None:
    keys = list(range(1000))
    ours = mixed(SECRET, keys)
    for other in (SECRET[:-1] + b"t", SECRET + b"\0", SECRET[:18]):
        assert not np.isin(mixed(other, keys), ours).any()


def test_no_two_keys_share_a_mixed_key() -> None:
    # AES is a permutation of blocks; half a block collides with probability n^2 / 2^65.
    assert len(np.unique(mixed(SECRET, list(range(100_000))))) == 100_000


def test_mixed_keys_are_uniform() -> None:
    top = (mixed(SECRET, list(range(100_000))) >> np.uint64(56)).astype(np.int64)
    assert chi_square(np.bincount(top, minlength=256), np.full(256, 100_000 / 256)) > ACCEPT


@pytest.mark.parametrize("secret", [None, b""])
def test_mixing_without_a_secret_is_refused(secret: bytes | None) -> None:
    with pytest.raises(SecretError, match=r"require the office's secret.*or choose plain keys"):
        KeyMixer(secret)


def test_a_short_secret_is_refused_and_not_shown() -> None:
    short = b"open sesame 123"
    assert len(short) == SHORTEST_SECRET - 1
    with pytest.raises(SecretError, match=f"at least {SHORTEST_SECRET} bytes") as refusal:
        KeyMixer(short)
    assert "sesame" not in str(refusal.value)
    KeyMixer(short + b"4")


@pytest.fixture(scope="module")
def ptable() -> PTable:
    return PTable.max_entropy(variance=2, bound=BOUND)


def tuples(ptable: PTable, mode: str) -> list[Ints]:
    """Return the noise terms of F, M and T = F + M, all counts far above the bound."""
    words = SeededBits(31).words(2 * SIZE) >> np.uint64(32)
    key_f, key_m = words[:SIZE], words[SIZE:]
    key_t = (key_f + key_m) % np.uint64(2**32)
    return [ptable.draw(1000, key, mode=mode, secret=SECRET) for key in (key_f, key_m, key_t)]


@pytest.fixture(scope="module")
def plain(ptable: PTable) -> list[Ints]:
    return tuples(ptable, "plain")


@pytest.fixture(scope="module")
def mixed_tuples(ptable: PTable) -> list[Ints]:
    return tuples(ptable, "mixed")


def joint_law_of_plain_keys(p: Floats) -> Floats:
    """Return P(F = f, M = m, T = t) for keys that are uniform on the unit interval.

    The area {x < a, y < b, x + y < c} is half the second difference of c^2 above 0.
    """
    cuts = np.append(0.0, np.cumsum(p))
    cuts[-1] = 1.0

    def area(a: float, b: float, c: float) -> float:
        return sum(sign * max(c - s, 0.0) ** 2 / 2 for sign, s in ((1, 0), (-1, a), (-1, b), (1, a + b)))

    def wrapped(a: float, b: float, c: float) -> float:
        return area(a, b, c) + area(a, b, 1 + c) - area(a, b, 1)

    corners = np.array([[[wrapped(a, b, c) for c in cuts] for b in cuts] for a in cuts])
    joint: Floats = np.diff(np.diff(np.diff(corners, axis=0), axis=1), axis=2)
    return joint


def counted(noises: list[Ints]) -> Ints:
    """Return the frequency of each triple of noise terms."""
    width = 2 * BOUND + 1
    place = sum((noise + BOUND) * width**power for noise, power in zip(noises, (2, 1, 0), strict=True))
    return np.bincount(place, minlength=width**3).reshape(width, width, width)


def accuracy(joint: Ints | Floats) -> float:
    """Return how often the best guess of T given F and M is right."""
    return float(joint.max(axis=2).sum() / joint.sum())


def independence(noises: list[Ints], p: Floats) -> float:
    """Return the p-value of joint independence of the three noise terms; values from 3 on are pooled."""
    groups = np.array([0, 0, 0, 1, 2, 3, 4, 5, 6, 6, 6])
    share = np.bincount(groups, p)
    place = sum(groups[noise + BOUND] * 7**power for noise, power in zip(noises, (2, 1, 0), strict=True))
    expected = SIZE * np.array([a * b * c for a, b, c in product(share, repeat=3)])
    return chi_square(np.bincount(place, minlength=7**3), expected)


def law(ptable: PTable) -> Floats:
    return np.array(ptable.rows[-1].probabilities)


def test_plain_keys_have_the_joint_law_of_the_strips(ptable: PTable, plain: list[Ints]) -> None:
    joint = joint_law_of_plain_keys(law(ptable))
    assert joint.sum() == pytest.approx(1)
    found = counted(plain)
    assert found[joint < 1e-15].sum() == 0
    order = np.argsort(joint, axis=None)
    assert chi_square(found.ravel()[order], SIZE * joint.ravel()[order]) > ACCEPT


def test_plain_keys_are_independent_in_pairs(ptable: PTable) -> None:
    joint, p = joint_law_of_plain_keys(law(ptable)), law(ptable)
    for axis in range(3):
        np.testing.assert_allclose(joint.sum(axis=axis), np.outer(p, p), atol=1e-12)


def test_plain_keys_give_the_noise_of_the_total_away(ptable: PTable, plain: list[Ints]) -> None:
    exact = accuracy(joint_law_of_plain_keys(law(ptable)))
    assert exact == pytest.approx(0.635, abs=5e-4)
    # Five standard errors of a share; the best guess on the sample itself is off by far less.
    assert accuracy(counted(plain)) == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / SIZE))


def test_plain_keys_force_the_total_where_both_parts_got_3(plain: list[Ints]) -> None:
    f, m, t = plain
    assert set(t[(f == 3) & (m == 3)].tolist()) == {2, 3}


def test_mixed_keys_leave_the_total_unpredictable(ptable: PTable, mixed_tuples: list[Ints]) -> None:
    at_zero = float(ptable.rows[-1].pmf(0))
    assert at_zero == pytest.approx(0.282, abs=5e-4)
    # The best guess is fitted to the sample: over 121 pairs it may gain a little on top of the standard error.
    assert accuracy(counted(mixed_tuples)) == pytest.approx(at_zero, abs=10 * np.sqrt(at_zero / SIZE))


def test_mixed_keys_make_parts_and_total_independent(ptable: PTable, mixed_tuples: list[Ints]) -> None:
    assert independence(mixed_tuples, law(ptable)) > ACCEPT


def test_the_independence_test_rejects_plain_keys(ptable: PTable, plain: list[Ints]) -> None:
    assert independence(plain, law(ptable)) < REJECT


def test_same_key_same_noise_in_every_call_and_order(ptable: PTable) -> None:
    keys = (SeededBits(8).words(1000) >> np.uint64(32)).astype(np.int64)
    noise = ptable.draw(50, keys, secret=SECRET)
    assert np.array_equal(ptable.draw(50, keys[::-1], secret=SECRET), noise[::-1])
    fresh = PTable.max_entropy(variance=2, bound=BOUND)
    assert [int(fresh.draw(50, key, secret=SECRET)) for key in keys[:50].tolist()] == noise[:50].tolist()
    assert not np.array_equal(ptable.draw(50, keys, secret=SECRET[::-1]), noise)


def test_mixed_noise_is_the_noise_of_the_mixed_key_on_64_bits(ptable: PTable) -> None:
    row = ptable.rows[-1].rounded(2**64)
    for key in (0, 1, 77, 2**32 - 1):
        place = direct(SECRET, key)
        ((noise, _),) = [
            (value, edges)
            for value, edges in zip(row.values, pairwise((0, *row.upper)), strict=True)
            if edges[0] <= place < edges[1]
        ]
        assert int(ptable.draw(9, key, secret=SECRET)) == noise
