"""Programs that a test needs: where one is missing the test is skipped, or fails where skips are not allowed."""

from __future__ import annotations

import glob
import os
import shutil
from itertools import product

import pytest

NO_SKIPS = "DISCREET_NO_SKIPS"
"""The environment variable under which a missing program is a failure."""


def program(*names: str, also_in: str = "") -> str:
    """Return the path of the first program that is there; folders beside the usual ones are given as a pattern."""
    folders = sorted(glob.glob(also_in), reverse=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
    for name, path in product(names, (None, *folders)):
        if found := shutil.which(name, path=path):
            return found
    missing = f"there is no program {' or '.join(names)}"
    if os.environ.get(NO_SKIPS):
        pytest.fail(f"{missing}, and {NO_SKIPS} is set")
    pytest.skip(missing)
