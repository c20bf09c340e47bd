"""Mechanisms that are compared: by name, each with the noise that gives a large count the variance asked for.

A name is a mechanism (`fresh`), a law (`geometric`), or both (`fresh:geometric`). A mechanism alone has its usual
noise, a law alone the mechanism that gives the same participants the same noise. Whatever `protect` knows by name can
be compared; only what is told by a privacy budget has to say here what variance it makes of it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.calibration.calibration import with_variance
from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.noise_choice import CHOICES
from discreet.noise.random_bits import SeededBits
from discreet.release.record import MECHANISMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.tabulation.output import Output

USUAL = "max-entropy"
"""The law of a mechanism that is named alone."""
WITH_KEYS, WITHOUT_KEYS = "cell-key", "coordinates"
"""Who gets a law that is named alone: the same participants, or, of counts without keys, the same coordinates."""
NOT_COMPARED = ("exact",)
"""What has no noise."""


@dataclass(frozen=True)
class Contender:
    """One mechanism that is compared.

    Attributes:
        name: as it was asked for.
        mechanism: who gets which noise.
        law: of the noise.
    """

    name: str
    mechanism: str
    law: str

    def at(self, variance: float, bound: int, output: Output, *, keyed: bool, seed: int) -> Mechanism:
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
            from_ids=keyed and self.mechanism == WITH_KEYS,
            **noise,
        )
        if any(field.name == "bits" for field in dataclasses.fields(made)):  # type: ignore[arg-type]
            made = dataclasses.replace(made, bits=SeededBits(seed))  # type: ignore[type-var]
        return made


def _law_flags(contender: Contender, variance: float, bound: int, _output: Output) -> dict[str, Any]:
    return {"law": contender.law, **with_variance(contender.law, variance, bound)}


def _budget_flags(_contender: Contender, variance: float, bound: int, output: Output) -> dict[str, Any]:
    """Return the epsilon of the whole output: that of one count times the counts that a person changes."""
    each = with_variance("geometric", variance, bound)["epsilon"]
    return {"epsilon": each * output.sensitivity(spsn=True)}


BUDGETED: dict[str, Callable[[Contender, float, int, Output], dict[str, Any]]] = {"eps-dp": _budget_flags}
"""Mechanisms that are told by a privacy budget, and what it must be."""
LAW_OF_BUDGETS = "geometric"


def contenders(names: Sequence[str] | None, *, keyed: bool) -> tuple[Contender, ...]:
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
    mechanisms = [name for name in MECHANISMS if name not in NOT_COMPARED and (keyed or name != WITH_KEYS)]
    return [*mechanisms, *(law for law in CHOICES if law != USUAL)]


def _contender(name: str, *, keyed: bool) -> Contender:
    mechanism, colon, law = name.partition(":")
    known = [each for each in MECHANISMS if each not in NOT_COMPARED]
    if not colon and mechanism in CHOICES:
        return Contender(name, WITH_KEYS if keyed else WITHOUT_KEYS, mechanism)
    if mechanism in CHOICES:
        raise ParameterError(
            f"{mechanism} is a law: name the mechanism before it, as in fresh:{mechanism}.", parameter="mechanisms"
        )
    if mechanism not in known:
        raise UnknownNameError.among("mechanism or law to compare", mechanism, [*known, *CHOICES])
    if mechanism == WITH_KEYS and not keyed:
        raise ParameterError(
            "Cell keys need a key or an id for every record: give --id or --key, or compare coordinates instead.",
            parameter="mechanisms",
        )
    if mechanism in BUDGETED:
        if law not in {"", LAW_OF_BUDGETS}:
            raise ParameterError(
                f"The mechanism {mechanism} has the law {LAW_OF_BUDGETS}, not {law}.", parameter="mechanisms"
            )
        return Contender(name, mechanism, LAW_OF_BUDGETS)
    if colon and law not in CHOICES:
        raise UnknownNameError.among(f"law of {mechanism}", law, CHOICES)
    return Contender(name, mechanism, law or USUAL)
