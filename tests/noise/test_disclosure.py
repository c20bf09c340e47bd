"""The posterior of a true 1 against Bayes' rule by enumeration."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.noise import PTable
from discreet.noise.disclosure import posterior_of_one, posteriors_of_one
from discreet.noise.ptable import PTableRow

TABLES: list[dict[str, Any]] = [
    {"variance": 2, "bound": 5},
    {"variance": 3, "bound": 10},
    {"variance": 2, "bound": 5, "equality": True},
    {"variance": 3, "bound": 4, "threshold": 2},
    {"variance": 2, "bound": 3, "perturb_zeros": True},
    {"variance": 0.5, "bound": 2, "monotone": True, "floor": 1e-8},
    {"variance": 0.5, "bound": 1},
]
every_table = pytest.mark.parametrize("wishes", TABLES, ids=str)


def by_enumeration(table: PTable, most: int) -> dict[int, float]:
    """Return P(1 | y): every true count up to `most` once, each sent to its published counts by its own row."""
    chance: dict[int, float] = {}
    of_one: dict[int, float] = {}
    for count in range(most + 1):
        row = table.rows[min(count, len(table.rows) - 1)]
        for value, p in zip(row.values, row.probabilities, strict=True):
            chance[count + value] = chance.get(count + value, 0.0) + p
            if count == 1:
                of_one[count + value] = p
    return {y: p / chance[y] for y, p in of_one.items() if y >= 1}


@every_table
def test_posteriors_are_those_of_bayes_rule_with_a_flat_prior(wishes: dict[str, Any]) -> None:
    table = PTable.max_entropy(**wishes)
    assert posteriors_of_one(table) == pytest.approx(by_enumeration(table, 60), rel=1e-12)


@every_table
def test_published_counts_are_those_that_a_true_1_can_become(wishes: dict[str, Any]) -> None:
    found = posteriors_of_one(PTable.max_entropy(**wishes))
    allowed = range(max(1, wishes.get("threshold", 0) + 1), 1 + wishes["bound"] + 1)
    assert list(found) == list(allowed)
    assert all(0 < posterior < 1 for posterior in found.values())


@every_table
def test_the_worst_published_count_is_reported(wishes: dict[str, Any]) -> None:
    table = PTable.max_entropy(**wishes)
    worst, posterior = max(posteriors_of_one(table).items(), key=lambda item: item[1])
    result = posterior_of_one(table)
    assert result is not None
    assert result.value == posterior
    assert result.worst == f"published {worst}"
    assert f"A published {worst} was a true 1 with probability {posterior:.3f}" in result.sentence
    assert (result.name, result.unit) == ("posterior_of_one", "1")
    assert "flat prior: every true count equally likely" in result.assumptions


def test_without_noise_a_published_1_was_a_true_1() -> None:
    table = PTable(tuple(PTableRow(count, (0,), (1.0,)) for count in range(3)))
    assert posteriors_of_one(table) == {1: 1.0}


def test_ones_that_are_never_published_have_no_posterior() -> None:
    table = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1,), (1.0,)), PTableRow(2, (0,), (1.0,))))
    assert posteriors_of_one(table) == {}
    assert posterior_of_one(table) is None


def test_wide_symmetric_noise_spreads_a_1_over_its_neighbours() -> None:
    # Every count has the same law on -1..1, zeros too: what is published as 1 was 0, 1 or 2.
    rows = tuple(PTableRow(count, (-1, 0, 1), (0.25, 0.5, 0.25)) for count in range(4))
    assert posteriors_of_one(PTable(rows)) == pytest.approx({1: 0.5, 2: 0.25})


def test_rows_that_take_turns_are_enumerated_in_turn() -> None:
    # Counts 0, 1, 2, 3, 4, .. use rows 0, 1, 2, 1, 2, ..; rows 1 move up, rows 2 stay: a published 2 was a 1 or a 2.
    rows = (PTableRow(0, (0,), (1.0,)), PTableRow(1, (1,), (1.0,)), PTableRow(2, (0,), (1.0,)))
    assert posteriors_of_one(PTable(rows, repeat=2)) == pytest.approx({2: 0.5})
