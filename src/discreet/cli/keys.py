"""`discreet keys`: make a secret, and add record keys to data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.choices import KEY_COLUMN, SECRET_VARIABLE
from discreet.cli.help import PanelCommand, PanelGroup
from discreet.errors import SecretError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    cls=PanelGroup,
    help="Make a secret, and add record keys to data.",
)


@app.command("new", cls=PanelCommand)
def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write; it must not exist.")]) -> None:
    """Make a new secret and write it to a file that only its owner can read.

    Example: discreet keys new office.secret
    """
    from discreet.records.secret import new_secret, write_secret

    output.OUTPUTS.expect(file)
    write_secret(file, new_secret())
    output.paragraph(
        f"Wrote {file}: a new secret that only you can read (mode 600). Store it and a backup securely: without it no "
        "release can be repeated. Do not publish it: anyone who holds it can remove the noise."
    )


@app.command("add", cls=PanelCommand)
def add(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Microdata: files, a folder, a pattern or a database table.")
    ],
    id_column: Annotated[
        str, typer.Option("--id", metavar="COLUMN", help="Column of record ids: text or whole numbers, unique.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write, .parquet or .csv.")],
    secret_file: options.SecretFile = None,
    version_label: Annotated[
        str, typer.Option(metavar="LABEL", help="Key version. Changing it redraws all noise.")
    ] = "1",
    encoding: options.Encoding = None,
    column: Annotated[str, typer.Option(metavar="NAME", help="Name of the column of keys.")] = KEY_COLUMN,
    replace: options.ReplaceFile = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a copy of the data with a record key in every record.

    Example: discreet keys add persons.csv --id PERSON_ID --secret-file office.secret --out keyed.parquet
    """
    from discreet.records.key_file import add_keys
    from discreet.records.secret import secret_warnings

    secret = _secret(secret_file)
    warnings = secret_warnings(secret, secret_file)
    output.OUTPUTS.expect(out)
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
    output.paragraph(
        f"Wrote {made.path}: {made.records:,} records with their keys (version {version_label}) in {column}. "
        "Only you can read the file (mode 600). Store it as securely as the data."
    )
    for warning in warnings:
        output.paragraph(f"Warning: {warning}")


def _secret(path: Path | None) -> bytes:
    """Return the secret, or raise an error with the ways to supply it."""
    from discreet.records.secret import read_secret

    secret = read_secret(path)
    if secret is None:
        todo = f"Name its file with --secret-file, or set {SECRET_VARIABLE}; `discreet keys new FILE` makes one."
        raise SecretError.at("Record keys", "need the office's secret, and none was given.", todo)
    return secret
