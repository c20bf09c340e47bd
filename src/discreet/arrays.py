"""Array types of the package, and the validation of whole numbers."""

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
    """Return values as int64.

    Raises:
        ParameterError: if a value is not a whole number, or does not fit into 64 bits.

    >>> whole([1.0, 2.0], "counts")
    array([1, 2])
    """
    array = np.asarray(values)
    if array.dtype.kind in "iub" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "ufO":
        # Objects that are not numbers, and numbers beyond 64 bits, lead to the error below.
        with np.errstate(invalid="ignore"), suppress(TypeError, ValueError, OverflowError):
            cast = array.astype(np.int64)
            if np.array_equal(cast, array):
                return cast
    raise ParameterError(f"{name} must be whole numbers.", parameter=name)
