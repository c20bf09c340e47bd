"""`discreet synth`: a synthetic census to try things on."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.synthetic.synthetic_census import synth as write_synthetic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.synthetic.synthetic_census import SyntheticFile


def synth(
    country: Annotated[str, typer.Option(metavar="CODE", help="Country, as in eu2021:LU.")],
    persons: Annotated[int, typer.Option(metavar="N", help="How many persons, from 1 to 10^9.")],
    seed: Annotated[int, typer.Option(metavar="S", help="A whole number; the same one gives the same file.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the persons to this file: .parquet or .csv.")],
    replace: options.ReplaceFile = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a synthetic census: made-up persons in households, with a code for every topic of the EU census."""
    with _bar(shown=sys.stderr.isatty() and not quiet) as progress:
        made = write_synthetic(out, country=country, persons=persons, seed=seed, replace=replace, progress=progress)
    if as_json:
        settings = {"country": country, "persons": persons, "seed": seed, "out": out}
        own = {"persons": made.persons, "households": made.households, "written": made.written}
        output.answer("synth", settings, [], [made.sentence], **own)
        return
    typer.echo(_closing(made, country))


def _closing(made: SyntheticFile, country: str) -> str:
    protect = (
        f"discreet protect {shlex.quote(str(made.written))} --programme eu2021:{country} --id PERSON_ID "
        "--secret-file office.secret --variance 3 --bound 5 --out release"
    )
    return "\n".join(
        [
            f"Wrote {made.written}: {made.persons:,} persons in {made.households:,} private households.",
            f"{made.sentence} Its shares are illustrative: it is for trying things out, not for statistics.",
            f"The codes are those of eu2021:{country}. Next, with a secret (discreet keys new office.secret):",
            protect,
        ]
    )


@contextmanager
def _bar(*, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that moves a bar on standard error, or None if there is to be no bar."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Making persons", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
