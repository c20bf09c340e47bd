"""Posterior of small counts, given their own published values and the sums they take part in.

A published y is evidence p(n -> y) about its own count; with a prior, q(n) ~ prior(n) p(n -> y). The equation of a
parent T and its children sends a message to each member. A child c receives

    m(n_c) = sum over the other children's counts of product q(n_o) * p(n_c + sum n_o -> y_T),

the parent the convolution of the children's q, divided by that of their priors. With noise by participants, a child
that contains all persons of its parent has the parent's noise: the last factor is then 1 if both are published alike
and 0 if not.

The posterior is q times the messages of all equations. It is exact for one equation; several are taken as independent
given the count (one round of belief propagation). Equations of more than 12 children, or with more than about 100,000
multiplications, are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.count_prior import mean_noise
from discreet.attacks.scoring import CLASSES, class_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, PopulationCounts
    from discreet.attacks.count_prior import MeanNoise
    from discreet.attacks.feasible_counts import FeasibleCounts
    from discreet.equations.least_squares import Link


@dataclass(frozen=True, eq=False)
class Tuples:
    """Equations with the same number of children, ready to pass on what their members say.

    A child's counts are told from the least possible one on: position w is the count least + w.

    Attributes:
        belief: what is believed of every child, by parent, child and position.
        least: the least count of every child, by parent and child.
        evidence: p(n_T -> y_T) by parent, for n_T from the sum of the least counts on.
        alike: by parent and child whether both are published alike; None where they never share their noise.
    """

    belief: Floats
    least: Ints
    evidence: Floats
    alike: Flags | None = None

    @property
    def children(self) -> int:
        """Return the number of children."""
        return int(self.belief.shape[1])

    def to_children(self) -> Floats:
        """Return the message to every child, by parent, child and position."""
        found = np.empty_like(self.belief)
        forward, backward = self._forward, self._backward()
        for child in range(self.children):
            before, after = forward[child], backward[child + 1]
            length = before.shape[1]
            for w in range(self.belief.shape[2]):
                found[:, child, w] = np.einsum("ps,ps->p", before, after[:, w : w + length])
        return found if self.alike is None else np.maximum(found + self._shared(self.alike), 0.0)

    def to_parent(self) -> Floats:
        """Return what the children say of their sum, by parent, from the sum of the least counts on."""
        whole = self._forward[-1]
        if self.alike is None:
            return whole
        width = self.belief.shape[2]
        here = self.evidence[:, None, :width]
        ratio = np.divide(self.alike[:, :, None], here, out=np.zeros_like(self.belief), where=here > 0)
        more = self.belief * self._somebody * self._empty_but(())[:, :, None] * (ratio - 1)
        found = whole.copy()
        found[:, :width] += more.sum(axis=1)
        return np.maximum(found, 0.0)

    @cached_property
    def _forward(self) -> list[Floats]:
        """Return the law of the sum of the first children: of none, of one, up to all."""
        found = [np.ones((len(self.belief), 1))]
        width = self.belief.shape[2]
        for child in range(self.children):
            before = found[-1]
            after = np.zeros((len(before), before.shape[1] + width - 1))
            for w in range(width):
                after[:, w : w + before.shape[1]] += before * self.belief[:, child, w, None]
            found.append(after)
        return found

    def _backward(self) -> list[Floats]:
        """Return the evidence given the sum of the first children: of none, of one, up to all."""
        found = [self.evidence]
        width = self.belief.shape[2]
        for child in reversed(range(self.children)):
            after = found[-1]
            length = after.shape[1] - width + 1
            before = np.zeros((len(after), length))
            for w in range(width):
                before += after[:, w : w + length] * self.belief[:, child, w, None]
            found.append(before)
        return found[::-1]

    @cached_property
    def _somebody(self) -> Flags:
        """Return by parent, child and position whether the count is not 0."""
        return (self.least[:, :, None] > 0) | (np.arange(self.belief.shape[2]) > 0)

    def _empty_but(self, left_out: Sequence[int]) -> Floats:
        """Return for every child the belief that all the others are empty, some left out altogether."""
        empty = np.where(self.least == 0, self.belief[:, :, 0], 0.0)
        empty[:, list(left_out)] = 1.0
        before, after = np.ones_like(empty), np.ones_like(empty)
        before[:, 1:] = np.cumprod(empty[:, :-1], axis=1)
        after[:, :-1] = np.cumprod(empty[:, :0:-1], axis=1)[:, ::-1]
        return before * after

    def _shared(self, alike: Flags) -> Floats:
        """Return what the messages to children gain, or lose, because a child that holds everybody has T's noise.

        Where all others are empty, the least counts sum up to the child's own: positions agree with the evidence.
        """
        own = alike[:, :, None] - self.evidence[:, None, : self.belief.shape[2]]
        found = self._empty_but(())[:, :, None] * own * self._somebody
        holding = (self.belief * self._somebody * own).sum(axis=2)
        for child in range(self.children):
            # The child is empty, and one of the others holds everybody.
            one = self._empty_but((child,)) * holding
            found[:, child, 0] += np.where(self.least[:, child] == 0, one.sum(axis=1) - one[:, child], 0.0)
        return found


SMALL = 2
"""Counts up to here are asked for: they stand for persons who can be told apart."""
MOST_CHILDREN = 12
WORK = 100_000
"""The most multiplications for one equation, about (children x possible counts)^2."""
CHUNK = 2_000_000
"""Numbers that are held for one step."""


@dataclass(frozen=True, eq=False)
class MarginPosterior:
    """The posterior of the small counts of one population.

    Attributes:
        view: the population as published.
        noise: the law of the noise.
        possible: the counts that are possible.
        asked: which cells to estimate: target cells that are not known beforehand.
        priors: how often counts occur, by statistic.
    """

    view: PopulationCounts
    noise: AssumedNoise
    possible: FeasibleCounts
    asked: Flags
    priors: Sequence[Floats]

    @cached_property
    def low(self) -> Ints:
        """Return the least count that is considered, cell by cell."""
        return np.maximum(self.possible.low, np.ceil(self.view.published - self.noise.reach).astype(np.int64))

    @cached_property
    def high(self) -> Ints:
        """Return the largest count that is considered."""
        high = np.minimum(self.possible.high, np.floor(self.view.published + self.noise.reach).astype(np.int64))
        # Where nothing fits the noise is not what she believes; the least count is then as good as any.
        return np.maximum(high, self.low)

    @cached_property
    def widths(self) -> Ints:
        """Return how many counts are considered."""
        return self.high - self.low + 1

    @cached_property
    def places(self) -> Ints:
        """Return the cells that may be small."""
        return np.flatnonzero((self.low <= SMALL) & self.asked)

    @cached_property
    def _slots(self) -> Ints:
        """Return for every cell where its counts begin among those of all small cells; -1 for others."""
        widths = self.widths[self.places]
        found = np.full(len(self.low), -1, dtype=np.int64)
        found[self.places] = np.cumsum(widths) - widths
        return found

    @cached_property
    def _tables(self) -> Ints:
        """Return how many noises of its own every published statistic shows."""
        equations = self.view.layout.equations
        return equations.noises[equations.statistics]

    @cached_property
    def _laws(self) -> dict[int, AssumedNoise | MeanNoise]:
        return {times: mean_noise(self.noise, times) for times in np.unique(self._tables).tolist()}

    def evidence(self, counts: Ints, cells: Ints) -> Floats:
        """Return P(published | count) of cells of one statistic, 0 for counts that are not possible."""
        times = int(self._tables[self.view.layout.statistic_of[cells.flat[0]]])
        sums = np.rint(times * self.view.published[cells]).astype(np.int64)
        found = self._laws[times].chance(counts, sums[..., None])
        return np.where((counts >= self.low[cells][..., None]) & (counts <= self.high[cells][..., None]), found, 0.0)

    def belief(self, cells: Ints, width: int) -> Floats:
        """Return what the published values of cells of one statistic say by themselves, from the least count on."""
        prior = self.priors[int(self.view.layout.statistic_of[cells.flat[0]])]
        counts = self.low[cells][..., None] + np.arange(width)
        found = prior[np.minimum(counts, len(prior) - 1)] * self.evidence(counts, cells)
        total = found.sum(axis=-1, keepdims=True)
        inside = counts <= self.high[cells][..., None]
        # A value that nothing leads to says nothing.
        spread: Floats = inside / inside.sum(axis=-1, keepdims=True)
        np.divide(found, total, out=spread, where=total > 0)
        return spread

    @cached_property
    def own(self) -> Floats:
        """Return what every small cell's own value says of its counts, one after the other."""
        found = np.empty(int(self.widths[self.places].sum()))
        statistic_of = self.view.layout.statistic_of[self.places]
        ends = np.searchsorted(statistic_of, np.arange(len(self.priors) + 1))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            width = int(self.widths[self.places[begin:end]].max(initial=1))
            step = max(CHUNK // width, 1)
            for start in range(begin, end, step):
                cells = self.places[start : min(start + step, end)]
                at, inside = self._at(cells, width)
                found[at[inside]] = self.belief(cells, width)[inside]
        return found

    def _at(self, cells: Ints, width: int) -> tuple[Ints, Flags]:
        """Return where the counts of cells stand among those of all small ones, and which positions are counts."""
        positions = np.arange(width)
        inside = (self._slots[cells] >= 0)[..., None] & (positions < self.widths[cells][..., None])
        return self._slots[cells][..., None] + positions, inside

    def with_margins(self, tell: Callable[[int, int], None] | None = None) -> Floats:
        """Return log posteriors of the counts of all small cells, given every equation that they take part in."""
        with np.errstate(divide="ignore"):
            found = np.log(self.own)
        links = self.view.layout.equations.links
        for number, link in enumerate(links):
            for parents, members in self._groups(link):
                self._pass_on(link, parents, members, found)
            if tell:
                tell(number + 1, len(links))
        return found

    def _groups(self, link: Link) -> Iterator[tuple[Ints, Ints]]:
        """Yield parents with equally many children, and these, a chunk at a time, where one of them is small."""
        children, parent = link.children, link.parent
        below = slice(link.fine, link.fine + len(parent))
        asked = np.bincount(parent, self._slots[below] >= 0, link.size) > 0
        asked |= self._slots[link.coarse : link.coarse + link.size] >= 0
        width = self.widths[below]
        order = np.argsort(parent, kind="stable")
        starts = np.cumsum(children) - children
        # An only child is its parent, with the same noise, unless every table has its own.
        fewest = 1 if self.noise.shared == "nothing" else 2
        for number in np.unique(children[asked]).tolist():
            if not fewest <= number <= MOST_CHILDREN:
                continue
            parents = np.flatnonzero(asked & (children == number))
            members = order[starts[parents][:, None] + np.arange(number)]
            widest = width[members].max(axis=1)
            # Like widths together: what is not needed is not computed.
            by_width = np.argsort(widest, kind="stable")[: int((widest * number <= WORK**0.5).sum())]
            yield from _chunks(parents[by_width], members[by_width], widest[by_width])

    def _pass_on(self, link: Link, parents: Ints, members: Ints, found: Floats) -> None:
        """Add the messages of some equations to the log posteriors."""
        above, below = link.coarse + parents, link.fine + members
        width = int(self.widths[below].max())
        least = self.low[below]
        sums = least.sum(axis=1)[:, None] + np.arange(below.shape[1] * (width - 1) + 1)
        shown = self.view.published
        alike = shown[below] == shown[above][:, None] if self.noise.shared == "participants" else None
        tuples = Tuples(self.belief(below, width), least, self.evidence(sums, above), alike)
        at, inside = self._at(below, width)
        _add(found, at, inside, tuples.to_children())
        self._tell_parents(link, above, sums, tuples, found)

    def _tell_parents(self, link: Link, above: Ints, sums: Ints, tuples: Tuples, found: Floats) -> None:
        """Add what the children say to those parents that are small."""
        small = np.flatnonzero(self._slots[above] >= 0)
        if not len(small):
            return
        cells = above[small]
        at, inside = self._at(cells, int(self.widths[cells].max()))
        counts = self.low[cells][:, None] + np.arange(at.shape[1])
        place = counts - sums[small, :1]
        there = (place >= 0) & (place < sums.shape[1])
        said = np.take_along_axis(tuples.to_parent()[small], np.clip(place, 0, sums.shape[1] - 1), axis=1)
        before = _sum_prior(self.priors[int(self.view.layout.statistic_of[link.fine])], tuples.children)
        _add(found, at, inside, np.where(there, said, 0.0) / before[np.minimum(counts, len(before) - 1)])

    def estimates(self, log_posterior: Floats) -> Posteriors:
        """Return the likeliest counts, with and without margins."""
        starts = self._slots[self.places]
        widths = self.widths[self.places]
        best = np.maximum.reduceat(log_posterior, starts) if len(starts) else log_posterior
        # Contradictions: the noise is not as believed, and what stands there by itself is all she has.
        sound = np.isfinite(best)
        weight = np.where(
            np.repeat(sound, widths), np.exp(log_posterior - np.repeat(np.where(sound, best, 0), widths)), self.own
        )
        return _posteriors(weight, starts, widths, self.low[self.places], self._naive())

    def _naive(self) -> Ints:
        """Return the likeliest count of every small cell by its own value and the prior alone."""
        found = np.empty(len(self.places), dtype=np.int64)
        statistic_of = self.view.layout.statistic_of[self.places]
        for number in np.unique(statistic_of).tolist():
            here, times, prior = statistic_of == number, int(self._tables[number]), self.priors[number]
            sums = np.rint(times * self.view.published[self.places[here]]).astype(np.int64)
            values, place = np.unique(sums, return_inverse=True)
            chance = self._laws[times].chance(np.arange(len(prior)), values[:, None])
            found[here] = (prior * chance).argmax(axis=1)[place.ravel()]
        return found


@dataclass(frozen=True, eq=False)
class Posteriors:
    """What is believed of small cells.

    Attributes:
        estimate: the likeliest count of each.
        confidence: its probability.
        naive: the likeliest count by the cell's own value alone.
        class_chances: the probability of every class of counts (`scoring.CLASSES`), a row per cell.
    """

    estimate: Ints
    confidence: Floats
    naive: Ints
    class_chances: Floats


def _posteriors(weight: Floats, starts: Ints, widths: Ints, low: Ints, naive: Ints) -> Posteriors:
    if not len(starts):
        return Posteriors(naive, np.zeros(0), naive, np.zeros((0, len(CLASSES))))
    total = np.add.reduceat(weight, starts)
    most = np.maximum.reduceat(weight, starts)
    confidence = most / total
    # The first position of the largest weight.
    best = np.flatnonzero(weight == np.repeat(most, widths))
    estimate = low + best[np.searchsorted(best, starts)] - starts
    share = weight / np.repeat(total, widths)
    number = class_numbers(np.arange(len(weight)) - np.repeat(starts - low, widths))
    chances = np.stack(
        [np.add.reduceat(np.where(number == n, share, 0.0), starts) for n in range(len(CLASSES))], axis=1
    )
    return Posteriors(estimate, confidence, naive, chances)


def _chunks(parents: Ints, members: Ints, widest: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield parents and members so many at a time that a step needs about the same memory."""
    start = 0
    while start < len(parents):
        # The sums of all children are laid out once per child, there and back.
        each = 2 * members.shape[1] ** 2 * widest[start:]
        taken = max(int(np.searchsorted(each * np.arange(1, len(each) + 1), CHUNK)), 1)
        yield parents[start : start + taken], members[start : start + taken]
        start += taken


def _add(found: Floats, at: Ints, inside: Flags, message: Floats) -> None:
    """Add the logarithms of messages; one that rules everything out contradicts the law of noise and is left out."""
    said = (np.where(inside, message, 0.0) > 0).any(axis=-1, keepdims=True)
    take = inside & said
    with np.errstate(divide="ignore"):
        found[at[take]] += np.log(message[take])


def _sum_prior(prior: Floats, children: int) -> Floats:
    """Return how often sums of counts occur, by the prior of one."""
    found = prior
    for _ in range(children - 1):
        found = np.convolve(found, prior)[: len(prior)]
    return found
