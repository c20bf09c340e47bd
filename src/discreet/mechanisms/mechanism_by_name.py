"""The mechanism that was asked for by name, with its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget, read_budget
from discreet.noise.by_name import noise_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable

MECHANISMS = tuple(each.name for each in (CellKey, Coordinates, Fresh, EpsDP, Exact))
WITHOUT_SPSN = ("fresh",)
MEANT_FOR = {
    "budget": ("eps-dp",),
    "key_mode": ("cell-key",),
    "version_label": ("cell-key", "coordinates"),
    "perturb_zeros": ("cell-key", "coordinates", "fresh"),
}
"""Flags that not every mechanism looks at, with those that do; true counts look at none."""


def mechanism_named(
    name: str,
    *,
    secret: Callable[[], bytes | None],
    law: str | None = None,
    ptable: Path | None = None,
    mode: str | None = None,
    version: str | None = None,
    budget: Path | None = None,
    spsn: bool | None = None,
    perturb_zeros: bool | None = None,
    from_ids: bool = False,
    ready_keys: bool = False,
    **parameters: Any,  # noqa: ANN401 - those of the law
) -> Mechanism:
    """Return a mechanism.

    Args:
        name: one of MECHANISMS.
        secret: reads the office's secret; called only where it is needed, or where there may be one.
        law: the law of noise.
        ptable: a file with a p-table instead.
        mode: of cell keys.
        version: label of keys and coordinates.
        budget: a file that splits a privacy budget over tables.
        spsn: whether the same noise is shown in every table, where that is a choice.
        perturb_zeros: whether empty cells get noise too.
        from_ids: whether record keys are made from ids.
        ready_keys: whether the data bring record keys along.
        parameters: of the law, those that were given.
    """
    if name not in MECHANISMS:
        raise UnknownNameError.among("mechanism", name, MECHANISMS)
    _check_spsn(name, spsn=spsn)
    if name == "exact":
        return Exact()
    _check_meant(
        name, {"budget": budget, "key_mode": mode, "version_label": version, "perturb_zeros": perturb_zeros or None}
    )
    if version is not None and ready_keys:
        raise ParameterError(
            "Ready-made keys (--key) are what they are: --version-label changes nothing in them. Leave it out; for "
            "other noise make other keys.",
            parameter="version_label",
        )
    if name == "eps-dp":
        return _eps_dp(law, ptable, budget, parameters, spsn=spsn is not False)
    noise, zeros = _noise(law, ptable, parameters, perturb_zeros=bool(perturb_zeros))
    if name == "fresh":
        return Fresh(noise, perturb_zeros=zeros)
    label = "1" if version is None else version
    needed = name == "coordinates" or mode != "plain" or from_ids or bool(perturb_zeros)
    office = secret()
    if office is None and needed:
        raise SecretError(
            "The secret is missing: give --secret-file or set DISCREET_SECRET. `discreet keys new FILE` makes one."
        )
    if name == "coordinates":
        return Coordinates(noise, office, version=label, perturb_zeros=zeros)
    return CellKey(noise, secret=office, mode=mode or "mixed", version=label, perturb_zeros=zeros)


def _noise(
    law: str | None, ptable: Path | None, parameters: dict[str, Any], *, perturb_zeros: bool
) -> tuple[PTable | Noise, bool]:
    """Return the noise, and whether the mechanism is to give empty cells noise: a p-table knows that itself."""
    if ptable is None and law not in {None, "max-entropy"}:
        return noise_named(law, **parameters), perturb_zeros
    if ptable is None and law is None and parameters.get("epsilon") is not None:
        return noise_named(law, **parameters), perturb_zeros
    return noise_named(law, ptable=ptable, perturb_zeros=perturb_zeros or None, **parameters), False


def _check_meant(name: str, given: dict[str, Any]) -> None:
    """Refuse flags that a mechanism would pass over in silence."""
    for flag, value in given.items():
        if value is not None and name not in MEANT_FOR[flag]:
            raise ParameterError(
                f"--{flag.replace('_', '-')} is for the mechanism {' or '.join(MEANT_FOR[flag])}, not for {name}.",
                parameter=flag,
            )


def _check_spsn(name: str, *, spsn: bool | None) -> None:
    fixed = name != "eps-dp"
    if spsn is not None and fixed and spsn == (name in WITHOUT_SPSN):
        gives = "never gives" if name in WITHOUT_SPSN else "always gives"
        other = "--mechanism cell-key" if name in WITHOUT_SPSN else "--mechanism fresh"
        raise ParameterError(
            f"The mechanism {name} {gives} the same participants the same noise. Leave --{'' if spsn else 'no-'}spsn "
            f"out, or choose {other}.",
            parameter="spsn",
        )


def _eps_dp(
    law: str | None, ptable: Path | None, budget: Path | None, parameters: dict[str, Any], *, spsn: bool
) -> EpsDP:
    given = {name: value for name, value in parameters.items() if value is not None}
    epsilon = given.pop("epsilon", None)
    other = ["ptable"] if ptable else list(given)
    if law not in {None, "geometric"} or other:
        what = f"--{other[0].replace('_', '-')}" if other else f"--law {law}"
        raise ParameterError(
            f"The mechanism eps-dp has two-sided geometric noise, told by --epsilon of the whole output; {what} "
            "cannot be given too.",
            parameter=other[0] if other else "law",
        )
    split = Budget(epsilon) if budget is None else read_budget(budget, epsilon)
    return EpsDP(split, spsn=spsn)
