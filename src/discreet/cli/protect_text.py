"""What `discreet protect` says: what was read, made and written, and what the noise is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.release.folder import curator_folder
from discreet.results import Result

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.mechanisms.estimate import Estimate
    from discreet.release.release import Release


def noise_results(release: Release) -> list[Result]:
    """Return what the noise of a release is, as results."""
    record = release.record
    if record.law == "none":
        return []
    law = record.noise()
    typical = law.variance**0.5
    found = [
        Result(
            name="typical_noise",
            value=typical,
            unit="persons",
            sentence=f"A published count is typically {typical:.2f} away from the true one (standard deviation).",
            assumptions=("a count large enough for the last row of the p-table; smaller ones may have less noise",),
            equation="sqrt(V)",
        )
    ]
    if math.isfinite(law.bound):
        sentence = f"No published count is more than {law.bound:g} away from the true one."
        found.append(
            Result(name="largest_noise", value=float(law.bound), unit="persons", sentence=sentence, equation="E")
        )
    return found


def protect_text(release: Release, out: Path, warnings: list[str]) -> str:
    """Return what was read, made and written, in sentences."""
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    seconds = made.seconds
    size, shown = sum(file["bytes"] for file in files), sum(file["rows"] for file in files)
    counting = seconds["counting"]
    rate = made.records / max(seconds["reading"], 1e-9)
    lines = [
        f"reading    {made.records:,} records, {made.topics} topics, {seconds['reading']:.1f} s, {rate:,.0f} a second",
        f"counting   {_tables(len(files))}, {made.statistics:,} statistics, {made.cells:,} cells, {counting:.1f} s",
        f"noise      {_noise(release)}, {seconds['noise']:.1f} s",
        f"writing    {shown:,} cells that are not 0, {size / 1e6:,.1f} MB, {seconds['writing']:.1f} s",
    ]
    if made.dropped:
        lines.append(f"Dropped    {made.dropped:,} records: a value is missing in each of them.")
    lines.append(f"{out}/ is complete after {seconds['all']:.1f} s and holds nothing secret.")
    lines.append(f"{curator_folder(out)}/ is yours alone: never publish it.")
    lines += [f"Warning: {warning}" for warning in warnings]
    return "\n".join([*lines, f"Next: discreet assess {out}"])


def _tables(number: int) -> str:
    return "1 table" if number == 1 else f"{number} tables"


def _noise(release: Release) -> str:
    record = release.record
    if record.law == "none":
        return "none: these are true counts"
    law = record.noise()
    bound = f", never more than {law.bound:g}" if math.isfinite(law.bound) else ", without a bound"
    return f"standard deviation {law.variance**0.5:.2f}{bound}"


def estimate_text(found: Estimate) -> str:
    """Return what a run would take, in sentences."""
    about = "About " if found.guessed else ""
    counted = f"{found.maximal} of them counted from the records"
    memory = f"Memory about {found.memory / 1e6:,.0f} MB, disk at most about {found.disk / 1e6:,.1f} MB"
    lines = [
        f"Dry run: nothing was counted or written. {about}{found.records:,} records.",
        f"{_tables(found.tables)}, {counted}; {found.statistics:,} statistics, {found.cells:,} cells.",
        f"{memory}, time about {found.seconds:,.0f} s on two cores.",
    ]
    return "\n".join(lines)
