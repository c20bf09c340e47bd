"""Manifestly eps-differentially private output: a privacy budget split over all counts that one person changes.

published(c) = n(c) + X, X two-sided geometric with P(x) proportional to exp(-eps_c |x|). X is drawn exactly and added
to every cell, including empty cells. Adding or removing one person changes one count by 1 in every statistic, so the
whole output satisfies eps = sum of eps_c over the statistics (sequential composition), with delta = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.errors import InternalError, ParameterError
from discreet.mechanisms.mechanism import MECHANISMS, RegisteredMechanism
from discreet.mechanisms.privacy_budget import Budget, read_budget
from discreet.noise.exact_samplers import ExactGeometric
from discreet.noise.ptable import KEY_SPACE
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import MechanismFlags, NoiseBatch
    from discreet.noise.random_bits import BitSource
    from discreet.tabulation.plan import PopulationStatistic
    from discreet.tabulation.static_output import StaticOutput

CONDITION = (
    "for one person added or removed, with one record per person; the person may be in every population of the "
    "programme; if a record is another unit, such as a household, for one such unit; noise on every cell that can be "
    "non-empty, including empty cells, drawn exactly; tables and codes fixed in advance; for this output alone: "
    "budgets of several releases add up; replacing one record by another counts twice"
)


@MECHANISMS.register("eps-dp")
@dataclass(frozen=True)
class EpsDP(RegisteredMechanism):
    """Two-sided geometric noise within a privacy budget.

    Attributes:
        budget: the privacy budget and its split over tables.
        spsn: whether a statistic has the same noise in every table, which spends less of the budget.
        bits: the source of randomness; use a seed for research only, never for publication.
        output: the output over which the budget is split; None before `ready_for`.
    """

    budget: Budget
    spsn: bool = True
    bits: BitSource = field(default=SYSTEM_BITS, repr=False)
    output: StaticOutput | None = field(default=None, repr=False)

    name: ClassVar[str] = "eps-dp"
    key_space: ClassVar[int] = KEY_SPACE
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    perturbs_zeros: ClassVar[bool] = True
    shares_noise: ClassVar[bool | None] = None
    same_noise_by: ClassVar[str] = "coordinates"
    laws: ClassVar[tuple[str, ...]] = ("geometric", "laplace")
    flags: ClassVar[tuple[str, ...]] = ("budget",)
    public_method: ClassVar[str] = " within a privacy budget"

    def ready_for(self, output: StaticOutput) -> Self:
        """Return the mechanism with its budget split over an output."""
        ready = replace(self, output=output)
        # Reject an epsilon that the sampler cannot draw before tabulation starts.
        for epsilon in set(ready.spent.values()):
            ExactGeometric(epsilon)
        return ready

    @cached_property
    def spent(self) -> dict[tuple[str, PopulationStatistic], float]:
        """Return the epsilon of every count, by table and statistic."""
        if self.output is None:
            raise InternalError("The budget has not been split over an output. Call ready_for first.")
        return self.budget.split(self.output, spsn=self.spsn)

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return the counts of one statistic plus exact geometric noise."""
        (statistic,) = batch.statistics
        epsilon = self._by_depths[batch.table, statistic]
        return batch.counts + _sampler(epsilon).sample(len(batch.counts), self.bits)

    @cached_property
    def _by_depths(self) -> dict[tuple[str, tuple[int, ...]], float]:
        return {(table, statistic): epsilon for (table, (_, statistic)), epsilon in self.spent.items()}

    @property
    def epsilon(self) -> float:
        """Return the epsilon of the whole output: the sum over the counts that one person changes."""
        counts = {shown if self.spsn else (table, shown): each for (table, shown), each in self.spent.items()}
        return math.fsum(counts.values())

    def described(self) -> dict[str, Any]:
        """Return the fields of a record; its noise distribution is that of the count with the smallest variance."""
        output = self.output
        assert output is not None  # noqa: S101 - ready_for is called before tabulation
        largest = max(self.spent.values())
        guarantee = {
            "epsilon": self.epsilon,
            "delta": 0.0,
            "sensitivity": output.sensitivity(spsn=self.spsn),
            "smallest_epsilon_of_a_count": min(self.spent.values()),
            "condition": CONDITION,
        }
        if self.budget.weights or self.budget.per_table:
            guarantee["tables"] = self.budget.of_tables(output)
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "law": "geometric",
            "parameters": {"epsilon": largest},
            "perturb_zeros": True,
            "privacy": guarantee,
        }

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:
        """Return the mechanism specified by command-line flags; epsilon is that of the whole output."""
        given = {name: value for name, value in flags.parameters.items() if value is not None}
        epsilon = given.pop("epsilon", None)
        other = ["ptable"] if flags.ptable else list(given)
        if flags.law not in {None, "geometric"} or other:
            what = f"--{other[0].replace('_', '-')}" if other else f"--law {flags.law}"
            raise ParameterError(
                "The mechanism eps-dp uses two-sided geometric noise. Its only parameter is --epsilon for the whole "
                f"output. Remove {what}.",
                parameter=other[0] if other else "law",
            )
        budget = Budget(epsilon) if flags.budget is None else read_budget(flags.budget, epsilon)
        return cls(budget, spsn=flags.spsn is not False)


@lru_cache(maxsize=8)
def _sampler(epsilon: float) -> ExactGeometric:
    """Return a sampler with its thresholds; cached because a small epsilon has many thresholds."""
    return ExactGeometric(epsilon)
