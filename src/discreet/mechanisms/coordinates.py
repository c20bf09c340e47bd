"""Noise by coordinates: a cell's codes and its count determine the noise, for counts without record keys.

published(c) = n(c) + noise(n(c), w(c)) with w(c) a keyed function of the codes of the cell, its population, its count
and the version label. The same cell gets the same noise in every table, every run and every file that contains the
same count for it. A changed count gets new noise. Cells with the same participants but different codes do not share
their noise.
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
        noise: a p-table or a noise distribution; a distribution applies to every count from 1 on.
        secret: the office's secret, at least 16 bytes.
        version: the version label; changing it redraws all noise.
        perturb_zeros: whether a distribution also perturbs empty cells; a p-table defines this itself.
        labelled_total: whether the noise of the grand total depends on label and unit; False for older releases.
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
            raise SecretError("Noise by coordinates requires the office's secret, but none was given. Pass the secret.")
        KeyMixer(self.secret)
        if not self.version:
            raise ParameterError("The version label is empty. Give a non-empty text such as 1.", parameter="version")

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return counts plus noise."""
        words = KeyMixer(self.secret).of_cells(batch.words, batch.counts)
        return batch.counts + self.by_count.draw_words(batch.counts, words)

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
        """Return the mechanism specified by command-line flags."""
        return cls(flags.noise(), flags.office_secret(needed=True), version=flags.version)

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Self:
        """Return the mechanism described by a record."""
        version = "1" if record.key_version is None else record.key_version
        return cls(record.noise, secret, version=version, labelled_total=record.labelled_total)
