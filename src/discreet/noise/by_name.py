"""Noise by its name: from flags, from a record, and its description.

The laws by their names on the command line.

Noise for counts from 64-bit words, one word per cell, whatever the words come from.

The noise that was asked for by name: a p-table solved, one from a file, or a law.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import WORDS
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.formats.ptable_toml import PTableToml
from discreet.noise.gaussian import Gaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy, check_room
from discreet.noise.parameters import required
from discreet.noise.ptable import KEY_SPACE, PTable
from discreet.noise.ptable_settings import PTableSettings
from discreet.noise.truncated import PROMISED, Truncated, TruncatedGaussian, TruncatedLaplace
from discreet.noise.uniform import Uniform

if TYPE_CHECKING:
    from discreet.arrays import Ints, Words
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


def noisy(noise: PTable | Noise, counts: Ints, words: Words, *, zeros: bool) -> Ints:
    """Return counts plus noise.

    Args:
        noise: a p-table, or a law, which is then the same for all counts.
        counts: true counts.
        words: uniform on 64 bits.
        zeros: whether a law gives empty cells noise too; a p-table says so itself.
    """
    if isinstance(noise, PTable):
        return counts + noise.draw_words(counts, words)
    drawn = noise.draw(words, WORDS)
    return counts + (drawn if zeros else np.where(counts > 0, drawn, 0))


def perturbs_zeros(noise: PTable | Noise, asked: bool) -> bool:  # noqa: FBT001 - one flag, named where it is given
    """Say whether empty cells get noise: as the p-table says, or, of a law, as was asked."""
    if isinstance(noise, PTable):
        if asked and not noise.perturbs_zeros:
            raise ParameterError(
                "This p-table leaves zeros as they are. Make it with perturb_zeros, or leave perturb_zeros out.",
                parameter="perturb_zeros",
            )
        return noise.perturbs_zeros
    return asked


def described_law(noise: PTable | Noise) -> dict[str, Any]:
    """Return the law by name and parameters for a record; a p-table that was not solved here is written out whole."""
    if isinstance(noise, Truncated):
        return {"law": noise.name, "parameters": {"of": described_law(noise.law), "bound": noise.bound}}
    if not isinstance(noise, PTable):
        parameters: dict[str, Any] = asdict(noise)  # type: ignore[call-overload]  # every law is a dataclass
        return {"law": noise.name, "parameters": parameters}
    if noise.settings:
        return {"law": "max-entropy", "parameters": asdict(noise.settings)}
    return {"law": "p-table", "parameters": {}, "ptable_text": PTableToml().write(noise, Path("record.json"))}


CHOICES = tuple(name for name in LAWS if name != "truncated")
EXAMPLES = {"variance": 3, "bound": 5, "epsilon": 0.5, "scale": 2, "sigma": 1.5}
"""A usual value of every parameter that a law cannot do without."""


def noise_named(
    law: str | None = None,
    *,
    ptable: Path | None = None,
    key_space: int = KEY_SPACE,
    **parameters: Any,  # noqa: ANN401 - those of the law
) -> PTable | Noise:
    """Return a p-table or a law.

    Args:
        law: a name; `max-entropy`, a p-table, by default, or `geometric` where epsilon is given.
        ptable: a file with a p-table instead.
        key_space: K of a p-table that is solved here.
        parameters: of the law, those that were given.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if ptable is not None:
        _refuse_beside_file(law, given)
        return read_ptable(ptable)
    _check_one_kind(law, given)
    name = law or ("geometric" if "epsilon" in given else "max-entropy")
    if name not in CHOICES:
        raise UnknownNameError.among("law", name, CHOICES)
    if name in PROMISED and "delta" in given:
        return _promised(name, given)
    taker = PTableSettings if name == "max-entropy" else LAWS[name]
    known = [entry.name for entry in fields(taker)]  # type: ignore[arg-type]  # every law is a dataclass
    for parameter in given:
        if parameter not in known:
            # What the caller has no name for, a flag that does not exist, is no way out.
            ways = [other for other in known if other in parameters] or known
            ways += ["delta"] if name in PROMISED else []
            raise UnknownNameError.among(f"parameter of the law {name}", parameter, ways)
    missing = [parameter for parameter in required(taker) if parameter not in given]
    if missing:
        example = " ".join(f"--{parameter} {EXAMPLES[parameter]}" for parameter in required(taker))
        instead = " (or --delta, which finds the bound)" if name in PROMISED and "bound" in missing else ""
        what = f"The law {name} needs --{' and --'.join(missing)}{instead}. Example: {example}"
        raise ParameterError(what, parameter=missing[0])
    if name != "max-entropy":
        return LAWS[name](**given)
    if not given.get("equality"):
        check_room(given["variance"], given["bound"])
    return PTable.solve(PTableSettings(**given), key_space)


def _check_one_kind(law: str | None, given: dict[str, Any]) -> None:
    """Refuse parameters of two laws where none is named: it would be told as a mistake in a law nobody asked for."""
    if law is not None or "epsilon" not in given:
        return
    if "delta" in given:
        what = "--epsilon with --delta is for a truncated law. Name it: --law truncated-laplace or truncated-gaussian"
        raise ParameterError(what, parameter="law")
    other = next((name for name in ("variance", "bound", "threshold") if name in given), None)
    if other:
        raise ParameterError(
            f"--epsilon is for the law geometric, --{other} for a p-table. Give one of the two, or name the --law.",
            parameter=other,
        )


def _promised(name: str, given: dict[str, Any]) -> Noise:
    """Return a truncated law by epsilon and delta, which then say its bound."""
    if set(given) != {"epsilon", "delta"}:
        other = next((parameter for parameter in given if parameter not in {"epsilon", "delta"}), None)
        what = f"--{other} cannot be given too" if other else "--epsilon is missing"
        raise ParameterError(
            f"The law {name} by --delta takes --epsilon and --delta and finds its bound; {what}. "
            "Example: --epsilon 0.5 --delta 0.008",
            parameter=other or "epsilon",
        )
    return PROMISED[name](given["epsilon"], given["delta"])


def _refuse_beside_file(law: str | None, given: dict[str, Any]) -> None:
    other = [name for name in (("law",) if law else ()) + tuple(given) if given.get(name, True) is not False]
    if other:
        raise ParameterError(
            f"A p-table from a file says its noise itself; --{other[0].replace('_', '-')} cannot be given too. "
            "Leave one out.",
            parameter=other[0],
        )
