"""`discreet assess`: the disclosure risk of a programme with a given noise, or of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.choices import RULES
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.verdicts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.results import Result
    from discreet.risk.assessment import Assessment

MOST_SHOWN = 10
LABEL = 15
SHORT = ("averaging", "redundancy", "bound", "margins", "epsilon_delta")
"""The default measures of text output."""
NEEDS = {"projection": "--exact STATISTIC", "reconstruction": "--records N"}
DOES_NOT_APPLY = {
    "averaging": "all statistics are known from elsewhere",
    "bound": "the noise has no bound, or no level next to the total has 2 to 4 categories",
    "margins": "the noise has no bound, or no level next to the total has 2 to 4 categories",
    **{name: f"it needs {flag}" for name, flag in NEEDS.items()},
}


Source = Annotated[
    str,
    typer.Argument(
        metavar="SPEC|RELEASE",
        help="Programme (a TOML file, or a name such as eu2021:LU), folder of a release, or a record.json.",
    ),
]
SameNoise = Annotated[
    bool | None,
    typer.Option("--spsn/--no-spsn", help="Consistent noise (default), or independent noise in every table."),
]
Exact = Annotated[
    list[str] | None,
    typer.Option(metavar="STATISTIC", help="Statistic to solve exactly in addition to the most exposed. Repeatable."),
]
Measures = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help=f"Measures, comma-separated, or all [default: {', '.join(SHORT)}; all with --json]."
    ),
]


def assess(
    source: Source,
    variance: options.Variance = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    epsilon: options.Epsilon = None,
    scale: options.Scale = None,
    sigma: options.Sigma = None,
    law: options.Law = None,
    ptable: options.PTableFile = None,
    spsn: SameNoise = None,
    target: options.Targets = None,
    rule: options.Rule = RULES[0],
    keep_single: options.KeepSingle = False,
    population: options.Population = None,
    known: options.Known = None,
    exact: Exact = None,
    closed_form: options.ClosedForm = False,
    records: Annotated[
        int | None, typer.Option(metavar="N", help="Number of persons counted, for the measure reconstruction.")
    ] = None,
    measures: Measures = None,
    details: options.Details = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Assess the disclosure risk of everything published with a given noise.

    Example: discreet assess eu2021:LU --variance 3 --bound 5
    """
    from discreet.noise.formats.ptable_files import read_ptable
    from discreet.release.release_folder import recover
    from discreet.risk.assessment import assess as assess_risk

    parameters = {"variance": variance, "bound": bound, "threshold": threshold, "epsilon": epsilon}
    given = {"law": law, "spsn": spsn, **parameters, "scale": scale, "sigma": sigma}
    noise: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    # A release whose last move was interrupted is moved into place first; its folder exists only then.
    recover(Path(source))
    if not Path(source).exists() and ":" not in source and not Path(source).suffix:
        raise ParameterError(
            f"{source} is neither a folder or file nor a programme such as eu2021:LU. Check the name.",
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
    with ProgressBars(shown=not quiet) as stages:
        found = assess_risk(
            source,
            measures=chosen,
            rule=rule,
            keep_single=keep_single,
            population=population,
            known=known,
            targets=target,
            exact=exact or (),
            records=records,
            closed_form=closed_form,
            progress=stages,
            **noise,
        )
    if as_json:
        _print_json(found, source)
    elif details and not quiet:
        _show_details(found)
    elif not quiet:
        _show(found)


def _measures(asked: str | None, wanted: list[str], *, as_json: bool) -> list[str] | None:
    """Return the measures to take: those named, otherwise all for JSON and the short list for text."""
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
    """Return the flags of the noise with its distribution; --epsilon alone selects the geometric distribution."""
    law = given.get("law") or ("geometric" if "epsilon" in given else "max-entropy")
    if "epsilon" in given and {"variance", "bound"} & set(given):
        raise ParameterError(
            "--epsilon is for the geometric distribution, --variance and --bound are for a bounded one. Give one kind.",
            parameter="epsilon",
        )
    if law == "max-entropy":
        for needed in ("variance", "bound"):
            if needed not in given:
                raise ParameterError(f"--{needed} is missing. Example: --variance 3 --bound 5", parameter=needed)
    return {**given, "law": law}


def _about(found: Assessment) -> str:
    """Return the programme and the tables that are assessed."""
    counted = ", ".join(
        f"{len(tables)} {'table' if len(tables) == 1 else 'tables'} of {name}"
        for name, tables in found.case.scope.populations.items()
    )
    return f"{found.case.programme.name}: {counted}"


def _show(found: Assessment) -> None:
    """Print one screen: the decision, the ways out, and the most exposed statistics."""
    screen, record = output.Screen(), found.case.record
    screen.decision(found.decision, _about(found))
    if not record.is_deterministic:
        bound = "" if record.bound == float("inf") else f", bound {record.bound:g}"
        screen.text(f"Noise: {record.law}, variance {record.variance:.3g}{bound}.")
    rows = [f"{percent(row['alpha']):>12}  {row['statistic']}" for row in found.averaging()]
    screen.lines("Most exposed statistics, exact recovery rate of the optimal linear attack", [[row] for row in rows])
    screen.items("Notes", found.warnings)
    screen.text(output.MORE)
    screen.show()


def _show_details(found: Assessment) -> None:
    """Print the decision, and all figures with their assumptions."""
    from discreet.risk.measures import MEASURES

    screen = output.Screen()
    screen.decision(found.decision, _about(found))
    screen.show()
    typer.echo("")
    for name, results in found.by_measure.items():
        _show_measure(name, results, found)
    if rows := found.averaging():
        _show_worst(rows[:MOST_SHOWN], found.case.record.variance)
    output.notes(found.warnings)
    more = [name for name in MEASURES.all() if name not in found.by_measure]
    if more:
        output.paragraph(f"Not taken: {', '.join(more)} (--measures all, or --json).")


def _show_worst(rows: Sequence[dict[str, Any]], variance: float) -> None:
    """Print the most exposed statistics."""
    typer.echo("")
    output.paragraph(f"Most exposed statistics (error variance of one estimate as a multiple of V = {variance:g}):")
    ratios = ("plain", "greedy", "inverse_variance", "optimal", "exact")
    heads = [("t", ">7"), ("k", ">14"), *((name, ">9") for name in ("plain", "paper", "inverse", "closed", "exact"))]
    lines = (
        [
            f"{row['t']:,}",
            f"{row['k']:,.0f}",
            *("-" if row[name] is None else f"{row[name]:.4f}" for name in ratios),
            percent(row["alpha"]),
            row["statistic"],
        ]
        for row in rows
    )
    output.table([*heads, ("recovered", ">13"), ("statistic", "")], lines)


def _show_measure(name: str, results: Sequence[Result], found: Assessment) -> None:
    """Print the sentences of one measure next to its name, and their assumptions below."""
    if not results:
        record, why = found.case.record, DOES_NOT_APPLY.get(name, "the programme has nothing to measure")
        if record.is_deterministic and name not in NEEDS:
            why = (
                "counts are rounded, and rounding is not random" if record.rounds else "the counts have no random noise"
            )
        verdict = "not assessed" if record.rounds else "does not apply"
        output.labelled(name, f"{verdict}: {why}.", LABEL)
    output.section(name, (result.sentence for result in results), LABEL)
    if assumed := output.assumptions(results):
        output.paragraph(f"(Assumptions: {assumed}.)", " " * LABEL, " " * (LABEL + 1))


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
            "exact": list(case.exact),
            "closed_form": case.closed_form,
            "records": case.records,
            "measures": list(found.by_measure),
        },
        found.results,
        found.warnings,
        **found.to_json(),
    )
