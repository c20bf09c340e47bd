"""Noise by coordinates: a cell's codes and its count decide, for counts that have no keys.

published(c) = n(c) + noise(n(c), w(c)) with w(c) a keyed function of the codes of the cell, its population, its count
and the version label. The same cell gets the same noise in every table, every run and every file that holds the same
count of it. A count that changes gets new noise; cells of the same participants under other codes do not share theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.errors import ParameterError, SecretError
from discreet.noise.by_name import described_law, noisy, perturbs_zeros
from discreet.noise.key_lookup import KeyMixer
from discreet.noise.ptable import KEY_SPACE

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import NoiseBatch
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable
    from discreet.tabulation.static_output import StaticOutput


@dataclass(frozen=True)
class Coordinates:
    """Noise from the coordinates of a cell.

    Attributes:
        noise: a p-table, or any law of noise; with a law every count from 1 on has the same one.
        secret: the office's secret, at least 16 bytes.
        version: a label; another one gives other noise.
        perturb_zeros: whether a law gives empty cells noise too; a p-table says so itself.
        labelled_total: whether the noise of the grand total depends on label and unit; not so in older releases.
    """

    noise: PTable | Noise
    secret: bytes | None = field(repr=False)
    version: str = "1"
    perturb_zeros: bool = False
    labelled_total: bool = True

    name: ClassVar[str] = "coordinates"
    key_space: ClassVar[int] = KEY_SPACE
    needs_keys: ClassVar[bool] = False
    spsn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.secret:
            raise SecretError("Noise by coordinates needs the office's secret and none was given. Pass the secret.")
        KeyMixer(self.secret)
        if not self.version:
            raise ParameterError("The version label must be a text such as 1.", parameter="version")
        perturbs_zeros(self.noise, self.perturb_zeros)

    @cached_property
    def perturbs_zeros(self) -> bool:
        """Say whether a true 0 may be published as something else."""
        return perturbs_zeros(self.noise, self.perturb_zeros)

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        """Return itself."""
        return self

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return count plus noise."""
        words = self._mixer.of_cells(lot.words, lot.counts)
        return noisy(self.noise, lot.counts, words, zeros=self.perturbs_zeros)

    @cached_property
    def _mixer(self) -> KeyMixer:
        return KeyMixer(self.secret)

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {
            "mechanism": self.name,
            "spsn": self.spsn,
            "key_version": self.version,
            "perturb_zeros": self.perturbs_zeros,
            "labelled_total": self.labelled_total,
            **described_law(self.noise),
        }
