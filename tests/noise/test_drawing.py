"""Noise from words: by row or by distribution, on zeros only if requested, and described in a record."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import SeededBits
from discreet.noise.by_count import noise_by_count
from discreet.noise.by_name import described_noise
from discreet.noise.distribution import WORDS
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable, PTableRow
from discreet.release.record import Record, record_from_json
from tests.each import each
from tests.noise.laws import LAWS, label, symmetric_laws

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

LAW = TwoSidedGeometric(epsilon=0.5)
COUNTS = np.array([0, 1, 2, 7, 0, 1000] * 500)
WORDS_OF_CELLS = SeededBits(8).words(len(COUNTS))


@cache
def ptable(*, zeros: bool = False) -> PTable:
    return PTable.max_entropy(variance=2, bound=5, perturb_zeros=zeros)


@each("table", lambda: [ptable(), ptable(zeros=True)])
def test_a_ptable_draws_by_the_row_of_every_count(table: PTable) -> None:
    published = COUNTS + noise_by_count(table).draw_words(COUNTS, WORDS_OF_CELLS)
    for count in set(COUNTS.tolist()):
        row = table.rows[min(count, len(table.rows) - 1)]
        chosen = count == COUNTS
        assert np.array_equal(published[chosen] - count, row.draw(WORDS_OF_CELLS[chosen], WORDS))


def test_a_law_draws_the_same_for_every_count_and_leaves_zeros_unless_asked() -> None:
    drawn = LAW.draw(WORDS_OF_CELLS, WORDS)
    everywhere, above_zero = (noise_by_count(LAW, perturb_zeros=zeros) for zeros in (True, False))
    assert np.array_equal(everywhere.draw_words(COUNTS, WORDS_OF_CELLS), drawn)
    assert np.array_equal(above_zero.draw_words(COUNTS, WORDS_OF_CELLS), np.where(COUNTS > 0, drawn, 0))


def test_a_ptable_says_itself_whether_zeros_stay() -> None:
    def perturbs(noise: PTable | Noise, asked: bool) -> bool:
        return noise_by_count(noise, perturb_zeros=asked).perturbs_zeros

    assert [perturbs(LAW, asked) for asked in (False, True)] == [False, True]
    assert [perturbs(ptable(zeros=True), asked) for asked in (False, True)] == [True, True]
    assert not perturbs(ptable(), asked=False)
    with pytest.raises(
        ParameterError, match=r"This p-table does not perturb zeros\. Make it with perturb_zeros, or omit"
    ) as caught:
        perturbs(ptable(), asked=True)
    assert caught.value.parameter == "perturb_zeros"


def single_laws() -> list[Noise]:
    # Of max-entropy there is a p-table instead of one law.
    return [law for law in symmetric_laws() if law.name != "max-entropy"]


@each("law", single_laws, ids=label)
def test_every_law_is_made_again_from_its_record(law: Noise) -> None:
    told = described_noise(law)
    assert set(told) == {"law", "parameters"}
    record = Record(programme="x", mechanism="cell-key", **told)
    assert record_from_json(record.to_json(), Path("record.json")).noise.large == law


def test_every_kind_of_law_is_among_them() -> None:
    assert {law.name for law in single_laws()} == set(LAWS) - {"max-entropy"}


def test_a_ptable_that_was_not_solved_here_is_told_whole() -> None:
    table = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 1), (0.5, 0.5))))
    told = described_noise(table)
    assert (told["law"], told["parameters"]) == ("p-table", {})
    again = Record(programme="x", **told).noise
    assert isinstance(again, PTable)
    assert [row.values for row in again.rows] == [(0,), (-1, 1)]
