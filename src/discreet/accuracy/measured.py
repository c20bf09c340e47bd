"""Utility: what the noise of a release does to its users, the function behind `discreet utility`.

Tables are gone through once, true beside published where the true counts are at hand. Without these there is what
users can tell themselves: intervals, totals that do not add up, and how far off tests are that know of no noise.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.additivity import Additivity
from discreet.accuracy.areas import Areas
from discreet.accuracy.cell_measures import Gathered
from discreet.accuracy.rejection_rates import level
from discreet.accuracy.release_areas import NO_AREAS, AreaFinder
from discreet.accuracy.small_areas import small_areas
from discreet.accuracy.table_pairs import SideBySide
from discreet.accuracy.true_count_intervals import certain_intervals, first_published, interval_result, small_counts
from discreet.errors import ParameterError
from discreet.release.release import Release, open_release
from discreet.release.true_tables import TrueTables, keeps_truth
from discreet.tabulation.distinct_cells import programme_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.accuracy.cell_measures import CellMeasures
    from discreet.accuracy.rejection_rates import Rejections
    from discreet.accuracy.release_areas import ReleaseAreas
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.accuracy.true_count_intervals import Intervals
    from discreet.noise.by_count import LawByCount
    from discreet.progress import Progress
    from discreet.results import Result
    from discreet.tabulation.distinct_cells import ProgrammeSize

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Utility:
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
    intervals: Intervals
    certain: Intervals | None
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
            share = f"{apart.share_of_totals:.1%} of totals are not the sums of their parts"
            told.append(f"{share}; these are {apart.mean:.1f} off on average.")
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
            "small areas": small.results() if small else [],
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


def utility_of(
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
    side, gathered = SideBySide(release, known), Gathered(AreaFinder(release.programme, areas))
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
    if release.has_record and release.record.law != "none":
        record = release.record
        if record.largest_variance > record.variance * (1 + 1e-9):
            yield UNEVEN


def _small_areas(found: ReleaseAreas, law: LawByCount) -> SmallAreas | None:
    """Return what happened to small areas, where they are published with true counts."""
    if found.total is None or found.total.true is None or not found.total.true.any():
        return None
    true, published = found.counts("true"), found.counts("published")
    female, male = (true[0], true[1]) if found.sexes else (None, None)
    areas = Areas(found.codes, female, male, true[-1], found.names, source=found.population)
    return small_areas(areas, law, published=published).without_truth()
