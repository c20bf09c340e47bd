"""The interface of all noise distributions, derived from the few formulas that each must define.

A distribution defines `log_pmf`, `cdf` and `variance`; probabilities, quantiles, samples and keyed draws follow. All
distributions are on the integers, as counts are.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError
from discreet.noise.key_lookup import Lookup, in_chunks, keys_in_space
from discreet.noise.parameters import parameters
from discreet.noise.random_bits import SYSTEM_BITS
from discreet.noise.rounded import check_key_space, round_symmetric
from discreet.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats, Ints
    from discreet.noise.random_bits import BitSource
    from discreet.noise.rounded import RoundedRow

WORDS = 2**64
"""The grid of a sample: one 64-bit word per draw."""

WIDEST = 2**22
"""Maximum number of values of a distribution that are tabulated for keyed draws and samples."""

ORDER = (
    "max-entropy",
    "geometric",
    "laplace",
    "gaussian",
    "discrete-gaussian",
    "uniform",
    "truncated-laplace",
    "truncated-gaussian",
    "truncated",
)


class Noise(ABC):
    """The distribution of one noise term on the whole numbers, centred at 0.

    Attributes:
        name: the name of the distribution on the command line.
        bound: the largest absolute noise; infinite for an unbounded distribution.
        mean: 0, except for a row of a p-table that is not centred.
        variance: the variance.
    """

    name: ClassVar[str]
    bound: float = math.inf
    mean: float = 0.0

    if TYPE_CHECKING:
        # Declared for the type checker only: a distribution with its variance as a parameter
        # keeps it as a field, which a property of the base class would shadow.
        @property
        def variance(self) -> float:
            """Return the variance of the distribution."""

    def __post_init__(self) -> None:
        for name, declared in parameters(type(self)).items():
            declared.check(type(self).__name__, name, getattr(self, name))

    @abstractmethod
    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return the natural logarithm of P(X = x); -inf outside the support."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x), accurate in the lower tail."""

    def pmf(self, x: ArrayLike) -> Floats:
        """Return P(X = x)."""
        probability: Floats = np.exp(self.log_pmf(x))
        return probability

    def quantile(self, q: ArrayLike) -> Ints:
        """Return the smallest x with P(X <= x) >= q, for 0 < q < 1, by bisection on the whole numbers."""
        level = np.asarray(q, dtype=np.float64)
        if not ((level > 0) & (level < 1)).all():
            raise ParameterError("quantile: q must lie strictly between 0 and 1.", parameter="q")
        edge = self._edge(level)
        low, high = np.full(level.shape, -edge - 1), np.full(level.shape, edge)
        while (high - low > 1).any():
            middle = low + (high - low) // 2
            reached = self.cdf(middle) >= level
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return high

    def _edge(self, level: Floats) -> int:
        """Return a symmetric bracket of the requested quantiles."""
        if math.isfinite(self.bound):
            return int(self.bound)
        edge = 1
        while (self.cdf(-edge - 1) >= level.min()).any() or (self.cdf(edge) < level.max()).any():
            edge *= 2
        return edge

    def reach(self, resolution: float) -> int:
        """Return the largest x with P(X = x) at least `resolution`, by bisection on the decreasing side."""
        if self.pmf(0) < resolution:
            return 0
        low, high = 0, 1
        while high <= self.bound and self.pmf(high) >= resolution:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.pmf(middle) >= resolution else (low, middle)
        return low

    def rounded(self, key_space: int) -> RoundedRow:
        """Return the distribution on a grid of `key_space` keys: integer weights, mean exactly 0.

        An unbounded distribution loses the tail with probabilities below half a
        grid step: a keyed draw from it is not differentially private. Use
        `sample_exact` if that is guaranteed, or add the lost mass to delta.
        """
        check_key_space(key_space, largest=WORDS)
        edge = int(self.bound) if math.isfinite(self.bound) else self.reach(0.5 / key_space)
        if edge > WIDEST:
            raise ParameterError(
                f"{type(self).__name__}: too wide to draw from; values beyond ±{WIDEST} are not tabulated.",
                parameter="key_space",
            )
        positive = np.arange(1, edge + 1)
        return round_symmetric(float(self.pmf(0)), self.pmf(positive), key_space)

    def draw(self, keys: ArrayLike, key_space: int = 2**32) -> Ints:
        """Return the noise of each key: the inverse of the rounded distribution.

        The smallest noise has the lowest keys. Keys are whole numbers from 0 to
        key_space - 1; uniform keys give the rounded distribution.
        """
        return in_chunks(_lookup(self, key_space), np.array(0), keys_in_space(keys, key_space))

    def sample(self, size: int, bits: BitSource = SYSTEM_BITS) -> Ints:
        """Return independent draws, each from one 64-bit word of the bit source.

        The default source is the operating system's cryptographic generator.
        For reproducible research pass `SeededBits(seed)`; neither source replaces
        the other implicitly.
        """
        if size < 0:
            raise ParameterError.outside("sample", "size", size, "zero or a positive whole number")
        return self.draw(bits.words(size), WORDS)

    @classmethod
    def describe(cls) -> str:
        """Return the distribution and its parameters as help text."""
        lines = [(cls.__doc__ or "").split("\n", 1)[0]]
        lines += [f"  {name}: {declared.help()}" for name, declared in parameters(cls).items()]
        return "\n".join(lines)


DISTRIBUTIONS: Registry[type[Noise]] = Registry("discreet.noise", "noise distribution", order=ORDER)
"""All noise distributions by name; users can register their own."""


@lru_cache(maxsize=64)
def _lookup(law: Noise, key_space: int) -> Lookup:
    return Lookup([law.rounded(key_space)], key_space)


class TabulatedNoise(Noise):
    """A distribution with finite support, given by a table of values and log-probabilities."""

    @property
    @abstractmethod
    def table(self) -> ProbabilityTable:
        """Return the values and their log-probabilities."""

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return log P(X = x) from the table."""
        return self.table.log_pmf(whole(x, "x"))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x) from the table."""
        return self.table.cdf(whole(x, "x"))


@dataclasses.dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """Values in ascending order and the logarithms of their probabilities."""

    values: Ints
    log_probability: Floats

    def log_pmf(self, x: Ints) -> Floats:
        """Return the log-probability of x; -inf if the table does not contain x."""
        place = np.searchsorted(self.values, x).clip(max=len(self.values) - 1)
        found: Floats = np.where(self.values[place] == x, self.log_probability[place], -np.inf)
        return found

    def cdf(self, x: Ints) -> Floats:
        """Return the sum of the probabilities up to x."""
        cumulative = np.concatenate([[0.0], np.cumsum(np.exp(self.log_probability))])
        cumulative[-1] = 1.0
        total: Floats = cumulative[np.searchsorted(self.values, x, side="right")]
        return total

    @property
    def mean(self) -> float:
        """Return the mean."""
        return float(self.values @ np.exp(self.log_probability))

    @property
    def variance(self) -> float:
        """Return the variance about the mean."""
        return float((self.values - self.mean) ** 2 @ np.exp(self.log_probability))
