"""Run protect under faults: python -m benchmarks.faults writes docs/results/faults.md.

The same experiments are tests (`make test-slow`). A full disk is a small file system, which only root may mount.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.clock import RESULTS
from tests.hostile.calls import CALLS, mutation_outcomes
from tests.hostile.corpus import NAMES
from tests.hostile.readers import MEMORY, READERS, outcomes
from tests.hostile.test_mutations import TIMES as MUTATIONS
from tests.journeys.disturbed import arguments, furnish, run
from tests.journeys.full_disk import can_mount, fill
from tests.journeys.kills import kill_replacing, kill_resuming
from tests.journeys.power_cut import cut_power
from tests.journeys.shrinking import PERSONS as SHRINKING
from tests.journeys.shrinking import shrink
from tests.journeys.spilling import PERSONS as SPILLING
from tests.journeys.spilling import spill

PAGE = Path(__file__).parents[1] / "docs" / "results" / "faults.md"
FIGURES = RESULTS / "faults.json"
TEXT = """\
# Faults

Computed by `python -m benchmarks.faults` (as root, because it mounts a small disk; about ten minutes), which stores its
figures in `benchmarks/results/faults.json`. The same experiments are tests (`make test-slow`). They fail at the first
run that leaves a partial release, a hidden folder, or other output than one message. A test compares this page with the
figures.

## Killed runs

SIGKILL is sent at {kills} moments of a run: random ones, and every fifth when the release is complete and only the
moves into place remain. After every kill the public folder is checked file by file and by `discreet verify`, and
compared to the byte with releases of uninterrupted runs. With `--replace` an older release with other noise exists.
With `--resume` each run continues the one killed before it, and no release exists until one run is complete.

| | `--replace` | `--resume` |
|---|---|---|
{killed}

No partial release occurred. After the last kill one more run wrote the same release as an uninterrupted run, and
left no hidden folder.

## Disk full

A disk with space for 0 to 90 % of the new release, in {points} steps, without and with an older release to replace.

| | runs | exit code 2, one message | release afterwards |
|---|---|---|---|
{full}

## Power failure

A release replaces an older one on an ext4 disk whose journal is written every five minutes. As soon as the run
reports success the image of the disk is copied, and the copy is mounted as after a power failure. {cuts} runs:

| exit code | on the copy | empty files |
|---|---|---|
{power}

A model of synced data tests every step of the writing, also of secrets and key files (`tests/release/crashes.py`).

## Truncated input

{shrunk} runs over {persons:,} records: the file is truncated while it is read, after the first, second or third batch,
to between 0 and 90 % of its length. None of them wrote a file.

| file | runs | exit code 2, one message |
|---|---|---|
{cut}

The message: *{message}*

## Data larger than memory

{spilling:,} records, {tables} tables, with `--memory {limit}` for the engine and without a limit. The two releases are
the same to the byte; the folder for temporary files is empty at the end.

| | maximum of temporary files | peak memory of the process | seconds |
|---|---|---|---|
{spilled}

The limit is that of the engine. The program and its libraries, records being read (about 100,000 at a time), a digest
of every id to find duplicates, and the cells of the tables in progress need memory in addition.

## Hostile inputs

{inputs} inputs go through every reader as a command (`tests/hostile/corpus.py`: nesting, digits, encodings, aliases,
entities, packed zeros, values of 100 MB, folders, links and devices in place of a file). {mutations:,} structured
mutations of valid files per reader go through the function behind the command. All runs have an address space of
{memory} GB. Refused means exit code 2 with one message, or an exception class of discreet. No other outcome occurred:
no traceback, no segmentation fault, no input that took longer than {slowest:.0f} s.

| reader | inputs read | inputs refused | mutations read | mutations refused |
|---|---|---|---|---|
{hostile}
"""


def measure() -> dict[str, Any]:
    """Run all fault experiments, each in a separate folder."""
    assert can_mount(), "only root may mount a small file system"
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        offices = {
            name: home / name for name in ("replacing", "resuming", "earlier", "full", "power", "shrinking", "spilling")
        }
        for office in offices.values():
            office.mkdir()
        for name in ("replacing", "resuming", "earlier", "full", "power"):
            furnish(offices[name])
        assert run(offices["earlier"], arguments(variance=2)) == (0, "")
        return {
            "schema": "discreet/1",
            "killed": {
                "--replace": asdict(kill_replacing(offices["replacing"])),
                "--resume": asdict(kill_resuming(offices["resuming"])),
            },
            "full": [asdict(point) for point in fill(offices["full"], offices["earlier"])],
            "power": [asdict(cut) for cut in cut_power(offices["power"], offices["earlier"])],
            "shrunk": [asdict(point) for point in shrink(furnish(offices["shrinking"], persons=SHRINKING))],
            "spilled": [asdict(done) for done in spill(furnish(offices["spilling"], persons=SPILLING))],
            "tables": len(list((offices["spilling"] / "rel" / "tables").iterdir())),
            "hostile": hostile(home),
        }


def hostile(home: Path) -> dict[str, dict[str, float]]:
    """Run all hostile inputs and mutations through every reader."""
    found: dict[str, dict[str, float]] = {}
    for reader in READERS:
        place = home / f"hostile {reader}"
        place.mkdir()
        done = outcomes(place, {reader: NAMES})
        assert {outcome["code"] for outcome in done} <= {0, 2}
        found[reader] = {
            "read": sum(outcome["code"] == 0 for outcome in done),
            "refused": sum(outcome["code"] == 2 for outcome in done),
            "slowest": max(outcome["seconds"] for outcome in done),
        }
        if reader in CALLS:
            mutations = mutation_outcomes(place, reader, MUTATIONS)
            assert not mutations["failed"]
            found[reader] |= {f"mutations_{name}": mutations[name] for name in ("read", "refused", "slowest")}
    return found


def page(found: dict[str, Any]) -> str:
    """Return the page for the figures of one run."""
    killed, shrunk = found["killed"], found["shrunk"]
    return TEXT.format(
        kills=killed["--replace"]["kills"],
        killed=_killed(list(killed.values())),
        points=sum(not point["replaced"] for point in found["full"]),
        full=_full(found["full"]),
        cuts=len(found["power"]),
        power="\n".join(f"| {cut['code']} | {cut['there']} release | {cut['empty']} |" for cut in found["power"]),
        shrunk=len(shrunk),
        persons=SHRINKING,
        cut=_cut(shrunk),
        message=shrunk[0]["message"],
        spilling=SPILLING,
        tables=found["tables"],
        limit=found["spilled"][1]["limit"],
        spilled="\n".join(_spilled(done) for done in found["spilled"]),
        inputs=len(NAMES),
        mutations=MUTATIONS,
        memory=MEMORY >> 30,
        slowest=max(max(done["slowest"], done.get("mutations_slowest", 0)) for done in found["hostile"].values()) + 0.5,
        hostile="\n".join(_hostile(reader, done) for reader, done in found["hostile"].items()),
    )


def _killed(columns: list[dict[str, Any]]) -> str:
    rows = {
        "kills sent": "kills",
        "hit a running process": "hit",
        "hit it complete but not in place": "between",
        "afterwards: old state": "before",
        "afterwards: the new release": "after",
        "the run had ended before its kill: the new release": "complete",
        "table files that later runs reused": "resumed",
        "seconds of an uninterrupted run": "seconds",
    }
    return "\n".join(
        f"| {words} | {' | '.join(str(column[name]) for column in columns)} |" for words, name in rows.items()
    )


def _full(points: list[dict[str, Any]]) -> str:
    lines = []
    for words, chosen in (
        ("no release before", [point for point in points if not point["replaced"]]),
        ("an older release", [point for point in points if point["replaced"] and point["share"] < 1]),
        ("space for four times the release", [point for point in points if point["share"] > 1]),
    ):
        there = ", ".join(f"{name} {times}" for name, times in Counter(point["there"] for point in chosen).items())
        lines.append(f"| {words} | {len(chosen)} | {sum(point['code'] == 2 for point in chosen)} | {there} |")
    return "\n".join(lines)


def _cut(points: list[dict[str, Any]]) -> str:
    runs, refused = (Counter(point["name"] for point in points if point["code"] in codes) for codes in ({0, 1, 2}, {2}))
    return "\n".join(f"| {name} | {runs[name]} | {refused[name]} |" for name in runs)


def _spilled(done: dict[str, Any]) -> str:
    limit = f"`--memory {done['limit']}`" if done["limit"] else "no limit"
    return f"| {limit} | {done['spilled'] / 1e6:.1f} MB | {done['peak'] / 1e6:.0f} MB | {done['seconds']} |"


def _hostile(reader: str, done: dict[str, float]) -> str:
    names = ("read", "refused", "mutations_read", "mutations_refused")
    return f"| {reader} | {' | '.join(f'{done[name]:,}' if name in done else '' for name in names)} |"


def main() -> None:
    """Measure, store the figures and write the page."""
    found = measure()
    FIGURES.write_text(json.dumps(found, indent=2) + "\n")
    PAGE.write_text(page(found), encoding="utf-8")
    print(page(found))


if __name__ == "__main__":
    main()
