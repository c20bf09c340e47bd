"""Utility of a release for data users (`discreet utility`).

Tables are read once, and published cells are compared with true ones if true counts are available. Without them, only
measures that data users can compute themselves are reported: intervals, additivity errors, and the levels of tests of
independence that ignore or account for noise.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.additivity import Additivity, table_gaps
from discreet.accuracy.area_counts import AreaCounts
from discreet.accuracy.association import Associations, association
from discreet.accuracy.cell_errors import BySize, Distances, LostCounts, by_size, distances, zeros
from discreet.accuracy.count_pairs import merged, pair_times
from discreet.accuracy.expected_accuracy import Expected, expected
from discreet.accuracy.hellinger import hellinger_results, table_distance
from discreet.accuracy.rejection_rates import level
from discreet.accuracy.release_areas import NO_AREAS, AreaFinder, RankChanges, rank_changes
from discreet.accuracy.small_areas import NO_SMALL_AREAS, small_areas
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
from discreet.release.true_tables import TrueTables, has_true_counts
from discreet.results import ResultSet
from discreet.tabulation.distinct_cells import programme_size
from discreet.verdicts import ADDITIVITY, SMALL_AREAS, Decision, Policy, check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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

JUDGED = (SMALL_AREAS, ADDITIVITY)
"""The figures on utility that can have targets."""
TWO_WAY = 2
DIGITS = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class CellMeasures:
    """Comparison of published and true counts, cell by cell.

    Attributes:
        distances: the distances between published and true counts.
        by_size: the errors by size of the true count.
        zeros: lost counts and false positives.
        apart: the Hellinger distances of the finest statistic of every table.
        associations: Cramer's V of all two-way statistics, before and after noise.
        ranks: the rank changes of areas; None with too few areas.
        held: the coverage of the intervals of data users.
        expected: the expected errors over all draws of the noise.
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
        """Return the figures by subject.

        Args:
            taken: how often a count in several tables was counted; an assumption of every figure.
        """
        found: dict[str, list[Result]] = {
            "counts": self.distances.results(),
            "zeros": self.zeros.results(),
            "sizes": self.by_size.results(),
            "tables": hellinger_results(self.apart),
            "ranks": self.ranks.results() if self.ranks else [],
            "association": self.associations.results(),
            "interval": self.held.results(),
        }
        sections = {label: [_with(each, taken) for each in results] for label, results in found.items()}
        sections["counts"] += [_with(each, ONCE) for each in self.expected.results()]
        return sections

    def to_json(self) -> dict[str, Any]:
        """Return the keys that `--json` adds."""
        return {
            "distances": {name: asdict(getattr(self.distances, name)) for name in ("absolute", "relative", "root")},
            "by_size": [asdict(each) for each in self.by_size.classes],
            # Three digits: exact figures of true counts would disclose more than a reader needs.
            "hellinger": [{**asdict(each), "distance": round(each.distance, DIGITS)} for each in self.apart],
            "association": [
                {"statistic": each.name, "before": _rounded(each.before), "after": _rounded(each.after)}
                for each in self.associations.tables
            ],
        }


class CellTally:
    """Accumulated measures of all tables; the tables themselves are not stored.

    Args:
        finder: the search for areas.
    """

    def __init__(self, finder: AreaFinder) -> None:
        self.finder = finder
        self.gaps: list[TableGaps] = []
        self._pairs: list[CountPairs] = []
        self._once: list[CountPairs] = []
        self._apart: list[TableDistance] = []
        self._associations: list[Association] = []

    def take(self, table: TablePair) -> None:
        """Add one table."""
        self.gaps.append(table_gaps(table))
        self.finder.look_at(table.statistics)
        pairs = [(shown.first, found) for shown in table.statistics if (found := _pairs(shown)) is not None]
        self._pairs.append(merged(found for _, found in pairs))
        # Expected errors refer to every statistic once, for any mechanism.
        self._once.append(merged(found for first, found in pairs if first))
        if apart := table_distance(table):
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
"""The smallest count and the relative error in percent that the summary reports."""
TYPICAL = 12
"""The published count whose interval is reported in a sentence."""
LARGEST_INTERVAL = 50
"""The largest published count whose interval is listed."""
MEANS = (5, 20, 100)
"""The mean true counts of a cell for which the level of tests is simulated."""
TABLES = 2_000
"""The number of simulated tables per mean."""
NO_CELLS: dict[str, Any] = {"distances": None, "by_size": [], "hellinger": [], "association": []}
"""The values of measures that require true counts, if these are unavailable."""
WITHOUT_TRUTH = (
    "True counts are unavailable: only measures that data users can compute are reported. Keep true counts with "
    "protect --keep-exact, or give their folder with --truth."
)
CURATOR = "These figures are based on true counts and disclose the exact noise. Do not publish them."
GUESSED = (
    "The noise record is not next to the release: intervals and tests use a distribution that fits the published "
    "description, i.e. the typical size of the noise and an approximate bound."
)
UNEVEN = (
    "This release splits its privacy budget unevenly. Intervals and tests treat every count as one with the largest "
    "noise variance."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Utility(ResultSet):
    """The utility of one release for data users.

    Attributes:
        truth: the source of the true counts; None if unavailable.
        size: the numbers of statistics and cells of the release.
        taken: how often a count in several tables is counted.
        additivity: the additivity errors.
        intervals: the intervals of small published counts; larger counts have the last one, shifted.
        certain: the ranges of possible true counts; None if every count is possible.
        typical: the interval of one published count, in a sentence.
        tests: the levels of tests of independence by mean true count of a cell.
        cells: the measures that require true counts; None without true counts.
        areas: the areas of the release; None if the programme has no geographic topic.
        small_areas: the measures of small areas; None if areas or true counts are unavailable.
        warnings: warnings to the reader.
        policy: the targets of the office.
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
    policy: Policy = field(default_factory=Policy)

    @property
    def decision(self) -> Decision:
        """Return the verdict on the utility of the release."""
        why = NO_SMALL_AREAS if self.areas else NO_AREAS
        areas = self.small_areas.check(self.policy) if self.small_areas else check(self.policy, SMALL_AREAS, None, why)
        return Decision((areas, self.additivity.check(self.policy)))

    @property
    def results(self) -> tuple[Result, ...]:
        """Return all figures."""
        return tuple(result for section in self.sections().values() for result in section)

    @property
    def title(self) -> str:
        """Return the summary."""
        return self.summary

    @property
    def summary(self) -> str:
        """Return a summary in a few sentences."""
        apart, sentences = self.additivity, []
        if self.cells:
            off, zeros = self.cells.distances, self.cells.zeros
            largest = f"largest absolute error: {off.largest:,}"
            sentences.append(f"Mean absolute error of counts above 0: {off.absolute.mean:.1f}; {largest}.")
            large = self.cells.by_size.share_above(LARGE, OFF)
            if large is not None:
                sentences.append(f"{large:.1%} of counts of {LARGE} or more have a relative error above {OFF} %.")
            sentences.append(f"Lost counts: {zeros.lost_share:.1%} of counts above 0 are published as 0 or less.")
        if apart.totals:
            sentences.append(f"{apart.totals_apart}; its mean absolute size is {apart.mean:.1f}.")
        if not sentences:
            sentences.append(self.typical.sentence)
        return " ".join(sentences)

    def sections(self) -> dict[str, list[Result]]:
        """Return the figures by subject; measures that require true counts are included if these are available."""
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
            "targets": self.policy.to_json(JUDGED),
            "decision": self.decision.to_json(),
        }

    def _intervals_json(self) -> list[dict[str, int | None]]:
        certain = self.certain
        return [
            {
                "published": int(value),
                "lower": int(self.intervals.lower[n]),
                "upper": int(self.intervals.upper[n]),
                "minimum": None if certain is None else int(certain.lower[n]),
                "maximum": None if certain is None else int(certain.upper[n]),
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
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Return the utility of a release for data users.

    Args:
        release: a Release or its folder.
        truth: the folder of true counts; by default OUT.curator/exact if it exists.
        areas: the geographic topic; by default the one that the programme declares or that has an area name.
        seed: the seed of simulations.
        targets: the targets of the office by name, e.g. {"additivity": 0.5}; by default those in the record.
        progress: a callback with the stage, the number of steps done and the total number of steps.
    """
    policy = Policy.of(targets).restricted("utility", JUDGED)
    if seed < 0:
        raise ParameterError.outside("utility", "seed", seed, "a whole number from 0 on")
    release = release if isinstance(release, Release) else open_release(release)
    tables = TrueTables(release, None if truth is None else Path(truth))
    known = tables if truth is not None or has_true_counts(release) else None
    # The bound of a distribution fitted to the published description is not certain.
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
        policy=policy.over(release.record.targets if release.has_record else None, JUDGED),
    )


def _at_mean(result: Result, mean: int) -> Result:
    """Return the level of a test with the mean true count of a cell in name and sentence."""
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
    """Return the measures of small areas if they are published and their true counts available."""
    if found.total is None or found.total.true is None or not found.total.true.any():
        return None
    true, published = found.counts("true"), found.counts("published")
    female, male = (true[0], true[1]) if found.sexes else (None, None)
    areas = AreaCounts(found.codes, female, male, true[-1], found.names, source=found.population)
    return small_areas(areas, law, published=published).without_truth()
