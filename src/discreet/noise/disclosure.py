"""What a p-table tells about true 1s: the posterior of a true 1 given a published count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.ptable import PTable


def posteriors_of_one(ptable: PTable, least: int = 1) -> dict[int, float]:
    """Return P(true 1 | published y) by published y from `least` on, every true count equally likely beforehand.

    P(1 | y) = p(1 -> y) / sum_i p(i -> y), the sum over all true counts i.
    """
    bound = ptable.bound
    change = np.arange(-bound, bound + 1)
    chances = np.stack([row.pmf(change) for row in ptable.rows])
    found = {}
    for y in (1 + value for value in ptable.rows[1].table.values.tolist() if 1 + value >= least):
        counts = np.arange(max(y - bound, 0), y + bound + 1)
        reaching = chances[ptable.row_numbers(counts), y - counts + bound]
        if reaching.sum() > 0:
            found[y] = float(reaching[counts == 1][0] / reaching.sum())
    return found


def posterior_of_one(ptable: PTable) -> Result | None:
    """Return the largest posterior of a true 1 as a result, or None if no true 1 is ever published as 1 or more."""
    posteriors = posteriors_of_one(ptable, least=0)
    shown = {y: posterior for y, posterior in posteriors.items() if y >= 1}
    if not shown:
        return None
    published, posterior = max(shown.items(), key=lambda item: item[1])
    zero = f"; a published 0 was one with probability {posteriors[0]:.3f}" if posteriors.get(0, 0) > 0 else ""
    return Result(
        name="posterior_of_one",
        equation="P(1 | y) = p(1 -> y) / sum_i p(i -> y)",
        value=posterior,
        unit="1",
        sentence=f"A published {published} was a true 1 with probability {posterior:.3f} if every true count was "
        f"equally likely beforehand, and no other published count above 0 more often{zero}.",
        worst=f"published {published}",
        assumptions=(
            "flat prior: every true count equally likely",
            "the worst of published counts from 1 on",
            "the attacker sees this one count and no margin",
            "law before rounding to keys",
        ),
    )
