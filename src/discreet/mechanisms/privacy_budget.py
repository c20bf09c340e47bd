"""A privacy budget and its split over the tables of an output.

Even split: every count that one person changes spends the same share, epsilon / Delta. Split by weights or by table:
table t spends epsilon_t, and each of its m_t statistics spends epsilon_t / m_t. A statistic that several tables share
with the same noise spends the sum of its shares in these tables. The sum over statistics then equals the sum over
tables.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError, UnknownNameError
from discreet.limits import read_named
from discreet.programme.selection import matches

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.tabulation.plan import PopulationStatistic
    from discreet.tabulation.static_output import StaticOutput

WEIGHT, EPSILON = "weight", "epsilon"


@dataclass(frozen=True)
class Budget:
    """The privacy budget of a whole output.

    Attributes:
        epsilon: the epsilon of the whole output; None if `per_table` is given.
        weights: the relative shares of epsilon by table id or pattern; an even split over all counts if empty.
        per_table: the epsilon of each table by table id or pattern.
    """

    epsilon: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    per_table: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.per_table and (self.epsilon is not None or self.weights):
            raise ParameterError(
                "The total epsilon is the sum of the epsilons of the tables. Leave out --epsilon and weights.",
                parameter=EPSILON,
            )
        if not self.per_table and self.epsilon is None:
            raise ParameterError("The budget is missing. Give --epsilon, or an epsilon per table.", parameter=EPSILON)
        for what, value in ((EPSILON, self.epsilon), *self.weights.items(), *self.per_table.items()):
            if value is not None and not 0 < value < float("inf"):
                raise ParameterError.outside("privacy budget", what, value, "a positive number")

    def split(self, output: StaticOutput, *, spsn: bool) -> dict[tuple[str, PopulationStatistic], float]:
        """Return the epsilon of every perturbed count, by table and statistic.

        With consistent noise (SPSN), a statistic has the same epsilon in every table that shows it.
        """
        if not self.weights and not self.per_table:
            each = _rounded_down(Fraction(self.epsilon or 0) / output.sensitivity(spsn=spsn))
            return {(table, shown): each for table, statistics in output.statistics.items() for shown in statistics}
        tables = self._of_tables(output)
        alone = {
            (table, shown): tables[table] / len(statistics)
            for table, statistics in output.statistics.items()
            for shown in statistics
        }
        if not spsn:
            return {count: _rounded_down(epsilon) for count, epsilon in alone.items()}
        together: defaultdict[PopulationStatistic, Fraction] = defaultdict(Fraction)
        for (_, shown), epsilon in alone.items():
            together[shown] += epsilon
        spent = {shown: _rounded_down(epsilon) for shown, epsilon in together.items()}
        return {(table, shown): spent[shown] for table, shown in alone}

    def of_tables(self, output: StaticOutput) -> dict[str, float]:
        """Return the epsilon of every table."""
        return {table: float(epsilon) for table, epsilon in self._of_tables(output).items()}

    def _of_tables(self, output: StaticOutput) -> dict[str, Fraction]:
        given = {table: Fraction(share) for table, share in _by_table(self.per_table or self.weights, output).items()}
        if self.per_table:
            return given
        whole = sum(given.values())
        return {table: Fraction(self.epsilon or 0) * weight / whole for table, weight in given.items()}


def _rounded_down(epsilon: Fraction) -> float:
    """Return the largest double that is at most epsilon, so that the counts never exceed the budget together."""
    nearest = float(epsilon)
    return math.nextafter(nearest, 0) if Fraction(nearest) > epsilon else nearest


def _by_table(given: Mapping[str, float], output: StaticOutput) -> dict[str, float]:
    """Return the entry of every table: by its id, otherwise by the first pattern that matches."""
    for pattern in given:
        if not any(matches(table, pattern) for table in output.statistics):
            raise UnknownNameError.among("table in the budget", pattern, list(output.statistics))
    found = {}
    for table in output.statistics:
        fits = [table, *(pattern for pattern in given if matches(table, pattern))]
        chosen = next((name for name in fits if name in given), None)
        if chosen is None:
            raise ParameterError(
                f"The budget has no entry for table {table}. Add a line for it, or a line with the pattern *.",
                parameter="budget",
            )
        found[table] = given[chosen]
    return found


def read_budget(path: Path, epsilon: float | None) -> Budget:
    """Return the budget in a CSV file with the columns `table` and `weight`, or `table` and `epsilon`."""
    try:
        text = read_named(path).decode("utf-8-sig")
        lines = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "not a CSV text"
        raise ParameterError(f"{path} cannot be read ({why}). Give a CSV file.", parameter="budget") from error
    columns = {name for line in lines for name in line}
    kind = next((name for name in (WEIGHT, EPSILON) if {"table", name} == columns), None)
    if kind is None:
        raise ParameterError(
            f"{path} has the wrong columns. It needs table and weight, or table and epsilon, and one line per table or "
            "pattern.",
            parameter="budget",
        )
    twice = next((name for name, times in Counter(line["table"] for line in lines).items() if times > 1), None)
    if twice is not None:
        raise ParameterError(f"{path} has two lines for {twice}. Remove one.", parameter="budget")
    entries = {line["table"]: _number(path, number, line[kind]) for number, line in enumerate(lines, start=2)}
    return Budget(epsilon, weights=entries) if kind == WEIGHT else Budget(epsilon, per_table=entries)


def _number(path: Path, line: int, text: str | None) -> float:
    try:
        # Python parses 1_0 as 10; reject it instead.
        return float((text or "").replace("_", "?"))
    except ValueError as error:
        what = f"{text!r} is not a number" if text else "the number is missing"
        raise ParameterError(f"{path}, line {line}: {what}. Write a number such as 0.5.", parameter="budget") from error
