"""The check accepts the stated targets and notices targets that are 30 % off."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ParameterError
from discreet.synthetic import check
from tests.each import each
from tests.synthetic.sample import off_by_30_percent

if TYPE_CHECKING:
    from discreet.synthetic.marginal_check import Marginal

NAMES = (
    "age and sex",
    "employed by age and sex",
    "households by size",
    "born abroad by age",
    "households by LAU",
    "households by density of cells",
)


@cache
def marginals(country: str = "LU") -> dict[str, Marginal]:
    return {marginal.name: marginal for marginal in check(country)}


def test_these_are_checked() -> None:
    assert tuple(marginals()) == NAMES


@pytest.mark.slow
@each("country", ["LU", "FR"])
@each("name", NAMES)
def test_persons_have_the_stated_marginals(country: str, name: str) -> None:
    marginal = marginals(country)[name]
    assert marginal.agrees, str(marginal)


@each("country", ["LU", "FR"], every=2)
@each("name", NAMES)
def test_targets_that_are_30_percent_off_are_noticed(country: str, name: str) -> None:
    marginal = marginals(country)[name]
    targets = off_by_30_percent([share.target for share in marginal.shares])
    moved = [replace(share, target=target) for share, target in zip(marginal.shares, targets, strict=True)]
    assert not replace(marginal, shares=tuple(moved)).agrees


@each("name", ["age and sex", "households by size", "households by LAU", NAMES[-1]])
def test_shares_of_a_whole_add_up(name: str) -> None:
    shares = marginals()[name].shares
    assert sum(share.value for share in shares) == pytest.approx(1)
    assert sum(share.target for share in shares) == pytest.approx(1)


def test_a_sample_of_hardly_anybody_proves_nothing_and_breaks_nothing() -> None:
    assert len(check("LU", persons=3)) == len(NAMES)


def test_a_wrong_number_is_refused() -> None:
    with pytest.raises(ParameterError, match="persons must be a whole number"):
        check("LU", persons=0)
