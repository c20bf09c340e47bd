"""Two countries stand for all Member States: one with regions of one category, one without."""

from __future__ import annotations

import pytest

from discreet.paper.paper_inputs import Sources


@pytest.fixture(scope="session")
def sources() -> Sources:
    return Sources(("MT", "IE"))
