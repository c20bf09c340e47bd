"""Noise by coordinates: a cell's codes and its count decide, for counts that have no keys.

published(c) = n(c) + noise(n(c), w(c)) with w(c) a keyed function of the codes of the cell, its population, its count
and the version label. The same cell gets the same noise in every table, every run and every file that holds the same
count of it. A count that changes gets new noise; cells of the same participants under other codes do not share theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.errors import ParameterError, SecretError
from discreet.mechanisms.mechanism import MECHANISMS, CountNoiseMechanism
from discreet.noise.by_name import described_noise
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import KEY_SPACE

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import DescribedMechanism, MechanismFlags, NoiseBatch
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.distribution import Noise


@MECHANISMS.register("coordinates")
@dataclass(frozen=True)
class Coordinates(CountNoiseMechanism):
    """Noise from the coordinates of a cell.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        secret: the office's secret, at least 16 bytes.
        version: a label; another one gives other noise.
        perturb_zeros: whether a law gives empty cells noise too; a p-table says so itself.
        labelled_total: whether the noise of the grand total depends on label and unit; not so in older releases.
    """

    noise: NoiseByCount | Noise
    secret: bytes | None = field(repr=False)
    version: str = "1"
    perturb_zeros: bool | None = None
    labelled_total: bool = True

    name: ClassVar[str] = "coordinates"
    key_space: ClassVar[int] = KEY_SPACE
    spsn: ClassVar[bool] = True
    same_noise_by: ClassVar[str] = "coordinates"
    repeatable: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("version_label", "perturb_zeros")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.secret:
            raise SecretError("Noise by coordinates needs the office's secret and none was given. Pass the secret.")
        KeyMixer(self.secret)
        if not self.version:
            raise ParameterError("The version label must be a text such as 1.", parameter="version")

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus noise."""
        words = KeyMixer(self.secret).of_cells(lot.words, lot.counts)
        return lot.counts + self.by_count.draw_words(lot.counts, words)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "key_version": self.version,
            "perturb_zeros": self.perturbs_zeros,
            "labelled_total": self.labelled_total,
            **described_noise(self.noise),
        }

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:
        """Return the mechanism that flags ask for."""
        return cls(flags.noise(), flags.office_secret(needed=True), version=flags.version)

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Self:
        """Return the mechanism of a record."""
        version = "1" if record.key_version is None else record.key_version
        return cls(record.noise, secret, version=version, labelled_total=record.labelled_total)
