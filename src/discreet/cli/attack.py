"""`discreet attack`: what an attacker really learns from a release, beside what formulas predict."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.attacks.attack_run import attack as attack_release
from discreet.attacks.target_cells import BUDGET
from discreet.cli.answer import answer
from discreet.cli.attack_text import show
from discreet.cli.progress_bars import Stages
from discreet.errors import ParameterError
from discreet.release.release_folder import recover

if TYPE_CHECKING:
    from discreet.attacks.attack_report import AttackReport

BUDGET_HELP = "Target cells of attacks that work cell by cell, or none for all."


def attack(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    truth: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Its true counts; OUT.curator/exact if left out and there.")
    ] = None,
    attacks: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Attacks to mount, as projection,margins; all if left out."),
    ] = None,
    budget: Annotated[str, typer.Option(metavar="N", help=BUDGET_HELP)] = str(BUDGET),
    known: Annotated[
        list[str] | None, typer.Option(metavar="STAT", help="A statistic whose true counts are public; repeatable.")
    ] = None,
    other: Annotated[
        Path | None, typer.Option(metavar="RELEASE", help="A second release of nearly the same persons.")
    ] = None,
    overlaps: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Which areas of two topics meet on the map.")
    ] = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="The attacker knows of the noise what release.json tells.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Makes runs repeatable.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Attack a release and compare what is learnt with the truth, the worst first.

    Example: discreet attack release --attacks posterior-projection,margins
    """
    recover(release)
    names = None if attacks is None else [name.strip() for name in attacks.split(",")]
    with Stages(shown=not quiet, log=None) as stages:
        found = attack_release(
            release,
            truth=truth,
            attacks=names,
            budget=target_cells(budget),
            seed=seed,
            public_only=public_only,
            known=known or (),
            other=other,
            overlaps=overlaps,
            progress=stages,
        )
    if as_json:
        asked = {name: None if path is None else str(path) for name, path in (("other", other), ("overlaps", overlaps))}
        typer.echo(_json(found, release, asked))
    else:
        show(found, str(release))


def target_cells(text: str) -> int | None:
    """Return a number of target cells; None for all."""
    if text == "none":
        return None
    found = text.strip().replace(",", "").replace("_", "")
    if not found.isdecimal() or not int(found):
        raise ParameterError(
            f"--budget is {text!r}. It counts target cells, not time: give a whole number such as {BUDGET}, or none.",
            parameter="budget",
        )
    return int(found)


def _json(found: AttackReport, release: Path, asked: dict[str, str | None]) -> str:
    settings: dict[str, Any] = {
        "release": str(release),
        "truth": found.truth,
        "attacks": list(found.mounted),
        "budget": found.budget,
        "seed": found.seed,
        "public_only": found.public_only,
        "known": list(found.known),
        **asked,
    }
    attacks = [each.to_json() for each in found.outcomes]
    return answer("attack", settings, found.results, found.warnings, **vars(found.size), attacks=attacks)
