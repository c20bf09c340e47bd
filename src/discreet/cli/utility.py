"""`discreet utility`: what the noise does to users, of a release or, before there is one, to small areas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.accuracy.area_files import PREFIX, load_areas
from discreet.accuracy.measured import utility_of
from discreet.accuracy.small_areas import small_areas
from discreet.cli.answer import answer
from discreet.cli.progress_bars import Stages
from discreet.cli.utility_text import show, show_areas
from discreet.errors import ParameterError
from discreet.noise.noise_choice import CHOICES, noise_named
from discreet.release.release_folder import recover

ENDINGS = (".csv", ".parquet")


def utility(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE|AREAS", help="A release; or areas: lau:2016, lau:by-sex:DE, a CSV or Parquet file."
        ),
    ],
    truth: Annotated[
        Path | None, typer.Option(metavar="DIR", help="True counts; OUT.curator/exact if left out and there.")
    ] = None,
    areas: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC", help="Topic of areas [default: declared in the programme, or recognised by its name]."
        ),
    ] = None,
    variance: Annotated[float | None, typer.Option(metavar="V", help="Of AREAS: noise variance of a count.")] = None,
    bound: Annotated[int | None, typer.Option(metavar="E", help="Largest absolute noise.")] = None,
    threshold: Annotated[int | None, typer.Option(metavar="J", help="Largest positive count never published.")] = None,
    epsilon: Annotated[float | None, typer.Option(metavar="EPS", help="Privacy budget of one count.")] = None,
    delta: Annotated[float | None, typer.Option(metavar="D", help="With --epsilon, for truncated laws.")] = None,
    scale: Annotated[float | None, typer.Option(metavar="B", help="For the law laplace.")] = None,
    sigma: Annotated[float | None, typer.Option(metavar="S", help="For the Gaussian laws.")] = None,
    law: Annotated[str | None, typer.Option(metavar="LAW", help=f"{', '.join(CHOICES)}.")] = None,
    ptable: Annotated[Path | None, typer.Option(metavar="FILE", help="Or a p-table from a file.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of what is simulated.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Say what the noise does to users: of a release, or of a law to small areas.

    Example: discreet utility release

    Example: discreet utility lau:2016:FR --epsilon 0.1
    """
    given = {
        "law": law, "ptable": ptable, "variance": variance, "bound": bound, "threshold": threshold,
        "epsilon": epsilon, "delta": delta, "scale": scale, "sigma": sigma,
    }  # fmt: skip
    noise = {name: value for name, value in given.items() if value is not None}
    if source.startswith(PREFIX) or (Path(source).suffix.lower() in ENDINGS and not Path(source).is_dir()):
        _refuse({"truth": truth, "areas": areas}, "A list of areas has no {flag}: it is for a release.")
        _of_areas(source, noise, seed, as_json=as_json)
    else:
        _refuse(noise, "A release says its noise itself; {flag} cannot be given too. Leave it out.")
        _of_release(Path(source), truth, areas, seed, quiet=quiet, as_json=as_json)


def _refuse(given: dict[str, Any], sentence: str) -> None:
    """Refuse flags that the source has no use for."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(sentence.format(flag=f"--{name}"), parameter=name)


def _of_release(release: Path, truth: Path | None, areas: str | None, seed: int, *, quiet: bool, as_json: bool) -> None:
    recover(release)
    with Stages(shown=not quiet, log=None) as stages:
        found = utility_of(release, truth=truth, areas=areas, seed=seed, progress=stages)
    if as_json:
        asked = {
            "release": str(release),
            "truth": found.truth,
            "areas": found.areas and found.areas.topic,
            "seed": seed,
        }
        typer.echo(answer("utility", asked, found.results, found.warnings, **found.to_json()))
    else:
        show(found, str(release))


def _of_areas(source: str, noise: dict[str, Any], seed: int, *, as_json: bool) -> None:
    if not noise:
        what = "The noise is missing: say what would be added to these areas."
        raise ParameterError(f"{what} Example: --variance 2 --bound 5, or --epsilon 0.1", parameter="variance")
    made, there = noise_named(**noise), load_areas(source, seed=seed)
    found = small_areas(there, made, seed=seed)
    if not source.startswith(PREFIX):
        # The lists that come along are public; a file may not be.
        found = found.without_truth()
    if as_json:
        told = {name: str(value) if isinstance(value, Path) else value for name, value in noise.items()}
        asked = {"areas": source, **told, "seed": seed}
        typer.echo(answer("utility", asked, found.results(), (), small_areas=found.to_json()))
    else:
        show_areas(found)
