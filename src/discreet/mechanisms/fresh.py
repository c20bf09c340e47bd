"""Fresh noise: every cell of every table draws for itself, also where several tables show the same count.

The paper's static output without SPSN. Whoever averages the copies of a count comes closer to it: see `assess`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.noise.by_name import described_law, noisy, perturbs_zeros
from discreet.noise.ptable import KEY_SPACE
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import NoiseBatch
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable
    from discreet.noise.random_bits import BitSource
    from discreet.tabulation.static_output import StaticOutput


@dataclass(frozen=True)
class Fresh:
    """Independent noise for every cell of every table.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        perturb_zeros: whether a law gives empty cells noise too; a p-table says so itself.
        bits: where randomness comes from; a seed is for research, never for a publication.
    """

    noise: PTable | Noise
    perturb_zeros: bool = False
    bits: BitSource = field(default=SYSTEM_BITS, repr=False)

    name: ClassVar[str] = "fresh"
    key_space: ClassVar[int] = KEY_SPACE
    needs_keys: ClassVar[bool] = False
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = False

    def __post_init__(self) -> None:
        perturbs_zeros(self.noise, self.perturb_zeros)

    @cached_property
    def perturbs_zeros(self) -> bool:
        """Say whether a true 0 may be published as something else."""
        return perturbs_zeros(self.noise, self.perturb_zeros)

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        """Return itself."""
        return self

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus noise."""
        return noisy(self.noise, lot.counts, self.bits.words(len(lot.counts)), zeros=self.perturbs_zeros)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "perturb_zeros": self.perturbs_zeros,
            **described_law(self.noise),
        }
