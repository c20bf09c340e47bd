"""The exact mechanism: true counts, for comparison and for the curator's own use. Do not publish them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.mechanisms.mechanism import MECHANISMS, RegisteredMechanism
from discreet.noise.ptable import KEY_SPACE

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import DescribedMechanism, MechanismFlags, NoiseBatch


@MECHANISMS.register("exact")
@dataclass(frozen=True)
class Exact(RegisteredMechanism):
    """Unperturbed counts."""

    name: ClassVar[str] = "exact"
    key_space: ClassVar[int] = KEY_SPACE
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = True
    perturbs_zeros: ClassVar[bool] = False
    same_noise_by: ClassVar[str] = "participants"
    repeatable: ClassVar[bool] = True
    laws: ClassVar[tuple[str, ...]] = ("none",)

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return the counts."""
        return batch.counts

    def described(self) -> dict[str, Any]:
        """Return the fields of a record without noise."""
        return {"mechanism": self.name, "law": "none", "parameters": {}, "spsn": self.spsn, "key_mode": "plain"}

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:  # noqa: ARG003 - true counts need none
        """Return the mechanism."""
        return cls()

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Self:  # noqa: ARG003
        """Return the mechanism."""
        return cls()
