"""Zero-concentrated differential privacy: from rho to epsilon and delta.

rho-zCDP bounds E[e^((alpha - 1) loss)] by e^((alpha - 1) alpha rho) for every alpha > 1
(Bun and Steinke 2016, definition 1.1); rho adds up over counts. Both conversions
below hold for any such loss, so their epsilon errs upwards.
"""

from __future__ import annotations

import math


def bun_steinke_epsilon(rho: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho log(1 / delta)) (Bun and Steinke 2016, proposition 1.3)."""
    return rho + 2 * math.sqrt(rho * -math.log(delta))


def cks_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon of Canonne, Kamath and Steinke (2020), corollary 13 solved for epsilon.

    The minimum over alpha > 1 of
    alpha rho + (log(1 / delta) + (alpha - 1) log(1 - 1 / alpha) - log alpha) / (alpha - 1).
    Every alpha gives a valid epsilon: an imprecise minimum errs upwards.

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

    # Near the order sqrt(log(1 / delta) / rho) of the cruder conversion, on the logarithm of alpha - 1.
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
