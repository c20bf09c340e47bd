"""Options and arguments that several commands have, each with one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.choices import ATTACKERS, DISTRIBUTIONS, MISSING, RULES, SECRET_VARIABLE, UTF8
from discreet.cli.help import RUN

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Details = Annotated[bool, typer.Option("--details", help="Print all figures and assumptions, not one screen.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only: no progress, no text. --json still prints.")]
ReplaceFile = Annotated[bool, typer.Option("--replace", help="Overwrite the output file if it exists.")]
ReplaceFiles = Annotated[bool, typer.Option("--replace", help="Overwrite output files that exist.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a chart, FILE.png or FILE.svg.")]

Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME=VALUE",
        help="Target: largest accepted value of a risk or use, e.g. averaging=0.68 or small-areas=5%. Repeatable.",
    ),
]

Tables = Annotated[
    str, typer.Argument(metavar="SPEC", help="Programme of tables: a TOML file, or a name such as eu2021:LU.")
]
OnlyTables = Annotated[
    str | None,
    typer.Option(metavar="IDS", help="Tables to include: ids or patterns, comma-separated [default: all]."),
]
Areas = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC", help="Topic of areas [default: declared in the programme, or recognised by its name]."
    ),
]
Rule = Annotated[
    str, typer.Option(metavar="RULE", help=f"Levels counted: {RULES[0]} (every level) or {RULES[1]} (finest only).")
]
Population = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Population whose tables are included [default: all of the commonest unit]."),
]
Known = Annotated[
    str | None, typer.Option(metavar="STATISTIC", help="Statistic whose true counts are public [default: none].")
]
KeepSingle = Annotated[bool, typer.Option("--keep-single", help="Keep levels with one category as levels.")]
ClosedForm = Annotated[
    bool,
    typer.Option(
        "--closed-form", help="Use the closed form for equal blocks, not exact solutions. Faster, less exact."
    ),
]

ReleaseFolder = Annotated[Path, typer.Argument(metavar="RELEASE", help="Folder of a release.")]
Truth = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the true counts [default: RELEASE.curator/exact if it exists]."),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="N", rich_help_panel=RUN, help="Target cells of attacks that estimate cell by cell, or none for all."
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of simulations and samples, a whole number.")]
SecretFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help=f"File of the secret [default: the variable {SECRET_VARIABLE}]."),
]

Records = Annotated[
    list[str] | None,
    typer.Option(metavar="DATA", help="Microdata: files, a folder, a pattern or a database table. Repeatable."),
]
IdColumn = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column of record ids, from which record keys are made.")
]
KeyColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of ready-made record keys, instead of --id.")
]
CountColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with the count of each row, for pre-tabulated input [default: 1 each]."
    ),
]
Unit = Annotated[
    str | None, typer.Option(metavar="UNIT", help="Unit that a record represents [default: that of most tables].")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help=f"Encoding of CSV files [default: {UTF8}].")]
Missing = Annotated[
    str | None,
    typer.Option(metavar="HOW", help=f"Records with a missing value: {', '.join(MISSING)} [default: {MISSING[0]}]."),
]

Variance = Annotated[float | None, typer.Option(metavar="V", help="Noise variance of one count.")]
Bound = Annotated[int | None, typer.Option(metavar="E", help="Bound: the largest absolute noise value.")]
Threshold = Annotated[
    int | None, typer.Option(metavar="J", help="Largest positive count that is never published [default: 0].")
]
Epsilon = Annotated[
    float | None, typer.Option(metavar="EPS", help="Epsilon of one count; selects the distribution geometric.")
]
Delta = Annotated[
    float | None, typer.Option(metavar="D", help="Delta of one count; sets the bound of a truncated distribution.")
]
Scale = Annotated[float | None, typer.Option(metavar="B", help="Scale of the distribution laplace.")]
Sigma = Annotated[float | None, typer.Option(metavar="S", help="Sigma of the Gaussian distributions.")]
Law = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Noise distribution: {', '.join(DISTRIBUTIONS)} [default: {DISTRIBUTIONS[0]}, or geometric with "
        "--epsilon].",
    ),
]
PTableFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="p-table from a file, instead of a noise distribution.")
]
Attacker = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help=f"Attacker model: {ATTACKERS[0]} (combines all counts) or {ATTACKERS[1]} (averages, extreme gaps).",
    ),
]
