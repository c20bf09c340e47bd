"""Every figure of a release from its published and true tables, cell by cell, the plainest way."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from discreet.programme.model import TOTAL
from discreet.programme.universe import finest_codes, universe_of
from tests.attacks.scenes import area, listed
from tests.protection.town import cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from discreet.noise.by_count import TransitionMatrix
    from discreet.programme.model import Breakdown, Programme, Table
    from discreet.release.release import Release
    from tests.attacks.scenes import Area

    Codes = tuple[str, ...]

LEVEL = 0.95
SMALL = 500
ACCURATE = 20
SHARES = (0.2, 0.5, 1.0)
CLASSES = {"1_to_2": (1, 2), "3_to_9": (3, 9), "10_to_49": (10, 49), "50_to_249": (50, 249), "250_or_more": (250, None)}


@dataclass(frozen=True)
class Pair:
    """A cell with its true and its published count."""

    true: int
    published: int

    @property
    def noise(self) -> int:
        return self.published - self.true


@dataclass(frozen=True)
class Spoken:
    """One table, true and published, by the codes of its columns; a cell without a row is 0."""

    programme: Programme
    table: Table
    pairs: dict[Codes, Pair]

    def whose(self, codes: Codes) -> frozenset[tuple[str, str]]:
        """Return the topics of a cell with its codes, without those of which it holds everybody."""
        shown = zip((b.topic for b in self.table.breakdowns), codes, strict=True)
        given = self.programme
        return frozenset(one for one in shown if area(given, *one) != area(given, one[0], TOTAL))

    def can_be(self, codes: Codes) -> bool:
        """Say whether the universe of the table lets anybody be in a cell."""
        universe = universe_of(self.programme, self.table)
        shown = dict(zip((b.topic for b in self.table.breakdowns), codes, strict=True))
        finest = [finest_codes(self.programme.topics[topic]) for topic in universe.topics]
        there = [
            [leaf in area(self.programme, topic, shown.get(topic, TOTAL)) for leaf in leaves]
            for topic, leaves in zip(universe.topics, finest, strict=True)
        ]
        return bool(universe.members[np.ix_(*there)].any())

    def partitions(self, breakdown: Breakdown) -> list[dict[Area, str]]:
        """Return the different levels of a column from coarse to fine, the total among them, with their codes."""
        levels: list[Sequence[str]] = [[TOTAL]] if breakdown.total or not breakdown.levels else []
        levels += [level.codes or () for level in breakdown.levels]
        found: dict[frozenset[Area], dict[Area, str]] = {}
        for codes in levels:
            named = {area(self.programme, breakdown.topic, code): code for code in codes}
            found.setdefault(frozenset(named), named)
        return sorted(found.values(), key=len)

    def statistics(self) -> Iterator[tuple[tuple[int, ...], tuple[dict[Area, str], ...]]]:
        """Give every statistic: which columns it splits, and the codes of each column."""
        for levels in product(*(self.partitions(b) for b in self.table.breakdowns)):
            yield tuple(n for n, level in enumerate(levels) if len(level) > 1), levels

    def counts(self, levels: Sequence[dict[Area, str]], which: str) -> np.ndarray:
        """Return the counts of a statistic, an axis for each column."""
        shape = [len(level) for level in levels]
        rows = product(*(level.values() for level in levels))
        return np.array([getattr(self.pairs[row], which) for row in rows]).reshape(shape)


def spoken(release: Release) -> list[Spoken]:
    """Return all tables of a release that has its true counts."""
    found = []
    for table in release.programme.tables:
        published, true = (cells(read(table.id)) for read in (release.table, release.exact))
        rows = {codes: Pair(true.get(codes, 0), published.get(codes, 0)) for codes in listed(table)}
        assert set(published) | set(true) <= set(rows)
        found.append(Spoken(release.programme, table, rows))
    return found


def all_pairs(release: Release) -> list[Pair]:
    """Return every cell once, or, where tables have noise of their own, once in each."""
    found: dict[object, Pair] = {}
    for said in spoken(release):
        for codes, pair in said.pairs.items():
            if not said.can_be(codes):
                assert pair == Pair(0, 0)
                continue
            cell = (said.table.population, said.whose(codes), None if release.record.spsn else said.table.id)
            assert found.setdefault(cell, pair) == pair
    return list(found.values())


def once(release: Release) -> list[int]:
    """Return the true count of every cell once, whatever noise the tables that show it have."""
    found = {
        (said.table.population, said.whose(codes)): pair.true
        for said in spoken(release)
        for codes, pair in said.pairs.items()
    }
    return list(found.values())


def totals(said: Spoken) -> Iterator[int]:
    """Give published total minus sum of its published parts, of all that are not empty altogether."""
    for number, breakdown in enumerate(said.table.breakdowns):
        others = [
            list(dict.fromkeys(codes)) if place != number else [TOTAL]
            for place, codes in enumerate(zip(*said.pairs, strict=True))
        ]
        for coarse, fine in pairwise(said.partitions(breakdown)):
            for whole, code in coarse.items():
                parts = [part for inside, part in fine.items() if inside <= whole]
                for rest in product(*others):
                    total, *own = (_published(said, rest, number, each) for each in (code, *parts))
                    if len(own) > 1 and any([total, *own]):
                        yield total - sum(own)


def _published(said: Spoken, rest: Codes, number: int, code: str) -> int:
    return said.pairs[*rest[:number], code, *rest[number + 1 :]].published


def hellingers(release: Release) -> dict[str, float]:
    """Return the distance of the shares of every table's finest cells."""
    found = {}
    for said in spoken(release):
        levels = [said.partitions(b)[-1] for b in said.table.breakdowns]
        true, shown = (np.maximum(said.counts(levels, which), 0) for which in ("true", "published"))
        if true.size > 1 and true.any() and shown.any():
            apart = np.sqrt(true / true.sum()) - np.sqrt(shown / shown.sum())
            found[said.table.id] = float(np.sqrt((apart**2).sum() / 2))
    return found


def cramers(release: Release) -> list[tuple[float, float]]:
    """Return Cramer's V before and after of every two-way statistic that has both, each once or once in each table."""
    seen: set[object] = set()
    found = []
    for said in spoken(release):
        for kept, levels in said.statistics():
            split = frozenset((said.table.breakdowns[n].topic, frozenset(levels[n])) for n in kept)
            whose = (said.table.population, split, None if release.record.spsn else said.table.id)
            if len(kept) != 2 or whose in seen:
                continue
            seen.add(whose)
            both = [_cramer(said.counts(levels, which).reshape([len(levels[n]) for n in kept])) for which in WHICH]
            if None not in both:
                found.append((both[0] or 0.0, both[1] or 0.0))
    return found


WHICH = ("true", "published")


def _cramer(counts: np.ndarray) -> float | None:
    table = np.maximum(counts, 0)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    return float(stats.contingency.association(table)) if min(table.shape) > 1 else None


def interval(law: TransitionMatrix, published: int) -> tuple[int, int]:
    """Return the true counts that are left when at most 2.5 percent of the belief are taken away at either end."""
    counts = list(range(max(published - law.reach, 0), published + law.reach + 1))
    belief = dict(zip(counts, law.chance(np.array(counts), np.array(published)).tolist(), strict=True))
    allowed = sum(belief.values()) * (1 - LEVEL) / 2
    ends = []
    for order in (counts, counts[::-1]):
        left_out = 0.0
        for count in order:
            left_out += belief[count]
            if left_out > allowed:
                ends.append(count)
                break
    return ends[0], ends[1]


def tail(law: TransitionMatrix, true: int, off: range) -> float:
    """Return the chance that a count is published with a noise among some."""
    noise = np.array([x for x in off if abs(x) <= law.reach + true])
    return float(law.chance(np.array(true), true + noise).sum()) if len(noise) else 0.0


def small_areas(counts: np.ndarray, law: TransitionMatrix) -> dict[str, float]:
    """Return what is expected of women, men and total, rows of true counts by area."""
    found = {}
    far = law.reach + int(counts.max()) + 1
    singles = [int(n) for n in counts.ravel() if 0 < n < SMALL]
    whole = [area.tolist() for area in counts.T if area.all() and area[-1] < SMALL]
    for share in SHARES:
        name = f"off_by_{100 * share:g}_percent"
        found[f"counts_{name}"] = sum(_up(law, n, share, far) + _down(law, n, share, far) for n in singles)
        if len(counts) > 1:
            found[f"areas_{name}"] = sum(
                math.prod(_up(law, n, share, far) for n in three) + math.prod(_down(law, n, share, far) for n in three)
                for three in whole
            )
    within = (tail(law, int(n), range(-ACCURATE, ACCURATE + 1)) for n in counts[-1] if n)
    found[f"all_totals_within_{ACCURATE}"] = math.prod(within)
    rows = {"residents": -1} if len(counts) == 1 else {"residents": -1, "women": 0, "men": 1}
    for what, row in rows.items():
        there = [int(n) for n in counts[row] if n]
        found[f"areas_without_{what}"] = sum(tail(law, n, range(-far, -n + 1)) for n in there)
    return found


def expectations(counts: Sequence[int], law: TransitionMatrix) -> dict[str, float]:
    """Return the means over all draws of counts above 0: each published count with its chance."""
    laws = {}
    for count in set(counts):
        published = np.arange(count - law.reach, count + law.reach + 1)
        laws[count] = dict(zip(published.tolist(), law.chance(np.array(count), published).tolist(), strict=True))
    off = [sum(chance * abs(shown - count) for shown, chance in laws[count].items()) for count in counts]
    gone = (sum(chance for shown, chance in laws[count].items() if shown <= 0) for count in counts)
    shares = (distance / count for distance, count in zip(off, counts, strict=True))
    return {
        "expected_absolute_distance": _mean(off),
        "expected_relative_distance": _mean(shares),
        "expected_lost_counts": _mean(gone),
        "expected_false_positives": float(law.chance(np.array(0), np.arange(1, law.reach + 1)).sum()),
    }


def _up(law: TransitionMatrix, true: int, share: float, far: int) -> float:
    return tail(law, true, range(int(share * true + 1e-9) + 1, far))


def _down(law: TransitionMatrix, true: int, share: float, far: int) -> float:
    return tail(law, true, range(-far, -int(share * true + 1e-9)))


def area_counts(release: Release, topic: str, sexes: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return true and published counts of the finest areas, a row for each sex and one for the total."""
    population = release.programme.tables[0].population
    found: dict[frozenset[tuple[str, str]], Pair] = {}
    for said in spoken(release):
        if said.table.population == population:
            for codes, pair in said.pairs.items():
                found.setdefault(said.whose(codes), pair)
    leaves = release.programme.topics[topic].levels[-1].codes or ()
    of_sexes = [[("SEX", sex)] for sex in sexes]
    rows = [[found[frozenset([(topic, leaf), *more])] for leaf in leaves] for more in [*of_sexes, []]]
    true, published = (np.array([[getattr(pair, which) for pair in row] for row in rows]) for which in WHICH)
    return true, published


def figures(release: Release, areas: tuple[np.ndarray, np.ndarray], law: TransitionMatrix) -> dict[str, float]:
    """Return all figures that are not simulated, by name.

    Args:
        release: with its true counts.
        areas: true and published counts of women, men and total by area.
        law: of the noise.
    """
    pairs = all_pairs(release)
    occupied = [pair for pair in pairs if pair.true]
    true, published = areas
    gaps = {said.table.id: list(totals(said)) for said in spoken(release)}
    every = [gap for among in gaps.values() for gap in among]
    changes = [abs(after - before) for before, after in cramers(release)]
    ends = {pair.published: interval(law, pair.published) for pair in occupied}
    found = {
        "mean_absolute_distance": _mean(abs(pair.noise) for pair in occupied),
        "largest_distance": max(abs(pair.noise) for pair in pairs),
        "unchanged_counts": _mean(pair.noise == 0 for pair in occupied),
        "mean_relative_distance": _mean(abs(pair.noise) / pair.true for pair in occupied),
        "mean_root_distance": _mean(abs(max(pair.published, 0) ** 0.5 - pair.true**0.5) for pair in occupied),
        "lost_counts": _mean(pair.published <= 0 for pair in occupied),
        "false_zeros": _mean(pair.published == 0 for pair in occupied),
        "positive_published_zeros": _mean(pair.true > 0 for pair in pairs if pair.published == 0),
        "false_positives": _mean(pair.published > 0 for pair in pairs if pair.true == 0),
        "negative_counts": _mean(pair.published < 0 for pair in pairs),
        "hellinger": _mean(hellingers(release).values()),
        "largest_association_change": max(changes),
        "mean_association_change": _mean(changes),
        "interval_of_12": float(np.ptp(interval(law, 12))),
        "interval_coverage": _mean(ends[p.published][0] <= p.true <= ends[p.published][1] for p in occupied),
        "interval_width": _mean(ends[p.published][1] - ends[p.published][0] for p in occupied),
        "tables_apart": _mean(any(among) for among in gaps.values() if among),
        "totals_apart": _mean(gap != 0 for gap in every),
        "largest_gap": max(abs(gap) for gap in every),
        **ranks(true[-1], published[-1]),
        **small_areas(true, law),
        **expectations([count for count in once(release) if count], law),
    }
    for name, (low, high) in CLASSES.items():
        among = [pair for pair in occupied if low <= pair.true <= (high or pair.true)]
        if among:
            found[f"size_{name}"] = _mean(abs(pair.noise) / pair.true > 0.5 for pair in among)
    empty = [pair for pair in pairs if not pair.true]
    if any(pair.published for pair in empty):
        found["size_0"] = _mean(pair.published != 0 for pair in empty)
    if law.bound < float("inf"):
        found["largest_error"] = law.bound
    return found


def ranks(true: np.ndarray, published: np.ndarray) -> dict[str, float]:
    """Return how areas with persons moved in the list by size."""
    there = (true > 0) | (published > 0)
    before, after = (stats.rankdata(-counts[there]) for counts in (true, published))
    moves = np.abs(after - before)
    if not moves.any():
        return {"areas_moved": 0.0}
    return {
        "areas_moved": float((moves > 0).mean()),
        "largest_rank_change": float(moves.max()),
        "rank_correlation": float(stats.spearmanr(true[there], published[there]).statistic),
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


# --- Counts that can be told from any other number ---

UNLIKE = {"north": (733, 1009), "south": (2039, 4057), "west": (8111, 16_223)}
"""Women and men by area: sums of any of them differ from each other, and from whatever else is counted here."""


def unlike_counts() -> dict[str, list[Any]]:
    rows = [(area, sex, "old", n) for area, both in UNLIKE.items() for sex, n in zip("fm", both, strict=True)]
    return dict(zip(("AREA", "SEX", "AGE", "n"), map(list, zip(*rows, strict=True)), strict=True))


def whole_numbers(text: str) -> set[int]:
    """Return the whole numbers in a text, with or without commas; no digits of others."""
    found = re.findall(r"(?<![\d.])\d+(?:,\d{3})*(?!\d|\.\d)", text)
    return {int(number.replace(",", "")) for number in found}
