"""`discreet protect`: from records to a published release. Here are its flags; what they do is in `protect_runs`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from discreet.cli.progress_bars import Stages
from discreet.cli.protect_runs import Face, run, run_again, say_what_it_takes
from discreet.cli.settings_file import with_settings
from discreet.errors import ParameterError
from discreet.noise.noise_choice import CHOICES
from discreet.noise.ptable import KEY_MODES
from discreet.records.coding import MISSING
from discreet.release.locks import LOCK_TIMEOUT
from discreet.release.record import MECHANISMS
from discreet.release.table_files import FORMATS

OTHER_LAWS = tuple(name for name in CHOICES if name != "max-entropy")
KINDS: dict[str, type] = {
    "programme": str, "mechanism": str, "law": str, "variance": float, "bound": int, "threshold": int,
    "perturb_zeros": bool, "epsilon": float, "delta": float, "scale": float, "sigma": float, "ptable": str,
    "budget": str, "spsn": bool, "non_negative": bool, "key_mode": str, "version_label": str, "secret_file": str,
    "id": str, "key": str, "count": str, "weight": str, "weighted_only": bool, "tabulated": bool, "encoding": str,
    "regions": str, "tables": str, "unit": str, "missing": str, "format": str, "keep_exact": bool,
    "memory": str, "threads": int, "allow_disclosure": bool,
}  # fmt: skip
"""What a settings file may hold."""


def protect(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA", help="Parquet or CSV: files, a folder, a pattern; or a table: c.duckdb#persons."
        ),
    ] = None,
    programme: Annotated[
        str | None, typer.Option(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to make, and DIR.curator.")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Ids to make record keys from.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="Or ready-made record keys.")] = None,
    count: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Persons a row stands for; tabulated data.")
    ] = None,
    tabulated: Annotated[
        bool | None, typer.Option("--tabulated", help="DATA is a folder of tables by id; needs --count.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of CSV files [default: utf-8].")
    ] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Weights; adds a column weighted.")] = None,
    weighted_only: Annotated[
        bool | None, typer.Option("--weighted-only", help="With --weight: publish weighted counts alone.")
    ] = None,
    secret_file: Annotated[Path | None, typer.Option(metavar="FILE", help="The secret; else DISCREET_SECRET.")] = None,
    variance: Annotated[float | None, typer.Option(metavar="V", help="Noise variance of one count.")] = None,
    bound: Annotated[int | None, typer.Option(metavar="E", help="Largest absolute noise.")] = None,
    threshold: Annotated[int | None, typer.Option(metavar="J", help="Largest positive count never published.")] = None,
    perturb_zeros: Annotated[bool | None, typer.Option("--perturb-zeros", help="Give empty cells noise too.")] = None,
    ptable: Annotated[Path | None, typer.Option(metavar="FILE", help="Or a p-table from a file.")] = None,
    allow_disclosure: Annotated[
        bool | None, typer.Option("--allow-disclosure", help="Accept noise that reveals true counts.")
    ] = None,
    law: Annotated[str | None, typer.Option(metavar="LAW", help=f"Or: {', '.join(OTHER_LAWS)}.")] = None,
    epsilon: Annotated[float | None, typer.Option(metavar="EPS", help="Of one count; with eps-dp, of all.")] = None,
    delta: Annotated[float | None, typer.Option(metavar="D", help="With --epsilon, for truncated laws.")] = None,
    scale: Annotated[float | None, typer.Option(metavar="B", help="For the law laplace.")] = None,
    sigma: Annotated[float | None, typer.Option(metavar="S", help="For the Gaussian laws.")] = None,
    key_mode: Annotated[str | None, typer.Option(metavar="MODE", help=f"Keys: {' or '.join(KEY_MODES)}.")] = None,
    version_label: Annotated[str | None, typer.Option(metavar="LABEL", help="Another label, other keys.")] = None,
    mechanism: Annotated[str | None, typer.Option(metavar="NAME", help=f"{', '.join(MECHANISMS)}.")] = None,
    budget: Annotated[Path | None, typer.Option(metavar="FILE", help="eps-dp: weights or epsilons of tables.")] = None,
    spsn: Annotated[bool | None, typer.Option("--spsn/--no-spsn", help="eps-dp: one noise for all tables.")] = None,
    non_negative: Annotated[bool | None, typer.Option("--non-negative", help="Show 0 for less than 0.")] = None,
    regions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV of area, region: also tables by region.")
    ] = None,
    tables: Annotated[str | None, typer.Option(metavar="A,B.*", help="Only these tables.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="What a record is; that of most tables.")] = None,
    missing: Annotated[str | None, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="FORM", help=f"{' or '.join(FORMATS)}.")] = None,
    keep_exact: Annotated[bool | None, typer.Option("--keep-exact", help="Keep true counts in DIR.curator.")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Most memory to count in, as 2GB; more spills.")
    ] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="Threads to count with; all cores.")] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="Flags from a TOML file.")] = None,
    again: Annotated[Path | None, typer.Option(metavar="DIR", help="Repeat a run from its OUT.curator.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and do nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a release that exists.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the tables of a run that was killed.")] = False,
    lock_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, show_default=False, help="Longest wait for a lock; 30 s.")
    ] = LOCK_TIMEOUT,
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
            "threshold": threshold, "perturb_zeros": perturb_zeros, "epsilon": epsilon, "delta": delta, "scale": scale,
            "sigma": sigma, "ptable": ptable, "budget": budget, "spsn": spsn, "non_negative": non_negative,
            "key_mode": key_mode, "version_label": version_label, "secret_file": secret_file, "id": id_column,
            "key": key, "count": count, "weight": weight, "weighted_only": weighted_only,
            "tabulated": tabulated, "encoding": encoding, "regions": regions, "tables": tables, "unit": unit,
            "missing": missing, "format": form, "keep_exact": keep_exact, "memory": memory, "threads": threads,
            "allow_disclosure": allow_disclosure,
        },
        KINDS,
    )  # fmt: skip
    face = Face(out, Stages(shown=not quiet, log=log), as_json, lock_timeout)
    if again is not None:
        if dry_run:
            raise ParameterError("A run that is repeated has no dry run. Leave out one of them.", parameter="dry_run")
        run_again(again, data, flags, face, replace=replace, resume=resume)
        return
    if not data:
        example = "Example: discreet protect census.parquet"
        raise ParameterError(f"DATA is missing: the records to count. {example}", parameter="data")
    if not flags["programme"]:
        raise ParameterError("--programme is missing. Example: --programme eu2021:LU", parameter="programme")
    if dry_run:
        say_what_it_takes(data, flags, face, replace=replace)
        return
    run(data, flags, face, replace=replace, resume=resume)
