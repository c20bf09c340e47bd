"""Rejection rates of tests of independence with noisy counts: their actual level and their power.

Tables of Poisson counts are drawn, noise is added, and each table is tested in three ways: the true counts with
Pearson's test, the published counts with Pearson's test as if they were true (naive), and with the noise-aware test. If
rows and columns are independent, the share of rejections is the actual significance level and should equal the nominal
level. If they are associated, it is the power. Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and
Differential Privacy in the Dissemination of Frequency Tables" (2018), compare levels in this way. The power of a test
is meaningful only if its level is correct.
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
"""The nominal significance level."""
CELLS = 1 << 18
"""The number of cells of tables drawn and tested at a time."""
DRAWN = "true counts are independent Poisson counts with the given means"


@dataclass(frozen=True)
class Rejections:
    """Shares of tables in which independence is rejected at the nominal level.

    Attributes:
        exact: the share for Pearson's test of the true counts.
        naive: the share for Pearson's test of the published counts.
        aware: the share for the noise-aware test of the published counts.
        tables: the number of tables drawn.
        associated: whether rows and columns of the means are associated, so that the shares are powers.
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
        """Return the three shares with their target."""
        what = "power" if self.associated else "level"
        condition = "associated" if self.associated else "independent"
        aim = "larger is better if the level is correct" if self.associated else f"nominal level: {NOMINAL:.0%}"
        tests = {
            "exact": (self.exact, "Pearson's test of the true counts"),
            "naive": (self.naive, "Pearson's test of the published counts, which ignores noise,"),
            "aware": (self.aware, "the noise-aware test of the published counts"),
        }
        return [
            Result(
                name=f"{what}_{name}",
                value=share,
                unit="1",
                sentence=f"If rows and columns are {condition}, {test} rejects independence in {share:.1%} of "
                f"{self.tables:,} tables (standard error {self.error(share):.1%}); {aim}.",
                assumptions=(DRAWN, NOISE),
                equation=f"share of p-values of at most {NOMINAL:g}",
            )
            for name, (share, test) in tests.items()
        ]


def level(mean: float, law: AnyLaw, *, seed: int, rows: int = 5, columns: int = 5, tables: int = 10_000) -> Rejections:
    """Return the actual significance levels at a nominal 5 percent for independent rows and columns.

    Args:
        mean: the mean of every true count.
        law: the noise distribution by true count.
        seed: the seed of the random numbers.
        rows: the number of rows of a table.
        columns: the number of columns of a table.
        tables: the number of tables to draw.
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
    """Return the shares of rejections if the means on the diagonal are a multiple of those of the other cells.

    Args:
        mean: the mean of every true count off the diagonal.
        law: the noise distribution by true count.
        seed: the seed of the random numbers.
        factor: the ratio of the means on the diagonal to the others.
        rows: the number of rows of a table.
        columns: the number of columns of a table.
        tables: the number of tables to draw.
    """
    if not (0 < factor < math.inf and factor != 1):
        raise ParameterError.outside("power", "factor", factor, "above 0 and not 1", "1.5 to 3")
    means = _even(mean, rows, columns)
    return rejections(means * np.where(np.eye(rows, columns, dtype=bool), factor, 1.0), law, seed=seed, tables=tables)


def rejections(means: ArrayLike, law: AnyLaw, *, seed: int, tables: int = 10_000) -> Rejections:
    """Return the shares of rejections for tables with given means.

    Args:
        means: the means of the true counts by row and column.
        law: the noise distribution by true count.
        seed: the seed of the random numbers.
        tables: the number of tables to draw.
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
        raise ParameterError("The table has means that are not positive numbers. Correct them.", parameter="means")
    return table


def _associated(means: Floats) -> bool:
    product = means.sum(axis=1, keepdims=True) * means.sum(axis=0) / means.sum()
    return not np.allclose(product, means)
