"""A small release to try things on: three tables of 200 people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.model import Programme, Table
from discreet.protection.pipeline import protect
from tests.tabulation.small_data import by, topic

if TYPE_CHECKING:
    from discreet.release.release import Release

SECRET = b"a secret for the tests only"
AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y", "O1": "O", "O2": "O"})
SEX = topic("SEX", "F M")
PROGRAMME = Programme(
    "small town",
    {"AGE": AGE, "SEX": SEX},
    (Table("1", (by(AGE), by(SEX))), Table("a/b", (by(SEX),), universe="AGE = Y"), Table("A/B", (by(AGE, 1, 1),))),
)


def people(seed: int = 1, number: int = 200) -> pa.Table:
    """Return made-up people with an id."""
    random = np.random.default_rng(seed)
    ages, sexes = (random.choice(codes, number) for codes in (["Y1", "Y2", "O1", "O2"], ["F", "M"]))
    return pa.table({"ID": np.arange(number), "AGE": ages, "SEX": sexes})


def cell_key(variance: float = 2, **more: Any) -> CellKey:  # noqa: ANN401 - settings of a p-table
    """Return a mechanism with noise of this variance."""
    return CellKey(PTable.max_entropy(variance=variance, bound=5, **more), secret=SECRET)


def make(*, variance: float = 2, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    """Make the release."""
    return protect(how.pop("data", people()), how.pop("programme", PROGRAMME), cell_key(variance), id="ID", **how)
