"""Texts and results of `discreet protect`: data read, tables written, and the size of the noise."""

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
"""Number of true counts, from 0, whose bias is computed."""
MIN_BIAS = 0.005
"""Minimum bias that is reported."""


def noise_results(release: Release) -> list[Result]:
    """Return results on the noise of a release."""
    record = release.record
    if record.is_exact:
        return []
    unit = release.programme.tables[0].unit
    found = [
        Result(
            name="typical_noise",
            value=_sizes(record)[1],
            unit=unit,
            sentence=f"The typical difference between a published count and the true count is {_size(record)} "
            f"({_kind_of_size(record)}).",
            assumptions=(
                "the count is large enough for the last row of the p-table; smaller counts may have less noise"
                if record.noise.varies_by_count
                else "every perturbed count has this noise distribution",
            ),
            equation="sqrt(V + mean^2)" if abs(record.mean) >= CENTRED else "sqrt(V)",
        )
    ]
    if math.isfinite(record.bound):
        sentence = f"No published count differs from the true count by more than {record.bound:g}."
        found.append(
            Result(name="largest_noise", value=float(record.bound), unit=unit, sentence=sentence, equation="E")
        )
    return [*found, *_privacy_results(record), *_bias(record, unit)]


def _privacy_results(record: Record) -> list[Result]:
    """Return epsilon and delta of one count with a truncated distribution, and the exception for empty cells."""
    law = record.noise.large
    if isinstance(law, TruncatedLaplace):
        epsilon = law.epsilon
    elif isinstance(law, TruncatedGaussian):
        epsilon = (2 * law.bound - 1) / (2 * law.sigma**2)
    else:
        return []
    delta = float(law.pmf(law.bound))
    void = "" if record.zeros_are_noisy else (
        " This does not hold for a cell that may be empty: zeros stay zeros, so a person alone in a cell is revealed "
        "there unless the count 1 is published as 0."
    )  # fmt: skip
    return [
        Result(
            name="delta_of_a_count",
            value=delta,
            unit="1",
            sentence=f"One count satisfies epsilon {epsilon:.3g} with delta {delta:.2g}. "
            f"A person contributes to many counts.{void}",
            assumptions=(
                "a single count, with or without one person",
                "every count has this noise distribution",
            ),
            equation="delta(eps) = P(X = E)",
        )
    ]


def _bias(record: Record, unit: str) -> list[Result]:
    """Return the bias of counts if negative values are published as 0."""
    if not record.non_negative:
        return []
    if not record.zeros_are_noisy and record.noise.varies_by_count:
        # No row of such a p-table has negative published counts.
        return []
    bias = {count: cut_bias(record.largest_noise.row(count), count) for count in range(MOST_SHOWN)}
    worst = max(bias, key=bias.__getitem__)
    biased = (
        ", ".join(f"of {count} by {bias[count]:.2g}" for count in bias if bias[count] >= MIN_BIAS)
        or "by less than 0.005"
    )
    return [
        Result(
            name="bias",
            value=bias[worst],
            unit=unit,
            sentence=f"Because negative values are published as 0, counts are too high on average: {biased}.",
            worst=f"a true count of {worst}",
            assumptions=(
                "the noise distribution in the record",
                f"only true counts from 0 to {MOST_SHOWN - 1} were evaluated",
            ),
            equation="E[max(0, n + X)] - n = sum over m > n of P(X <= -m)",
        )
    ]


def protect_text(release: Release, out: Path, warnings: list[str]) -> str:
    """Return the summary of a run: data read, tables counted, noise added and files written."""
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    seconds, exact = made.seconds, release.record.is_exact
    size, shown = sum(file["bytes"] for file in files), sum(file["rows"] for file in files)
    rate = made.records / max(seconds["reading"], 1e-9)
    dropped = f", {_number(made.dropped, 'other')} dropped because of a missing value" if made.dropped else ""
    margins = f", {_number(made.margins, 'margin row')} excluded" if made.margins else ""
    read = f"{_number(made.records, 'record')}{dropped}{margins}, {_number(made.topics, 'topic')}"
    counted = f"{_number(len(files), 'table')}, {_number(made.statistics, 'statistic')}, {_number(made.cells, 'cell')}"
    written = f"{_number(shown, 'published row')}, {_bytes(size)}"
    resumed = f"; {_number(made.resumed, 'table')} of an earlier run reused" if made.resumed else ""
    lines = [
        f"reading    {read}, {seconds['reading']:.1f} s, {rate:,.0f} a second",
        f"counting   {counted}{resumed}, {seconds['counting']:.1f} s",
        f"noise      {_noise(release)}, {seconds['noise']:.1f} s",
        f"writing    {written}, {seconds['writing']:.1f} s",
        f"{out}/ is complete after {seconds['all']:.1f} s. "
        + (
            "It contains true counts. Do not publish it."
            if exact
            else "It contains no confidential data. Assess or attack it before you publish it."
        ),
        f"{curator_folder(out)}/ contains confidential data. Do not publish it.",
        *_noise_notes(release),
        *(f"Warning: {warning}" for warning in warnings),
    ]
    # Attacks need true counts for scoring; risk can be assessed without them.
    verb = "attack" if (curator_folder(out) / EXACT).is_dir() else "assess"
    return "\n".join(lines if exact else [*lines, f"Next: discreet {verb} {out}"])


def _noise_notes(release: Release) -> list[str]:
    """Return sentences on the bias and on the privacy guarantee, if there are any."""
    notes = [result.sentence for result in noise_results(release) if result.name in {"bias", "delta_of_a_count"}]
    if privacy := release.record.privacy:
        notes.append(
            f"The output satisfies epsilon {privacy['epsilon']:g} with delta {privacy['delta']:g}: a person changes "
            f"{privacy['sensitivity']:,} counts. This holds {privacy['condition']}."
        )
    return notes


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _noise(release: Release) -> str:
    record = release.record
    if record.is_exact:
        return "none: these are true counts"
    bound = f", at most {record.bound:g}" if math.isfinite(record.bound) else ", unbounded"
    return f"{_kind_of_size(record)} {_size(record)}{bound}"


def _sizes(record: Record) -> tuple[float, float]:
    """Return the smallest and the largest root mean square change of a count."""
    return math.hypot(record.variance**0.5, record.mean), math.hypot(record.largest_variance**0.5, record.mean)


def _size(record: Record) -> str:
    """Return the root mean square change of a count, or its range if it differs between counts."""
    least, most = (f"{size:.2f}" for size in _sizes(record))
    return most if least == most else f"{least} to {most}"


def _kind_of_size(record: Record) -> str:
    """Return the name of the measure of size, and the kind of change if it is not random."""
    if record.rounds:
        return "rounding; root mean square change"
    if record.is_deterministic:
        return "no random noise; fixed change"
    return "root mean square noise" if abs(record.mean) >= CENTRED else "standard deviation"


def estimate_text(found: RunEstimate) -> str:
    """Return the text of a dry run."""
    about = "about " if found.guessed else ""
    counted = f"{found.maximal:,} counted from the records, the others aggregated from these"
    counted = "all counted from the records" if found.maximal == found.tables else counted
    sizes = f"{_number(found.statistics, 'statistic')}, {_number(found.cells, 'cell')}"
    lines = [
        "Dry run: nothing was counted or written.",
        f"data       {about}{_number(found.records, 'record')}",
        f"programme  {_number(found.tables, 'table')} ({counted}), {sizes}",
        f"memory     about {found.memory / 1e6:,.0f} MB",
        f"disk       at most about {_bytes(found.disk)}",
        f"time       {f'about {found.seconds:,.0f} s' if found.seconds >= 1 else 'less than 1 s'} on two cores",
    ]
    return "\n".join(lines)
