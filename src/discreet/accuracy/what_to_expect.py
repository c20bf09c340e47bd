"""What users can expect of a law of noise before anything is published: no count is known, only its size.

With x the noise of a true count n: the standard deviation of x for large n, P(n + x <= 0) for n = 1, and the smallest
count from which on P(|x| > 0.2 n) <= 0.05.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.distortion import RELATIVE, Tails
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.by_count import LawByCount

RARELY = 0.05
"""How often a count that users rely on may be off."""
LARGEST = 1_000_000
"""The largest count that is asked about."""


def what_to_expect(law: LawByCount) -> list[Result]:
    """Return typical noise, the fate of persons alone, and from which size on counts can be relied on.

    >>> from discreet.noise.by_count import by_count
    >>> from discreet.noise.ptable import PTable
    >>> [round(each.value, 3) for each in what_to_expect(by_count(PTable.max_entropy(variance=2, bound=5)))]
    [1.414, 0.488, 15.0]
    """
    return [_typical(law), _alone(law), _reliable(law)]


def reliable_from(law: LawByCount, relative: float = RELATIVE[0], rarely: float = RARELY) -> int | None:
    """Return the smallest count from which on at most a few are off by more than a share; None if there is none."""
    tails = Tails.of(law)
    # Beyond the reach of the noise nothing is off by as much.
    most = min(math.ceil(law.reach / relative) + 1, LARGEST)
    counts = np.arange(1, most + 1)
    off = tails.beyond(counts, relative).either > rarely
    last = int(counts[off][-1]) if off.any() else 0
    return last + 1 if last < most else None


def _typical(law: LawByCount) -> Result:
    change = law.typical_change
    never = f" and never by more than {law.bound:g}" if math.isfinite(law.bound) else ", and now and then by far more"
    return Result(
        name="typical_noise",
        value=change,
        unit="persons",
        sentence=f"A large count typically changes by about {change:.1f}{never}.",
        equation="sqrt(V + mean^2)",
    )


def _alone(law: LawByCount) -> Result:
    gone = float(Tails.of(law).reaching(np.array([1]), np.array([1])).down[0])
    return Result(
        name="single_person_vanishes",
        value=gone,
        unit="1",
        sentence=f"A person alone in a cell is published as nobody in {gone:.0%} of cases.",
        equation="P(1 + x <= 0)",
    )


def _reliable(law: LawByCount) -> Result:
    found = reliable_from(law)
    said = f"Fewer than 1 count in {1 / RARELY:.0f} is more than {RELATIVE[0]:.0%} off, "
    return Result(
        name="reliable_from",
        value=math.inf if found is None else float(found),
        unit="persons",
        sentence=said + ("at no size that is looked at." if found is None else f"from {found:,} persons on."),
        equation=f"least n with P(|x| > {RELATIVE[0]:g} m) <= {RARELY:g} for all m >= n",
    )
