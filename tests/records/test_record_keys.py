"""Record keys: the published equation, what they depend on, and what is refused."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, RecordIdError, RecordKeyError, SecretError
from discreet.noise import PTable, SeededBits
from discreet.records.record_keys import (
    IdCheck,
    RecordKeys,
    duplicates,
    is_fraction,
    keys_of,
    ready_keys,
    share_id,
)
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, chi_square
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.arrays import Words

SECRET = b"a secret of the office"
KEYS = RecordKeys(SECRET)
CANARY = "canary-0815"
FRACTION_SPACE = 10**8
"""The key space of cellKey's fractions, which have eight decimals."""

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
id_lists = st.lists(texts, min_size=1, max_size=40, unique=True)


def direct(text: str, secret: bytes = SECRET, version: str = "1") -> int:
    """Return the digest of an id by its equation."""
    material = hashlib.blake2b(secret).digest()
    person = hashlib.blake2b(b"discreet.record:" + version.encode("utf-8"), digest_size=16).digest()
    hashed = hashlib.blake2b(text.encode("utf-8"), digest_size=8, key=material, person=person).digest()
    return int.from_bytes(hashed, "little")


def words(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)


# --- The equation ---


def test_digests_follow_the_equation() -> None:
    ids = ["7", "07", "a", "Zoë", "x" * 500, " ", "\0"]
    assert KEYS.digests(pa.array(ids)).tolist() == [direct(text) for text in ids]


def test_digests_are_the_same_for_ever() -> None:
    # From a BLAKE2b written out after RFC 7693, not from hashlib. Another value would make releases unrepeatable.
    assert KEYS.digests(pa.array([7, 8])).tolist() == [2242895140507406223, 864268895411380949]
    other = RecordKeys(SECRET, "census 2021").digests(pa.array(["7", "8"]))
    assert other.tolist() == [12380872346883050576, 16292839472570885062]


@each("key_space", [2**32, 256, 10**8, 3 * 10**9])
def test_keys_are_digests_modulo_the_key_space(key_space: int) -> None:
    digests = KEYS.digests(pa.array(["7", "8", "9"]))
    assert keys_of(digests, key_space).dtype == np.uint32
    assert keys_of(digests, key_space).tolist() == [direct(text) % key_space for text in "789"]
    assert keys_of(words(2**64 - 1), key_space).tolist() == [(2**64 - 1) % key_space]


@each("power", [1, 8, 31, 32])
def test_keys_of_a_power_of_two_are_those_of_earlier_versions(power: int) -> None:
    digests = SeededBits(11).words(1000)
    assert np.array_equal(keys_of(digests, 2**power), keys_of(digests, 2**power, bits=32))
    assert keys_of(digests).tolist() == (digests & np.uint64(2**32 - 1)).tolist()


@pytest.mark.parametrize("key_space", [10**8, 3 * 10**9])
def test_keys_are_uniform_and_those_of_earlier_versions_are_not(key_space: int) -> None:
    digests = SeededBits(12).words(4_000_000)
    # 32 bits reach the keys below the rest of the division once more often than the others.
    edge = 2**32 % key_space
    expected = np.array([edge, key_space - edge]) / key_space * len(digests)
    p_values = {}
    for bits in (64, 32):
        below = int((keys_of(digests, key_space, bits) < edge).sum())
        p_values[bits] = chi_square(np.array([below, len(digests) - below]), expected)
    assert p_values[64] > ACCEPT
    assert p_values[32] < REJECT


@pytest.mark.parametrize("key_space", one_in(2, [10**8, 3 * 10**9]))
def test_the_noise_of_one_person_has_mean_0(key_space: int) -> None:
    ptable = PTable.max_entropy(variance=2, bound=5, key_space=key_space)
    digests = SeededBits(13).words(4_000_000)
    one = np.ones(len(digests), dtype=np.int64)
    error = (ptable.rows[1].variance / len(digests)) ** 0.5
    means = [ptable.draw(one, keys_of(digests, key_space, bits), mode="plain").mean() / error for bits in (64, 32)]
    assert abs(means[0]) < 4
    assert means[1] < -4


@given(id_lists, st.binary(min_size=14, max_size=80), labels, st.text(" \t\r\n"))
def test_any_secret_label_and_id_follow_the_equation(ids: list[str], core: bytes, version: str, space: str) -> None:
    secret = b"x" + core + b"x"
    found = RecordKeys(secret + space.encode(), version).digests(pa.array(ids))
    assert found.tolist() == [direct(text, secret, version) for text in ids]


@given(id_lists, st.data())
def test_removing_or_reordering_records_changes_no_other_key(ids: list[str], data: st.DataObject) -> None:
    before = dict(zip(ids, KEYS.digests(pa.array(ids)).tolist(), strict=True))
    kept = data.draw(st.permutations(ids))[: data.draw(st.integers(1, len(ids)))]
    assert KEYS.digests(pa.array(kept)).tolist() == [before[text] for text in kept]


@given(id_lists, labels.filter(lambda label: label != "1"))
def test_another_label_gives_other_digests(ids: list[str], version: str) -> None:
    assert not set(RecordKeys(SECRET, version).digests(pa.array(ids))) & set(KEYS.digests(pa.array(ids)))


@given(id_lists, st.binary(min_size=16).filter(lambda secret: secret != SECRET))
def test_another_secret_gives_other_digests(ids: list[str], secret: bytes) -> None:
    assert not set(RecordKeys(secret).digests(pa.array(ids))) & set(KEYS.digests(pa.array(ids)))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, unique=True))
def test_whole_numbers_and_their_text_have_the_same_keys(ids: list[int]) -> None:
    as_text = KEYS.digests(pa.array([str(number) for number in ids]))
    assert np.array_equal(KEYS.digests(pa.array(ids)), as_text)


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.int64()),
    pa.int8(),
    pa.uint64(),
    pa.decimal128(12, 0),
]


@each("kind", KINDS, ids=str)
def test_every_exact_kind_of_id_has_the_same_keys(kind: pa.DataType) -> None:
    ids = pa.array([7, 100, 8]).cast(pa.string())
    made = ids.cast(kind.value_type).dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else ids.cast(kind)
    assert made.type == kind
    assert KEYS.digests(made).tolist() == [direct("7"), direct("100"), direct("8")]
    assert KEYS.digests(made.slice(1, 1)).tolist() == [direct("100")]


def test_no_ids_have_no_digests() -> None:
    assert KEYS.digests(pa.array([], pa.string())).tolist() == []


@each(
    ("ids", "kind"),
    [
        (pa.array([1.0, 2.0]), "double"),
        (pa.array([1.0], pa.float32()), "float"),
        (pa.array([Decimal("1.5")]), "decimal128(2, 1)"),
        (pa.array([True]), "bool"),
        (pa.array([b"x"]), "binary"),
        (pa.array([[1]]), "list<item: int64>"),
    ],
)
def test_ids_that_are_not_exact_are_refused(ids: pa.Array, kind: str) -> None:
    with pytest.raises(RecordIdError) as caught:
        KEYS.digests(ids, "PERSON_ID")
    what = f"PERSON_ID contains values of type {kind}, but ids must be exact: text or whole numbers."
    assert str(caught.value) == f"{what} Convert the column, or specify another column."


@pytest.mark.parametrize("ids", [[CANARY, None, "", CANARY], [None, ""], ["", None]])
def test_missing_ids_are_refused(ids: list[str | None]) -> None:
    first = 2 if ids[0] == CANARY else 1
    with pytest.raises(
        RecordIdError, match=f"PERSON_ID is missing in 2 records; the first is record {first}"
    ) as caught:
        KEYS.digests(pa.array(ids, pa.string()), "PERSON_ID")
    assert CANARY not in str(caught.value)
    assert caught.value.column == "PERSON_ID"


def test_a_column_without_a_type_is_missing_throughout() -> None:
    with pytest.raises(RecordIdError, match="missing in 3 records; the first is record 1"):
        KEYS.digests(pa.nulls(3))


@each("secret", [b"", b"canary", "a text instead of bytes", None])
def test_a_weak_secret_is_refused_and_not_shown(secret: bytes) -> None:
    with pytest.raises(SecretError, match="The secret") as caught:
        RecordKeys(secret)
    assert "canary" not in str(caught.value)


@each("version", ["", 1, None, "\ud800"])
def test_a_label_must_be_text(version: str) -> None:
    with pytest.raises(ParameterError, match=r"version label of record keys must be a non-empty text, such as 1\."):
        RecordKeys(SECRET, version)


def test_the_secret_is_not_kept() -> None:
    assert SECRET.decode() not in repr(KEYS) + repr(vars(KEYS))


# --- Uniformity ---


SIZE = 100_000


def p_of_bytes(values: NDArray[np.unsignedinteger], byte: int) -> float:
    """Return the p-value of the hypothesis that one byte of the values is uniform."""
    seen = np.bincount((values >> np.array(8 * byte, values.dtype)).astype(np.int64) & 255, minlength=256)
    return chi_square(seen, np.full(256, len(values) / 256))


@each("byte", range(8), every=3)
def test_digests_are_uniform(byte: int) -> None:
    digests = KEYS.digests(pa.array(np.arange(SIZE)))
    assert p_of_bytes(digests, byte) > ACCEPT
    # Keys a tenth of which were drawn twice and the larger taken are told from uniform ones.
    tenth = digests[: SIZE // 10]
    skewed = np.concatenate([np.maximum(tenth, np.roll(tenth, 1)), digests[SIZE // 10 :]])
    assert byte < 7 or p_of_bytes(skewed, byte) < REJECT


def test_keys_of_neighbouring_ids_are_independent() -> None:
    keys = keys_of(KEYS.digests(pa.array(np.arange(SIZE)))) >> np.uint32(28)
    pairs = keys[:-1].astype(np.int64) * 16 + keys[1:]
    assert chi_square(np.bincount(pairs, minlength=256), np.full(256, len(pairs) / 256)) > ACCEPT
    # A counter in place of a hash has uniform keys too, but each tells the next.
    counted = (np.arange(SIZE) * 16 // SIZE)[:-1] * 16 + (np.arange(SIZE) * 16 // SIZE)[1:]
    assert chi_square(np.bincount(counted, minlength=256), np.full(256, len(pairs) / 256)) < REJECT


# --- Every record has an id of its own ---


def checked(*batches: list[str | None]) -> IdCheck:
    check = IdCheck(KEYS, "PERSON_ID")
    for batch in batches:
        check.digests(pa.array(batch, pa.string()))
    return check


def test_a_check_returns_digests_and_counts_records() -> None:
    check = IdCheck(KEYS, "PERSON_ID")
    assert check.digests(pa.array(["a", "b"])).tolist() == [direct("a"), direct("b")]
    assert check.digests(pa.array(["c"])).tolist() == [direct("c")]
    check.finish()
    assert check.records == 3


def test_missing_ids_are_counted_through_all_batches() -> None:
    check = checked([CANARY, "b"], [], ["c", None, ""], ["d", None])
    with pytest.raises(RecordIdError) as caught:
        check.finish()
    todo = "Every record needs a unique id: complete the ids, or specify a column with an id in every record."
    assert str(caught.value) == f"PERSON_ID is missing in 3 records; the first is record 4. {todo}"


def test_repeated_ids_are_found_across_batches() -> None:
    check = checked(["a", CANARY, "b"], ["c", "b"], [CANARY, CANARY])
    with pytest.raises(RecordIdError) as caught:
        check.finish()
    what = "5 records share their PERSON_ID with another record, such as 2 and 6."
    todo = "Every record needs a unique id: remove duplicates, or specify the column that identifies records."
    assert str(caught.value) == f"{what} {todo}"


def test_a_number_and_its_text_are_one_id() -> None:
    check = IdCheck(KEYS, "PERSON_ID")
    check.digests(pa.array([7]))
    check.digests(pa.array(["7"]))
    with pytest.raises(RecordIdError, match="such as 1 and 2"):
        check.finish()


class Colliding(RecordKeys):
    """Keys whose digests collide wherever ids begin alike, to stand for a collision by chance."""

    def digests(self, ids: pa.Array, column: str = "The id") -> Words:
        assert column
        return words(*(ord(text[0]) for text in ids.to_pylist()))


@pytest.mark.parametrize(
    ("batches", "refused"),
    [
        ([["a1", "b1"], ["a2"]], False),
        ([["a1", "b1"], ["a1"]], True),
        ([["a1", "b1", "b1"], ["a2"]], True),
    ],
)
def test_a_lone_pair_that_collides_by_chance_is_looked_at_again(batches: list[list[str]], refused: bool) -> None:
    check = IdCheck(Colliding(SECRET), "PERSON_ID")
    for batch in batches:
        check.digests(pa.array(batch))

    def again() -> Iterator[pa.Array]:
        return map(pa.array, batches)

    with pytest.raises(RecordIdError, match="share their PERSON_ID"):
        check.finish()
    if refused:
        with pytest.raises(RecordIdError, match="share their PERSON_ID"):
            check.finish(again)
    else:
        check.finish(again)


def test_two_records_are_compared_by_their_ids() -> None:
    batches = [pa.array([7, 8]), pa.array(["9", "7"])]
    assert share_id(batches, 1, 4)
    assert share_id(batches, 4, 1)
    assert not share_id(batches, 1, 3)


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=12), max_size=6))
def test_duplicates_are_those_that_counting_finds(batches: list[list[int]]) -> None:
    every = [value for batch in batches for value in batch]
    again = [place for place, value in enumerate(every, start=1) if every.count(value) > 1]
    expected = None
    if again:
        first = again[0]
        expected = (len(again), first, every.index(every[first - 1], first) + 1)
    assert duplicates([words(*batch) for batch in batches]) == expected


# --- Keys that the data bring along ---


@each(
    "values",
    [
        pa.array([0, 7, 255]),
        pa.array([0, 7, 255], pa.uint8()),
        pa.array([0, 7, 255], pa.uint64()),
        pa.array([0, 7, 255]).dictionary_encode(),
        pa.array([0, 7, 255]).cast(pa.decimal128(19, 0)),
        pa.array(["0", "007", "+255"]),
        pa.array(["0", "7", "255"], pa.string_view()),
        pa.array(["0", "7", "255"]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_whole_numbers_are_keys_as_they_are(values: pa.Array) -> None:
    assert not is_fraction(values)
    found = ready_keys(values, 256, "RKEY")
    assert found.dtype == np.uint64
    assert found.tolist() == [0, 7, 255]
    assert ready_keys(values.slice(1), 256, "RKEY").tolist() == [7, 255]


@given(st.lists(st.integers(0, FRACTION_SPACE), min_size=1))
def test_fractions_with_eight_decimals_are_exact(keys: list[int]) -> None:
    expected = [key % FRACTION_SPACE for key in keys]
    written = [f"{key // FRACTION_SPACE}.{key % FRACTION_SPACE:08d}" for key in keys]
    for values in (pa.array([key / FRACTION_SPACE for key in keys]), pa.array(written), pa.array(map(float, written))):
        assert is_fraction(values)
        assert ready_keys(values, FRACTION_SPACE, "RKEY").tolist() == expected


@given(st.integers(0, FRACTION_SPACE))
def test_the_shortest_text_of_a_fraction_is_read(key: int) -> None:
    # As R and Python print numbers: 1e-05, 1.2e-07, 0.5.
    values = pa.array([repr(key / FRACTION_SPACE), "0.5"])
    assert ready_keys(values, FRACTION_SPACE, "RKEY").tolist() == [key % FRACTION_SPACE, FRACTION_SPACE // 2]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([Decimal("0.00000012"), Decimal("1.00000000"), Decimal("0.50000000")]),
        pa.array(["1.2e-7", "1", ".5"]),
        pa.array(["1.2E-07", "1.0", "5e-1"]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_fractions_may_be_written_in_many_ways(values: pa.Array) -> None:
    assert is_fraction(values)
    assert ready_keys(values, FRACTION_SPACE, "RKEY").tolist() == [12, 0, 50_000_000]


def test_fractions_fall_on_any_key_space() -> None:
    assert ready_keys(pa.array([0.0, 0.5, 0.25, 1.0]), 2**32, "RKEY").tolist() == [0, 2**31, 2**30, 0]


@each(
    ("values", "how_many", "first", "why"),
    [
        (pa.array([3, None, 256]), 2, 2, "is missing"),
        (pa.array(["3", "", None]), 2, 2, "is missing"),
        (pa.array([0.5, None]), 1, 2, "is missing"),
        (pa.nulls(2), 2, 1, "is missing"),
        (pa.array([3, -5, 256]), 2, 2, "is negative"),
        (pa.array(["3", "-5"]), 1, 2, "is negative"),
        (pa.array([0.5, -0.1]), 1, 2, "is negative"),
        (pa.array([3, 2**62, 256]), 2, 2, "is too large"),
        (pa.array([3, 2**64 - 1], pa.uint64()), 1, 2, "is too large"),
        (pa.array(["3", "9" * 400]), 1, 2, "is too large"),
        (pa.array([0.5, float("nan"), float("inf")]), 2, 2, "is not a number"),
        (pa.array(["3", "nan", "0x1f", "1,5", " 7", "seven", "1e"]), 6, 2, "is not a number"),
        (pa.array([0.5, 1.00000001, float("inf")]), 2, 2, "is larger than 1, in a column of fractions"),
        (pa.array(["7", "0.5", "8"]), 2, 1, "is larger than 1, in a column of fractions"),
        (pa.array([0.25, 7.0]), 1, 2, "is larger than 1, in a column of fractions"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(values: pa.Array, how_many: int, first: int, why: str) -> None:
    with pytest.raises(RecordKeyError) as caught:
        ready_keys(values, 256, "RKEY", offset=1000)
    records = "1 record" if how_many == 1 else f"{how_many} records"
    start = f"RKEY has no valid key in {records}: in record 1,00{first} it {why}."
    accepted = (
        "Keys must be whole numbers from 0 to 255, or fractions from 0 to 1 in double precision, as cellKey creates "
        "them. A column must not mix the two. Correct the column, or specify another."
    )
    assert str(caught.value) == f"{start} {accepted}"


@each(
    "values",
    [pa.array([0.5], pa.float32()), pa.array([True]), pa.array([b"7"]), pa.array([[7]])],
    ids=lambda values: str(values.type),
)
def test_kinds_that_cannot_hold_keys_are_refused(values: pa.Array) -> None:
    with pytest.raises(RecordKeyError, match=r"RKEY contains values of type .*\. Keys must be whole numbers"):
        ready_keys(values, 256, "RKEY")


def test_a_batch_that_departs_from_the_column_is_refused() -> None:
    assert ready_keys(pa.array(["0", "1"]), 256, "RKEY", fraction=True).tolist() == [0, 0]
    with pytest.raises(RecordKeyError, match="is larger than 1, in a column of fractions"):
        ready_keys(pa.array(["0", "7"]), 256, "RKEY", fraction=True)
    with pytest.raises(RecordKeyError, match="is a fraction, in a column of whole numbers"):
        ready_keys(pa.array(["0.5", "1.0"]), 256, "RKEY", fraction=False)


@pytest.mark.parametrize("key_space", [0, -1, 2**53 + 1])
def test_a_key_space_that_is_none_is_refused(key_space: int) -> None:
    with pytest.raises(ParameterError, match="key_space must be a whole number from 1 to"):
        ready_keys(pa.array([1]), key_space, "RKEY")


@given(st.integers(1, 2**53), st.data())
def test_every_key_below_the_key_space_is_read(key_space: int, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(0, key_space - 1), min_size=1))
    for values in (pa.array(keys), pa.array(map(str, keys))):
        assert ready_keys(values, key_space, "RKEY").tolist() == keys
