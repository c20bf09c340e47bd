"""The posterior of a true 1 against Bayes' rule by enumeration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import PTable
from discreet.noise.by_count import SameNoise
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTableRow
from discreet.noise.published_counts import check_disclosure, posterior_of_one, posteriors_of_one
from discreet.noise.truncated import Truncated
from discreet.noise.uniform import Uniform
from tests.each import each

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

DATA = Path(__file__).parents[1] / "data"
TABLES: list[dict[str, Any]] = [
    {"variance": 2, "bound": 5},
    {"variance": 3, "bound": 10},
    {"variance": 2, "bound": 5, "equality": True},
    {"variance": 3, "bound": 4, "threshold": 2},
    {"variance": 2, "bound": 3, "perturb_zeros": True},
    {"variance": 0.5, "bound": 2, "monotone": True, "floor": 1e-8},
    {"variance": 0.5, "bound": 1},
]
every_table = each("wishes", TABLES, ids=str)


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
    assert f"P(true = 1 given published = {worst}) = {posterior:.3f}" in result.sentence
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


# --- Tables that reveal true counts ---


def rule(*noise: int, repeat: int = 1) -> PTable:
    """Return a table that changes counts 0, 1, .. by fixed amounts."""
    return PTable(tuple(PTableRow(count, (step,), (1.0,)) for count, step in enumerate(noise)), repeat=repeat)


def fixed_but(share: float) -> PTable:
    """Return a table that changes counts from 1 on by 1 or -1 in this share of cases."""
    rows = [PTableRow(count, (-1, 0, 1), (share / 2, 1 - share, share / 2)) for count in (1, 2)]
    return PTable((PTableRow(0, (0,), (1.0,)), *rows))


REVEALING = {
    "no change": rule(0, 0),
    "a shift": rule(0, 2),
    "a shift down": rule(0, -1, -2),
    "a shift of every count": rule(3, 3),
    "only small counts rounded": rule(0, -1, 1, 0),
    "only large counts changed": PTable((*rule(0, 0, 0).rows, PTableRow(3, (-1, 0, 1), (0.3, 0.4, 0.3)))),
    "hardly any noise": fixed_but(0.004),
    "small counts, one noise": PTable((*rule(0).rows, PTableRow(1, (0, 1, 2), (0.2, 0.3, 0.5)))),
    "in turn": rule(0, 0, 1, -1, 0, repeat=3),
}
HIDING = {
    "rounding to 3": rule(0, -1, 1, 0, -1, 1, repeat=3),
    "10-5 rounding": read_ptable(DATA / "ons/ptable_10_5_rule.csv.gz"),
    "256 keys": read_ptable(DATA / "ons/ptable_stochastic_D5_V2_js1_256.csv.gz"),
    "a threshold": read_ptable(DATA / "formats/cnts_D5_V3_js2_cellkey.yaml"),
    "little noise": fixed_but(0.04),
    **{str(wishes): PTable.max_entropy(**wishes) for wishes in TABLES},
}


@each("name", REVEALING)
def test_tables_that_reveal_true_counts_are_refused(name: str) -> None:
    for plain in (False, True):
        with pytest.raises(ParameterError, match=r"has one true count with probability.*--allow-disclosure") as refusal:
            check_disclosure(REVEALING[name], plain=plain)
        assert refusal.value.parameter == "allow_disclosure"


@each("name", HIDING)
def test_tables_that_hide_counts_are_taken(name: str) -> None:
    for plain in (False, True):
        check_disclosure(HIDING[name], plain=plain)


@each("name", [*REVEALING, *HIDING])
def test_the_most_revealing_count_is_that_of_bayes_rule(name: str) -> None:
    table = {**REVEALING, **HIDING}[name]
    most = 2 * len(table.rows) + 4 * table.bound + 2 * table.repeat
    reach: dict[int, list[float]] = {}
    for count in range(most + table.bound + 1):
        law = table.rows[int(table.row_numbers([count])[0])]
        for value, p in zip(law.table.values.tolist(), law.pmf(law.table.values).tolist(), strict=True):
            reach.setdefault(count + value, []).append(p)
    expected = {y: max(chances) / sum(chances) for y, chances in reach.items() if 1 <= y <= most and max(chances) > 0}
    published, posterior = table.most_revealing_count()
    assert posterior == pytest.approx(max(expected.values()), rel=1e-12)
    assert expected[published] == pytest.approx(posterior, rel=1e-12)


@each("zeros", [False, True])
@each(
    "law",
    [
        TwoSidedGeometric(epsilon=0.01),
        TwoSidedGeometric(epsilon=1),
        TwoSidedGeometric(epsilon=6),
        Uniform(bound=3),
        Truncated(TwoSidedGeometric(epsilon=0.5), 4),
        PTableRow(9, (-2, 1), (0.3, 0.7)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_the_most_revealing_count_of_a_law_is_that_of_bayes_rule(law: Noise, zeros: bool) -> None:
    counts = np.arange(0 if zeros else 1, 6_000)
    chances = {y: law.pmf(y - counts) for y in range(1, 20)}
    expected = {y: float(p.max() / p.sum()) for y, p in chances.items() if p.any()}
    published, posterior = SameNoise(law, zeros).most_revealing_count()
    assert posterior == pytest.approx(max(expected.values()), rel=1e-9)
    assert expected[published] == pytest.approx(posterior, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "zeros"), [(4.7, False), (5.4, True)])
def test_a_law_is_refused_from_a_posterior_of_99_percent_on(epsilon: float, zeros: bool) -> None:
    with pytest.raises(ParameterError, match=r"The noise distribution geometric does not protect.*--allow-disclosure"):
        check_disclosure(SameNoise(TwoSidedGeometric(epsilon=epsilon), zeros))
    check_disclosure(SameNoise(TwoSidedGeometric(epsilon=epsilon - 0.2), zeros))


def test_plain_keys_may_be_too_few_for_any_noise() -> None:
    coarse = PTable.max_entropy(variance=0.1, bound=1, key_space=4)
    check_disclosure(coarse)
    with pytest.raises(ParameterError, match="does not protect"):
        check_disclosure(coarse, plain=True)
