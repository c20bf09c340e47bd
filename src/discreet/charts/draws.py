"""The picture of drawn noise beside the law it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.paper import ACCENT, DARK, LIGHT, blank_figure, save_png

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.arrays import Ints
    from discreet.noise.base import Noise


@dataclass(frozen=True)
class DrawsChart:
    """Share of the draws and probability of every noise."""

    title: str
    noise: tuple[int, ...]
    share: tuple[float, ...]
    probability: tuple[float, ...]


def draws_chart(law: Noise, draws: Ints) -> DrawsChart:
    """Return draws and law side by side over the values that were drawn."""
    values = np.arange(draws.min(), draws.max() + 1)
    share = np.array([(draws == value).mean() for value in values])
    title = f"{len(draws):,} draws have variance {draws.var():.2f}; the law says {law.variance:.2f}"
    return DrawsChart(title, tuple(values.tolist()), tuple(share.tolist()), tuple(law.pmf(values).tolist()))


def draw_draws(law: Noise, draws: Ints, path: Path) -> None:
    """Write the picture as a PNG, whole or not at all."""
    chart = draws_chart(law, draws)
    figure = blank_figure(7.0, 3.6, chart.title)
    axes = figure.subplots()
    axes.bar(chart.noise, chart.share, width=0.85, color=LIGHT)
    axes.plot(chart.noise, chart.probability, "o", color=ACCENT, markersize=5)
    peak = int(np.argmax(chart.probability))
    axes.annotate(
        "law",
        (chart.noise[peak], chart.probability[peak]),
        xytext=(14, 4),
        textcoords="offset points",
        color=ACCENT,
        fontsize=9,
    )
    axes.annotate(
        "drawn",
        (chart.noise[peak] - 1, chart.share[max(peak - 1, 0)] / 2),
        ha="center",
        color=DARK,
        fontsize=9,
    )
    axes.set_xlabel("noise, published minus true count")
    axes.set_ylabel("share")
    save_png(figure, path)
