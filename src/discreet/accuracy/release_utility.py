"""Utility of a release for data users, the function behind `discreet utility`.

Tables are read once, and published cells are compared with true ones if true counts are available. Without them, only
measures that data users can compute themselves are reported: intervals, additivity errors, and the levels of tests of
independence with and without regard to noise.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.additivity import Additivity, table_gaps
from discreet.accuracy.area_counts import AreaCounts
from discreet.accuracy.association import Associations, association
from discreet.accuracy.cell_errors import BySize, Distances, LostCounts, by_size, distances, zeros
from discreet.accuracy.count_pairs import merged, pair_times
from discreet.accuracy.expected_accuracy import Expected, expected
from discreet.accuracy.hellinger import apart_results, table_apart
from discreet.accuracy.rejection_rates import level
from discreet.accuracy.release_areas import NO_AREAS, AreaFinder, RankChanges, rank_changes
from discreet.accuracy.small_areas import small_areas
from discreet.accuracy.table_pairs import ONCE, TablePairs
from discreet.accuracy.true_count_intervals import (
    Coverage,
    certain_intervals,
    coverage,
    first_published,
    interval_result,
    small_counts,
)
from discreet.errors import ParameterError
from discreet.release.release import Release, open_release
from discreet.release.true_tables import TrueTables, keeps_truth
from discreet.results import ResultSet
from discreet.tabulation.distinct_cells import programme_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discreet.accuracy.additivity import TableGaps
    from discreet.accuracy.association import Association
    from discreet.accuracy.count_pairs import CountPairs
    from discreet.accuracy.hellinger import TableDistance
    from discreet.accuracy.rejection_rates import Rejections
    from discreet.accuracy.release_areas import ReleaseAreas
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.accuracy.table_pairs import StatisticPair, TablePair
    from discreet.accuracy.true_count_intervals import CountIntervals
    from discreet.noise.by_count import TransitionMatrix
    from discreet.progress import Progress
    from discreet.results import Result
    from discreet.tabulation.distinct_cells import ProgrammeSize

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
    zeros: LostCounts
    apart: tuple[TableDistance, ...]
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


class CellTally:
    """What is kept of every table as it goes by; the table itself is not.

    Args:
        finder: looks for the areas.
    """

    def __init__(self, finder: AreaFinder) -> None:
        self.finder = finder
        self.gaps: list[TableGaps] = []
        self._pairs: list[CountPairs] = []
        self._once: list[CountPairs] = []
        self._apart: list[TableDistance] = []
        self._associations: list[Association] = []

    def take(self, table: TablePair) -> None:
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

    def measured(self, areas: ReleaseAreas | None, law: TransitionMatrix) -> CellMeasures:
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


def _pairs(shown: StatisticPair) -> CountPairs | None:
    return None if shown.true is None else pair_times(shown.once(shown.true), shown.once(shown.published))


def _associations(statistics: Iterable[StatisticPair]) -> Iterator[Association]:
    for shown in statistics:
        if shown.true is not None and len(shown.choice.kept) == TWO_WAY:
            yield association(shown.true, shown.published, f"{shown.table.plan.table.id}: {shown.name}")


def _with(result: Result, taken: str) -> Result:
    return replace(result, assumptions=(taken, *result.assumptions))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


LARGE, OFF = 10, 20
"""Counts from here on, and the percentage off, that the summary speaks of."""
TYPICAL = 12
"""The published count whose interval is told in a sentence."""
LARGEST_INTERVAL = 50
"""The largest published count whose interval is listed."""
MEANS = (5, 20, 100)
"""Mean true counts of a cell for which the level of tests is simulated."""
TABLES = 2_000
"""Tables that are drawn for each."""
NO_CELLS: dict[str, Any] = {"distances": None, "by_size": [], "hellinger": [], "association": []}
"""What stands for measures that need true counts where there are none."""
WITHOUT_TRUTH = (
    "Without true counts only what users can tell themselves is measured; keep them with protect --keep-exact, or name "
    "their folder with --truth."
)
CURATOR = "These figures are made from true counts and tell the exact noise: they are for the curator alone."
GUESSED = (
    "The record of its noise is not beside the release: intervals and tests take a law that fits what the release "
    "tells, its typical size and a vague bound."
)
UNEVEN = (
    "This release spends its privacy budget unevenly; intervals and tests take every count for one with most noise."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Utility(ResultSet):
    """What the noise of one release does to its users.

    Attributes:
        truth: where the true counts came from, None where there were none.
        size: how many statistics and cells the release has.
        taken: how often a count is taken that several tables show.
        additivity: totals against the sums of their parts.
        intervals: that a user may put around small published counts; larger ones have the last, moved along.
        certain: the counts that are possible at all, None where any is.
        typical: the interval of one published count, in a sentence.
        tests: by mean true count of a cell, how often tests of independence reject it wrongly.
        cells: what needs true counts.
        areas: the areas of the release, None if the programme has no topic of areas.
        small_areas: what happens to small ones, None where they or their sexes are not published.
        warnings: what a reader should know.
    """

    truth: str | None
    size: ProgrammeSize
    taken: str
    additivity: Additivity
    intervals: CountIntervals
    certain: CountIntervals | None
    typical: Result
    tests: dict[int, Rejections]
    cells: CellMeasures | None
    areas: ReleaseAreas | None
    small_areas: SmallAreas | None
    warnings: tuple[str, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """Return all figures."""
        return tuple(result for section in self.sections().values() for result in section)

    @property
    def title(self) -> str:
        """Return the whole in a few sentences."""
        return self.summary

    @property
    def summary(self) -> str:
        """Return the whole in a few sentences."""
        apart, told = self.additivity, []
        if self.cells:
            off, zeros = self.cells.distances, self.cells.zeros
            worst = f"the worst cell is {off.largest:,} off"
            told.append(f"A count above 0 is {off.absolute.mean:.1f} off on average; {worst}.")
            large = self.cells.by_size.share_above(LARGE, OFF)
            if large is not None:
                told.append(f"Of counts of {LARGE} and more, {large:.1%} are more than {OFF} % off.")
            told.append(f"{zeros.gone:.1%} of the counts above 0 are published as 0 or less.")
        if apart.totals:
            told.append(f"{apart.totals_apart}; these are {apart.mean:.1f} off on average.")
        if not told:
            told.append(self.typical.sentence)
        return " ".join(told)

    def sections(self) -> dict[str, list[Result]]:
        """Return the figures by what they are about; of measures that need true counts, where there are such."""
        cells, small = self.cells, self.small_areas
        found = {} if cells is None else cells.sections(self.taken)
        return {
            **found,
            "totals": self.additivity.results(),
            "interval": [self.typical, *found.pop("interval", [])],
            "small areas": list(small.results) if small else [],
            "tests": [_at_mean(each, mean) for mean, tests in self.tests.items() for each in tests.results()],
        }

    def to_json(self) -> dict[str, Any]:
        """Return the keys that `--json` adds."""
        cells = self.cells
        return {
            **asdict(self.size),
            **(NO_CELLS if cells is None else cells.to_json()),
            "additivity": [asdict(table) for table in self.additivity.tables],
            "intervals": self._intervals_json(),
            "tests": [{"mean": mean, **asdict(found)} for mean, found in self.tests.items()],
            "areas": None if self.areas is None else {"topic": self.areas.topic, "areas": len(self.areas.codes)},
            "small_areas": None if self.small_areas is None else self.small_areas.to_json(),
        }

    def _intervals_json(self) -> list[dict[str, int | None]]:
        certain = self.certain
        return [
            {
                "published": int(value),
                "lower": int(self.intervals.lower[n]),
                "upper": int(self.intervals.upper[n]),
                "least": None if certain is None else int(certain.lower[n]),
                "most": None if certain is None else int(certain.upper[n]),
            }
            for n, value in enumerate(self.intervals.published.tolist())
        ]

    def __str__(self) -> str:
        return "\n".join(result.sentence for result in self.results)


def utility(
    release: Release | Path | str,
    *,
    truth: Path | str | None = None,
    areas: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Utility:
    """Measure what the noise of a release does to its users.

    Args:
        release: a Release or its folder.
        truth: the folder of true counts; OUT.curator/exact if left out and there.
        areas: the topic of areas; by default the one that the programme declares or that has the name of areas.
        seed: of what is simulated.
        progress: called with a stage, what is done and what there is to do.
    """
    if seed < 0:
        raise ParameterError.outside("utility", "seed", seed, "a whole number from 0 on")
    release = release if isinstance(release, Release) else open_release(release)
    tables = TrueTables(release, None if truth is None else Path(truth))
    known = tables if truth is not None or keeps_truth(release) else None
    # Of a law that is guessed from what the release tells, no bound is certain.
    law = tables.noise if release.has_record else replace(tables.noise, bound=math.inf)
    side, gathered = TablePairs(release, known), CellTally(AreaFinder(release.programme, areas))
    for number, table in enumerate(side):
        gathered.take(table)
        if progress:
            progress("comparing", number + 1, side.tables)
    found, intervals = gathered.finder.found(), small_counts(law, most=LARGEST_INTERVAL)
    return Utility(
        truth=None if known is None else known.place,
        size=programme_size(release.programme),
        taken=side.taken,
        additivity=Additivity(tuple(gathered.gaps)),
        intervals=intervals,
        certain=certain_intervals(law, intervals.published),
        typical=interval_result(law, first_published(law, TYPICAL), guessed=not release.has_record),
        tests={mean: level(mean, law, seed=seed, tables=TABLES) for mean in MEANS},
        cells=None if known is None else gathered.measured(found, law),
        areas=found,
        small_areas=None if known is None or found is None else _small_areas(found, law),
        warnings=(*_warnings(release, known), *([] if found else [NO_AREAS])),
    )


def _at_mean(result: Result, mean: int) -> Result:
    """Return the level of a test with the mean true count of a cell in its name and its sentence."""
    sentence = f"With {mean} persons per cell: {result.sentence[0].lower()}{result.sentence[1:]}"
    return replace(result, name=f"{result.name}_at_{mean}", sentence=sentence)


def _warnings(release: Release, known: TrueTables | None) -> Iterator[str]:
    yield WITHOUT_TRUTH if known is None else CURATOR
    if not release.has_record:
        yield GUESSED
    if release.has_record and not release.record.is_exact:
        record = release.record
        if record.largest_variance > record.variance * (1 + 1e-9):
            yield UNEVEN


def _small_areas(found: ReleaseAreas, law: TransitionMatrix) -> SmallAreas | None:
    """Return what happened to small areas, where they are published with true counts."""
    if found.total is None or found.total.true is None or not found.total.true.any():
        return None
    true, published = found.counts("true"), found.counts("published")
    female, male = (true[0], true[1]) if found.sexes else (None, None)
    areas = AreaCounts(found.codes, female, male, true[-1], found.names, source=found.population)
    return small_areas(areas, law, published=published).without_truth()
