"""What `discreet protect` does with its flags: a run, one repeated from its record, or a look at what it would take."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.answer import answer
from discreet.engines.duckdb import DuckDB
from discreet.errors import ParameterError, ReleaseWarning, UnknownNameError
from discreet.limits import MAX_THREADS
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.ptable import KEY_MODES
from discreet.protection.again import protect_again
from discreet.protection.dry_run import estimate
from discreet.protection.pipeline import check_protects, protect
from discreet.protection.sentences import estimate_text, noise_results, protect_text
from discreet.records.coding import MISSING
from discreet.records.record_columns import RecordColumns
from discreet.records.secret import read_secret, secret_as_given, secret_warnings
from discreet.release.locks import LOCK_TIMEOUT
from discreet.release.record import MECHANISMS
from discreet.release.release_folder import check_free, curator_folder, recover, unfinished_tables
from discreet.release.table_files import FORMATS

if TYPE_CHECKING:
    from discreet.cli.progress_bars import Stages
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

    Flags = dict[str, Any]

LAW = ("variance", "bound", "threshold", "epsilon", "delta", "scale", "sigma")
"""Flags that are parameters of a law."""
NOT_OF_THE_RUN = ("secret_file", "memory", "threads")
"""Flags that a run which is repeated may still have: they change nothing in its tables."""
STAND_IN = bytes(32)
"""What stands for the secret where only the other flags are looked at."""
TRUE_COUNTS = "These are true counts, without noise: keep them, and publish them nowhere."


@dataclass(frozen=True)
class Face:
    """Where a run shows what it does: the folder it makes, its progress, the form of its result, how long it waits."""

    out: Path | None
    stages: Stages
    as_json: bool
    lock_timeout: float = LOCK_TIMEOUT

    def place(self, *, replace: bool) -> Path:
        """Return the folder to make, or refuse one that is missing or taken."""
        if self.out is None:
            raise ParameterError("--out is missing: the folder of the release. Example: --out release", parameter="out")
        recover(self.out, self.lock_timeout)
        check_free(self.out, replace=replace, lock_timeout=self.lock_timeout)
        return self.out

    def tell(self, asked: Flags, release: Release, out: Path, notes: list[str]) -> None:
        """Print what was made; notes come before other warnings."""
        told = [*notes, *self.stages.warnings]
        told += release.summary.warnings if release.summary else ()
        told += [TRUE_COUNTS] if release.record.law == "none" else []
        typer.echo(_json(asked, release, out, told) if self.as_json else protect_text(release, out, told))


def run(data: list[str], flags: Flags, face: Face, *, replace: bool, resume: bool) -> None:
    """Make a release."""
    out = face.place(replace=replace)
    if not resume and (left := unfinished_tables(out)):
        typer.echo(f"A run that was killed left {left:,} finished tables; --resume would go on from them.", err=True)
    with _engine(flags) as engine, face.stages as stages, _quietly():
        mechanism = _mechanism(flags)
        release = protect(
            data,
            flags["programme"],
            mechanism,
            out=out,
            id=flags["id"],
            key=flags["key"],
            count=flags["count"],
            weight=flags["weight"],
            weighted_only=bool(flags["weighted_only"]),
            tabulated=bool(flags["tabulated"]),
            encoding=flags["encoding"],
            regions=flags["regions"],
            tables=_tables(flags),
            unit=flags["unit"],
            missing=flags["missing"] or MISSING[0],
            non_negative=bool(flags["non_negative"]),
            keep_exact=bool(flags["keep_exact"]),
            replace=replace,
            resume=resume,
            allow_disclosure=bool(flags["allow_disclosure"]),
            lock_timeout=face.lock_timeout,
            form=flags["format"] or FORMATS[0],
            progress=stages,
            engine=engine,
        )
    face.tell(_asked(data, flags), release, out, secret_warnings(mechanism.secret, flags["secret_file"]))


def run_again(curator: Path, data: list[str] | None, flags: Flags, face: Face, *, replace: bool, resume: bool) -> None:
    """Repeat a run: the record says everything but where the secret is and where the new release goes."""
    told = [name for name, value in flags.items() if value is not None and name not in NOT_OF_THE_RUN]
    if told:
        raise ParameterError(
            f"A run that is repeated takes everything from its record; --{told[0].replace('_', '-')} cannot be given "
            "too. Leave it out, or leave out --again.",
            parameter=told[0],
        )
    out = face.place(replace=replace)
    secret = secret_as_given(flags["secret_file"])
    with _engine(flags) as engine, face.stages as stages, _quietly():
        release = protect_again(
            curator,
            data=data or None,
            secret=secret,
            out=out,
            replace=replace,
            resume=resume,
            lock_timeout=face.lock_timeout,
            progress=stages,
            engine=engine,
        )
    asked = {"again": str(curator), **({"data": data} if data else {})}
    face.tell(asked, release, out, secret_warnings(secret, flags["secret_file"]))


def say_what_it_takes(data: list[str], flags: Flags, face: Face, *, replace: bool) -> None:
    """Look at flags, programme and the heads of the data, and do nothing."""
    _check(flags, face, replace=replace)
    if flags["tabulated"]:
        what = "What it would take is not known for tables that are counted already: it is little."
        raise ParameterError(f"{what} Leave --dry-run out.", parameter="dry_run")
    found = estimate(
        data,
        flags["programme"],
        tables=_tables(flags),
        unit=flags["unit"],
        regions=flags["regions"],
        encoding=flags["encoding"],
        from_ids=bool(flags["id"]),
    )
    if face.as_json:
        typer.echo(answer("protect", _asked(data, flags), [], [], dry_run=True, estimate=found.to_json()))
    else:
        typer.echo(estimate_text(found))


def _tables(flags: Flags) -> list[str] | None:
    return [pattern.strip() for pattern in flags["tables"].split(",")] if flags["tables"] else None


def _asked(data: list[str], flags: Flags) -> Flags:
    given = {name: value for name, value in flags.items() if value is not None}
    return {"data": data, **{name: str(value) if isinstance(value, Path) else value for name, value in given.items()}}


def _engine(flags: Flags) -> DuckDB:
    """Return the engine within the limits that were asked for."""
    if flags["threads"] is not None and not 1 <= flags["threads"] <= MAX_THREADS:
        wanted = f"a whole number from 1 to {MAX_THREADS:,}"
        raise ParameterError.outside("protect", "threads", flags["threads"], wanted)
    return DuckDB(threads=flags["threads"], memory=flags["memory"])


def _quietly() -> warnings.catch_warnings[None]:
    """Leave out the Python warnings about a release: the command prints their sentences itself."""
    return warnings.catch_warnings(action="ignore", category=ReleaseWarning)


def _mechanism(flags: Flags, *, with_secret: bool = True) -> Mechanism:
    """Return the mechanism that was asked for, with its noise and the secret; in a dry run with a stand-in for it."""
    path = Path(flags["secret_file"]) if flags["secret_file"] else None
    return mechanism_named(
        flags["mechanism"] or MECHANISMS[0],
        secret=lambda: read_secret(path) if with_secret else STAND_IN,
        law=flags["law"],
        ptable=Path(flags["ptable"]) if flags["ptable"] else None,
        mode=flags["key_mode"],
        version=flags["version_label"],
        budget=Path(flags["budget"]) if flags["budget"] else None,
        spsn=flags["spsn"],
        perturb_zeros=flags["perturb_zeros"],
        from_ids=bool(flags["id"]),
        ready_keys=bool(flags["key"]),
        **{name: flags[name] for name in LAW},
    )


def _check(flags: Flags, face: Face, *, replace: bool) -> None:
    """Refuse in a dry run what the run itself would refuse; the secret, which it need not have at hand, is left out."""
    for kind, flag, known in (
        ("mechanism", "mechanism", MECHANISMS),
        ("key mode", "key_mode", KEY_MODES),
        ("way with missing values", "missing", MISSING),
        ("format of tables", "format", FORMATS),
    ):
        if flags[flag] is not None and flags[flag] not in known:
            raise UnknownNameError.among(kind, flags[flag], known)
    RecordColumns(flags["id"], flags["key"], flags["count"], flags["weight"])
    told = [flags["law"], flags["ptable"], flags["budget"], *(flags[name] for name in LAW)]
    if any(value is not None for value in told):
        mechanism = _mechanism(flags, with_secret=False)
        if not flags["allow_disclosure"]:
            check_protects(mechanism)
    if face.out is not None:
        check_free(face.out, replace=replace, lock_timeout=face.lock_timeout)


def _json(asked: Flags, release: Release, out: Path, warnings: list[str]) -> str:
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    return answer(
        "protect",
        asked,
        noise_results(release),
        warnings,
        release=str(out),
        curator=str(curator_folder(out)),
        read={"records": made.records, "dropped": made.dropped, "margins": made.margins, "topics": made.topics},
        written={
            "tables": len(files),
            "resumed": made.resumed,
            "statistics": made.statistics,
            "cells": made.cells,
            "rows": sum(file["rows"] for file in files),
            "bytes": sum(file["bytes"] for file in files),
        },
        seconds={stage: round(seconds, 3) for stage, seconds in made.seconds.items()},
    )
