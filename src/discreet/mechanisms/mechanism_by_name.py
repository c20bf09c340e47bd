"""The mechanism that was asked for by name, with its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import MECHANISMS, MechanismFlags

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.mechanisms.mechanism import Mechanism, RegisteredMechanism


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
    **parameters: Any,  # noqa: ANN401 - those of the distribution
) -> Mechanism:
    """Return a registered mechanism, or refuse flags that it would ignore; MechanismFlags tells what each flag is.

    Keys that the data bring along (`ready_keys`) have no version label.
    """
    kind = MECHANISMS.get(name)
    _check_spsn(kind, spsn=spsn)
    flags = MechanismFlags(
        secret=secret,
        law=law,
        ptable=ptable,
        key_mode=mode,
        version_label=version,
        budget=budget,
        spsn=spsn,
        perturb_zeros=perturb_zeros,
        from_ids=from_ids,
        parameters=parameters,
    )
    # True counts take any flag: they are made beside a release with the same command.
    if kind.laws != ("none",):
        _check_used(kind, flags)
        if version is not None and ready_keys:
            raise ParameterError(
                "Ready-made keys (--key) are what they are: --version-label changes nothing in them. Leave it out; for "
                "other noise make other keys.",
                parameter="version_label",
            )
    return kind.from_flags(flags)


def _check_used(kind: type[RegisteredMechanism], flags: MechanismFlags) -> None:
    """Refuse flags that a mechanism would ignore."""
    for flag in ("budget", "key_mode", "version_label", "perturb_zeros"):
        if getattr(flags, flag) in {None, False} or flag in kind.flags:
            continue
        users = [name for name, each in MECHANISMS.all().items() if flag in each.flags]
        raise ParameterError(
            f"--{flag.replace('_', '-')} is for the mechanism {' or '.join(users)}, not for {kind.name}.",
            parameter=flag,
        )


def _check_spsn(kind: type[RegisteredMechanism], *, spsn: bool | None) -> None:
    if spsn is None or kind.shares_noise in {None, spsn}:
        return
    gives = "always gives" if kind.shares_noise else "never gives"
    other = "--mechanism fresh" if kind.shares_noise else "--mechanism cell-key"
    raise ParameterError(
        f"The mechanism {kind.name} {gives} the same participants the same noise. Leave --{'' if spsn else 'no-'}spsn "
        f"out, or choose {other}.",
        parameter="spsn",
    )
