"""Noise by true count: a p-table, or one distribution for all counts; and its probabilities as one matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.distribution import WORDS, Noise
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import KEY_SPACE, PTableRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints, Words
    from discreet.noise.ptable_settings import PTableSettings

NEGLIGIBLE = 1e-12
"""Tail probability at which an unbounded distribution is truncated."""

CENTRED = 1e-9
"""Largest absolute mean that counts as rounding error."""


RARE = 1e-3
"""Probability below which values of an unbounded distribution are not searched for the most revealing count."""


class NoiseByCount(Protocol):
    """The noise distribution of each true count: a `PTable`, or a `SameNoise`.

    Attributes:
        label: the name in messages.
        varies_by_count: whether small counts have different noise distributions.
        rows: the distributions of the true counts 0, 1, 2, ..; None for no noise.
        repeat: the number of last rows that apply to larger counts in turn.
        large: the distribution of large counts.
        bound: the largest absolute noise of any count; infinite if it is unbounded.
        key_space: the number of keys K of plain keys.
        perturbs_zeros: whether an empty cell may be published as another number than 0.
        smallest_published: the smallest count above 0 that can be published.
        is_deterministic: whether every count is always changed in the same way.
        rounds: whether it is a rounding rule.
        settings: the settings of a solved p-table; None if they are not known.
    """

    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def varies_by_count(self) -> bool: ...  # noqa: D102
    @property
    def rows(self) -> Sequence[Noise | None]: ...  # noqa: D102
    @property
    def repeat(self) -> int: ...  # noqa: D102
    @property
    def large(self) -> Noise: ...  # noqa: D102
    @property
    def bound(self) -> float: ...  # noqa: D102
    @property
    def key_space(self) -> int: ...  # noqa: D102
    @property
    def perturbs_zeros(self) -> bool: ...  # noqa: D102
    @property
    def smallest_published(self) -> int: ...  # noqa: D102
    @property
    def is_deterministic(self) -> bool: ...  # noqa: D102
    @property
    def rounds(self) -> bool: ...  # noqa: D102
    @property
    def settings(self) -> PTableSettings | None: ...  # noqa: D102

    def row(self, count: int) -> Noise | None:
        """Return the distribution of one true count; None if it has no noise."""

    def draw(
        self, counts: Ints, keys: NDArray[np.unsignedinteger], *, mode: str = "mixed", secret: bytes | None = None
    ) -> Ints:
        """Return the noise of cells with these true counts and cell keys."""

    def draw_words(self, counts: Ints, words: Words) -> Ints:
        """Return the noise of true counts from words that are uniform on 64 bits."""

    def most_revealing_count(self, *, plain: bool = False) -> tuple[int, float]:
        """Return the published count above 0 with the largest posterior of one true count, and this posterior."""


@dataclass(frozen=True)
class SameNoise:
    """One noise distribution for all counts from 1 on, and for empty cells if these are perturbed.

    Attributes:
        distribution: the distribution of every count with noise.
        perturbs_zeros: whether empty cells have noise too.
    """

    distribution: Noise
    perturbs_zeros: bool = False

    varies_by_count: ClassVar[bool] = False
    repeat: ClassVar[int] = 1
    key_space: ClassVar[int] = KEY_SPACE
    smallest_published: ClassVar[int] = 1
    is_deterministic: ClassVar[bool] = False
    rounds: ClassVar[bool] = False
    settings: ClassVar[None] = None

    @property
    def label(self) -> str:
        """Return the distribution by its name."""
        return f"noise distribution {self.distribution.name}"

    @property
    def rows(self) -> tuple[Noise | None, Noise]:
        """Return the distributions of the counts 0 and 1."""
        return self.row(0), self.distribution

    @property
    def large(self) -> Noise:
        """Return the distribution."""
        return self.distribution

    @property
    def bound(self) -> float:
        """Return the largest absolute noise; infinite if it is unbounded."""
        return self.distribution.bound

    def row(self, count: int) -> Noise | None:
        """Return the distribution; None for an empty cell that stays empty."""
        return self.distribution if count or self.perturbs_zeros else None

    def draw(
        self, counts: Ints, keys: NDArray[np.unsignedinteger], *, mode: str = "mixed", secret: bytes | None = None
    ) -> Ints:
        """Return the noise of cells by their keys; empty cells, whose keys are all 0, have none."""
        if mode == "plain":
            drawn = self.distribution.draw(keys, KEY_SPACE)
        else:
            drawn = self.distribution.draw(KeyMixer(secret)(keys), WORDS)
        return np.where(counts > 0, drawn, 0)

    def draw_words(self, counts: Ints, words: Words) -> Ints:
        """Return the noise of true counts from words that are uniform on 64 bits."""
        drawn = self.distribution.draw(words, WORDS)
        return drawn if self.perturbs_zeros else np.where(counts > 0, drawn, 0)

    def most_revealing_count(self, *, plain: bool = False) -> tuple[int, float]:  # noqa: ARG002 - one call for all noise
        """Return the published count above 0 with the largest posterior of one true count, and this posterior.

        Under a flat prior this is max P(x) / sum P(x) over x <= y - i, for the smallest true count i with noise.
        """
        law = self.distribution
        edge = int(law.bound) if math.isfinite(law.bound) else max(law.reach(RARE), 1)
        change = np.arange(-edge, edge + 1)
        total, likeliest = law.cdf(change), np.maximum.accumulate(law.pmf(change))
        least = 0 if self.perturbs_zeros else 1
        posterior = np.divide(likeliest, total, out=np.zeros(len(change)), where=likeliest > 0)
        posterior[change < 1 - least] = 0
        worst = int(posterior.argmax())
        return int(change[worst]) + least, float(posterior[worst])


def noise_by_count(noise: NoiseByCount | Noise, *, perturb_zeros: bool | None = None) -> NoiseByCount:
    """Return noise by true count, from noise by true count or from one distribution for all counts.

    Args:
        noise: a p-table, or a distribution.
        perturb_zeros: whether empty cells have noise from a distribution too; a p-table defines this itself. None keeps
            the present choice, and means no noise for a distribution.
    """
    if isinstance(noise, Noise):
        return SameNoise(noise, bool(perturb_zeros))
    if isinstance(noise, SameNoise):
        return noise if perturb_zeros is None else SameNoise(noise.distribution, perturb_zeros)
    if not hasattr(noise, "draw_words"):
        wanted = "a p-table, or a noise distribution such as Laplace(scale=2)"
        raise ParameterError.outside("mechanism", "noise", noise, wanted)
    if perturb_zeros and not noise.perturbs_zeros:
        raise ParameterError(
            "This p-table does not perturb zeros. Make it with perturb_zeros, or omit perturb_zeros here.",
            parameter="perturb_zeros",
        )
    return noise


@dataclass(frozen=True, eq=False)
class TransitionMatrix:
    """The noise distributions by true count.

    Attributes:
        laws: by row, the probabilities of noise -reach .. reach.
        non_negative: whether negative results are published as 0.
        repeat: the number of last rows that apply to large counts in turn.
        variance: the variance of the noise of a large count.
        bound: the largest absolute noise of any count; infinite if it is unbounded.
        settings: the settings of the p-table; None if they are not known.
    """

    laws: tuple[Floats, ...]
    variance: float
    bound: float
    repeat: int = 1
    non_negative: bool = False
    settings: PTableSettings | None = None

    @property
    def reach(self) -> int:
        """Return the largest absolute noise in the matrix."""
        return len(self.laws[0]) // 2

    @property
    def large(self) -> PTableRow:
        """Return the distribution of large counts: the last row, or the mean of the rows that apply in turn."""
        noise = range(-self.reach, self.reach + 1)
        law = np.mean(self.laws[-self.repeat :], axis=0)
        return PTableRow(len(self.laws) - 1, tuple(noise), tuple(law.tolist()))

    @property
    def typical_change(self) -> float:
        """Return the root mean square noise of a large count: standard deviation and mean together."""
        return math.hypot(math.sqrt(self.variance), self.mean)

    @property
    def mean(self) -> float:
        """Return the mean of the noise of a large count."""
        return self.large.mean

    def centred(self, published: Floats) -> Floats:
        """Return published values minus the mean noise of large counts, which an attacker may know.

        If empty cells have no noise, a published 0 stays unchanged.
        """
        if abs(self.mean) < CENTRED:
            return published
        return np.where((published != 0) | self.zeros_are_noisy, published - self.mean, published)

    @property
    def zeros_are_noisy(self) -> bool:
        """Return whether an empty cell may be published as another number than 0."""
        return bool(self.laws[0][self.reach] < 1)

    def rows(self, counts: Ints) -> Ints:
        """Return the index of the row that applies to each true count."""
        last = len(self.laws) - 1
        if self.repeat == 1:
            return np.minimum(counts, last)
        first = last - self.repeat + 1
        return np.where(counts <= last, counts, first + (counts - first) % self.repeat)

    def chance(self, counts: Ints, published: Ints) -> Floats:
        """Return P(published | true count), for arrays that can be broadcast."""
        counts, published = np.broadcast_arrays(counts, published)
        noise = published - counts
        inside = (np.abs(noise) <= self.reach) & (counts >= 0)
        row = self.rows(np.maximum(counts, 0))
        found = np.where(inside, self._table[row, np.clip(noise + self.reach, 0, 2 * self.reach)], 0.0)
        if self.non_negative:
            below = self._cumulated[row, np.clip(self.reach - counts, 0, 2 * self.reach)]
            below = np.where((counts <= self.reach) & (counts >= 0), below, 0.0)
            found = np.where(published == 0, below, np.where(published < 0, 0.0, found))
        return found

    def publish(self, counts: Ints, random: np.random.Generator) -> Ints:
        """Return true counts with independent noise from this matrix."""
        row = self.rows(counts)
        uniform = random.random(counts.shape)
        noise = np.empty(counts.shape, dtype=np.int64)
        for number in np.unique(row).tolist():
            here = row == number
            noise[here] = np.searchsorted(self._cumulated[number], uniform[here], side="right") - self.reach
        found = counts + np.clip(noise, -self.reach, self.reach)
        return np.maximum(found, 0) if self.non_negative else found

    def variance_of(self, counts: Ints) -> Floats:
        """Return the variance of the noise of each true count."""
        return self._variances[self.rows(counts)]

    @cached_property
    def _table(self) -> Floats:
        return np.stack(self.laws)

    @cached_property
    def _cumulated(self) -> Floats:
        return np.cumsum(self._table, axis=1)

    @cached_property
    def _variances(self) -> Floats:
        noise = np.arange(-self.reach, self.reach + 1)
        mean = self._table @ noise
        found: Floats = self._table @ noise**2 - mean**2
        return found


AnyLaw: TypeAlias = "TransitionMatrix | NoiseByCount | Noise"
"""The accepted types of noise; `transition_matrix` converts each of them."""


def transition_matrix(noise: AnyLaw | None, *, zeros: bool = False, non_negative: bool = False) -> TransitionMatrix:
    """Return the probabilities of noise for every true count.

    Args:
        noise: a p-table, or a distribution, which then applies to all counts; None for no noise. A transition matrix is
            returned unchanged.
        zeros: whether empty cells have noise from a distribution too; a p-table defines this itself.
        non_negative: whether negative results are published as 0.

    >>> from discreet.noise.ptable import PTable
    >>> transition_matrix(PTable.max_entropy(variance=2, bound=5)).variance_of(np.array([0, 1, 7])).round(3).tolist()
    [0.0, 1.721, 2.0]
    """
    if noise is None:
        return TransitionMatrix((np.ones(1),), 0.0, 0.0)
    if isinstance(noise, TransitionMatrix):
        return noise
    made = SameNoise(noise, zeros) if isinstance(noise, Noise) else noise
    reach = max(_reach(law) if law else 0 for law in made.rows)
    values = np.arange(-reach, reach + 1)
    laws = [law.pmf(values) if law else (values == 0).astype(float) for law in made.rows]
    return TransitionMatrix(
        tuple(law / law.sum() for law in laws),
        made.large.variance,
        made.bound,
        made.repeat,
        non_negative,
        made.settings,
    )


def _reach(law: Noise) -> int:
    """Return the bound, or for unbounded noise the largest value that is not negligible."""
    return int(law.bound) if math.isfinite(law.bound) else law.reach(NEGLIGIBLE)
