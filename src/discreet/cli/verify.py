"""`discreet verify`: check that a release is unchanged and, given the data, that it was made from them."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars


def verify(
    release: options.ReleaseFolder,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", help="Data of the release: reproduce it and compare. Repeatable."),
    ] = None,
    secret_file: options.SecretFile = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Check the files of a release; with the data, reproduce it and compare.

    Example: discreet verify release --data census.parquet --secret-file office.secret
    """
    from discreet.protection.repetition import verify as verify_release
    from discreet.records.secret import secret_as_given, secret_warnings

    secret = secret_as_given(secret_file) if data else None
    with ProgressBars(shown=not quiet and bool(data)) as stages:
        found = verify_release(release, data=data or None, secret=secret, progress=stages)
    warnings = secret_warnings(secret, secret_file)
    if as_json:
        settings = {"release": str(release), "data": data or None, "secret_file": secret_file}
        output.answer("verify", settings, found.results, warnings, **found.to_json())
    elif not quiet:
        for text in (found.title, *(f"Warning: {text}" for text in warnings)):
            output.paragraph(text)
