"""What additive tuples tell their members: sums of beliefs, passed on to children and to the parent.

To a child c of the parent T an equation says

    m(n_c) = sum over the other children's counts of product q(n_o) * p(n_c + sum n_o -> y_T),

to the parent the convolution of the children's q. With noise by participants a child that holds
everybody has its parent's noise: the last factor is then 1 if both are published alike and 0 if not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints


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
