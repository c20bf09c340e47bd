"""The cell key method: the sum of the participants' record keys determines the noise.

published(c) = n(c) + noise(n(c), k(c)) with k(c) = sum of record keys mod K. The same
participants get the same noise in every table. docs/concepts/keys.md describes mixed keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.mechanisms.mechanism import MECHANISMS, CountNoiseMechanism
from discreet.noise.by_name import described_noise
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import KEY_MODES
from discreet.records.record_keys import DIGEST_BITS

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import DescribedMechanism, MechanismFlags, NoiseBatch
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.distribution import Noise

WIDEST_KEY_SPACE = 1 << 32
EARLIER_BITS = 32
"""Bits of the digest from which keys were reduced if the release record has no `key_bits` field."""


@MECHANISMS.register("cell-key")
@dataclass(frozen=True)
class CellKey(CountNoiseMechanism):
    """Noise from cell keys.

    Attributes:
        noise: a p-table or a noise distribution; a distribution applies to every count from 1 on.
        secret: the office's secret, at least 16 bytes; required for mixed keys and for keys derived from ids.
        mode: `mixed` (default) or `plain`, which reproduces R cellKey and the ONS tool.
        version: the version label of the record keys.
        perturb_zeros: whether a distribution also perturbs empty cells, by coordinates; a p-table defines this itself.
        key_bits: the bits of an id's digest from which its key is reduced: 64, or 32 to reproduce an older release.

    >>> from discreet.noise.ptable import PTable
    >>> CellKey(PTable.max_entropy(variance=2, bound=5), secret=b"a secret of the office").key_space == 2**32
    True
    """

    noise: NoiseByCount | Noise
    secret: bytes | None = field(default=None, repr=False)
    mode: str = "mixed"
    version: str = "1"
    perturb_zeros: bool | None = None
    key_bits: int = DIGEST_BITS

    name: ClassVar[str] = "cell-key"
    needs_keys: ClassVar[bool] = True
    spsn: ClassVar[bool] = True
    same_noise_by: ClassVar[str] = "participants"
    repeatable: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("key_mode", "version_label", "perturb_zeros")
    public_method: ClassVar[str] = " with cell keys"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in KEY_MODES:
            raise UnknownNameError.among("key mode", self.mode, KEY_MODES)
        if self.key_space > WIDEST_KEY_SPACE:
            raise ParameterError.outside("cell key", "key_space", self.key_space, f"at most {WIDEST_KEY_SPACE}")
        if self.key_bits not in {EARLIER_BITS, DIGEST_BITS}:
            wanted = f"{DIGEST_BITS}, or {EARLIER_BITS} for a release made by an earlier version"
            raise ParameterError.outside("cell key", "key_bits", self.key_bits, wanted)
        if self.perturbs_zeros and self.secret is None:
            raise SecretError("Noise on empty cells is drawn by coordinates. Pass the office's secret.")
        if self.mode == "mixed" or self.perturbs_zeros:
            KeyMixer(self.secret)

    @property
    def key_space(self) -> int:
        """Return K: the key space of the p-table, or 2^32 for a distribution."""
        return self.by_count.key_space

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return counts plus noise, drawn by cell keys; noise of empty cells, whose keys are all 0, by coordinates."""
        noise = self.by_count.draw(batch.counts, batch.keys, mode=self.mode, secret=self.secret)
        if self.perturbs_zeros:
            empty = batch.counts == 0
            words = KeyMixer(self.secret).of_cells(batch.words[empty], batch.counts[empty])
            noise[empty] = self.by_count.draw_words(batch.counts[empty], words)
        return batch.counts + noise

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "key_mode": self.mode,
            "key_version": self.version,
            "key_space": self.key_space,
            # For a power of two both derivations give the same keys, so the record omits the field.
            "key_bits": self.key_bits if self.key_bits > EARLIER_BITS and self.key_space.bit_count() > 1 else None,
            "perturb_zeros": self.perturbs_zeros,
            **described_noise(self.noise),
        }

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:
        """Return the mechanism specified by command-line flags."""
        noise = flags.noise()
        needed = flags.key_mode != "plain" or flags.from_ids or bool(flags.perturb_zeros)
        secret = flags.office_secret(needed=needed)
        return cls(noise, secret=secret, mode=flags.key_mode or "mixed", version=flags.version)

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Self:
        """Return the mechanism described by a record."""
        version = "1" if record.key_version is None else record.key_version
        bits = record.key_bits or EARLIER_BITS
        return cls(record.noise, secret=secret, mode=record.key_mode, version=version, key_bits=bits)
