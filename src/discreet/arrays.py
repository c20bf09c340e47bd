"""The array types of the package, and the check where whole numbers enter."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]


def whole(values: ArrayLike, name: str) -> Ints:
    """Return values as int64, or refuse what is not a whole number.

    >>> whole([1.0, 2.0], "counts")
    array([1, 2])
    """
    array = np.asarray(values)
    if array.dtype.kind in "iub" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "ufO":
        # An object that is no number, or one beyond 64 bits, is refused below like every other.
        with np.errstate(invalid="ignore"), suppress(TypeError, ValueError, OverflowError):
            cast = array.astype(np.int64)
            if np.array_equal(cast, array):
                return cast
    raise ParameterError(f"{name} must be whole numbers.", parameter=name)
