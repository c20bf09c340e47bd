"""Programs that a test needs: where one is missing the test is skipped, or fails where skips are not allowed."""

from __future__ import annotations

import os
import shutil

import pytest

NO_SKIPS = "DISCREET_NO_SKIPS"
"""The environment variable under which a missing program is a failure."""


def program(*names: str) -> str:
    """Return the path of the first program that is there."""
    for name in names:
        if found := shutil.which(name):
            return found
    missing = f"there is no program {' or '.join(names)}"
    if os.environ.get(NO_SKIPS):
        pytest.fail(f"{missing}, and {NO_SKIPS} is set")
    pytest.skip(missing)
