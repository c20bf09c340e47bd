"""The accuracy of small areas: epsilon that keeps all totals of t areas within E, log(t / (1 - alpha)) / E.

Equation (16) of the paper, section 4.2, and its figure 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.accuracy_bound import ONE_SIGMA, epsilon_needed, exact_epsilon_needed
from discreet.paper.number_comparison import AREAS, number
from discreet.paper.published import LAUS
from discreet.programme.eu2021.census import countries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats
    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

ACCURATE = 20
"""Persons that no total should be off by."""
EDITION = "lau2_2010"
"""Units of 2010, which the census of 2011 had."""


def numbers(_sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    listed = countries()
    for name, country in (("laus-france", "FR"), ("laus-malta", "MT")):
        now = int(listed[country]["lau_2020"])
        note = f"units of 2010, which the census of 2011 had; of 2020 there are {now:,}"
        yield number(name, float(listed[country][EDITION]), note, basis=AREAS)
    yield _needed("epsilon-large", LAUS["France"], "France")
    yield _needed("epsilon-large", int(listed["DE"][EDITION]), "Germany", "The paper names Germany beside France.")
    yield _needed("epsilon-small", LAUS["Malta"], "Malta")
    yield _needed("epsilon-1000", 1000, "")


def _needed(name: str, areas: int, variant: str, more: str = "") -> Number:
    exact = exact_epsilon_needed(ACCURATE, areas)
    note = f"{areas:,} areas, a union bound over them; {exact:.3f} suffices if their noises are independent"
    return number(name, epsilon_needed(ACCURATE, areas), f"{note}. {more}".rstrip(". "), variant=variant)


@dataclass(frozen=True, eq=False)
class AccuracyCurves:
    """The least epsilon by the error that no total may exceed.

    Attributes:
        errors: E.
        areas: by name, how many t.
        epsilon: by name, for every error.
        accurate: for E = 20, the least epsilon by name.
        confidence: alpha.
    """

    errors: Floats
    areas: dict[str, int]
    epsilon: dict[str, Floats]
    accurate: dict[str, float]
    confidence: float


def accuracy_curves() -> AccuracyCurves:
    """Return figure 5."""
    errors = np.geomspace(1, 200, 93)
    curves = {
        name: np.array([epsilon_needed(error, areas) for error in errors.tolist()]) for name, areas in LAUS.items()
    }
    accurate = {name: epsilon_needed(ACCURATE, areas) for name, areas in LAUS.items()}
    return AccuracyCurves(errors, dict(LAUS), curves, accurate, ONE_SIGMA)
