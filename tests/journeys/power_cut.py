"""A power cut right after success: the image of a disk, copied before the system writes anything back by itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.protection.repetition import verify
from tests.journeys.disturbed import RUN, arguments, check_pair, environment, files

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 3
# The journal of the file system is written every five minutes, so that nothing reaches the disk in time by itself. The
# copy of the image holds what the disk had at that moment; mounting it replays the journal, as a start does.
SCRIPT = """
set -e
truncate -s 96M image
mkfs.ext4 -q -F image
mount -o loop,commit=300 image disk
cp people.parquet disk
cp -r old/. disk
sync -f disk
cd disk
code=0
"$@" 2> ../errors > /dev/null || code=$?
cd ..
cp image copy
umount disk
mount -o loop copy disk
cp -r disk/. after
umount disk
exit $code
"""


@dataclass(frozen=True)
class Cut:
    """What a disk held whose power was cut right after a run that replaced a release.

    Attributes:
        code: the exit code of the run.
        there: `old` or `new`, whole.
        empty: how many files of the release were empty.
    """

    code: int
    there: str
    empty: int


def can_loop() -> bool:
    """Say whether an image can be mounted."""
    return bool(shutil.which("mkfs.ext4")) and subprocess.run(["losetup", "-f"], capture_output=True).returncode == 0  # noqa: S607, PLW1510 - the system's


def cut_power(office: Path, earlier: Path, times: int = TIMES) -> list[Cut]:
    """Replace an old release on a disk and copy the disk as soon as the run reports success, several times."""
    for name in ("disk", "old"):
        (office / name).mkdir()
    for name in ("rel", "rel.curator"):
        shutil.copytree(earlier / name, office / "old" / name)
    return [_once(office) for _ in range(times)]


def _once(office: Path) -> Cut:
    after = office / "after"
    shutil.rmtree(after, ignore_errors=True)
    after.mkdir()
    given = arguments("people.parquet", "--replace")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", sys.executable, "-c", RUN, *given],  # noqa: S607 - the system's
        cwd=office,
        env=environment(office),
        capture_output=True,
        check=False,
        timeout=300,
    )
    # A hidden folder whose removal had not reached the disk is removed by the next run.
    for path in [path for path in after.iterdir() if path.name not in ("rel", "rel.curator")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    empty = sum(path.is_file() and not path.stat().st_size for path in after.rglob("*"))
    if empty or not (after / "rel" / "release.json").exists():
        return Cut(done.returncode, "damaged", empty)
    (after / "rel.curator").chmod(0o700)
    verify(after / "rel")
    check_pair(after / "rel")
    return Cut(done.returncode, "old" if files(after) == files(office / "old") else "new", empty)
