"""The report as one self-contained HTML file, filled from the gathered results."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.charts.rendering import as_data, described, program, static_svg
from discreet.noise.ptable import PTable
from discreet.noise.sentences import CENTRED
from discreet.programme.summary import shared_statistics, statistic_label
from discreet.release.disclosed_noise import deviation_range, typical_change
from discreet.reports.release_charts import achieved_by, design_chart, exposed
from discreet.reports.sentences import section_sentences
from discreet.reports.verdicts import SECTIONS as EVIDENCE
from discreet.verdicts import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from discreet.charts.chart import Chart
    from discreet.release.record import Record
    from discreet.reports.report_results import ReportResults
    from discreet.results import Result
    from discreet.verdicts import Decision

TEMPLATES, PAGE = "templates", "report.html"
SECTIONS = {
    "summary": "Summary",
    "output": "Output",
    "noise": "Noise",
    "attacks": "Attacks",
    "accuracy": "Accuracy",
    "decisions": "Decisions",
    "assumptions": "Assumptions",
    "reproduce": "Reproduce",
}
MEASURES = {
    "averaging": "Averaging",
    "redundancy": "Redundancy",
    "bound": "Bound disclosure",
    "margins": "Margins",
    "epsilon_delta": "One person, one count",
}
"""The headings of measures on the page; others appear under their names."""
LOSSES = {
    "counts": "Counts",
    "zeros": "Lost and false counts",
    "sizes": "Errors by size of the count",
    "tables": "Tables",
    "ranks": "Ranks of areas",
    "association": "Association",
    "interval": "Intervals of the true count",
    "totals": "Additivity",
    "small areas": "Small areas",
    "tests": "Tests of independence",
}
WIDEST_PTABLE = 12
"""The largest bound of a p-table that is shown cell by cell."""
UNITS = {"1": "", "persons squared": "persons²"}
SMALLEST, LARGEST = 0.001, 1000
"""Numbers outside this range are shown without decimals."""


def document(found: ReportResults, decision: Decision, charts: Mapping[str, Iterable[Chart]]) -> str:
    """Return the report as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("discreet.reports", TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": lambda value: f"{value:,.0f}",
        "percent": percent,
        "spaced": spaced,
        "value": value_text,
    }
    return environment.get_template(PAGE).render(_content(found, decision, charts))


def _content(found: ReportResults, decision: Decision, charts: Mapping[str, Iterable[Chart]]) -> dict[str, Any]:
    """Return the variables of the templates by name."""
    published, release = found.published, found.published.release
    return {
        "found": found,
        "decision": decision,
        "evidence": EVIDENCE,
        "notes": Footnotes(),
        "titles": SECTIONS,
        "sentences": section_sentences(found),
        "name": release.description["name"],
        "files": release.description["files"],
        "statistics": list(_statistics(found)),
        "example": published.example,
        "ptable": _ptable(found),
        "noise": dict(_noise(found)),
        "expected": [
            each for each in found.utility.expected if not (published.is_public and each.name == "typical_noise")
        ],
        "assumed_noise": _assumed_noise(found),
        "design_drawn": design_chart(found) is not None,
        "constraints": list(_constraints(found)),
        "measures": _measures(found),
        "less_exposed": list(_less_exposed(found)),
        "achieved": achieved_by(found),
        "losses": {LOSSES.get(name, name): each for name, each in found.utility.measured.sections().items() if each},
        "settings": dict(_settings(found)),
        "charts": {section: [EmbeddedChart.of(chart) for chart in each] for section, each in charts.items()},
        "program": program(),
    }


@dataclass
class Footnotes:
    """The assumptions of a page, numbered in the order of their first use."""

    texts: dict[str, int] = field(default_factory=dict)

    def __call__(self, assumptions: Iterable[str]) -> list[int]:
        """Return the numbers of some assumptions."""
        return [self.texts.setdefault(text, len(self.texts) + 1) for text in assumptions]


@dataclass(frozen=True)
class EmbeddedChart:
    """A chart on a page: name, message, text alternative, data, and the drawing that scripts replace."""

    name: str
    title: str
    alternative: str
    data: str
    svg: str

    @classmethod
    def of(cls, chart: Chart) -> EmbeddedChart:
        """Return a chart with its drawing."""
        spec = chart.spec()
        drawing = described(static_svg(spec), chart.name, chart.alternative)
        return cls(chart.name, chart.title, chart.alternative, as_data(spec), drawing)


def value_text(result: Result) -> str:
    """Return the value of a result with its unit, to three digits and without powers of ten."""
    value, unit = result.value, UNITS.get(result.unit, result.unit)
    if not math.isfinite(value):
        return "∞"
    if result.unit == "1" and 0 <= value <= 1:
        return percent(value)
    if 0 < abs(value) < SMALLEST:
        return f"under {SMALLEST:g} {unit}".strip()
    whole = value == int(value) or abs(value) >= LARGEST
    return f"{value:,.0f} {unit}".strip() if whole else f"{value:.3g} {unit}".strip()


def spaced(text: str) -> str:
    """Return a text with a space before every percent sign.

    >>> spaced("68.1% of 100 %")
    '68.1 % of 100 %'
    """
    return re.sub(r"(?<=\d)%", " %", text)


@dataclass(frozen=True)
class StatisticLine:
    """One row of the table of all statistics; the rate is None if averaging does not cover it."""

    label: str
    name: str
    tables: int
    cells: int
    rate: float | None


def _statistics(found: ReportResults) -> Iterator[StatisticLine]:
    """Give all statistics, those with the largest exact recovery rate first."""
    programme = found.published.release.programme
    rates = {row.statistic: row.right for each in found.risk.assessments for row in exposed(each)}
    several = len(programme.populations) > 1
    lines = []
    for population in programme.populations:
        for each in shared_statistics(programme, population=population):
            name = f"{each.name} of {population}" if several else each.name
            rate = rates.get(name, rates.get(each.name))
            lines.append(StatisticLine(statistic_label(programme, name), name, each.tables, each.cells, rate))
    yield from sorted(lines, key=lambda line: -(line.rate or 0))


@dataclass(frozen=True)
class PTableLine:
    """One row of a p-table: the true count and the probability of every noise value."""

    count: str
    chances: tuple[float, ...]


def _ptable(found: ReportResults) -> tuple[tuple[int, ...], tuple[PTableLine, ...]] | None:
    """Return the noise values and the rows of the p-table; None if there is none or it is too large to show."""
    record = found.published.record
    table = None if record is None or record.is_exact else record.noise
    if not isinstance(table, PTable) or table.bound > WIDEST_PTABLE:
        return None
    noises = tuple(range(-table.bound, table.bound + 1))
    last = len(table.rows) - 1
    return noises, tuple(
        PTableLine(f"{number} or more" if number == last else str(number), tuple(row.pmf(list(noises)).tolist()))
        for number, row in enumerate(table.rows)
    )


def _noise(found: ReportResults) -> Iterator[tuple[str, str]]:
    """Give the properties of the noise: all of them to the curator, the public ones to data users."""
    told, record = found.published.release.description["noise"], found.published.record
    yield "method", str(told.get("method", "not stated"))
    if record is not None and not record.is_exact:
        yield "distribution", _distribution(record)
        if record.largest_variance > record.variance:
            yield "largest variance of a count", f"{record.largest_variance:.3g}"
        yield "bound", f"{record.bound:g}" if math.isfinite(record.bound) else "none"
        yield "empty cells", "have noise" if record.zeros_are_noisy else "stay 0"
        if record.non_negative:
            yield "negative counts", "are published as 0"
    elif "typical_noise" in told:
        yield "typical noise", f"±{typical_change(told):.1f} persons"
        yield "bound", str(told.get("bound", "not stated"))
    if "smallest_published" in told:
        yield "smallest positive count", f"{told['smallest_published']}; smaller positive counts are never published"
    if "same_count_same_noise" in told:
        yield "a statistic", f"has {'the same' if told['same_count_same_noise'] else 'new'} noise in every table"
    if record is None:
        yield from _public_only(told)
    if privacy := told.get("privacy"):
        stated = f"epsilon {privacy['epsilon']:g}, delta {privacy['delta']:g} for the whole output"
        yield "privacy guarantee", f"{stated}; {privacy['condition']}"


def _distribution(record: Record) -> str:
    """Return the noise distribution of large counts, or the rule that replaces it."""
    if record.is_deterministic:
        rule = "a rounding rule" if record.rounds else "a fixed change of every count"
        return f"{record.law}, {rule}: no random noise"
    mean = f", mean {record.mean:.3g}" if abs(record.mean) >= CENTRED else ""
    return f"{record.law}, variance {record.variance:.4g}{mean} for large counts"


def _public_only(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the sentences of a public description, and the consequence of what it omits."""
    if "typical_noise" in told and "zeros" not in told:
        yield "zeros", "Empty cells stay 0: a positive published count has a positive true count."
    for name in ("totals", "zeros", "negative"):
        if name in told:
            yield name, str(told[name])


def _assumed_noise(found: ReportResults) -> str:
    """Return the noise that the risk on a public page assumes; "" if the page states no risk."""
    sizes = deviation_range(found.published.release.description["noise"])
    if not found.published.is_public or found.risk.assessment is None or sizes is None:
        return ""
    told = found.published.release.description["noise"]["typical_noise"]
    return (
        f"±{told} is rounded: the noise is between ±{sizes[0]:g} and ±{sizes[1]:g}. Risk is stated for the smallest, "
        f"±{sizes[0]:g}; more noise has less risk."
    )


@dataclass(frozen=True)
class ConstraintLine:
    """One constraint of the design; at the bound of the release if it depends on the bound."""

    name: str
    limit: str
    reason: str
    formula: str
    assumptions: tuple[str, ...]


def _constraints(found: ReportResults) -> Iterator[ConstraintLine]:
    design, record = found.risk.design, found.published.record
    if design is None or record is None:
        return
    bound = int(record.bound) if math.isfinite(record.bound) else design.question.max_bound
    for each in design.region.constraints:
        at = f" at bound {bound}" if each.limit(1) != each.limit(2) else ""
        limit = f"{each.about} {each.side} {each.limit(bound):.3g}{at}"
        yield ConstraintLine(each.name, limit, each.reason, each.formula, each.assumptions)


def _measures(found: ReportResults) -> dict[str, tuple[Result, ...]]:
    """Return the results of the assessment by measure; the variance needed is advice for the curator alone."""
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
    """Give a sentence for every unit other than the most exposed one."""
    for each in found.risk.assessments[1:]:
        right = next((result for result in each.results if result.name == "averaging_success"), None)
        yield f"{each.case.counted}: {right.sentence if right else 'averaging has no result.'}"


def _settings(found: ReportResults) -> Iterator[tuple[str, str]]:
    """Give the settings of the noise and of this report."""
    record = found.published.record
    if record is not None:
        yield "mechanism", record.mechanism
        yield "noise distribution", record.law
        for name, value in record.parameters.items():
            if not isinstance(value, dict | bool) and value:
                yield name.replace("_", " "), f"{value:g}" if isinstance(value, float) else str(value)
        if record.mechanism_class.needs_keys:
            yield "keys", f"{record.key_mode}, version {record.key_version}"
        yield "records without a value", record.missing or "not allowed"
    if found.risk.attacks is not None:
        budget = found.risk.attacks.budget
        yield "target cells of attacks", "all" if budget is None else f"at most {budget:,}"
        yield "seed of attacks", str(found.risk.attacks.seed)
    if found.utility.measured.areas is not None:
        yield "areas", f"{len(found.utility.measured.areas.codes):,} of topic {found.utility.measured.areas.topic}"
