"""Massive averaging: how often the average of all representations of a count is right.

Section 3.3 of the paper, its figure 2 and annex B.3: the average has variance V k / t^2 and is right with probability
P(|N(0, V k / t^2)| < 1/2); Chebyshev's inequality gives 1 - 4 V k / t^2 at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import chances, success
from discreet.noise.max_entropy import MaxEntropy
from discreet.paper.number_comparison import DRAW, PROGRAMME, number
from discreet.paper.published import PUBLISHED, SMALLEST, SMALLEST_FRESH
from discreet.paper.sources import KEPT, RULES
from discreet.risk.averaging import ONE_SIGMA, epsilon_allowed, variance_needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats
    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

SAMPLES, TERMS, REPRESENTATIONS = 1000, 1000, 100
"""Of the paper's test of the Gaussian model: samples, k and t."""
AGE_GROUPS = "AGE.M"
RIGHT = 0.5
"""Averages this near to the truth round to it."""
STEPS = 61
PARAMETERS = ("V", "eps")


def numbers(sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    for name, published, spsn, limit in (
        ("variance-with-spsn", SMALLEST, True, variance_needed),
        ("epsilon-without-spsn", SMALLEST_FRESH, False, epsilon_allowed),
        ("epsilon-with-spsn", SMALLEST, True, epsilon_allowed),
    ):
        yield number(name, limit(published), f"{limit(published):.3g} from the published ratio {published}")
        for rule in RULES:
            found = sources.smallest(rule, spsn=spsn, keep_single=True)
            note = f"rule {rule}, {KEPT}: smallest k / t^2 {found.ratio:.4f}, {found.statistic} of {found.country}"
            yield number(name, limit(found.ratio), note, variant=rule, basis=PROGRAMME)
    levels = {level.name: level.size for level in sources.programme("DE").topics["AGE"].levels}
    yield number("age-groups", float(levels[AGE_GROUPS]), basis=PROGRAMME)
    yield number("whole-histogram", 100 * 0.68 ** levels[AGE_GROUPS], "if the 21 averages were independent")
    yield number("gaussian-success", 100 * success(2, 0.1))
    for bound in (10, 5):
        share = average_right(MaxEntropy(variance=2, bound=bound))
        spread = (SAMPLES * share * (1 - share)) ** 0.5
        name = f"sampled-bound-{bound}"
        likely = abs(float(PUBLISHED[name].text) - SAMPLES * share) <= 2 * spread
        note = f"expected {SAMPLES * share:.0f} ± {spread:.0f} by exact convolution; the paper's is one draw of 1000"
        yield number(name, SAMPLES * share, note, basis=DRAW, likely=likely)
    yield number("spsn-gain", SMALLEST / SMALLEST_FRESH, "0.0867 / 0.0118")
    for rule in RULES:
        with_spsn, without = (sources.smallest(rule, spsn=spsn, keep_single=True).ratio for spsn in (True, False))
        note = f"rule {rule}, {KEPT}: {with_spsn:.4f} / {without:.4f}"
        yield number("spsn-gain", with_spsn / without, note, variant=rule, basis=PROGRAMME)


def average_right(law: MaxEntropy, terms: int = TERMS, representations: int = REPRESENTATIONS) -> float:
    """Return P(|sum of k noises| / t < 1/2), by Fourier transform of the exact law."""
    bound = int(law.bound)
    width = 2 * bound * terms + 1
    transformed = np.fft.rfft(law.pmf(np.arange(-bound, bound + 1)), width)
    total = np.fft.irfft(transformed**terms, width)
    values = np.arange(width) - bound * terms
    return float(total[np.abs(values) < RIGHT * representations].sum())


@dataclass(frozen=True, eq=False)
class AveragingMap:
    """How often an average is right, over a noise parameter and k / t^2.

    Attributes:
        parameter: `V` or `eps`.
        values: of the parameter.
        ratios: of k / t^2.
        success: by ratio and value.
        gaussian: for every value the ratio at which the success is the confidence.
        chebyshev: the same for Chebyshev's lower limit.
        confidence: which.
        levels: by label, the smallest ratios that are known.
        decisive: the one of them that the parameter must hold.
    """

    parameter: str
    values: Floats
    ratios: Floats
    success: Floats
    gaussian: Floats
    chebyshev: Floats
    confidence: float
    levels: dict[str, float]
    decisive: float

    def meets(self, ratio: float) -> float:
        """Return the parameter at which a ratio is right in as many cases as the confidence says."""
        return (variance_needed if self.parameter == "V" else epsilon_allowed)(ratio, self.confidence)


def published_maps() -> tuple[AveragingMap, ...]:
    """Return figure 2 with the published ratios: variance holds the one with SPSN, epsilon the one without."""
    levels = {f"{SMALLEST}, with SPSN": SMALLEST, f"{SMALLEST_FRESH}, without": SMALLEST_FRESH}
    return averaging_map("V", levels, SMALLEST), averaging_map("eps", levels, SMALLEST_FRESH)


def best_maps(sources: Sources) -> tuple[AveragingMap, ...]:
    """Return the same with the ratios of the programme, of averages and of the best linear estimate.

    Variance has the ratios with SPSN, epsilon those without. Levels of one category are merged with the total.
    """
    found = []
    for parameter in PARAMETERS:
        levels = {}
        for rule in RULES:
            for kind, words in (("greedy", "averages"), ("optimal", "best estimate")):
                ratio = sources.smallest(rule, spsn=parameter == "V", keep_single=False, attacker=kind).ratio
                levels[f"{ratio:.4f}, {rule}, {words}"] = ratio
        found.append(averaging_map(parameter, levels, min(levels.values()), most_variance=24))
    return tuple(found)


def averaging_map(
    parameter: str,
    levels: dict[str, float],
    decisive: float,
    *,
    most_variance: float = 8,
    steps: int = STEPS,
    confidence: float = ONE_SIGMA,
) -> AveragingMap:
    """Return one panel; epsilon stands for Laplace noise of variance 2 / eps^2."""
    values = np.linspace(0.5, most_variance, steps) if parameter == "V" else np.linspace(0.05, 1.2, steps)
    variances = values if parameter == "V" else 2 / values**2
    ratios = np.geomspace(0.001, 1, steps)
    return AveragingMap(
        parameter,
        values,
        ratios,
        chances(np.outer(ratios, variances)),
        variance_needed(1.0, confidence) / variances,
        RIGHT**2 * (1 - confidence) / variances,
        confidence,
        levels,
        decisive,
    )
