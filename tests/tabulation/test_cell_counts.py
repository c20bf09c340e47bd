"""Cells: counts and keys in one word, and sums along any axis, dense or sparse, as by adding one by one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.programme.axis import counted_axes
from discreet.tabulation import cell_counts as cells_module
from discreet.tabulation.cell_counts import WIDE, Cells, Step, counts_of, from_groups, grouped, keys_of, packed, roll_up
from tests.each import each
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, topic, topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.duckdb import DuckDB
    from discreet.engines.engine import Engine
    from discreet.programme.axis import Axis
    from discreet.programme.model import Topic

# One just below 2^32 in which the sum of two keys does not fit into 32 bits.
KEY_SPACES = [2**32, 4_000_000_007, 10**8, 4096, 256, 7]
Sums = dict[tuple[int, ...], tuple[int, int]]


def axis_of(given_topic: Topic) -> Axis:
    return counted_axes(programme([given_topic], [by(given_topic)]))[given_topic.name]


def by_cell(cells: Cells) -> Sums:
    index, words = cells.occupied()
    places = [tuple(int(n) for n in np.unravel_index(flat, cells.shape)) if cells.shape else () for flat in index]
    return dict(zip(places, zip(counts_of(words).tolist(), keys_of(words).tolist(), strict=True), strict=True))


def one_by_one(found: Sums, step: Step, key_space: int) -> Sums:
    """Return the sums along an axis, cell by cell."""
    total: Sums = {}
    for place, (count, key) in found.items():
        coarse = [int(step.axis.up(step.fine, step.coarse)[place[step.place]])] if step.coarse else []
        above = (*place[: step.place], *coarse, *place[step.place + 1 :])
        n, k = total.get(above, (0, 0))
        total[above] = n + count, (k + key) % key_space
    return total


# --- Words ---


def test_a_word_holds_a_count_and_a_key() -> None:
    counts, keys = np.array([0, 1, 2**32 - 1, 80_000_000]), np.array([0, 2**32 - 1, 2**32 - 1, 5])
    words = packed(counts, keys)
    assert [array.dtype.name for array in (words, counts_of(words), keys_of(words))] == ["uint64", "int64", "uint32"]
    assert counts_of(words).tolist() == counts.tolist()
    assert keys_of(words).tolist() == keys.tolist()


def test_sums_of_words_are_sums_of_counts_and_of_keys() -> None:
    words = packed(np.array([3, 4, 5]), np.array([2**32 - 1, 2**32 - 1, 7]))
    total = words.sum(keepdims=True)
    assert (counts_of(total).item(), keys_of(total).item()) == (12, (2 * (2**32 - 1) + 7) % 2**32)


# --- From the rows of a query ---


@pytest.mark.parametrize(("most", "sparse"), [(6, False), (5, True)])
def test_cells_are_dense_up_to_a_size_and_sparse_above(
    most: int, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells_module, "DENSE_MOST", most)
    index, words = np.array([5, 0, 2], dtype=np.int32), packed(np.array([1, 2, 3]), np.array([30, 10, 20]))
    cells = from_groups((2, 3), index, words)
    assert (cells.index is not None) == sparse
    assert len(cells.words) == (3 if sparse else 6)
    assert by_cell(cells) == {(0, 0): (2, 10), (0, 2): (3, 20), (1, 2): (1, 30)}
    place, found = cells.occupied()
    assert (place.tolist(), place.dtype.name, counts_of(found).tolist()) == ([0, 2, 5], "int64", [2, 3, 1])


@pytest.mark.parametrize("most", [20_000_000, 1])
def test_keys_of_a_query_are_reduced_to_the_key_space(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells_module, "DENSE_MOST", most)
    largest = 80_000_000 * (2**32 - 1)
    rows = pa.table({"i": [1, 0], "n": [80_000_000, 1], "k": [largest, 7]})
    for key_space in KEY_SPACES:
        expected = {(0,): (1, 7 % key_space), (1,): (80_000_000, largest % key_space)}
        assert by_cell(grouped((2,), rows, key_space)) == expected


@pytest.mark.parametrize("most", [20_000_000, 1])
def test_a_query_without_rows_gives_empty_cells(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells_module, "DENSE_MOST", most)
    nothing = pa.table({"i": pa.array([], pa.int32()), "n": pa.array([], pa.int64()), "k": pa.array([], pa.int64())})
    assert by_cell(grouped((2, 3), nothing, 256)) == {}
    # A key of 0 does not make a cell empty.
    assert by_cell(grouped((), pa.table({"i": [0], "n": [1], "k": [256]}), 256)) == {(): (1, 0)}


# --- Sums ---


def check_sums(shape: tuple[int, ...], step: Step, found: Sums, key_space: int, engine: Engine) -> None:
    index = np.array([np.ravel_multi_index(place, shape) for place in found], dtype=np.int64)
    words = packed(np.array([n for n, _ in found.values()]), np.array([k for _, k in found.values()]))
    expected = one_by_one(found, step, key_space)
    for most in (20_000_000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cells_module, "DENSE_MOST", most)
            made = roll_up(from_groups(shape, index, words), step, key_space, engine)
        assert (made.index is None) == bool(most)
        assert made.shape == step.shape(shape)
        assert by_cell(made) == expected


@each("key_space", KEY_SPACES)
@settings(max_examples=up_to(25))
@given(st.data())
def test_sums_along_an_axis_are_those_of_adding_one_by_one(key_space: int, engine: DuckDB, data: st.DataObject) -> None:
    # Shuffled levels: the children of one category need not stand side by side.
    axis = axis_of(data.draw(topics("A", shuffled=True)))
    fine = data.draw(st.integers(0, len(axis.partitions)))
    before = data.draw(st.lists(st.integers(1, 3), max_size=2))
    after = data.draw(st.lists(st.integers(1, 3), max_size=2))
    if not fine:
        return
    step = Step(len(before), axis, fine, data.draw(st.integers(0, fine - 1)))
    shape = (*before, axis.size(fine), *after)
    cell = st.tuples(st.integers(1, 10**6), st.integers(0, key_space - 1))
    places = st.sampled_from(list(product(*map(range, shape))))
    check_sums(shape, step, data.draw(st.dictionaries(places, cell, min_size=1)), key_space, engine)


@each("key_space", KEY_SPACES, every=4)
@each("shape_of", [lambda n: (n, WIDE), lambda n: (40, n, 60), lambda n: (WIDE, n)])
def test_sums_of_many_cells_side_by_side_are_the_same(
    shape_of: Callable[[int], tuple[int, ...]], key_space: int, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_topic = topic("A", {"a": "", "b": "", "c": "", "a0": "a", "a1": "a", "b0": "b", "c0": "c", "c1": "c"})
    axis = axis_of(given_topic)
    shape = shape_of(axis.size(2))
    place = shape.index(axis.size(2))
    step = Step(place, axis, 2, 1)
    random = np.random.default_rng(5)
    count = random.integers(0, 3, shape)
    key = np.where(count > 0, random.integers(0, key_space, shape), 0)
    made = roll_up(Cells(shape, packed(count, key).reshape(-1)), step, key_space, engine)
    up = axis.up(2, 1)
    for name, values, space in (("counts", count, 2**62), ("keys", key, key_space)):
        expected = np.stack([values.take(np.flatnonzero(up == c), place).sum(place) for c in range(3)], place) % space
        found = counts_of(made.words) if name == "counts" else keys_of(made.words)
        assert np.array_equal(found.reshape(expected.shape), expected)
    # The sparse way agrees, whatever the shape.
    dense = by_cell(made)
    monkeypatch.setattr(cells_module, "DENSE_MOST", 0)
    flat = np.flatnonzero(count)
    sparse = from_groups(shape, flat, packed(count.reshape(-1)[flat], key.reshape(-1)[flat]))
    assert by_cell(roll_up(sparse, step, key_space, engine)) == dense


def test_a_sum_of_nothing_is_nothing(engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells_module, "DENSE_MOST", 0)
    axis = axis_of(topic("A", "a b"))
    nothing = from_groups((2, 2), np.array([], dtype=np.int64), packed(np.array([]), np.array([])))
    assert by_cell(roll_up(nothing, Step(0, axis, 1, 0), 256, engine)) == {}
