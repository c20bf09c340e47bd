"""What an output mechanism can do: turn counts into what is published, and describe itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.arrays import Ints, Words
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
