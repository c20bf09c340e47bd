"""Noise by its name: from flags, from a record, and its description for a record."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.by_count import SameNoise, noise_by_count
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.formats.ptable_files import read_ptable
from discreet.noise.formats.ptable_toml import PTableToml
from discreet.noise.max_entropy import MaxEntropy, check_room
from discreet.noise.parameters import parameters, required
from discreet.noise.ptable import KEY_SPACE, PTable
from discreet.noise.ptable_settings import PTableSettings
from discreet.noise.truncated import PROMISED, Truncated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.distribution import Noise

FROM_FILE = "p-table"
"""The name of the distribution in a record that contains the whole p-table."""
EXAMPLES = {"variance": "3", "bound": "5", "epsilon": "0.5", "scale": "2", "sigma": "1.5"}
"""A typical value of every required parameter."""


def distribution_names() -> tuple[str, ...]:
    """Return the distributions that flags accept; `truncated` is only for Python and records."""
    return tuple(name for name in DISTRIBUTIONS.names() if name != Truncated.name)


def described_noise(noise: NoiseByCount | Noise) -> dict[str, Any]:
    """Return noise by name and parameters for a record; a p-table without settings is written in full."""
    if isinstance(noise, PTable):
        if noise.settings:
            return {"law": MaxEntropy.name, "parameters": asdict(noise.settings)}
        return {"law": FROM_FILE, "parameters": {}, "ptable_text": PTableToml().write(noise, Path("record.json"))}
    law = noise_by_count(noise).large
    if isinstance(noise, SameNoise) and isinstance(law, MaxEntropy):
        what = "MaxEntropy is the distribution of large counts only. Use PTable.max_entropy."
        raise ParameterError(what, parameter="noise")
    if isinstance(law, Truncated):
        return {"law": law.name, "parameters": {"of": described_noise(law.law), "bound": law.bound}}
    return {"law": law.name, "parameters": asdict(law)}  # type: ignore[call-overload]  # each is a dataclass


def noise_described(
    law: str,
    given: dict[str, Any],
    *,
    ptable_text: str | None = None,
    key_space: int | None = None,
    perturb_zeros: bool = False,
) -> NoiseByCount:
    """Return the noise that a record describes, the inverse of `described_noise`.

    Args:
        law: the name of the distribution; `max-entropy` for a solved p-table.
        given: its parameters; for max-entropy the settings of the p-table.
        ptable_text: for the name `p-table`, the whole p-table as text.
        key_space: K of a solved p-table.
        perturb_zeros: whether empty cells have noise from a distribution too.
    """
    if law == FROM_FILE:
        return PTableToml().read(ptable_text or "", Path("record.json"))
    if law == MaxEntropy.name:
        _check_parameters(law, PTableSettings, given)
        return PTable.solve(PTableSettings(**given), key_space or KEY_SPACE)
    return SameNoise(_distribution(law, given), perturb_zeros)


def _distribution(law: str, given: dict[str, Any]) -> Noise:
    if law == Truncated.name:
        inner = given.get("of")
        if not isinstance(inner, dict) or not isinstance(inner.get("parameters"), dict):
            raise ParameterError(
                "The noise distribution truncated needs `of`: the distribution to truncate, with its `law` and its "
                "`parameters`.",
                parameter="of",
            )
        of = str(inner.get("law"))
        if of not in DISTRIBUTIONS.names():
            raise UnknownNameError.among("noise distribution to truncate", of, DISTRIBUTIONS.names())
        return Truncated(_distribution(of, inner["parameters"]), given.get("bound", 0))
    kind = DISTRIBUTIONS.get(law)
    _check_parameters(law, kind, given)
    return kind(**given)


def _check_parameters(law: str, taker: type, given: dict[str, Any], ways: Sequence[str] = ()) -> None:
    """Raise an error for unknown parameters of a distribution, and for missing required ones."""
    known = [entry.name for entry in fields(taker)]
    unknown = next((name for name in given if name not in known), None)
    also = ["delta"] if law in PROMISED and ways else []
    if unknown is not None:
        # Parameters without a flag are not suggested to a caller of flags.
        able = [name for name in known if name in ways] or known
        raise UnknownNameError.among(f"parameter of the noise distribution {law}", unknown, [*able, *also])
    missing = [name for name in required(taker) if name not in given]
    if missing:
        usual = {name: f"{each.typical[0]:g}" for name, each in parameters(taker).items()} | EXAMPLES
        example = " ".join(f"--{name} {usual.get(name, 'VALUE')}" for name in required(taker))
        instead = " (or --delta, which finds the bound)" if also and "bound" in missing else ""
        what = f"The noise distribution {law} needs --{' and --'.join(missing)}{instead}. Example: {example}"
        raise ParameterError(what, parameter=missing[0])


def noise_named(
    law: str | None = None,
    *,
    ptable: Path | None = None,
    key_space: int = KEY_SPACE,
    **flags: Any,  # noqa: ANN401 - parameters of the distribution
) -> PTable | Noise:
    """Return a p-table or a distribution.

    Args:
        law: the name of a distribution; by default `max-entropy`, a p-table, or `geometric` if epsilon is given.
        ptable: the file of a p-table, used instead.
        key_space: K of a solved p-table.
        flags: the parameters of the distribution by name; None for the default.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if ptable is not None:
        _check_only_file(law, given)
        return read_ptable(ptable)
    _check_one_kind(law, given)
    name = law or ("geometric" if "epsilon" in given else MaxEntropy.name)
    if name not in distribution_names():
        raise UnknownNameError.among("noise distribution", name, distribution_names())
    if name in PROMISED and "delta" in given:
        return _promised(name, given)
    taker = PTableSettings if name == MaxEntropy.name else DISTRIBUTIONS.get(name)
    _check_parameters(name, taker, given, tuple(flags) or tuple(required(taker)))
    if name != MaxEntropy.name:
        return DISTRIBUTIONS.get(name)(**given)
    if not given.get("equality"):
        check_room(given["variance"], given["bound"])
    return PTable.solve(PTableSettings(**given), key_space)


def _check_one_kind(law: str | None, given: dict[str, Any]) -> None:
    """Raise an error for parameters of two distributions without a name, instead of one about the default."""
    if law is not None or "epsilon" not in given:
        return
    if "delta" in given:
        what = (
            "--epsilon with --delta needs a truncated noise distribution. Give --law truncated-laplace or "
            "truncated-gaussian."
        )
        raise ParameterError(what, parameter="law")
    other = next((name for name in ("variance", "bound", "threshold") if name in given), None)
    if other:
        raise ParameterError(
            f"--epsilon is for the noise distribution geometric, --{other} for a p-table. Give one of the two, or give "
            "--law.",
            parameter=other,
        )


def _promised(name: str, given: dict[str, Any]) -> Noise:
    """Return a truncated distribution by epsilon and delta, which determine its bound."""
    if set(given) != {"epsilon", "delta"}:
        other = next((parameter for parameter in given if parameter not in {"epsilon", "delta"}), None)
        what = f"--{other} cannot be given too" if other else "--epsilon is missing"
        raise ParameterError(
            f"The noise distribution {name} with --delta takes --epsilon and --delta and computes its bound; {what}. "
            "Example: --epsilon 0.5 --delta 0.008",
            parameter=other or "epsilon",
        )
    return PROMISED[name](given["epsilon"], given["delta"])


def _check_only_file(law: str | None, given: dict[str, Any]) -> None:
    other = [name for name in (("law",) if law else ()) + tuple(given) if given.get(name, True) is not False]
    if other:
        raise ParameterError(
            f"A p-table from a file defines the noise; --{other[0].replace('_', '-')} cannot be given too. Omit one of "
            "them.",
            parameter=other[0],
        )
