"""The report as one self-contained HTML file, filled from the gathered results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.charts.rendering import as_data, program, static_svg
from discreet.noise.ptable import PTable
from discreet.noise.sentences import CENTRED
from discreet.programme.summary import statistic_label
from discreet.release.disclosed_noise import told_range, typical_change
from discreet.reports.release_charts import MOST_EXPOSED, achieved_by, design_chart, exposed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from discreet.charts.chart import Chart
    from discreet.noise.distribution import Noise
    from discreet.release.record import Record
    from discreet.reports.report_results import ReportResults
    from discreet.reports.sentences import ReportSummary
    from discreet.reports.verdicts import VerdictLine
    from discreet.results import Result

TEMPLATES, PAGE = "templates", "report.html"
SECTIONS = {
    "short": "In short",
    "published": "What is published",
    "noise": "The noise",
    "attacker": "What an attacker could do",
    "users": "What users lose",
    "choices": "Choices and assumptions",
    "again": "How to make this again",
}
MEASURES = {
    "averaging": "By averaging",
    "redundancy": "By redundancy",
    "bound": "By finding out the bound",
    "margins": "By margins",
    "epsilon_delta": "One person, one count",
}
"""What measures are called on the page; others are called by their names."""
LOSSES = {
    "counts": "Counts",
    "zeros": "Persons who vanish, and persons made up",
    "sizes": "By size of the count",
    "tables": "Whole tables",
    "ranks": "The order of areas",
    "association": "What goes with what",
    "interval": "What a published count stands for",
    "totals": "Totals",
    "small areas": "Small areas",
    "tests": "Tests of independence",
}
MOST_SHARED = 8
WIDEST_PTABLE = 12
"""The largest bound of a p-table that is shown cell by cell."""
UNITS = {"1": "", "persons squared": "persons²"}
NEARLY_NONE = 0.001
"""Shares below this, and above one less this, are not told to a digit."""


def document(found: ReportResults, summary: ReportSummary, charts: Mapping[str, Iterable[Chart]]) -> str:
    """Return the report as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("discreet.reports", TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": lambda value: f"{value:,.0f}",
        "share": share_words,
        "assumed": _assumed,
        "value": value_words,
    }
    return environment.get_template(PAGE).render(_content(found, summary, charts))


def _content(found: ReportResults, summary: ReportSummary, charts: Mapping[str, Iterable[Chart]]) -> dict[str, Any]:
    """Return everything that the templates speak of, by name."""
    published, release = found.published, found.published.release
    return {
        "found": found,
        "summary": summary,
        "limit_words": limit_words,
        "titles": SECTIONS,
        "name": release.description["name"],
        "told": release.description["noise"],
        "files": release.description["files"],
        "programme": release.programme,
        "words": lambda name: statistic_label(release.programme, name),
        "shared": published.shared[:MOST_SHARED],
        "ptable": _ptable(found),
        "noise": dict(_noise(found)),
        "expected": [
            each for each in found.utility.expected if not (published.is_public and each.name == "typical_noise")
        ],
        "least_noise": _least_noise(found),
        "design_drawn": design_chart(found) is not None,
        "limits": list(_limits(found)),
        "measures": _measures(found),
        "less_exposed": list(_less_exposed(found)),
        "exposed": exposed(found.risk.assessment, MOST_EXPOSED) if found.risk.assessment else (),
        "achieved": achieved_by(found),
        "losses": {LOSSES.get(name, name): each for name, each in found.utility.measured.sections().items() if each},
        "settings": dict(_settings(found)),
        "charts": {section: [EmbeddedChart.of(chart) for chart in each] for section, each in charts.items()},
        "program": program(),
    }


@dataclass(frozen=True)
class EmbeddedChart:
    """A chart as a page needs it: name, message and words, its data, and the drawing for readers without scripts."""

    name: str
    title: str
    alternative: str
    data: str
    svg: str

    @classmethod
    def of(cls, chart: Chart) -> EmbeddedChart:
        """Return a chart, drawn."""
        spec = chart.spec()
        return cls(chart.name, chart.title, chart.alternative, as_data(spec), static_svg(spec))


def value_words(result: Result) -> str:
    """Return the value of a result with its unit."""
    if not math.isfinite(result.value):
        return "∞"
    digits = f"{result.value:,.0f}" if result.value == int(result.value) else f"{result.value:,.4g}"
    return f"{digits} {UNITS.get(result.unit, result.unit)}".strip()


def limit_words(light: VerdictLine) -> tuple[str, str]:
    """Return number and limit of a light as they are shown."""
    form = share_words if light.is_share else "{:,.3g}".format
    limit = f"at most {form(light.limit)}"
    if light.result is None:
        return "-", limit
    most = form(light.result.value)
    least = most if light.mildest is None else form(light.mildest)
    return most if least == most else f"{least} to {most}", limit


def share_words(share: float) -> str:
    """Return a share in percent; what is nearly all, or nearly nothing, is not told as all or nothing.

    >>> share_words(0.9996), share_words(0.68), share_words(0.0)
    ('over 99.9%', '68.0%', '0.0%')
    """
    if NEARLY_NONE > share > 0:
        return f"under {NEARLY_NONE:.1%}"
    return f"over {1 - NEARLY_NONE:.1%}" if 1 > share > 1 - NEARLY_NONE else f"{share:.1%}"


def _assumed(results: Iterable[Result]) -> list[str]:
    """Return what results assume, each thing once."""
    return list(dict.fromkeys(text for result in results for text in result.assumptions))


@dataclass(frozen=True)
class PTableLine:
    """One row of a p-table: the true count and the probability of every noise, as it is shown."""

    count: str
    chances: tuple[str, ...]


def _ptable(found: ReportResults) -> tuple[tuple[int, ...], tuple[PTableLine, ...]] | None:
    """Return the noises and the rows of the p-table, None where there is none or it is too large to show."""
    record = found.published.record
    table = None if record is None or record.is_exact else record.noise
    if not isinstance(table, PTable) or table.bound > WIDEST_PTABLE:
        return None
    noises = tuple(range(-table.bound, table.bound + 1))
    last = len(table.rows) - 1
    return noises, tuple(
        PTableLine(f"{number} or more" if number == last else str(number), tuple(_chances(row, noises)))
        for number, row in enumerate(table.rows)
    )


def _chances(row: Noise, noises: tuple[int, ...]) -> Iterator[str]:
    for chance in row.pmf(list(noises)).tolist():
        yield f"{chance:.3f}".lstrip("0") if chance else ""


def _noise(found: ReportResults) -> Iterator[tuple[str, str]]:
    """Give what may be said of the noise: all of it to the curator, what is told to everybody."""
    told, record = found.published.release.description["noise"], found.published.record
    yield "method", str(told.get("method", "not told"))
    if record is not None and not record.is_exact:
        yield "law", _law(record)
        if record.largest_variance > record.variance:
            yield "most noise of a count", f"variance {record.largest_variance:.4g}"
        yield "largest noise", f"{record.bound:g}" if math.isfinite(record.bound) else "none: it has no bound"
        yield "empty cells", "carry noise too" if record.zeros_are_noisy else "stay 0"
        if record.non_negative:
            yield "negative counts", "are published as 0"
    elif "typical_noise" in told:
        yield "typical noise", f"±{typical_change(told):.1f} persons"
        yield "largest noise", str(told.get("bound", "not told"))
    if "smallest_published" in told:
        yield "smallest count", f"{told['smallest_published']}, besides 0: nothing below it is ever published"
    if "same_count_same_noise" in told:
        same = "has the same noise in every table" if told["same_count_same_noise"] else "has new noise in every table"
        yield "a statistic", same
    if record is None:
        yield from _told_only(told)
    if privacy := told.get("privacy"):
        said = f"epsilon {privacy['epsilon']:g}, delta {privacy['delta']:g} for the whole output"
        yield "promise", f"{said}; {privacy['condition']}"


def _law(record: Record) -> str:
    """Return the noise distribution of large counts in words, or the rule that takes its place."""
    if record.is_deterministic:
        rule = "a rounding rule" if record.rounds else "a fixed change of every count"
        return f"{record.law}, {rule}: no random noise"
    mean = f", mean {record.mean:.3g}" if abs(record.mean) >= CENTRED else ""
    return f"{record.law}, variance {record.variance:.4g}{mean} for large counts"


def _told_only(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give what a release tells in sentences, and what follows from what it does not tell."""
    if "typical_noise" in told and "zeros" not in told:
        yield "zeros", "Empty cells stay 0: a published count above 0 stands for somebody."
    for name in ("totals", "zeros", "negative"):
        if name in told:
            yield name, str(told[name])


def _least_noise(found: ReportResults) -> str:
    """Return with what noise the risk of a page for everybody is computed, "" where it tells none."""
    sizes = told_range(found.published.release.description["noise"])
    if not found.published.is_public or found.risk.assessment is None or sizes is None:
        return ""
    told = found.published.release.description["noise"]["typical_noise"]
    return (
        f"±{told} is rounded and may stand for ±{sizes[0]:g} to ±{sizes[1]:g}. Figures of risk are for the least, "
        f"±{sizes[0]:g}; with more noise there is less risk."
    )


@dataclass(frozen=True)
class ConstraintLine:
    """One constraint of the design as it stands in the table: at the bound of the release where it depends on it."""

    name: str
    asks: str
    reason: str
    formula: str
    assumptions: tuple[str, ...]


def _limits(found: ReportResults) -> Iterator[ConstraintLine]:
    design, record = found.risk.design, found.published.record
    if design is None or record is None:
        return
    bound = int(record.bound) if math.isfinite(record.bound) else design.question.max_bound
    for each in design.region.constraints:
        at = f" at bound {bound}" if each.limit(1) != each.limit(2) else ""
        asks = f"{each.about} {each.side} {each.limit(bound):.3g}{at}"
        yield ConstraintLine(each.name, asks, each.reason, each.formula, each.assumptions)


def _measures(found: ReportResults) -> dict[str, tuple[Result, ...]]:
    """Return the figures of the assessment by measure; what noise would be needed is advice for the curator."""
    parts = [part for part in (found.risk.assessment, found.risk.bound) if part]
    every = {each: results for part in parts for each, results in part.by_measure.items()}
    shown = {
        MEASURES.get(name, name): tuple(
            each for each in results if not (found.published.is_public and each.name == "variance_needed")
        )
        for name, results in every.items()
    }
    return {name: results for name, results in shown.items() if results}


def _less_exposed(found: ReportResults) -> Iterator[str]:
    """Give a sentence for everything that tables count beside what is most exposed."""
    for each in found.risk.assessments[1:]:
        right = next((result for result in each.results if result.name == "averaging_success"), None)
        yield f"{each.case.counted}: {right.sentence if right else 'nothing can be averaged.'}"


def _settings(found: ReportResults) -> Iterator[tuple[str, str]]:
    """Give the choices that were made, for the noise and for this report."""
    record = found.published.record
    if record is not None:
        yield "mechanism", record.mechanism
        yield "law", record.law
        for name, value in record.parameters.items():
            if not isinstance(value, dict | bool) and value:
                yield name.replace("_", " "), f"{value:g}" if isinstance(value, float) else str(value)
        if record.mechanism_class.needs_keys:
            yield "keys", f"{record.key_mode}, version {record.key_version}"
        yield "records without a value", record.missing or "none allowed"
    yield "success that an attacker may have", f"{found.risk.confidence:.2%}"
    if found.risk.attacks is not None:
        budget = found.risk.attacks.budget
        yield "target cells of attacks", "all" if budget is None else f"at most {budget:,}"
        yield "seed of attacks", str(found.risk.attacks.seed)
    if found.utility.measured.areas is not None:
        yield "areas", f"{len(found.utility.measured.areas.codes):,} of topic {found.utility.measured.areas.topic}"
