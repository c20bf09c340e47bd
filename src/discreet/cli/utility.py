"""`discreet utility`: what the noise does to users, of a release or, before there is one, to small areas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.accuracy.area_counts import PREFIX, load_areas
from discreet.accuracy.release_utility import utility as measure_utility
from discreet.accuracy.small_areas import figure, small_areas
from discreet.cli import options, output
from discreet.cli.progress_bars import ProgressBars
from discreet.errors import ParameterError
from discreet.noise.by_name import distribution_names, noise_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
"""Sections that are shown as tables."""
SAID = ("expected_relative_distance", "expected_vanished")
"""Figures that another sentence tells already."""
NEXT = "Next: discreet compare, for what other mechanisms would do to the same tables."
NOTHING = 0.01
"""Expected numbers below this are not worth a sentence."""
RAREST = 1e-8
"""Chances below this are not told apart."""
NONE_LOST = "No area is lost, or expected to be."
BIN_LINES = 6
"""Bins of small sizes that are shown one by one."""
ENDINGS = (".csv", ".parquet")
"""Of files with areas."""


def show(found: Utility, release: str) -> None:
    """Print what the noise of a release does: sentences first, then figures by size of count."""
    source = f"true counts from {found.truth}" if found.truth else "without true counts"
    opening = f"What the noise of {release} does to its users ({source}). {found.size.sentence}"
    output.paragraph(opening)
    output.paragraph(found.summary)
    typer.echo("")
    for label, results in found.sections().items():
        if label not in AS_TABLES:
            output.section(label, [each.sentence for each in results if each.name not in SAID], LABEL)
    if found.cells:
        _show_sizes(found.cells.by_size.classes)
    _show_tests(found.tests)
    _show_small_areas(found)
    _show_assumptions(found.results)
    output.notes(found.warnings)
    typer.echo(NEXT)


def _show_tests(tests: Mapping[int, Rejections]) -> None:
    """Print how often tests of independence reject it wrongly."""
    typer.echo("\nTests of independence at 5 % that reject it wrongly, percent of simulated tables:")
    rows = (
        [str(mean), *(f"{100 * share:.1f}" for share in (each.exact, each.naive, each.aware))]
        for mean, each in tests.items()
    )
    output.table(
        [("persons a cell", "<16"), ("true counts", ">13"), ("published", ">11"), ("noise known", ">13")], rows
    )


def _show_small_areas(found: Utility) -> None:
    """Print what happened to small areas, if there are any small counts."""
    small = found.small_areas
    if small is None or found.areas is None:
        return
    counts = small.single[0].small.number
    typer.echo(f"\nSmall areas: {len(found.areas.codes):,} areas of {found.areas.topic}, {counts:,} counts below 500.")
    losses = _losses(small)
    if counts or losses != [NONE_LOST]:
        output.section("lost", losses, LABEL)
    if counts:
        _show_bins(small)


def show_areas(found: SmallAreas) -> None:
    """Print what a law does to a list of areas."""
    noise = f"typically ±{found.deviation:.1f}" + ("" if found.bound == float("inf") else f", at most {found.bound:g}")
    sexes = ", sexes simulated" if found.simulated else ""
    output.paragraph(f"{found.source}: {found.areas:,} areas with residents{sexes}, noise {noise}.")
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
    """Print how likely one count is off, by its size."""
    typer.echo("\nChance that one count is off by more than a share, in percent:")
    heads = [("true count", "<14"), *((f"> {each.relative:.0%}", ">10") for each in found.single)]
    rows = ([str(each.count), *(_percent(share, found.bound) for share in each.off)] for each in found.chances)
    output.table(heads, rows)


def _percent(share: float, bound: float) -> str:
    """Return a chance in percent; without a bound none is 0, however small."""
    return f"<{100 * RAREST:g}" if share < RAREST and bound == float("inf") else f"{100 * share:.3g}"


def _losses(found: SmallAreas) -> list[str]:
    """Return the sentences on areas that lose somebody, where any is lost or to be expected."""
    told = [each.sentence for each in found.results if each.name.startswith("areas_without")]
    worth = [each.expected >= NOTHING or each.sampled for each in found.lost]
    return [sentence for sentence, is_worth in zip(told, worth, strict=True) if is_worth] or [NONE_LOST]


def _show_sizes(classes: Sequence[SizeClass]) -> None:
    """Print noise and relative error by size of the true count."""
    typer.echo("\nBy size of the true count, shares in percent:")
    rows = []
    for each in classes:
        span = "0" if each.high == 0 else f"{each.low}-{each.high}" if each.high else f"{each.low}+"
        low, _, high = each.noise
        off = [f"{100 * share:.1f}" for share in each.above.values()] or ["-"] * 3
        unchanged, noise = f"{100 * each.unchanged:.1f}", f"{low:+.0f}..{high:+.0f}"
        rows.append([span, f"{each.cells:,}", unchanged, f"{each.deviation:,.2f}", noise, *off])
    output.table(BY_SIZE, rows)


def _show_bins(found: SmallAreas) -> None:
    """Print expected and counted distortions by size, single counts and whole areas."""
    seen = "seen" if found.seed is None else "drawn"
    typer.echo(f"Single counts off by more than a share, expected and {seen}:")
    heads = [head for each in found.single for head in ((f"> {each.relative:.0%}", ">10"), (seen, ">8"))]
    numbers = [number for number in range(BIN_LINES) if found.single[0].bins[number].number]
    bins = [[each.bins[number] for each in found.single] for number in numbers]
    bins += [[each.small for each in found.single], [each.all for each in found.single]]
    output.table([("true count", "<14"), ("counts", ">10"), *heads], map(_bin_row, bins))


def _bin_row(bins: Sequence[SizeBin]) -> list[str]:
    """Return how many counts of one size there are, and of each share how many are off by more."""
    first = bins[0]
    span = "all" if first.last is None else f"{first.first}-{first.last}"
    seen = ["-" if each.sampled is None else f"{each.sampled:,}" for each in bins]
    pairs = zip((_short(each.expected) for each in bins), seen, strict=True)
    return [span, f"{first.number:,}", *(text for pair in pairs for text in pair)]


def _short(number: float) -> str:
    """Return an expected number; one that is tiny is not worth its digits."""
    return f"<{NOTHING}" if 0 < number < NOTHING else figure(number)


def _show_assumptions(results: Iterable[Result]) -> None:
    if assumed := output.assumptions(results):
        output.paragraph(f"Assumed: {assumed}.", "\n")


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
    areas: options.Areas = None,
    variance: Annotated[float | None, typer.Option(metavar="V", help="Of AREAS: noise variance of a count.")] = None,
    bound: options.Bound = None,
    threshold: options.Threshold = None,
    epsilon: Annotated[float | None, typer.Option(metavar="EPS", help="Privacy budget of one count.")] = None,
    delta: options.Delta = None,
    scale: options.Scale = None,
    sigma: options.Sigma = None,
    law: Annotated[str | None, typer.Option(metavar="LAW", help=f"{', '.join(distribution_names())}.")] = None,
    ptable: options.PTableFile = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of what is simulated.")] = 0,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
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
    with ProgressBars(shown=not quiet) as stages:
        found = measure_utility(release, truth=truth, areas=areas, seed=seed, progress=stages)
    if as_json:
        topic = found.areas and found.areas.topic
        asked = {"release": release, "truth": found.truth, "areas": topic, "seed": seed}
        output.answer("utility", asked, found.results, found.warnings, **found.to_json())
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
        asked = {"areas": source, **noise, "seed": seed}
        output.answer("utility", asked, found.results, (), small_areas=found.to_json())
    else:
        show_areas(found)
