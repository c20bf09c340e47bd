"""Numbers of the paper on risk: averaging, bound disclosure, margins, privacy budgets, parameter setups.

Massive averaging (section 3.3, figure 2 and annex B.3): the success rate of the average of all representations of a
count. The average has variance V k / t^2 and rounds to the true count with probability P(|N(0, V k / t^2)| < 1/2);
Chebyshev's inequality gives the lower bound 1 - 4 V k / t^2.

Bound disclosure (section 3.2 and figure 1): the number of sets of women, men and total that disclose the bound, over
the plane of variance and bound; m = ceil(log(1 - alpha) / log(1 - p1)).

Exploitation of margins (section 3.2): sets of women, men and total whose published counts determine the true counts. A
set is disclosed with certainty if all three noise terms are at the bound, with probability 2 p_E^3; the paper uses the
larger probability p1 of an extreme gap instead.

Privacy budgets (sections 2.4 and 3.1, and epsilon-DP in section 3.3): the noise that strict epsilon needs in one
output, and the conditions under which unbounded noise does not protect.

Parameter setups (section 4.1): the budgets of the US census 2020, and the truncated distributions of Rinott et al.
(2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import success, success_rates
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.truncated import truncated_gaussian_for, truncated_laplace_for
from discreet.noise.uniform import Uniform
from discreet.paper.number_comparison import DRAW, PROGRAMME, number
from discreet.paper.paper_inputs import COUNTRIES, KEPT, RULES, histogram
from discreet.paper.published_numbers import PUBLISHED, SMALLEST, SMALLEST_FRESH, TABLE_1, TUPLES, US_GLOBAL
from discreet.programme.lattice import lattice
from discreet.risk.averaging import averaging, epsilon_allowed, variance_needed
from discreet.risk.bound_disclosure import bound_disclosure, disclosure_at, largest_variance
from discreet.risk.margin_exploitation import forced_truth, forced_tuples
from discreet.risk.reconstruction import epsilon_of_reconstruction, exponential_attack
from discreet.risk.sensitivity import laplace_scale
from discreet.verdicts import ONE_SIGMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discreet.arrays import Floats
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.paper_inputs import Sources

SAMPLES, TERMS, REPRESENTATIONS = 1000, 1000, 100
"""The paper's test of the Gaussian model: samples, k and t."""
AGE_GROUPS = "AGE.M"
RIGHT = 0.5
"""Averages with an error below this round to the true count."""
STEPS = 61
PARAMETERS = ("V", "eps")


def averaging_numbers(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
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
    """Return P(|sum of k noise terms| / t < 1/2), by Fourier transform of the exact distribution."""
    bound = int(law.bound)
    width = 2 * bound * terms + 1
    transformed = np.fft.rfft(law.pmf(np.arange(-bound, bound + 1)), width)
    total = np.fft.irfft(transformed**terms, width)
    values = np.arange(width) - bound * terms
    return float(total[np.abs(values) < RIGHT * representations].sum())


@dataclass(frozen=True, eq=False)
class AveragingMap:
    """The success rate of an average over a noise parameter and k / t^2.

    Attributes:
        parameter: `V` or `eps`.
        values: the values of the parameter.
        ratios: the values of k / t^2.
        success: the success rate by ratio and value.
        gaussian: for every value the ratio at which the success rate equals the confidence.
        chebyshev: the same for Chebyshev's lower limit.
        confidence: the confidence.
        levels: by label, the smallest known ratios.
        decisive: the ratio that determines the parameter.
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
        """Return the parameter at which the success rate of a ratio equals the confidence."""
        return (variance_needed if self.parameter == "V" else epsilon_allowed)(ratio, self.confidence)


def published_maps() -> tuple[AveragingMap, ...]:
    """Return figure 2 with the published ratios: with SPSN for the variance, without SPSN for epsilon."""
    levels = {f"{SMALLEST}, with SPSN": SMALLEST, f"{SMALLEST_FRESH}, without": SMALLEST_FRESH}
    return averaging_map("V", levels, SMALLEST), averaging_map("eps", levels, SMALLEST_FRESH)


def best_maps(sources: Sources) -> tuple[AveragingMap, ...]:
    """Return figure 2 with the ratios of the programme, for averages and for the optimal linear estimate.

    Variance has the ratios with SPSN, epsilon those without. Levels of one category are merged with the total.
    """
    found = []
    for parameter in PARAMETERS:
        levels = {}
        for rule in RULES:
            for kind, words in (("greedy", "averages"), ("optimal", "optimal estimate")):
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
    """Return one panel; epsilon denotes Laplace noise of variance 2 / eps^2."""
    values = np.linspace(0.5, most_variance, steps) if parameter == "V" else np.linspace(0.05, 1.2, steps)
    variances = values if parameter == "V" else 2 / values**2
    ratios = np.geomspace(0.001, 1, steps)
    return AveragingMap(
        parameter,
        values,
        ratios,
        success_rates(np.outer(ratios, variances)),
        variance_needed(1.0, confidence) / variances,
        RIGHT**2 * (1 - confidence) / variances,
        confidence,
        levels,
        decisive,
    )


VARIANCES = tuple(0.25 * step for step in range(2, 41))
BOUNDS = tuple(range(1, 16))
GRID_TUPLES = 360_000
"""The number of sets that the census grid of Germany adds according to the paper."""
BOTH_TAILS = "both tails of F + M - T, as in the footnote on uniform noise; the text uses one tail, which has half"


def bound_numbers(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    yield number("uniform-chance", bound_disclosure(Uniform(bound=5), tuples=1).chance, "the formula at E = 5")
    yield number("uniform-variance", Uniform(bound=5).variance, "the formula at E = 5")
    example = bound_disclosure(MaxEntropy(variance=2, bound=5), tuples=TUPLES["DE"])
    yield number("tuples-times-chance", example.needed * example.chance, "-log(1 - alpha), 15 % more than 1")
    yield number("extreme-chance", example.chance, BOTH_TAILS)
    wide = bound_disclosure(MaxEntropy(variance=4, bound=10), tuples=TUPLES["DE"])
    yield number("extreme-expected", wide.chance * wide.tuples, f"p1 = {wide.chance:.1e} times 2.8e7 sets")
    for name, country in zip(("tuples", "tuples-least"), COUNTRIES, strict=True):
        for rule in RULES:
            ours, merged = (sources.tuples(country, rule, keep_single=keep) for keep in (True, False))
            note = f"{country} by the rule {rule}, {KEPT}; the paper does not state its rule, which lies between ours"
            apart = f". Without those levels {merged:,}" if merged != ours else ""
            yield number(name, float(ours), note + apart, variant=rule, basis=PROGRAMME)
    yield number("grid-tuples", None, "populated cells of the 1 km2 grid are not in the regulation or our lists")
    yield number("grid-share", 100 * GRID_TUPLES / TUPLES["DE"], "3.6e5 / 2.8e7, both published")
    for country, name in (("DE", "Germany"), ("MT", "Malta")):
        yield number("hidden-from", float(_hidden_from(2.0, TUPLES[country])), _hidden_note(country), variant=name)


def _hidden_from(variance: float, tuples: int) -> int:
    """Return the smallest bound that is not disclosed at a variance."""
    for bound in BOUNDS:
        if variance <= Uniform(bound=bound).variance:
            found = bound_disclosure(MaxEntropy(variance=variance, bound=bound), tuples=tuples)
            if not found.inferable:
                return bound
    return BOUNDS[-1] + 1


def _hidden_note(country: str) -> str:
    found = bound_disclosure(MaxEntropy(variance=2, bound=5), tuples=TUPLES[country])
    verdict = "so that 5 is disclosed" if found.inferable else "so that 5 is not disclosed"
    return f"V = 2, E = 5 needs {found.needed:,} sets; the output has {found.tuples:,} (published), {verdict}"


@dataclass(frozen=True, eq=False)
class BoundMap:
    """The number of sets needed to identify the bound, over the plane of variance and bound.

    Attributes:
        attacker: `gap`, the paper's attacker, or `likelihood`, the attacker with the likelihood of all gaps.
        variances: the columns.
        bounds: the rows.
        needed: the sets by bound and variance; NaN if no distribution with the bound has the variance.
        limits: by country, for every bound the largest variance at which it is not disclosed.
        tuples: by country, the number of published sets.
    """

    attacker: str
    variances: tuple[float, ...]
    bounds: tuple[int, ...]
    needed: Floats
    limits: dict[str, tuple[float, ...]]
    tuples: dict[str, int]


def bound_map(
    attacker: str = "gap",
    *,
    variances: Sequence[float] = VARIANCES,
    bounds: Sequence[int] = BOUNDS,
    tuples: Mapping[str, int] = TUPLES,
) -> BoundMap:
    """Return the map of figure 1, for the paper's attacker or the likelihood attacker."""
    needed = np.full((len(bounds), len(variances)), np.nan)
    for row, bound in enumerate(bounds):
        for column, variance in enumerate(variances):
            if variance <= Uniform(bound=bound).variance:
                needed[row, column] = disclosure_at(variance, bound, tuples=1, attacker=attacker).needed
    limits = {
        country: tuple(largest_variance(bound, tuples=many, attacker=attacker).value for bound in bounds)
        for country, many in tuples.items()
    }
    return BoundMap(attacker, tuple(variances), tuple(bounds), needed, limits, dict(tuples))


ELSEWHERE = "an estimate of another paper; its scenario is not stated"


def margin_numbers(_sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    truth = forced_truth([3, 2], 11, bound=2)
    assert truth  # noqa: S101 - the paper's example is forced
    for name, count in zip(("forced-women", "forced-men", "forced-total"), truth, strict=True):
        yield number(name, float(count))
    law = MaxEntropy(variance=2, bound=5)
    forced, extreme = forced_tuples(law, tuples=TUPLES["DE"]), bound_disclosure(law, tuples=TUPLES["DE"])
    yield number(
        "forced-chance",
        forced.chance,
        f"2 p_E^3, all three noise terms at the bound: the set is disclosed with certainty. The paper means p1, ours "
        f"{extreme.chance:.2g}: the probability that a gap discloses the bound, which does not yet disclose the "
        "counts. Counts above the bound; small counts force more patterns",
    )
    yield number(
        "removed-tuples",
        extreme.chance * extreme.tuples,
        f"p1 times 2.8e7 at V = 2, E = 5; {forced.expected:.2g} are expected to be disclosed with certainty",
    )
    yield number("risk-of-others-most", None, ELSEWHERE)
    yield number("risk-of-others-least", None, ELSEWHERE)


TENTH = 10
LEAST_EPSILON, MOST_EPSILON = 1, 10
ENDS = {True: "the smaller t with the larger epsilon", False: "the larger t with the smaller epsilon"}
"""The combination that gives the minimum (with SPSN) and the maximum (without) of the noise."""


def privacy_numbers(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    yield number(
        "records-wrong",
        float(exponential_attack(1000, 5).value),
        "with E = 5, of 1,000 records, if all counts were published",
    )
    # The budget of the i-th query is 1 / 2^i.
    yield number("halving-noise", laplace_scale(2.0**-TENTH, 1).value * math.sqrt(2), "sqrt(2) 2^10 persons")
    total = averaging(lattice(histogram("SEX"))).t[0]
    yield number("sensitivity-with-total", float(total), "one person is in one category and in the total")
    yield number("reconstruction-epsilon", epsilon_of_reconstruction(10**6, 0.99).value)
    for name, epsilon, spsn in (
        ("global-noise-least", MOST_EPSILON, True),
        ("global-noise-most", LEAST_EPSILON, False),
    ):
        published = int(TABLE_1["total"][0 if spsn else 1][0])
        yield number(
            name, _deviation(epsilon, published), f"{ENDS[spsn]}; sqrt(2) {published} / {epsilon}, the paper's t"
        )
        for rule in RULES:
            found = sources.averaging("DE", rule, spsn=spsn, keep_single=True)
            t = int(found.t[found.names.index("total")])
            note = f"{ENDS[spsn]}; sqrt(2) {t} / {epsilon}, t of the total as the rule {rule} counts it, {KEPT}"
            yield number(name, _deviation(epsilon, t), note, variant=rule, basis=PROGRAMME)
    yield number("us-reconstructed", None, "the result of an attack on records that are not public")


def _deviation(epsilon: float, statistics: int) -> float:
    return math.sqrt(2) * laplace_scale(epsilon, statistics).value


PERSON_TABLES, GEOGRAPHIES = 0.675, 6
"""The share of a level's budget for tables of persons, and the geographic levels that share the whole."""
ROUNDED_SHARE = 0.1
"""The paper's rounded share."""
RINOTT = ((0.5, 8e-3), (1.5, 2e-5))
"""Epsilon and delta of one count, the larger epsilon with the smaller delta."""
OTHERWISE = ((0.5, 2e-5), (1.5, 8e-3))


def setting_numbers(_sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    share = PERSON_TABLES / GEOGRAPHIES
    yield number("us-share", 100 * share, "67.5 % / 6 is 11.25 %; the paper continues with 10 %")
    for budget in US_GLOBAL:
        epsilon = ROUNDED_SHARE * budget
        variance = 2 / epsilon**2
        discrete = TwoSidedGeometric(epsilon=epsilon).variance
        note = f"2 / eps^2 of the Laplace distribution; the two-sided geometric distribution in use has {discrete:.4g}"
        by_construction = f"10 % of {budget:g}, which agrees by construction; with 11.25 % it is {share * budget:.3g}"
        yield number(f"us-epsilon-{budget:g}", epsilon, by_construction)
        yield number(f"us-variance-{budget:g}", variance, note)
        yield number(f"us-deviation-{budget:g}", math.sqrt(variance), f"square root of {variance:g}")
    bounds, others = (
        [law(*setting).bound for law in (truncated_laplace_for, truncated_gaussian_for) for setting in settings]
        for settings in (RINOTT, OTHERWISE)
    )
    pairs = (
        "epsilon 0.5 with delta 8e-3 and epsilon 1.5 with delta 2e-5, Laplace and Gaussian; paired the other way the "
        f"bounds are {min(others)} to {max(others)}"
    )
    yield number("rinott-least-bound", float(min(bounds)), pairs)
    yield number("rinott-largest-bound", float(max(bounds)), pairs)
