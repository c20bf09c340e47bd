"""`discreet protect`: from records to a published release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.answer import answer
from discreet.cli.progress import Stages
from discreet.cli.protect_text import estimate_text, noise_results, protect_text
from discreet.cli.settings_file import with_settings
from discreet.errors import ParameterError, SecretError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.estimate import Estimate, estimate
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.noise_choice import CHOICES, noise_named
from discreet.mechanisms.protect import protect as protect_records
from discreet.mechanisms.reading import Identity
from discreet.microdata.coding import MISSING
from discreet.microdata.secret import permissions_warning, read_secret
from discreet.noise.ptable import KEY_MODES
from discreet.release.folder import check_free, curator_folder, recover
from discreet.release.tables import FORMATS

if TYPE_CHECKING:
    from discreet.mechanisms.base import Mechanism
    from discreet.noise.base import Noise
    from discreet.noise.ptable import PTable
    from discreet.release.release import Release

MECHANISMS = ("cell-key", "exact")
LAW = ("variance", "bound", "threshold", "perturb_zeros", "epsilon", "scale", "sigma")
"""Flags that are parameters of a law."""
OTHER_LAWS = tuple(name for name in CHOICES if name != "max-entropy")
KINDS: dict[str, type] = {
    "programme": str, "mechanism": str, "law": str, "variance": float, "bound": int, "threshold": int,
    "perturb_zeros": bool, "epsilon": float, "scale": float, "sigma": float, "ptable": str, "key_mode": str,
    "version_label": str, "secret_file": str, "id": str, "key": str, "tables": str, "unit": str, "missing": str,
    "format": str, "keep_exact": bool,
}  # fmt: skip
"""What a settings file may hold."""
TRUE_COUNTS = "These are true counts, without noise: keep them, and publish them nowhere."


def protect(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Parquet or CSV: files, a folder or a pattern.")],
    programme: Annotated[
        str | None, typer.Option(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to make, and DIR.curator.")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Ids to make record keys from.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="Or ready-made record keys.")] = None,
    secret_file: Annotated[Path | None, typer.Option(metavar="FILE", help="The secret; else DISCREET_SECRET.")] = None,
    variance: Annotated[float | None, typer.Option(metavar="V", help="Noise variance of one count.")] = None,
    bound: Annotated[int | None, typer.Option(metavar="E", help="Largest absolute noise.")] = None,
    threshold: Annotated[int | None, typer.Option(metavar="J", help="Largest positive count never published.")] = None,
    perturb_zeros: Annotated[bool | None, typer.Option("--perturb-zeros", help="Give empty cells noise too.")] = None,
    ptable: Annotated[Path | None, typer.Option(metavar="FILE", help="Or a p-table from a file.")] = None,
    law: Annotated[str | None, typer.Option(metavar="LAW", help=f"Or a law: {', '.join(OTHER_LAWS)}.")] = None,
    epsilon: Annotated[float | None, typer.Option(metavar="EPS", help="For the law geometric.")] = None,
    scale: Annotated[float | None, typer.Option(metavar="B", help="For the law laplace.")] = None,
    sigma: Annotated[float | None, typer.Option(metavar="S", help="For gaussian and discrete-gaussian.")] = None,
    key_mode: Annotated[str | None, typer.Option(metavar="MODE", help=f"Keys: {' or '.join(KEY_MODES)}.")] = None,
    version_label: Annotated[str | None, typer.Option(metavar="LABEL", help="Another label, other keys.")] = None,
    mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{' or '.join(MECHANISMS)}, which has no noise.")
    ] = None,
    tables: Annotated[str | None, typer.Option(metavar="A,B.*", help="Only these tables.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="What a record is; that of most tables.")] = None,
    missing: Annotated[str | None, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="FORM", help=f"{' or '.join(FORMATS)}.")] = None,
    keep_exact: Annotated[bool | None, typer.Option("--keep-exact", help="Keep true counts in DIR.curator.")] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="Flags from a TOML file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and do nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a release that exists.")] = False,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Add a line of JSON per stage; no data.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Count all tables of a programme, add noise, and write a release.

    Example: discreet protect census.parquet --programme eu2021:LU --id PERSON_ID
    --secret-file office.secret --variance 3 --bound 5 --out release
    """
    flags = with_settings(
        settings,
        {
            "programme": programme, "mechanism": mechanism, "law": law, "variance": variance, "bound": bound,
            "threshold": threshold, "perturb_zeros": perturb_zeros, "epsilon": epsilon, "scale": scale, "sigma": sigma,
            "ptable": ptable, "key_mode": key_mode, "version_label": version_label, "secret_file": secret_file,
            "id": id_column, "key": key, "tables": tables, "unit": unit, "missing": missing, "format": form,
            "keep_exact": keep_exact,
        },
        KINDS,
    )  # fmt: skip
    if not flags["programme"]:
        raise ParameterError("--programme is missing. Example: --programme eu2021:LU", parameter="programme")
    chosen = [pattern.strip() for pattern in flags["tables"].split(",")] if flags["tables"] else None
    asked = {"data": data, **{name: value for name, value in _plain(flags).items() if value is not None}}
    if dry_run:
        _check(flags, out, replace=replace)
        found = estimate(data, flags["programme"], tables=chosen, unit=flags["unit"], from_ids=bool(flags["id"]))
        typer.echo(_json_estimate(asked, found) if as_json else estimate_text(found))
        return
    if out is None:
        raise ParameterError("--out is missing: the folder of the release. Example: --out release", parameter="out")
    recover(out)
    check_free(out, replace=replace)
    warnings = _warnings(flags)
    with Stages(shown=not quiet, log=log) as stages:
        release = protect_records(
            data,
            flags["programme"],
            _mechanism(flags),
            out=out,
            id=flags["id"],
            key=flags["key"],
            tables=chosen,
            unit=flags["unit"],
            missing=flags["missing"] or MISSING[0],
            keep_exact=bool(flags["keep_exact"]),
            replace=replace,
            form=flags["format"] or FORMATS[0],
            progress=stages,
        )
    warnings += stages.warnings
    typer.echo(_json(asked, release, out, warnings) if as_json else protect_text(release, out, warnings))


def _plain(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in flags.items()}


def _mechanism(flags: dict[str, Any]) -> Mechanism:
    """Return the mechanism that was asked for, with its noise and the secret."""
    name = flags["mechanism"] or MECHANISMS[0]
    if name not in MECHANISMS:
        raise UnknownNameError.among("mechanism", name, MECHANISMS)
    if name == "exact":
        return Exact()
    noise = _noise(flags)
    mode = flags["key_mode"] or KEY_MODES[0]
    secret = read_secret(Path(flags["secret_file"]) if flags["secret_file"] else None)
    if secret is None and (mode == "mixed" or flags["id"] or flags["perturb_zeros"]):
        raise SecretError(
            "The secret is missing: give --secret-file or set DISCREET_SECRET. `discreet keys new FILE` makes one."
        )
    label = "1" if flags["version_label"] is None else flags["version_label"]
    return CellKey(noise, secret=secret, mode=mode, version=label)


def _noise(flags: dict[str, Any]) -> PTable | Noise:
    """Return the noise that was asked for."""
    return noise_named(flags["law"], ptable=Path(flags["ptable"]) if flags["ptable"] else None, **_law(flags))


def _law(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a law; that zeros stay as they are, as a settings file may say, is none."""
    return {name: None if flags[name] is False else flags[name] for name in LAW}


def _check(flags: dict[str, Any], out: Path | None, *, replace: bool) -> None:
    """Refuse in a dry run what the run itself would refuse; the secret, which it need not have at hand, is left out."""
    for kind, flag, known in (
        ("mechanism", "mechanism", MECHANISMS),
        ("key mode", "key_mode", KEY_MODES),
        ("way with missing values", "missing", MISSING),
        ("format of tables", "format", FORMATS),
    ):
        if flags[flag] is not None and flags[flag] not in known:
            raise UnknownNameError.among(kind, flags[flag], known)
    Identity(flags["id"], flags["key"])
    told = [flags["law"], flags["ptable"], *_law(flags).values()]
    if flags["mechanism"] != "exact" and any(value is not None for value in told):
        _noise(flags)
    if out is not None:
        check_free(out, replace=replace)


def _warnings(flags: dict[str, Any]) -> list[str]:
    found = [permissions_warning(Path(flags["secret_file"]))] if flags["secret_file"] else []
    if flags["mechanism"] == "exact":
        found.append(TRUE_COUNTS)
    return [warning for warning in found if warning]


def _json(asked: dict[str, Any], release: Release, out: Path, warnings: list[str]) -> str:
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    return answer(
        "protect",
        asked,
        noise_results(release),
        warnings,
        release=str(out),
        curator=str(curator_folder(out)),
        read={"records": made.records, "dropped": made.dropped, "topics": made.topics},
        written={
            "tables": len(files),
            "statistics": made.statistics,
            "cells": made.cells,
            "rows": sum(file["rows"] for file in files),
            "bytes": sum(file["bytes"] for file in files),
        },
        seconds={stage: round(seconds, 3) for stage, seconds in made.seconds.items()},
    )


def _json_estimate(asked: dict[str, Any], found: Estimate) -> str:
    return answer("protect", asked, [], [], dry_run=True, estimate=found.to_json())
