"""`discreet utility`: the effect of noise on data users, of a release or, without one, on small areas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.verdicts import SMALL_AREAS, Decision, Policy, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from discreet.accuracy.cell_errors import SizeClass
    from discreet.accuracy.distortion import SizeBin
    from discreet.accuracy.rejection_rates import Rejections
    from discreet.accuracy.release_utility import Utility
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.results import Result

LABEL = 14
BY_SIZE = (
    ("true count", "<11"), ("cells", ">11"), ("unchanged", ">11"), ("sd", ">9"), ("9 of 10", ">11"), ("> 20 %", ">8"),
    ("> 50 %", ">8"), ("> 100 %", ">9"),
)  # fmt: skip
"""Columns of figures by size of count."""
AS_TABLES = ("sizes", "tests", "small areas")
"""Sections that are printed as tables."""
SUMMARISED = ("expected_relative_distance", "expected_lost_counts")
"""Figures that another sentence contains."""
NEXT = "Next: discreet compare, for other mechanisms on the same tables."
NOTHING = 0.01
"""Expected numbers below this have no sentence."""
RAREST = 1e-8
"""Probabilities below this are not distinguished."""
NONE_LOST = "No area is lost, or expected to be."
BIN_LINES = 6
"""Number of bins of small counts that have a row each."""
PREFIX = "lau:"
"""Beginning of the names of the lists of areas that are included."""
ENDINGS = (".csv", ".parquet")
"""Endings of files with areas."""


def show(found: Utility, release: str, judged: Decision) -> None:
    """Print one screen: the decision, the errors of counts, and figures by size of count."""
    screen, results = output.Screen(), {each.name: each for each in found.results}
    screen.decision(judged, release)
    lines = []
    if found.cells:
        off, zeros = found.cells.distances, found.cells.zeros
        lines = [
            f"Mean absolute error of non-zero counts: {off.absolute.mean:.3g}. Largest error: {off.largest:,}.",
            f"Lost counts (published as 0 or less): {percent(zeros.lost_share)} of {zeros.occupied:,} non-zero counts.",
        ]
    if found.additivity.totals:
        lines.append(results["totals_apart"].sentence)
    screen.items("Accuracy", [*lines, *(each.sentence for each in judged.checks[:1]), found.typical.sentence])
    if found.cells:
        rows = [f"{_span(each):>12}{each.cells:>12,}{each.deviation:>12.2f}" for each in found.cells.by_size.classes]
        screen.lines(f"{'True count':>12}{'cells':>12}{'sd of noise':>12}", [[row] for row in rows])
    screen.items("Notes", found.warnings)
    screen.text(NEXT)
    screen.text(output.MORE)
    screen.show()


def show_details(found: Utility, release: str, judged: Decision) -> None:
    """Print the decision and all figures: sentences, then figures by size of count."""
    screen = output.Screen()
    screen.decision(judged, release)
    screen.show()
    source = f"true counts from {found.truth}" if found.truth else "without true counts"
    output.paragraph(f"Utility of {release} ({source}). {found.size.sentence}")
    output.paragraph(found.summary)
    typer.echo("")
    for label, results in found.sections().items():
        if label not in AS_TABLES:
            output.section(label, [each.sentence for each in results if each.name not in SUMMARISED], LABEL)
    if found.cells:
        _show_sizes(found.cells.by_size.classes)
    _show_tests(found.tests)
    _show_small_areas(found)
    _show_assumptions(found.results)
    output.notes(found.warnings)
    typer.echo(NEXT)


def _show_tests(tests: Mapping[int, Rejections]) -> None:
    """Print the false positive rates of tests of independence."""
    typer.echo("")
    output.paragraph("False positive rate of tests of independence at 5 %, percent of simulated tables:")
    rows = (
        [str(mean), *(f"{100 * share:.1f}" for share in (each.exact, each.naive, each.aware))]
        for mean, each in tests.items()
    )
    output.table([("mean count", "<16"), ("true counts", ">13"), ("published", ">11"), ("noise known", ">13")], rows)


def _show_small_areas(found: Utility) -> None:
    """Print the figures on small areas, if the release has small counts."""
    small = found.small_areas
    if small is None or found.areas is None:
        return
    counts = small.single[0].small.number
    typer.echo("")
    output.paragraph(
        f"Small areas: {len(found.areas.codes):,} areas of {found.areas.topic}, {counts:,} counts below 500."
    )
    losses = _losses(small)
    if counts or losses != [NONE_LOST]:
        output.section("lost", losses, LABEL)
    if counts:
        _show_bins(small)


def _about_areas(found: SmallAreas) -> str:
    """Return the list of areas and the noise."""
    noise = f"typically ±{found.deviation:.1f}" + ("" if found.bound == float("inf") else f", at most {found.bound:g}")
    sexes = ", sexes simulated" if found.simulated else ""
    return f"{found.source}: {found.areas:,} areas with residents{sexes}, noise {noise}"


def show_areas(found: SmallAreas, judged: Decision) -> None:
    """Print one screen: the effect of a noise distribution on a list of areas."""
    screen = output.Screen()
    screen.decision(judged, _about_areas(found))
    screen.text(found.summary)
    rows = [["True count", *(f"> {each.relative:.0%}" for each in found.single)]]
    rows += [[str(each.count), *(_percent(share, found.bound) for share in each.off)] for each in found.chances]
    lines = ["  " + "".join(f"{cell:>12}" for cell in row) for row in rows]
    screen.lines("Probability of a larger relative error, in percent", [[line] for line in lines])
    screen.text(output.MORE)
    screen.show()


def show_area_details(found: SmallAreas, judged: Decision) -> None:
    """Print all figures on a list of areas."""
    screen = output.Screen()
    screen.decision(judged, _about_areas(found))
    screen.show()
    output.paragraph(found.summary)
    typer.echo("")
    results = found.results
    groups = {
        "counts": [each.sentence for each in results if each.name.startswith("counts_") and each.value >= NOTHING],
        "areas": [each.sentence for each in results if each.name.startswith("areas_off") and each.value >= NOTHING],
        "lost": _losses(found),
        "totals": [each.sentence for each in results if each.name.startswith("all_totals")],
        "bound": [each.sentence for each in results if each.name == "largest_error"],
    }
    for label, sentences in groups.items():
        output.section(label, sentences, LABEL)
    _show_chances(found)
    typer.echo("")
    _show_bins(found)
    _show_assumptions(results)


def _show_chances(found: SmallAreas) -> None:
    """Print the probability of large relative errors, by true count."""
    typer.echo("")
    output.paragraph("Probability that the relative error of one count exceeds a share, in percent:")
    heads = [("true count", "<14"), *((f"> {each.relative:.0%}", ">10") for each in found.single)]
    rows = ([str(each.count), *(_percent(share, found.bound) for share in each.off)] for each in found.chances)
    output.table(heads, rows)


def _percent(share: float, bound: float) -> str:
    """Return a probability in percent; without a bound it is never 0."""
    return f"<{100 * RAREST:g}" if share < RAREST and bound == float("inf") else f"{100 * share:.3g}"


def _losses(found: SmallAreas) -> list[str]:
    """Return the sentences on lost areas, if any area is lost or expected to be."""
    sentences = [each.sentence for each in found.results if each.name.startswith("areas_without")]
    relevant = [each.expected >= NOTHING or each.sampled for each in found.lost]
    return [sentence for sentence, is_one in zip(sentences, relevant, strict=True) if is_one] or [NONE_LOST]


def _span(size: SizeClass) -> str:
    """Return the range of true counts of a class."""
    return "0" if size.high == 0 else f"{size.low}-{size.high}" if size.high else f"{size.low}+"


def _show_sizes(classes: Sequence[SizeClass]) -> None:
    """Print noise and relative error by size of the true count."""
    typer.echo("\nBy size of the true count, shares in percent:")
    rows = []
    for each in classes:
        low, _, high = each.noise
        off = [f"{100 * share:.1f}" for share in each.above.values()] or ["-"] * 3
        unchanged, noise = f"{100 * each.unchanged:.1f}", f"{low:+.0f}..{high:+.0f}"
        rows.append([_span(each), f"{each.cells:,}", unchanged, f"{each.deviation:,.2f}", noise, *off])
    output.table(BY_SIZE, rows)


def _show_bins(found: SmallAreas) -> None:
    """Print expected and observed numbers of large relative errors by true count."""
    from discreet.accuracy.small_areas import figure

    seen = "observed" if found.seed is None else "drawn"
    output.paragraph(f"Single counts with a relative error above a share, expected and {seen}:")
    heads = [head for each in found.single for head in ((f"> {each.relative:.0%}", ">10"), (seen, ">9"))]
    numbers = [number for number in range(BIN_LINES) if found.single[0].bins[number].number]
    bins = [[each.bins[number] for each in found.single] for number in numbers]
    bins += [[each.small for each in found.single], [each.all for each in found.single]]
    output.table([("true count", "<12"), ("counts", ">10"), *heads], (_bin_row(each, figure) for each in bins))


def _bin_row(bins: Sequence[SizeBin], figure: Callable[[float], str]) -> list[str]:
    """Return the number of counts of one size, and for each share the expected and observed numbers above it."""
    first = bins[0]
    span = "all" if first.last is None else f"{first.first}-{first.last}"
    seen = ["-" if each.sampled is None else f"{each.sampled:,}" for each in bins]
    pairs = zip((_short(each.expected, figure) for each in bins), seen, strict=True)
    return [span, f"{first.number:,}", *(text for pair in pairs for text in pair)]


def _short(number: float, figure: Callable[[float], str]) -> str:
    """Return an expected number, without digits where it is tiny."""
    return f"<{NOTHING}" if 0 < number < NOTHING else figure(number)


def _show_assumptions(results: Iterable[Result]) -> None:
    if assumed := output.assumptions(results):
        typer.echo("")
        output.paragraph(f"Assumptions: {assumed}.")


def utility(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE|AREAS",
            help="Folder of a release; or a list of areas: lau:2016, lau:by-sex:DE, a CSV or Parquet file.",
        ),
    ],
    truth: options.Truth = None,
    areas: options.Areas = None,
    variance: options.Variance = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    scale: options.Scale = None,
    sigma: options.Sigma = None,
    law: options.Law = None,
    ptable: options.PTableFile = None,
    target: options.Targets = None,
    seed: options.Seed = 0,
    details: options.Details = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure the effect of noise on data users: of a release, or on small areas.

    The noise of a release is in its record. Options of the noise are for AREAS.

    Example: discreet utility release

    Example: discreet utility lau:2016:FR --epsilon 0.1
    """
    given = {
        "law": law, "ptable": ptable, "variance": variance, "bound": bound, "threshold": threshold,
        "epsilon": epsilon, "delta": delta, "scale": scale, "sigma": sigma,
    }  # fmt: skip
    noise = {name: value for name, value in given.items() if value is not None}
    if source.startswith(PREFIX) or (Path(source).suffix.lower() in ENDINGS and not Path(source).is_dir()):
        _refuse({"truth": truth, "areas": areas}, "{flag} is for a release, and {source} is a list of areas.", source)
        policy = Policy.of(target).restricted("utility of areas", (SMALL_AREAS,))
        _of_areas(source, noise, seed, policy, details=details, quiet=quiet, as_json=as_json)
        return
    _refuse(noise, "The record of a release defines its noise; {flag} cannot be given too.", source)
    with ProgressBars(shown=not quiet) as stages:
        from discreet.accuracy.release_utility import utility as measure_utility

        found = measure_utility(Path(source), truth=truth, areas=areas, seed=seed, targets=target, progress=stages)
    judged = found.decision
    if as_json:
        topic = found.areas and found.areas.topic
        asked = {"release": source, "truth": found.truth, "areas": topic, "seed": seed}
        output.answer("utility", asked, found.results, found.warnings, **found.to_json())
    elif details and not quiet:
        show_details(found, source, judged)
    elif not quiet:
        show(found, source, judged)


def _refuse(given: dict[str, Any], sentence: str, source: str) -> None:
    """Refuse options that do not apply to the source."""
    for name, value in given.items():
        if value is not None:
            what = sentence.format(flag=f"--{name}", source=source)
            raise ParameterError(f"{what} Leave it out.", parameter=name)


def _of_areas(
    source: str, noise: dict[str, Any], seed: int, policy: Policy, *, details: bool, quiet: bool, as_json: bool
) -> None:
    from discreet.accuracy.area_counts import load_areas
    from discreet.accuracy.small_areas import small_areas
    from discreet.noise.by_name import noise_named

    if not noise:
        what = "The noise for these areas is missing."
        raise ParameterError(f"{what} Example: --variance 2 --bound 5, or --epsilon 0.1", parameter="variance")
    made, there = noise_named(**noise), load_areas(source, seed=seed)
    found = small_areas(there, made, seed=seed)
    if not source.startswith(PREFIX):
        # The included lists are public; a file may be confidential.
        found = found.without_truth()
    judged = Decision((found.check(policy),))
    if as_json:
        asked = {"areas": source, **noise, "seed": seed}
        own = {"targets": policy.to_json((SMALL_AREAS,)), "decision": judged.to_json()}
        output.answer("utility", asked, found.results, (), small_areas=found.to_json(), **own)
    elif details and not quiet:
        show_area_details(found, judged)
    elif not quiet:
        show_areas(found, judged)
