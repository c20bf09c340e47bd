"""Results, warnings and sentences about a p-table, computed once for all interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.noise.distribution import WORDS
from discreet.noise.published_counts import NEARLY_CERTAIN, posterior_of_one
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.ptable import PTable


COARSE = 0.01
"""Relative change of the variance by rounding above which a warning is given."""
FEW_KEYS = 1 << 16
MANY = 10_000
"""Number of counts of one row in the example of summed noise."""
ROUNDING = (
    "The p-table is a rounding rule: every count is always changed in the same way. Rounding is not random, so that "
    "results on averaging do not apply."
)
FIXED = (
    "The p-table has no random noise: every count is always changed in the same way, and different counts stay "
    "different. Anyone who knows the p-table recovers all counts exactly. It does not protect."
)
CENTRED = 1e-6
"""A mean below this is due to the decimals of a file."""


def results(ptable: PTable) -> list[Result]:
    """Return the main results."""
    found = [_typical_noise(ptable), _largest_noise(ptable)]
    if ptable.shortfalls():
        found.append(_shortfall(ptable))
    if len(ptable.rows) > 1 and (posterior := posterior_of_one(ptable)):
        found.append(posterior)
    return found


def warnings(ptable: PTable, keys: str | None = None, *, non_negative: bool = False) -> list[str]:
    """Return warnings: tails truncated by the grid, rows that are not centred, too few keys, negative counts.

    Args:
        ptable: the p-table.
        keys: the source of the noise: `mixed` or `plain` keys, or `words` that are uniform on 64 bits; None for all
            warnings, if the source is not known yet.
        non_negative: whether negative results are published as 0.
    """
    found = _on_grid(ptable) if keys in {None, "plain"} else _tilted(ptable, _means_of_words(ptable))
    if keys in {None, "mixed"} and ptable.key_space < FEW_KEYS:
        found += _few_keys(ptable)
    last = ptable.rows[-1]
    if ptable.repeat == 1 and not ptable.perturbs_zeros and min(last.values) > -ptable.bound:
        found.append(
            f"The last row, {last.count}, has no decrease by the bound of {ptable.bound}, which rows for large counts "
            "have. A row may be missing at the end."
        )
    below = [row.count for row in ptable.rows if row.count + min(row.values) < 0]
    if below and not ptable.perturbs_zeros and not non_negative:
        found.append(
            f"Counts of {_rows(below)} may be published as negative numbers, which disclose that they are not 0."
        )
    if ptable.perturbs_zeros and not non_negative:
        by_hand = " All empty cells have cell key 0, so that their noise must be drawn by coordinates."
        found.append("Zeros are perturbed and counts may become negative." + ("" if keys else by_hand))
    return [*_disclosure(ptable, plain=keys == "plain"), *found]


def _on_grid(ptable: PTable) -> list[str]:
    """Return warnings about the effect of the grid of plain keys on the rows."""
    pairs, found = list(zip(ptable.rows, ptable.rounded, strict=True)), []
    cut = [row.count for row, grid in pairs if grid.bound < row.bound]
    if cut:
        reached = max(ptable.rounded[count].bound for count in cut)
        found.append(
            f"On a key space of {ptable.key_space} the outermost noise of {_rows(cut)} has a probability below one key "
            f"and is never drawn with plain keys. There the bound is ±{reached} instead of ±{ptable.bound}."
        )
    found += _tilted(ptable, [float(grid.moment(1)) for grid in ptable.rounded])
    coarse = [row.count for row, grid in pairs if abs(float(grid.variance) - row.variance) > COARSE * row.variance]
    if coarse:
        worst = max(coarse, key=lambda count: abs(float(ptable.rounded[count].variance) - ptable.rows[count].variance))
        found.append(
            f"The key space of {ptable.key_space} is coarse: on its keys the variance of {_rows(coarse)} differs by "
            f"more than {COARSE:.0%}. For a count of {worst} it is {float(ptable.rounded[worst].variance):.3g} instead "
            f"of {ptable.rows[worst].variance:.3g}."
        )
    return found


def _means_of_words(ptable: PTable) -> list[float]:
    return [row.mean_on_grid(WORDS) / WORDS for row in ptable.rows]


def _tilted(ptable: PTable, means: list[float]) -> list[str]:
    """Return a warning if rows are biased."""
    tilted = [row.count for row, mean in zip(ptable.rows, means, strict=True) if mean]
    if not tilted:
        return []
    worst = max(tilted, key=lambda count: abs(means[count]))
    return [f"The mean noise of {_rows(tilted)} is not 0. The largest is {means[worst]:.2g}, for a count of {worst}."]


def _few_keys(ptable: PTable) -> list[str]:
    """Return a warning about the bias of a row: its K draws are fixed, and their mean has variance V / K."""
    worst = max(ptable.rows, key=lambda row: row.variance)
    if not worst.variance:
        return []
    error = (worst.variance / ptable.key_space) ** 0.5
    sums = f"{MANY * error:,.0f} instead of {(MANY * worst.variance) ** 0.5:,.0f}"
    warning = (
        f"The p-table has only {ptable.key_space} keys: with mixed keys a secret fixes that many draws per row. Their "
        f"mean has a standard deviation of {error:.2g} (for a count of {worst.count}). This bias does not average out: "
        f"the sum of {MANY:,} such counts has a standard error of {sums}. Use a larger key space, or plain keys."
    )
    return [warning]


def _disclosure(ptable: PTable, *, plain: bool) -> list[str]:
    """Return a warning if a published count discloses its true count, because of no or little noise."""
    if ptable.is_deterministic:
        return deterministic_warnings(ptable)
    return disclosure_warnings(ptable, plain=plain)


def disclosure_warnings(noise: NoiseByCount, *, plain: bool = False) -> list[str]:
    """Return a warning if a published count discloses its true count with near certainty."""
    published, posterior = noise.most_revealing_count(plain=plain)
    if posterior <= NEARLY_CERTAIN:
        return []
    warning = (
        f"A published {published} has one true count with probability {posterior:.4g} under a flat prior. The "
        f"{noise.label} gives almost no protection."
    )
    return [warning]


def deterministic_warnings(ptable: PTable) -> list[str]:
    """Return a warning if a p-table has no random noise: it rounds, or changes counts in a fixed way."""
    if not ptable.is_deterministic:
        return []
    if not ptable.rounds:
        return [FIXED]
    large = ptable.large
    exact = f" Counts of {large.count} and more change by {large.mean:+g} and are disclosed exactly."
    return [ROUNDING + ("" if large.variance else exact)]


def _rows(counts: list[int]) -> str:
    """Return row numbers in words, with consecutive rows combined.

    >>> _rows([3, 4, 5])
    'rows 3 to 5'
    """
    if len(counts) == 1:
        return f"row {counts[0]}"
    if counts[-1] - counts[0] == len(counts) - 1:
        return f"rows {counts[0]} to {counts[-1]}"
    shown = ", ".join(map(str, counts[:5])) + (", .." if len(counts) > 5 else "")
    return f"rows {shown}"


def _typical_noise(ptable: PTable) -> Result:
    """Return the root mean square change of large counts, over the rows that apply to them in turn."""
    serving = ptable.rows[-ptable.repeat :]
    size = (sum(row.second_moment for row in serving) / len(serving)) ** 0.5
    centred = all(abs(row.mean) < CENTRED for row in serving)
    stay = sum(row.stay for row in serving) / len(serving)
    return Result(
        name="typical_noise",
        equation="sqrt(sum v^2 p)",
        value=size,
        unit="persons",
        sentence=f"Counts of {serving[0].count} and more change by ±{size:.2f} "
        f"({'one standard deviation' if centred else 'root mean square'}) and are unchanged in {stay:.1%} of cases.",
        worst=f"row {serving[-1].count}" if len(serving) == 1 else None,
        assumptions=("law before rounding to keys",),
    )


def _largest_noise(ptable: PTable) -> Result:
    return Result(
        name="largest_noise",
        equation="max |v|",
        value=ptable.bound,
        unit="persons",
        sentence=f"No count changes by more than ±{ptable.bound}.",
    )


def _shortfall(ptable: PTable) -> Result:
    short = ptable.shortfalls()
    worst = max(short, key=lambda count: short[count])
    row, wanted = ptable.rows[worst], ptable.rows[worst].variance + short[worst]
    settings = ptable.settings
    shape = [name for name in ("stay", "floor", "monotone") if settings and getattr(settings, name)]
    requested = f" and the requested {' and '.join(shape)}" if shape else ""
    rest = sorted((missing for count, missing in short.items() if count != worst), reverse=True)
    more = f" {len(rest)} more rows have a smaller variance, by {rest[0]:.3g} at most." if rest else ""
    return Result(
        name="variance_shortfall",
        equation="V - sum v^2 p",
        value=short[worst],
        unit="persons squared",
        sentence=f"Row {worst} has variance {row.variance:.3g} instead of {wanted:g}: a count of {worst} decreases by "
        f"{-min(row.values)} at most, and a wider distribution with mean 0{requested} would have less entropy.{more}",
        worst=f"row {worst}",
        assumptions=("law before rounding to keys",),
    )
