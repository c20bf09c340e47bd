"""Noise by name: a p-table, one from a file, or a law with its parameters and no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import InfeasibleError, InputError, ParameterError, PTableFileError, UnknownNameError
from discreet.noise.by_name import distribution_names, noise_named
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.truncated import TruncatedGaussian, TruncatedLaplace, truncated_gaussian_for
from discreet.noise.uniform import Uniform
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.distribution import Noise

PTABLE = PTable.max_entropy(variance=2, bound=5)
ABOVE_ONE = PTable.max_entropy(variance=3, bound=4, threshold=1)
ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
UNKNOWN = "There is no parameter of the noise distribution geometric"


@each(
    ("law", "parameters", "noise"),
    [
        (None, {"variance": 2, "bound": 5}, PTABLE),
        (None, {"variance": 2, "bound": 5, "key_space": 256}, PTABLE.on_grid(256)),
        ("max-entropy", {"variance": 3, "bound": 4, "threshold": 1}, ABOVE_ONE),
        (None, {"variance": 2, "bound": 5, "perturb_zeros": True}, ZEROS),
        (None, {"epsilon": 0.5}, TwoSidedGeometric(epsilon=0.5)),
        ("geometric", {"epsilon": 2}, TwoSidedGeometric(epsilon=2)),
        ("laplace", {"scale": 2}, Laplace(scale=2)),
        ("gaussian", {"sigma": 1.5}, Gaussian(sigma=1.5)),
        ("discrete-gaussian", {"sigma": 1.5}, DiscreteGaussian(sigma=1.5)),
        ("uniform", {"bound": 4}, Uniform(bound=4)),
        ("truncated-laplace", {"epsilon": 0.5, "bound": 9}, TruncatedLaplace(epsilon=0.5, bound=9)),
        ("truncated-laplace", {"epsilon": 0.5, "delta": 0.008}, TruncatedLaplace(epsilon=0.5, bound=7)),
        ("truncated-gaussian", {"sigma": 3, "bound": 9}, TruncatedGaussian(sigma=3, bound=9)),
        ("truncated-gaussian", {"epsilon": 1.5, "delta": 2e-5}, truncated_gaussian_for(1.5, 2e-5)),
    ],
)  # fmt: skip
def test_noise_is_what_its_name_and_parameters_say(
    law: str | None, parameters: dict[str, Any], noise: PTable | Noise
) -> None:
    # A missing flag has the value None.
    names = ("variance", "bound", "threshold", "perturb_zeros", "epsilon", "delta", "scale", "sigma")
    unset: dict[str, Any] = dict.fromkeys(names)
    assert noise_named(law, **(unset | parameters)) == noise_named(law, **parameters) == noise


def test_every_law_can_be_chosen_but_the_one_made_of_another() -> None:
    assert set(distribution_names()) == set(DISTRIBUTIONS.all()) - {"truncated"}


def test_a_ptable_may_come_from_a_file(tmp_path: Path) -> None:
    write_ptable(PTABLE, tmp_path / "p.toml")
    for nothing in ({}, {"variance": None}, {"perturb_zeros": False}):
        found = noise_named(ptable=tmp_path / "p.toml", **nothing)
        assert isinstance(found, PTable)
        assert [row.values for row in found.rows] == [row.values for row in PTABLE.rows]
    with pytest.raises(PTableFileError, match=r"q\.toml"):
        noise_named(ptable=tmp_path / "q.toml")


@pytest.mark.parametrize(
    ("law", "given", "flag"),
    [("geometric", {}, "law"), (None, {"variance": 2}, "variance"), (None, {"perturb_zeros": True}, "perturb-zeros")],
)
def test_a_ptable_from_a_file_says_its_noise_itself(
    law: str | None, given: dict[str, Any], flag: str, tmp_path: Path
) -> None:
    write_ptable(PTABLE, tmp_path / "p.toml")
    with pytest.raises(ParameterError, match=f"defines the noise; --{flag} cannot be given too. Omit one") as caught:
        noise_named(law, ptable=tmp_path / "p.toml", **given)
    assert caught.value.parameter == flag.replace("-", "_")


@each(
    ("law", "given", "kind", "message"),
    [
        ("laplce", {}, UnknownNameError, "There is no noise distribution 'laplce'. Did you mean laplace"),
        ("truncated", {}, UnknownNameError, "There is no noise distribution 'truncated'."),
        (None, {}, ParameterError, "max-entropy needs --variance and --bound. Example: --variance 3 --bound 5"),
        (None, {"variance": 3}, ParameterError, "max-entropy needs --bound. Example: --variance 3 --bound 5"),
        ("geometric", {}, ParameterError, "The noise distribution geometric needs --epsilon. Example: --epsilon 0.5"),
        ("laplace", {}, ParameterError, "The noise distribution laplace needs --scale. Example: --scale 2"),
        ("gaussian", {}, ParameterError, "The noise distribution gaussian needs --sigma. Example: --sigma 1.5"),
        ("geometric", {"scale": 2}, UnknownNameError, f"{UNKNOWN} 'scale'. Available: epsilon, sensitivity."),
        # Where flags are given, a way out is one that exists.
        (None, {"epsilon": 1, "scale": 2, "bound": None}, UnknownNameError, f"{UNKNOWN} 'scale'. Available: epsilon."),
        ("geometric", {"epsilon": 1, "delta": 0.1}, UnknownNameError, f"{UNKNOWN} 'delta'. Available: epsilon."),
        ("truncated-laplace", {"epsilon": 1, "delta": 0.1, "bound": 5}, ParameterError, "--bound cannot be given too"),
        ("truncated-gaussian", {"sigma": 1, "delta": 0.1}, ParameterError, "--sigma cannot be given too"),
        ("truncated-gaussian", {"delta": 0.1}, ParameterError, "--epsilon is missing. Example: --epsilon 0.5 --delta"),
        ("truncated-laplace", {"epsilon": 1, "delta": 2}, ParameterError, "delta must be above 0 and below 1, not 2"),
        ("truncated-laplace", {"epsilon": 1}, ParameterError, "needs --bound (or --delta, which finds the bound)."),
        ("truncated-laplace", {"epsilon": 1, "scale": 2}, UnknownNameError, "'scale'. Available: epsilon, delta."),
        (None, {"variance": -1, "bound": 5}, ParameterError, "p-table: variance must be"),
        (None, {"variance": 0.1, "bound": 5, "threshold": 3}, InfeasibleError, "No p-table exists"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_a_way_out(
    law: str | None, given: dict[str, Any], kind: type[InputError], message: str
) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        noise_named(law, **given)


def test_every_law_has_an_example_of_what_it_needs() -> None:
    for law in distribution_names():
        with pytest.raises(ParameterError, match=f"The noise distribution {law} needs --.* Example: --"):
            noise_named(law)
