"""Options and arguments that several commands have, each with one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
ReplaceFile = Annotated[bool, typer.Option("--replace", help="Overwrite a file that exists.")]
ReplaceFiles = Annotated[bool, typer.Option("--replace", help="Overwrite files that exist.")]

Tables = Annotated[str, typer.Argument(metavar="SPEC", help="The tables: a TOML file, or eu2021:LU.")]
OnlyTables = Annotated[str | None, typer.Option(metavar="A,B.*", help="Only these tables.")]
Areas = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC", help="Topic of areas [default: declared in the programme, or recognised by its name]."
    ),
]
KeepSingle = Annotated[bool, typer.Option("--keep-single", help="Keep levels with one category as levels.")]
ClosedForm = Annotated[
    bool, typer.Option("--closed-form", help="Closed form for equal blocks instead of exact solutions; faster.")
]

ReleaseFolder = Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")]
Truth = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Its true counts; OUT.curator/exact if left out and there.")
]
Budget = Annotated[
    str, typer.Option(metavar="N", help="Target cells of attacks that work cell by cell, or none for all.")
]
SecretFile = Annotated[Path | None, typer.Option(metavar="FILE", help="The secret; else DISCREET_SECRET.")]

IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Ids, for cell keys.")]
KeyColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="Or ready-made record keys.")]
CountColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="Persons a row stands for; tabulated data.")]
Unit = Annotated[str | None, typer.Option(metavar="UNIT", help="What a record is; that of most tables.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Encoding of CSV files [default: utf-8].")]

Variance = Annotated[float | None, typer.Option(metavar="V", help="Noise variance of one count.")]
Bound = Annotated[int | None, typer.Option(metavar="E", help="Largest absolute noise.")]
Threshold = Annotated[int | None, typer.Option(metavar="J", help="Largest positive count never published.")]
Delta = Annotated[float | None, typer.Option(metavar="D", help="With --epsilon, for truncated laws.")]
Scale = Annotated[float | None, typer.Option(metavar="B", help="For the law laplace.")]
Sigma = Annotated[float | None, typer.Option(metavar="S", help="For the Gaussian laws.")]
PTableFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Or a p-table from a file.")]
