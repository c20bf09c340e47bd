"""`discreet protect`: from records to a published release; one repeated from its record; or what it would take."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.cli.settings_file import with_settings
from discreet.engines.duckdb import DuckDB
from discreet.errors import ParameterError, ReleaseWarning, UnknownNameError
from discreet.limits import MAX_THREADS
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.by_name import distribution_names
from discreet.noise.ptable import KEY_MODES
from discreet.protection.dry_run import estimate
from discreet.protection.pipeline import check_protects
from discreet.protection.pipeline import protect as publish
from discreet.protection.repetition import repeat
from discreet.protection.sentences import estimate_text, noise_results, protect_text
from discreet.records.category_coding import MISSING
from discreet.records.record_columns import RecordColumns
from discreet.records.secret import read_secret, secret_as_given, secret_warnings
from discreet.release.release_folder import check_free, curator_folder, recover, unfinished_tables
from discreet.release.run_journal import LOCK_TIMEOUT
from discreet.release.table_files import FORMATS

if TYPE_CHECKING:
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
    stages: ProgressBars
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
        told += [TRUE_COUNTS] if release.record.is_exact else []
        if self.as_json:
            _print_json(asked, release, out, told)
        else:
            typer.echo(protect_text(release, out, told))


def run(data: list[str], flags: Flags, face: Face, *, replace: bool, resume: bool) -> None:
    """Make a release."""
    out = face.place(replace=replace)
    if not resume and (left := unfinished_tables(out)):
        typer.echo(f"A run that was killed left {left:,} finished tables; --resume would go on from them.", err=True)
    with _engine(flags) as engine, face.stages as stages, _quietly():
        mechanism = _mechanism(flags)
        release = publish(
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
        release = repeat(
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
    asked = {"again": curator, **({"data": data} if data else {})}
    face.tell(asked, release, out, secret_warnings(secret, flags["secret_file"]))


def print_estimate(data: list[str], flags: Flags, face: Face, *, replace: bool) -> None:
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
        output.answer("protect", _asked(data, flags), [], [], dry_run=True, estimate=found.to_json())
    else:
        typer.echo(estimate_text(found))


def _tables(flags: Flags) -> list[str] | None:
    return [pattern.strip() for pattern in flags["tables"].split(",")] if flags["tables"] else None


def _asked(data: list[str], flags: Flags) -> Flags:
    return {"data": data, **{name: value for name, value in flags.items() if value is not None}}


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
        flags["mechanism"] or MECHANISMS.names()[0],
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
        ("mechanism", "mechanism", MECHANISMS.names()),
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


def _print_json(asked: Flags, release: Release, out: Path, warnings: list[str]) -> None:
    made, files = release.summary, release.description["files"]
    assert made is not None  # noqa: S101 - this run made it
    output.answer(
        "protect",
        asked,
        noise_results(release),
        warnings,
        release=out,
        curator=curator_folder(out),
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


OTHER_LAWS = tuple(name for name in distribution_names() if name != "max-entropy")
KINDS: dict[str, type] = {
    "programme": str, "mechanism": str, "law": str, "variance": float, "bound": int, "threshold": int,
    "perturb_zeros": bool, "epsilon": float, "delta": float, "scale": float, "sigma": float, "ptable": str,
    "budget": str, "spsn": bool, "non_negative": bool, "key_mode": str, "version_label": str, "secret_file": str,
    "id": str, "key": str, "count": str, "weight": str, "weighted_only": bool, "tabulated": bool, "encoding": str,
    "regions": str, "tables": str, "unit": str, "missing": str, "format": str, "keep_exact": bool,
    "memory": str, "threads": int, "allow_disclosure": bool,
}  # fmt: skip
"""What a settings file may hold."""
PARAMETERS = {"id": "id_column", "format": "form"}
"""What flags are called in Python, where their own name is taken."""


Records = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA", help="Parquet or CSV: files, a folder, a pattern; or a table: c.duckdb#persons."),
]
ProgrammeName = Annotated[str | None, typer.Option(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")]
KeyId = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Ids to make record keys from.")]
Tabulated = Annotated[bool | None, typer.Option("--tabulated", help="DATA is a folder of tables by id; needs --count.")]
WeightedOnly = Annotated[
    bool | None, typer.Option("--weighted-only", help="With --weight: publish weighted counts alone.")
]
AllowDisclosure = Annotated[
    bool | None, typer.Option("--allow-disclosure", help="Accept noise that reveals true counts.")
]
Regions = Annotated[Path | None, typer.Option(metavar="FILE", help="CSV of area, region: also tables by region.")]
Memory = Annotated[str | None, typer.Option(metavar="SIZE", help="Most memory to count in, as 2GB; more spills.")]
LockTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0, show_default=False, help="Longest wait for a lock; 30 s.")
]


def protect(
    data: Records = None,
    programme: ProgrammeName = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to make, and DIR.curator.")] = None,
    id_column: KeyId = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    tabulated: Tabulated = None,
    encoding: options.Encoding = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Weights; adds a column weighted.")] = None,
    weighted_only: WeightedOnly = None,
    secret_file: options.SecretFile = None,
    variance: options.Variance = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    perturb_zeros: Annotated[bool | None, typer.Option("--perturb-zeros", help="Give empty cells noise too.")] = None,
    ptable: options.PTableFile = None,
    allow_disclosure: AllowDisclosure = None,
    law: Annotated[str | None, typer.Option(metavar="LAW", help=f"Or: {', '.join(OTHER_LAWS)}.")] = None,
    epsilon: Annotated[float | None, typer.Option(metavar="EPS", help="Of one count; with eps-dp, of all.")] = None,
    delta: options.Delta = None,
    scale: options.Scale = None,
    sigma: options.Sigma = None,
    key_mode: Annotated[str | None, typer.Option(metavar="MODE", help=f"Keys: {' or '.join(KEY_MODES)}.")] = None,
    version_label: Annotated[str | None, typer.Option(metavar="LABEL", help="Another label, other keys.")] = None,
    mechanism: Annotated[str | None, typer.Option(metavar="NAME", help=f"{', '.join(MECHANISMS.names())}.")] = None,
    budget: Annotated[Path | None, typer.Option(metavar="FILE", help="eps-dp: weights or epsilons of tables.")] = None,
    spsn: Annotated[bool | None, typer.Option("--spsn/--no-spsn", help="eps-dp: one noise for all tables.")] = None,
    non_negative: Annotated[bool | None, typer.Option("--non-negative", help="Show 0 for less than 0.")] = None,
    regions: Regions = None,
    tables: options.OnlyTables = None,
    unit: options.Unit = None,
    missing: Annotated[str | None, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="FORM", help=f"{' or '.join(FORMATS)}.")] = None,
    keep_exact: Annotated[bool | None, typer.Option("--keep-exact", help="Keep true counts in DIR.curator.")] = None,
    memory: Memory = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="Threads to count with; all cores.")] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="Flags from a TOML file.")] = None,
    again: Annotated[Path | None, typer.Option(metavar="DIR", help="Repeat a run from its OUT.curator.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and do nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a release that exists.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the tables of a run that was killed.")] = False,
    lock_timeout: LockTimeout = LOCK_TIMEOUT,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Add a line of JSON per stage; no data.")] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Count all tables of a programme, add noise, and write a release.

    Example: discreet protect census.parquet --programme eu2021:LU --id PERSON_ID
    --secret-file office.secret --variance 3 --bound 5 --out release
    """
    flags = with_settings(settings, _flags(locals()), KINDS)
    face = Face(out, ProgressBars(shown=not quiet, log=log), as_json, lock_timeout)
    if again is not None:
        if dry_run:
            raise ParameterError("A run that is repeated has no dry run. Leave out one of them.", parameter="dry_run")
        run_again(again, data, flags, face, replace=replace, resume=resume)
        return
    _check_there(data, flags)
    if dry_run:
        print_estimate(data or [], flags, face, replace=replace)
    else:
        run(data or [], flags, face, replace=replace, resume=resume)


def _flags(given: Flags) -> Flags:
    """Return the flags that a settings file may hold, by the name that they have on the command line."""
    return {name: given[PARAMETERS.get(name, name)] for name in KINDS}


def _check_there(data: list[str] | None, flags: Flags) -> None:
    """Refuse a run without data or without a programme."""
    if not data:
        example = "Example: discreet protect census.parquet"
        raise ParameterError(f"DATA is missing: the records to count. {example}", parameter="data")
    if not flags["programme"]:
        raise ParameterError("--programme is missing. Example: --programme eu2021:LU", parameter="programme")
