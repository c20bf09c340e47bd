"""What needs true counts: published cells beside true ones, gathered table by table and measured together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.accuracy.additivity import table_gaps
from discreet.accuracy.association import Associations, association
from discreet.accuracy.by_size import BySize, by_size
from discreet.accuracy.count_pairs import merged, pair_times
from discreet.accuracy.distances import Distances, distances
from discreet.accuracy.expected import Expected, expected
from discreet.accuracy.ranks import RankChanges, rank_changes
from discreet.accuracy.table_pairs import ONCE
from discreet.accuracy.tables_apart import apart_results, table_apart
from discreet.accuracy.true_count_intervals import Coverage, coverage
from discreet.accuracy.zeros import Zeros, zeros

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discreet.accuracy.additivity import TableGaps
    from discreet.accuracy.association import Association
    from discreet.accuracy.count_pairs import PairTimes
    from discreet.accuracy.release_areas import AreaFinder, ReleaseAreas
    from discreet.accuracy.table_pairs import Shown, TableBeside
    from discreet.accuracy.tables_apart import TableApart
    from discreet.noise.by_count import LawByCount
    from discreet.results import Result

TWO_WAY = 2
DIGITS = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class CellMeasures:
    """Published counts beside true ones, cell by cell.

    Attributes:
        distances: how far published counts are from true ones.
        by_size: the same by size of the true count.
        zeros: counts that were lost or invented.
        apart: Hellinger distances of the finest statistic of every table.
        associations: Cramer's V of all two-way statistics, before and after.
        ranks: how areas moved, None where there are too few of them.
        held: whether users' intervals hold the true counts.
        expected: what the law does on average over all draws.
    """

    distances: Distances
    by_size: BySize
    zeros: Zeros
    apart: tuple[TableApart, ...]
    associations: Associations
    ranks: RankChanges | None
    held: Coverage
    expected: Expected

    def sections(self, taken: str) -> dict[str, list[Result]]:
        """Return the figures by what they are about.

        Args:
            taken: how often a count was taken that several tables show; an assumption of every figure.
        """
        found: dict[str, list[Result]] = {
            "counts": self.distances.results(),
            "zeros": self.zeros.results(),
            "sizes": self.by_size.results(),
            "tables": apart_results(self.apart),
            "ranks": self.ranks.results() if self.ranks else [],
            "association": self.associations.results(),
            "interval": self.held.results(),
        }
        told = {label: [_with(each, taken) for each in results] for label, results in found.items()}
        told["counts"] += [_with(each, ONCE) for each in self.expected.results()]
        return told

    def to_json(self) -> dict[str, Any]:
        """Return the keys that `--json` adds."""
        return {
            "distances": {name: asdict(getattr(self.distances, name)) for name in ("absolute", "relative", "root")},
            "by_size": [asdict(each) for each in self.by_size.classes],
            # Three digits: exact ones, of true counts, would tell more than a reader needs.
            "hellinger": [{**asdict(each), "distance": round(each.distance, DIGITS)} for each in self.apart],
            "association": [
                {"statistic": each.name, "before": _rounded(each.before), "after": _rounded(each.after)}
                for each in self.associations.tables
            ],
        }


class Gathered:
    """What is kept of every table as it goes by; the table itself is not.

    Args:
        finder: looks for the areas.
    """

    def __init__(self, finder: AreaFinder) -> None:
        self.finder = finder
        self.gaps: list[TableGaps] = []
        self._pairs: list[PairTimes] = []
        self._once: list[PairTimes] = []
        self._apart: list[TableApart] = []
        self._associations: list[Association] = []

    def take(self, table: TableBeside) -> None:
        """Look at one table."""
        self.gaps.append(table_gaps(table))
        self.finder.look_at(table.statistics)
        pairs = [(shown.first, found) for shown in table.statistics if (found := _pairs(shown)) is not None]
        self._pairs.append(merged(found for _, found in pairs))
        # Whatever draws the noise, what is expected of it is of the same counts: every statistic once.
        self._once.append(merged(found for first, found in pairs if first))
        if apart := table_apart(table):
            self._apart.append(apart)
        self._associations += list(_associations(table.statistics))

    def measured(self, areas: ReleaseAreas | None, law: LawByCount) -> CellMeasures:
        """Return the measures of all tables together."""
        pairs, ranks = merged(self._pairs), None
        if areas is not None and areas.total is not None and areas.total.true is not None:
            ranks = rank_changes(areas.names, areas.total.true, areas.total.published)
        return CellMeasures(
            distances=distances(pairs),
            by_size=by_size(pairs),
            zeros=zeros(pairs),
            apart=tuple(self._apart),
            associations=Associations(tuple(self._associations)),
            ranks=ranks,
            held=coverage(pairs, law),
            expected=expected(merged(self._once), law),
        )


def _pairs(shown: Shown) -> PairTimes | None:
    return None if shown.true is None else pair_times(shown.once(shown.true), shown.once(shown.published))


def _associations(statistics: Iterable[Shown]) -> Iterator[Association]:
    for shown in statistics:
        if shown.true is not None and len(shown.choice.kept) == TWO_WAY:
            yield association(shown.true, shown.published, f"{shown.table.plan.table.id}: {shown.name}")


def _with(result: Result, taken: str) -> Result:
    return replace(result, assumptions=(taken, *result.assumptions))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
