"""How often tests of independence reject: their real level, and their power, when counts carry noise.

Tables of Poisson counts are drawn, noise is added, and each table is tested three ways: the true counts with Pearson's
test, the published counts with Pearson's test as if they were true (naive), and with the test that knows the noise
(aware). Where rows and columns are independent, the share of rejections is the real significance level and should be
the nominal one; where they are associated, it is the power. Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and
Differential Privacy in the Dissemination of Frequency Tables" (2018), compare levels in this way. The power of a test
means something only where its level holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.independence_test import NOISE, noise_aware_statistics, pearson_statistics, two_way
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats
    from discreet.noise.by_count import AnyLaw

NOMINAL = 0.05
"""The significance level that is asked for."""
CELLS = 1 << 18
"""Cells of tables that are drawn and tested at a time."""
DRAWN = "true counts are independent Poisson counts of the given means"


@dataclass(frozen=True)
class Rejections:
    """Shares of tables for which independence is rejected at the nominal level.

    Attributes:
        exact: by Pearson's test of the true counts.
        naive: by Pearson's test of the published counts.
        aware: by the noise-aware test of the published counts.
        tables: how many tables were drawn.
        associated: whether rows and columns of the means were associated, so that the shares are powers.
    """

    exact: float
    naive: float
    aware: float
    tables: int
    associated: bool

    def error(self, share: float) -> float:
        """Return the standard error of a share, sqrt(p (1 - p) / tables)."""
        return math.sqrt(share * (1 - share) / self.tables)

    def results(self) -> list[Result]:
        """Return the three shares with what they should be."""
        what = "power" if self.associated else "level"
        condition = "associated" if self.associated else "independent"
        aim = "more is better if the level holds" if self.associated else f"{NOMINAL:.0%} is asked for"
        tests = {
            "exact": (self.exact, "Pearson's test of the true counts"),
            "naive": (self.naive, "Pearson's test of the published counts, as if they were true,"),
            "aware": (self.aware, "the test that knows the noise"),
        }
        return [
            Result(
                name=f"{what}_{name}",
                value=share,
                unit="1",
                sentence=f"Where rows and columns are {condition}, {test} rejects independence in {share:.1%} of "
                f"{self.tables:,} tables (standard error {self.error(share):.1%}); {aim}.",
                assumptions=(DRAWN, NOISE),
                equation=f"share of p-values of at most {NOMINAL:g}",
            )
            for name, (share, test) in tests.items()
        ]


def level(mean: float, law: AnyLaw, *, seed: int, rows: int = 5, columns: int = 5, tables: int = 10_000) -> Rejections:
    """Return the real significance levels at a nominal 5 percent, where rows and columns are independent.

    Args:
        mean: of every true count.
        law: of the noise, by true count.
        seed: of the random numbers.
        rows: of a table.
        columns: of a table.
        tables: how many are drawn.
    """
    return rejections(_even(mean, rows, columns), law, seed=seed, tables=tables)


def power(
    mean: float,
    law: AnyLaw,
    *,
    seed: int,
    factor: float = 2.0,
    rows: int = 5,
    columns: int = 5,
    tables: int = 10_000,
) -> Rejections:
    """Return the shares of rejections where the means on the diagonal are some times those of the other cells.

    Args:
        mean: of every true count beside the diagonal.
        law: of the noise, by true count.
        seed: of the random numbers.
        factor: the means on the diagonal are so many times as large.
        rows: of a table.
        columns: of a table.
        tables: how many are drawn.
    """
    if not (0 < factor < math.inf and factor != 1):
        raise ParameterError.outside("power", "factor", factor, "above 0 and not 1", "1.5 to 3")
    means = _even(mean, rows, columns)
    return rejections(means * np.where(np.eye(rows, columns, dtype=bool), factor, 1.0), law, seed=seed, tables=tables)


def rejections(means: ArrayLike, law: AnyLaw, *, seed: int, tables: int = 10_000) -> Rejections:
    """Return the shares of rejections for tables of any means.

    Args:
        means: of the true counts, by row and column.
        law: of the noise, by true count.
        seed: of the random numbers.
        tables: how many are drawn.
    """
    table, law = _checked(means), transition_matrix(law)
    if tables < 1:
        raise ParameterError.outside("rejections", "tables", tables, "1 or more", "1000 to 100000")
    random = np.random.default_rng(seed)
    found = np.zeros(3)
    at_a_time = max(CELLS // table.size, 1)
    for start in range(0, tables, at_a_time):
        true = random.poisson(table, (min(at_a_time, tables - start), *table.shape))
        published = law.publish(true, random)
        tests = pearson_statistics(true), pearson_statistics(published), noise_aware_statistics(published, law)
        found += [(test.p_values <= NOMINAL).sum() for test in tests]
    exact, naive, aware = (found / tables).tolist()
    return Rejections(exact, naive, aware, tables, _associated(table))


def _even(mean: float, rows: int, columns: int) -> Floats:
    """Return a table of equal means."""
    for name, size in (("rows", rows), ("columns", columns)):
        if size < 2:
            raise ParameterError.outside("table", name, size, "2 or more", "2 to 10")
    return np.full((rows, columns), mean, dtype=np.float64)


def _checked(means: ArrayLike) -> Floats:
    table = np.asarray(means, dtype=np.float64)
    two_way(np.zeros(table.shape, dtype=np.int64))
    if not (np.isfinite(table).all() and (table > 0).all()):
        raise ParameterError(
            "The means of a table must be positive numbers. Correct those that are not.", parameter="means"
        )
    return table


def _associated(means: Floats) -> bool:
    product = means.sum(axis=1, keepdims=True) * means.sum(axis=0) / means.sum()
    return not np.allclose(product, means)
