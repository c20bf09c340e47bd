"""`discreet assess`: what an attacker could learn from a programme with a given noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.errors import ParameterError
from discreet.noise.by_name import distribution_names
from discreet.noise.formats.ptable_files import read_ptable
from discreet.programme.lattice import RULES
from discreet.release.release_folder import recover
from discreet.risk.assessment import Assessment
from discreet.risk.assessment import assess as assess_risk
from discreet.risk.averaging import ONE_SIGMA
from discreet.risk.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.results import Result

ASSESSED = distribution_names()
MOST_SHOWN = 10
LABEL = 15
SHORT = ("averaging", "redundancy", "bound", "margins", "epsilon_delta")
"""What people see unless they ask for more."""
NEEDS = {"projection": "--exact STAT", "reconstruction": "--records N"}
DOES_NOT_APPLY = {
    "averaging": "every statistic is known beforehand",
    "bound": "the noise has no bound, or no level next to the total has 2 to 4 categories",
    "margins": "the noise has no bound, or no level next to the total has 2 to 4 categories",
    **{name: f"it needs {flag}" for name, flag in NEEDS.items()},
}


Source = Annotated[
    str,
    typer.Argument(metavar="SPEC|RELEASE", help="A programme (eu2021:LU, a TOML file), a release or a record.json."),
]
Epsilon = Annotated[float | None, typer.Option(metavar="EPS", help="Privacy budget of one count (law geometric).")]
SigmaOfLaw = Annotated[
    float | None, typer.Option(metavar="S", help="Sigma of the laws gaussian and discrete-gaussian.")
]
Law = Annotated[
    str | None,
    typer.Option(metavar="LAW", help=f"{', '.join(ASSESSED)}; max-entropy, or geometric with --epsilon."),
]
SameNoise = Annotated[
    bool | None, typer.Option("--spsn/--no-spsn", help="Same participants, same noise in every table (default).")
]
Rule = Annotated[str, typer.Option(metavar="RULE", help=f"{' or '.join(RULES)}: every level, or the finest only.")]
Exact = Annotated[
    list[str] | None, typer.Option(metavar="STAT", help="Solve this statistic exactly too. May be repeated.")
]
Measures = Annotated[
    str | None, typer.Option(metavar="A,B", help="Measures to take, or all; the shorter ones if left out.")
]


def assess(
    source: Source,
    variance: options.Variance = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    epsilon: Epsilon = None,
    scale: Annotated[float | None, typer.Option(metavar="B", help="Scale of the law laplace.")] = None,
    sigma: SigmaOfLaw = None,
    law: Law = None,
    ptable: options.PTableFile = None,
    spsn: SameNoise = None,
    rule: Rule = RULES[0],
    keep_single: options.KeepSingle = False,
    population: Annotated[str | None, typer.Option(metavar="UNIT", help="What the tables count.")] = None,
    known: Annotated[str | None, typer.Option(metavar="STAT", help="A statistic whose true counts are public.")] = None,
    exact: Exact = None,
    closed_form: options.ClosedForm = False,
    records: Annotated[int | None, typer.Option(metavar="N", help="Persons counted, for reconstruction.")] = None,
    confidence: Annotated[float, typer.Option(metavar="P", help="Success an attacker may have.")] = ONE_SIGMA,
    measures: Measures = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what an attacker could learn from everything published with this noise.

    Example: discreet assess eu2021:LU --variance 3 --bound 5
    """
    parameters = {"variance": variance, "bound": bound, "threshold": threshold, "epsilon": epsilon}
    given = {"law": law, "spsn": spsn, **parameters, "scale": scale, "sigma": sigma}
    noise: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    # A release whose last move was cut short is put in its place first: only then is the folder there.
    recover(Path(source))
    if not Path(source).exists() and ":" not in source and not Path(source).suffix:
        raise ParameterError(
            f"There is no folder or file {source}, and it is no programme such as eu2021:LU. Check the name.",
            parameter="source",
        )
    if ptable:
        if other := next((name for name in noise if name != "spsn"), None):
            raise ParameterError(f"--ptable is the whole noise. Leave --{other} out.", parameter=other)
        noise["noise"] = read_ptable(ptable)
    elif Path(source).suffix != ".json" and not Path(source).is_dir():
        noise = _noise(noise)
    wanted = [name for name, asked in (("projection", exact or None), ("reconstruction", records)) if asked is not None]
    chosen = _measures(measures, wanted, as_json=as_json)
    found = assess_risk(
        source,
        measures=chosen,
        rule=rule,
        keep_single=keep_single,
        population=population,
        known=known,
        confidence=confidence,
        exact=exact or (),
        records=records,
        closed_form=closed_form,
        **noise,
    )
    if as_json:
        _print_json(found, source)
    else:
        _show(found)


def _measures(asked: str | None, wanted: list[str], *, as_json: bool) -> list[str] | None:
    """Return the measures to take: those asked for, else all for machines and the shorter ones for people."""
    if asked == "all" or (asked is None and as_json):
        return None
    if asked is None:
        return [*SHORT, *wanted]
    names = [name.strip() for name in asked.split(",")]
    for name, flag in NEEDS.items():
        if name in names and name not in wanted:
            raise ParameterError(f"The measure {name} needs {flag}. Add it.", parameter=name)
    return names


def _noise(given: dict[str, Any]) -> dict[str, Any]:
    """Return the noise as asked for; --epsilon alone means the geometric law."""
    law = given.get("law") or ("geometric" if "epsilon" in given else "max-entropy")
    if "epsilon" in given and {"variance", "bound"} & set(given):
        raise ParameterError(
            "--epsilon is for a geometric law, --variance and --bound are for a bounded one. Give one kind.",
            parameter="epsilon",
        )
    if law == "max-entropy":
        for needed in ("variance", "bound"):
            if needed not in given:
                raise ParameterError(f"--{needed} is missing. Example: --variance 3 --bound 5", parameter=needed)
    return {**given, "law": law}


def _show(found: Assessment) -> None:
    programme = found.case.programme
    populations = found.case.scope.populations
    counted = ", ".join(
        f"{len(tables)} {'table' if len(tables) == 1 else 'tables'} of {name}" for name, tables in populations.items()
    )
    typer.echo(f"{programme.name}: {counted}.")
    for name, results in found.by_measure.items():
        _show_measure(name, results, found)
    if rows := found.averaging():
        _show_worst(rows[:MOST_SHOWN], found.case.record.variance)
    for note in found.warnings:
        typer.echo(f"Note: {note}")
    more = [name for name in MEASURES.all() if name not in found.by_measure]
    if more:
        typer.echo(f"\nNot shown: {', '.join(more)} (--measures all, or --json).")


def _show_worst(rows: Sequence[dict[str, Any]], variance: float) -> None:
    """Print the statistics that averaging reveals most of."""
    typer.echo(f"\nWorst statistics (error variance of one count as a multiple of V = {variance:g}):")
    ratios = ("plain", "greedy", "inverse_variance", "optimal", "exact")
    heads = [("t", ">7"), ("k", ">14"), *((name, ">9") for name in ("plain", "paper", "inverse", "closed", "exact"))]
    lines = (
        [
            f"{row['t']:,}",
            f"{row['k']:,.0f}",
            *("-" if row[name] is None else f"{row[name]:.4f}" for name in ratios),
            f"{row['alpha']:.1%}",
            f"  {row['statistic']}",
        ]
        for row in rows
    )
    output.table([*heads, ("right", ">7"), ("  statistic", "")], lines)


def _show_measure(name: str, results: Sequence[Result], found: Assessment) -> None:
    """Print the sentences of one measure beside its name, and what they assume below them."""
    if not results:
        record, why = found.case.record, DOES_NOT_APPLY.get(name, "it found nothing to measure")
        if record.is_deterministic and name not in NEEDS:
            why = "counts are rounded, and rounding is not random" if record.rounds else "there is no random noise"
        typer.echo(f"{name:<{LABEL}}{'not assessed' if record.rounds else 'does not apply here'}: {why}.")
    output.section(name, (result.sentence for result in results), LABEL)
    if assumed := output.assumptions(results):
        output.paragraph(f"(Assumes: {assumed}.)", " " * LABEL, " " * (LABEL + 1))


def _print_json(found: Assessment, source: str) -> None:
    case = found.case
    output.answer(
        "assess",
        {
            "source": source,
            "law": case.record.law,
            **case.record.parameters,
            "keep_single": case.keep_single,
            "population": case.population,
            "known": case.known,
            "confidence": case.confidence,
            "exact": list(case.exact),
            "closed_form": case.closed_form,
            "records": case.records,
            "measures": list(found.by_measure),
        },
        found.results,
        found.warnings,
        **found.to_json(),
    )
