"""The distribution that draws use: a row rounded to integer weights on the grid of its keys.

A key space of K keys can only represent probabilities that are multiples of 1/K. The rounding keeps the sum at K and
the mean of a centred row at exactly 0; every moment is then an exact fraction.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints

LARGEST_KEY_SPACE = 2**62
"""Maximum key space of a p-table, with which bounds and their sums stay within signed 64 bits."""


def check_key_space(key_space: int, largest: int = LARGEST_KEY_SPACE) -> None:
    """Raise ParameterError unless the key space is a whole number from 2 to the maximum."""
    if isinstance(key_space, bool) or not isinstance(key_space, int) or not 2 <= key_space <= largest:
        wanted = f"a whole number from 2 to 2**{largest.bit_length() - 1}"
        raise ParameterError.outside("key_space", "key_space", key_space, wanted, "2**32, or 10**8 for cellKey")


@dataclass(frozen=True)
class RoundedRow:
    """Pieces of the key space and the noise of each.

    Piece k contains the next `weights[k]` keys, from 0 on, and adds `values[k]`. A
    value may have several pieces, as in tables with shuffled intervals.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def key_space(self) -> int:
        """Return the number of keys."""
        return sum(self.weights)

    @cached_property
    def upper(self) -> tuple[int, ...]:
        """Return the exclusive upper key of every piece."""
        return tuple(accumulate(self.weights))

    def law(self) -> dict[int, Fraction]:
        """Return the exact probability of every noise value that occurs."""
        total, found = self.key_space, dict[int, Fraction]()
        for value, weight in sorted(zip(self.values, self.weights, strict=True)):
            if weight:
                found[value] = found.get(value, Fraction(0)) + Fraction(weight, total)
        return found

    def moment(self, order: int) -> Fraction:
        """Return E[X^order], exactly."""
        return sum((p * value**order for value, p in self.law().items()), Fraction(0))

    @property
    def variance(self) -> Fraction:
        """Return the variance about the mean, exactly."""
        return self.moment(2) - self.moment(1) ** 2

    @property
    def bound(self) -> int:
        """Return the largest absolute noise of any key."""
        return max(abs(value) for value in self.law())


def round_symmetric(centre: float, positive: Floats, key_space: int) -> RoundedRow:
    """Return a symmetric distribution, given at 0 and at 1, 2, .., as symmetric integer weights.

    Each half gets floor(p K), and the largest remainders one more key, until the
    number of keys of 0 is nearest to its share.
    """
    exact = _shares(positive, key_space)
    half = np.floor(exact).astype(np.uint64)
    wanted = round((key_space - Fraction(centre) * key_space) / 2)
    wanted = min(max(wanted, int(half.sum())), key_space // 2)
    by_remainder = np.argsort(np.floor(exact) - exact, kind="stable")
    half[by_remainder[: wanted - int(half.sum())]] += np.uint64(1)
    outer = int(np.flatnonzero(half).max(initial=-1)) + 1
    side = half[:outer].tolist()
    return RoundedRow(tuple(range(-outer, outer + 1)), (*reversed(side), key_space - 2 * sum(side), *side))


def _shares(probability: Floats, key_space: int) -> NDArray[Any]:
    """Return every p K exactly; a double times a power of two is a double."""
    if key_space & (key_space - 1):
        return np.array([Fraction(p) * key_space for p in probability.tolist()], dtype=object)
    return probability * float(key_space)


def round_centred(values: Ints, probability: Floats, key_space: int, mean: int = 0) -> RoundedRow:
    """Return a distribution as integer weights with sum K and exact mean 0 (or sum of noise over all keys `mean`).

    Shares are rounded by largest remainder. The remaining error of the mean is
    corrected by moving single keys between two values, the move with the smallest
    increase of the squared error first.
    """
    noise = values.tolist()
    exact = [Fraction(p) * key_space for p in probability.tolist()]
    weight = [int(share) for share in exact]
    for k in sorted(range(len(weight)), key=lambda k: weight[k] - exact[k])[: max(key_space - sum(weight), 0)]:
        weight[k] += 1
    # Doubles are coarser than a fine grid: the likeliest value gets the remaining keys.
    likeliest = max(range(len(weight)), key=lambda k: weight[k])
    left = key_space - sum(weight)
    weight[likeliest] += left
    exact[likeliest] += left
    gap = sum(v * w for v, w in zip(noise, weight, strict=True)) - mean
    _move_in_bulk(noise, weight, gap)
    _mend_mean(np.array(noise), exact, weight, mean)
    return RoundedRow(tuple(noise), tuple(weight))


def _move_in_bulk(noise: list[int], weight: list[int], gap: int) -> None:
    """Move keys between the two likeliest values if the error of the mean is too large for single moves."""
    if abs(gap) <= 4 * len(noise) * (max(noise) - min(noise)):
        return
    a = max(range(len(noise)), key=lambda k: weight[k])
    b = max((k for k in range(len(noise)) if noise[k] != noise[a]), key=lambda k: weight[k])
    moved = int(Fraction(gap, noise[a] - noise[b]))
    weight[a] -= moved
    weight[b] += moved


def _mend_mean(noise: Ints, exact: list[Fraction], weight: list[int], mean: int) -> None:
    """Move single keys until the noise summed over all keys is `mean`."""
    error = np.array([float(w - share) for w, share in zip(weight, exact, strict=True)])
    held = np.array(weight, dtype=object)
    gap = int((noise * held).sum()) - mean
    step = noise[:, None] - noise[None, :]
    while gap:
        # Moving a key from v_a to v_b changes the sum by v_b - v_a and adds 2 (1 - e_a + e_b) to the squared error.
        useful = (np.sign(step) == np.sign(gap)) & (np.abs(step) <= abs(gap)) & (held > 0)[:, None]
        cost = np.where(useful, (1 - error[:, None] + error[None, :]) / np.maximum(np.abs(step), 1), np.inf)
        # A value keeps its last key, and so a positive probability, if any other move is possible.
        cost[held == 1] += len(noise)
        a, b = np.unravel_index(int(cost.argmin()), cost.shape)
        if not useful[a, b]:
            for giver, taker in _detour(noise, held, gap):
                held[giver] -= 1
                held[taker] += 1
            break
        held[a] -= 1
        held[b] += 1
        error[a] -= 1
        error[b] += 1
        gap -= int(step[a, b])
    weight[:] = [int(w) for w in held]


def _detour(noise: Ints, held: NDArray[np.object_], gap: int) -> list[tuple[int, int]]:
    """Return the smallest number of moves in both directions that close a gap smaller than every single move."""
    # If several moves have the same step, the value with the most keys gives.
    givers = sorted(np.flatnonzero(held > 0).tolist(), key=lambda a: held[a])
    moves = {int(noise[a] - noise[b]): (a, b) for a in givers for b in range(len(noise)) if noise[a] != noise[b]}
    paths: dict[int, list[tuple[int, int]]] = {gap: []}
    queue = deque([gap])
    while queue:
        left = queue.popleft()
        taken = Counter(a for a, _ in paths[left])
        if left == 0 and all(times <= held[a] for a, times in taken.items()):
            return paths[left]
        for step, move in moves.items():
            if left - step not in paths and abs(left - step) <= max(moves):
                paths[left - step] = [*paths[left], move]
                queue.append(left - step)
    wanted = "large enough to represent every row with mean 0"
    raise ParameterError.outside("key_space", "key_space", int(held.sum()), wanted, "2**32")
