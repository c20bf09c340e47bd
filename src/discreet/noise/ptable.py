"""The p-table: one noise distribution for every true count, and the keys that draw from it.

The p-table of the cell key method, as in the R package ptable. It has its probabilities before rounding and, on its
key space, the integer weights that draws use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.distribution import WORDS, ProbabilityTable, TabulatedNoise
from discreet.noise.dual import ACCEPTABLE, solve
from discreet.noise.feasibility import check_feasible
from discreet.noise.key_lookup import KeyMixer, Lookup, in_chunks, keys_in_space
from discreet.noise.least_disclosure import least_disclosure_laws
from discreet.noise.ptable_settings import PTableSettings
from discreet.noise.rounded import RoundedRow, check_key_space, round_centred
from discreet.results import NotebookView

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from discreet.arrays import Ints, Words

KEY_SPACE = 2**32
"""The default key space: 32 bits."""

KEY_MODES = ("mixed", "plain")


@dataclass(frozen=True)
class PTableRow(TabulatedNoise):
    """The noise distribution of one true count.

    Attributes:
        count: the true count.
        values: the noise of every piece, in the order of the keys.
        probabilities: the probability of every piece before rounding.
        pieces: the integer weights of a file; None if they result from rounding.
    """

    name: ClassVar[str] = "p-table row"
    count: int
    values: tuple[int, ...]
    probabilities: tuple[float, ...]
    pieces: RoundedRow | None = None

    @cached_property
    def table(self) -> ProbabilityTable:
        """Return the distribution by value; pieces of one value are combined."""
        values, place = np.unique(self.values, return_inverse=True)
        with np.errstate(divide="ignore"):
            return ProbabilityTable(values, np.log(np.bincount(place, self.probabilities)))

    @property
    def mean(self) -> float:  # type: ignore[override]  # a property here, a constant in centred distributions
        """Return the mean before rounding."""
        return float(np.dot(self.values, self.probabilities))

    @property
    def second_moment(self) -> float:
        """Return the mean squared noise before rounding, sum of v^2 p: variance plus squared mean."""
        return float(np.dot(np.square(self.values), self.probabilities))

    @property
    def variance(self) -> float:
        """Return the variance about the mean before rounding; exactly 0 for a deterministic row."""
        if self.is_deterministic:
            return 0.0
        return float(np.dot(np.square(np.array(self.values) - self.mean), self.probabilities))

    @property
    def is_deterministic(self) -> bool:
        """Return whether every key gives the same noise, as in rounding."""
        return len({value for value, p in zip(self.values, self.probabilities, strict=True) if p > 0}) == 1

    @property
    def bound(self) -> int:  # type: ignore[override]  # a property here, a constant in unbounded distributions
        """Return the largest absolute noise before rounding."""
        return max(abs(value) for value in self.values)

    @property
    def stay(self) -> float:
        """Return the probability that the count is unchanged."""
        return float(self.pmf(0))

    def rounded(self, key_space: int) -> RoundedRow:
        """Return the row on a grid of keys: sum 1, and mean exactly 0 if the row is centred."""
        if self.pieces and self.pieces.key_space == key_space:
            return self.pieces
        return round_centred(
            np.array(self.values), np.array(self.probabilities), key_space, self.mean_on_grid(key_space)
        )

    def mean_on_grid(self, key_space: int) -> int:
        """Return the target for the sum of the noise over all keys.

        The target is 0 for every distribution that is centred apart from rounding; a
        deterministic rule, such as rounding to base 5, keeps its mean.
        """
        grid = self.pieces.key_space if self.pieces else key_space
        # A solved row is centred only to double precision, on any grid.
        if abs(self.mean) <= len(self.values) * self.bound * max(1 / grid, ACCEPTABLE):
            return 0
        return round(self.mean * key_space)


@dataclass(frozen=True)
class PTable(NotebookView):
    """One noise distribution per true count.

    Attributes:
        rows: the distributions of the counts 0, 1, 2, ..
        key_space: the number of keys K; a key is a whole number from 0 to K - 1.
        repeat: the number of last rows that apply to larger counts in turn; 1 for only the last row.
        settings: the constraints and the objective; None for a table from a file that does not contain them.

    >>> ptable = PTable.max_entropy(variance=2, bound=5)
    >>> [round(row.variance, 3) for row in ptable.rows]
    [0.0, 1.721, 2.0, 2.0, 2.0, 2.0]
    """

    rows: tuple[PTableRow, ...]
    key_space: int = KEY_SPACE
    repeat: int = 1
    settings: PTableSettings | None = None

    label: ClassVar[str] = "p-table"
    varies_by_count: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_key_space(self.key_space)
        if not 1 <= self.repeat <= len(self.rows):
            raise ParameterError.outside("p-table", "repeat", self.repeat, f"from 1 to {len(self.rows)}, its rows")

    def __repr__(self) -> str:
        noise = f"variance={self.large.variance:.4g}, bound={self.bound}"
        return f"PTable({len(self.rows)} rows, {noise}, key_space={self.key_space})"

    @classmethod
    def max_entropy(
        cls,
        *,
        variance: float,
        bound: int,
        threshold: int = 0,
        stay: float = 0.0,
        floor: float = 0.0,
        equality: bool = False,
        monotone: bool = False,
        perturb_zeros: bool = False,
        key_space: int = KEY_SPACE,
    ) -> Self:
        """Return the p-table whose rows have maximum entropy under the constraints.

        See PTableSettings for the arguments. Infeasible constraints raise
        InfeasibleError, with the row and the smallest change that helps.
        """
        settings = PTableSettings(
            variance=variance,
            bound=bound,
            threshold=threshold,
            stay=stay,
            floor=floor,
            equality=equality,
            monotone=monotone,
            perturb_zeros=perturb_zeros,
        )
        return cls.solve(settings, key_space)

    @classmethod
    def least_disclosure(
        cls,
        *,
        variance: float,
        bound: int,
        threshold: int = 0,
        equality: bool = False,
        perturb_zeros: bool = False,
        key_space: int = KEY_SPACE,
    ) -> Self:
        """Return the p-table with the smallest posterior that a published count was a true 1.

        See the module `least_disclosure` for the convex program.
        """
        settings = PTableSettings(
            variance=variance,
            bound=bound,
            threshold=threshold,
            equality=equality,
            perturb_zeros=perturb_zeros,
            objective="least-disclosure",
        )
        return cls.solve(settings, key_space)

    @classmethod
    def solve(cls, settings: PTableSettings, key_space: int = KEY_SPACE) -> Self:
        """Return the p-table of the settings."""
        check_key_space(key_space)
        return cls(_solved(settings), key_space, settings=settings)

    @property
    def bound(self) -> int:
        """Return the largest absolute noise of any row, before rounding."""
        return max(row.bound for row in self.rows)

    @cached_property
    def large(self) -> PTableRow:
        """Return the distribution of large counts: the last row, or the mean of the rows that apply in turn."""
        if self.repeat == 1:
            return self.rows[-1]
        share: dict[int, float] = {}
        for row in self.rows[-self.repeat :]:
            for value, probability in zip(row.values, row.probabilities, strict=True):
                share[value] = share.get(value, 0.0) + probability / self.repeat
        return PTableRow(self.rows[-1].count, tuple(sorted(share)), tuple(share[value] for value in sorted(share)))

    @property
    def is_deterministic(self) -> bool:
        """Return whether every count is always changed in the same way, without random noise."""
        return all(row.is_deterministic for row in self.rows)

    @cached_property
    def rounds(self) -> bool:
        """Return whether the table is a rounding rule: deterministic, and several positive counts become the same.

        A deterministic table that maps all counts to different numbers, such as a constant shift, does not protect.

        >>> to_five = [PTableRow(n, (round(n / 5) * 5 - n,), (1.0,)) for n in range(10)]
        >>> PTable(tuple(to_five), repeat=5).rounds, PTable(tuple(to_five[:1])).rounds
        (True, False)
        """
        if not self.is_deterministic:
            return False
        counts = np.arange(1, len(self.rows) + self.repeat + 2 * self.bound)
        change = np.array([row.mean for row in self.rows])[self._row_numbers(counts)]
        return len(np.unique(np.rint(counts + change))) < len(counts)

    @property
    def perturbs_zeros(self) -> bool:
        """Return whether a true 0 may be published as another number."""
        return self.rows[0].bound > 0

    @property
    def smallest_published(self) -> int:
        """Return the smallest count above 0 that can be published; a threshold excludes the smallest ones.

        >>> PTable.max_entropy(variance=3, bound=5, threshold=2).smallest_published
        3
        """
        able = (
            row.count + noise
            for row in self.rows
            for noise, chance in zip(row.values, row.probabilities, strict=True)
            if chance > 0
        )
        return min((published for published in able if published > 0), default=1)

    @cached_property
    def rounded(self) -> tuple[RoundedRow, ...]:
        """Return the rows on the table's own key space, which plain keys use."""
        return tuple(row.rounded(self.key_space) for row in self.rows)

    def on_grid(self, key_space: int) -> Self:
        """Return the same distributions with another key space."""
        return replace(self, key_space=key_space)

    def shortfalls(self) -> dict[int, float]:
        """Return, by count, the difference between the requested and the attained variance, if positive."""
        if not self.settings:
            return {}
        wanted, found = self.settings.variance, self.rows[0 if self.perturbs_zeros else 1 :]
        return {row.count: wanted - row.variance for row in found if wanted - row.variance > 1e-9 * wanted}

    def records(self) -> list[dict[str, float]]:
        """Return one record per interval: i, j, v, p before rounding, and its keys [lower, upper)."""
        found: list[dict[str, float]] = []
        for row, grid in zip(self.rows, self.rounded, strict=True):
            lower = (0, *grid.upper[:-1])
            for v, p, low, high in zip(row.values, row.probabilities, lower, grid.upper, strict=True):
                found.append({"i": row.count, "j": row.count + v, "v": v, "p": p, "lower": low, "upper": high})
        return found

    def row(self, count: int) -> PTableRow | None:
        """Return the row of one true count; None for an empty cell that stays empty."""
        return self.rows[int(self.row_numbers([count])[0])] if count or self.perturbs_zeros else None

    def row_numbers(self, counts: ArrayLike) -> Ints:
        """Return the index of the row that applies to each true count."""
        return self._row_numbers(_counts(counts))

    def _row_numbers(self, counts: Ints) -> Ints:
        last = len(self.rows) - 1
        if self.repeat == 1:
            return np.minimum(counts, last)
        first = last - self.repeat + 1
        return np.where(counts <= last, counts, first + (counts - first) % self.repeat)

    def draw(self, counts: ArrayLike, keys: ArrayLike, *, mode: str = "mixed", secret: bytes | None = None) -> Ints:
        """Return the noise of cells with these true counts and cell keys.

        `mixed` (the default) first applies a keyed pseudo-random function with 64
        bits to every key, so that the noise of a total reveals nothing about the
        noise of its parts; it needs the secret. `plain` looks up the key directly,
        in the table's own key space, and so reproduces R cellKey and the cell key
        tools of the ONS cell by cell.
        """
        if mode not in KEY_MODES:
            raise UnknownNameError.among("key mode", mode, KEY_MODES)
        words = keys_in_space(keys, self.key_space)
        if mode == "plain":
            lookup = self._plain_lookup
            return in_chunks(lambda n, key: lookup(self._row_numbers(n), key), _counts(counts), words)
        lookup, mixer = self._mixed_lookup, KeyMixer(secret)
        return in_chunks(lambda n, key: lookup(self._row_numbers(n), mixer(key)), _counts(counts), words)

    def draw_words(self, counts: ArrayLike, words: Words) -> Ints:
        """Return the noise of counts from words that are uniform on 64 bits, such as mixed keys."""
        return in_chunks(lambda n, word: self._mixed_lookup(self._row_numbers(n), word), _counts(counts), words)

    def most_revealing_count(self, *, plain: bool = False) -> tuple[int, float]:
        """Return the published count above 0 with the largest posterior of one true count, and this posterior.

        The posterior of i is p(i -> y) / sum_k p(k -> y), the sum over all true counts k. The last row, or the last
        ones in turn, apply to all larger counts, so that one turn covers all cases.

        Args:
            plain: whether plain keys of the table's own key space draw the noise, instead of words of 64 bits.

        >>> PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (2,), (1.0,)))).most_revealing_count()
        (3, 1.0)
        """
        change = np.arange(-self.bound, self.bound + 1)
        published = np.arange(1, len(self.rows) + self.repeat + self.bound)
        counts = published[:, None] - change
        laws = [row.rounded(self.key_space).law() for row in self.rows] if plain else None
        chances = (
            np.array([[float(law.get(step, 0)) for step in change.tolist()] for law in laws])
            if laws
            else np.stack([row.pmf(change) for row in self.rows])
        )
        reaching = chances[self._row_numbers(np.maximum(counts, 0)), np.arange(len(change))]
        reaching[counts < 0] = 0
        total = reaching.sum(axis=1)
        posterior = np.divide(reaching.max(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        worst = int(posterior.argmax())
        return int(published[worst]), float(posterior[worst])

    @cached_property
    def _plain_lookup(self) -> Lookup:
        return Lookup(self.rounded, self.key_space)

    @cached_property
    def _mixed_lookup(self) -> Lookup:
        return Lookup([row.rounded(WORDS) for row in self.rows], WORDS)


@lru_cache(maxsize=64)
def _solved(settings: PTableSettings) -> tuple[PTableRow, ...]:
    """Return the rows of the settings; cached, since one run needs the same rows repeatedly."""
    check_feasible(settings)
    problems = settings.row_problems()
    if settings.objective == "entropy":
        laws = [solution.probability for solution in solve(list(problems.values()))]
    else:
        laws = least_disclosure_laws(problems)
    rows = [
        PTableRow(count, tuple(problem.values.tolist()), tuple(law.tolist()))
        for (count, problem), law in zip(problems.items(), laws, strict=True)
    ]
    fixed_zero = [] if settings.perturb_zeros else [PTableRow(0, (0,), (1.0,))]
    return (*fixed_zero, *rows)


def _counts(counts: ArrayLike) -> Ints:
    """Return true counts as whole numbers, or raise an error for negative ones."""
    number = whole(counts, "counts")
    if number.size and number.min() < 0:
        raise ParameterError("counts must not be negative; at least one is.", parameter="counts")
    return number


def ptable(*, key_space: int = KEY_SPACE, **settings: Any) -> PTable:  # noqa: ANN401 - the fields of PTableSettings
    """Return the p-table for settings given by name: the function behind `discreet ptable`.

    >>> ptable(variance=2, bound=5, threshold=1).rows[1].values
    (-1, 1, 2, 3, 4, 5)
    """
    return PTable.solve(PTableSettings(**settings), key_space)
