"""The exact mechanism: true counts, for comparison and for the curator's own shelf. Never for publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.noise.ptable import KEY_SPACE

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import NoiseBatch
    from discreet.tabulation.static_output import StaticOutput


@dataclass(frozen=True)
class Exact:
    """Publishes every count as it is."""

    name: ClassVar[str] = "exact"
    key_space: ClassVar[int] = KEY_SPACE
    needs_keys: ClassVar[bool] = False
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = True
    perturbs_zeros: ClassVar[bool] = False

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        """Return itself."""
        return self

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return the counts."""
        return lot.counts

    def described(self) -> dict[str, Any]:
        """Return the fields of a record: no noise at all."""
        return {"mechanism": self.name, "law": "none", "parameters": {}, "spsn": self.spsn, "key_mode": "plain"}
