"""Mechanisms of a comparison, calibrated to equal variance or to equal risk.

The scale parameter of a noise distribution is calibrated to a requested variance by bisection. A distribution declares
for each parameter the power with which it grows when the noise is scaled (`power`). Every distribution that does so can
be calibrated without further code here.

A name is a mechanism (`fresh`), a noise distribution (`geometric`), or both (`fresh:geometric`). A mechanism alone uses
its default distribution. A distribution alone uses the mechanism with consistent noise. All mechanisms that `protect`
accepts by name can be compared; only those with a privacy budget declare here which budget gives a variance.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.by_name import FROM_FILE, distribution_names
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.parameters import parameters, positive_variance, table_bound
from discreet.noise.random_bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.tabulation.static_output import StaticOutput

BOUND = "bound"
VARIANCE = "variance"
CLOSE = 1e-10
"""Relative width of the bracket at which the bisection stops."""
WIDEST = 1e9
"""Largest factor between 1 and a parameter in the search, in either direction."""


def with_variance(law: str, variance: float, bound: int) -> dict[str, float]:
    """Return the parameters that give a noise distribution a variance, and the bound if it can be bounded.

    For a distribution with the bound as its only parameter, such as the uniform one, return the bound whose variance is
    nearest.

    >>> with_variance("laplace", 2.0, 5).keys()
    dict_keys(['scale'])
    """
    if law not in distribution_names():
        raise UnknownNameError.among("noise distribution", law, distribution_names())
    if not positive_variance.contains(variance):
        raise ParameterError.outside("noise", VARIANCE, variance, positive_variance.words, "1 to 10")
    declared = parameters(DISTRIBUTIONS.get(law))
    given: dict[str, float] = {BOUND: bound} if BOUND in declared else {}
    if given and not table_bound.contains(bound):
        raise ParameterError.outside("noise", BOUND, bound, table_bound.words, "2 to 10")
    width = next((name for name, each in declared.items() if name != BOUND and each.power), None)
    if width is None:
        return {BOUND: _nearest(law, variance)}
    most = bound * (bound + 1) / 3
    # A distribution with a variance parameter can reach the maximum variance; others only approach it.
    if given and (variance > most or (variance == most and width != VARIANCE)):
        raise ParameterError(
            f"The noise distribution {law} with bound {bound} has a variance below {most:.3g}, that of uniform noise. "
            f"The requested variance is {variance:g}. Give a larger bound.",
            parameter=BOUND,
        )
    if width == VARIANCE:
        return {VARIANCE: variance, **given}

    def variance_at(value: float) -> float:
        return DISTRIBUTIONS.get(law)(**{width: value, **given}).variance

    return {width: _bisected(variance_at, variance, falling=declared[width].power < 0), **given}


def _nearest(law: str, variance: float) -> int:
    """Return the bound whose variance has the ratio to `variance` nearest to 1; variances grow with the bound."""

    def variance_at(bound: int) -> float:
        return DISTRIBUTIONS.get(law)(**{BOUND: bound}).variance

    low, high = 1, 2
    while variance_at(high) < variance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if variance_at(middle) < variance else (low, middle)
    return min((low, high), key=lambda each: abs(math.log(variance_at(each) / variance)))


def _bisected(variance_at: Callable[[float], float], variance: float, *, falling: bool) -> float:
    """Return the parameter that gives a variance, which is a monotone function of the parameter."""
    low, high = 1.0, 1.0
    while (variance_at(low) < variance) == falling and low > 1 / WIDEST:
        low /= 2
    while (variance_at(high) > variance) == falling and high < WIDEST:
        high *= 2
    while high / low > 1 + CLOSE:
        middle = math.sqrt(low * high)
        below = variance_at(middle) < variance
        low, high = (low, middle) if below == falling else (middle, high)
    return math.sqrt(low * high)


USUAL = "max-entropy"
"""The default noise distribution of a mechanism."""
WITH_KEYS, WITHOUT_KEYS = "cell-key", "coordinates"
"""The mechanism of a distribution given alone: consistent by participants, or by coordinates for data without keys."""
NOT_COMPARED = ("exact",)
"""Mechanisms without noise."""


@dataclass(frozen=True)
class ComparedMechanism:
    """One mechanism of a comparison.

    Attributes:
        name: the name as requested.
        mechanism: the name of the mechanism.
        law: the name of the noise distribution.
        ptable: the file of a p-table, used instead of the distribution at any requested variance; None for none.
    """

    name: str
    mechanism: str
    law: str
    ptable: Path | None = None

    def at(self, variance: float, bound: int, output: StaticOutput, *, keyed: bool, seed: int) -> Mechanism:
        """Return the mechanism, calibrated to a variance of the noise of large counts.

        Args:
            variance: the variance of one noise term.
            bound: the bound of a distribution that can be bounded.
            output: the published output, over which a privacy budget is split.
            keyed: whether records have keys or ids.
            seed: the seed of all random numbers, which makes a comparison reproducible.
        """
        try:
            noise = BUDGETED.get(self.mechanism, _law_flags)(self, variance, bound, output)
        except ParameterError as error:
            raise ParameterError(f"{self.name}: {error}", parameter=error.parameter) from error
        made = mechanism_named(
            self.mechanism,
            secret=lambda: hashlib.blake2b(f"compare {seed}".encode()).digest()[:32],
            from_ids=keyed and MECHANISMS.get(self.mechanism).needs_keys,
            **noise,
        )
        if any(field.name == "bits" for field in dataclasses.fields(made)):  # type: ignore[arg-type]
            made = dataclasses.replace(made, bits=SeededBits(seed))  # type: ignore[type-var]
        return made


def _law_flags(contender: ComparedMechanism, variance: float, bound: int, _output: StaticOutput) -> dict[str, Any]:
    if contender.ptable:
        return {"ptable": contender.ptable}
    return {"law": contender.law, **with_variance(contender.law, variance, bound)}


def _budget_flags(_contender: ComparedMechanism, variance: float, bound: int, output: StaticOutput) -> dict[str, Any]:
    """Return the epsilon of the whole output: that of one count times the number of counts that a person changes."""
    each = with_variance("geometric", variance, bound)["epsilon"]
    return {"epsilon": each * output.sensitivity(spsn=True)}


BUDGETED: dict[str, Callable[[ComparedMechanism, float, int, StaticOutput], dict[str, Any]]] = {"eps-dp": _budget_flags}
"""Mechanisms with a privacy budget, and the function that computes it."""
LAW_OF_BUDGETS = "geometric"


def ptable_contender(path: Path, *, keyed: bool) -> ComparedMechanism:
    """Return the p-table of a file as a mechanism with consistent noise, by participants or by coordinates."""
    return ComparedMechanism(FROM_FILE, WITH_KEYS if keyed else WITHOUT_KEYS, FROM_FILE, path)


def contenders(names: Sequence[str] | None, *, keyed: bool) -> tuple[ComparedMechanism, ...]:
    """Return the mechanisms to compare; all available ones by default.

    >>> [each.mechanism for each in contenders(["cell-key", "geometric", "fresh:laplace"], keyed=True)]
    ['cell-key', 'cell-key', 'fresh']
    """
    asked = list(names) if names is not None else _all(keyed=keyed)
    if not asked:
        raise ParameterError(
            "No mechanism to compare is given. Give at least one, as in --mechanisms cell-key,geometric.",
            parameter="mechanisms",
        )
    twice = next((name for number, name in enumerate(asked) if name in asked[:number]), None)
    if twice:
        raise ParameterError(f"{twice} is given twice. Give each mechanism once.", parameter="mechanisms")
    return tuple(_contender(name, keyed=keyed) for name in asked)


def _all(*, keyed: bool) -> list[str]:
    """Return every mechanism with its default noise, and every other noise distribution."""
    kinds = MECHANISMS.all().items()
    mechanisms = [name for name, kind in kinds if name not in NOT_COMPARED and (keyed or not kind.needs_keys)]
    return [*mechanisms, *(law for law in distribution_names() if law != USUAL)]


def _contender(name: str, *, keyed: bool) -> ComparedMechanism:
    mechanism, colon, law = name.partition(":")
    known = [each for each in MECHANISMS.names() if each not in NOT_COMPARED]
    if not colon and mechanism in distribution_names():
        return ComparedMechanism(name, WITH_KEYS if keyed else WITHOUT_KEYS, mechanism)
    if mechanism in distribution_names():
        raise ParameterError(
            f"{mechanism} is a noise distribution. Put the mechanism before it, as in fresh:{mechanism}.",
            parameter="mechanisms",
        )
    if mechanism not in known:
        raise UnknownNameError.among("mechanism or noise distribution", mechanism, [*known, *distribution_names()])
    if MECHANISMS.get(mechanism).needs_keys and not keyed:
        raise ParameterError(
            "Cell keys need a key or an id for every record. Give --id or --key, or compare coordinates instead.",
            parameter="mechanisms",
        )
    if mechanism in BUDGETED:
        if law not in {"", LAW_OF_BUDGETS}:
            raise ParameterError(
                f"The mechanism {mechanism} has the noise distribution {LAW_OF_BUDGETS}, not {law}.",
                parameter="mechanisms",
            )
        return ComparedMechanism(name, mechanism, LAW_OF_BUDGETS)
    if colon and law not in distribution_names():
        raise UnknownNameError.among(f"noise distribution of {mechanism}", law, distribution_names())
    return ComparedMechanism(name, mechanism, law or USUAL)
