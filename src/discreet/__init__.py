"""Discreet noise for discrete counts.

The public names of the package. Each is imported on first access. Inside the package, import from the module that
defines the name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.accuracy.area_counts import load_areas as load_areas
    from discreet.accuracy.noisy_counts import count_difference as count_difference
    from discreet.accuracy.noisy_counts import count_mean as count_mean
    from discreet.accuracy.noisy_counts import count_ratio as count_ratio
    from discreet.accuracy.noisy_counts import count_share as count_share
    from discreet.accuracy.release_utility import utility as utility
    from discreet.accuracy.small_areas import small_areas as small_areas
    from discreet.attacks.attack_run import attack as attack
    from discreet.calibration.comparison import compare as compare
    from discreet.calibration.noise_design import design as design
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import InputError as InputError
    from discreet.errors import ReleaseWarning as ReleaseWarning
    from discreet.mechanisms.cell_key import CellKey as CellKey
    from discreet.mechanisms.coordinates import Coordinates as Coordinates
    from discreet.mechanisms.eps_dp import EpsDP as EpsDP
    from discreet.mechanisms.exact import Exact as Exact
    from discreet.mechanisms.fresh import Fresh as Fresh
    from discreet.mechanisms.privacy_budget import Budget as Budget
    from discreet.noise.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from discreet.noise.distribution import Noise as Noise
    from discreet.noise.formats.ptable_files import read_ptable as read_ptable
    from discreet.noise.formats.ptable_files import write_ptable as write_ptable
    from discreet.noise.gaussian import Gaussian as Gaussian
    from discreet.noise.geometric import TwoSidedGeometric as TwoSidedGeometric
    from discreet.noise.laplace import Laplace as Laplace
    from discreet.noise.max_entropy import MaxEntropy as MaxEntropy
    from discreet.noise.ptable import PTable as PTable
    from discreet.noise.ptable import ptable as ptable
    from discreet.noise.random_bits import SeededBits as SeededBits
    from discreet.noise.random_bits import SystemBits as SystemBits
    from discreet.noise.truncated import Truncated as Truncated
    from discreet.noise.truncated import TruncatedGaussian as TruncatedGaussian
    from discreet.noise.truncated import TruncatedLaplace as TruncatedLaplace
    from discreet.noise.uniform import Uniform as Uniform
    from discreet.paper.reproduction import reproduce_paper as reproduce_paper
    from discreet.programme.model import Programme as Programme
    from discreet.programme.programme_files import load_programme as load_programme
    from discreet.protection.dry_run import estimate as estimate
    from discreet.protection.pipeline import protect as protect
    from discreet.protection.repetition import verify as verify
    from discreet.records.secret import read_secret as read_secret
    from discreet.release.formats.conversion import convert as convert
    from discreet.release.record import Record as Record
    from discreet.release.release import Release as Release
    from discreet.release.release import open_release as open_release
    from discreet.reports.release_report import report as report
    from discreet.results import Result as Result
    from discreet.risk.assessment import assess as assess
    from discreet.risk.composition import compose as compose
    from discreet.risk.epsilon_delta import delta_at as delta_at
    from discreet.risk.epsilon_delta import epsilon_at as epsilon_at
    from discreet.risk.reconstruction import Reidentification as Reidentification
    from discreet.synthetic.synthetic_census import synth as synth

HOMES = {
    "Budget": "mechanisms.privacy_budget",
    "CellKey": "mechanisms.cell_key",
    "Coordinates": "mechanisms.coordinates",
    "DiscreetError": "errors",
    "DiscreteGaussian": "noise.discrete_gaussian",
    "EpsDP": "mechanisms.eps_dp",
    "Exact": "mechanisms.exact",
    "Fresh": "mechanisms.fresh",
    "Gaussian": "noise.gaussian",
    "InputError": "errors",
    "Laplace": "noise.laplace",
    "MaxEntropy": "noise.max_entropy",
    "Noise": "noise.distribution",
    "PTable": "noise.ptable",
    "Programme": "programme.model",
    "Record": "release.record",
    "Reidentification": "risk.reconstruction",
    "Release": "release.release",
    "ReleaseWarning": "errors",
    "Result": "results",
    "SeededBits": "noise.random_bits",
    "SystemBits": "noise.random_bits",
    "Truncated": "noise.truncated",
    "TruncatedGaussian": "noise.truncated",
    "TruncatedLaplace": "noise.truncated",
    "TwoSidedGeometric": "noise.geometric",
    "Uniform": "noise.uniform",
    "assess": "risk.assessment",
    "attack": "attacks.attack_run",
    "compare": "calibration.comparison",
    "compose": "risk.composition",
    "convert": "release.formats.conversion",
    "count_difference": "accuracy.noisy_counts",
    "count_mean": "accuracy.noisy_counts",
    "count_ratio": "accuracy.noisy_counts",
    "count_share": "accuracy.noisy_counts",
    "delta_at": "risk.epsilon_delta",
    "design": "calibration.noise_design",
    "epsilon_at": "risk.epsilon_delta",
    "estimate": "protection.dry_run",
    "load_areas": "accuracy.area_counts",
    "load_programme": "programme.programme_files",
    "open_release": "release.release",
    "protect": "protection.pipeline",
    "ptable": "noise.ptable",
    "read_ptable": "noise.formats.ptable_files",
    "read_secret": "records.secret",
    "report": "reports.release_report",
    "reproduce_paper": "paper.reproduction",
    "small_areas": "accuracy.small_areas",
    "synth": "synthetic.synthetic_census",
    "utility": "accuracy.release_utility",
    "verify": "protection.repetition",
    "write_ptable": "noise.formats.ptable_files",
}
"""The module that defines each public name."""

__all__ = [*HOMES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name == "__version__":
        from importlib.metadata import version

        return version("discreet")
    if name not in HOMES:
        raise AttributeError(f"discreet has no attribute {name!r}. Public names: {', '.join(HOMES)}.")
    found = globals()[name] = getattr(import_module(f"discreet.{HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *HOMES]
