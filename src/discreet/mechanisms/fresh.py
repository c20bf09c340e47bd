"""Fresh noise: every cell of every table draws for itself, also where several tables show the same count.

The paper's static output without SPSN. Whoever averages the copies of a count comes closer to it: see `assess`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.mechanisms.mechanism import MECHANISMS, CountNoiseMechanism
from discreet.noise.by_name import described_noise
from discreet.noise.ptable import KEY_SPACE
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import MechanismFlags, NoiseBatch
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.distribution import Noise
    from discreet.noise.random_bits import BitSource


@MECHANISMS.register("fresh")
@dataclass(frozen=True)
class Fresh(CountNoiseMechanism):
    """Independent noise for every cell of every table.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        perturb_zeros: whether a law gives empty cells noise too; a p-table says so itself.
        bits: where randomness comes from; a seed is for research, never for a publication.
    """

    noise: NoiseByCount | Noise
    perturb_zeros: bool | None = None
    bits: BitSource = field(default=SYSTEM_BITS, repr=False)

    name: ClassVar[str] = "fresh"
    key_space: ClassVar[int] = KEY_SPACE
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = False
    shares_noise: ClassVar[bool | None] = False
    flags: ClassVar[tuple[str, ...]] = ("perturb_zeros",)

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus noise."""
        return lot.counts + self.by_count.draw_words(lot.counts, self.bits.words(len(lot.counts)))

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "perturb_zeros": self.perturbs_zeros,
            **described_noise(self.noise),
        }

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:
        """Return the mechanism that flags ask for."""
        return cls(flags.noise())
