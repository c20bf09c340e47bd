"""Fresh noise: every cell of every table has independent noise, even if several tables show the same count.

This is the paper's static output without SPSN. An attacker who averages the copies of a count reduces the noise; see
`assess`.
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
        noise: a p-table or a noise distribution; a distribution applies to every count from 1 on.
        perturb_zeros: whether a distribution also perturbs empty cells; a p-table defines this itself.
        bits: the source of randomness; use a seed for research only, never for publication.
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

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return counts plus noise."""
        return batch.counts + self.by_count.draw_words(batch.counts, self.bits.words(len(batch.counts)))

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
        """Return the mechanism specified by command-line flags."""
        return cls(flags.noise())
