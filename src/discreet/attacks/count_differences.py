"""Posterior of the difference between two true counts, given both published counts.

Pairs are the cells that two sets of tables have in common: statistics of one name with the same codes. For counts n and
n + c, published as a and b, the posterior is

    P(c | a, b)  proportional to  rho(c | m) sum_n pi(n) P(a | n) P(b | n + c),

the sum over n a correlation, computed by Fourier transform. pi is the empirical prior (`count_prior`), m = E(n | a).
Persons arrive and leave one by one: rho is a mixture of Skellam distributions, i.e. differences of two Poisson counts
with means r m and s m. The components form a grid of arrival rates r and departure rates s; another component is flat,
for other changes.
The weights are fitted by expectation maximisation to the cells of one kind.

Where the same participants have the same noise, cells without arrivals and departures are published alike. This has
probability exp(-(r + s) m) and explains a = b only. Where an equal count suffices, the probability is rho(0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.count_prior import SMALL, empirical_prior
from discreet.attacks.scoring import CLASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise
    from discreet.tabulation.cell_vector import CellVector


@dataclass(frozen=True, eq=False)
class CommonCells:
    """Positions of the cells of common statistics in two layouts.

    Attributes:
        names: the statistics.
        statistic_of: the number of the statistic of every cell in `names`.
        first: the position of every cell in the first layout.
        second: the position of every cell in the second layout.
        first_tables: the number of independent noise terms of every statistic in the first layout; 1 if all tables
            have the same noise.
        second_tables: the same for the second layout.
    """

    names: tuple[str, ...]
    statistic_of: Ints
    first: Ints
    second: Ints
    first_tables: Ints
    second_tables: Ints

    def chosen(self, those: Flags) -> CommonCells:
        """Return a selection of the cells and their statistics."""
        used, number = np.unique(self.statistic_of[those], return_inverse=True)
        return CommonCells(
            tuple(self.names[each] for each in used.tolist()),
            number,
            self.first[those],
            self.second[those],
            self.first_tables[used],
            self.second_tables[used],
        )


def statistics_of(parts: Sequence[tuple[str, CommonCells, Ints]]) -> tuple[tuple[str, ...], Ints]:
    """Return the names of all statistics, and the number of the statistic of every estimate.

    Args:
        parts: the population to append to the names, or ""; the common cells; the estimated ones among them.
    """
    names: list[str] = []
    starts: dict[str, int] = {}
    for who, common, _ in parts:
        if who not in starts:
            starts[who] = len(names)
            names += [f"{name} of {who}" if who else name for name in common.names]
    numbers = [common.statistic_of[cells] + starts[who] for who, common, cells in parts]
    return tuple(names), np.concatenate(numbers)


def common_cells(first: CellVector, second: CellVector) -> CommonCells:
    """Return the cells of the statistics that both layouts contain."""
    there = dict(zip(second.names, second.equations.statistics.tolist(), strict=True))
    names: list[str] = []
    numbers, places, others, tables = [], [], [], []
    for name, statistic in zip(first.names, first.equations.statistics.tolist(), strict=True):
        twin = there.get(name)
        if twin is None:
            continue
        matched = _matched(first, statistic, second, twin)
        if matched is None:
            continue
        cells = first.equations.cells_of(statistic)
        numbers.append(np.full(len(matched), len(names)))
        places.append(np.arange(cells.start, cells.stop))
        others.append(second.equations.cells_of(twin).start + matched)
        tables.append([first.equations.noise_term_counts[statistic], second.equations.noise_term_counts[twin]])
        names.append(name)
    times = np.array(tables, dtype=np.int64).reshape(-1, 2)
    return CommonCells(tuple(names), _joined(numbers), _joined(places), _joined(others), times[:, 0], times[:, 1])


def _matched(first: CellVector, statistic: int, second: CellVector, twin: int) -> Ints | None:
    """Return for every cell of a statistic the number of the cell with the same codes in the other layout."""
    here, there = _codes(first, statistic), _codes(second, twin)
    if here.keys() != there.keys() or any(
        not codes or set(codes) != set(there[topic]) for topic, codes in here.items()
    ):
        return None
    numbers = np.arange(int(second.lattice.cells[twin])).reshape([len(codes) for codes in there.values()])
    numbers = numbers.transpose([list(there).index(topic) for topic in here])
    chosen = []
    for topic, codes in here.items():
        place = {code: number for number, code in enumerate(there[topic])}
        chosen.append([place[code] for code in codes])
    return numbers[np.ix_(*chosen)].ravel() if chosen else numbers.ravel()


def _codes(layout: CellVector, statistic: int) -> dict[str, tuple[str, ...]]:
    """Return the codes of a statistic by topic, in the order of its cells."""
    depths = layout.lattice.depths[statistic].tolist()
    return {
        axis.name: axis.codes[depth - 1] or () for axis, depth in zip(layout.lattice.axes, depths, strict=True) if depth
    }


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


Rates = tuple[tuple[float, float], ...]
"""Pairs of arrival and departure rates."""

STEPS = 300
EVEN = 0.5
"""The answer is yes if the posterior probability of a difference in persons exceeds this."""
FLAT = 1.0
"""Weight of the flat prior on the rates of every kind, in cells."""
LEARNT = 1_000_000
"""Maximum number of probabilities held at once, by pair of published counts and difference."""
UNLIKELY = 1e-100
"""Probability that replaces 0 in logarithms."""
ROUNDING = 1e-13
"""Relative rounding error of a Fourier transform, below which a probability is 0."""
RATES = (0.0, *np.geomspace(0.0005, 0.5, 10).tolist())
"""Arrivals or departures between two releases, per person in the cell."""
WIDE = 50
"""Largest absolute noise for which all rates are used; under wider noise more rates add no information."""
ADDED: Rates = tuple((come, 0.0) for come in (0.0, *np.geomspace(0.0005, 16, 16).tolist()))
"""Rates of persons who are in the whole and not in its part."""
SIZES = np.geomspace(0.02, 1e6, 90)
"""Grid of cell sizes."""


@dataclass(frozen=True, eq=False)
class DifferenceEstimates:
    """Estimated differences of true counts.

    Attributes:
        estimate: the most likely difference.
        confidence: its posterior probability.
        alike: the posterior probability that both counts have the same participants.
        cells: the expected number of differences in every class of `scoring.CLASSES`.
        right: the expected number of correct estimates among these.
    """

    estimate: Ints
    confidence: Floats
    alike: Floats
    cells: dict[str, float]
    right: dict[str, float]


@dataclass(frozen=True, eq=False)
class Differences:
    """The model of one kind of cells.

    Attributes:
        first: the published counts a.
        second: the published counts b.
        first_noise: the noise distribution of the first counts.
        second_noise: the noise distribution of the second counts.
        random: selects the cells for fitting if there are many.
        rates: the grid of arrival and departure rates, per person.
        alike: whether cells with the same participants have equal published values.
        exchange: whether the participants may change while the count stays the same.
    """

    first: Ints
    second: Ints
    first_noise: AssumedNoise
    second_noise: AssumedNoise
    random: np.random.Generator
    rates: Rates
    alike: bool = False
    exchange: bool = True

    @cached_property
    def _reach(self) -> int:
        """Return the largest absolute noise of either count."""
        return max(self.first_noise.reach, self.second_noise.reach)

    @cached_property
    def _limit(self) -> int:
        """Return the largest published count with a prior; larger ones have the noise distribution of the last rows."""
        return max(SMALL, self._reach + max(len(self.first_noise.laws), len(self.second_noise.laws)))

    @cached_property
    def _window(self) -> Ints:
        """Return the possible deviations of the true difference from the published one."""
        return np.arange(-2 * self._reach, 2 * self._reach + 1)

    def _reduced(self, published: Ints, noise: AssumedNoise) -> Ints:
        """Return counts with large ones replaced by small ones of the same noise distribution."""
        beyond = published - self._limit - 1
        return np.where(beyond > 0, self._limit + 1 + beyond % noise.repeat, published)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints, Ints]:
        """Return distinct pairs of reduced counts with difference and size, their frequencies, and each cell's pair."""
        a, b = self._reduced(self.first, self.first_noise), self._reduced(self.second, self.second_noise)
        pairs, place, times = np.unique(
            np.stack([a, b, self.second - self.first, _coarse(self.first, self._limit)]),
            axis=1,
            return_inverse=True,
            return_counts=True,
        )
        return pairs, times, place.ravel()

    @cached_property
    def _prior(self) -> Floats:
        """Return the prior of the first true count."""
        return empirical_prior(self.first.astype(float), self.first_noise)

    @cached_property
    def _counts(self) -> Ints:
        most = max(self.first_noise.repeat, self.second_noise.repeat)
        return np.arange(self._limit + most + self._reach + 2)

    def _known(self, published: Ints, noise: AssumedNoise, *, weighted: bool) -> Floats:
        """Return P(published | n) for every n; if weighted, times the prior of n for small published counts."""
        found = noise.chance(self._counts[None, :], published[:, None])
        if not weighted:
            return found
        share = np.zeros(len(self._counts))
        known = min(len(self._prior), len(share))
        share[:known] = self._prior[:known]
        return np.where((published > self._limit)[:, None], found, found * share)

    def likelihood(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        """Return the likelihood of pairs for every difference in the window, and of the first count for every n."""
        size = 1 << (2 * len(self._counts) + 2 * len(self._window)).bit_length()
        left = self._known(a, self.first_noise, weighted=True)
        right = self._known(b, self.second_noise, weighted=False)
        found = np.fft.irfft(np.conj(np.fft.rfft(left, size)) * np.fft.rfft(right, size), size)
        found = np.where(found > ROUNDING * found.max(axis=1, keepdims=True), found, 0.0)
        chance = np.take_along_axis(found, ((b - a)[:, None] + self._window) % size, axis=1)
        return chance, left

    def _chances(self, pairs: Ints) -> tuple[Floats, Floats, Ints]:
        """Return the likelihood of pairs for every difference and for the same participants, and their sizes."""
        counts, place = np.unique(pairs[:2], axis=1, return_inverse=True)
        chance, known = self.likelihood(counts[0], counts[1])
        place = place.ravel()
        alone = known.sum(axis=1)[place]
        size = np.divide((known @ self._counts)[place], alone, out=np.zeros(len(place)), where=alone > 0)
        size += np.maximum(pairs[3] - pairs[0], 0)
        same = alone * (pairs[2] == 0) if self.alike else np.zeros(len(place))
        return chance[place], same, _sizes(size)

    @property
    def _laws(self) -> tuple[Floats, Floats]:
        """Return P(difference), from -SMALL - 2 reach on, and P(no change), by rates and size."""
        ends = SMALL + 2 * self._reach
        if self.alike:
            return _laws_of_movers(self.rates, ends, exchange=self.exchange)
        law = _laws(self.rates, ends)
        return law, np.zeros(law.shape[:2])

    def _fits(self) -> tuple[Floats, Ints]:
        """Return the likelihood of pairs under every component, and their frequencies; a sample if there are many."""
        pairs, times, _ = self._pairs
        most = max(1, LEARNT // len(self._window))
        small = np.flatnonzero(np.abs(pairs[2]) <= SMALL)
        if len(small) > most:
            small = self.random.choice(small, most, replace=False)
        pairs, times = pairs[:, small], times[small]
        chance, same, size = self._chances(pairs)
        laws, stayed = self._laws
        index = pairs[2][:, None] + self._window + laws.shape[2] // 2
        fits = [
            np.einsum("uk,uk->u", law[size[:, None], index], chance) + alike[size] * same
            for law, alike in zip(laws, stayed, strict=True)
        ]
        return np.stack(fits), times

    @cached_property
    def _learnt(self) -> tuple[Floats, float]:
        """Return the mixture weights for the cells of this kind, and the log-likelihood."""
        fits, times = self._fits()
        weights = _mixture(fits, times)
        return weights, float(times @ np.log(np.maximum(weights @ fits, UNLIKELY)))

    @property
    def log_likelihood(self) -> float:
        """Return the log-likelihood of the published counts under the fitted model."""
        return self._learnt[1]

    def _believed(self, pairs: Ints) -> tuple[Floats, Floats]:
        """Return the posterior of every difference in the window, and of the same participants."""
        laws, stayed = self._laws
        weights, _ = self._learnt
        mixed, alike = np.tensordot(weights, laws, 1), weights @ stayed
        chance, same, size = self._chances(pairs)
        near = np.abs(pairs[2]) <= SMALL
        index = np.clip(pairs[2][:, None] + self._window + laws.shape[2] // 2, 0, laws.shape[2] - 1)
        # Large differences: all possible ones are equally likely.
        far = (pairs[2][:, None] + self._window >= 0) | any(go for _, go in self.rates)
        joint = np.where(near[:, None], mixed[size[:, None], index], far) * chance
        staying = alike[size] * same
        behind = joint.sum(axis=1) + staying
        behind[behind <= 0] = 1.0
        return joint / behind[:, None], staying / behind

    def guesses(self) -> DifferenceEstimates:
        """Return the most likely differences."""
        pairs, times, place = self._pairs
        count = pairs.shape[1]
        estimate, sure, alike = np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros(count)
        cells, right = dict.fromkeys(CLASSES, 0.0), dict.fromkeys(CLASSES, 0.0)
        step = max(1, LEARNT // len(self._window))
        for start in range(0, count, step):
            part = slice(start, start + step)
            chance, stayed = self._believed(pairs[:, part])
            true = pairs[2, part][:, None] + self._window
            chance = chance + np.where(true == 0, stayed[:, None], 0.0)
            # A difference that the noise distribution cannot explain is estimated as published, with confidence 0.
            best = np.where(chance.any(axis=1), np.argmax(chance, axis=1), 2 * self._reach)[:, None]
            estimate[part] = np.take_along_axis(true, best, axis=1)[:, 0]
            sure[part] = np.take_along_axis(chance, best, axis=1)[:, 0]
            alike[part] = stayed
            hit = np.where(true == estimate[part][:, None], chance, 0.0)
            for name, expected in _by_class(true, chance).items():
                cells[name] += float(expected @ times[part])
            for name, expected in _by_class(true, hit).items():
                right[name] += float(expected @ times[part])
        return DifferenceEstimates(estimate[place], np.minimum(sure, 1.0)[place], alike[place], cells, right)


@lru_cache(maxsize=8)
def _laws(rates: Rates, ends: int) -> Floats:
    """Return P(difference), from -ends to ends, by rates and size; the last component is flat."""
    change = np.arange(-ends, ends + 1)
    come, go = (np.array(side)[:, None, None] for side in zip(*rates, strict=True))
    law = skellam(change, come * SIZES[:, None], go * SIZES[:, None])
    flat = (change >= 0) | (go.max() > 0)
    return np.concatenate([law, np.broadcast_to(flat / flat.sum(), (1, *law.shape[1:]))])


@lru_cache(maxsize=4)
def _laws_of_movers(rates: Rates, ends: int, *, exchange: bool) -> tuple[Floats, Floats]:
    """Return the distribution of differences of cells whose participants changed, and the probability of no change."""
    law = _laws(rates, ends).copy()
    stayed = law[..., ends].copy()
    if exchange:
        moves = np.array([come + go for come, go in rates])
        stayed = np.append(np.exp(-np.outer(moves, SIZES)), np.zeros((1, len(SIZES))), axis=0)
    law[..., ends] = np.maximum(law[..., ends] - stayed, 0.0)
    return law, stayed


def turnover(noise: AssumedNoise) -> Rates:
    """Return the grid of arrival and departure rates for a noise distribution."""
    rates = RATES if noise.reach <= WIDE else RATES[::3]
    return tuple((come, go) for come in rates for go in rates)


def skellam(difference: Ints, come: Floats, go: Floats) -> Floats:
    """Return the probability of a difference of two Poisson counts with these means.

    It is exp(-(sqrt(r) - sqrt(s))^2) (r / s)^(k / 2) times the scaled Bessel function ive(|k|, 2 sqrt(r s)). If one
    mean is 0, the distribution is Poisson.
    """
    from scipy.special import gammaln, ive, xlogy

    size = np.abs(difference)
    mean = np.where(difference >= 0, come, go)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.exp(
            -((np.sqrt(come) - np.sqrt(go)) ** 2)
            + difference / 2 * (np.log(come) - np.log(go))
            + np.log(ive(size, 2 * np.sqrt(come * go)))
        )
        one = np.exp(xlogy(size, mean) - gammaln(size + 1) - come - go)
    found: Floats = np.where((come > 0) & (go > 0), both, one)
    return found


def _mixture(fits: Floats, times: Ints) -> Floats:
    """Return the maximum-likelihood weights of the mixture components, by expectation maximisation."""
    weights = np.full(len(fits), 1 / len(fits))
    for _ in range(STEPS):
        joint = weights[:, None] * fits
        behind = joint.sum(axis=0)
        moved = (joint @ np.divide(times, behind, out=np.zeros(len(times)), where=behind > 0)) + FLAT / len(fits)
        moved /= moved.sum()
        done = np.abs(moved - weights).max() < 1e-5
        weights = moved
        if done:
            break
    return weights


def _sizes(counts: Floats) -> Ints:
    """Return the number of the nearest size in `SIZES`, on a logarithmic scale."""
    steps = np.log(np.maximum(counts, SIZES[0]) / SIZES[0]) / np.log(SIZES[1] / SIZES[0])
    found: Ints = np.rint(steps).astype(np.int64).clip(max=len(SIZES) - 1)
    return found


def _coarse(published: Ints, limit: int) -> Ints:
    """Return counts with large ones rounded to a size in `SIZES`."""
    size = np.rint(SIZES[_sizes(published.astype(float))]).astype(np.int64)
    return np.where(published > limit, np.maximum(size, limit + 1), published)


def _by_class(true: Ints, chance: Floats) -> dict[str, Floats]:
    """Return for every pair the probability of each class of differences."""
    size = np.abs(true)
    return {name: (chance * ((size >= low) & (size <= high))).sum(axis=1) for name, (low, high) in CLASSES.items()}


def predicted(guesses: list[DifferenceEstimates]) -> dict[str, float]:
    """Return the share of every class that is expected to be correct.

    It is the sum of the posterior q(estimate) over the estimates in the class, divided by the sum of the posterior of
    the class.
    """
    found = {}
    for name in CLASSES:
        cells = sum(part.cells[name] for part in guesses)
        if cells > 0:
            found[name] = sum(part.right[name] for part in guesses) / cells
    return found


def proven(differs: Flags, alike: Floats) -> dict[str, float]:
    """Return the expected share of correct answers to whether two counts differ in persons, by class of the answer.

    Unequal published values prove a difference. For equal values the attacker's posterior applies.
    """
    answered = differs | (alike < EVEN)
    different = float(differs.sum() + (1 - alike[~differs]).sum())
    named = float(differs.sum() + (1 - alike[answered & ~differs]).sum())
    same = float(alike[~differs].sum())
    found = {"1": named / different} if different else {}
    return found | ({"0": float(alike[~answered].sum()) / same} if same else {})


def averaged(noise: AssumedNoise, tables: int) -> AssumedNoise:
    """Return the noise distribution of the mean over several tables with independent noise, rounded to whole counts."""
    if tables == 1:
        return noise
    reach = noise.reach
    total = np.arange(-tables * reach, tables * reach + 1)
    below, above = np.ceil(total / tables - 0.5), np.floor(total / tables + 0.5)
    laws = []
    for law in noise.laws:
        sums = np.ones(1)
        for _ in range(tables):
            sums = np.convolve(sums, law)
        # The probability of a value halfway between two counts is divided equally between them.
        found = sum(np.bincount((side + reach).astype(np.int64), sums / 2, 2 * reach + 1) for side in (below, above))
        laws.append(np.asarray(found))
    return replace(noise, laws=tuple(laws), variance=noise.variance / tables, settings=None)


def kinds(published: Ints, statistic_of: Ints, *tables: Ints) -> Ints:
    """Return the kind of every cell: statistics with similar mean counts and equally many noise terms form a kind."""
    means = np.bincount(statistic_of, np.maximum(published, 0)) / np.maximum(np.bincount(statistic_of), 1)
    size = np.floor(np.log2(means + 1)).astype(np.int64)
    _, kind = np.unique(np.stack([size, *tables]), axis=1, return_inverse=True)
    found: Ints = kind.ravel()[statistic_of]
    return found
