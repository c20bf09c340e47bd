"""Discreet noise for discrete counts.

The lobby: what users import. Inside the package, import from the home module.
"""

from importlib.metadata import version

from discreet.design.compare import compare
from discreet.design.experiments import attack
from discreet.design.noise_design import design as design_noise
from discreet.design.paper.reproduce import reproduce_paper
from discreet.errors import DiscreetError, InputError
from discreet.mechanisms.budget import Budget
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.protect import protect
from discreet.noise.bits import SeededBits, SystemBits
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.formats.files import read_ptable, write_ptable
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable, ptable
from discreet.noise.truncated import Truncated
from discreet.noise.truncated_gaussian import TruncatedGaussian
from discreet.noise.truncated_laplace import TruncatedLaplace
from discreet.noise.uniform import Uniform
from discreet.programme.load import load_programme
from discreet.programme.model import Programme
from discreet.release.record import Record
from discreet.release.release import Release, open_release
from discreet.report.write import write_report
from discreet.risk.assess import assess
from discreet.utility.area_files import load_areas
from discreet.utility.measured import utility_of
from discreet.utility.small_areas import small_areas

__version__ = version("discreet")

__all__ = [
    "Budget",
    "CellKey",
    "Coordinates",
    "DiscreetError",
    "DiscreteGaussian",
    "EpsDP",
    "Exact",
    "Fresh",
    "Gaussian",
    "InputError",
    "Laplace",
    "MaxEntropy",
    "PTable",
    "Programme",
    "Record",
    "Release",
    "SeededBits",
    "SystemBits",
    "Truncated",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "TwoSidedGeometric",
    "Uniform",
    "assess",
    "attack",
    "compare",
    "design_noise",
    "load_areas",
    "load_programme",
    "open_release",
    "protect",
    "ptable",
    "read_ptable",
    "reproduce_paper",
    "small_areas",
    "utility_of",
    "write_ptable",
    "write_report",
]
