"""Output mechanisms: the protocol that maps true counts to published counts, and the registry of mechanisms by name."""

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
    """A batch of cells that are perturbed together.

    Attributes:
        table: the table of the cells; for cells that several tables share, the first of these tables.
        statistics: the statistics of the cells, in order.
        counts: true counts.
        keys: cell keys; 0 if the records have no keys.
        find_words: a function that computes the coordinate words; called only if the mechanism uses them.
    """

    table: str
    statistics: tuple[Statistic, ...]
    counts: Ints
    keys: NDArray[np.uint32]
    find_words: Callable[[], Words]

    @cached_property
    def words(self) -> Words:
        """Return one word per cell that depends only on the coordinates of the cell."""
        return self.find_words()


class Mechanism(Protocol):
    """An output mechanism.

    Attributes:
        name: its name in records and on the command line.
        key_space: K, the number of possible keys.
        needs_keys: whether every record must have a key.
        secret: the office's secret, for record keys derived from ids and for noise by coordinates.
        version: the version label of keys and coordinates.
        spsn: whether a statistic has the same noise in every table.
        perturbs_zeros: whether an empty cell may be published as a non-zero value; batches then include empty cells.
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
        """Return the mechanism for one output, e.g. with a privacy budget split over its tables."""

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return the published values of these cells."""

    def described(self) -> dict[str, Any]:
        """Return the fields of a record that describe the noise."""


@dataclass(frozen=True, kw_only=True)
class MechanismFlags:
    """The command-line flags of a mechanism and its noise.

    Attributes:
        secret: a function that reads the office's secret; called only if the mechanism can use one.
        law: the noise distribution.
        ptable: a file with a p-table, instead of a noise distribution.
        key_mode: the mode of cell keys, `mixed` or `plain`.
        version_label: the version label of keys and coordinates.
        budget: a file that splits a privacy budget over tables.
        spsn: whether a statistic has the same noise in every table, for mechanisms that allow both.
        perturb_zeros: whether empty cells are also perturbed.
        from_ids: whether record keys are derived from ids.
        parameters: the parameters of the distribution that were given.
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
        """Return the version label; 1 if none was given."""
        return "1" if self.version_label is None else self.version_label

    def noise(self) -> NoiseByCount:
        """Return the noise; a p-table is solved with or without noise on empty cells."""
        zeros = bool(self.perturb_zeros)
        geometric = self.law is None and self.parameters.get("epsilon") is not None
        if self.ptable is None and (geometric or self.law not in {None, MaxEntropy.name}):
            return noise_by_count(noise_named(self.law, **self.parameters), perturb_zeros=zeros)
        return noise_by_count(noise_named(self.law, ptable=self.ptable, perturb_zeros=zeros or None, **self.parameters))

    def office_secret(self, *, needed: bool) -> bytes | None:
        """Return the office's secret; raise SecretError if it is needed and missing."""
        secret = self.secret()
        if secret is None and needed:
            raise SecretError(
                "The secret is missing. Give --secret-file or set DISCREET_SECRET. Create: `discreet keys new FILE`."
            )
        return secret


class DescribedMechanism(Protocol):
    """The fields of a release record that describe a reproducible mechanism."""

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
    """The class attributes of a mechanism that records and commands look up by its name.

    Attributes:
        name: the name in records and on the command line.
        needs_keys: whether every record must have a key.
        shares_noise: the fixed value of `spsn`; None if the user can choose it.
        same_noise_by: the property that cells with the same noise share: `participants`, `coordinates`, or `nothing`.
        repeatable: whether the noise depends only on the data and the secret.
        laws: the names of the noise distributions that the mechanism supports; empty if it supports all.
        flags: the mechanism-specific command-line flags that it uses.
        public_method: a public description of the method, appended to the statement that noise is added.
    """

    name: ClassVar[str]
    needs_keys: ClassVar[bool] = False
    shares_noise: ClassVar[bool | None] = True
    same_noise_by: ClassVar[str] = "nothing"
    repeatable: ClassVar[bool] = False
    laws: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[tuple[str, ...]] = ()
    public_method: ClassVar[str] = ""

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - only a budget uses the output
        """Return itself."""
        return self

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Mechanism:  # noqa: ARG003 - a user-defined mechanism may have no flags
        """Return the mechanism specified by command-line flags."""
        what = f"The mechanism {cls.name} has no flags. Create it in Python and pass it to discreet.protect."
        raise ParameterError(what, parameter="mechanism")

    @classmethod
    def from_record(cls, record: DescribedMechanism, secret: bytes | None) -> Mechanism:  # noqa: ARG003
        """Return the mechanism described by a record, the inverse of `described`; for reproducible mechanisms."""
        raise InternalError(f"The mechanism {cls.name} is not reproducible.")


class CountNoiseMechanism(RegisteredMechanism):
    """A mechanism whose noise may depend on the true count.

    Subclasses are frozen dataclasses with these fields.

    Attributes:
        noise: a p-table, or one distribution for every count from 1 on.
        perturb_zeros: whether a distribution also perturbs empty cells; a p-table defines this itself.
    """

    noise: NoiseByCount | Noise
    perturb_zeros: bool | None

    def __post_init__(self) -> None:
        noise = noise_by_count(self.noise, perturb_zeros=self.perturb_zeros)
        if not noise.varies_by_count and isinstance(noise.large, MaxEntropy):
            # A record uses the same name for the p-table, in which small counts have other distributions.
            raise ParameterError(
                "MaxEntropy is the noise distribution of large counts only. Use PTable.max_entropy("
                f"variance={noise.large.variance:g}, bound={noise.large.bound}), which also defines small counts.",
                parameter="noise",
            )
        object.__setattr__(self, "noise", noise)
        # A p-table defines this itself. None lets `dataclasses.replace` substitute another p-table.
        object.__setattr__(self, "perturb_zeros", None if noise.varies_by_count else noise.perturbs_zeros)

    @property
    def by_count(self) -> NoiseByCount:
        """Return the noise distribution by true count."""
        return noise_by_count(self.noise)

    @property
    def perturbs_zeros(self) -> bool:
        """Return whether a true 0 may be published as a non-zero value."""
        return self.by_count.perturbs_zeros


MECHANISMS: Registry[type[RegisteredMechanism]] = Registry(
    "discreet.mechanisms",
    "mechanism",
    order=("cell-key", "coordinates", "fresh", "eps-dp", "exact"),
    base=RegisteredMechanism,
)
"""All output mechanisms by name; users register their own in the same way."""
