"""True tables that cannot belong to a release are refused with the first cell that shows it; attacks test the rest."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import ReleaseError
from discreet.programme.model import code_columns
from discreet.release.release import open_release
from discreet.release.table_files import read_table, write_table
from discreet.release.true_tables import TrueTables, has_true_counts
from tests.attacks.scenes import town_release
from tests.tabulation.one_table import table_grid

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.engine import Engine


@pytest.fixture(scope="module")
def made(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("office") / "out"
    town_release(engine=engine, out=out)
    return out


def changed(made: Path, folder: Path, by: int) -> tuple[Path, dict[str, str]]:
    """Return true counts in a folder of their own, the first finest cell of table 1 with some persons more."""
    shutil.copytree(made.with_name("out.curator") / "exact", folder)
    rows = read_table(folder / "1.parquet")
    codes = code_columns(rows.column_names)
    finest = next(n for n, row in enumerate(rows.to_pylist()) if all(row[name] != "_T" for name in codes))
    values = rows["value"].to_numpy().copy()
    values[finest] += by
    write_table("1", rows.set_column(rows.column_names.index("value"), "value", pa.array(values)), folder, "parquet")
    return folder, {name: rows[name][finest].as_py() for name in codes}


def test_true_and_published_counts_stand_side_by_side(made: Path) -> None:
    release = open_release(made)
    grid = table_grid(release.programme, "1")
    true, published = TrueTables(release).with_published(grid)
    assert true.sum() == sum(release.exact("1")["value"].to_pylist())
    assert published.sum() == sum(release.table("1")["value"].to_pylist())
    assert 0 < np.abs(published - true).max() <= release.record.bound
    assert has_true_counts(release)


@pytest.mark.parametrize(
    ("by", "what"),
    [
        (-1000, "it has negative counts, first at"),
        (1000, "it differs from the published table by more than the bound of the noise, first at"),
    ],
)
def test_a_count_that_cannot_be_is_refused_with_its_codes(made: Path, tmp_path: Path, by: int, what: str) -> None:
    folder, codes = changed(made, tmp_path / "true", by)
    release = open_release(made)
    with pytest.raises(ReleaseError, match=re.escape(what)) as refused:
        TrueTables(release, folder).with_published(table_grid(release.programme, "1"))
    assert all(code in str(refused.value) for code in codes.values())
    assert "1000" not in str(refused.value)


def test_parts_that_do_not_add_up_are_refused_with_the_first_total(made: Path, tmp_path: Path) -> None:
    release = open_release(made)
    grid = table_grid(release.programme, "1")
    true, published = TrueTables(release).with_published(grid)
    # One person more where the noise leaves room for her.
    folder, codes = changed(made, tmp_path / "true", 1)
    finest = tuple(column.codes.index(codes[column.name]) for column in grid.columns)
    assert published[finest] - true[finest] - 1 >= -release.record.bound
    with pytest.raises(ReleaseError, match=r"totals that are not the sums of their parts by \w+, the first at \w+ "):
        TrueTables(release, folder).with_published(grid)
