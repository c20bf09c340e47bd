"""What an output mechanism can do: turn counts and keys into what is published, and describe itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Mechanism(Protocol):
    """Decides which noise goes where.

    Attributes:
        name: its name in records and on the command line.
        key_space: K, the number of keys it works with.
        needs_keys: whether every record must have a key.
        secret: the office's secret, for record keys made from ids.
        version: the version label of the record keys.
        perturbs_zeros: whether an empty cell may be published as something else.
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
    def perturbs_zeros(self) -> bool: ...  # noqa: D102

    def publish(self, counts: NDArray[np.int64], keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return what is published for occupied cells with these true counts and cell keys."""

    def publish_empty(self, coordinates: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return what is published for empty cells, each known by a word made of its coordinates."""

    def described(self) -> dict[str, Any]:
        """Return the fields of a record that tell how the noise was made."""
