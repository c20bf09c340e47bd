"""A disk that is full at several points of a run: a small file system of its own, which is gone at the end."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.protection.repetition import verify
from tests.journeys.disturbed import RUN, arguments, check_pair, environment, files

if TYPE_CHECKING:
    from pathlib import Path

POINTS = 10
PAGE = 4096
"""Bytes by which the file system grows."""
MESSAGE = "rel cannot be written: No space left on device. Check the folder and the free space.\n"
# Mounts are seen by the processes of the script alone; what was on the disk is copied out before it goes.
SCRIPT = """
set -e
mount -t tmpfs -o mode=700,size="$SIZE" tmpfs disk
cp people.parquet disk
cp -r old/. disk
cd disk
code=0
"$@" 2> ../errors > /dev/null || code=$?
cd ..
cp -r disk/. after
exit $code
"""


@dataclass(frozen=True)
class Full:
    """A run on a disk of a certain size.

    Attributes:
        share: how much of what the new release needs there was room for, from 0 to 1.
        replaced: whether an old release was there.
        code: the exit code.
        there: `old`, `new` or `nothing`, whole.
    """

    share: float
    replaced: bool
    code: int
    there: str


def can_mount() -> bool:
    """Say whether a file system can be mounted for a process alone."""
    if not shutil.which("unshare"):
        return False
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)  # noqa: S607 - the system's
    return os.geteuid() == 0 and tried.returncode == 0


def fill(office: Path, earlier: Path, points: int = POINTS) -> list[Full]:
    """Run on disks with room for more and more of the new release, with and without an old one there."""
    for name in ("disk", "after", "old"):
        (office / name).mkdir()
    needed = _pages(earlier / "rel") + _pages(earlier / "rel.curator")
    found = []
    for replaced in (False, True):
        if replaced:
            for name in ("rel", "rel.curator"):
                shutil.copytree(earlier / name, office / "old" / name)
        base = _pages(office / "old") + math.ceil((office / "people.parquet").stat().st_size / PAGE)
        for point in range(points):
            share = point / points
            code, errors = _run(office, base + int(share * needed), replaced=replaced)
            assert errors.startswith("error: "), errors
            assert errors.endswith(MESSAGE), errors
            assert errors.count("\n") == 1
            found.append(Full(share, replaced, code, _there(office / "after", files(office / "old"))))
    code, errors = _run(office, base + 4 * needed, replaced=True)
    assert (code, errors) == (0, "")
    found.append(Full(4.0, replaced=True, code=0, there=_there(office / "after", files(office / "old"))))
    return found


def _run(office: Path, pages: int, *, replaced: bool) -> tuple[int, str]:
    shutil.rmtree(office / "after")
    (office / "after").mkdir()
    given = arguments("people.parquet", *(["--replace"] if replaced else []))
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", sys.executable, "-c", RUN, *given],  # noqa: S607 - the system's
        cwd=office,
        env={**environment(office), "SIZE": str(pages * PAGE)},
        capture_output=True,
        check=False,
        timeout=300,
    )
    return done.returncode, (office / "errors").read_text(encoding="utf-8")


def _there(after: Path, old: dict[str, bytes]) -> str:
    """Say what was on the disk at the end, and check that it is whole and that nothing else is there."""
    (after / "people.parquet").unlink()
    names = sorted(path.name for path in after.iterdir())
    if not names:
        return "nothing"
    assert names == ["rel", "rel.curator"]
    (after / "rel.curator").chmod(0o700)
    verify(after / "rel")
    check_pair(after / "rel")
    return "old" if files(after) == old else "new"


def _pages(folder: Path) -> int:
    return sum(math.ceil(path.stat().st_size / PAGE) for path in folder.rglob("*") if path.is_file())
