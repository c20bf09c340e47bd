"""The exact mechanism: true counts, for comparison and for the curator's own shelf. Never for publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.noise.ptable import KEY_SPACE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Exact:
    """Publishes every count as it is."""

    name: ClassVar[str] = "exact"
    key_space: ClassVar[int] = KEY_SPACE
    needs_keys: ClassVar[bool] = False
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    perturbs_zeros: ClassVar[bool] = False

    def publish(self, counts: NDArray[np.int64], keys: NDArray[np.uint32]) -> NDArray[np.int64]:  # noqa: ARG002 - the same call for every mechanism
        """Return the counts."""
        return counts

    def publish_empty(self, coordinates: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return zeros."""
        return np.zeros(len(coordinates), dtype=np.int64)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record: no noise at all."""
        return {"mechanism": self.name, "law": "none", "parameters": {}, "spsn": True, "key_mode": "plain"}
