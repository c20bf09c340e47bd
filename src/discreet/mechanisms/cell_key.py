"""The cell key method: the participants' keys, summed, decide the noise.

published(c) = n(c) + noise(n(c), k(c)) with k(c) = sum of record keys mod K. The same
participants get the same noise in every table; see docs/guides/keys.md for mixed keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.noise.by_name import described_law, noisy, perturbs_zeros
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import KEY_MODES, KEY_SPACE, PTable
from discreet.records.record_keys import DIGEST_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import NoiseBatch
    from discreet.noise.distribution import Noise
    from discreet.tabulation.static_output import StaticOutput

WIDEST_KEY_SPACE = 1 << 32
EARLIER_BITS = 32
"""Bits of a digest that keys were reduced from where the record of a release has no mark."""


@dataclass(frozen=True)
class CellKey:
    """Noise from cell keys.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        secret: the office's secret, at least 16 bytes; needed for mixed keys and for keys made from ids.
        mode: `mixed` (default) or `plain`, which reproduces R cellKey and the ONS tool.
        version: the version label of the record keys.
        perturb_zeros: whether a law gives empty cells noise too, by their coordinates; a p-table says so itself.
        key_bits: bits of an id's digest that its key is reduced from: 64, or 32 to repeat an older release.

    >>> CellKey(PTable.max_entropy(variance=2, bound=5), secret=b"a secret of the office").key_space == 2**32
    True
    """

    noise: PTable | Noise
    secret: bytes | None = field(default=None, repr=False)
    mode: str = "mixed"
    version: str = "1"
    perturb_zeros: bool = False
    key_bits: int = DIGEST_BITS

    name: ClassVar[str] = "cell-key"
    needs_keys: ClassVar[bool] = True
    spsn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.mode not in KEY_MODES:
            raise UnknownNameError.among("key mode", self.mode, KEY_MODES)
        if self.key_space > WIDEST_KEY_SPACE:
            raise ParameterError.outside("cell key", "key_space", self.key_space, f"at most {WIDEST_KEY_SPACE}")
        if self.key_bits not in {EARLIER_BITS, DIGEST_BITS}:
            wanted = f"{DIGEST_BITS}, or {EARLIER_BITS} for a release of earlier versions"
            raise ParameterError.outside("cell key", "key_bits", self.key_bits, wanted)
        if self.perturbs_zeros and self.secret is None:
            raise SecretError("Noise on empty cells is drawn by their coordinates and needs the office's secret.")
        if self.mode == "mixed" or self.perturbs_zeros:
            KeyMixer(self.secret)

    @property
    def key_space(self) -> int:
        """Return K, the p-table's own or 2^32."""
        return self.noise.key_space if isinstance(self.noise, PTable) else KEY_SPACE

    @cached_property
    def perturbs_zeros(self) -> bool:
        """Say whether a true 0 may be published as something else."""
        return perturbs_zeros(self.noise, self.perturb_zeros)

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        """Return itself."""
        return self

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus noise: by their keys, and of empty cells, whose keys are all 0, by their coordinates."""
        published = self._by_keys(lot.counts, lot.keys)
        if self.perturbs_zeros:
            empty = lot.counts == 0
            words = self._mixer.of_cells(lot.words[empty], lot.counts[empty])
            published[empty] = noisy(self.noise, lot.counts[empty], words, zeros=True)
        return published

    def _by_keys(self, counts: Ints, keys: NDArray[np.uint32]) -> Ints:
        if isinstance(self.noise, PTable):
            return counts + self.noise.draw(counts, keys, mode=self.mode, secret=self.secret)
        if self.mode == "mixed":
            return noisy(self.noise, counts, self._mixer(keys), zeros=False)
        return counts + np.where(counts > 0, self.noise.draw(keys, self.key_space), 0)

    @cached_property
    def _mixer(self) -> KeyMixer:
        return KeyMixer(self.secret)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "key_mode": self.mode,
            "key_version": self.version,
            "key_space": self.key_space,
            # A power of two has the same keys by both derivations, and its record no mark.
            "key_bits": self.key_bits if self.key_bits > EARLIER_BITS and self.key_space.bit_count() > 1 else None,
            "perturb_zeros": self.perturbs_zeros,
            **described_law(self.noise),
        }
