"""`discreet design`: which noise a programme needs, and why."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.calibration.constraints import ATTACKERS
from discreet.calibration.noise_design import CUTS, MAX_BOUND
from discreet.calibration.noise_design import design as choose_noise
from discreet.calibration.sentences import phrase
from discreet.charts.rendering import check_figures, save_chart
from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.programme.lattice import RULES
from discreet.records.category_coding import MISSING
from discreet.reports.calibration_charts import draw_design, plane_chart_of
from discreet.risk.averaging import ONE_SIGMA
from discreet.whole_file import check_writable, write_whole

if TYPE_CHECKING:
    from discreet.calibration.curation import Cut
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.calibration.recommendation import Recommendation
    from discreet.results import Result

MOST_CUTS = 5
ASKED = (
    "programme", "data", "confidence", "max_bound", "attacker", "rule", "known", "population", "areas", "hide_bound",
    "cuts", "closed_form", "ptable",
)  # fmt: skip
"""Flags that say what is designed for."""
READING = ("key", "count", "unit", "missing", "encoding")
"""Flags that say how records are read, beside that of their ids."""
PROMISED = ("delta_at_epsilon_1", "delta_floor", "composed_epsilon_at_1e-06_above_floor")
"""What is told of epsilon and delta; --json has the rest."""


def show(found: NoiseDesign, protect: str, settings: Path | None, pictures: list[Path]) -> None:
    """Print a design: the answer, why, what it risks and costs, and what else could be done.

    Args:
        found: the design.
        protect: how `protect` is called with the noise that is recommended.
        settings: the file of settings that was written, if any.
        pictures: where pictures were drawn.
    """
    made = found.recommendation
    alarms = list(made.on_data.alarms(found.question.confidence)) if made and made.on_data else []
    given = [found.given_result.sentence] if found.given_result else []
    for sentence in (*given, found.answer, *found.reasons, *alarms):
        output.paragraph(sentence)
    if made is None:
        output.items("To go on, relax one of these:", (each.sentence for each in found.region.relaxations))
    _show_region(found)
    if made is not None:
        _show_recommendation(made)
    output.items(found.line_answer, (each.sentence for each in found.region.line_relaxations))
    _show_curation(found)
    _show_confidence(found)
    typer.echo("")
    limits = [each for each in found.results if each.name in {"averaging_variance", "hidden_bound_variance"}]
    _show_assumptions([*limits, *(made.risk if made else ())])
    output.notes(found.warnings[len(alarms) :])
    if pictures:
        output.paragraph(f"Pictures: {', '.join(map(str, pictures))}")
    if settings:
        output.paragraph(f"Settings: {settings}")
    if found.feasible:
        output.paragraph(f"Next: discreet protect {protect} --secret-file FILE --out release")


def _show_recommendation(made: Recommendation) -> None:
    """Print what attackers, users and persons get of the setting that is recommended."""
    output.items("What an attacker gets:", dict.fromkeys(each.sentence for each in made.risk))
    output.items("What users get:", (each.sentence for each in made.utility))
    promised = [each for each in made.promised if each.name in PROMISED]
    output.items("What a person is promised:", (each.sentence for each in promised))
    if made.on_data:
        what = f"Tried on the data, with noise by {made.on_data.mechanism.replace('-', ' ')}:"
        output.items(what, (each.sentence for each in made.on_data.told()))


def settings_text(found: NoiseDesign, asked: dict[str, Any], path: Path) -> str:
    """Return the settings file for `protect --settings`, with the reasons and what was asked for as comments."""
    lines = [f"# {line}" for reason in (found.answer, *found.reasons) for line in textwrap.wrap(reason, 110)]
    wanted = ", ".join(_as_flag(name.replace("_", "-"), value) for name, value in asked.items() if value is not None)
    lines += [f"# {line}" for line in textwrap.wrap(f"Asked for: {wanted}.", 110)]
    unit = found.question.programme.of(found.question.populations[0])[0].unit
    flags = {"programme": _programme(asked["programme"], path), "unit": unit, **found.settings}
    lines += [f"{name} = {_toml(value)}" for name, value in flags.items()]
    return "\n".join(lines) + "\n"


def _as_flag(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no-{name}"
    return f"{name} {value}"


def _programme(spec: str, path: Path) -> str:
    """Return how the programme is named in a file that lies elsewhere: a path must lead there from any folder."""
    elsewhere = path.absolute().parent != Path.cwd()
    return str(Path(spec).absolute()) if elsewhere and Path(spec).exists() else spec


def _toml(value: str | float) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _show_region(found: NoiseDesign) -> None:
    """Print by bound what is left of the variance, and what binds."""
    rows = []
    for row in found.region.plane.rows:
        if row.feasible:
            left = f"{row.low:.3g} to {row.high:.3g}"
        else:
            left = f"nothing: {row.low_by} against {phrase(row.high_by)}"
        here = "  <- recommended" if found.recommended and found.recommended.bound == row.bound else ""
        rows.append([f"{row.bound}", f"{row.low:.3g}", f"{row.high:.3g}", f"  {left}{here}"])
    typer.echo("")
    output.table([("bound", ">5"), ("V at least", ">12"), ("V at most", ">12"), ("  left", "")], rows)


def _show_curation(found: NoiseDesign) -> None:
    """Print what cuts buy, alone and one after the other."""
    if not found.region.curation.alone:
        return
    whole = found.region.curation.whole
    typer.echo(f"\nWhat publishing less would buy (now {whole.cells:,} cells, variance {whole.variance:.3g} needed):")
    enough = () if whole.feasible else found.region.curation.enough[-1:]

    def row(cut: Cut, mark: str = "") -> list[str]:
        return [f"{cut.variance:.3g}", f"{cut.cells / whole.cells:.1%}", f"  {cut.words}{mark}"]

    rows = [row(cut) for cut in found.region.curation.alone[:MOST_CUTS]]
    if found.region.curation.path:
        rows.append(["", "", "  one after the other, most for what is given up first"])
    rows += [row(cut, "  <- then something is left" if cut in enough else "") for cut in found.region.curation.path]
    output.table([("V needed", ">10"), ("cells kept", ">12"), ("  cut alone", "")], rows)


def _show_confidence(found: NoiseDesign) -> None:
    """Print what other confidences would ask for."""
    typer.echo("\nIf an attacker may be right more or less often:")
    rows = []
    for at in found.region.by_confidence:
        bound = "none" if at.bound is None else str(at.bound)
        here = "  <- asked" if at.confidence == found.question.confidence else ""
        rows.append([f"{at.confidence:.1%}", f"{at.variance:.3g}", bound, here])
    output.table([("right in", ">10"), ("V needed", ">10"), ("least bound", ">13"), ("", "")], rows)


def _show_assumptions(results: list[Result]) -> None:
    """Print what figures rest on, those that rest on the same together."""
    names: dict[tuple[str, ...], list[str]] = {}
    for each in results:
        names.setdefault(each.assumptions, []).append(each.name.replace("_", " "))
    for assumptions, those in names.items():
        output.paragraph(f"Assumed for {' and '.join(those)}: {'; '.join(assumptions)}.")


Confidence = Annotated[float, typer.Option(metavar="A", help="Success an attacker may have: more is less noise.")]
HideBound = Annotated[bool, typer.Option("--hide-bound/--no-hide-bound", help="Whether the bound is to stay hidden.")]
Records = Annotated[
    list[str] | None, typer.Option(metavar="D", help="Records to try it on, as for protect; may be repeated.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the constraints and what is left: PNG or SVG.")]


def design(
    programme: options.Tables,
    confidence: Confidence = ONE_SIGMA,
    max_bound: Annotated[int, typer.Option(metavar="E", help="Largest noise that users accept.")] = MAX_BOUND,
    attacker: Annotated[str, typer.Option(metavar="WHO", help=f"{' or '.join(ATTACKERS)}.")] = ATTACKERS[0],
    rule: Annotated[str, typer.Option(metavar="RULE", help=f"Counting of levels: {' or '.join(RULES)}.")] = RULES[0],
    known: Annotated[str | None, typer.Option(metavar="STATISTIC", help="A statistic that is public anyway.")] = None,
    population: Annotated[str | None, typer.Option(metavar="WHAT", help="Only the tables that count this.")] = None,
    hide_bound: HideBound = True,
    areas: options.Areas = None,
    cuts: Annotated[int, typer.Option(metavar="N", help="Cuts of the output to take; 0 for none.")] = CUTS,
    closed_form: options.ClosedForm = False,
    ptable: Annotated[Path | None, typer.Option(metavar="FILE", help="Check this p-table, too.")] = None,
    data: Records = None,
    id_column: options.IdColumn = None,
    key: options.KeyColumn = None,
    count: options.CountColumn = None,
    unit: options.Unit = None,
    encoding: options.Encoding = None,
    missing: Annotated[str | None, typer.Option(metavar="HOW", help=f"No value: {', '.join(MISSING)}.")] = None,
    out_settings: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings for protect --settings.")] = None,
    plot: Plot = None,
    figures: Annotated[Path | None, typer.Option(metavar="DIR", help="Every chart as PNG and SVG.")] = None,
    replace: options.ReplaceFiles = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Say which noise a programme of tables needs, and why.

    Example: discreet design eu2021:LU --attacker paper --out-settings design.toml
    """
    given = locals()
    asked = {name: given[name] for name in ASKED}
    reading = {"id": id_column, **{name: given[name] for name in READING}}
    _check_files(out_settings, plot, figures, replace=replace)
    with ProgressBars(shown=not quiet) as stages:
        found = choose_noise(**{**asked, "data": data or None}, progress=stages, **_about_records(data, reading))
    if plot:
        save_chart(plane_chart_of(found), plot)
    drawn = draw_design(found, figures) if figures else ()
    written = out_settings if found.feasible else None
    if written:
        write_whole(written, settings_text(found, asked, written).encode())
    if as_json:
        files = {"out_settings": written, "plot": plot, "figures": list(drawn)}
        output.answer("design", asked, found.results, found.warnings, **found.to_json(), **files)
    else:
        noise = f"--settings {written}" if written else _noise(found, programme)
        protect = f"{' '.join(data or ['DATA'])} {noise} --id {id_column or 'COLUMN'}"
        show(found, protect, written, [path for path in (plot, figures) if path])
    if out_settings and not written:
        # The answer has been given, but who waits for the file must not go on without it.
        typer.echo(f"error: {out_settings} was not written: the constraints leave no setting. Relax one.", err=True)
        raise typer.Exit(2)


def _check_files(out_settings: Path | None, plot: Path | None, figures: Path | None, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it."""
    if out_settings:
        check_writable(out_settings, replace=replace)
    output.check_picture(plot, replace=replace)
    if figures:
        check_figures(figures, replace=replace)


def _about_records(data: list[str] | None, reading: dict[str, Any]) -> dict[str, Any]:
    """Return how records are read; refuse to be told so where there are none."""
    idle = next((name for name, value in reading.items() if value is not None), None)
    if not data and idle:
        raise ParameterError(f"--{idle} is about records, and there are none. Give --data too.", parameter=idle)
    return {**reading, "missing": reading["missing"] or MISSING[0]} if data else {}


def _noise(found: NoiseDesign, programme: str) -> str:
    """Return the flags of `protect` for the setting that is recommended."""
    if found.recommended is None:
        return ""
    return f"--programme {programme} --variance {found.recommended.variance:.10g} --bound {found.recommended.bound}"
