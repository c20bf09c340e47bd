"""The measures of redundancy: how often statistics come back, and what averaging makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.equations.closed_form import success
from discreet.results import Result
from discreet.risk.averaging import chebyshev, epsilon_allowed, variance_needed
from discreet.risk.registry import measure

if TYPE_CHECKING:
    from discreet.risk.case import Case

BLOCKS = (
    "closed form for equal blocks: every category splits into equally many finer ones. Real blocks differ, and single "
    "counts can be known better or worse"
)
APART = "each universe by itself: tables of several universes together reveal more"
SEARCHED = (
    "solved exactly; the smallest variance of {solved:,} solved cells, chosen by {how} among {kinds:,} kinds of cells, "
    "so that the risk is at least this"
)
SOLVED = "every published cell solved exactly"
TOO_LARGE = "too many cells to solve exactly"
FLAT = "rule flat: the finest level of every breakdown only, which understates the risk"
LARGE = "counts well above the noise bound; small counts contain fewer noise terms"
INDEPENDENT = "noise independent between cells with different participants (mixed keys)"
PLAIN = "plain keys: the noises of a total and its parts are related, so that the attacker can learn more than this"


@measure("redundancy")
def redundancy(case: Case) -> list[Result]:
    """Return how many representations the most redundant statistic has (t and k of the paper)."""
    found = case.averaging
    most = int(found.t.argmax())
    published = sum(int(each.tables.sum()) for each in case.lattices.values())
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
    """Return how well the optimal linear attack knows the most exposed statistic; nothing where counts are rounded."""
    worst = None if case.record.rounds else case.worst
    if worst is None:
        return []
    variance, ratio = case.record.variance, worst.ratio
    right = success(variance, ratio)
    paper = success(variance, float(case.averaging.greedy[case.averaging.names.index(worst.statistic)]))
    needed = variance_needed(ratio, case.confidence)
    keys = PLAIN if case.record.has_plain_keys else INDEPENDENT
    assumptions = (*_counting(case), LARGE, keys, "errors of the estimate close to Gaussian")
    closed = (
        "" if case.exposed is None else f"; closed form for equal blocks: {success(variance, worst.closed_form):.1%}"
    )
    return [
        Result(
            name="averaging_success",
            equation="P(|N(0, V r)| < 1/2), r = |P e|^2, P the projection on the equations of all published counts"
            if case.exposed
            else "P(|N(0, V r)| < 1/2), r = N_a^-2 sum_{b <= a} prod(N_b - N_{b-1}) / sum_{s >= b} m_s / N_s",
            value=right,
            unit="1",
            sentence=f"The optimal linear attack recovers counts of {worst.statistic} exactly in {right:.1%} of cases "
            f"(the paper's average: {paper:.1%}{closed}). The standard error of its estimate is "
            f"{(variance * ratio) ** 0.5:.2f}. Whatever the noise distribution, the rate is at least "
            f"{chebyshev(variance, ratio):.1%} (Chebyshev).",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
        Result(
            name="variance_needed",
            equation="V = 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2; eps = sqrt(2 / V)",
            value=needed,
            unit="persons squared",
            sentence=f"Target: at most {case.confidence:.1%} for every statistic. It needs a variance of {needed:.2f} "
            f"(now {variance:g}), or an epsilon per count of at most {epsilon_allowed(ratio, case.confidence):.3f}.",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
    ]


def _counting(case: Case) -> tuple[str, ...]:
    """Return how the most exposed statistic was found."""
    if case.exposed is not None:
        found = case.exposed
        if found.complete:
            return (SOLVED,)
        how = "random probes" if found.probed else "the closed form"
        return (SEARCHED.format(solved=len(found.solved), kinds=found.kinds, how=how),)
    counting = [BLOCKS if case.rule == "levels" else FLAT]
    if case.rule == "levels" and not case.closed_form and not case.keep_single:
        counting.insert(0, TOO_LARGE)
    return (*counting, *([APART] if len(case.lattices) > 1 else []))
