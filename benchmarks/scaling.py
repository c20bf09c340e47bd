"""Scaling of time with records and with cells: two series, their exponents, and a chart."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.census import persons_file, protected
from benchmarks.clock import RESULTS
from discreet.charts.chart import ACCENT
from discreet.charts.rendering import save_chart
from discreet.paper.curve_panels import Curve, Curves, PaperFigure

RECORDS = (30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COUNTRIES = ("MT", "LU", "SI", "PT", "AT", "DE")
"""Countries by increasing number of areas; all have the same 103 tables of persons."""
PERSONS = 1_000_000
TAIL = 3
"""The exponent is fitted to the last points, where fixed costs are negligible."""


@dataclass(frozen=True)
class Series:
    """Seconds against one quantity."""

    name: str
    sizes: list[int]
    seconds: list[float]

    @property
    def exponent(self) -> float:
        """Return b of seconds = a * size^b, by least squares on the logarithms of the last points."""
        return float(np.polyfit(np.log(self.sizes[-TAIL:]), np.log(self.seconds[-TAIL:]), 1)[0])


def by_records(folder: Path) -> Series:
    """Measure Luxembourg with an increasing number of persons."""
    seconds = []
    for persons in RECORDS:
        data = persons_file(folder, "LU", persons)
        seconds.append(min(protected(data, "LU", folder / "release")[1].wall for _ in range(2)))
    return Series("records (Luxembourg, 3.2 million cells)", list(RECORDS), seconds)


def by_cells(folder: Path) -> Series:
    """Measure a million persons in countries with an increasing number of areas."""
    sizes, seconds = [], []
    for country in COUNTRIES:
        data = persons_file(folder, country, PERSONS)
        runs = [protected(data, country, folder / "release") for _ in range(2)]
        summary = runs[0][0].summary
        assert summary is not None
        sizes.append(summary.cells)
        seconds.append(min(spent.wall for _, spent in runs))
        data.unlink()
    return Series("cells (a million persons)", sizes, seconds)


def draw(series: list[Series], path: Path) -> None:
    """Draw both series on logarithmic axes, with their exponents."""
    panels = tuple(
        Curves(
            f"exponent {one.exponent:.2f} (last {TAIL})",
            tuple(map(float, one.sizes)),
            (Curve("", tuple(one.seconds), ACCENT),),
            one.name,
            "wall seconds",
            log_x=True,
            log_y=True,
        )
        for one in series
    )
    title = "Time grows with records and cells no faster than they do"
    words = "; ".join(f"{one.name}: exponent {one.exponent:.2f}" for one in series)
    save_chart(PaperFigure("scaling", title, "", f"Curves of wall seconds. {words}.", panels), path)


def main() -> None:
    """Measure both series, print the exponents, store figures and chart."""
    with tempfile.TemporaryDirectory() as name:
        series = [by_records(Path(name)), by_cells(Path(name))]
    for one in series:
        points = ", ".join(f"{size:,}: {seconds:.2f} s" for size, seconds in zip(one.sizes, one.seconds, strict=True))
        print(f"  {one.name}: exponent {one.exponent:.2f}; {points}")
    content = [
        {"name": one.name, "sizes": one.sizes, "seconds": one.seconds, "exponent": one.exponent} for one in series
    ]
    (RESULTS / "scaling.json").write_text(json.dumps(content, indent=2) + "\n")
    draw(series, RESULTS / "scaling.png")


if __name__ == "__main__":
    main()
