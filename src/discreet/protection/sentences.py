"""What `discreet protect` says: what was read, made and written, and what the noise is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.noise.published_counts import cut_bias
from discreet.noise.sentences import CENTRED
from discreet.noise.truncated import TruncatedGaussian, TruncatedLaplace
from discreet.release.release_folder import EXACT, curator_folder
from discreet.results import Result

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.protection.dry_run import RunEstimate
    from discreet.release.record import Record
    from discreet.release.release import Release

MOST_SHOWN = 10
"""Counts whose bias is looked at: from 0 to one less."""
SMALL = 0.005
"""Below this a bias is not told."""


def noise_results(release: Release) -> list[Result]:
    """Return what the noise of a release is, as results."""
    record = release.record
    if record.is_exact:
        return []
    unit = release.programme.tables[0].unit
    found = [
        Result(
            name="typical_noise",
            value=_sizes(record)[1],
            unit=unit,
            sentence=f"A published count is typically {_size(record)} away from the true one "
            f"({_kind_of_size(record)}).",
            assumptions=(
                "a count large enough for the last row of the p-table; smaller ones may have less noise"
                if record.noise.varies_by_count
                else "every count that gets noise has this law",
            ),
            equation="sqrt(V + mean^2)" if abs(record.mean) >= CENTRED else "sqrt(V)",
        )
    ]
    if math.isfinite(record.bound):
        sentence = f"No published count is more than {record.bound:g} away from the true one."
        found.append(
            Result(name="largest_noise", value=float(record.bound), unit=unit, sentence=sentence, equation="E")
        )
    return [*found, *_promised(record), *_bias(record, unit)]


def _promised(record: Record) -> list[Result]:
    """Return the epsilon and delta of one count under a truncated law, and what voids them."""
    law = record.noise.large
    if isinstance(law, TruncatedLaplace):
        epsilon = law.epsilon
    elif isinstance(law, TruncatedGaussian):
        epsilon = (2 * law.bound - 1) / (2 * law.sigma**2)
    else:
        return []
    delta = float(law.pmf(law.bound))
    void = "" if record.zeros_are_noisy else (
        " Not so a cell that may be empty: zeros stay zeros, so that whoever is alone in a cell is seen there unless "
        "the 1 is published as 0."
    )  # fmt: skip
    return [
        Result(
            name="delta_of_a_count",
            value=delta,
            unit="1",
            sentence=f"One count keeps epsilon {epsilon:.3g} with delta {delta:.2g}; a person is in many.{void}",
            assumptions=("one count alone, for one person more or less", "every count has this law"),
            equation="delta(eps) = P(X = E)",
        )
    ]


def _bias(record: Record, unit: str) -> list[Result]:
    """Return how much too high counts are on average where nothing negative is published."""
    if not record.non_negative:
        return []
    if not record.zeros_are_noisy and record.noise.varies_by_count:
        # No row of such a table leads below 0.
        return []
    bias = {count: cut_bias(record.largest_noise.row(count), count) for count in range(MOST_SHOWN)}
    worst = max(bias, key=bias.__getitem__)
    told = (
        ", ".join(f"of {count} by {bias[count]:.2g}" for count in bias if bias[count] >= SMALL) or "by less than 0.005"
    )
    return [
        Result(
            name="bias",
            value=bias[worst],
            unit=unit,
            sentence=f"Because nothing negative is published, counts are too high on average: {told}.",
            worst=f"a true count of {worst}",
            assumptions=("noise of the law in the record", f"true counts from 0 to {MOST_SHOWN - 1} were looked at"),
            equation="E[max(0, n + X)] - n = sum over m > n of P(X <= -m)",
        )
    ]


def protect_text(release: Release, out: Path, warnings: list[str]) -> str:
    """Return what was read, made and written, in sentences."""
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    seconds, exact = made.seconds, release.record.is_exact
    size, shown = sum(file["bytes"] for file in files), sum(file["rows"] for file in files)
    rate = made.records / max(seconds["reading"], 1e-9)
    dropped = f", {_number(made.dropped, 'other')} dropped for lack of a value" if made.dropped else ""
    margins = f", {_number(made.margins, 'row')} left out as margins" if made.margins else ""
    read = f"{_number(made.records, 'record')}{dropped}{margins}, {_number(made.topics, 'topic')}"
    counted = f"{_number(len(files), 'table')}, {_number(made.statistics, 'statistic')}, {_number(made.cells, 'cell')}"
    written = f"{_number(shown, 'published row')}, {_bytes(size)}"
    resumed = f"; {_number(made.resumed, 'table')} of an earlier run taken over" if made.resumed else ""
    lines = [
        f"reading    {read}, {seconds['reading']:.1f} s, {rate:,.0f} a second",
        f"counting   {counted}{resumed}, {seconds['counting']:.1f} s",
        f"noise      {_noise(release)}, {seconds['noise']:.1f} s",
        f"writing    {written}, {seconds['writing']:.1f} s",
        f"{out}/ is complete after {seconds['all']:.1f} s and holds "
        + ("true counts: publish it nowhere." if exact else "nothing secret: publish it as a whole."),
        f"{curator_folder(out)}/ is yours alone: never publish it.",
        *_told(release),
        *(f"Warning: {warning}" for warning in warnings),
    ]
    # With true counts at hand attacks can be scored; without them risk can still be measured.
    verb = "attack" if (curator_folder(out) / EXACT).is_dir() else "assess"
    return "\n".join(lines if exact else [*lines, f"Next: discreet {verb} {out}"])


def _told(release: Release) -> list[str]:
    """Return what must be known beside the size of the noise: a bias, and what a privacy budget promises."""
    told = [result.sentence for result in noise_results(release) if result.name in {"bias", "delta_of_a_count"}]
    if privacy := release.record.privacy:
        told.append(
            f"The output keeps epsilon {privacy['epsilon']:g} with delta {privacy['delta']:g}: a person changes "
            f"{privacy['sensitivity']:,} counts. That holds {privacy['condition']}."
        )
    return told


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _noise(release: Release) -> str:
    record = release.record
    if record.is_exact:
        return "none: these are true counts"
    bound = f", never more than {record.bound:g}" if math.isfinite(record.bound) else ", without a bound"
    return f"{_kind_of_size(record)} {_size(record)}{bound}"


def _sizes(record: Record) -> tuple[float, float]:
    """Return the smallest and the largest typical change of a count: the root of its mean square."""
    return math.hypot(record.variance**0.5, record.mean), math.hypot(record.largest_variance**0.5, record.mean)


def _size(record: Record) -> str:
    """Return the typical change of a count, as a range where counts differ in it."""
    least, most = (f"{size:.2f}" for size in _sizes(record))
    return most if least == most else f"{least} to {most}"


def _kind_of_size(record: Record) -> str:
    """Return what the typical size of the noise is, and of what where it is not random."""
    if record.rounds:
        return "rounding; root mean square change"
    if record.is_deterministic:
        return "no random noise; fixed change"
    return "root mean square noise" if abs(record.mean) >= CENTRED else "standard deviation"


def estimate_text(found: RunEstimate) -> str:
    """Return what a run would take, in sentences."""
    about = "about " if found.guessed else ""
    counted = f"{found.maximal:,} counted from the records, the others summed up from these"
    counted = "all counted from the records" if found.maximal == found.tables else counted
    sizes = f"{_number(found.statistics, 'statistic')}, {_number(found.cells, 'cell')}"
    lines = [
        "Dry run: nothing was counted, nothing was written.",
        f"data       {about}{_number(found.records, 'record')}",
        f"programme  {_number(found.tables, 'table')} ({counted}), {sizes}",
        f"memory     about {found.memory / 1e6:,.0f} MB",
        f"disk       at most about {_bytes(found.disk)}",
        f"time       {f'about {found.seconds:,.0f} s' if found.seconds >= 1 else 'less than 1 s'} on two cores",
    ]
    return "\n".join(lines)
