"""SIGKILL at random moments: what is there afterwards is the old release or the new one, never half of one."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.protection.repetition import verify
from discreet.release.release_folder import recover
from tests.journeys.disturbed import (
    answered,
    arguments,
    check_pair,
    check_whole,
    ended,
    files,
    left,
    run,
    start,
    working,
)

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

KILLS = 50
AT_THE_END = 5
"""Every so many kills one comes as soon as all is complete and only the moves are left."""
SOME, MORE = "1.*,2.*", "1*,2*,3*,9.*"
"""Tables of a run that replaces, and of one that is resumed."""


@dataclass(frozen=True)
class Kills:
    """What became of runs that were killed.

    Attributes:
        kills: signals sent.
        hit: those that found the run at work.
        between: those that found all complete and not all in its place.
        before: how often nothing had changed after a hit: the old release, or none where none was.
        after: how often the new release was there after a hit, complete.
        resumed: tables that later runs took over from killed ones.
        complete: runs that were done before they were killed.
        seconds: a run that nothing disturbs.
    """

    kills: int
    hit: int
    between: int
    before: int
    after: int
    resumed: int
    complete: int
    seconds: float


def kill_replacing(office: Path, kills: int = KILLS) -> Kills:
    """Kill runs with --replace, one after the other; each finds the release that the one before it left."""
    out, moments = office / "rel", random.Random(1)  # noqa: S311 - a place in time
    whole = {}
    for variance in (2, 3):
        begin = time.perf_counter()
        assert run(office, arguments("people.parquet", "--replace", variance=variance, tables=SOME)) == (0, "")
        duration = time.perf_counter() - begin
        whole[variance] = files(out)
    seen: Counter[str] = Counter()
    old = 3
    for number in range(kills):
        new = 5 - old
        process = start(office, arguments("people.parquet", "--replace", variance=new, tables=SOME))
        _kill(process, office, None if number % AT_THE_END == 0 else moments.uniform(0, duration))
        hit = ended(process)[0] == -signal.SIGKILL
        seen["between"] += bool(list(office.glob(".rel.making-*/complete.json")))
        # Whole before anything is put in order, and after it.
        check_whole(out)
        verify(out)
        found = check_pair(out)
        assert files(out) == whole[found]
        assert hit or found == new
        seen["complete" if not hit else "after" if found == new else "before"] += 1
        old = found
    assert run(office, arguments("people.parquet", "--replace", variance=3, tables=SOME)) == (0, "")
    assert files(out) == whole[3]
    _check_tidy(office)
    return _summed(seen, kills, duration)


def kill_resuming(office: Path, kills: int = KILLS) -> Kills:
    """Kill runs with --resume, each of which goes on from the one before it, until one is done; then from the start."""
    out, moments = office / "rel", random.Random(2)  # noqa: S311 - a place in time
    given = arguments("people.parquet", "--resume", "--json", tables=MORE)
    begin = time.perf_counter()
    assert run(office, given) == (0, "")
    duration, whole = time.perf_counter() - begin, files(out)
    _remove(out)
    seen: Counter[str] = Counter()
    for number in range(kills):
        before = _tables(office)
        process = start(office, given)
        _kill(process, office, None if number % AT_THE_END == 0 else moments.uniform(0, duration))
        code, _ = ended(process)
        seen["resumed"] += _taken_over(before, _tables(office))
        seen["between"] += bool(list(office.glob(".rel.making-*/complete.json")))
        assert len(list(office.glob(".rel.making-*"))) <= 2
        if out.exists():
            check_whole(out)
        recover(out)
        seen["complete" if code == 0 else "after" if out.exists() else "before"] += 1
        if out.exists():
            verify(out)
            assert files(out) == whole
            _remove(out)
        assert not out.with_name("rel.curator").exists()
    before = _tables(office)
    code, said, errors = answered(start(office, given))
    assert (code, errors) == (0, "")
    resumed = _taken_over(before, _tables(office))
    assert json.loads(said)["written"]["resumed"] == resumed
    seen["resumed"] += resumed
    assert files(out) == whole
    check_pair(out)
    _check_tidy(office)
    return _summed(seen, kills, duration)


def _kill(process: subprocess.Popen[str], office: Path, seconds: float | None) -> None:
    """Kill a run after some time, or, without one, as soon as it says that all is complete."""
    if seconds is None:
        hidden = {*office.glob(".rel.making-*")}
        own = _own_folder(process, office, hidden)
        while process.poll() is None and own.exists() and not (own / "complete.json").exists():
            pass
    else:
        time.sleep(seconds)
    process.kill()


def _own_folder(process: subprocess.Popen[str], office: Path, others: set[Path]) -> Path:
    """Wait for the hidden folder of a run beside those that killed ones left."""
    while process.poll() is None:
        for folder in {*office.glob(".rel.making-*")} - others:
            return folder
    return working(process, office)


def _tables(office: Path) -> dict[tuple[str, int, int], Path]:
    """Return where every table file is; a file that was moved is the same file, one that was made again is another."""
    found = [*office.glob(".rel.making-*/public/tables/*"), *office.glob("rel/tables/*")]
    return {(path.name, path.stat().st_ino, path.stat().st_mtime_ns): path.parent for path in found}


def _taken_over(before: dict[tuple[str, int, int], Path], after: dict[tuple[str, int, int], Path]) -> int:
    """Return how many table files lie in another folder now."""
    return sum(after.get(file, folder) != folder for file, folder in before.items())


def _remove(out: Path) -> None:
    for folder in (out, out.with_name("rel.curator")):
        shutil.rmtree(folder)


def _check_tidy(office: Path) -> None:
    """Check that no hidden folder is left; what the engine had written to its own folder stays where it was killed."""
    assert [name for name in left(office) if not name.startswith("spill/")] == ["rel", "rel.curator"]


def _summed(seen: Counter[str], kills: int, seconds: float) -> Kills:
    hit = seen["before"] + seen["after"]
    assert hit + seen["complete"] == kills
    named = {name: seen[name] for name in ("between", "before", "after", "resumed", "complete")}
    return Kills(kills=kills, hit=hit, seconds=round(seconds, 1), **named)
