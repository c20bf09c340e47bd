"""What became of runs that something went wrong with: python -m benchmarks.faults writes docs/results/faults.md.

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

Made by `python -m benchmarks.faults` (as root, since it mounts a small disk; some ten minutes), which keeps its
figures in `benchmarks/results/faults.json`; the same experiments are tests (`make test-slow`). They fail at the first
run that leaves half a release, a hidden folder, or anything but one message. A test compares this page with the
figures.

## Killed

SIGKILL at {kills} moments of a run: random ones, and every fifth as soon as all is complete and only the moves into
place are left. After every kill the public folder is checked by hand and by `discreet verify`, and compared to the byte
with releases that nothing disturbed. With `--replace` an older release with other noise is there. With `--resume` each
run goes on from the one that was killed before it, and nothing is there until one gets to its end.

| | `--replace` | `--resume` |
|---|---|---|
{killed}

Half a release was never there. After the last kill one more run made the release that an undisturbed run makes, and
no hidden folder was left.

## Disk full

A disk with room for 0 to 90 % of the new release, in {points} steps, without and with an older release to replace.

| | runs | exit code 2, one message | there afterwards |
|---|---|---|---|
{full}

## Power cut

A release replaces an older one on an ext4 disk whose journal is written every five minutes. As soon as the run
reports success the image of the disk is copied, and the copy is mounted as after a power cut. {cuts} runs:

| exit code | on the copy | empty files |
|---|---|---|
{power}

A model of what is synced tests every step of the writing, also of secrets and key files (`tests/release/crashes.py`).

## Input cut short

{shrunk} runs over {persons:,} records: the file is cut while it is read, after the first, second or third batch, to
between 0 and 90 % of its length. Nothing was written in any of them.

| file | runs | exit code 2, one message |
|---|---|---|
{cut}

The message: *{message}*

## Data larger than memory

{spilling:,} records, {tables} tables, with `--memory {limit}` for the engine and without a limit. The two releases are
the same to the byte; the folder for temporary files is empty at the end.

| | most in the folder for temporary files | peak memory of the process | seconds |
|---|---|---|---|
{spilled}

The limit is the engine's. Beside it stand the program and its libraries, records on their way from the file (some
100,000 at a time), a digest of every id to find copies, and the cells of the tables that are being made.

## Hostile inputs

{inputs} inputs go through every reader as a command (`tests/hostile/corpus.py`: nesting, digits, encodings, aliases,
entities, packed zeros, values of 100 MB, folders, links and devices in place of a file). {mutations:,} structured
mutations of valid files per reader go through the call behind the command. All of it runs within {memory} GB
of addresses. Refused means exit code 2 with one message, or an error of ours. Nothing else occurred: no trace, no
segmentation fault, no input that took longer than {slowest:.0f} s.

| reader | inputs read | inputs refused | mutations read | mutations refused |
|---|---|---|---|---|
{hostile}
"""


def measure() -> dict[str, Any]:
    """Do everything that can go wrong to runs, each in an office of its own."""
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
        "found the run at work": "hit",
        "found it complete but not in place": "between",
        "afterwards: as before": "before",
        "afterwards: the new release": "after",
        "the run was done before its kill: the new release": "complete",
        "table files that later runs took over": "resumed",
        "seconds of an undisturbed run": "seconds",
    }
    return "\n".join(
        f"| {words} | {' | '.join(str(column[name]) for column in columns)} |" for words, name in rows.items()
    )


def _full(points: list[dict[str, Any]]) -> str:
    lines = []
    for words, chosen in (
        ("nothing there before", [point for point in points if not point["replaced"]]),
        ("an older release", [point for point in points if point["replaced"] and point["share"] < 1]),
        ("room for four times as much", [point for point in points if point["share"] > 1]),
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
    """Measure, keep the figures and write the page."""
    found = measure()
    FIGURES.write_text(json.dumps(found, indent=2) + "\n")
    PAGE.write_text(page(found), encoding="utf-8")
    print(page(found))


if __name__ == "__main__":
    main()
