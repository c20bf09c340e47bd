"""Every law can be given a variance, and one within a bound keeps it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.calibration.mechanisms_compared import with_variance
from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.by_name import distribution_names, noise_named
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.ptable import PTable


@pytest.mark.parametrize("law", [name for name in distribution_names() if name != "uniform"])
@pytest.mark.parametrize("variance", [0.7, 2.0, 8.0])
def test_the_law_has_the_variance_that_was_asked_for(law: str, variance: float) -> None:
    made = noise_named(law, **with_variance(law, variance, 9))  # type: ignore[arg-type]  # parameters alone
    found = made.large.variance if isinstance(made, PTable) else made.variance
    assert found == pytest.approx(variance, rel=1e-6)
    if "bound" in with_variance(law, variance, 9):
        assert made.bound == 9


def test_a_law_that_is_told_by_its_bound_has_the_nearest_variance() -> None:
    # Variances E (E + 1) / 3: 2/3, 2, 4, 20/3, 10.
    assert with_variance("uniform", 2.0, 99) == {"bound": 2}
    assert with_variance("uniform", 2.9, 99) == {"bound": 3}
    assert with_variance("uniform", 2.7, 99) == {"bound": 2}
    assert with_variance("uniform", 0.01, 99) == {"bound": 1}


@given(
    st.sampled_from([name for name in distribution_names() if name not in {"uniform", "max-entropy"}]),
    st.floats(0.6, 12),
)
def test_a_larger_variance_is_a_wider_law(law: str, variance: float) -> None:
    narrow, wide = (DISTRIBUTIONS.get(law)(**with_variance(law, v, 12)) for v in (variance, 1.3 * variance))
    assert narrow.pmf(0) > wide.pmf(0)


def test_more_than_a_bound_leaves_room_for_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"with bound 5 has a variance below 10, .* Give a larger"):
        with_variance("truncated-laplace", 10, 5)


def test_no_variance_and_no_law_are_refused() -> None:
    with pytest.raises(ParameterError, match="variance"):
        with_variance("laplace", 0, 5)
    with pytest.raises(UnknownNameError, match="laplace"):
        with_variance("laplac", 1, 5)
