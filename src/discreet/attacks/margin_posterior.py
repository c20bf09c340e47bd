"""Posterior of small counts, given their own published values and the sums they take part in.

A published y is evidence p(n -> y) about its own count; with a prior, q(n) ~ prior(n) p(n -> y). The equation of a
parent T and its children sends a message to each member. A child c receives

    m(n_c) = sum over the other children's counts of product q(n_o) * p(n_c + sum n_o -> y_T),

the parent the convolution of the children's q, divided by that of their priors. With noise by participants, a child
that contains all persons of its parent has the parent's noise. The last factor is then 1 if both published values are
equal, and 0 if not.

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
    """Equations with the same number of children, and the messages they send to their members.

    The counts of a child start at the smallest feasible one: position w is the count least + w.

    Attributes:
        belief: q(n) of every child, by parent, child and position.
        least: the smallest count of every child, by parent and child.
        evidence: p(n_T -> y_T) by parent, for n_T from the sum of the smallest counts on.
        alike: whether parent and child have equal published values, by parent and child; None if cells never share
            their noise.
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
        """Return the message to every parent, from the sum of the smallest counts on."""
        whole = self._forward[-1]
        if self.alike is None:
            return whole
        width = self.belief.shape[2]
        here = self.evidence[:, None, :width]
        ratio = np.divide(self.alike[:, :, None], here, out=np.zeros_like(self.belief), where=here > 0)
        more = self.belief * self._occupied * self._empty_but(())[:, :, None] * (ratio - 1)
        found = whole.copy()
        found[:, :width] += more.sum(axis=1)
        return np.maximum(found, 0.0)

    @cached_property
    def _forward(self) -> list[Floats]:
        """Return the distribution of the sum of the first 0, 1, ... children, up to all."""
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
        """Return the evidence given the sum of the first 0, 1, ... children, up to all."""
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
    def _occupied(self) -> Flags:
        """Return whether the count is positive, by parent, child and position."""
        return (self.least[:, :, None] > 0) | (np.arange(self.belief.shape[2]) > 0)

    def _empty_but(self, left_out: Sequence[int]) -> Floats:
        """Return for every child the probability that all others are empty, ignoring the children in `left_out`."""
        empty = np.where(self.least == 0, self.belief[:, :, 0], 0.0)
        empty[:, list(left_out)] = 1.0
        before, after = np.ones_like(empty), np.ones_like(empty)
        before[:, 1:] = np.cumprod(empty[:, :-1], axis=1)
        after[:, :-1] = np.cumprod(empty[:, :0:-1], axis=1)[:, ::-1]
        return before * after

    def _shared(self, alike: Flags) -> Floats:
        """Return the correction of messages to children: a child that contains all persons of its parent has its noise.

        If all others are empty, the smallest counts sum to that of the child: positions agree with the evidence.
        """
        own = alike[:, :, None] - self.evidence[:, None, : self.belief.shape[2]]
        found = self._empty_but(())[:, :, None] * own * self._occupied
        holding = (self.belief * self._occupied * own).sum(axis=2)
        for child in range(self.children):
            # The child is empty, and one other child contains all persons of the parent.
            one = self._empty_but((child,)) * holding
            found[:, child, 0] += np.where(self.least[:, child] == 0, one.sum(axis=1) - one[:, child], 0.0)
        return found


SMALL = 2
"""Cells that may have a count up to this one are estimated: such small cells can identify persons."""
MOST_CHILDREN = 12
WORK = 100_000
"""Maximum number of multiplications for one equation, about (children x feasible counts)^2."""
CHUNK = 2_000_000
"""Maximum number of values held in memory in one step."""


@dataclass(frozen=True, eq=False)
class MarginPosterior:
    """The posterior of the small counts of one population.

    Attributes:
        view: the published counts of the population.
        noise: the noise distribution.
        possible: the feasible counts.
        selected: the cells to estimate: target cells whose counts are not public.
        priors: the prior of counts, by statistic.
    """

    view: PopulationCounts
    noise: AssumedNoise
    possible: FeasibleCounts
    selected: Flags
    priors: Sequence[Floats]

    @cached_property
    def low(self) -> Ints:
        """Return the smallest count that is considered, by cell."""
        return np.maximum(self.possible.low, np.ceil(self.view.published - self.noise.reach).astype(np.int64))

    @cached_property
    def high(self) -> Ints:
        """Return the largest count that is considered, by cell."""
        high = np.minimum(self.possible.high, np.floor(self.view.published + self.noise.reach).astype(np.int64))
        # If no count is feasible, the assumed noise is wrong, and any count serves: the smallest is used.
        return np.maximum(high, self.low)

    @cached_property
    def widths(self) -> Ints:
        """Return the number of counts that are considered, by cell."""
        return self.high - self.low + 1

    @cached_property
    def places(self) -> Ints:
        """Return the positions of the cells that may be small."""
        return np.flatnonzero((self.low <= SMALL) & self.selected)

    @cached_property
    def _slots(self) -> Ints:
        """Return for every small cell the position of its first count among those of all small cells; -1 for others."""
        widths = self.widths[self.places]
        found = np.full(len(self.low), -1, dtype=np.int64)
        found[self.places] = np.cumsum(widths) - widths
        return found

    @cached_property
    def _tables(self) -> Ints:
        """Return the number of independent noise terms of every published statistic."""
        equations = self.view.layout.equations
        return equations.noise_term_counts[equations.statistics]

    @cached_property
    def _laws(self) -> dict[int, AssumedNoise | MeanNoise]:
        return {times: mean_noise(self.noise, times) for times in np.unique(self._tables).tolist()}

    def evidence(self, counts: Ints, cells: Ints) -> Floats:
        """Return P(published | count) for cells of one statistic; 0 for infeasible counts."""
        times = int(self._tables[self.view.layout.statistic_of[cells.flat[0]]])
        sums = np.rint(times * self.view.published[cells]).astype(np.int64)
        found = self._laws[times].chance(counts, sums[..., None])
        return np.where((counts >= self.low[cells][..., None]) & (counts <= self.high[cells][..., None]), found, 0.0)

    def belief(self, cells: Ints, width: int) -> Floats:
        """Return q(n) of cells of one statistic from their own published values, from the smallest count on."""
        prior = self.priors[int(self.view.layout.statistic_of[cells.flat[0]])]
        counts = self.low[cells][..., None] + np.arange(width)
        found = prior[np.minimum(counts, len(prior) - 1)] * self.evidence(counts, cells)
        total = found.sum(axis=-1, keepdims=True)
        inside = counts <= self.high[cells][..., None]
        # A value that no count can produce carries no information.
        spread: Floats = inside / inside.sum(axis=-1, keepdims=True)
        np.divide(found, total, out=spread, where=total > 0)
        return spread

    @cached_property
    def own(self) -> Floats:
        """Return q(n) of all small cells, concatenated."""
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
        """Return the positions of the counts of cells among those of all small cells, and which of them are valid."""
        positions = np.arange(width)
        inside = (self._slots[cells] >= 0)[..., None] & (positions < self.widths[cells][..., None])
        return self._slots[cells][..., None] + positions, inside

    def with_margins(self, progress: Callable[[int, int], None] | None = None) -> Floats:
        """Return the log posteriors of the counts of all small cells, given all equations that contain them."""
        with np.errstate(divide="ignore"):
            found = np.log(self.own)
        links = self.view.layout.equations.links
        for number, link in enumerate(links):
            for parents, members in self._groups(link):
                self._pass_on(link, parents, members, found)
            if progress:
                progress(number + 1, len(links))
        return found

    def _groups(self, link: Link) -> Iterator[tuple[Ints, Ints]]:
        """Yield chunks of parents with equally many children, and these children, if one of the members is small."""
        children, parent = link.children, link.parent
        below = slice(link.fine, link.fine + len(parent))
        relevant = np.bincount(parent, self._slots[below] >= 0, link.size) > 0
        relevant |= self._slots[link.coarse : link.coarse + link.size] >= 0
        width = self.widths[below]
        order = np.argsort(parent, kind="stable")
        starts = np.cumsum(children) - children
        # A single child equals its parent and has the same noise, unless the noise of tables is independent.
        fewest = 1 if self.noise.shared == "nothing" else 2
        for number in np.unique(children[relevant]).tolist():
            if not fewest <= number <= MOST_CHILDREN:
                continue
            parents = np.flatnonzero(relevant & (children == number))
            members = order[starts[parents][:, None] + np.arange(number)]
            widest = width[members].max(axis=1)
            # Equations of similar width form a chunk, which saves computation.
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
        self._add_to_parents(link, above, sums, tuples, found)

    def _add_to_parents(self, link: Link, above: Ints, sums: Ints, tuples: Tuples, found: Floats) -> None:
        """Add the messages of the children to the log posteriors of small parents."""
        small = np.flatnonzero(self._slots[above] >= 0)
        if not len(small):
            return
        cells = above[small]
        at, inside = self._at(cells, int(self.widths[cells].max()))
        counts = self.low[cells][:, None] + np.arange(at.shape[1])
        place = counts - sums[small, :1]
        there = (place >= 0) & (place < sums.shape[1])
        message = np.take_along_axis(tuples.to_parent()[small], np.clip(place, 0, sums.shape[1] - 1), axis=1)
        before = _sum_prior(self.priors[int(self.view.layout.statistic_of[link.fine])], tuples.children)
        _add(found, at, inside, np.where(there, message, 0.0) / before[np.minimum(counts, len(before) - 1)])

    def estimates(self, log_posterior: Floats) -> Posteriors:
        """Return the most likely counts, with and without margins."""
        starts = self._slots[self.places]
        widths = self.widths[self.places]
        best = np.maximum.reduceat(log_posterior, starts) if len(starts) else log_posterior
        # Contradictory messages: the assumed noise is wrong, and only the cell's own value is used.
        sound = np.isfinite(best)
        weight = np.where(
            np.repeat(sound, widths), np.exp(log_posterior - np.repeat(np.where(sound, best, 0), widths)), self.own
        )
        return _posteriors(weight, starts, widths, self.low[self.places], self._naive())

    def _naive(self) -> Ints:
        """Return the most likely count of every small cell, given only its own value and the prior."""
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
    """The posteriors of small cells.

    Attributes:
        estimate: the most likely count of each cell.
        confidence: its posterior probability.
        naive: the most likely count given only the cell's own value.
        class_chances: the posterior probability of every class of counts (`scoring.CLASSES`), a row per cell.
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
    """Yield chunks of parents and members of about equal memory."""
    start = 0
    while start < len(parents):
        # The forward and the backward pass store the sums once per child.
        each = 2 * members.shape[1] ** 2 * widest[start:]
        taken = max(int(np.searchsorted(each * np.arange(1, len(each) + 1), CHUNK)), 1)
        yield parents[start : start + taken], members[start : start + taken]
        start += taken


def _add(found: Floats, at: Ints, inside: Flags, message: Floats) -> None:
    """Add the logarithms of messages; skip a message that excludes every count, since the assumed noise is wrong."""
    valid = (np.where(inside, message, 0.0) > 0).any(axis=-1, keepdims=True)
    take = inside & valid
    with np.errstate(divide="ignore"):
        found[at[take]] += np.log(message[take])


def _sum_prior(prior: Floats, children: int) -> Floats:
    """Return the prior of a sum of counts, given the prior of one count."""
    found = prior
    for _ in range(children - 1):
        found = np.convolve(found, prior)[: len(prior)]
    return found
