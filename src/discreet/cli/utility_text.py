"""What `discreet utility` prints: sentences first, then figures by size of count."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

from discreet.utility.small_areas import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.results import Result
    from discreet.utility.by_size import SizeClass
    from discreet.utility.measured import Utility
    from discreet.utility.significance import Rejections
    from discreet.utility.size_bins import Line
    from discreet.utility.small_areas import SmallAreas

LABEL = 14
WIDEST = 120
AS_TABLES = ("sizes", "tests", "small areas")
"""Sections that are shown as tables."""
NEXT = "Next: discreet compare, for what other mechanisms would do to the same tables."
BIN_LINES = 6
"""Bins of small sizes that are shown one by one."""


def show(found: Utility, release: str) -> None:
    """Print what the noise of a release does."""
    width = _width()
    source = f"true counts from {found.truth}" if found.truth else "without true counts"
    typer.echo(textwrap.fill(f"What the noise of {release} does to its users ({source}).", width))
    typer.echo(textwrap.fill(found.summary, width) + "\n")
    for label, results in found.sections().items():
        if label not in AS_TABLES:
            _show_section(label, [each.sentence for each in results], width)
    if found.cells:
        _show_sizes(found.cells.by_size.classes)
    _show_tests(found.tests)
    _show_small_areas(found, width)
    _show_assumptions(found.results, width)
    for warning in found.warnings:
        typer.echo(textwrap.fill(f"Note: {warning}", width))
    typer.echo(NEXT)


def _show_tests(tests: Mapping[int, Rejections]) -> None:
    """Print how often tests of independence reject it wrongly."""
    typer.echo(
        "\nTests of independence that reject it wrongly at a level of 5 %, in percent of simulated 5 x 5 tables:"
    )
    typer.echo(f"{'persons a cell':<16}{'true counts':>13}{'published':>11}{'noise known':>13}")
    for mean, each in tests.items():
        shares = f"{100 * each.exact:>13.1f}{100 * each.naive:>11.1f}{100 * each.aware:>13.1f}"
        typer.echo(f"{mean:<16}{shares}")


def _show_small_areas(found: Utility, width: int) -> None:
    """Print what happened to small areas, if there are any small counts."""
    small = found.small_areas
    if small is None:
        return
    counts = small.single[0].small.number
    typer.echo(f"\nSmall areas: {len(found.areas.codes):,} areas of {found.areas.topic}, {counts:,} counts below 500.")
    if counts:
        lost = [each.sentence for each in small.results() if each.name.startswith("areas_without")]
        _show_section("lost", lost, width)
        _show_bins(small)


def show_areas(found: SmallAreas) -> None:
    """Print what a law does to a list of areas."""
    width = _width()
    noise = f"typically ±{found.deviation:.1f}" + ("" if found.bound == float("inf") else f", at most {found.bound:g}")
    typer.echo(textwrap.fill(f"{found.source}: {found.areas:,} areas with residents, noise {noise}.", width))
    results = found.results()
    groups = {
        "counts": [each for each in results if each.name.startswith("counts_")],
        "areas": [each for each in results if each.name.startswith("areas_off")],
        "lost": [each for each in results if each.name.startswith("areas_without")],
        "bound": [each for each in results if each.name == "largest_error"],
    }
    for label, among in groups.items():
        _show_section(label, [each.sentence for each in among], width)
    typer.echo("")
    _show_bins(found)
    _show_assumptions(results, width)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, WIDEST)


def _show_section(label: str, sentences: Iterable[str], width: int) -> None:
    for sentence in sentences:
        head = f"{label:<{LABEL}}"
        typer.echo(textwrap.fill(sentence, width, initial_indent=head, subsequent_indent=" " * LABEL))
        label = ""


def _show_sizes(classes: Sequence[SizeClass]) -> None:
    """Print noise and relative error by size of the true count."""
    typer.echo("\nBy size of the true count, shares in percent:")
    heads = f"{'cells':>12}{'unchanged':>11}{'sd':>7}{'9 of 10':>12}{'> 20 %':>9}{'> 50 %':>8}{'> 100 %':>9}"
    typer.echo(f"{'true count':<14}{heads}")
    for each in classes:
        span = "0" if each.high == 0 else f"{each.low}-{each.high}" if each.high else f"{each.low}+"
        low, _, high = each.noise
        off = [f"{100 * share:.1f}" for share in each.above.values()] or ["-"] * 3
        typer.echo(
            f"{span:<14}{each.cells:>12,}{100 * each.unchanged:>11.1f}{each.deviation:>7.2f}"
            f"{f'{low:+.0f}..{high:+.0f}':>12}{off[0]:>9}{off[1]:>8}{off[2]:>9}"
        )


def _show_bins(found: SmallAreas) -> None:
    """Print expected and counted distortions by size, single counts and whole areas."""
    seen = "seen" if found.seed is None else "drawn"
    head = "".join(f"{f'> {each.relative:.0%}':>10}{seen:>8}" for each in found.single)
    typer.echo(f"Single counts off by more than a share, expected and {seen}:")
    typer.echo(f"{'true count':<14}{'counts':>10}{head}")
    for number in range(BIN_LINES):
        if found.single[0].bins[number].number:
            _show_line([each.bins[number] for each in found.single])
    for lines in ([each.small for each in found.single], [each.all for each in found.single]):
        _show_line(lines)


def _show_line(lines: Sequence[Line]) -> None:
    first = lines[0]
    span = "all" if first.last is None else f"{first.first}-{first.last}"
    seen = ["-" if each.sampled is None else f"{each.sampled:,}" for each in lines]
    told = "".join(f"{figure(each.expected):>10}{drawn:>8}" for each, drawn in zip(lines, seen, strict=True))
    typer.echo(f"{span:<14}{first.number:>10,}{told}")


def _show_assumptions(results: Iterable[Result], width: int) -> None:
    texts = dict.fromkeys(text for result in results for text in result.assumptions)
    if texts:
        typer.echo(textwrap.fill(f"Assumed: {'; '.join(texts)}.", width, initial_indent="\n"))
