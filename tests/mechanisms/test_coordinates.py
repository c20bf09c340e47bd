"""Noise by coordinates: a cell has one noise as long as its count is the same, whatever table or file it comes from."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError, SecretError
from discreet.mechanisms.coordinates import Coordinates
from discreet.noise.distribution import WORDS
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from discreet.protection.repetition import repeat, verify
from discreet.release.record import Record
from discreet.release.release import open_release
from tests.each import each
from tests.mechanisms.lots import batch
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.protection.office import files, make, put_people
from tests.protection.town import SECRET, SEX, TOPICS, all_cells, cells, frame, participants, people
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes, records

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB

LAW = TwoSidedGeometric(epsilon=0.5)
PTABLE = PTable.max_entropy(variance=2, bound=5)
ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
WORDS_OF_CELLS = SeededBits(6).words(20_000)
COUNTS = np.full(20_000, 7)


def test_noise_comes_from_the_word_and_the_count_of_a_cell() -> None:
    noise = Coordinates(LAW, SECRET).publish(batch(COUNTS, words=WORDS_OF_CELLS)) - COUNTS
    assert np.array_equal(noise, LAW.draw(KeyMixer(SECRET).of_cells(WORDS_OF_CELLS, COUNTS), WORDS))
    assert p_value(noise, LAW) > ACCEPT
    assert p_value(noise, TwoSidedGeometric(epsilon=0.5 / 1.3)) < REJECT


def test_keys_do_not_matter() -> None:
    mechanism = Coordinates(PTABLE, SECRET)
    one, other = (mechanism.publish(batch(COUNTS, keys, WORDS_OF_CELLS)) for keys in (None, np.arange(20_000)))
    assert np.array_equal(one, other)


def test_another_count_another_word_and_another_secret_give_other_noise() -> None:
    first = Coordinates(LAW, SECRET).publish(batch(COUNTS, words=WORDS_OF_CELLS)) - COUNTS
    others = [
        Coordinates(LAW, SECRET).publish(batch(COUNTS + 1, words=WORDS_OF_CELLS)) - COUNTS - 1,
        Coordinates(LAW, SECRET).publish(batch(COUNTS, words=WORDS_OF_CELLS + np.uint64(1))) - COUNTS,
        Coordinates(LAW, b"another secret of the office").publish(batch(COUNTS, words=WORDS_OF_CELLS)) - COUNTS,
    ]
    x = np.arange(-200, 201)
    chance = float(np.square(LAW.pmf(x)).sum())
    for other in others:
        # As often the same as two independent draws: within five standard errors.
        assert abs((first == other).mean() - chance) < 5 * (chance * (1 - chance) / len(first)) ** 0.5


def test_a_word_of_a_cell_is_never_that_of_a_key() -> None:
    keys = np.arange(1000, dtype=np.uint64)
    mixer = KeyMixer(SECRET)
    of_cells = [mixer.of_cells(keys, np.full(1000, count)) for count in (0, 1, 2**40)]
    assert len({*mixer(keys).tolist(), *np.concatenate(of_cells).tolist()}) == 4000


@each(
    ("mechanism", "zeros"),
    [
        (Coordinates(PTABLE, SECRET), False),
        (Coordinates(ZEROS, SECRET), True),
        (Coordinates(LAW, SECRET), False),
        (Coordinates(LAW, SECRET, perturb_zeros=True), True),
    ],
)
def test_zeros_stay_unless_they_are_to_have_noise(mechanism: Coordinates, zeros: bool) -> None:
    assert mechanism.perturbs_zeros is zeros
    assert mechanism.publish(batch(np.zeros(500), words=WORDS_OF_CELLS[:500])).any() == zeros
    record = Record(programme="x", **mechanism.described())
    assert (record.mechanism, record.spsn, record.zeros_are_noisy) == ("coordinates", True, zeros)


@settings(max_examples=up_to(40))
@given(st.data())
@pytest.mark.parametrize("zeros", [False, True])
def test_the_same_cell_has_one_value_in_every_table(zeros: bool, engine: DuckDB, data: st.DataObject) -> None:
    spec = data.draw(programmes())
    people = data.draw(records(spec))
    mechanism = Coordinates(LAW, SECRET, perturb_zeros=zeros)
    published = all_cells(protect(frame(spec, people), spec, mechanism, engine=engine))
    values: dict[Any, set[int]] = {}
    for table in spec.tables:
        for cell, numbers in participants(spec, table, people).items():
            codes = []
            for breakdown, code in zip(table.breakdowns, cell, strict=True):
                tree = spec.topics[breakdown.topic].tree
                assert tree
                held = frozenset(leaf for leaf in tree.leaves if code in tree.path(leaf))
                if code != "_T" and held != frozenset(tree.leaves):
                    codes.append((breakdown.topic, held))
            same = table.population, frozenset(codes)
            values.setdefault(same, set()).add(published.get((table.id, cell), 0))
            assert zeros or numbers or (table.id, cell) not in published
    assert all(len(found) == 1 for found in values.values())


def test_the_record_tells_the_label_and_nothing_secret() -> None:
    mechanism = Coordinates(LAW, SECRET, version="2031")
    assert mechanism.described()["key_version"] == "2031"
    assert "secret for the tests" not in f"{mechanism!r} {mechanism} {mechanism.described()}"
    assert mechanism.ready_for(None) is mechanism  # type: ignore[arg-type]  # it looks at no output


def test_it_needs_a_secret() -> None:
    for nothing in (None, b""):
        with pytest.raises(SecretError, match="Noise by coordinates requires the office's secret, but none was given"):
            Coordinates(LAW, nothing)
    with pytest.raises(SecretError, match="The secret is too short"):
        replace(Coordinates(LAW, SECRET), secret=b"short")


def test_a_ptable_whose_zeros_stay_cannot_give_them_noise() -> None:
    with pytest.raises(ParameterError, match="This p-table does not perturb zeros"):
        Coordinates(PTABLE, SECRET, perturb_zeros=True)


@pytest.mark.parametrize("labelled", [True, False])
def test_the_noise_of_the_grand_total_depends_on_the_label(labelled: bool, engine: DuckDB) -> None:
    """Sixteen labels: independent draws of a wide law are all equal with probability below 1e-20."""
    spec = programme(TOPICS, [by(SEX)])
    wide = TwoSidedGeometric(epsilon=0.05)
    found = {
        cells(
            protect(
                people(50), spec, Coordinates(wide, SECRET, str(label), labelled_total=labelled), engine=engine
            ).table("1")
        ).get(("_T",), 0)
        for label in range(16)
    }
    assert (len(found) > 1) == labelled


def test_a_release_without_the_mark_is_repeated_and_verified_with_its_own_noise(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    old, new = (Coordinates(LAW, SECRET, labelled_total=labelled) for labelled in (False, True))
    make(data, tmp_path / "old", old, engine=engine)
    # As it was before there was a mark.
    path = tmp_path / "old.curator" / "record.json"
    record = json.loads(path.read_text())
    assert record.pop("labelled_total") is False
    path.write_text(json.dumps(record))
    again = repeat(path.parent, secret=SECRET, out=tmp_path / "again", engine=engine)
    assert files(tmp_path / "again") == files(tmp_path / "old")
    assert verify(tmp_path / "old", data=data, secret=SECRET).repeated
    made = make(data, tmp_path / "new", new, engine=engine)
    assert made.record.labelled_total
    before, after = all_cells(open_release(tmp_path / "old")), all_cells(made)
    differ = {cell for cell in before.keys() | after.keys() if before.get(cell, 0) != after.get(cell, 0)}
    everybody = {"_T", "LU", "LU0"}
    assert differ
    assert all(set(codes) <= everybody for _, codes in differ)
    assert made.summary
    assert any("two noise terms of the grand total" in sentence for sentence in made.summary.warnings)
    assert again.record.labelled_total is False
