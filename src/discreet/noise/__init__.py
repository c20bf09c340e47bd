"""Noise distributions for counts, p-tables, and the key grids that draw from them."""

from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SYSTEM_BITS, SeededBits, SystemBits
from discreet.noise.truncated import Truncated, TruncatedGaussian, TruncatedLaplace
from discreet.noise.uniform import Uniform

__all__ = [
    "DISTRIBUTIONS",
    "SYSTEM_BITS",
    "DiscreteGaussian",
    "Gaussian",
    "Laplace",
    "MaxEntropy",
    "PTable",
    "SeededBits",
    "SystemBits",
    "Truncated",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "TwoSidedGeometric",
    "Uniform",
]
