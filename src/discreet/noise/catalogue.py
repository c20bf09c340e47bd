"""The laws by their names on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.truncated import Truncated
from discreet.noise.truncated_gaussian import TruncatedGaussian
from discreet.noise.truncated_laplace import TruncatedLaplace
from discreet.noise.uniform import Uniform

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

LAWS: dict[str, type[Noise]] = {
    law.name: law
    for law in (
        MaxEntropy,
        TwoSidedGeometric,
        Laplace,
        Gaussian,
        DiscreteGaussian,
        Uniform,
        TruncatedLaplace,
        TruncatedGaussian,
        Truncated,
    )
}
