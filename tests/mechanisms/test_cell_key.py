"""The cell key method: the same participants get the same noise, and the noise has the law that was asked for."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import WORDS
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.truncated import Truncated, TruncatedLaplace
from discreet.noise.uniform import Uniform
from discreet.protection.pipeline import protect
from discreet.release.record import Record as ReleaseRecord
from discreet.release.record import record_from_json
from tests.each import each
from tests.mechanisms.lots import batch
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.protection.town import SECRET, all_cells, cells, frame, participants, squares
from tests.quick import examples, up_to
from tests.tabulation.small_data import by, counted, programme, programmes, records

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.engines.duckdb import DuckDB
    from discreet.noise.distribution import Noise
    from discreet.programme.model import Programme
    from discreet.release.release import Release
    from tests.tabulation.small_data import Cell

PTABLE = PTable.max_entropy(variance=2, bound=5)
WIDER = PTable.max_entropy(variance=2.6, bound=5)
"""The same with 30 % more variance, which a test must tell apart."""
ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
WIDER_ZEROS = PTable.max_entropy(variance=2.6, bound=5, perturb_zeros=True)
RANDOM = np.random.default_rng(11)
KEYS = RANDOM.integers(0, 2**32, 20_000, dtype=np.uint32)
COUNTS = RANDOM.integers(1, 12, 20_000)


# --- The mechanism alone ---


def test_plain_keys_are_looked_up_as_they_are() -> None:
    published = CellKey(PTABLE, mode="plain").publish(batch(COUNTS, KEYS))
    assert np.array_equal(published, COUNTS + PTABLE.draw(COUNTS, KEYS, mode="plain"))
    coarse = PTABLE.on_grid(256)
    few = (KEYS % 256).astype(np.uint32)
    assert CellKey(coarse, mode="plain").key_space == 256
    assert np.array_equal(
        CellKey(coarse, mode="plain").publish(batch(COUNTS, few)), COUNTS + coarse.draw(COUNTS, few, mode="plain")
    )


def test_mixed_keys_are_mixed_with_the_secret() -> None:
    published = CellKey(PTABLE, secret=SECRET).publish(batch(COUNTS, KEYS))
    assert np.array_equal(published, COUNTS + PTABLE.draw(COUNTS, KEYS, mode="mixed", secret=SECRET))
    other = CellKey(PTABLE, secret=b"another secret of the office").publish(batch(COUNTS, KEYS))
    plain = CellKey(PTABLE, mode="plain").publish(batch(COUNTS, KEYS))
    for different in (other, plain):
        assert 0.1 < (published == different).mean() < 0.5


@pytest.mark.parametrize("law", [TwoSidedGeometric(epsilon=0.5), DiscreteGaussian(sigma=1.5)])
def test_a_law_serves_every_count(law: Noise) -> None:
    plain, mixed = CellKey(law, mode="plain"), CellKey(law, secret=SECRET)
    assert (plain.key_space, plain.perturbs_zeros, mixed.perturbs_zeros) == (2**32, False, False)
    assert np.array_equal(plain.publish(batch(COUNTS, KEYS)) - COUNTS, law.draw(KEYS, 2**32))
    assert np.array_equal(mixed.publish(batch(COUNTS, KEYS)) - COUNTS, law.draw(KeyMixer(SECRET)(KEYS), WORDS))
    assert not mixed.publish(batch(np.zeros(9))).any()


@each("mode", ["mixed", "plain"])
@each("count", [1, 2, 7, 1000])
def test_the_noise_of_a_count_has_the_law_of_its_row(count: int, mode: str) -> None:
    counts = np.full(len(KEYS), count)
    noise = CellKey(PTABLE, secret=SECRET, mode=mode).publish(batch(counts, KEYS)) - counts
    assert p_value(noise, PTABLE.rows[min(count, 5)]) > ACCEPT
    # A 1 has as much variance as it can have: for it the other law has 30 % less.
    other = WIDER if count > 1 else PTable.max_entropy(variance=PTABLE.rows[1].variance / 1.3, bound=5)
    assert p_value(noise, other.rows[min(count, 5)]) < REJECT


def test_nobody_is_published_for_nobody() -> None:
    for mechanism in (CellKey(PTABLE, secret=SECRET), CellKey(ZEROS, secret=SECRET)):
        assert mechanism.publish(batch([], words=[])).tolist() == []
    assert not CellKey(PTABLE, secret=SECRET).publish(batch(np.zeros(1000))).any()


@pytest.mark.parametrize("mode", ["mixed", "plain"])
def test_empty_cells_have_the_law_of_row_zero_and_of_no_other(mode: str) -> None:
    zero = PTableRow(0, (-2, 0, 2), (0.25, 0.5, 0.25))
    mechanism = CellKey(PTable((zero, *ZEROS.rows[1:])), secret=SECRET, mode=mode)
    words = RANDOM.integers(0, 2**64, 20_000, dtype=np.uint64)
    noise = mechanism.publish(batch(np.zeros(len(words)), words=words))
    mixed = KeyMixer(SECRET).of_cells(words, np.zeros(len(words), dtype=np.int64))
    assert np.array_equal(noise, zero.draw(mixed, WORDS))
    assert p_value(noise, zero) > ACCEPT
    assert p_value(noise, PTableRow(0, (-2, 0, 2), (0.325, 0.35, 0.325))) < REJECT


@pytest.mark.parametrize("mode", ["mixed", "plain"])
def test_a_law_gives_empty_cells_noise_where_that_is_asked_for(mode: str) -> None:
    law = TwoSidedGeometric(epsilon=0.5)
    words = RANDOM.integers(0, 2**64, len(COUNTS), dtype=np.uint64)
    counts = np.where(np.arange(len(COUNTS)) % 2, COUNTS, 0)
    silent, asked = (CellKey(law, secret=SECRET, mode=mode, perturb_zeros=zeros) for zeros in (False, True))
    assert (silent.perturbs_zeros, asked.perturbs_zeros) == (False, True)
    fixed, noisy = silent.publish(batch(counts, KEYS)), asked.publish(batch(counts, KEYS, words))
    empty = counts == 0
    assert not fixed[empty].any()
    assert np.array_equal(fixed[~empty], noisy[~empty])
    mixed = KeyMixer(SECRET).of_cells(words[empty], counts[empty])
    assert np.array_equal(noisy[empty], law.draw(mixed, WORDS))
    assert p_value(noisy[empty], law) > ACCEPT
    assert p_value(noisy[empty], TwoSidedGeometric(epsilon=0.5 / 1.3)) < REJECT


@each(
    ("noise", "law"),
    [
        (PTABLE, "max-entropy"),
        (PTABLE.on_grid(10**8), "max-entropy"),
        (ZEROS, "max-entropy"),
        (PTable.least_disclosure(variance=2, bound=3), "max-entropy"),
        (PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 1), (0.5, 0.5)))), "p-table"),
        (TwoSidedGeometric(epsilon=0.5), "geometric"),
        (TruncatedLaplace(epsilon=0.5, bound=7), "truncated-laplace"),
        (Truncated(Uniform(bound=6), bound=4), "truncated"),
        (Truncated(Truncated(DiscreteGaussian(sigma=2), bound=6), bound=4), "truncated"),
    ],
)
def test_a_record_tells_the_noise_as_it_was(noise: PTable | Noise, law: str) -> None:
    described = CellKey(noise, secret=SECRET, version="2").described()
    assert described["law"] == law
    written = ReleaseRecord(programme="eu2021:LU", **described).to_json()
    record = record_from_json(written, Path("record.json"))
    assert (record.mechanism, record.spsn, record.key_mode, record.key_version) == ("cell-key", True, "mixed", "2")
    if isinstance(noise, PTable):
        assert isinstance(record.noise, PTable)
        assert record.noise.key_space == record.key_space == noise.key_space
        assert [row.values for row in record.noise.rows] == [row.values for row in noise.rows]
        found = [row.probabilities for row in record.noise.rows]
        assert all(np.allclose(a, b.probabilities, atol=1e-9) for a, b in zip(found, noise.rows, strict=True))
    else:
        assert record.noise.large == noise


@pytest.mark.parametrize("zeros", [False, True])
def test_a_record_tells_whether_a_law_gave_empty_cells_noise(zeros: bool) -> None:
    mechanism = CellKey(TwoSidedGeometric(epsilon=0.5), secret=SECRET, perturb_zeros=zeros)
    assert ReleaseRecord(programme="x", **mechanism.described()).zeros_are_noisy is zeros


def test_nothing_secret_is_described_or_printed() -> None:
    mechanism = CellKey(PTABLE, secret=SECRET)
    assert "secret for the tests" not in f"{mechanism!r} {mechanism} {mechanism.described()}"


# --- What is refused ---


@pytest.mark.parametrize("noise", [PTABLE, TwoSidedGeometric(epsilon=0.5)])
def test_mixed_keys_need_a_secret(noise: PTable | Noise) -> None:
    with pytest.raises(SecretError, match="Mixed keys require the office's secret, but none was given"):
        CellKey(noise)
    with pytest.raises(SecretError, match="The secret is too short: it must have at least 16 bytes"):
        CellKey(noise, secret=b"short")
    assert CellKey(noise, mode="plain").secret is None


@pytest.mark.parametrize("mode", ["mixed", "plain"])
def test_noise_on_empty_cells_needs_a_secret_before_anything_is_counted(mode: str) -> None:
    with pytest.raises(SecretError, match=r"Noise on empty cells is drawn by coordinates\. Pass the office's"):
        CellKey(ZEROS, mode=mode)
    with pytest.raises(SecretError, match="The secret is too short"):
        CellKey(ZEROS, mode=mode, secret=b"short")
    with pytest.raises(SecretError, match="Noise on empty cells is drawn by coordinates"):
        CellKey(TwoSidedGeometric(epsilon=1), mode=mode, perturb_zeros=True)


def test_a_ptable_whose_zeros_stay_cannot_give_them_noise() -> None:
    with pytest.raises(ParameterError, match=r"This p-table does not perturb zeros\. Make it with perturb_zeros"):
        CellKey(PTABLE, secret=SECRET, perturb_zeros=True)


@each("bits", [0, 16, 65, True, None])
def test_other_parts_of_a_digest_are_refused(bits: Any) -> None:  # noqa: ANN401 - wrong types are the point
    with pytest.raises(ParameterError, match="key_bits must be 64, or 32 for a release made by an earlier version"):
        CellKey(PTABLE, secret=SECRET, key_bits=bits)


@pytest.mark.parametrize(("key_space", "mark"), [(2**32, None), (256, None), (10**8, 64)])
def test_a_record_marks_keys_that_earlier_versions_made_otherwise(key_space: int, mark: int | None) -> None:
    assert CellKey(PTABLE.on_grid(key_space), secret=SECRET).described()["key_bits"] == mark
    assert CellKey(PTABLE.on_grid(key_space), secret=SECRET, key_bits=32).described()["key_bits"] is None


def test_modes_and_key_spaces_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no key mode 'plan'\. Did you mean plain"):
        CellKey(PTABLE, secret=SECRET, mode="plan")
    with pytest.raises(ParameterError, match=re.escape("cell key: key_space must be at most 4294967296, not")):
        CellKey(PTABLE.on_grid(2**40), secret=SECRET)


# --- Same participants, same noise ---


def everyone(release: Release, spec: Programme, people: list[dict[str, str]]) -> dict[tuple[str, Cell], frozenset[int]]:
    return {
        (table.id, cell): numbers
        for table in spec.tables
        for cell, numbers in participants(spec, table, people).items()
        if table.id in release.ids
    }


@examples(given(st.data()), quick=6, slow=40)
@pytest.mark.parametrize("mechanism", [CellKey(PTABLE, secret=SECRET), CellKey(PTABLE.on_grid(4096), mode="plain")])
def test_the_same_participants_get_the_same_noise_in_every_table(
    mechanism: CellKey, engine: DuckDB, data: st.DataObject
) -> None:
    spec = data.draw(programmes())
    people = data.draw(records(spec))
    keys = np.random.default_rng(5).integers(0, mechanism.key_space, len(people)).tolist()
    release = protect(frame(spec, people, key=keys), spec, mechanism, key="key", engine=engine)
    published = all_cells(release)
    values: dict[frozenset[int], set[int]] = {}
    for place, numbers in everyone(release, spec, people).items():
        values.setdefault(numbers, set()).add(published.get(place, 0))
    assert all(len(found) == 1 for found in values.values())
    # Empty cells stay empty, and have no row.
    assert values.get(frozenset(), {0}) == {0}
    assert 0 not in published.values()
    # And it is this noise: that of the sum of the participants' keys.
    for numbers, found in values.items():
        if numbers:
            count = np.array([len(numbers)])
            total = np.array([sum(keys[n] for n in numbers) % mechanism.key_space], dtype=np.uint32)
            assert found == {int(mechanism.publish(batch(count, total))[0])}


def held(spec: Programme, table: str, cell: Cell) -> frozenset[tuple[str, frozenset[str]]]:
    """Return what a cell holds: for every topic that it does not sum over, the finest codes."""
    found = set()
    (given_table,) = [t for t in spec.tables if t.id == table]
    for breakdown, code in zip(given_table.breakdowns, cell, strict=True):
        tree = spec.topics[breakdown.topic].tree
        assert tree
        leaves = frozenset(leaf for leaf in tree.leaves if code in tree.path(leaf))
        if code != "_T" and leaves != frozenset(tree.leaves):
            found.add((breakdown.topic, leaves))
    return frozenset(found)


@settings(max_examples=up_to(40))
@given(st.data())
def test_empty_cells_that_are_the_same_get_the_same_noise_in_every_table(engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes())
    people = data.draw(records(spec))
    ids = [f"person {n}" for n in range(len(people))]
    release = protect(frame(spec, people, id=ids), spec, CellKey(ZEROS, secret=SECRET), id="id", engine=engine)
    published = all_cells(release)
    values: dict[Any, set[int]] = {}
    for (table, cell), numbers in everyone(release, spec, people).items():
        (population,) = [t.population for t in spec.tables if t.id == table]
        same = numbers or (population, held(spec, table, cell))
        values.setdefault(same, set()).add(published.get((table, cell), 0))
    assert all(len(found) == 1 for found in values.values())


# --- The noise as published, over many cells ---

BASE = squares(120)
GRID = programme(BASE, [by(given_topic) for given_topic in BASE])


def grid(engine: DuckDB, mechanism: CellKey, each: int, seed: int = 3) -> tuple[Ints, Ints]:
    """Return true and published counts of 14,400 cells with about `each` people, those that nobody is in too."""
    random = np.random.default_rng(seed)
    size = 120 * 120 * each
    places = random.integers(0, 120, (2, size))
    data = pa.table(
        {
            "X": pa.DictionaryArray.from_arrays(places[0].astype(np.int16), pa.array(BASE[0].levels[0].codes)),
            "Y": pa.DictionaryArray.from_arrays(places[1].astype(np.int16), pa.array(BASE[1].levels[0].codes)),
            "key": random.integers(0, mechanism.key_space, size),
        }
    )
    release = protect(data, GRID, mechanism, key="key", engine=engine)
    true = np.bincount(places[0] * 120 + places[1], minlength=120 * 120)
    found = cells(release.table("1"))
    published = np.array([found.get((f"X{x}", f"Y{y}"), 0) for x in range(120) for y in range(120)])
    return true, published


@pytest.mark.parametrize("mode", ["mixed", "plain"])
def test_published_noise_is_unbiased_with_the_variance_and_the_bound_asked_for(mode: str, engine: DuckDB) -> None:
    true, published = grid(engine, CellKey(PTABLE, secret=SECRET, mode=mode), each=12)
    large = true >= 5
    noise = (published - true)[large]
    size = len(noise)
    assert size > 13_000
    assert p_value(noise, PTABLE.rows[-1]) > ACCEPT
    assert p_value(noise, WIDER.rows[-1]) < REJECT
    # Five standard errors each; the variance of V * 1.3 is more than twice that far away.
    assert abs(noise.mean()) < 5 * (2 / size) ** 0.5
    fourth = float(np.dot(np.power(PTABLE.rows[-1].values, 4), PTABLE.rows[-1].probabilities))
    error = 5 * ((fourth - 4) / size) ** 0.5
    assert abs((noise**2).mean() - 2) < error < 0.3
    assert noise.min() == -5
    assert noise.max() == 5


def test_published_noise_of_a_law_has_this_law(engine: DuckDB) -> None:
    law, wider = DiscreteGaussian(sigma=1.5), DiscreteGaussian(sigma=1.5 * 1.3**0.5)
    true, published = grid(engine, CellKey(law, secret=SECRET), each=2)
    noise = (published - true)[true > 0]
    assert p_value(noise, law) > ACCEPT
    assert p_value(noise, wider) < REJECT
    assert (published[true == 0] == 0).all()
    # A law knows no zero: small counts may be published as negative ones.
    assert published.min() < 0


@pytest.mark.parametrize("threshold", [1, 2])
def test_counts_up_to_the_threshold_are_never_published(threshold: int, engine: DuckDB) -> None:
    ptable = PTable.max_entropy(variance=3, bound=5, threshold=threshold)
    true, published = grid(engine, CellKey(ptable, secret=SECRET), each=2)
    assert set(range(1, threshold + 1)) <= set(true.tolist())
    assert not np.isin(published, range(1, threshold + 1)).any()
    assert published.min() == 0
    assert ((published == 0) & (true > 0)).any()
    # Without a threshold they are.
    _, usual = grid(engine, CellKey(PTABLE, secret=SECRET), each=2)
    assert set(range(1, threshold + 1)) <= set(usual.tolist())


# --- Noise on empty cells ---


def sparse(version: str = "1", first: str = "X0") -> tuple[Programme, pa.Table, CellKey]:
    """Return tables of 14,400 cells, nearly all of them empty, in two orders of the columns."""
    x, y = BASE
    spec = programme(BASE, [by(x), by(y)], [by(y, total=False), by(x)])
    data = pa.table({"X": [first, "X1"], "Y": ["Y0", "Y1"], "id": ["a", "b"]})
    return spec, data, CellKey(ZEROS, secret=SECRET, version=version)


def empty_noise(engine: DuckDB, version: str = "1", first: str = "X0", table: str = "1") -> Ints:
    """Return what is published for the cells that are empty in any case."""
    spec, data, mechanism = sparse(version, first)
    found = cells(protect(data, spec, mechanism, id="id", engine=engine).table(table))
    turned = -1 if table == "2" else 1
    return np.array([found.get((f"X{x}", f"Y{y}")[::turned], 0) for x in range(3, 120) for y in range(120)])


def test_empty_cells_get_the_noise_of_row_zero(engine: DuckDB) -> None:
    noise = empty_noise(engine)
    assert p_value(noise, ZEROS.rows[0]) > ACCEPT
    assert p_value(noise, WIDER_ZEROS.rows[0]) < REJECT
    assert (noise.min(), noise.max()) == (-5, 5)


def test_an_empty_cell_has_its_noise_whatever_the_table(engine: DuckDB) -> None:
    assert np.array_equal(empty_noise(engine), empty_noise(engine, table="2"))


def test_empty_cells_keep_their_noise_until_the_version_changes(engine: DuckDB) -> None:
    noise = empty_noise(engine)
    assert np.array_equal(noise, empty_noise(engine))
    # Two noises of an empty cell could be averaged: it has one, whatever the other records are.
    assert np.array_equal(noise, empty_noise(engine, first="X2"))
    chance = float(np.square(ZEROS.rows[0].probabilities).sum())
    # As often the same as two independent draws: within five standard errors.
    other = empty_noise(engine, version="2")
    assert abs((noise == other).mean() - chance) < 5 * (chance * (1 - chance) / len(noise)) ** 0.5


def test_rows_and_columns_of_empty_cells_are_not_alike(engine: DuckDB) -> None:
    # Words of coordinates add up; mixed with the secret no sum of four corners is left.
    noise = empty_noise(engine).reshape(117, 120)
    corners = noise[1:, 1:] - noise[1:, :-1] - noise[:-1, 1:] + noise[:-1, :-1]
    assert corners.var() == pytest.approx(4 * 2, rel=0.1)


def test_occupied_cells_keep_their_noise_by_keys_where_empty_ones_have_some(engine: DuckDB) -> None:
    spec, data, mechanism = sparse()
    found = cells(protect(data, spec, mechanism, id="id", engine=engine).table("1"))
    other = cells(protect(data.slice(0, 1), spec, mechanism, id="id", engine=engine).table("1"))
    # The first record alone is in these, with and without the second.
    assert found.get(("X0", "Y0"), 0) == other.get(("X0", "_T"), 0) == other.get(("_T", "Y0"), 0)


def test_counts_and_keys_are_those_of_a_count_by_hand(engine: DuckDB) -> None:
    spec, data, mechanism = sparse()
    plain = replace(mechanism, noise=PTABLE)
    release = protect(data, spec, plain, id="id", engine=engine, keep_exact=True)
    people = [{"X": "X0", "Y": "Y0"}, {"X": "X1", "Y": "Y1"}]
    for table in spec.tables:
        expected = {cell: n for cell, (n, _) in counted(spec, table, people, [0, 0], 256).items()}
        assert cells(release.exact(table.id)) == expected
        assert set(cells(release.table(table.id))) <= set(expected)
