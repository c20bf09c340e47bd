"""A goodness-of-fit test with power: it accepts a law and rejects the same law stretched by 30 %.

Pearson's chi-square over bins of neighbouring values, each expected at least
`LEAST_EXPECTED` times; the outer bins reach to infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.noise.distribution import Noise

ACCEPT = 1e-6
"""A sample of the law itself has a p-value above this (seeded samples always do)."""

REJECT = 1e-12
"""A sample of another law has a p-value below this."""

LEAST_EXPECTED = 20


def p_value(sample: Ints, law: Noise) -> float:
    """Return the p-value of the hypothesis that the sample was drawn from the law."""
    if (law.pmf(sample) == 0).any():
        return 0.0
    size = len(sample)
    low, high = law.quantile([1 / size, 1 - 1 / size]).tolist()
    low, high = min(low, int(sample.min())), max(high, int(sample.max()))
    values = np.arange(low, high + 1)
    expected = size * law.pmf(values)
    expected[0], expected[-1] = size * law.cdf(low), size * (1 - law.cdf(high - 1))
    return chi_square(np.bincount(sample - low, minlength=len(values)), expected)


def chi_square(observed: Ints, expected: Floats) -> float:
    """Return the p-value of counts against their expectation, neighbours pooled."""
    pooled: list[tuple[float, float]] = []
    seen = wanted = 0.0
    for count, mean in zip(observed.tolist(), expected.tolist(), strict=True):
        seen, wanted = seen + count, wanted + mean
        if wanted >= LEAST_EXPECTED:
            pooled.append((seen, wanted))
            seen = wanted = 0.0
    # The rest of the upper tail is added to the last full bin.
    last_seen, last_wanted = pooled[-1]
    pooled[-1] = (last_seen + seen, last_wanted + wanted)
    statistic = sum((count - mean) ** 2 / mean for count, mean in pooled)
    return float(chi2.sf(statistic, len(pooled) - 1))
