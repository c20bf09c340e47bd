"""`discreet protect`: publish a release from records, repeat one from its record, or estimate the effort."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.choices import KEY_MODES, LOCK_TIMEOUT, MECHANISMS, MISSING, TABLE_FILES
from discreet.cli.progress_bars import ProgressBars
from discreet.cli.settings_file import with_settings
from discreet.errors import ParameterError, ReleaseWarning, UnknownNameError
from discreet.limits import MAX_THREADS

if TYPE_CHECKING:
    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

    Flags = dict[str, Any]

LAW = ("variance", "bound", "threshold", "epsilon", "delta", "scale", "sigma")
"""Flags that are parameters of a noise distribution."""
NOT_OF_THE_RUN = ("secret_file", "memory", "threads")
"""Flags that a repeated run may have: they do not change its tables."""
STAND_IN = bytes(32)
"""Placeholder for the secret where only the other flags are checked."""
LABEL = 11
"""Width of the labels of a summary."""
TRUE_COUNTS = "The tables contain true counts, without noise. Do not publish them."


@dataclass(frozen=True)
class RunOutput:
    """The output of a run: its folder, its progress, and the form of its summary.

    Attributes:
        out: the folder of the release.
        stages: the progress.
        as_json: whether the summary is JSON.
        quiet: whether a text summary is omitted.
        lock_timeout: the longest wait for another run, in seconds.
    """

    out: Path | None
    stages: ProgressBars
    as_json: bool
    quiet: bool = False
    lock_timeout: float = LOCK_TIMEOUT

    def folder(self, *, replace: bool) -> Path:
        """Return the folder of the release, or refuse one that is missing or in use."""
        from discreet.release.release_folder import check_free, curator_folder, recover, unfinished_tables

        if self.out is None:
            raise ParameterError("--out is missing: the folder of the release. Example: --out release", parameter="out")
        recover(self.out, self.lock_timeout)
        check_free(self.out, replace=replace, lock_timeout=self.lock_timeout)
        out = self.out

        def unfinished() -> str:
            left = unfinished_tables(out)
            return f"{left:,} finished tables are kept; --resume continues from them." if left else ""

        output.OUTPUTS.expect(out, curator_folder(out), unfinished=unfinished)
        return out

    def show(self, asked: Flags, release: Release, out: Path, notes: list[str]) -> None:
        """Print the summary of a run; notes come before other warnings."""
        from discreet.protection.sentences import protect_text

        found = [*notes, *self.stages.warnings]
        found += release.summary.warnings if release.summary else ()
        found += [TRUE_COUNTS] if release.record.is_exact else []
        if self.as_json:
            _print_json(asked, release, out, found)
        elif not self.quiet:
            _print_lines(protect_text(release, out, found))


def _print_lines(text: str) -> None:
    """Print lines with labels, wrapped; the next command stays whole."""
    for line in text.splitlines():
        if line.startswith("Next: "):
            typer.echo(line)
        else:
            output.paragraph(line, then=" " * LABEL if line[LABEL - 2 : LABEL] == "  " else "")


def run(data: list[str], flags: Flags, to: RunOutput, *, replace: bool, resume: bool) -> None:
    """Make a release."""
    from discreet.protection.pipeline import protect as publish
    from discreet.records.secret import secret_warnings
    from discreet.release.release_folder import unfinished_tables

    out = to.folder(replace=replace)
    if not resume and not to.quiet and (left := unfinished_tables(out)):
        typer.echo(f"A run that was killed left {left:,} finished tables; --resume continues from them.", err=True)
    with _engine(flags) as engine, to.stages as stages, _quietly():
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
            targets=flags["target"],
            lock_timeout=to.lock_timeout,
            form=flags["format"] or TABLE_FILES[0],
            progress=stages,
            engine=engine,
        )
    to.show(_asked(data, flags), release, out, secret_warnings(mechanism.secret, flags["secret_file"]))


def run_again(
    curator: Path, data: list[str] | None, flags: Flags, to: RunOutput, *, replace: bool, resume: bool
) -> None:
    """Repeat a run from its record; only the secret and the folder of the new release are given."""
    from discreet.protection.repetition import repeat
    from discreet.records.secret import secret_as_given, secret_warnings

    extra = [name for name, value in flags.items() if value is not None and name not in NOT_OF_THE_RUN]
    if extra:
        raise ParameterError(
            f"A repeated run takes all settings from its record; --{extra[0].replace('_', '-')} cannot be given too. "
            "Leave it out, or leave out --again.",
            parameter=extra[0],
        )
    out = to.folder(replace=replace)
    secret = secret_as_given(flags["secret_file"])
    with _engine(flags) as engine, to.stages as stages, _quietly():
        release = repeat(
            curator,
            data=data or None,
            secret=secret,
            out=out,
            replace=replace,
            resume=resume,
            lock_timeout=to.lock_timeout,
            progress=stages,
            engine=engine,
        )
    asked = {"again": curator, **({"data": data} if data else {})}
    to.show(asked, release, out, secret_warnings(secret, flags["secret_file"]))


def print_estimate(data: list[str], flags: Flags, to: RunOutput, *, replace: bool) -> None:
    """Check flags, programme and the heads of the data, and print the effort of a run without running it."""
    from discreet.protection.dry_run import estimate
    from discreet.protection.sentences import estimate_text

    _check(flags, to, replace=replace)
    if flags["tabulated"]:
        what = "A dry run does not estimate the effort for pre-tabulated input."
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
    if to.as_json:
        output.answer("protect", _asked(data, flags), [], [], dry_run=True, estimate=found.to_json())
    elif not to.quiet:
        _print_lines(estimate_text(found))


def _tables(flags: Flags) -> list[str] | None:
    return [pattern.strip() for pattern in flags["tables"].split(",")] if flags["tables"] else None


def _asked(data: list[str], flags: Flags) -> Flags:
    return {"data": data, **{name: value for name, value in flags.items() if value is not None}}


def _engine(flags: Flags) -> DuckDB:
    """Return the engine with the given limits on threads and memory."""
    from discreet.engines.duckdb import DuckDB

    if flags["threads"] is not None and not 1 <= flags["threads"] <= MAX_THREADS:
        wanted = f"a whole number from 1 to {MAX_THREADS:,}"
        raise ParameterError.outside("protect", "threads", flags["threads"], wanted)
    return DuckDB(threads=flags["threads"], memory=flags["memory"])


def _quietly() -> warnings.catch_warnings[None]:
    """Ignore Python warnings about a release: the command prints their sentences."""
    return warnings.catch_warnings(action="ignore", category=ReleaseWarning)


def _mechanism(flags: Flags, *, with_secret: bool = True) -> Mechanism:
    """Return the mechanism with its noise and the secret; in a dry run with a placeholder for the secret."""
    from discreet.mechanisms.mechanism_by_name import mechanism_named
    from discreet.records.secret import read_secret

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


def _check(flags: Flags, to: RunOutput, *, replace: bool) -> None:
    """Refuse in a dry run what the run itself would refuse; the secret is not needed."""
    from discreet.mechanisms.mechanism import MECHANISMS as KNOWN_MECHANISMS
    from discreet.protection.pipeline import check_protects
    from discreet.records.record_columns import RecordColumns
    from discreet.release.release_folder import check_free

    for kind, flag, known in (
        ("mechanism", "mechanism", KNOWN_MECHANISMS.names()),
        ("key mode", "key_mode", KEY_MODES),
        ("treatment of missing values", "missing", MISSING),
        ("table format", "format", TABLE_FILES),
    ):
        if flags[flag] is not None and flags[flag] not in known:
            raise UnknownNameError.among(kind, flags[flag], known)
    RecordColumns(flags["id"], flags["key"], flags["count"], flags["weight"])
    noise = [flags["law"], flags["ptable"], flags["budget"], *(flags[name] for name in LAW)]
    if any(value is not None for value in noise):
        mechanism = _mechanism(flags, with_secret=False)
        if not flags["allow_disclosure"]:
            check_protects(mechanism)
    if to.out is not None:
        check_free(to.out, replace=replace, lock_timeout=to.lock_timeout)


def _print_json(asked: Flags, release: Release, out: Path, warnings: list[str]) -> None:
    from discreet.protection.sentences import noise_results
    from discreet.release.release_folder import curator_folder

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


KINDS: dict[str, type] = {
    "programme": str, "mechanism": str, "law": str, "variance": float, "bound": int, "threshold": int,
    "perturb_zeros": bool, "epsilon": float, "delta": float, "scale": float, "sigma": float, "ptable": str,
    "budget": str, "spsn": bool, "non_negative": bool, "key_mode": str, "version_label": str, "secret_file": str,
    "id": str, "key": str, "count": str, "weight": str, "weighted_only": bool, "tabulated": bool, "encoding": str,
    "regions": str, "tables": str, "unit": str, "missing": str, "format": str, "keep_exact": bool,
    "memory": str, "threads": int, "allow_disclosure": bool, "target": list,
}  # fmt: skip
"""Types of the flags that a settings file may contain."""
PARAMETERS = {"id": "id_column", "format": "form"}
"""Python names of flags, where they differ."""


Records = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA",
        help="Microdata: Parquet or CSV files, a folder, a pattern, or a table such as c.duckdb#persons.",
    ),
]
ProgrammeName = Annotated[
    str | None, typer.Option(metavar="SPEC", help="Programme of tables: a TOML file, or a name such as eu2021:LU.")
]
Tabulated = Annotated[
    bool | None, typer.Option("--tabulated", help="DATA is a folder with one tabulated file per table. Needs --count.")
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of weights; tables get a column of weighted counts.")
]
WeightedOnly = Annotated[
    bool | None, typer.Option("--weighted-only", help="Publish weighted counts only. Needs --weight.")
]
Regions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="CSV of areas and user-defined regions; adds tables by region.")
]
PerturbZeros = Annotated[bool | None, typer.Option("--perturb-zeros", help="Add noise to empty cells too.")]
AllowDisclosure = Annotated[
    bool | None, typer.Option("--allow-disclosure", help="Accept noise that reveals some true counts.")
]
Epsilon = Annotated[
    float | None,
    typer.Option(metavar="EPS", help="Epsilon of one count; with --mechanism eps-dp, of the whole output."),
]
KeyMode = Annotated[
    str | None,
    typer.Option(metavar="MODE", help=f"Use of record keys: {' or '.join(KEY_MODES)} [default: {KEY_MODES[0]}]."),
]
VersionLabel = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Key version. Changing it redraws all noise [default: 1].")
]
MechanismName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help=f"Mechanism: {', '.join(MECHANISMS)} [default: {MECHANISMS[0]}]."),
]
BudgetFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CSV that splits the budget of eps-dp over tables [default: evenly]."),
]
SameNoise = Annotated[
    bool | None,
    typer.Option("--spsn/--no-spsn", help="Consistent noise in all tables (default), or independent; for eps-dp."),
]
NonNegative = Annotated[bool | None, typer.Option("--non-negative", help="Publish 0 instead of negative counts.")]
TableFiles = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help=f"Format of tables: {' or '.join(TABLE_FILES)} [default: {TABLE_FILES[0]}]."
    ),
]
KeepExact = Annotated[bool | None, typer.Option("--keep-exact", help="Keep the true counts in DIR.curator/exact.")]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory limit for tabulation, e.g. 2GB; larger work spills to disk [default: 80 % of the machine's].",
    ),
]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Number of threads for tabulation [default: all cores].")
]
Settings = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TOML file of options; the command line overrides it.")
]
Again = Annotated[Path | None, typer.Option(metavar="DIR", help="Repeat a run from its OUT.curator folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check the options and estimate the effort; write nothing.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue from the finished tables of a run that was killed.")]
LockTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0, help="Longest wait for another run in the same folder, in seconds.")
]
Log = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Append a line of JSON per stage to this file, without data.")
]


def protect(
    data: Records = None,
    programme: ProgrammeName = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the release to write; DIR.curator is next to it.")
    ] = None,
    id_column: options.IdColumn = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    tabulated: Tabulated = None,
    encoding: options.Encoding = None,
    weight: Weight = None,
    weighted_only: WeightedOnly = None,
    secret_file: options.SecretFile = None,
    variance: options.Variance = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    perturb_zeros: PerturbZeros = None,
    ptable: options.PTableFile = None,
    allow_disclosure: AllowDisclosure = None,
    target: options.Targets = None,
    law: options.Law = None,
    epsilon: Epsilon = None,
    delta: options.Delta = None,
    scale: options.Scale = None,
    sigma: options.Sigma = None,
    key_mode: KeyMode = None,
    version_label: VersionLabel = None,
    mechanism: MechanismName = None,
    budget: BudgetFile = None,
    spsn: SameNoise = None,
    non_negative: NonNegative = None,
    regions: Regions = None,
    tables: options.OnlyTables = None,
    unit: options.Unit = None,
    missing: options.Missing = None,
    form: TableFiles = None,
    keep_exact: KeepExact = None,
    memory: Memory = None,
    threads: Threads = None,
    settings: Settings = None,
    again: Again = None,
    dry_run: DryRun = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a release that exists.")] = False,
    resume: Resume = False,
    lock_timeout: LockTimeout = LOCK_TIMEOUT,
    log: Log = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Count all tables of a programme, add noise, and write a release.

    Example: discreet protect census.parquet --programme eu2021:LU --id PERSON_ID
    --secret-file office.secret --variance 3 --bound 5 --out release
    """
    flags = with_settings(settings, _flags(locals()), KINDS)
    to = RunOutput(out, ProgressBars(shown=not quiet, log=log), as_json, quiet, lock_timeout)
    if again is not None:
        if dry_run:
            raise ParameterError("A repeated run has no dry run. Leave out --again or --dry-run.", parameter="dry_run")
        run_again(again, data, flags, to, replace=replace, resume=resume)
        return
    _check_there(data, flags)
    if dry_run:
        print_estimate(data or [], flags, to, replace=replace)
    else:
        run(data or [], flags, to, replace=replace, resume=resume)


def _flags(given: Flags) -> Flags:
    """Return the flags that a settings file may contain, by their name on the command line."""
    return {name: given[PARAMETERS.get(name, name)] for name in KINDS}


def _check_there(data: list[str] | None, flags: Flags) -> None:
    """Refuse a run without data or without a programme."""
    if not data:
        example = "Example: discreet protect census.parquet"
        raise ParameterError(f"DATA is missing: the records to count. {example}", parameter="data")
    if not flags["programme"]:
        raise ParameterError("--programme is missing. Example: --programme eu2021:LU", parameter="programme")
