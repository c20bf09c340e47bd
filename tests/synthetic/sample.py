"""Samples of synthetic persons that the tests share, made once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

from discreet.synthetic.demography import AgesAndSexes
from discreet.synthetic.households import Residents, form_households
from discreet.synthetic.random_choice import Draws
from discreet.synthetic.residence import names
from discreet.synthetic.synthetic_census import BLOCK, SyntheticCensus

if TYPE_CHECKING:
    from collections.abc import Sequence

ACCEPT, REJECT = 1e-6, 1e-12
"""The p-value of a sample is above the first against its own shares, below the second against shares 30 % off."""


@cache
def persons(country: str = "LU", number: int = 50_000, seed: int = 1) -> pd.DataFrame:
    """Return persons with their codes as text, and their age in years as YEARS."""
    made = SyntheticCensus(country, number, seed)
    blocks = [made.block(place) for place in range(made.blocks)]
    columns: dict[str, Any] = {
        "PERSON_ID": np.concatenate([block.person for block in blocks]),
        "HOUSEHOLD_ID": np.concatenate([block.household for block in blocks]),
    }
    for name, codes in made.codes.items():
        columns[name] = np.array(codes, dtype=object)[np.concatenate([block.topics[name] for block in blocks])]
    columns["GRID"] = names(np.concatenate([block.cell for block in blocks]).tolist())
    years = {code: place for place, code in enumerate(made.codes["AGE"])}
    return pd.DataFrame(columns).assign(YEARS=[years[code] for code in columns["AGE"]])


@cache
def residents(number: int = BLOCK, seed: int = 1) -> Residents:
    """Return persons in households, before they have codes."""
    draws = Draws("a test", seed)
    return form_households(AgesAndSexes.draw(number, draws), draws)


def p_value(observed: Sequence[int], shares: Sequence[float]) -> float:
    """Return the p-value of counts against shares, by Pearson's chi-square; a count without a share has none."""
    seen, expected = np.asarray(observed), np.asarray(shares) / np.sum(shares) * np.sum(observed)
    if (seen[expected == 0] > 0).any():
        return 0.0
    seen, expected = seen[expected > 0], expected[expected > 0]
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(seen) - 1))


def off_by_30_percent(shares: Sequence[float]) -> list[float]:
    """Return shares of which every second one by size is 30 % larger."""
    ranks = np.argsort(np.argsort(-np.asarray(shares), kind="stable"))
    return [share * (1.3 if rank % 2 else 1) for share, rank in zip(shares, ranks.tolist(), strict=True)]
