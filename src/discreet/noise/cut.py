"""What publishing 0 for everything negative does to the mean of a count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

NEGLIGIBLE = 1e-12
"""Tail probability from which on the sum is not continued."""


def cut_bias(law: Noise | None, count: int) -> float:
    """Return E[max(0, n + X)] - n = sum over m > n of P(X <= -m); 0 without noise.

    >>> from discreet.noise.uniform import Uniform
    >>> cut_bias(Uniform(bound=2), 1)
    0.2
    """
    if law is None:
        return 0.0
    edge = count + 1
    while float(law.cdf(-edge)) > NEGLIGIBLE:
        edge *= 2
    return float(np.sum(law.cdf(-np.arange(count + 1, edge + 1))))
