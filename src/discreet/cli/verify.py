"""`discreet verify`: whether a release is as it was published and, given the data, made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.protection.repetition import verify as verify_release
from discreet.records.secret import secret_as_given, secret_warnings


def verify(
    release: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a release.")],
    data: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Its data: make it again and compare; may be repeated.")
    ] = None,
    secret_file: options.SecretFile = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Check every file of a release, its description and, with the data, that the same bytes come out again.

    Example: discreet verify release --data census.parquet --secret-file office.secret
    """
    secret = secret_as_given(secret_file) if data else None
    with ProgressBars(shown=not quiet and bool(data)) as stages:
        found = verify_release(release, data=data or None, secret=secret, progress=stages)
    warnings = secret_warnings(secret, secret_file)
    if not as_json:
        typer.echo("\n".join([found.title, *(f"Warning: {text}" for text in warnings)]))
        return
    settings = {"release": str(release), "data": data or None, "secret_file": secret_file}
    output.answer("verify", settings, found.results, warnings, **found.to_json())
