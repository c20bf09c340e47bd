"""Ten thousand mutations of valid files per reader: each is read, or refused by an error of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hostile.calls import CALLS, mutation_outcomes
from tests.hostile.mutations import mutated

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 10_000
SECONDS = 20


def test_mutations_differ_and_come_again() -> None:
    for seed in (b'a = 1\nb = ["x", 2]\n', bytes(range(256))):
        found = [mutated(seed, number) for number in range(200)]
        assert found == [mutated(seed, number) for number in range(200)]
        assert len(set(found)) > 100
        assert sum(each == seed for each in found) < 40


@pytest.mark.slow
@pytest.mark.parametrize("reader", CALLS)
def test_mutated_files_are_read_or_refused(reader: str, tmp_path: Path) -> None:
    found = mutation_outcomes(tmp_path, reader, TIMES)
    assert found["failures"] == []
    assert found["read"] + found["refused"] == TIMES
    assert found["refused"] > TIMES / 10
    assert found["slowest"] < SECONDS
