"""Composition theorems: upper bounds of epsilon and delta for many counts, for comparison with exact composition.

Basic composition adds epsilons and deltas. Advanced composition is theorem 3.20 of Dwork and Roth (2014).
Zero-concentrated differential privacy (zCDP) adds rho: rho-zCDP bounds E[e^((alpha - 1) loss)] by
e^((alpha - 1) alpha rho) for every alpha > 1 (Bun and Steinke 2016, definition 1.1). Both conversions from rho to
epsilon and delta hold for any such loss, so their epsilon is an upper bound. `compose` gives the exact figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.truncated import Truncated
from discreet.noise.uniform import Uniform
from discreet.results import Result
from discreet.risk.neighbouring_counts import EXCESS, ONE_PERSON, SLACK, Neighbours, law_pair
from discreet.risk.sentences import INDEPENDENT, condition, counted_in, guarantee_clause, law_used, upwards

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise


def bun_steinke_epsilon(rho: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho log(1 / delta)) (Bun and Steinke 2016, proposition 1.3)."""
    return rho + 2 * math.sqrt(rho * -math.log(delta))


def cks_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon of Canonne, Kamath and Steinke (2020), corollary 13 solved for epsilon.

    The minimum over alpha > 1 of
    alpha rho + (log(1 / delta) + (alpha - 1) log(1 - 1 / alpha) - log alpha) / (alpha - 1).
    Every alpha gives a valid epsilon: an imprecise minimum overstates epsilon.

    >>> print(f"{cks_epsilon((542 / 339) ** 2, 1e-10):.4f}")
    17.1436
    """
    if rho == 0:
        return 0.0
    from scipy.optimize import minimize_scalar

    def epsilon(log_order: float) -> float:
        above = math.exp(log_order)
        order = 1 + above
        return order * rho + (-math.log(delta) - math.log(order)) / above + math.log(above / order)

    # Near the order sqrt(log(1 / delta) / rho) of the coarser conversion, on the logarithm of alpha - 1.
    middle = math.log(-math.log(delta) / rho) / 2
    best = minimize_scalar(epsilon, bounds=(middle - 5, middle + 5), method="bounded", options={"xatol": 1e-9})
    return max(float(best.fun), 0.0)


def cks_delta(rho: float, epsilon: float) -> float:
    """Return the delta of Canonne, Kamath and Steinke (2020), corollary 13.

    The minimum over alpha > 1 of e^((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1 / alpha)^alpha.
    """
    if rho == 0:
        return 0.0
    from scipy.optimize import minimize_scalar

    def log_delta(log_order: float) -> float:
        above = math.exp(log_order)
        order = 1 + above
        return above * (order * rho - epsilon) - log_order + order * math.log(above / order)

    # (epsilon / rho + 1) / 2 minimises the leading term.
    middle = math.log(max(epsilon / rho - 1, 1e-3) / 2)
    best = minimize_scalar(log_delta, bounds=(middle - 5, middle + 5), method="bounded", options={"xatol": 1e-9})
    return min(math.exp(float(best.fun)), 1.0)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """An epsilon and a delta that a theorem guarantees together, with their conditions.

    Attributes:
        theorem: the name of the theorem in words.
        name: the name of the result.
        equation: the formula of the theorem.
        epsilon: the epsilon, an upper bound.
        delta: the corresponding delta; 1 or more gives no guarantee.
        counts: the number of composed noise terms.
        protected_unit: the protected person or household, in words.
        condition: the condition, as the end of "This holds only if ...".
        assumptions: further assumptions.
    """

    theorem: str
    name: str
    equation: str
    epsilon: float
    delta: float
    counts: int
    protected_unit: str
    condition: str
    assumptions: tuple[str, ...]

    def result(self) -> Result:
        """Return epsilon as a result; the sentence contains delta and the condition."""
        if self.delta >= 1:
            bound = f"gives no guarantee for {self.counts} counts together: its delta reaches {upwards(self.delta)}."
        else:
            values = f"any values of {self.counts} counts together"
            clause = guarantee_clause(values, self.protected_unit, self.epsilon, upwards(self.delta))
            bound = f"guarantees that {clause}."
        return Result(
            name=self.name,
            equation=self.equation,
            value=self.epsilon,
            unit="1",
            sentence=f"{self.theorem} {bound} This holds only if {self.condition}.",
            assumptions=(f"only if {self.condition}", f"delta {upwards(self.delta)}", *self.assumptions),
        )


def basic_composition(
    law: Noise, statistics: int, neighbours: Neighbours = ONE_PERSON, *, slack: float = 0.0
) -> Guarantee:
    """Return (t epsilon_1, t delta_1) with delta_1 = floor + slack / t of a single count (Dwork and Roth 3.16)."""
    EXCESS.check("basic_composition", "slack", slack)
    counts = neighbours.counts(statistics)
    epsilon, delta = _single(law, neighbours, slack / counts)
    return _guarantee(
        law,
        statistics,
        neighbours,
        theorem="Basic composition",
        name="basic_composition",
        equation="(t eps, t delta)",
        epsilon=counts * epsilon,
        delta=counts * delta,
    )


def advanced_composition(
    law: Noise, statistics: int, neighbours: Neighbours = ONE_PERSON, *, slack: float
) -> Guarantee:
    """Return sqrt(2 t log(1 / slack)) epsilon_1 + t epsilon_1 (e^epsilon_1 - 1) with t delta_1 + slack.

    Theorem 3.20 of Dwork and Roth (2014), with epsilon_1 at the floor of a single
    count. For epsilon_1 above about 1 it is worse than basic composition.
    """
    SLACK.check("advanced_composition", "slack", slack)
    counts = neighbours.counts(statistics)
    epsilon, delta = _single(law, neighbours)
    together = math.sqrt(2 * counts * -math.log(slack)) * epsilon + counts * epsilon * math.expm1(epsilon)
    return _guarantee(
        law,
        statistics,
        neighbours,
        theorem="Advanced composition",
        name="advanced_composition",
        equation="eps' = sqrt(2 t log(1 / delta')) eps + t eps (e^eps - 1), delta = t delta_1 + delta'",
        epsilon=together,
        delta=counts * delta + slack,
    )


def concentrated_composition(
    law: Noise, statistics: int, neighbours: Neighbours = ONE_PERSON, *, slack: float, tight: bool = True
) -> Guarantee | None:
    """Return the guarantee of zCDP with delta = floor + slack, or None for a distribution without a known rho.

    zCDP does not allow outcomes that are impossible without the person. For bounded noise
    it covers only the finite losses, and the floor 1 - (1 - p)^t is added to delta.

    Args:
        law: the noise distribution of every count.
        statistics: t, the number of distinct participant sets that contain the person.
        neighbours: the neighbour relation, i.e. the protected person or household.
        slack: delta above the floor.
        tight: convert with Canonne, Kamath and Steinke (2020); else with Bun and Steinke (2016).
    """
    SLACK.check("concentrated_composition", "slack", slack)
    single = rho(law, neighbours.household)
    if single is None:
        return None
    counts = neighbours.counts(statistics)
    convert = cks_epsilon if tight else bun_steinke_epsilon
    floor = law_pair(law, neighbours.household).floor
    delta = -math.expm1(counts * math.log1p(-floor)) + slack if floor < 1 else 1.0
    source = "Canonne, Kamath and Steinke" if tight else "Bun and Steinke"
    return _guarantee(
        law,
        statistics,
        neighbours,
        theorem=f"zCDP (conversion of {source})",
        name="zcdp_tight" if tight else "zcdp",
        equation="rho = t lam (V = sigma^2: t / 2 V), converted to (eps, delta), plus the floor of the bound",
        epsilon=convert(counts * single, slack),
        delta=delta,
    )


def rho(law: Noise, shift: int = 1) -> float | None:
    """Return rho of the finite losses of a distribution against its copy shifted by h, or None if unknown.

    - h^2 / 2 sigma^2 for the Gaussian and the discrete Gaussian (Canonne, Kamath and Steinke 2020, theorem 4).
    - lambda h^2 for exp(-lambda x^2) truncated at a bound, lambda >= 0, without outcomes of infinite loss: there
      sum_x p(x)^a p(x - h)^(1 - a) = e^(lambda h^2 a (a - 1)) sum_x e^(-lambda (x - h (1 - a))^2) / Z, and the sum
      over at most 2 E points one apart never exceeds Z, which has 2 E + 1 points centred at 0.
    - (epsilon h)^2 / 2 if the loss never exceeds epsilon h (Bun and Steinke 2016, proposition 1.4).
    """
    whole = law.law if isinstance(law, Truncated) and isinstance(law.law, DiscreteGaussian) else law
    match whole:
        case MaxEntropy():
            return whole.lam * shift**2 if whole.lam >= 0 else None
        case DiscreteGaussian() | Gaussian():
            return shift**2 / (2 * whole.sigma**2)
        case TwoSidedGeometric():
            return (shift * whole.rate) ** 2 / 2
        case Laplace():
            return (shift / whole.scale) ** 2 / 2
        case Uniform():
            return 0.0
        case _:
            return None


def _single(law: Noise, neighbours: Neighbours, slack: float = 0.0) -> tuple[float, float]:
    """Return epsilon and delta of a single count; delta is the floor plus a slack."""
    pair = law_pair(law, neighbours.household)
    return pair.epsilon(pair.floor + slack), pair.floor + slack


def _guarantee(
    law: Noise,
    statistics: int,
    neighbours: Neighbours,
    *,
    theorem: str,
    name: str,
    equation: str,
    epsilon: float,
    delta: float,
) -> Guarantee:
    return Guarantee(
        theorem=theorem,
        name=name,
        equation=equation,
        epsilon=epsilon,
        delta=delta,
        counts=neighbours.counts(statistics),
        protected_unit=neighbours.protected_unit,
        condition=condition(law, neighbours),
        assumptions=(
            neighbours.assumption,
            counted_in(statistics),
            INDEPENDENT,
            law_used(None),
        ),
    )
