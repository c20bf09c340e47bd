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
    law, unit = record.noise(), release.programme.tables[0].unit
    typical = law.variance**0.5
    found = [
        Result(
            name="typical_noise",
            value=typical,
            unit=unit,
            sentence=f"A published count is typically {typical:.2f} away from the true one (standard deviation).",
            assumptions=("a count large enough for the last row of the p-table; smaller ones may have less noise",),
            equation="sqrt(V)",
        )
    ]
    if math.isfinite(record.bound):
        sentence = f"No published count is more than {record.bound:g} away from the true one."
        found.append(
            Result(name="largest_noise", value=float(record.bound), unit=unit, sentence=sentence, equation="E")
        )
    return found


def protect_text(release: Release, out: Path, warnings: list[str]) -> str:
    """Return what was read, made and written, in sentences."""
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    seconds, exact = made.seconds, release.record.law == "none"
    size, shown = sum(file["bytes"] for file in files), sum(file["rows"] for file in files)
    rate = made.records / max(seconds["reading"], 1e-9)
    dropped = f", {_number(made.dropped, 'other')} dropped for lack of a value" if made.dropped else ""
    read = f"{_number(made.records, 'record')}{dropped}, {_number(made.topics, 'topic')}"
    counted = f"{_number(len(files), 'table')}, {_number(made.statistics, 'statistic')}, {_number(made.cells, 'cell')}"
    written = f"{_number(shown, 'cell')} that {'is' if shown == 1 else 'are'} not 0, {_bytes(size)}"
    lines = [
        f"reading    {read}, {seconds['reading']:.1f} s, {rate:,.0f} a second",
        f"counting   {counted}, {seconds['counting']:.1f} s",
        f"noise      {_noise(release)}, {seconds['noise']:.1f} s",
        f"writing    {written}, {seconds['writing']:.1f} s",
        f"{out}/ is complete after {seconds['all']:.1f} s and holds "
        + ("true counts: publish it nowhere." if exact else "nothing secret: publish it as a whole."),
        f"{curator_folder(out)}/ is yours alone: never publish it.",
        *(f"Warning: {warning}" for warning in warnings),
    ]
    return "\n".join(lines if exact else [*lines, f"Next: discreet assess {out}"])


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _noise(release: Release) -> str:
    record = release.record
    if record.law == "none":
        return "none: these are true counts"
    law = record.noise()
    bound = f", never more than {record.bound:g}" if math.isfinite(record.bound) else ", without a bound"
    return f"standard deviation {law.variance**0.5:.2f}{bound}"


def estimate_text(found: Estimate) -> str:
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
