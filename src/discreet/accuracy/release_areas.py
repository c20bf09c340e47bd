"""Areas of a release and the changes of their ranks by size.

Areas are the finest published categories of the geographic topic, with women, men and total if published. The topic is
the one requested, else the one that the programme declares (`areas`), else the largest one with the name of areas
(`programme/selection.py`). Without such a topic, figures on areas are omitted.

The rank of an area is that of its count among all areas with persons, the largest first; areas of equal size share the
mean of their ranks. The correlation is Spearman's, between ranks by true and by published counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.selection import area_topic
from discreet.programme.summary import all_category_words
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.accuracy.table_pairs import StatisticPair
    from discreet.arrays import Floats, Ints
    from discreet.programme.model import Programme, Topic

NEARLY = 0.9999
FEWEST = 2
"""Areas that can be put in an order."""


@dataclass(frozen=True)
class RankChanges:
    """How areas moved in the list by size.

    Attributes:
        areas: how many areas have persons, true or published.
        moved: how many of them have another rank.
        mean: the mean number of places that these moved.
        largest: the largest number of places.
        worst: the area that moved most.
        correlation: Spearman's, of true and published counts.
    """

    areas: int
    moved: int
    mean: float
    largest: float
    worst: str
    correlation: float

    def results(self) -> list[Result]:
        """Return the share of areas that moved, and how far."""
        if not self.moved:
            return [self._still()]
        alike = "areas of one size share the mean of their ranks, so that noise which separates them moves them"
        return [
            Result(
                name="areas_moved",
                value=self.moved / self.areas,
                unit="1",
                sentence=f"{self.moved:,} of {self.areas:,} areas have another place in the list by size; "
                f"these moved {self.mean:.1f} places on average.",
                assumptions=(alike, "areas without persons are left out"),
                equation="share of areas with rank(published) != rank(true)",
            ),
            Result(
                name="largest_rank_change",
                value=self.largest,
                unit="places",
                sentence=f"{self.worst} moved most: {self.largest:g} places of {self.areas:,}.",
                worst=self.worst,
                assumptions=(alike,),
                equation="max |rank(published) - rank(true)|",
            ),
            Result(
                name="rank_correlation",
                value=self.correlation,
                unit="1",
                sentence=f"The rank correlation of areas before and after is {_told(self.correlation)}.",
                assumptions=(alike,),
                equation="Spearman's correlation of true and published counts",
            ),
        ]

    def _still(self) -> Result:
        return Result(
            name="areas_moved",
            value=0.0,
            unit="1",
            sentence=f"All {self.areas:,} areas keep their place in the list by size.",
            assumptions=("areas without persons are left out",),
            equation="share of areas with rank(published) != rank(true)",
        )


def rank_changes(areas: Sequence[str], true: Ints, published: Ints) -> RankChanges | None:
    """Return how areas moved; None where fewer than two have persons."""
    there = (true > 0) | (published > 0)
    if there.sum() < FEWEST:
        return None
    before, after = (_ranks(counts[there]) for counts in (true, published))
    moves = np.abs(after - before)
    most = int(moves.argmax())
    names = [name for name, is_there in zip(areas, there.tolist(), strict=True) if is_there]
    return RankChanges(
        areas=len(names),
        moved=int((moves > 0).sum()),
        mean=float(moves[moves > 0].mean()) if moves.any() else 0.0,
        largest=float(moves.max()),
        worst=names[most],
        correlation=_correlation(before, after),
    )


def _told(correlation: float) -> str:
    return "above 0.9999" if correlation > NEARLY else f"{correlation:.4f}"


def _ranks(counts: Ints) -> Floats:
    """Return the rank of every count, the largest first; equal ones have the mean of their ranks."""
    _, place, times = np.unique(-counts, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    found: Floats = (last - (times - 1) / 2)[place]
    return found


def _correlation(before: Floats, after: Floats) -> float:
    """Return the correlation of ranks; areas that are all of one size are in the same order, whatever comes."""
    if before.std() == 0 or after.std() == 0:
        return float(before.std() == after.std())
    return float(np.corrcoef(before, after)[0, 1])


NO_AREAS = (
    'No area variable, so no figures on areas: declare it in the programme (areas = "TOPIC") or with --areas TOPIC.'
)
SEX = ("sex", "gender")
WOMEN = ("f", "w")
"""How the words for women begin, where codes have words, or are letters."""
SEXES = 2


@dataclass(frozen=True, eq=False)
class ReleaseAreas:
    """Areas at the finest level that is published, one population.

    Attributes:
        topic: the topic.
        population: what is counted.
        codes: of the areas.
        names: of the areas in words.
        total: the statistic of the areas alone, None if no table shows it.
        sexes: the statistic of areas by sex, None if no table shows it.
        women_first: whether the first of the two sexes are the women.
    """

    topic: str
    population: str
    codes: tuple[str, ...]
    names: tuple[str, ...]
    total: StatisticPair | None
    sexes: StatisticPair | None
    women_first: bool = True

    @property
    def _axis(self) -> int:
        assert self.sexes is not None  # noqa: S101 - asked for where it is there
        return self.sexes.topics.index(self.topic)

    def counts(self, which: str) -> Ints:
        """Return counts, `true` or `published`: rows of women and men, where they are there, and of the total."""
        assert self.total is not None  # noqa: S101 - asked for where it is there
        rows = [getattr(self.total, which)]
        if self.sexes is not None:
            both = np.moveaxis(getattr(self.sexes, which), self._axis, 1)
            rows = [*(both if self.women_first else both[::-1]), *rows]
        return np.stack(rows)


class AreaFinder:
    """Finds the areas among the statistics of a release as they go by.

    Args:
        programme: of the release.
        asked: the topic of the areas; by default the one that the programme declares or that has the name of areas.
    """

    def __init__(self, programme: Programme, asked: str | None = None) -> None:
        self.programme = programme
        self.topic = area_topic(programme, asked)
        self._sex = _sex_topic(programme.topics, self.topic) if self.topic else None
        self._population = next(iter(programme.populations))
        self._total: StatisticPair | None = None
        self._sexes: StatisticPair | None = None

    def look_at(self, statistics: Iterable[StatisticPair]) -> None:
        """Keep the statistics of areas, the finest of each kind."""
        for shown in statistics:
            if self.topic is None or shown.population != self._population:
                continue
            if shown.topics == (self.topic,):
                self._total = _finer(self._total, shown, 0)
            if self._sex and set(shown.topics) == {self.topic, self._sex}:
                axis = shown.topics.index(self.topic)
                if shown.published.shape[1 - axis] == SEXES:
                    self._sexes = _finer(self._sexes, shown, axis)

    def found(self) -> ReleaseAreas | None:
        """Return the areas, None without a topic of areas; areas by sex only where they are the same ones."""
        if self.topic is None:
            return None
        total, sexes = self._total, self._sexes
        codes = tuple(total.codes(0)) if total is not None else ()
        if sexes is not None and tuple(sexes.codes(sexes.topics.index(self.topic))) != codes:
            sexes = None
        words = all_category_words(self.programme.topics[self.topic])
        names = tuple(words.get(code, code) for code in codes)
        women_first = self._women_first(sexes, self.topic)
        return ReleaseAreas(self.topic, self._population, codes, names, total, sexes, women_first)

    def _women_first(self, sexes: StatisticPair | None, topic: str) -> bool:
        """Say which of the two sexes are the women: by label or code, else the second, as 1 and 2 usually mean."""
        if sexes is None or self._sex is None:
            return True
        words = all_category_words(self.programme.topics[self._sex])
        codes = sexes.codes(1 - sexes.topics.index(topic))
        called = [words.get(code, code).lower().startswith(WOMEN) for code in codes]
        return called[0] and not called[1]


def _finer(kept: StatisticPair | None, shown: StatisticPair, axis: int) -> StatisticPair:
    """Return the statistic with more areas; of two alike the first."""
    if kept is None:
        return shown
    areas = kept.published.shape[kept.topics.index(shown.topics[axis])]
    return shown if shown.published.shape[axis] > areas else kept


def _sex_topic(topics: Mapping[str, Topic], areas: str) -> str | None:
    """Return the topic of sexes, where it is not that of the areas itself."""
    return next((name for name in topics if name != areas and name.lower().startswith(SEX)), None)
