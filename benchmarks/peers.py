"""One three-way table, compared with R cellKey (measured once, see the note) and the ONS package (in the same run)."""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from cell_key_perturbation.create_perturbed_table import create_perturbed_table

from benchmarks.census import Spent, Watch
from benchmarks.clock import Figure, report
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.ptable import PTable
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.protection.pipeline import protect

CELLKEY_SECONDS = 37.1
"""CPU seconds of cellKey 1.0.3 in R 4.2.2 for 10^6 cells from 2 * 10^5 records: 35 to tabulate, 2.1 to perturb."""
SECRET = b"a secret for the benchmark"


def three_ways(groups: int, leaves: int) -> Programme:
    """Return one table of three topics with `groups` groups of `leaves` / `groups` categories each."""
    topics = {}
    for name in "ABC":
        upper = [Category(f"{name}{group}") for group in range(groups)]
        lower = [Category(f"{name}{k * groups // leaves}.{k}", f"{name}{k * groups // leaves}") for k in range(leaves)]
        tree = CategoryTree(name, (*upper, *lower))
        levels = tuple(Level(name, f"{name}:{depth}", len(tree.cut(depth)), tree.cut(depth)) for depth in (1, 2))
        topics[name] = Topic(name, levels, tree)
    breakdowns = tuple(Breakdown(name, name, topic.levels) for name, topic in topics.items())
    return Programme("three ways", topics, (Table("t", breakdowns),))


def records(programme: Programme, rows: int, key_space: int) -> pa.Table:
    """Return records spread evenly over the finest cells, with random keys."""
    random = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    for name, topic in programme.topics.items():
        codes = list(topic.levels[-1].codes or ())
        places = random.integers(0, len(codes), rows, dtype=np.int32)
        columns[name] = pa.DictionaryArray.from_arrays(places, codes)
    return pa.table(columns | {"key": pa.array(random.integers(0, key_space, rows, dtype=np.uint32))})


def compared_with_cellkey() -> Figure:
    """Measure the table that cellKey was measured on: 100 codes per topic with total and groups."""
    programme = three_ways(9, 90)
    data = records(programme, 200_000, 1 << 32)
    with Watch() as watch:
        release = protect(data, programme, CellKey(PTable.max_entropy(variance=2, bound=5), secret=SECRET), key="key")
    assert release.summary is not None
    assert release.summary.cells == 10**6
    note = "cellKey measured once on two cores of this kind, not in this run"
    return Figure("10^6 cells of 2*10^5 records", watch.spent.cpu, "R cellKey", CELLKEY_SECONDS, note)


def compared_with_ons(rows: int) -> list[Figure]:
    """Measure a table of 10^6 cells with all margins; the ONS package needs a call per margin. All cells must agree."""
    programme = three_ways(9, 90)
    data = records(programme, rows, 256)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ptable.csv"
        write_ptable(PTable.max_entropy(variance=2, bound=5).on_grid(256), path, "ons")
        ptable, theirs = read_ptable(path), pd.read_csv(path)
    with Watch() as watch:
        release = protect(data, programme, CellKey(ptable, mode="plain"), key="key")
    ours = release.table("t").to_pandas()
    frame = with_groups(data)
    finest, margins = Spent(0, 0), Spent(0, 0)
    for choice in product(*((f"{name}.group", name, None) for name in "ABC")):
        names = [name for name in choice if name]
        if names:
            # The package prints a line per call.
            with Watch() as their_watch, redirect_stdout(io.StringIO()):
                expected = create_perturbed_table(frame, theirs, [], names, "key", threshold=0)
            margins += their_watch.spent
            finest = their_watch.spent if names == ["A", "B", "C"] else finest
            check_equal(expected, ours, choice)
    name = f"10^6 cells of {rows:,} records"
    return [
        Figure(
            f"{name}, wall", watch.spent.wall, "ONS package, the same cells (26 calls)", margins.wall, "all cells equal"
        ),
        Figure(f"{name}, CPU", watch.spent.cpu, "ONS package, the same cells (26 calls)", margins.cpu),
        Figure(f"{name}, wall", watch.spent.wall, "ONS package, finest cells only (1 call)", finest.wall),
    ]


def with_groups(data: pa.Table) -> pd.DataFrame:
    """Return the records as a data frame with a column per level, as the ONS package needs them."""
    frame = data.to_pandas()
    for name in "ABC":
        codes = frame[name].cat.categories
        frame[f"{name}.group"] = pd.Categorical([code.partition(".")[0] for code in codes])[frame[name].cat.codes]
    return frame


def check_equal(expected: pd.DataFrame, ours: pd.DataFrame, choice: tuple[str | None, ...]) -> None:
    """Compare the cells of one margin; a cell without a row is 0."""
    columns = {(name or f"total {topic}"): topic for name, topic in zip(choice, "ABC", strict=True)}
    theirs = expected.rename(columns=columns).assign(
        **{topic: "_T" for name, topic in columns.items() if name not in choice}
    )
    for topic in "ABC":
        theirs[topic] = theirs[topic].astype(str)
    joined = theirs.merge(ours, on=list("ABC"), how="left")
    differing = int((joined["count"].fillna(0) != joined["value"].fillna(0)).sum())
    assert differing == 0, f"{differing} cells differ"


def main() -> None:
    """Measure both."""
    report("peers", [compared_with_cellkey(), *compared_with_ons(10**7)])


if __name__ == "__main__":
    main()
