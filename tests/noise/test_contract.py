"""One contract for all noise distributions.

Parameter values come from the declared typical ranges, so that a new
distribution is tested as soon as it is registered.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import SeededBits, SystemBits
from discreet.noise.parameters import parameters
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.noise.laws import LAWS, ends, every_law, is_whole, label, make, stretchable_laws, stretched, symmetric_laws
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.noise.distribution import Noise

SAMPLE = 20_000
KEY_SPACES = [256, 1000, 4096]

of_every_law = each("law", every_law, ids=label)
of_every_symmetric_law = each("law", symmetric_laws, ids=label)
of_every_kind = each("kind", LAWS.values(), ids=LAWS)


def support(law: Noise) -> Ints:
    """Return all values whose probability is a double above 0, and the zeros next to a bound."""
    edge = int(law.bound) + 2 if math.isfinite(law.bound) else law.reach(1e-300)
    return np.arange(-edge, edge + 1)


@of_every_law
def test_probabilities_sum_to_one(law: Noise) -> None:
    assert math.fsum(law.pmf(support(law))) == pytest.approx(1, abs=1e-12)


@of_every_law
def test_mean_is_zero(law: Noise) -> None:
    x = support(law)
    assert math.fsum(x * law.pmf(x)) == pytest.approx(0, abs=1e-12 * math.sqrt(law.variance))


@of_every_symmetric_law
def test_law_is_symmetric(law: Noise) -> None:
    x = support(law)
    np.testing.assert_allclose(law.pmf(x), law.pmf(-x), rtol=1e-12)


@of_every_law
def test_log_pmf_is_the_logarithm_of_pmf(law: Noise) -> None:
    x = support(law)
    p = law.pmf(x)
    np.testing.assert_allclose(law.log_pmf(x)[p > 0], np.log(p[p > 0]), rtol=1e-12, atol=1e-15)
    assert np.isneginf(law.log_pmf(x)[p == 0]).all()


@of_every_law
def test_cdf_is_the_running_sum_of_pmf(law: Noise) -> None:
    x = support(law)
    running = np.cumsum(law.pmf(x))
    np.testing.assert_allclose(law.cdf(x), running, rtol=0, atol=1e-12)


@of_every_law
def test_cdf_keeps_its_digits_in_the_lower_tail(law: Noise) -> None:
    x = support(law)
    x = x[x < 0]
    # The tail below reach(1e-300) is missing in the sum; it does not show where the sum is far above it.
    running = np.cumsum(law.pmf(x))
    np.testing.assert_allclose(law.cdf(x)[running > 1e-280], running[running > 1e-280], rtol=1e-9)


@of_every_law
def test_variance_is_the_mean_square(law: Noise) -> None:
    x = support(law)
    assert law.variance == pytest.approx(math.fsum(x.astype(float) ** 2 * law.pmf(x)), rel=1e-11)


@of_every_law
def test_nothing_lies_beyond_the_bound(law: Noise) -> None:
    if math.isfinite(law.bound):
        edge = int(law.bound)
        assert law.pmf([-edge - 1, edge + 1]).tolist() == [0, 0]
        assert law.cdf([-edge - 1, edge]).tolist() == [0, 1]
        assert law.pmf([-edge, edge]).any()
    else:
        assert np.isfinite(law.log_pmf([-(10**6), 10**6])).all()


@settings(max_examples=up_to(60))
@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_quantile_is_the_inverse_of_cdf(q: float) -> None:
    for law in every_law():
        x = law.quantile(q)
        assert law.cdf(x) >= q, label(law)
        assert law.cdf(x - 1) < q, label(law)


@of_every_law
def test_quantiles_of_many_levels_are_the_quantiles_of_each(law: Noise) -> None:
    levels = np.array([[1e-9, 0.025, 0.4], [0.5, 0.975, 1 - 1e-9]])
    found = law.quantile(levels)
    assert found.shape == levels.shape
    assert found.ravel().tolist() == [int(law.quantile(q)) for q in levels.ravel()]


@of_every_law
@each("q", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_quantile_refuses_levels_outside_0_and_1(law: Noise, q: float) -> None:
    with pytest.raises(ParameterError, match="q must lie strictly between 0 and 1"):
        law.quantile(q)


@of_every_law
def test_probabilities_of_fractions_are_refused(law: Noise) -> None:
    with pytest.raises(ParameterError, match="x must be whole numbers"):
        law.pmf(0.5)


@of_every_kind
def test_parameters_outside_their_domain_are_refused(kind: type[Noise]) -> None:
    for name, declared in parameters(kind).items():
        refused: list[Any] = [0, -1, math.nan, math.inf, -math.inf, True, "2", None, 1j]
        for value in [*refused, 1.5, 2.0] if is_whole(declared) else refused:
            # 3 lies inside every domain and does not collide with any other.
            others = {other: 3 for other in parameters(kind) if other != name}
            with pytest.raises(ParameterError) as refusal:
                make(kind, {name: value, **others})
            low, high = declared.typical
            assert refusal.value.parameter == name
            assert f"{kind.__name__}: {name} must be {declared.domain.words}, not {value!r}" in str(refusal.value)
            assert f"Typical values: {low:g} to {high:g}." in str(refusal.value)


@of_every_kind
def test_help_names_every_parameter_with_its_domain(kind: type[Noise]) -> None:
    text = kind.describe()
    assert text.startswith(str(kind.__doc__).split("\n", maxsplit=1)[0])
    for name, declared in parameters(kind).items():
        low, high = ends(declared)
        assert f"{name}: {declared.symbol}, {declared.meaning}" in text
        assert f"{declared.domain.words}, typically {low:g} to {high:g}" in text


@of_every_law
@each("key_space", KEY_SPACES)
def test_all_keys_together_draw_exactly_the_rounded_law(law: Noise, key_space: int) -> None:
    noise = law.draw(np.arange(key_space), key_space)
    values, times = np.unique(noise, return_counts=True)
    drawn = dict(zip(values.tolist(), times.tolist(), strict=True))
    assert drawn == {value: p * key_space for value, p in law.rounded(key_space).law().items()}
    assert (np.diff(noise) >= 0).all()


@of_every_law
@each("key_space", [*KEY_SPACES, 10**8, 2**32, 2**64])
def test_rounded_law_has_sum_key_space_and_mean_zero(law: Noise, key_space: int) -> None:
    row = law.rounded(key_space)
    assert row.key_space == key_space
    assert sum(row.law().values()) == 1
    assert row.moment(1) == 0
    assert row.bound <= law.bound


@of_every_law
def test_rounded_law_tends_to_the_law(law: Noise) -> None:
    row = law.rounded(2**64)
    assert float(row.variance) == pytest.approx(law.variance, rel=1e-9)
    for value, p in row.law().items():
        assert float(p) == pytest.approx(float(law.pmf(value)), rel=1e-12, abs=2 / 2**64)


@of_every_law
def test_a_seed_makes_samples_repeatable(law: Noise) -> None:
    sample = law.sample(200, SeededBits(5))
    assert sample.dtype == np.int64
    assert sample.shape == (200,)
    assert np.array_equal(sample, law.sample(200, SeededBits(5)))
    assert not np.array_equal(sample, law.sample(200, SeededBits(6)))


@of_every_law
def test_bits_are_used_up(law: Noise) -> None:
    bits = SeededBits(5)
    both = [*law.sample(150, bits).tolist(), *law.sample(50, bits).tolist()]
    assert both == law.sample(200, SeededBits(5)).tolist()


@of_every_law
def test_seeded_sample_has_the_law(law: Noise) -> None:
    assert p_value(law.sample(SAMPLE, SeededBits(11)), law) > ACCEPT


@of_every_law
def test_system_sample_has_the_law(law: Noise) -> None:
    # No seed, so the limit is the one at which the stretched law would be rejected: it never fails by chance.
    assert p_value(law.sample(SAMPLE), law) > REJECT
    assert p_value(law.sample(SAMPLE, SystemBits()), law) > REJECT


@each("factor", [1.3, 0.7])
@each("law", stretchable_laws, ids=label)
def test_sample_is_not_of_the_law_stretched_by_30_percent(law: Noise, factor: float) -> None:
    sample = law.sample(SAMPLE, SeededBits(12))
    assert p_value(sample, law) > ACCEPT
    for other in stretched(law, factor):
        assert p_value(sample, other) < REJECT
