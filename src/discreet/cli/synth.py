"""`discreet synth`: a synthetic census for trials."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars

if TYPE_CHECKING:
    from discreet.synthetic.synthetic_census import SyntheticFile


def synth(
    country: Annotated[str, typer.Option(metavar="CODE", help="Country code, as in eu2021:LU.")],
    persons: Annotated[int, typer.Option(metavar="N", help="Number of persons, 1 to 10^9.")],
    seed: Annotated[int, typer.Option(metavar="S", help="Seed, a whole number. The same seed gives the same file.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write, .parquet or .csv.")],
    replace: options.ReplaceFile = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a synthetic census: persons in households, with all topics of the EU census.

    Example: discreet synth --country LU --persons 30000 --seed 1 --out people.parquet
    """
    from discreet.synthetic.synthetic_census import synth as write_synthetic

    output.OUTPUTS.expect(out)
    with ProgressBars(shown=not quiet) as stages:
        made = write_synthetic(
            out,
            country=country,
            persons=persons,
            seed=seed,
            replace=replace,
            progress=lambda done, total: stages("persons", done, total),
        )
    if as_json:
        settings = {"country": country, "persons": persons, "seed": seed, "out": out}
        own = {"persons": made.persons, "households": made.households, "written": made.written}
        output.answer("synth", settings, [], [made.sentence], **own)
    elif not quiet:
        typer.echo(_closing(made, country))


def _closing(made: SyntheticFile, country: str) -> str:
    protect = (
        f"discreet protect {shlex.quote(str(made.written))} --programme eu2021:{country} --id PERSON_ID "
        "--secret-file office.secret --variance 3 --bound 5 --out release"
    )
    return "\n".join(
        [
            f"Wrote {made.written}: {made.persons:,} persons in {made.households:,} private households.",
            f"{made.sentence} Its shares are illustrative. Use it for trials, not for statistics.",
            f"Its codes are those of eu2021:{country}. Next, with a secret (discreet keys new office.secret):",
            protect,
        ]
    )
