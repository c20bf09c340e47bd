"""What stands on the page comes from results: another result, another page. And text from outside is text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest

from discreet.attacks.expected_success import Predicted
from discreet.attacks.scoring import CLASSES
from discreet.reports.html_page import SECTIONS, document, spaced, value_text
from discreet.reports.release_charts import charts_of
from discreet.reports.sentences import section_sentences
from discreet.reports.verdicts import decision_of
from discreet.results import Result
from tests.quick import one_in
from tests.reports.facts import with_facts

if TYPE_CHECKING:
    from discreet.reports.report_results import ReportResults

Tamper = Callable[["ReportResults"], "ReportResults"]
ODD = 0.123456
"""A number that nothing else on the page has."""
SCRIPT = "<script>alert('x')</script>"


def words(page: str) -> str:
    """Return the text of a page in one line, without programs, styles and drawings."""
    text = re.sub(r"<(script|style|noscript)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def page_of(found: ReportResults) -> str:
    return words(document(found, decision_of(found), dict.fromkeys(charts_of(found), ())))


def risk(name: str) -> Tamper:
    """Return what replaces the value of a result of the assessment."""

    def tamper(found: ReportResults) -> ReportResults:
        assert found.risk.assessment
        assert found.risk.bound
        first, bound = (
            replace(
                part,
                by_measure={
                    measure: tuple(replace(each, value=ODD) if each.name == name else each for each in results)
                    for measure, results in part.by_measure.items()
                },
            )
            for part in (found.risk.assessment, found.risk.bound)
        )
        return with_facts(found, assessments=(first,), bound=bound)

    return tamper


def attack(found: ReportResults) -> ReportResults:
    """Replace what is predicted of every attack."""
    assert found.risk.attacks
    predicted = {name: Predicted(ODD, 0.0) for name in CLASSES}
    outcomes = tuple(replace(each, predicted=predicted) for each in found.risk.attacks.outcomes)
    return with_facts(found, attacks=replace(found.risk.attacks, outcomes=outcomes))


def totals(found: ReportResults) -> ReportResults:
    """Replace how far totals are apart."""
    measured = found.utility.measured
    tables = tuple(replace(each, mean=ODD, largest=987_654) for each in measured.additivity.tables)
    return with_facts(found, measured=replace(measured, additivity=replace(measured.additivity, tables=tables)))


def interval(found: ReportResults) -> ReportResults:
    measured = found.utility.measured
    return with_facts(found, measured=replace(measured, typical=replace(measured.typical, value=ODD)))


def counts(found: ReportResults) -> ReportResults:
    assert found.utility.measured.cells
    off = found.utility.measured.cells.distances
    cells = replace(found.utility.measured.cells, distances=replace(off, absolute=replace(off.absolute, mean=ODD)))
    return with_facts(found, measured=replace(found.utility.measured, cells=cells))


def sizes(found: ReportResults) -> ReportResults:
    assert found.utility.measured.cells
    classes = tuple(
        replace(each, above=dict.fromkeys(each.above, ODD)) for each in found.utility.measured.cells.by_size.classes
    )
    cells = replace(
        found.utility.measured.cells, by_size=replace(found.utility.measured.cells.by_size, classes=classes)
    )
    return with_facts(found, measured=replace(found.utility.measured, cells=cells))


def levels(found: ReportResults) -> ReportResults:
    changed = {mean: replace(each, naive=ODD) for mean, each in found.utility.measured.tests.items()}
    return with_facts(found, measured=replace(found.utility.measured, tests=changed))


def areas(found: ReportResults) -> ReportResults:
    small = found.utility.measured.small_areas
    assert small
    first, *more = small.single
    bins = tuple(replace(each, expected=ODD * each.number) for each in first.bins)
    single = (replace(first, bins=bins, small=replace(first.small, expected=ODD * first.small.number)), *more)
    return with_facts(found, measured=replace(found.utility.measured, small_areas=replace(small, single=single)))


def constraints(found: ReportResults) -> ReportResults:
    assert found.risk.design
    region = found.risk.design.region
    changed = replace(region, constraints=tuple(replace(each, limit=lambda _: ODD) for each in region.constraints))
    return with_facts(found, design=replace(found.risk.design, region=changed))


def expected(found: ReportResults) -> ReportResults:
    return with_facts(found, expected=tuple(replace(each, value=ODD) for each in found.utility.expected))


def small(found: ReportResults) -> ReportResults:
    return with_facts(found, small=tuple(replace(each, stays=ODD) for each in found.utility.small))


TAMPERED: dict[str, tuple[Tamper, str]] = {
    "averaging": (risk("averaging_success"), "12.3 %"),
    "variance needed": (risk("variance_needed"), "0.123"),
    "redundancy": (risk("redundancy"), "0.123"),
    # Without attacks, whose predictions are larger.
    "bound": (lambda found: risk("bound_revealed")(with_facts(found, attacks=None, absent={"attacks": "-"})), "12.3 %"),
    "margins": (risk("forced_tuples"), "0.123"),
    "posterior": (risk("worst_posterior_of_one"), "12.3 %"),
    "one person": (risk("membership_advantage"), "12.3 %"),
    "attacks": (attack, "12.3 %"),
    "totals": (totals, "987,654"),
    "interval": (interval, "0.123"),
    "counts": (counts, "0.123"),
    "sizes": (sizes, "12.3 %"),
    "tests": (levels, "12.3 %"),
    "small areas": (areas, "12.3 %"),
    "constraints": (constraints, "0.123"),
    "expected": (expected, "0.123"),
    "small counts": (small, "12.3 %"),
}


@pytest.fixture(scope="module")
def as_it_is(gathered: ReportResults) -> str:
    return page_of(gathered)


@pytest.mark.parametrize("kind", one_in(6, TAMPERED))
def test_another_result_is_another_page(gathered: ReportResults, as_it_is: str, kind: str) -> None:
    tamper, shown = TAMPERED[kind]
    page = page_of(tamper(gathered))
    assert page != as_it_is
    assert page.count(shown) > as_it_is.count(shown)


def odd_numbers(found: ReportResults) -> int:
    """Return how often charts show the number that results are tampered with."""
    drawn = json.dumps([chart.spec() for each in charts_of(found).values() for chart in each])
    return len(re.findall(r"0\.1234|12\.3 %", drawn))


@pytest.mark.slow
def test_charts_are_drawn_from_results_too(gathered: ReportResults) -> None:
    before = odd_numbers(gathered)
    assert all(odd_numbers(tamper(gathered)) > before for tamper in (attack, sizes, areas))


def test_every_section_is_there_in_order(curators_page: str, public_page: str) -> None:
    wanted = list(SECTIONS.values())
    for page in (curators_page, public_page):
        assert re.findall(r'<section id="(\w+)"', page) == list(SECTIONS)
        assert re.findall(r"<h2>([A-Z]\w+)</h2>", page) == wanted[1:]


def test_contents_lead_to_every_section(curators_page: str, public_page: str) -> None:
    for page in (curators_page, public_page):
        contents = re.search(r"<nav.*?</nav>", page, re.DOTALL)
        assert contents
        assert re.findall(r'href="#(\w+)">(.+?)</a>', contents[0]) == list(SECTIONS.items())


def test_the_first_screen_has_the_decision_and_a_tile_per_check(
    gathered: ReportResults, told: ReportResults, curators_page: str, public_page: str
) -> None:
    for found, page in ((gathered, curators_page), (told, public_page)):
        decision, text = decision_of(found), words(page)
        summary = text[text.index(decision.headline) : text.index("Output", text.index(decision.headline))]
        for part in (decision.reason, *decision.options):
            assert part in summary
        for check in decision.checks:
            target = f" {check.target_text}" if check.target is not None else ""
            state = f"{check.verdict.shape} {check.verdict.word}{target}"
            assert f"{check.criterion.label} {check.value_text} {state}" in summary
        assert page.count('<li class="tile ') == len(decision.checks)
        for check in decision.checks:
            # The same verdict and sentence stand in the table of checks.
            assert f"{check.verdict.word} {check.value_text} {check.target_text}" in text
            assert spaced(check.sentence) in text


def test_what_a_value_does_not_cover_stands_on_its_tile(gathered: ReportResults) -> None:
    assert gathered.risk.attacks
    late = tuple(
        replace(each, finding=replace(each.finding, cut_off="late")) for each in gathered.risk.attacks.outcomes
    )
    found = with_facts(gathered, attacks=replace(gathered.risk.attacks, outcomes=tuple(late)))
    page = page_of(found)
    assert "Cut off: late." in page[: page.index("All figures")]
    assert "Cut off" not in page_of(gathered)


def test_every_result_that_was_gathered_is_on_the_page(gathered: ReportResults, curators_page: str) -> None:
    text = words(curators_page)
    assert gathered.risk.assessment
    assert gathered.risk.attacks
    for result in (*gathered.risk.assessment.results, *gathered.utility.measured.results, *gathered.utility.expected):
        assert f"{value_text(result)} {' '.join(spaced(result.sentence).split())}" in text
    for outcome in gathered.risk.attacks.outcomes:
        assert " ".join(spaced(outcome.sentence).split()) in text
    for sentence in section_sentences(gathered).values():
        assert spaced(sentence) in text


def test_every_assumption_is_written_once_and_referred_to(gathered: ReportResults, curators_page: str) -> None:
    listed = re.findall(r'<li id="assumption-(\d+)">(.*?)</li>', curators_page)
    assert [int(number) for number, _ in listed] == list(range(1, len(listed) + 1))
    texts = [unescape(text) for _, text in listed]
    assert len(set(texts)) == len(texts)
    assert gathered.risk.assessment
    every = [*gathered.risk.assessment.results, *gathered.utility.measured.results, *gathered.risk.attacks.results]  # type: ignore[union-attr]
    assert {spaced(text) for result in every for text in result.assumptions} <= set(texts)
    referred = set(re.findall(r'href="#assumption-(\d+)"', curators_page))
    assert referred == {number for number, _ in listed}
    outside = unescape(curators_page.replace(curators_page[curators_page.index('<ol class="assumptions">') :], ""))
    assert not any(f">{text}<" in outside for text in texts)


def test_the_table_before_and_after_is_that_of_the_release(
    gathered: ReportResults, curators_page: str, public_page: str
) -> None:
    example = gathered.published.example
    assert example
    shown = re.findall(r'<td class="(up|down|same)"[^>]*>([\d,-]+) <small>\(([\d,]+)\)</small>', curators_page)
    cells = [pair for row in example.cells for pair in row]
    assert [(int(true), int(published)) for _, published, true in shown] == cells
    assert [side for side, _, _ in shown] == ["up" if p > t else "down" if p < t else "same" for t, p in cells]
    table = gathered.published.release.table(example.table)
    assert {published for _, published in cells if published} <= set(table.column("value").to_pylist())
    assert "<small>(" not in public_page


def test_all_statistics_are_in_one_table(gathered: ReportResults, curators_page: str) -> None:
    body = re.search(r'id="statistics">.*?<tbody>(.*?)</tbody>', curators_page, re.DOTALL)
    assert body
    rows = re.findall(r"<code>(.*?)</code></th><td>([\d,]+)</td><td>([\d,]+)</td>", body[1])
    assert len(rows) == len({name for name, _, _ in rows}) == gathered.utility.measured.size.statistics
    rates = [float(rate) for rate in re.findall(r'data-value="([\d.]+)"', body[1])]
    success = gathered.risk.worst("averaging_success")
    assert success
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(success.value)


def test_every_chart_has_its_message_its_words_and_its_data(gathered: ReportResults, curators_page: str) -> None:
    charts = [chart for each in charts_of(gathered).values() for chart in each]
    names = [chart.name for chart in charts]
    assert len(set(names)) == len(names)
    assert re.findall(r'data-chart="([^"]+)"', curators_page) == names
    for chart in charts:
        assert f"<figcaption>{spaced(chart.title)}</figcaption>" in unescape(curators_page)
        assert f'aria-label="{spaced(chart.alternative)}"' in unescape(curators_page)
        data = re.search(rf'id="data-{chart.name}">(.*?)</script>', curators_page, re.DOTALL)
        assert data
        assert json.loads(data[1]) == json.loads(json.dumps(chart.spec()))
    assert curators_page.count(">\n<svg") + curators_page.count('"><svg') == len(charts)


def test_the_page_names_nothing_outside_itself(curators_page: str) -> None:
    assert "default-src 'none'" in curators_page
    for found in re.findall(
        r"""(?:src|href)=["']([^"']+)["']""", re.sub(r"<script>.*?</script>", "", curators_page, flags=re.DOTALL)
    ):
        assert found.startswith(("#", "data:"))


def test_text_from_outside_is_text(gathered: ReportResults) -> None:
    release = replace(
        gathered.published.release, description={**gathered.published.release.description, "name": SCRIPT}
    )
    found = with_facts(gathered, release=release, about=SCRIPT, commands=(SCRIPT,))
    page = document(found, decision_of(found), charts_of(found))
    assert SCRIPT not in page
    assert page.count("&lt;script&gt;") >= 3


def test_the_page_states_versions_checksums_and_commands(gathered: ReportResults, curators_page: str) -> None:
    text = words(curators_page)
    for command in gathered.commands:
        assert command in text
    for name, version in gathered.versions.items():
        assert f"{name} {version}" in text
    for digest in gathered.published.release.digests.values():
        assert digest in text


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.5, "1", "50.0 %"),
        (3.0, "persons", "3 persons"),
        (1.25, "persons squared", "1.25 persons²"),
        (float("inf"), "1", "∞"),
        (3.604e-05, "areas", "under 0.001 areas"),
        (12345.678, "persons", "12,346 persons"),
        (119.0, "1", "119"),
    ],
)
def test_values_have_three_digits_and_no_powers_of_ten(value: float, unit: str, shown: str) -> None:
    assert value_text(Result(name="x", value=value, unit=unit, sentence="")) == shown
