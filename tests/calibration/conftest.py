"""Designs of small programmes: few probes estimate how residuals share noise, which does not affect the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def _few_rounds() -> Iterator[None]:
    with town.few_rounds():
        yield
