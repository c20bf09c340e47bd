"""The cell key method: the participants' keys, summed, decide the noise.

published(c) = n(c) + noise(n(c), k(c)) with k(c) = sum of record keys mod K. The same
participants get the same noise in every table; see docs/guides/keys.md for mixed keys.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.noise.base import WORDS
from discreet.noise.formats.own_toml import OwnToml
from discreet.noise.mixing import KeyMixer
from discreet.noise.ptable import KEY_MODES, KEY_SPACE, PTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.base import Noise

WIDEST_KEY_SPACE = 1 << 32


@dataclass(frozen=True)
class CellKey:
    """Noise from cell keys.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        secret: the office's secret, at least 16 bytes; needed for mixed keys and for keys made from ids.
        mode: `mixed` (default) or `plain`, which reproduces R cellKey and the ONS tool.
        version: the version label of the record keys.

    >>> CellKey(PTable.max_entropy(variance=2, bound=5), secret=b"a secret of the office").key_space == 2**32
    True
    """

    noise: PTable | Noise
    secret: bytes | None = field(default=None, repr=False)
    mode: str = "mixed"
    version: str = "1"

    name: ClassVar[str] = "cell-key"
    needs_keys: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.mode not in KEY_MODES:
            raise UnknownNameError.among("key mode", self.mode, KEY_MODES)
        if self.key_space > WIDEST_KEY_SPACE:
            raise ParameterError.outside("cell key", "key_space", self.key_space, f"at most {WIDEST_KEY_SPACE}")
        if self.perturbs_zeros and self.secret is None:
            raise SecretError("Noise on empty cells is drawn by their coordinates and needs the office's secret.")
        if self.mode == "mixed" or self.perturbs_zeros:
            KeyMixer(self.secret)

    @property
    def key_space(self) -> int:
        """Return K, the p-table's own or 2^32."""
        return self.noise.key_space if isinstance(self.noise, PTable) else KEY_SPACE

    @property
    def perturbs_zeros(self) -> bool:
        """Say whether a true 0 may be published as something else; a law alone leaves zeros as they are."""
        return isinstance(self.noise, PTable) and self.noise.perturbs_zeros

    def publish(self, counts: NDArray[np.int64], keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return count plus noise of occupied cells."""
        if isinstance(self.noise, PTable):
            return counts + self.noise.draw(counts, keys, mode=self.mode, secret=self.secret)
        if self.mode == "plain":
            return counts + self.noise.draw(keys, self.key_space)
        return counts + self.noise.draw(self._mixer(keys), WORDS)

    @cached_property
    def _mixer(self) -> KeyMixer:
        return KeyMixer(self.secret)

    def publish_empty(self, coordinates: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the noise of empty cells, drawn by their coordinates: the keys of all of them are 0."""
        if not isinstance(self.noise, PTable) or not self.perturbs_zeros:
            return np.zeros(len(coordinates), dtype=np.int64)
        return self.noise.rows[0].draw(self._mixer(coordinates), WORDS)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": True,
            "key_mode": self.mode,
            "key_version": self.version,
            "key_space": self.key_space,
            **_law(self.noise),
        }


def _law(noise: PTable | Noise) -> dict[str, Any]:
    """Return the law by name and parameters; a p-table that was not solved here is written out whole."""
    if not isinstance(noise, PTable):
        parameters: dict[str, Any] = asdict(noise)  # type: ignore[call-overload]  # every law is a dataclass
        return {"law": noise.name, "parameters": parameters}
    if noise.settings:
        return {"law": "max-entropy", "parameters": asdict(noise.settings)}
    return {"law": "p-table", "parameters": {}, "ptable_text": OwnToml().write(noise, Path("record.json"))}
