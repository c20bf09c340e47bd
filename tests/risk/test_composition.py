"""Composition of all counts of one person: published figures, brackets, neighbours and conditions."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import pytest
from dp_accounting.pld import privacy_loss_distribution  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian, Gaussian, Laplace, MaxEntropy, PTable, TwoSidedGeometric, Uniform
from discreet.noise.ptable import PTableRow
from discreet.risk.composition import compose, compose_large
from discreet.risk.neighbouring_counts import Neighbours
from discreet.risk.sentences import downwards, upwards

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

SMALL, LARGE = MaxEntropy(variance=2, bound=5), MaxEntropy(variance=3, bound=10)
"""The two settings of Bach (2020)."""

STATISTICS = 2775
"""The independent representations of the total in the EU census output, after Bach (2020)."""


# Every figure of the next five tests was computed by an independent program to the digits given.
@pytest.mark.parametrize(
    ("law", "floor", "thousandth", "millionth"),
    [(SMALL, 0.781881, 802.683, 864.369), (LARGE, 3.69286e-5, 555.528, 606.136)],
    ids=["small", "large"],
)
def test_epsilon_of_the_eu_output(law: MaxEntropy, floor: float, thousandth: float, millionth: float) -> None:
    composition = compose(law, STATISTICS)
    found = composition.floor().value
    assert found == pytest.approx(floor, rel=2e-6)
    # Shares of what the floor leaves.
    assert composition.epsilon_above_floor(1e-3 * (1 - found)).value == pytest.approx(thousandth, abs=6e-4)
    assert composition.epsilon_above_floor(1e-6 * (1 - found)).value == pytest.approx(millionth, abs=6e-4)
    # The delta that goes with it, in words.
    assert f"except with probability {upwards(found + 0.01)}." in composition.epsilon_above_floor(0.01).sentence


@pytest.mark.parametrize(
    ("law", "deltas"),
    [(SMALL, [1.0, 0.998077, 0.782159]), (LARGE, [0.102961, 3.95926e-5, 3.69286e-5])],
    ids=["small", "large"],
)
def test_delta_of_the_eu_output(law: MaxEntropy, deltas: list[float]) -> None:
    composition = compose(law, STATISTICS)
    assert [composition.delta(epsilon).value for epsilon in (500, 600, 800)] == pytest.approx(deltas, rel=2e-6)


@pytest.mark.parametrize(
    ("law", "advantages"), [(SMALL, [0.516, 0.842, 0.995]), (LARGE, [0.434, 0.751, 0.979])], ids=["small", "large"]
)
def test_advantage_grows_with_the_tables_a_person_sits_in(law: MaxEntropy, advantages: list[float]) -> None:
    found = [compose(law, t).advantage().value for t in (4, 16, 64)]
    assert found == pytest.approx(advantages, abs=6e-4)


@pytest.mark.parametrize(
    ("variance", "floors"),
    [
        (1, [4e-3, 2e-5, 3e-8, 1e-11]),
        (2, [0.78, 0.092, 3.7e-3, 8.8e-5, 1.3e-6, 1.1e-8, 6e-11]),
        (3, [1.0, 0.80, 0.17, 0.015, 8.8e-4, 3.7e-5, 1.1e-6, 2.4e-8]),
        (4, [1.0, 1.0, 0.71, 0.17, 0.022, 2.1e-3, 1.5e-4, 8.4e-6]),
    ],
)
def test_floors_of_the_design_table(variance: float, floors: list[float]) -> None:
    found = [compose(MaxEntropy(variance=variance, bound=5 + k), STATISTICS).floor().value for k in range(len(floors))]
    # The table gives one digit or two.
    assert found == pytest.approx(floors, rel=0.5 if variance == 1 else 0.06)


def test_epsilon_of_geometric_noise() -> None:
    composition = compose(TwoSidedGeometric(epsilon=0.3), STATISTICS)
    assert composition.epsilon(1e-6).value == pytest.approx(196.99, abs=5e-3)
    assert composition.epsilon(0.0).value == pytest.approx(STATISTICS * 0.3)
    assert composition.floor().value == 0
    assert composition.floor().sentence.startswith("No value of a count proves")


def test_the_bracket_holds_the_exact_figure() -> None:
    # A grid of 2^62 keys leaves the law as it is but sends it through rounding of the losses.
    exact, rounded = compose(LARGE, 300), compose(LARGE, 300, key_space=2**62, step=1e-2)
    for epsilon in (40.0, 60.0, 90.0):
        low, high = rounded.lower[0].delta(epsilon), rounded.delta(epsilon).value
        assert low < exact.delta(epsilon).value < high
    low, high = rounded.lower[0].epsilon(1e-6), rounded.epsilon_above_floor(1e-6).value
    assert low < exact.epsilon_above_floor(1e-6).value < high
    assert high - low <= 2 * 300 * 1e-2
    assert "(between" in rounded.epsilon_above_floor(1e-6).sentence
    assert "(between" not in exact.epsilon_above_floor(1e-6).sentence


@pytest.mark.parametrize("pessimistic", [True, False])
def test_dp_accounting_rounds_to_the_same_bracket(pessimistic: bool) -> None:
    # The step is no divisor of a loss: there the two programs could round apart.
    masses = {x: float(LARGE.log_pmf(x)) for x in range(-10, 11)}
    other = privacy_loss_distribution.from_two_probability_mass_functions(
        {x - 1: mass for x, mass in masses.items()},
        masses,
        pessimistic_estimate=pessimistic,
        value_discretization_interval=1e-2,
    ).self_compose(300)
    ours = compose(LARGE, 300, key_space=2**62, step=1e-2)
    for epsilon in (30.0, 60.0, 90.0):
        found = (ours.upper if pessimistic else ours.lower)[0].delta(epsilon)
        assert found == pytest.approx(other.get_delta_for_epsilon(epsilon), rel=1e-6, abs=1e-11)


def test_published_bracket_of_dp_accounting() -> None:
    # 618.4 and 590.7 with a step of 1e-2, computed with dp-accounting 0.6.0.
    ours = compose(LARGE, STATISTICS, key_space=2**62, step=1e-2)
    excess = 1e-6 * (1 - ours.floor().value)
    assert ours.epsilon_above_floor(excess).value == pytest.approx(618.4, abs=0.06)
    assert max(loss.epsilon(excess) for loss in ours.lower) == pytest.approx(590.7, abs=0.06)


# --- Rows of a p-table of any shape, by brute force ---

TILTED = PTableRow(1, (-1, 0, 1, 2), (0.2, 0.4, 0.3, 0.1))
CUSTOM = {
    "stay": PTable.max_entropy(variance=2, bound=3, stay=0.6),
    "threshold": PTable.max_entropy(variance=3, bound=3, threshold=1),
    "zeros": PTable.max_entropy(variance=2, bound=3, monotone=True, floor=0.01, perturb_zeros=True),
    "biased": PTable((PTableRow(0, (0,), (1.0,)), TILTED)),
    "in turn": PTable(
        (PTableRow(0, (0,), (1.0,)), TILTED, PTableRow(2, (-1, 0, 1), (0.3, 0.4, 0.3))),
        repeat=2,
    ),
}


def by_brute_force(ptable: PTable, count: int, statistics: int, epsilon: float) -> float:
    """Return delta for a person who makes `count` to `count + 1` in every count, over all outputs, both directions."""
    outputs = range(count - ptable.bound, count + ptable.bound + 2)
    smaller, larger = (
        [float(ptable.rows[int(ptable.row_numbers(true))].pmf(y - true)) for y in outputs]
        for true in (count, count + 1)
    )
    found = [0.0, 0.0]
    for place in product(range(len(outputs)), repeat=statistics):
        p, q = (math.prod(law[y] for y in place) for law in (smaller, larger))
        found[0] += max(0.0, p - math.exp(epsilon) * q)
        found[1] += max(0.0, q - math.exp(epsilon) * p)
    return max(found)


@pytest.mark.parametrize("name", CUSTOM)
@pytest.mark.parametrize("statistics", [1, 3])
def test_large_counts_of_a_ptable_compose_by_its_own_rows(name: str, statistics: int) -> None:
    ptable = CUSTOM[name]
    last = len(ptable.rows) - 1
    found = compose_large(ptable, statistics, step=2e-4)
    for epsilon in (0.0, 0.7, 2.0, 30.0):
        expected = max(
            by_brute_force(ptable, count, statistics, epsilon) for count in range(last + 1 - ptable.repeat, last + 1)
        )
        assert found.delta(epsilon).value == pytest.approx(expected, abs=1e-3), epsilon
        assert max(loss.delta(epsilon) for loss in found.lower) <= expected + 1e-9
    assert found.floor().value == pytest.approx(found.delta(30.0).value)


def test_a_table_that_often_leaves_counts_as_they_are_shows_who_is_there() -> None:
    # One person changes 119 counts of the ONS release: a maximum-entropy distribution of variance 2 gave 0.063.
    ptable = PTable.max_entropy(variance=2, bound=5, stay=0.6)
    found = compose_large(ptable, 119)
    outermost = float(ptable.rows[-1].pmf(5))
    assert found.floor().value == pytest.approx(1 - (1 - outermost) ** 119)
    assert found.floor().value == pytest.approx(0.464, abs=5e-4)
    alone = 1 - float(ptable.rows[1].pmf(-1))
    assert alone == pytest.approx(0.739, abs=5e-4)
    assert found.condition.startswith("every one of these counts exceeds 5; a person in a singleton cell is detected")
    assert f"with probability {downwards(alone)}" in found.condition


def test_a_maximum_entropy_table_composes_as_its_law() -> None:
    for threshold in (0, 2):
        ptable = PTable.max_entropy(variance=3, bound=10, threshold=threshold)
        assert compose_large(ptable, STATISTICS).floor().value == pytest.approx(
            compose(LARGE, STATISTICS).floor().value
        )
        alone = downwards(1 - float(ptable.rows[1].pmf(-1)))
        assert f"exceeds {len(ptable.rows) - 1}; a person in a singleton cell is detected with probability {alone}" in (
            compose_large(ptable, STATISTICS).condition
        )


def test_a_constant_shift_hides_nobody() -> None:
    shift = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (2,), (1.0,))))
    assert compose_large(shift, 7).floor().value == 1


def test_the_condition_stands_in_every_sentence() -> None:
    composition = compose(SMALL, STATISTICS)
    results = [
        composition.floor(),
        composition.delta(600),
        composition.advantage(),
        composition.epsilon(0.9),
        composition.epsilon(0.5),
        composition.epsilon_above_floor(1e-3),
    ]
    for result in results:
        assert "This holds only if every one of these counts exceeds 5" in result.sentence
        assert "a person in a singleton cell is detected with probability 0.512" in result.sentence
        assert result.assumptions[0].startswith("only if every one of these counts exceeds 5")


def test_a_delta_below_the_floor_has_no_epsilon() -> None:
    result = compose(SMALL, STATISTICS).epsilon(1e-6)
    assert result.value == math.inf
    assert "reveals the presence or absence of one person with probability 0.781" in result.sentence


@pytest.mark.parametrize("law", [TwoSidedGeometric(epsilon=1.0), Gaussian(sigma=2.0), Laplace(scale=2.0)], ids=repr)
def test_unbounded_laws_must_reach_every_count(law: Noise) -> None:
    result = compose(law, 10).delta(5.0)
    assert "added to every one of these counts, zeros included, and drawn exactly" in result.sentence


def test_the_grid_of_the_keys_is_said() -> None:
    assert any("64-bit keys change epsilon by at most" in said for said in compose(LARGE, 10).floor().assumptions)
    cut = compose(MaxEntropy(variance=1, bound=20), 10).floor()
    assert any("64-bit keys remove its outermost values" in said for said in cut.assumptions)
    assert any("rounded to 4096 keys" in said for said in compose(SMALL, 10, key_space=4096).floor().assumptions)


def test_a_coarse_grid_has_a_floor_of_its_own() -> None:
    row = SMALL.rounded(256)
    last = row.law()[row.bound]
    assert compose(SMALL, 10, key_space=256).floor().value == pytest.approx(1 - float(1 - last) ** 10)


@given(st.integers(1, 200), st.floats(0, 50))
def test_replacing_a_person_composes_twice_as_many_counts(statistics: int, epsilon: float) -> None:
    replaced = compose(LARGE, statistics, Neighbours("replace-one"))
    assert replaced.counts == 2 * statistics
    assert replaced.delta(epsilon).value == compose(LARGE, 2 * statistics).delta(epsilon).value


LAWS = [SMALL, LARGE, TwoSidedGeometric(epsilon=0.5), DiscreteGaussian(sigma=2.0), Uniform(bound=6)]


@given(st.sampled_from(LAWS), st.integers(2, 4), st.integers(1, 8), st.floats(0, 12))
def test_a_household_in_one_cell_is_worse_than_in_many(
    law: Noise, household: int, statistics: int, epsilon: float
) -> None:
    one_cell = compose(law, statistics, Neighbours(household=household)).delta(epsilon).value
    many_cells = compose(law, statistics * household).delta(epsilon).value
    assert one_cell >= many_cells - 1e-12


def test_unit_shifts_are_no_bound_for_a_household() -> None:
    # Four persons in one cell move it by 4 of its standard deviations of 2, not by sqrt(4).
    law = DiscreteGaussian(sigma=2.0)
    assert compose(law, 1, Neighbours(household=4)).delta(1.0).value > 2 * compose(law, 4).delta(1.0).value


def test_a_household_needs_larger_counts() -> None:
    result = compose(SMALL, 5, Neighbours(household=3)).delta(1.0)
    assert "exceeds 7" in result.sentence
    assert "one household of 3" in result.sentence
    assert compose(SMALL, 5, Neighbours(household=11)).floor().value == 1


@pytest.mark.parametrize("statistics", [0, -3, 2.5])
def test_a_number_of_statistics_outside_its_domain_is_refused(statistics: int) -> None:
    with pytest.raises(ParameterError, match="statistics must be a positive whole number"):
        compose(SMALL, statistics)
    with pytest.raises(ParameterError, match="statistics must be a positive whole number"):
        compose_large(PTable.max_entropy(variance=2, bound=5), statistics)


def test_a_step_outside_its_domain_is_refused() -> None:
    with pytest.raises(ParameterError, match="step must be a positive number"):
        compose(Gaussian(sigma=2.0), 5, step=0)
