"""The laws under test: each at the ends of its declared typical range, and stretched by its declared power."""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.parameters import Parameter, parameters, positive_whole
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.truncated import Truncated
from discreet.noise.uniform import Uniform

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

LAWS = DISTRIBUTIONS.all()
INNER = (Gaussian(sigma=1.0), TwoSidedGeometric(epsilon=0.5), Laplace(scale=2.0))
"""Laws to be cut: the bound is the only parameter that Truncated itself declares."""


def label(law: Noise) -> str:
    """Return a short name for the list of tests."""
    return f"row {law.count} of E={law.bound}" if isinstance(law, PTableRow) else repr(law)


def is_whole(declared: Parameter) -> bool:
    """Return whether a parameter takes whole numbers."""
    return declared.domain is positive_whole


def ends(declared: Parameter) -> list[float]:
    """Return the ends of the typical range, whole where the parameter is."""
    return [int(end) if is_whole(declared) else end for end in declared.typical]


def make(kind: type[Noise], values: dict[str, Any], inner: Noise = INNER[0]) -> Noise:
    """Return a law of this kind with these parameters; Truncated is given a law to cut."""
    given = {"law": inner, **values} if kind is Truncated else values
    return cast("Any", kind)(**given)  # type: ignore[no-any-return]  # each kind has parameters of its own


@cache
def symmetric_laws() -> list[Noise]:
    """Return every law of the catalogue at the ends of its typical range."""
    found = []
    for kind in LAWS.values():
        declared = parameters(kind)
        for values in itertools.product(*map(ends, declared.values())):
            chosen = dict(zip(declared, values, strict=True))
            if kind is MaxEntropy and chosen["variance"] >= chosen["bound"] ** 2:
                continue  # V = 4 and E = 2 exclude each other
            inner = INNER if kind is Truncated else INNER[:1]
            found += [make(kind, chosen, law) for law in inner]
    return found


@cache
def every_law() -> list[Noise]:
    """Return all laws, with rows of p-tables: laws as well, but lopsided where a count cannot fall far."""
    plain = PTable.max_entropy(variance=2, bound=5)
    above = PTable.max_entropy(variance=3, bound=4, threshold=2)
    return [*symmetric_laws(), *plain.rows[1:], *above.rows[1:4]]


def stretchable_laws() -> list[Noise]:
    """Return the laws whose noise can be made 30 % wider and 30 % narrower."""
    # The uniform law on -1..1 has no narrower neighbour.
    wide = [law for law in symmetric_laws() if not (isinstance(law, Uniform) and law.bound < 2)]
    return [*wide, Uniform(bound=5)]


def stretched(law: Noise, factor: float) -> list[Noise]:
    """Return the law with its noise stretched by a factor, once for each parameter that can do it.

    A cut law stretches what is cut, and a maximum-entropy law its variance: both keep their bound, which
    alone stretches a uniform law.
    """
    if isinstance(law, Truncated):
        return [dataclasses.replace(law, law=inner) for inner in stretched(law.law, factor)]
    found: list[Noise] = []
    for name, declared in parameters(type(law)).items():
        if name == "bound" and not isinstance(law, Uniform):
            continue
        value = getattr(law, name) * factor**declared.power
        if is_whole(declared):
            value = math.ceil(value) if factor > 1 else math.floor(value)
        found.append(dataclasses.replace(cast("Any", law), **{name: value}))
    return found
