"""Areas of a release and the changes of their ranks by size.

Areas are the finest published categories of the geographic topic, with women, men and total if published. The topic is
the one requested, otherwise the one that the programme declares (`areas`), otherwise the largest one with an area name
(`programme/selection.py`). Without such a topic, figures on areas are omitted.

The rank of an area is that of its count among all non-empty areas, the largest first; areas of equal size share the
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
"""The smallest number of areas that can be ranked."""


@dataclass(frozen=True)
class RankChanges:
    """Changes of the ranks of areas by size.

    Attributes:
        areas: the number of areas with a positive true or published count.
        moved: the number of areas with a changed rank.
        mean: the mean absolute change of their ranks.
        largest: the largest absolute change of a rank.
        worst: the area with the largest change.
        correlation: Spearman's rank correlation of true and published counts.
    """

    areas: int
    moved: int
    mean: float
    largest: float
    worst: str
    correlation: float

    def results(self) -> list[Result]:
        """Return the share of areas with a changed rank, and the size of the changes."""
        if not self.moved:
            return [self._unchanged()]
        alike = "areas of equal size share the mean of their ranks, so noise that separates them changes their ranks"
        return [
            Result(
                name="areas_moved",
                value=self.moved / self.areas,
                unit="1",
                sentence=f"{self.moved:,} of {self.areas:,} areas have a different rank by size; their mean absolute "
                f"change is {self.mean:.1f} ranks.",
                assumptions=(alike, "areas without persons are excluded"),
                equation="share of areas with rank(published) != rank(true)",
            ),
            Result(
                name="largest_rank_change",
                value=self.largest,
                unit="places",
                sentence=f"{self.worst} has the largest rank change: {self.largest:g} of {self.areas:,} ranks.",
                worst=self.worst,
                assumptions=(alike,),
                equation="max |rank(published) - rank(true)|",
            ),
            Result(
                name="rank_correlation",
                value=self.correlation,
                unit="1",
                sentence=f"Rank correlation of areas before and after noise: {_correlation_text(self.correlation)}.",
                assumptions=(alike,),
                equation="Spearman's correlation of true and published counts",
            ),
        ]

    def _unchanged(self) -> Result:
        return Result(
            name="areas_moved",
            value=0.0,
            unit="1",
            sentence=f"All {self.areas:,} areas keep their rank by size.",
            assumptions=("areas without persons are excluded",),
            equation="share of areas with rank(published) != rank(true)",
        )


def rank_changes(areas: Sequence[str], true: Ints, published: Ints) -> RankChanges | None:
    """Return the rank changes of areas; None with fewer than two non-empty areas."""
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


def _correlation_text(correlation: float) -> str:
    return "above 0.9999" if correlation > NEARLY else f"{correlation:.4f}"


def _ranks(counts: Ints) -> Floats:
    """Return the rank of every count, the largest first; equal counts share the mean of their ranks."""
    _, place, times = np.unique(-counts, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    found: Floats = (last - (times - 1) / 2)[place]
    return found


def _correlation(before: Floats, after: Floats) -> float:
    """Return the correlation of ranks; 1 if all areas have equal size before and after, 0 if only in one case."""
    if before.std() == 0 or after.std() == 0:
        return float(before.std() == after.std())
    return float(np.corrcoef(before, after)[0, 1])


NO_AREAS = (
    'Figures on areas are omitted: no area variable found. Declare it in the programme (areas = "TOPIC") or with '
    "--areas TOPIC."
)
SEX = ("sex", "gender")
WOMEN = ("f", "w")
"""Initial letters of labels or codes for women."""
SEXES = 2


@dataclass(frozen=True, eq=False)
class ReleaseAreas:
    """The areas of one population at the finest published level.

    Attributes:
        topic: the geographic topic.
        population: the counted population.
        codes: the codes of the areas.
        names: the names of the areas.
        total: the statistic by area; None if no table shows it.
        sexes: the statistic by area and sex; None if no table shows it.
        women_first: whether women are the first of the two sexes.
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
        assert self.sexes is not None  # noqa: S101 - called only if available
        return self.sexes.topics.index(self.topic)

    def counts(self, which: str) -> Ints:
        """Return `true` or `published` counts: rows of women and men, if available, and of the total."""
        assert self.total is not None  # noqa: S101 - called only if available
        rows = [getattr(self.total, which)]
        if self.sexes is not None:
            both = np.moveaxis(getattr(self.sexes, which), self._axis, 1)
            rows = [*(both if self.women_first else both[::-1]), *rows]
        return np.stack(rows)


class AreaFinder:
    """A search for the areas among the statistics of a release, in one pass.

    Args:
        programme: the programme of the release.
        asked: the topic of the areas; by default the one that the programme declares or that has an area name.
    """

    def __init__(self, programme: Programme, asked: str | None = None) -> None:
        self.programme = programme
        self.topic = area_topic(programme, asked)
        self._sex = _sex_topic(programme.topics, self.topic) if self.topic else None
        self._population = next(iter(programme.populations))
        self._total: StatisticPair | None = None
        self._sexes: StatisticPair | None = None

    def look_at(self, statistics: Iterable[StatisticPair]) -> None:
        """Store the finest statistics of areas of each kind."""
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
        """Return the areas; None without a geographic topic. Areas by sex are included only if they are the same."""
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
        """Return whether women come first: by label or code, otherwise second, as codes 1 and 2 usually mean."""
        if sexes is None or self._sex is None:
            return True
        words = all_category_words(self.programme.topics[self._sex])
        codes = sexes.codes(1 - sexes.topics.index(topic))
        called = [words.get(code, code).lower().startswith(WOMEN) for code in codes]
        return called[0] and not called[1]


def _finer(kept: StatisticPair | None, shown: StatisticPair, axis: int) -> StatisticPair:
    """Return the statistic with more areas; the first one if equal."""
    if kept is None:
        return shown
    areas = kept.published.shape[kept.topics.index(shown.topics[axis])]
    return shown if shown.published.shape[axis] > areas else kept


def _sex_topic(topics: Mapping[str, Topic], areas: str) -> str | None:
    """Return the topic of sex, unless it is the geographic topic."""
    return next((name for name in topics if name != areas and name.lower().startswith(SEX)), None)
