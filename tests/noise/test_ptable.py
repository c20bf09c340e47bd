"""p-tables: rows, shortfalls, key spaces, draws, and the errors a user meets."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.noise import MaxEntropy, PTable, SeededBits
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.ptable import KEY_SPACE, PTableRow, ptable
from discreet.noise.ptable_settings import PTableSettings
from discreet.noise.rounded import RoundedRow
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value

SECRET = b"a secret of the office, 32 bytes"
KEY_SPACES = [2**32, 10**8, 4096, 256]
TABLES: dict[str, dict[str, Any]] = {
    "V=2 E=5": {"variance": 2, "bound": 5},
    "V=3 E=10": {"variance": 3, "bound": 10},
    "equality": {"variance": 2, "bound": 5, "equality": True},
    "threshold": {"variance": 3, "bound": 5, "threshold": 2},
    "like R": {"variance": 2, "bound": 5, "floor": 1e-8, "monotone": True},
    "stay": {"variance": 3, "bound": 5, "threshold": 2, "stay": 0.5},
    "zeros": {"variance": 2, "bound": 5, "perturb_zeros": True},
    "wide": {"variance": 50, "bound": 100},
}
every_table = each("wishes", TABLES.values(), ids=TABLES)


def deterministic(count: int, noise: int) -> PTableRow:
    return PTableRow(count, (noise,), (1.0,))


@every_table
def test_rows_are_centred_laws_within_variance_and_bound(wishes: dict[str, Any]) -> None:
    table = PTable.max_entropy(**wishes)
    assert [row.count for row in table.rows] == list(range(len(table.rows)))
    for row in table.rows:
        assert math.fsum(row.probabilities) == pytest.approx(1, abs=1e-12)
        assert row.mean == pytest.approx(0, abs=1e-11)
        assert row.variance <= wishes["variance"] * (1 + 1e-10)
        assert row.bound <= wishes["bound"]
        assert all(p > 0 for p in row.probabilities)
        if row.count >= 1:
            assert row.stay >= wishes.get("stay", 0) * (1 - 1e-12) or 1 <= row.count <= wishes.get("threshold", 0)
    assert table.bound == wishes["bound"]
    assert table.settings == PTableSettings(**wishes)


@every_table
def test_no_forbidden_count_is_published(wishes: dict[str, Any]) -> None:
    for row in PTable.max_entropy(**wishes).rows:
        for value in row.values:
            assert not 1 <= row.count + value <= wishes.get("threshold", 0)
            assert row.count + value >= 0 or wishes.get("perturb_zeros")


def test_last_row_is_the_maximum_entropy_law() -> None:
    x = np.arange(-5, 6)
    row = PTable.max_entropy(variance=2, bound=5).rows[-1]
    np.testing.assert_allclose(row.pmf(x), MaxEntropy(variance=2, bound=5).pmf(x), rtol=1e-11)


def test_zeros_stay_zero() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    assert not table.perturbs_zeros
    assert table.rows[0].stay == 1
    keys = SeededBits(1).words(1000) >> np.uint64(32)
    assert not table.draw(0, keys, mode="plain").any()
    assert not table.draw(0, keys, secret=SECRET).any()


def test_zeros_get_noise_on_request() -> None:
    table = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
    assert table.perturbs_zeros
    assert len(table.rows) == 6
    x = np.arange(-5, 6)
    for row in table.rows:
        np.testing.assert_allclose(row.pmf(x), MaxEntropy(variance=2, bound=5).pmf(x), rtol=1e-11)
    noise = table.draw(0, np.arange(0, 2**32, 2**20), mode="plain")
    assert (noise.min(), noise.max()) == (-5, 5)


def test_perturbed_zeros_respect_the_threshold() -> None:
    row = PTable.max_entropy(variance=3, bound=5, threshold=2, perturb_zeros=True).rows[0]
    assert row.values == (-5, -4, -3, -2, -1, 0, 3, 4, 5)
    assert row.mean == pytest.approx(0, abs=1e-13)


def test_shortfalls_name_every_row_below_the_variance() -> None:
    # Row 1 falls by 1 at most: without equality its entropy is largest at a variance of 1.721.
    table = PTable.max_entropy(variance=2, bound=5)
    assert table.shortfalls() == {1: pytest.approx(2 - table.rows[1].variance)}
    assert table.shortfalls()[1] == pytest.approx(0.279, abs=5e-4)


def test_shortfalls_where_the_bound_is_too_small_for_the_variance() -> None:
    # The uniform law on -2..2 has variance 2, so 4 is out of reach in every row.
    table = PTable.max_entropy(variance=4, bound=2)
    assert table.shortfalls() == {1: pytest.approx(4 - table.rows[1].variance), 2: pytest.approx(2)}


def test_shortfalls_of_the_r_package_default() -> None:
    # ptable 1.0.0, D = 5, V = 2, js = 0: row 1 has variance 1.302 and no warning.
    table = PTable.max_entropy(variance=2, bound=5, monotone=True, floor=1e-8)
    assert table.rows[1].variance == pytest.approx(1.302, abs=5e-4)
    assert list(table.shortfalls()) == [1]


def test_equality_leaves_no_shortfall() -> None:
    assert PTable.max_entropy(variance=2, bound=5, equality=True).shortfalls() == {}
    assert PTable.max_entropy(variance=2, bound=5, perturb_zeros=True).shortfalls() == {}


def test_shortfalls_include_perturbed_zeros() -> None:
    assert list(PTable.max_entropy(variance=4, bound=2, perturb_zeros=True).shortfalls()) == [0, 1, 2]


def test_a_table_without_wishes_has_no_shortfalls() -> None:
    assert PTable((deterministic(0, 0), deterministic(1, 1))).shortfalls() == {}


def test_last_row_serves_every_larger_count() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    assert table.row_numbers([0, 1, 4, 5, 6, 10**9]).tolist() == [0, 1, 4, 5, 5, 5]


def test_rows_can_take_turns_for_larger_counts() -> None:
    # The rule of the ONS: 750 rows, of which the last 250 serve larger counts n as (n - 1) mod 250 + 501.
    table = PTable(tuple(deterministic(count, 0) for count in range(751)), key_space=256, repeat=250)
    counts = np.arange(5000)
    expected = [n if n <= 750 else (n - 1) % 250 + 501 for n in counts.tolist()]
    assert table.row_numbers(counts).tolist() == expected


@given(st.integers(1, 30), st.data())
def test_turns_come_round(size: int, data: st.DataObject) -> None:
    repeat = data.draw(st.integers(1, size))
    table = PTable(tuple(deterministic(count, 0) for count in range(size)), repeat=repeat)
    numbers = table.row_numbers(np.arange(4 * size)).tolist()
    assert numbers[:size] == list(range(size))
    assert all(numbers[n] == numbers[n - repeat] for n in range(size, 4 * size))


def test_the_law_of_large_counts_is_the_mean_of_rows_that_take_turns() -> None:
    rows = (
        deterministic(0, 0),
        PTableRow(1, (-1, 7), (0.875, 0.125)),
        PTableRow(2, (2, -2, 0), (0.25, 0.25, 0.5)),
        PTableRow(3, (-1, 0, 1), (0.25, 0.5, 0.25)),
    )
    large = PTable(rows, repeat=2).large
    assert (large.count, large.values) == (3, (-2, -1, 0, 1, 2))
    assert large.probabilities == (0.125, 0.125, 0.5, 0.125, 0.125)
    assert large.variance == 1.25
    # Three in turn: the row of 1 counts for a third too.
    assert PTable(rows, repeat=3).large.pmf([-1, 0, 7]).tolist() == pytest.approx([1.125 / 3, 1 / 3, 0.125 / 3])
    assert PTable(rows).large == rows[-1]


@pytest.mark.parametrize("repeat", [0, -1, 3])
def test_more_turns_than_rows_are_refused(repeat: int) -> None:
    with pytest.raises(ParameterError, match="repeat must be from 1 to 2, its rows"):
        PTable((deterministic(0, 0), deterministic(1, 0)), repeat=repeat)


@every_table
@each("key_space", KEY_SPACES, every=3)
def test_rounded_rows_have_sum_k_and_mean_exactly_0(wishes: dict[str, Any], key_space: int) -> None:
    table = PTable.max_entropy(**wishes, key_space=key_space)
    assert table.key_space == key_space
    for row, law in zip(table.rounded, table.rows, strict=True):
        assert row.key_space == sum(row.weights) == key_space
        assert row.moment(1) == 0
        assert row.bound <= law.bound
        for p, weight in zip(law.probabilities, row.weights, strict=True):
            assert abs(weight - Fraction(p) * key_space) < 2


@each("key_space", KEY_SPACES)
def test_moments_of_the_rounded_law_are_those_of_all_its_keys(key_space: int) -> None:
    table = PTable.max_entropy(variance=2, bound=5, key_space=key_space)
    for row in table.rounded:
        pairs = list(zip(row.values, row.weights, strict=True))
        for order in (1, 2, 3, 4):
            assert row.moment(order) == Fraction(sum(v**order * w for v, w in pairs), key_space)


def test_moments_of_the_rounded_law_tend_to_those_of_the_law() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    for row, law in zip(table.rounded, table.rows, strict=True):
        assert float(row.variance) == pytest.approx(law.variance, abs=1e-7)


def test_32_bits_cut_the_tails_of_a_wide_table() -> None:
    # p(10) of V = 2, E = 10 is below half a key of 2^32: the law that is used has bound 9.
    table = PTable.max_entropy(variance=2, bound=10)
    assert table.rows[-1].probabilities[-1] < 0.5 / 2**32
    assert table.bound == table.rows[-1].bound == 10
    assert table.rounded[-1].bound == 9
    assert table.on_grid(2**62).rounded[-1].bound == 10


def test_another_grid_keeps_the_laws() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    coarse = table.on_grid(256)
    assert coarse.rows == table.rows
    assert (coarse.key_space, table.key_space) == (256, KEY_SPACE)
    assert {row.key_space for row in coarse.rounded} == {256}


def test_rows_from_a_file_keep_their_own_weights_on_their_own_grid() -> None:
    pieces = RoundedRow((0, 1, 0, -1), (3, 1, 3, 1))
    row = PTableRow(2, (0, 1, 0, -1), (0.375, 0.125, 0.375, 0.125), pieces)
    assert row.rounded(8) is pieces
    assert row.rounded(16).weights == (6, 2, 6, 2)
    assert row.stay == 0.75
    assert row.pmf([-1, 0, 1]) == pytest.approx([0.125, 0.75, 0.125])
    assert row.variance == 0.25


def test_a_rule_that_is_not_centred_keeps_its_mean_on_every_grid() -> None:
    row = PTableRow(7, (-2, 3), (0.5, 0.5))
    for key_space in (256, 2**32, 2**64):
        assert row.rounded(key_space).moment(1) == Fraction(1, 2)


@every_table
def test_plain_draw_looks_the_key_up_as_it_is(wishes: dict[str, Any]) -> None:
    table = PTable.max_entropy(**wishes, key_space=4096)
    for count in (0, 1, 2, table.rows[-1].count, 10**6):
        row = table.rounded[min(count, len(table.rows) - 1)]
        noise = table.draw(count, np.arange(4096), mode="plain")
        assert noise.tolist() == np.repeat(row.values, row.weights).tolist()


def test_mixed_draw_has_the_law_of_its_row_and_no_other_scale() -> None:
    table = PTable.max_entropy(variance=3, bound=8)
    keys = np.arange(20_000)
    for count in (1, 3, 8):
        assert p_value(table.draw(count, keys, secret=SECRET), table.rows[count]) > ACCEPT
    last = table.draw(100, keys, secret=SECRET)
    for factor in (1.3, 0.7):
        assert p_value(last, MaxEntropy(variance=3 * factor**2, bound=8)) < REJECT


@pytest.mark.slow
def test_large_bounds_are_solved_and_drawn() -> None:
    table = PTable.max_entropy(variance=50, bound=100)
    assert len(table.rows) == 101
    assert table.rows[-1].variance == pytest.approx(50, rel=1e-10)
    noise = table.draw(5000, np.arange(20_000), secret=SECRET)
    assert p_value(noise, table.rows[-1]) > ACCEPT


def test_draw_takes_counts_and_keys_of_any_whole_type() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    expected = table.draw([1, 2, 9], [5, 6, 7], mode="plain").tolist()
    assert table.draw(np.array([1.0, 2.0, 9.0]), np.array([5, 6, 7], np.uint16), mode="plain").tolist() == expected
    assert table.draw([1, 2, 9], [5, 6, 7], mode="plain").dtype == np.int64


def test_a_misspelt_mode_gets_the_nearest_names() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    with pytest.raises(UnknownNameError, match=r"no key mode 'plane'\. Did you mean plain\?") as refusal:
        table.draw([1], [1], mode="plane")
    assert refusal.value.available == ("mixed", "plain")
    assert "mixed, plain" in str(refusal.value)


@pytest.mark.parametrize("mode", ["plain", "mixed"])
def test_keys_of_another_key_space_are_refused_without_being_shown(mode: str) -> None:
    table = PTable.max_entropy(variance=2, bound=5, key_space=256)
    with pytest.raises(ParameterError, match="below the key space of 256") as refusal:
        table.draw([1, 1], [3, 987_654], mode=mode, secret=SECRET)
    assert refusal.value.parameter == "keys"
    assert "987654" not in str(refusal.value)


@pytest.mark.parametrize("counts", [[-1], [3, -87_654]])
def test_negative_counts_are_refused_without_being_shown(counts: list[int]) -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    with pytest.raises(ParameterError, match="counts must not be negative") as refusal:
        table.draw(counts, 1, mode="plain")
    assert refusal.value.parameter == "counts"
    assert "87654" not in str(refusal.value)
    with pytest.raises(ParameterError, match="counts must not be negative"):
        table.row_numbers(counts)


def test_counts_that_are_not_whole_are_refused() -> None:
    with pytest.raises(ParameterError, match="counts must be whole numbers"):
        PTable.max_entropy(variance=2, bound=5).draw([1.5], [1], mode="plain")


def test_mixed_is_the_default_and_needs_a_secret() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    with pytest.raises(SecretError, match="require the office's secret"):
        table.draw([1], [1])
    assert np.array_equal(table.draw(9, [1, 2], secret=SECRET), table.draw(9, [1, 2], mode="mixed", secret=SECRET))


def test_a_short_secret_is_refused_and_not_shown() -> None:
    with pytest.raises(SecretError, match="at least 16 bytes") as refusal:
        PTable.max_entropy(variance=2, bound=5).draw([1], [1], secret=b"hunter2")
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("key_space", [1, 2**62 + 1, 4096.0])
def test_key_spaces_out_of_range_are_refused_before_anything_is_solved(key_space: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"key_space must be a whole number from 2 to 2\*\*62"):
        PTable.max_entropy(variance=2, bound=5, key_space=key_space)


def test_records_are_the_intervals_of_the_keys() -> None:
    table = PTable.max_entropy(variance=3, bound=5, threshold=2, key_space=10**8)
    records = table.records()
    assert len(records) == sum(len(row.values) for row in table.rows)
    for row in table.rows:
        own = [record for record in records if record["i"] == row.count]
        assert [record["j"] - record["i"] for record in own] == [record["v"] for record in own] == list(row.values)
        assert [record["p"] for record in own] == list(row.probabilities)
        assert own[0]["lower"] == 0
        assert own[-1]["upper"] == 10**8
        assert [record["lower"] for record in own[1:]] == [record["upper"] for record in own[:-1]]


def test_the_function_behind_the_command_gives_the_same_tables() -> None:
    assert ptable(variance=3, bound=5, threshold=2) == PTable.max_entropy(variance=3, bound=5, threshold=2)
    least = ptable(variance=2, bound=5, objective="least-disclosure", key_space=256)
    assert least == PTable.least_disclosure(variance=2, bound=5, key_space=256)


def test_moments_of_a_row_are_about_its_mean() -> None:
    row = PTableRow(3, (-1, 0, 2, 5), (0.1, 0.2, 0.3, 0.4))
    mean = -0.1 + 0.6 + 2.0
    assert row.mean == pytest.approx(mean)
    assert row.second_moment == pytest.approx(0.1 + 0.3 * 4 + 0.4 * 25)
    assert row.variance == pytest.approx(row.second_moment - mean**2) == pytest.approx(row.table.variance)
    shift = PTableRow(3, (2,), (1.0,))
    assert (shift.mean, shift.second_moment, shift.variance) == (2, 4, 0)


def test_rounding_is_told_from_random_noise_and_from_a_shift() -> None:
    rule = read_ptable(Path(__file__).parents[1] / "data/ons/ptable_10_5_rule.csv.gz")
    shift = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (2,), (1.0,))))
    down = PTable(tuple(PTableRow(n, (-min(n, 2),), (1.0,)) for n in range(3)))
    # Small counts are lost, larger ones stay.
    suppressed = PTable(tuple(PTableRow(n, (-n if n < 3 else 0,), (1.0,)) for n in range(4)))
    noisy = PTable.max_entropy(variance=2, bound=5)
    assert [table.is_deterministic for table in (rule, down, suppressed, shift, noisy)] == [True] * 4 + [False]
    assert [table.rounds for table in (rule, down, suppressed, shift, noisy)] == [True] * 3 + [False] * 2
    assert rule.large.variance == pytest.approx(2)
