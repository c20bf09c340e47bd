"""`discreet keys`: make a secret, and give records their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.errors import SecretError
from discreet.records.key_file import COLUMN, add_keys
from discreet.records.secret import VARIABLE, new_secret, read_secret, secret_warnings, write_secret

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="Make a secret, and give records their keys.",
)


@app.command("new")
def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]) -> None:
    """Make a new secret and keep it in a file that only you can read.

    Example: discreet keys new office.secret
    """
    write_secret(file, new_secret())
    typer.echo(
        f"Wrote {file}, a new secret that only you can read (mode 600): keep it and a backup of it safe, since "
        "without it no release can be repeated, and never publish it, since noise does not protect from who has it."
    )


@app.command("add")
def add(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The records, in any form that discreet reads.")],
    id_column: Annotated[str, typer.Option("--id", metavar="COLUMN", help="The column that tells records apart.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write: .parquet or .csv.")],
    secret_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"The file of the secret; else the variable {VARIABLE}.")
    ] = None,
    version_label: Annotated[str, typer.Option(metavar="LABEL", help="Another label gives other keys.")] = "1",
    encoding: options.Encoding = None,
    column: Annotated[str, typer.Option(metavar="NAME", help="What the column of keys is called.")] = COLUMN,
    replace: options.ReplaceFile = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a copy of the data with a record key in every record.

    Example: discreet keys add persons.csv --id PERSON_ID --secret-file office.secret --out keyed.parquet
    """
    secret = _secret(secret_file)
    warnings = secret_warnings(secret, secret_file)
    made = add_keys(
        data,
        out,
        id=id_column,
        secret=secret,
        version=version_label,
        column=column,
        replace=replace,
        encoding=encoding,
    )
    if as_json:
        settings = {"data": data, "id": id_column, "version_label": version_label, "column": column}
        output.answer("keys add", settings, [], warnings, records=made.records, written=made.path)
        return
    typer.echo(
        f"Wrote {made.path}: {made.records:,} records with their keys (version {version_label}) in {column}. "
        "Only you can read the file (mode 600); keep it as safe as the data."
    )
    for warning in warnings:
        typer.echo(f"Warning: {warning}")


def _secret(path: Path | None) -> bytes:
    """Return the secret, or say where one could come from."""
    secret = read_secret(path)
    if secret is None:
        todo = f"Name its file with --secret-file, or set {VARIABLE}; `discreet keys new FILE` makes one."
        raise SecretError.at("Record keys", "need the office's secret, and none was given.", todo)
    return secret
