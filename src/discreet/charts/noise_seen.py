"""The picture of the noise that a release carries, beside the law it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.paper import ACCENT, DARK, LIGHT
from discreet.charts.svg import LETTERS, Picture, page_figure, page_picture

if TYPE_CHECKING:
    from discreet.noise.base import Noise
    from discreet.utility.noise_seen import NoiseSeen


@dataclass(frozen=True)
class NoiseSeenChart:
    """Share of the counts that got every noise, and its probability."""

    title: str
    noise: tuple[int, ...]
    share: tuple[float, ...]
    probability: tuple[float, ...]


def noise_seen_chart(seen: NoiseSeen, law: Noise) -> NoiseSeenChart:
    """Return the noise of large counts and its law, side by side over the values that were seen."""
    values = np.arange(min(seen.of_large), max(seen.of_large) + 1)
    times = np.array([seen.of_large.get(value, 0) for value in values.tolist()], dtype=float)
    share = times / times.sum()
    variance = float(np.dot(share, values**2))
    title = (
        f"{int(times.sum()):,} published counts of {seen.large} and more: the variance of their noise is "
        f"{variance:.2f}, and the law says {law.variance:.2f}"
    )
    return NoiseSeenChart(title, tuple(values.tolist()), tuple(share.tolist()), tuple(law.pmf(values).tolist()))


def noise_seen_picture(seen: NoiseSeen, law: Noise) -> Picture:
    """Return the picture."""
    chart = noise_seen_chart(seen, law)
    figure, axes = page_figure(2.7)
    axes.bar(chart.noise, chart.share, width=0.86, color=LIGHT)
    axes.plot(chart.noise, chart.probability, "o", color=ACCENT, markersize=6)
    peak = int(np.argmax(chart.probability))
    axes.annotate(
        "what the law says",
        (chart.noise[peak], chart.probability[peak]),
        xytext=(14, 3),
        textcoords="offset points",
        color=ACCENT,
        fontsize=LETTERS,
    )
    axes.annotate(
        "published",
        (chart.noise[peak], chart.share[peak] / 2),
        ha="center",
        va="center",
        rotation=90,
        color=DARK,
        fontsize=LETTERS,
    )
    axes.set_ylim(0, 1.15 * max(*chart.share, *chart.probability))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xticks(chart.noise, [f"{noise:+d}" if noise else "0" for noise in chart.noise])
    axes.set_xlabel("noise: published minus true count")
    axes.set_ylabel("share of the counts")
    return page_picture(figure, chart.title, _words(chart))


def _words(chart: NoiseSeenChart) -> str:
    rows = "; ".join(
        f"{noise:+d}: {share:.1%} seen, {probability:.1%} by the law"
        for noise, share, probability in zip(chart.noise, chart.share, chart.probability, strict=True)
    )
    return f"Bars: share of the published counts by their noise; dots: the law. {rows}."
