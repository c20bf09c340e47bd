"""The measures of redundancy: how often statistics come back, and what averaging makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import success
from discreet.results import Result
from discreet.risk.averaging import chebyshev, epsilon_allowed, variance_needed
from discreet.risk.registry import measure

if TYPE_CHECKING:
    from discreet.risk.case import Case

BLOCKS = (
    "a surrogate: every category splits into equally many finer ones. Real trees differ both ways: a category that is "
    "not split again brings no new noise, so that the attacker knows less; uneven blocks let her know single counts "
    "better (--exact solves chosen ones)"
)
FLAT = "rule flat: the finest level of every breakdown only, which understates the risk"
LARGE = "counts well above the noise bound; small counts contain fewer noise terms"
INDEPENDENT = "noise independent between cells with different participants (mixed keys)"
PLAIN = "plain keys: the noises of a total and its parts are related, so that the attacker can learn more than this"


@measure("redundancy")
def redundancy(case: Case) -> list[Result]:
    """Return how many representations the most redundant statistic has (t and k of the paper)."""
    found = case.averaging
    most = int(found.t.argmax())
    published = int(case.lattice.tables.sum())
    unique = len(found.names)
    how = "the same in every table" if case.record.spsn else "new in every table"
    return [
        Result(
            name="redundancy",
            equation="t = number of published s >= a, k = sum N_s / N_a",
            value=float(found.t[most]),
            unit="representations",
            sentence=f"{unique:,} different statistics are published {published:,} times; noise is {how}. The "
            f"statistic {found.names[most]} can be computed in {found.t[most]:,} ways from {found.k[most]:,.0f} noisy "
            "counts.",
            worst=found.names[most],
            assumptions=(f"rule {case.rule}", "the statistic itself counted once"),
        )
    ]


@measure("averaging")
def averaging_risk(case: Case) -> list[Result]:
    """Return how well the best linear attack knows the most exposed statistic; nothing where counts are rounded."""
    if case.record.rounds:
        return []
    found, variance = case.averaging, case.record.variance
    # What is known beforehand is no discovery.
    unknown = np.where(found.optimal > 0, found.optimal, np.inf)
    worst = int(unknown.argmin())
    if not np.isfinite(unknown[worst]):
        return []
    name, ratio = found.names[worst], float(found.optimal[worst])
    right = success(variance, ratio)
    paper = success(variance, float(found.greedy[worst]))
    needed = variance_needed(ratio, case.confidence)
    counting = BLOCKS if case.rule == "levels" else FLAT
    keys = PLAIN if case.record.has_plain_keys else INDEPENDENT
    assumptions = (counting, LARGE, keys, "errors of the estimate close to Gaussian")
    error = (variance * ratio) ** 0.5
    return [
        Result(
            name="averaging_success",
            equation="P(|N(0, V r)| < 1/2), r = N_a^-2 sum_{b <= a} prod(N_b - N_{b-1}) / sum_{s >= b} m_s / N_s",
            value=right,
            unit="1",
            sentence=f"An attacker who combines everything published knows a count of {name} to ±{error:.2f} and is "
            f"right to the person in {_of_ten(right)} cases ({right:.3f}); the paper's average would suggest "
            f"{_of_ten(paper)}. In any case at least {chebyshev(variance, ratio):.2f} (Chebyshev).",
            worst=name,
            assumptions=assumptions,
        ),
        Result(
            name="variance_needed",
            equation="V = 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2; eps = sqrt(2 / V)",
            value=needed,
            unit="persons squared",
            sentence=f"To hold her to {case.confidence:.0%} for every statistic a variance of {needed:.2f} "
            f"{'is needed' if needed > variance else 'would do'} (now {variance:g}), or an epsilon per count of at "
            f"most {epsilon_allowed(ratio, case.confidence):.3f}.",
            worst=name,
            assumptions=assumptions,
        ),
    ]


def _of_ten(share: float) -> str:
    """Return a share as a number of ten, said with care at the ends."""
    if share >= 0.95:
        return "nearly all" if share < 0.995 else "all but a few of 1,000"
    if share < 0.05:
        return "hardly any"
    return f"about {round(10 * share)} of 10"
