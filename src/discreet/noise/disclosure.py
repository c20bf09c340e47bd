"""What a p-table tells about true 1s: the posterior of a true 1 given a published count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.ptable import PTable


def posteriors_of_one(ptable: PTable) -> dict[int, float]:
    """Return P(true 1 | published y) by published y >= 1, every true count equally likely beforehand.

    P(1 | y) = p(1 -> y) / sum_i p(i -> y), the sum over all true counts i.
    """
    found = {}
    for value in ptable.rows[1].table.values.tolist():
        y = 1 + value
        if y >= 1:
            counts = np.arange(y + ptable.bound + 1)
            rows = ptable.row_numbers(counts)
            reaching = [float(ptable.rows[row].pmf(y - i)) for i, row in enumerate(rows.tolist())]
            if sum(reaching) > 0:
                found[y] = reaching[1] / sum(reaching)
    return found


def posterior_of_one(ptable: PTable) -> Result | None:
    """Return the largest posterior of a true 1 as a result, or None if no true 1 is ever published as 1 or more."""
    posteriors = posteriors_of_one(ptable)
    if not posteriors:
        return None
    published, posterior = max(posteriors.items(), key=lambda item: item[1])
    return Result(
        name="posterior_of_one",
        value=posterior,
        unit="1",
        sentence=f"A published {published} was a true 1 with probability {posterior:.3f} "
        "if every true count was equally likely beforehand.",
        worst=f"published {published}",
        assumptions=(
            "flat prior: every true count equally likely",
            "the attacker sees this one count and no margin",
            "law before rounding to keys",
        ),
    )
