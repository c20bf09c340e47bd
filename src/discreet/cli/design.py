"""`discreet design`: the noise that a programme needs, with reasons."""

from __future__ import annotations

import shlex
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.choices import ATTACKERS, CUTS, MAX_BOUND, MISSING, RULES
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.verdicts import AVERAGING, BOUND, Check, Verdict, check, percent
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.curation import Cut
    from discreet.calibration.feasible_region import AllowedRange
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.calibration.recommendation import Recommendation
    from discreet.results import Result

MOST_CUTS = 5
ASKED = (
    "programme", "data", "max_bound", "attacker", "rule", "known", "population", "areas", "hide_bound", "cuts",
    "closed_form", "ptable",
)  # fmt: skip
"""Flags that are requirements of the design, in addition to the targets."""
READING = ("key", "count", "unit", "missing", "encoding")
"""Flags that define how records are read, in addition to the column of ids."""
PROMISED = ("delta_at_epsilon_1", "delta_floor", "composed_epsilon_at_1e-06_above_floor")
"""Figures on epsilon and delta that are printed; --json has all."""
RELAXED_BY = {
    "acceptable bound": "--max-bound {:g}",
    "averaging": "--target averaging={0:g} --target bound={0:g}",
    "bound disclosure": "--no-hide-bound",
}
"""Flags that relax a constraint."""


def show(found: NoiseDesign, next_command: str, settings: Path | None, pictures: list[Path]) -> None:
    """Print one screen: the answer, what the constraints require, options, and the next command."""
    screen, made, name = output.Screen(), found.recommendation, found.question.programme.name
    given = [found.given_result.sentence] if found.given_result else []
    alarms = list(made.on_data.alarms(found.question.averaging_target)) if made and made.on_data else []
    if made is None:
        bound = found.question.max_bound
        screen.headline(Verdict.MISSES, f"No noise with a bound of at most {bound} meets all targets", name)
        screen.lines("Constraints", list(_limits(found, found.region.plane.rows[-1])))
        screen.items("Options", (each.sentence for each in found.region.relaxations))
    else:
        setting = f"variance {made.setting.variance:.10g}, bound {made.setting.bound}"
        words = f"{'Misses a target on the data' if alarms else 'Recommended noise'}: {setting}"
        screen.headline(Verdict.MISSES if alarms else Verdict.MEETS, words, name)
        screen.checks(checks(found))
        screen.items("Trial release of the data", alarms)
        screen.lines("Constraints", list(_limits(found, found.region.plane.at(made.setting.bound))))
        screen.items("Data users", (each.sentence for each in made.utility))
    screen.items("Given p-table", given)
    screen.items("Notes", found.warnings[len(alarms) :])
    if settings or pictures:
        screen.whole(f"Wrote {', '.join(map(str, (*filter(None, [settings]), *pictures)))}")
    if next_command:
        screen.whole(f"Next: {next_command}")
    screen.text(output.MORE)
    screen.show()


def checks(found: NoiseDesign) -> Iterator[Check]:
    """Yield the risks of the recommended noise compared with their targets."""
    question, made = found.question, found.recommendation
    risks = {each.name: each for each in made.risk} if made else {}
    averaging = risks.get(f"success_of_{question.attacker}_attacker")
    disclosed = risks.get(f"bound_found_by_{question.attacker}_attacker")
    for criterion, result in ((AVERAGING, averaging), (BOUND, disclosed)):
        sentence = result.sentence if result else "No level with a published total has 2 to 4 categories."
        one = check(question.policy, criterion, result.value if result else None, sentence)
        if criterion is BOUND and not question.hide_bound:
            one = Check(criterion=BOUND, value=one.value, target=None, origin="none", sentence=sentence)
        yield one


def _limits(found: NoiseDesign, row: AllowedRange) -> Iterator[list[str]]:
    """Yield the constraints that bind at one bound, with the targets that they follow from."""
    policy = found.question.policy
    targets = {"averaging": policy.target(AVERAGING), "bound disclosure": policy.target(BOUND)}
    for by, needs, value, at in (
        (row.low_by, "needs variance ≥", row.low, ""),
        (row.high_by, "allows variance ≤", row.high, f" at bound {row.bound}"),
    ):
        target = targets.get(by)
        ending = "" if target is None else f" (target: at most {percent(target)})"
        yield output.wrapped(f"{by}: {needs} {value:.3g}{at}{ending}", "  - ", "    ")


def show_details(found: NoiseDesign, next_command: str, settings: Path | None, pictures: list[Path]) -> None:
    """Print a design in full: the answer, the reasons, risk and utility, and alternatives.

    Args:
        found: the design.
        next_command: the command to continue with, "" if not applicable.
        settings: the settings file that was written, if any.
        pictures: the charts that were written.
    """
    made = found.recommendation
    alarms = list(made.on_data.alarms(found.question.averaging_target)) if made and made.on_data else []
    given = [found.given_result.sentence] if found.given_result else []
    shape = Verdict.MISSES if made is None or alarms else Verdict.MEETS
    typer.echo("\n".join(output.verdict_lines(shape, found.answer)))
    for sentence in (*given, *found.reasons, *alarms):
        output.paragraph(sentence)
    if made is None:
        output.items("Options, one of:", (each.sentence for each in found.region.relaxations))
    _show_region(found)
    if made is not None:
        _show_recommendation(made)
    output.items(found.line_answer, (each.sentence for each in found.region.line_relaxations))
    _show_curation(found)
    _show_confidence(found)
    typer.echo("")
    limits = [each for each in found.results if each.name in {"averaging_variance", "bound_disclosure_variance"}]
    _show_assumptions([*limits, *(made.risk if made else ())])
    output.notes(found.warnings[len(alarms) :])
    if pictures:
        output.paragraph(f"Charts: {', '.join(map(str, pictures))}")
    if settings:
        output.paragraph(f"Settings: {settings}")
    if next_command:
        typer.echo(f"Next: {next_command}")


def _show_recommendation(made: Recommendation) -> None:
    """Print risk, utility and privacy guarantees of the recommended setting."""
    output.items("Risk:", dict.fromkeys(each.sentence for each in made.risk))
    output.items("Data users:", (each.sentence for each in made.utility))
    promised = [each for each in made.promised if each.name in PROMISED]
    output.items("Privacy guarantees:", (each.sentence for each in promised))
    if made.on_data:
        what = f"Trial release of the data, with the mechanism {made.on_data.mechanism}:"
        output.items(what, (each.sentence for each in made.on_data.headlines()))


def settings_text(found: NoiseDesign, asked: dict[str, Any], path: Path) -> str:
    """Return the settings file for `protect --settings`, with the reasons and the requirements as comments."""
    from discreet.calibration.design_question import JUDGED

    lines = [f"# {line}" for reason in (found.answer, *found.reasons) for line in textwrap.wrap(reason, 110)]
    required = {name: asked[name] for name in ASKED if asked[name] is not None}
    wanted = ", ".join(_as_flag(name.replace("_", "-"), value) for name, value in required.items())
    lines += [f"# {line}" for line in textwrap.wrap(f"Required: {wanted}.", 110)]
    unit = found.question.programme.of(found.question.populations[0])[0].unit
    policy = found.question.policy
    stated = (f"{each.name} {each.text(policy.accepted(each))} ({policy.origin(each)})" for each in JUDGED)
    lines += [f"# {line}" for line in textwrap.wrap(f"Targets, at most: {', '.join(stated)}.", 110)]
    flags = {"programme": _programme(asked["programme"], path), "unit": unit, **found.settings}
    flags |= {"target": list(policy.flags())} if policy.chosen else {}
    lines += [f"{name} = {_toml(value)}" for name, value in flags.items()]
    return "\n".join(lines) + "\n"


def _as_flag(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no-{name}"
    return f"{name} {value}"


def _programme(spec: str, path: Path) -> str:
    """Return the programme as named in a settings file; its path is absolute if the file is in another folder."""
    elsewhere = path.absolute().parent != Path.cwd()
    return str(Path(spec).absolute()) if elsewhere and Path(spec).exists() else spec


def _toml(value: str | float | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _show_region(found: NoiseDesign) -> None:
    """Print the feasible variances by bound, and the constraints that bind."""
    from discreet.calibration.sentences import phrase

    rows = []
    for row in found.region.plane.rows:
        if row.feasible:
            left = f"{row.low:.3g} to {row.high:.3g}"
        else:
            left = f"infeasible: {row.low_by} needs V ≥ {row.low:.3g}, {phrase(row.high_by)} allows V ≤ {row.high:.3g}"
        here = "  <- recommended" if found.recommended and found.recommended.bound == row.bound else ""
        rows.append([f"{row.bound}", f"{row.low:.3g}", f"{row.high:.3g}", f"{left}{here}"])
    typer.echo("")
    output.table([("bound", ">5"), ("minimum V", ">12"), ("maximum V", ">12"), ("feasible V", "")], rows)


def _show_curation(found: NoiseDesign) -> None:
    """Print the effect of cuts, each alone and in sequence."""
    if not found.region.curation.alone:
        return
    whole = found.region.curation.whole
    typer.echo("")
    output.paragraph(f"Effect of publishing less (now {whole.cells:,} cells, variance {whole.variance:.3g} needed):")
    enough = () if whole.feasible else found.region.curation.sufficient[-1:]

    def row(cut: Cut, mark: str = "") -> list[str]:
        return [f"{cut.variance:.3g}", f"{cut.cells / whole.cells:.1%}", f"{cut.words}{mark}"]

    rows = [row(cut) for cut in found.region.curation.alone[:MOST_CUTS]]
    if found.region.curation.path:
        rows.append(["", "", "in sequence, the largest reduction per cell first:"])
    rows += [row(cut, "  <- feasible from here on" if cut in enough else "") for cut in found.region.curation.path]
    output.table([("V needed", ">10"), ("cells kept", ">12"), ("cut alone", "")], rows)


def _show_confidence(found: NoiseDesign) -> None:
    """Print the minimum variance and bound at other targets."""
    typer.echo("\nOther targets for averaging and bound disclosure:")
    rows = []
    for at in found.region.by_confidence:
        bound = "none" if at.bound is None else str(at.bound)
        here = "<- current target" if at.confidence == found.question.averaging_target else ""
        rows.append([percent(at.confidence), f"{at.variance:.3g}", bound, here])
    output.table([("target", ">10"), ("V needed", ">10"), ("minimum bound", ">15"), ("", "")], rows)


def _show_assumptions(results: list[Result]) -> None:
    """Print the assumptions of figures; figures with the same assumptions share a line."""
    names: dict[tuple[str, ...], list[str]] = {}
    for each in results:
        names.setdefault(each.assumptions, []).append(each.name.replace("_", " "))
    for assumptions, those in names.items():
        output.paragraph(f"Assumptions for {' and '.join(those)}: {'; '.join(assumptions)}.")


HideBound = Annotated[
    bool,
    typer.Option("--hide-bound/--no-hide-bound", help="Whether bound disclosure has a target [default: hide-bound]."),
]


def design(
    programme: options.Tables,
    target: options.Targets = None,
    max_bound: Annotated[int, typer.Option(metavar="E", help="Largest bound that data users accept.")] = MAX_BOUND,
    attacker: options.Attacker = ATTACKERS[0],
    rule: options.Rule = RULES[0],
    known: options.Known = None,
    population: options.Population = None,
    hide_bound: HideBound = True,
    areas: options.Areas = None,
    cuts: Annotated[
        int, typer.Option(metavar="N", help="Length of the sequence of cuts of the output to evaluate; 0 for none.")
    ] = CUTS,
    closed_form: options.ClosedForm = False,
    ptable: Annotated[
        Path | None, typer.Option(metavar="FILE", help="p-table to check against the constraints [default: none].")
    ] = None,
    data: options.Records = None,
    id_column: options.IdColumn = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    unit: options.Unit = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    out_settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recommended noise for protect --settings, as TOML.")
    ] = None,
    plot: options.Plot = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every chart to this folder, as PNG and SVG.")
    ] = None,
    replace: options.ReplaceFiles = False,
    details: options.Details = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Recommend the noise for a programme of tables, or state what prevents it.

    Example: discreet design eu2021:LU --attacker paper --out-settings design.toml
    """
    given = locals()
    asked = {name: given[name] for name in ("target", *ASKED)}
    reading = {"id": id_column, **{name: given[name] for name in READING}}
    found = _found(asked, reading, (out_settings, plot, figures), replace=replace, quiet=quiet)
    drawn = _draw(found, plot, figures)
    written = out_settings if found.feasible else None
    if written:
        write_whole(written, settings_text(found, asked, written).encode())
    following = _next(found, f"--settings {written}" if written else "", asked, id_column)
    if as_json:
        files = {"out_settings": written, "plot": plot, "figures": list(drawn)}
        output.answer("design", asked, found.results, found.warnings, **found.to_json(), **files)
    elif details and not quiet:
        show_details(found, following, written, [path for path in (plot, figures) if path])
    elif not quiet:
        show(found, following, written, [path for path in (plot, figures) if path])
    if out_settings and not written:
        # A script that waits for the file must not continue without it.
        why = "no setting satisfies all constraints. Relax one."
        typer.echo(f"error: {out_settings} was not written: {why}", err=True)
        raise typer.Exit(2)


def _found(
    asked: dict[str, Any], reading: dict[str, Any], files: tuple[Path | None, ...], *, replace: bool, quiet: bool
) -> NoiseDesign:
    """Return the design; refuse files that cannot be written before any work."""
    from discreet.calibration.noise_design import design as choose_noise
    from discreet.charts.rendering import check_figures

    out_settings, plot, figures = files
    if out_settings:
        check_writable(out_settings, replace=replace)
    output.check_picture(plot, replace=replace)
    if figures:
        check_figures(figures, replace=replace)
    output.OUTPUTS.expect(*files)
    records = _about_records(asked["data"], reading)
    how = {"targets" if name == "target" else name: value for name, value in asked.items()}
    with ProgressBars(shown=not quiet) as stages:
        return choose_noise(**{**how, "data": asked["data"] or None}, progress=stages, **records)


def _draw(found: NoiseDesign, plot: Path | None, figures: Path | None) -> tuple[Path, ...]:
    """Write charts; return the files of all charts in a folder."""
    from discreet.charts.rendering import save_chart
    from discreet.reports.calibration_charts import draw_design, plane_chart_of

    if plot:
        save_chart(plane_chart_of(found), plot)
    return tuple(draw_design(found, figures)) if figures else ()


def _about_records(data: list[str] | None, reading: dict[str, Any]) -> dict[str, Any]:
    """Return how records are read; refuse such flags without records."""
    idle = next((name for name, value in reading.items() if value is not None), None)
    if not data and idle:
        raise ParameterError(f"--{idle} is about records, and none are given. Add --data.", parameter=idle)
    return {**reading, "missing": reading["missing"] or MISSING[0]} if data else {}


def _next(found: NoiseDesign, settings: str, asked: dict[str, Any], id_column: str | None) -> str:
    """Return the command to continue with: `protect`, or `design` with a relaxed constraint; "" if not applicable."""
    if found.recommended is None:
        relaxed = [
            RELAXED_BY[each.constraint].format(each.value)
            for each in found.region.relaxations
            if each.constraint in RELAXED_BY
        ]
        if not relaxed:
            return ""
        typed, flag = sys.argv[1:], relaxed[0].split()[0]
        if flag in typed and flag != "--target":
            del typed[typed.index(flag) : typed.index(flag) + 2]
        return f"discreet {shlex.join(typed)} {relaxed[0]}"
    noise = f"--variance {found.recommended.variance:.10g} --bound {found.recommended.bound}"
    named = settings or f"--programme {shlex.quote(asked['programme'])} {noise}"
    data = shlex.join(asked["data"] or ["DATA"])
    return f"discreet protect {data} {named} --id {id_column or 'COLUMN'} --secret-file FILE --out release"
