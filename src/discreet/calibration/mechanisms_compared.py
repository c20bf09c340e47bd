"""Mechanisms that are compared, at equal variance or at equal risk.

Laws of noise with a variance that is asked for: the one parameter that says how wide a law is, found by bisection.

A law declares for each parameter how it grows when the noise is stretched (`power`); every law that does so can be
calibrated, without a word about it here.

Mechanisms that are compared: by name, each with the noise that gives a large count the variance asked for.

A name is a mechanism (`fresh`), a law (`geometric`), or both (`fresh:geometric`). A mechanism alone has its usual
noise, a law alone the mechanism that gives the same participants the same noise. Whatever `protect` knows by name can
be compared; only what is told by a privacy budget has to say here what variance it makes of it.
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
"""Relative width of the bracket at which a parameter is taken as found."""
WIDEST = 1e9
"""How far from 1 a parameter is looked for, either way."""


def with_variance(law: str, variance: float, bound: int) -> dict[str, float]:
    """Return the parameters with which a law has a variance; a law that can be bounded has the bound.

    Of a law that is told by its bound alone, such as the uniform one, the bound whose variance is nearest.

    >>> with_variance("laplace", 2.0, 5).keys()
    dict_keys(['scale'])
    """
    if law not in distribution_names():
        raise UnknownNameError.among("law", law, distribution_names())
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
    # A law that is told by its variance has the largest one; others only come near it.
    if given and (variance > most or (variance == most and width != VARIANCE)):
        raise ParameterError(
            f"The law {law} within bound {bound} has a variance below {most:.3g}, that of all noises equally likely; "
            f"{variance:g} is asked for. Give a larger bound.",
            parameter=BOUND,
        )
    if width == VARIANCE:
        return {VARIANCE: variance, **given}

    def variance_at(value: float) -> float:
        return DISTRIBUTIONS.get(law)(**{width: value, **given}).variance

    return {width: _bisected(variance_at, variance, falling=declared[width].power < 0), **given}


def _nearest(law: str, variance: float) -> int:
    """Return the bound for which the variance is nearest to one, in the ratio; variances grow with the bound."""

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
    """Return the parameter with which the variance is as asked; it rises or falls along the whole way."""
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
"""The law of a mechanism that is named alone."""
WITH_KEYS, WITHOUT_KEYS = "cell-key", "coordinates"
"""Who gets a law that is named alone: the same participants, or, of counts without keys, the same coordinates."""
NOT_COMPARED = ("exact",)
"""What has no noise."""


@dataclass(frozen=True)
class ComparedMechanism:
    """One mechanism that is compared.

    Attributes:
        name: as it was asked for.
        mechanism: who gets which noise.
        law: of the noise.
        ptable: a p-table from a file instead of the law, whatever variance is asked for.
    """

    name: str
    mechanism: str
    law: str
    ptable: Path | None = None

    def at(self, variance: float, bound: int, output: StaticOutput, *, keyed: bool, seed: int) -> Mechanism:
        """Return the mechanism whose noise on a large count has a variance.

        Args:
            variance: of one noise.
            bound: of a law that can be bounded.
            output: what it publishes, for budgets that are split over it.
            keyed: whether records have keys or ids.
            seed: of all that is random, so that a comparison can be run again.
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
    """Return the epsilon of the whole output: that of one count times the counts that a person changes."""
    each = with_variance("geometric", variance, bound)["epsilon"]
    return {"epsilon": each * output.sensitivity(spsn=True)}


BUDGETED: dict[str, Callable[[ComparedMechanism, float, int, StaticOutput], dict[str, Any]]] = {"eps-dp": _budget_flags}
"""Mechanisms that are told by a privacy budget, and what it must be."""
LAW_OF_BUDGETS = "geometric"


def ptable_contender(path: Path, *, keyed: bool) -> ComparedMechanism:
    """Return the p-table of a file as noise of cells with the same participants, or at the same coordinates."""
    return ComparedMechanism(FROM_FILE, WITH_KEYS if keyed else WITHOUT_KEYS, FROM_FILE, path)


def contenders(names: Sequence[str] | None, *, keyed: bool) -> tuple[ComparedMechanism, ...]:
    """Return the mechanisms to compare, all that are known by default.

    >>> [each.mechanism for each in contenders(["cell-key", "geometric", "fresh:laplace"], keyed=True)]
    ['cell-key', 'cell-key', 'fresh']
    """
    asked = list(names) if names is not None else _all(keyed=keyed)
    if not asked:
        raise ParameterError(
            "There is no mechanism to compare. Name some: --mechanisms cell-key,geometric", parameter="mechanisms"
        )
    twice = next((name for number, name in enumerate(asked) if name in asked[:number]), None)
    if twice:
        raise ParameterError(f"{twice} is named twice. Name each mechanism once.", parameter="mechanisms")
    return tuple(_contender(name, keyed=keyed) for name in asked)


def _all(*, keyed: bool) -> list[str]:
    """Return every mechanism with its usual noise, and every other law."""
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
            f"{mechanism} is a law: name the mechanism before it, as in fresh:{mechanism}.", parameter="mechanisms"
        )
    if mechanism not in known:
        raise UnknownNameError.among("mechanism or law to compare", mechanism, [*known, *distribution_names()])
    if MECHANISMS.get(mechanism).needs_keys and not keyed:
        raise ParameterError(
            "Cell keys need a key or an id for every record: give --id or --key, or compare coordinates instead.",
            parameter="mechanisms",
        )
    if mechanism in BUDGETED:
        if law not in {"", LAW_OF_BUDGETS}:
            raise ParameterError(
                f"The mechanism {mechanism} has the law {LAW_OF_BUDGETS}, not {law}.", parameter="mechanisms"
            )
        return ComparedMechanism(name, mechanism, LAW_OF_BUDGETS)
    if colon and law not in distribution_names():
        raise UnknownNameError.among(f"law of {mechanism}", law, distribution_names())
    return ComparedMechanism(name, mechanism, law or USUAL)
