"""Parameters of a noise distribution, declared once: symbol, domain, typical range, effect on the noise.

The declaration feeds the check at construction, the help texts, the tables in the documentation and the values that the
tests try.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Domain:
    """A set of allowed values and the words for it."""

    words: str
    contains: Callable[[Any], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


positive = Domain("a positive number (1e-30 to 1e12)", lambda value: _is_number(value) and 1e-30 <= value <= 1e12)
positive_variance = Domain("a positive number (1e-6 to 1e6)", lambda value: _is_number(value) and 1e-6 <= value <= 1e6)
non_negative = Domain("zero or a positive number", lambda value: _is_number(value) and value >= 0)
positive_whole = Domain("a positive whole number", lambda value: _is_whole(value) and value > 0)
non_negative_whole = Domain("zero or a positive whole number", lambda value: _is_whole(value) and value >= 0)
table_bound = Domain("a positive whole number (1 to 500)", lambda value: _is_whole(value) and 1 <= value <= 500)
table_threshold = Domain(
    "zero or a positive whole number (up to 499)", lambda value: _is_whole(value) and 0 <= value <= 499
)
share = Domain("at least 0 and below 1", lambda value: _is_number(value) and 0 <= value < 1)


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter.

    Attributes:
        symbol: the letter used in the formulas.
        domain: the allowed values.
        typical: a typical range; tests use its ends.
        power: the exponent of scaling: noise scaled by a factor f has this parameter times f**power.
        meaning: a phrase for help and documentation.
    """

    symbol: str
    domain: Domain
    typical: tuple[float, float]
    power: float
    meaning: str

    def check(self, owner: str, name: str, value: object) -> None:
        """Raise ParameterError unless the domain contains the value."""
        if not self.domain.contains(value):
            low, high = self.typical
            raise ParameterError.outside(owner, name, value, self.domain.words, f"{low:g} to {high:g}")

    def help(self) -> str:
        """Return one line for a help text.

        >>> from discreet.noise.max_entropy import MaxEntropy
        >>> parameters(MaxEntropy)["bound"].help()
        'E, largest absolute noise; a positive whole number, typically 2 to 10'
        """
        low, high = self.typical
        return f"{self.symbol}, {self.meaning}; {self.domain.words}, typically {low:g} to {high:g}"


def parameter(
    symbol: str,
    *,
    domain: Domain,
    typical: tuple[float, float],
    power: float,
    meaning: str,
    default: Any = dataclasses.MISSING,  # noqa: ANN401 - dataclasses.field takes any default
) -> Any:  # noqa: ANN401 - the field's type is its annotation
    """Declare a parameter as a dataclass field."""
    declared = Parameter(symbol, domain, typical, power, meaning)
    return dataclasses.field(default=default, metadata={"parameter": declared})


def parameters(law: type) -> dict[str, Parameter]:
    """Return the declared parameters of a distribution by name, in order of declaration."""
    fields = dataclasses.fields(law)
    return {field.name: field.metadata["parameter"] for field in fields if "parameter" in field.metadata}


def required(law: type) -> list[str]:
    """Return the names of the declared parameters without a default."""
    return [field.name for field in dataclasses.fields(law) if field.default is dataclasses.MISSING]
