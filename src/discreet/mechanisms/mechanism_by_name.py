"""Create a mechanism and its noise from its name and command-line flags."""

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
    **parameters: Any,  # noqa: ANN401 - the parameters of the distribution
) -> Mechanism:
    """Return a registered mechanism; raise ParameterError for flags that it would ignore.

    MechanismFlags documents the flags. Ready-made keys in the data (`ready_keys`) have no version label.
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
    # True counts accept every flag: the curator makes them with the same command as the release.
    if kind.laws != ("none",):
        _check_used(kind, flags)
        if version is not None and ready_keys:
            raise ParameterError(
                "--version-label has no effect on ready-made keys (--key). Leave it out. To redraw the noise, create "
                "other keys.",
                parameter="version_label",
            )
    return kind.from_flags(flags)


def _check_used(kind: type[RegisteredMechanism], flags: MechanismFlags) -> None:
    """Raise ParameterError for flags that a mechanism would ignore."""
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
