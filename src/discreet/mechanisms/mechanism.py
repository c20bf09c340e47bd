"""What an output mechanism does: turn counts into what is published, and describe itself; all of them by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from discreet.errors import InternalError, ParameterError, SecretError
from discreet.noise.by_count import noise_by_count
from discreet.noise.by_name import noise_named
from discreet.noise.max_entropy import MaxEntropy
from discreet.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from discreet.arrays import Ints, Words
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.distribution import Noise
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.static_output import StaticOutput


@dataclass(frozen=True, eq=False)
class NoiseBatch:
    """Cells that get their noise together.

    Attributes:
        table: the table for which they are made; cells that several tables share are made for the first of them.
        statistics: the statistics they are of, one after the other.
        counts: true counts.
        keys: cell keys, 0 where records have none.
        find_words: makes the coordinate words; called only by a mechanism that asks for them.
    """

    table: str
    statistics: tuple[Statistic, ...]
    counts: Ints
    keys: NDArray[np.uint32]
    find_words: Callable[[], Words]

    @cached_property
    def words(self) -> Words:
        """Return a word per cell that depends on its coordinates alone."""
        return self.find_words()


class Mechanism(Protocol):
    """Decides which noise goes where.

    Attributes:
        name: its name in records and on the command line.
        key_space: K, the number of keys it works with.
        needs_keys: whether every record must have a key.
        secret: the office's secret, for record keys made from ids and for noise by coordinates.
        version: the version label of keys and coordinates.
        spsn: whether a statistic gets its noise once and shows it in every table.
        perturbs_zeros: whether an empty cell may be published as something else; lots then hold empty cells too.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def key_space(self) -> int: ...  # noqa: D102
    @property
    def needs_keys(self) -> bool: ...  # noqa: D102
    @property
    def secret(self) -> bytes | None: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def spsn(self) -> bool: ...  # noqa: D102
    @property
    def perturbs_zeros(self) -> bool: ...  # noqa: D102

    def ready_for(self, output: StaticOutput) -> Self:
        """Return the mechanism for one output: a privacy budget is split over its tables."""

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return what is published for these cells."""

    def described(self) -> dict[str, Any]:
        """Return the fields of a record that tell how the noise was made."""


@dataclass(frozen=True, kw_only=True)
class MechanismFlags:
    """What a command line says about a mechanism and its noise.

    Attributes:
        secret: reads the office's secret; called only where it is needed, or where there may be one.
        law: the noise distribution.
        ptable: a file with a p-table instead.
        key_mode: of cell keys.
        version_label: of keys and coordinates.
        budget: a file that splits a privacy budget over tables.
        spsn: whether the same noise is shown in every table, where that is a choice.
        perturb_zeros: whether empty cells get noise too.
        from_ids: whether record keys are made from ids.
        parameters: of the distribution, those that were given.
    """

    secret: Callable[[], bytes | None]
    law: str | None = None
    ptable: Path | None = None
    key_mode: str | None = None
    version_label: str | None = None
    budget: Path | None = None
    spsn: bool | None = None
    perturb_zeros: bool | None = None
    from_ids: bool = False
    parameters: Mapping[str, Any]

    @property
    def version(self) -> str:
        """Return the version label, 1 if none was given."""
        return "1" if self.version_label is None else self.version_label

    def noise(self) -> NoiseByCount:
        """Return the noise; a p-table is solved with or without noise on empty cells."""
        zeros = bool(self.perturb_zeros)
        geometric = self.law is None and self.parameters.get("epsilon") is not None
        if self.ptable is None and (geometric or self.law not in {None, MaxEntropy.name}):
            return noise_by_count(noise_named(self.law, **self.parameters), perturb_zeros=zeros)
        return noise_by_count(noise_named(self.law, ptable=self.ptable, perturb_zeros=zeros or None, **self.parameters))

    def office_secret(self, *, needed: bool) -> bytes | None:
        """Return the office's secret, or refuse its absence where it is needed."""
        secret = self.secret()
        if secret is None and needed:
            raise SecretError(
                "The secret is missing: give --secret-file or set DISCREET_SECRET. `discreet keys new FILE` makes one."
            )
        return secret


class DescribedMechanism(Protocol):
    """What the record of a release says about a mechanism that can be repeated."""

    @property
    def noise(self) -> NoiseByCount: ...  # noqa: D102
    @property
    def key_mode(self) -> str: ...  # noqa: D102
    @property
    def key_version(self) -> str | None: ...  # noqa: D102
    @property
    def key_bits(self) -> int | None: ...  # noqa: D102
    @property
    def labelled_total(self) -> bool: ...  # noqa: D102


class RegisteredMechanism:
    """What is known of a kind of mechanism by its name alone, as records and commands need it.

    Attributes:
        name: in records and on the command line.
        needs_keys: whether every record must have a key.
        shares_noise: what `spsn` always is; None where it is a choice.
        same_noise_by: what two cells of one noise have in common: `participants`, `coordinates`, or `nothing`.
        repeatable: whether the noise depends on the data and the secret alone.
        laws: the names of the only distributions it can have, empty if it can have any.
        flags: flags of the command line that it uses, of those that not every mechanism does.
        public_method: what the public may know of it beside that it adds noise.
    """

    name: ClassVar[str]
    needs_keys: ClassVar[bool] = False
    shares_noise: ClassVar[bool | None] = True
    same_noise_by: ClassVar[str] = "nothing"
    repeatable: ClassVar[bool] = False
    laws: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[tuple[str, ...]] = ()
    public_method: ClassVar[str] = ""

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - only a budget looks at the output
        """Return itself."""
        return self

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Mechanism:  # noqa: ARG003 - a mechanism of one's own may have none
        """Return the mechanism that flags ask for."""
        what = f"The mechanism {cls.name} takes no flags. Make it in Python, and pass it to discreet.protect."
        raise ParameterError(what, parameter="mechanism")

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Mechanism:  # noqa: ARG003
        """Return the mechanism of a record, the inverse of `described`; for those that can be repeated."""
        raise InternalError(f"The mechanism {cls.name} cannot be repeated.")


class CountNoiseMechanism(RegisteredMechanism):
    """A mechanism whose noise may depend on the true count.

    Subclasses are frozen dataclasses with these fields.

    Attributes:
        noise: a p-table, or one distribution for every count from 1 on.
        perturb_zeros: whether one distribution gives empty cells noise too; a p-table defines that itself.
    """

    noise: NoiseByCount | Noise
    perturb_zeros: bool | None

    def __post_init__(self) -> None:
        noise = noise_by_count(self.noise, perturb_zeros=self.perturb_zeros)
        if not noise.varies_by_count and isinstance(noise.large, MaxEntropy):
            # A record has the same name for it as for the p-table, under which small counts have other noise.
            raise ParameterError(
                "MaxEntropy is the distribution of large counts alone. Use PTable.max_entropy("
                f"variance={noise.large.variance:g}, bound={noise.large.bound}), which gives small counts theirs.",
                parameter="noise",
            )
        object.__setattr__(self, "noise", noise)
        # A p-table defines that itself; None, so that `dataclasses.replace` can put another p-table in its place.
        object.__setattr__(self, "perturb_zeros", None if noise.varies_by_count else noise.perturbs_zeros)

    @property
    def by_count(self) -> NoiseByCount:
        """Return the noise of every true count."""
        return noise_by_count(self.noise)

    @property
    def perturbs_zeros(self) -> bool:
        """Say whether a true 0 may be published as something else."""
        return self.by_count.perturbs_zeros


MECHANISMS: Registry[type[RegisteredMechanism]] = Registry(
    "discreet.mechanisms",
    "mechanism",
    order=("cell-key", "coordinates", "fresh", "eps-dp", "exact"),
    base=RegisteredMechanism,
)
"""All output mechanisms by name; those of users register like ours."""
