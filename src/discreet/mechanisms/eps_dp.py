"""Manifestly eps-differentially private output: a budget, split over all counts that a person changes.

published(c) = n(c) + X, X two-sided geometric with P(x) proportional to exp(-eps_c |x|), on every cell, empty ones too,
drawn exactly. One person more or less changes one count by 1 in every statistic, so the output as a whole keeps
eps = sum of eps_c over the statistics (sequential composition), with delta = 0.
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
    "for one person more or less, each with one record, who may be in every population of the programme; where a "
    "record is another unit, such as a household, for one such unit; noise on every cell that somebody can be in, "
    "empty ones too, drawn exactly; tables and codes known beforehand; for this output alone: budgets of several "
    "releases add up; replacing one record by another counts twice"
)


@MECHANISMS.register("eps-dp")
@dataclass(frozen=True)
class EpsDP(RegisteredMechanism):
    """Two-sided geometric noise within a privacy budget.

    Attributes:
        budget: what may be spent, and on what.
        spsn: whether a statistic gets its noise once and shows it in every table, which spends less.
        bits: where randomness comes from; a seed is for research, never for a publication.
        output: what it is ready for.
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
        # What cannot be drawn is refused before anything is counted.
        for epsilon in set(ready.spent.values()):
            ExactGeometric(epsilon)
        return ready

    @cached_property
    def spent(self) -> dict[tuple[str, PopulationStatistic], float]:
        """Return the epsilon of every count, by table and statistic."""
        if self.output is None:
            raise InternalError("The budget is not split over an output yet.")
        return self.budget.split(self.output, spsn=self.spsn)

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus exact geometric noise, of one statistic."""
        (statistic,) = lot.statistics
        epsilon = self._by_depths[lot.table, statistic]
        return lot.counts + _sampler(epsilon).sample(len(lot.counts), self.bits)

    @cached_property
    def _by_depths(self) -> dict[tuple[str, tuple[int, ...]], float]:
        return {(table, statistic): epsilon for (table, (_, statistic)), epsilon in self.spent.items()}

    @property
    def epsilon(self) -> float:
        """Return what the whole output spends: the sum over the counts that one person changes."""
        counts = {shown if self.spsn else (table, shown): each for (table, shown), each in self.spent.items()}
        return math.fsum(counts.values())

    def described(self) -> dict[str, Any]:
        """Return the fields of a record; the law is that of the count with least noise."""
        output = self.output
        assert output is not None  # noqa: S101 - it was made ready before anything was counted
        largest = max(self.spent.values())
        promise = {
            "epsilon": self.epsilon,
            "delta": 0.0,
            "sensitivity": output.sensitivity(spsn=self.spsn),
            "smallest_epsilon_of_a_count": min(self.spent.values()),
            "condition": CONDITION,
        }
        if self.budget.weights or self.budget.per_table:
            promise["tables"] = self.budget.of_tables(output)
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "law": "geometric",
            "parameters": {"epsilon": largest},
            "perturb_zeros": True,
            "privacy": promise,
        }

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:
        """Return the mechanism that flags ask for: its epsilon is that of the whole output."""
        given = {name: value for name, value in flags.parameters.items() if value is not None}
        epsilon = given.pop("epsilon", None)
        other = ["ptable"] if flags.ptable else list(given)
        if flags.law not in {None, "geometric"} or other:
            what = f"--{other[0].replace('_', '-')}" if other else f"--law {flags.law}"
            raise ParameterError(
                f"The mechanism eps-dp has two-sided geometric noise, told by --epsilon of the whole output; {what} "
                "cannot be given too.",
                parameter=other[0] if other else "law",
            )
        budget = Budget(epsilon) if flags.budget is None else read_budget(flags.budget, epsilon)
        return cls(budget, spsn=flags.spsn is not False)


@lru_cache(maxsize=8)
def _sampler(epsilon: float) -> ExactGeometric:
    """Return a sampler with its thresholds, of which a small epsilon has many: a few are kept."""
    return ExactGeometric(epsilon)
