"""A table of a release before and after the noise, small enough to show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.accuracy.table_pairs import TablePairs
from discreet.programme.summary import all_category_words, statistic_label, topic_words
from discreet.release.true_tables import TrueTables

if TYPE_CHECKING:
    from discreet.accuracy.table_pairs import StatisticPair
    from discreet.release.release import Release

TWO_WAY = 2
MOST_ROWS, MOST_COLUMNS = 12, 8
ENOUGH = 24
"""The number of cells from which on an example is good enough."""


@dataclass(frozen=True)
class TableExample:
    """One two-way statistic with true and published counts.

    Attributes:
        label: the statistic in words.
        table: the id of the table.
        heads: the topics of rows and columns.
        rows: the labels of the rows.
        columns: the labels of the columns.
        cells: true and published counts, row by row.
    """

    label: str
    table: str
    heads: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[int, int], ...], ...]


def table_example(release: Release, truth: Path | str | None) -> TableExample | None:
    """Return the first two-way statistic with enough cells that fits on a page, or the largest that does."""
    best: StatisticPair | None = None
    for table in TablePairs(release, TrueTables(release, None if truth is None else Path(truth))):
        for each in table.statistics:
            if each.true is None or each.true.ndim != TWO_WAY:
                continue
            if max(each.true.shape) > MOST_ROWS or min(each.true.shape) > MOST_COLUMNS:
                continue
            if best is None or each.published.size > best.published.size:
                best = each
        if best is not None and best.published.size >= ENOUGH:
            break
    return None if best is None else _example(release, best)


def _example(release: Release, found: StatisticPair) -> TableExample:
    assert found.true is not None  # noqa: S101 - chosen for it
    # The longer side goes down the page.
    down, across = (0, 1) if found.true.shape[0] >= found.true.shape[1] else (1, 0)
    topics = [release.programme.topics[name] for name in found.topics]
    labels = [
        tuple(all_category_words(topic).get(code, code) for code in found.codes(axis))
        for axis, topic in enumerate(topics)
    ]
    true, published = (counts.transpose(down, across).tolist() for counts in (found.true, found.published))
    return TableExample(
        statistic_label(release.programme, found.name),
        found.table.plan.table.id,
        (topic_words(topics[down]), topic_words(topics[across])),
        labels[down],
        labels[across],
        tuple(tuple(zip(*row, strict=True)) for row in zip(true, published, strict=True)),
    )
