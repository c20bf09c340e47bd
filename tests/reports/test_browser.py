"""The report in a real browser: drawn whole, from nowhere else, on screens wide and narrow and on paper."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import Page, Route, sync_playwright

from discreet.reports.html_page import SECTIONS
from tests.needs import program
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

NARROW, WIDE, SCREEN = 400, 1200, 1400
HEIGHT = 900
PAPER = 680
"""Pixels of A4 between its margins."""
DRAWN = "[...document.querySelectorAll('.chart')].every(one => !one.clientWidth || one.dataset.drawn == 'yes')"
WITHIN = """all => all.filter(one => {
    const box = one.getBoundingClientRect(), paper = one.ownerSVGElement.getBoundingClientRect()
    return box.left < paper.left - 1 || box.right > paper.right + 1
}).map(one => one.textContent)"""


class Opened:
    """The page in windows of several widths, with all that the browser complained of or asked for."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.complaints: list[str] = []
        self.asked_for: list[str] = []
        self._browser, self._path = browser, path.as_uri()
        self._pages: dict[int, Page] = {}

    def _drawn(self, width: int) -> Page:
        page = self._browser.new_page(viewport={"width": width, "height": HEIGHT})
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.route("**/*", self._only_this)
        page.goto(self._path)
        page.wait_for_function(DRAWN)
        return page

    def _only_this(self, route: Route) -> None:
        if route.request.url == self._path:
            route.continue_()
        else:
            self.asked_for.append(route.request.url)
            route.abort()

    def at(self, width: int) -> Page:
        """Return the page in a window of a width, in which it is drawn once; tests leave it as they found it."""
        if width not in self._pages:
            self._pages[width] = self._drawn(width)
        return self._pages[width]

    def close(self) -> None:
        for page in self._pages.values():
            page.close()


def sideways(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


def unfold(page: Page, *, open_: bool) -> None:
    page.eval_on_selector_all("details", f"all => all.forEach(one => {{ one.open = {str(open_).lower()} }})")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--headless"])
        yield found
        found.close()


@pytest.fixture(scope="module", params=["curator", pytest.param("public", marks=pytest.mark.slow)])
def opened(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    text: str = request.getfixturevalue("curators_page" if request.param == "curator" else "public_page")
    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_text(text, encoding="utf-8")
    found = Opened(browser, path)
    yield found
    found.close()


@pytest.mark.parametrize("width", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)])
def test_it_is_drawn_without_a_complaint_and_without_the_network(opened: Opened, width: int) -> None:
    page = opened.at(width)
    assert opened.complaints == []
    assert opened.asked_for == []
    assert page.locator("h2").count() == len(SECTIONS)


@pytest.mark.slow
def test_so_is_that_for_everybody(browser: Browser, public_page: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(public_page, encoding="utf-8")
    opened = Opened(browser, tmp_path / "report.html")
    page = opened.at(NARROW)
    assert (opened.complaints, opened.asked_for, sideways(page)) == ([], [], 0)
    assert page.eval_on_selector_all(".chart svg text", WITHIN) == []
    assert page.eval_on_selector_all(".chart", COVERED) == []
    opened.close()


@pytest.mark.parametrize("width", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)])
def test_every_chart_is_drawn_with_marks_and_words(opened: Opened, width: int) -> None:
    page = opened.at(width)
    unfold(page, open_=True)
    page.wait_for_function(DRAWN)
    charts = page.locator(".chart").all()
    assert len(charts) >= 6
    for chart in charts:
        box = chart.locator("svg").first.bounding_box()
        assert box
        assert 0.8 * min(width - 40, 500) < box["width"] < width
        assert box["height"] > 60
        assert chart.locator("svg path").count() + chart.locator("svg line").count() > 5
        assert chart.locator("svg text").count() > 3
    unfold(page, open_=False)


def test_charts_follow_the_window(opened: Opened) -> None:
    page = opened.at(NARROW)
    for width, follows in ((WIDE, "some(one => one > 500)"), (NARROW, "every(one => one < 400)")):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        widths = "[...document.querySelectorAll('.chart svg')].map(one => Number(one.getAttribute('width')))"
        page.wait_for_function(f"{widths}.{follows}")
        assert sideways(page) == 0


@pytest.mark.parametrize("width", one_in(4, [NARROW, 320, 768, WIDE]))
def test_nobody_has_to_scroll_sideways(opened: Opened, width: int) -> None:
    page = opened.at(width)
    assert sideways(page) == 0
    unfold(page, open_=True)
    assert page.locator("details table").first.is_visible()
    assert sideways(page) == 0
    unfold(page, open_=False)


def test_words_in_charts_stay_within_them_and_can_be_read(opened: Opened) -> None:
    page = opened.at(NARROW)
    assert page.eval_on_selector_all(".chart svg text", WITHIN) == []
    sizes = page.eval_on_selector_all(
        ".chart svg text", "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 10


COVERED = """all => {
    const box = one => one.getBoundingClientRect()
    const over = (a, b) => a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1
    return all.flatMap(chart => {
        const texts = [...chart.querySelectorAll('.mark-text:not([aria-hidden]) text')].filter(one => one.textContent)
        const marks = [...chart.querySelectorAll('.mark-symbol path')].filter(one => box(one).width > 5)
        return texts.filter(text => marks.some(mark => over(box(text), box(mark)))).map(text => text.textContent)
    })
}"""
"""Which words of charts have a mark on them."""


@pytest.mark.parametrize("width", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)])
def test_no_mark_covers_a_word(opened: Opened, width: int) -> None:
    assert opened.at(width).eval_on_selector_all(".chart", COVERED) == []


def test_tables_that_scroll_can_be_reached_with_the_keyboard(opened: Opened) -> None:
    page = opened.at(NARROW)
    unfold(page, open_=True)
    scrolling = page.eval_on_selector_all(
        ".scroll",
        """all => all.filter(one => one.scrollWidth > one.clientWidth)
        .map(one => [one.tabIndex, one.getAttribute("role"), Boolean(one.getAttribute("aria-label"))])""",
    )
    assert scrolling
    assert all(each == [0, "group", True] for each in scrolling)
    unfold(page, open_=False)


@pytest.mark.slow
def test_links_lead_somewhere(opened: Opened) -> None:
    page = opened.at(WIDE)
    targets = page.eval_on_selector_all("main a, nav a", "all => all.map(one => one.getAttribute('href'))")
    assert targets
    for target in targets:
        assert page.locator(target).count() == 1


def test_charts_are_named_for_those_who_cannot_see_them(opened: Opened) -> None:
    page = opened.at(WIDE)
    unfold(page, open_=True)
    charts = page.locator(".chart")
    assert page.get_by_role("img").count() >= charts.count()
    unfold(page, open_=False)
    for chart in charts.all():
        assert len(chart.get_attribute("aria-label") or "") > 40


def test_a_mark_tells_its_number(opened: Opened) -> None:
    page = opened.at(WIDE)
    page.locator("[data-chart=possible-releases] .mark-symbol path").nth(2).hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert re.search(r"published count\s+\d+", page.locator("#vg-tooltip-element").inner_text())
    page.mouse.move(0, 0)


@pytest.mark.slow
def test_it_fits_on_paper(opened: Opened) -> None:
    page = opened.at(PAPER)
    page.emulate_media(media="print")
    assert sideways(page) == 0
    for chart in page.locator(".chart svg").all():
        box = chart.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PAPER
        assert box["height"] < 900
    colour = page.evaluate("getComputedStyle(document.body).color")
    assert colour == "rgb(0, 0, 0)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    paper = page.pdf(format="A4", print_background=False)
    assert paper.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 25
    assert not page.locator(".screen, nav").first.is_visible()
    page.emulate_media(media="screen")


def test_there_is_something_to_see(opened: Opened) -> None:
    page = opened.at(WIDE)
    picture = page.locator(".chart").first.screenshot()
    empty = page.evaluate("""() => {
        const place = document.createElement('div'); place.id = 'empty'; place.style = 'width:560px;height:200px'
        document.body.append(place)
    }""")
    assert empty is None
    assert len(picture) > 2 * len(page.locator("#empty").screenshot())
    page.eval_on_selector("#empty", "one => one.remove()")


@pytest.mark.slow
def test_without_scripts_the_charts_are_there_all_the_same(
    browser: Browser, curators_page: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(curators_page, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": NARROW, "height": HEIGHT})
    page = context.new_page()
    page.goto(path.as_uri())
    drawings = page.locator(".chart > svg")
    assert drawings.count() == page.locator(".chart").count()
    for drawing in page.locator(".chart > svg:visible").all():
        box = drawing.bounding_box()
        assert box
        assert 250 < box["width"] <= NARROW
    context.close()


def bottom(page: Page, selector: str) -> float:
    """Return the lower end of an element in pixels from the top of the page."""
    found: float = page.eval_on_selector(selector, "one => one.getBoundingClientRect().bottom + scrollY")
    return found


def test_the_first_screen_has_the_verdict_the_tiles_and_the_pictures(opened: Opened) -> None:
    page = opened.at(SCREEN)
    assert page.locator(".tile").count() in {2, 6}
    ends = [bottom(page, selector) for selector in ("h1", ".box", ".tiles", ".pictures")]
    assert ends == sorted(ends)
    assert ends[-1] <= HEIGHT
    assert {round(box["y"]) for one in page.locator(".tile").all() if (box := one.bounding_box())} == {
        round(page.locator(".tile").first.bounding_box()["y"])  # type: ignore[index]
    }


def test_on_a_telephone_the_verdict_and_the_tiles_come_first(opened: Opened) -> None:
    page = opened.at(NARROW)
    assert sideways(page) == 0
    assert bottom(page, ".tiles") <= bottom(page, ".pictures") - 100
    assert bottom(page, ".box") < bottom(page, ".tiles") < 1.2 * HEIGHT


def test_the_navigation_stays_in_view(opened: Opened) -> None:
    page = opened.at(WIDE)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = page.locator("nav").bounding_box()
    assert box
    assert abs(box["y"]) < 2
    page.evaluate("scrollTo(0, 0)")


CONTRAST = """() => {
    const numbers = text => text.match(/[\\d.]+/g).map(Number)
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        return .2126 * x + .7152 * y + .0722 * z
    }
    const paper = one => {
        for (; one; one = one.parentElement) {
            const found = getComputedStyle(one).backgroundColor
            if (found.startsWith('rgb(')) return numbers(found)
        }
        return [255, 255, 255]
    }
    const poor = []
    for (const one of document.querySelectorAll('body *')) {
        const own = [...one.childNodes].some(node => node.nodeType == 3 && node.textContent.trim())
        if (!own || !one.clientWidth || one.closest('svg, script, .up, .down, .ptable, #vg-tooltip-element')) continue
        const pair = [light(numbers(getComputedStyle(one).color)), light(paper(one))].sort((a, b) => b - a)
        if ((pair[0] + .05) / (pair[1] + .05) < 4.5) poor.push(one.textContent.trim().slice(0, 40))
    }
    return poor
}"""
"""Texts whose contrast is below that of WCAG 2 AA."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(opened: Opened, scheme: Literal["light", "dark"]) -> None:
    page = opened.at(WIDE)
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(22, 25, 29)"
    )
    assert page.evaluate(CONTRAST) == []
    # In a chart, too: words have the colour of the text of the page.
    ink = page.evaluate("getComputedStyle(document.body).color")
    words = page.eval_on_selector_all(
        ".chart .role-axis-title text, .chart .role-axis-title", "all => all.map(one => getComputedStyle(one).fill)"
    )
    assert ink in words
    page.emulate_media(color_scheme="light")


def test_names_and_headings_are_in_order(opened: Opened) -> None:
    page = opened.at(WIDE)
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
    unnamed = page.eval_on_selector_all(
        "a, button, input",
        "all => all.filter(one => !(one.textContent + (one.labels?.[0]?.textContent ?? '')).trim()).length",
    )
    assert unnamed == 0


def test_statistics_can_be_searched_and_sorted(opened: Opened) -> None:
    page = opened.at(WIDE)
    unfold(page, open_=True)
    rows = page.locator("#statistics tbody tr")
    every = rows.count()
    page.locator("input[type=search]").fill("sex")
    shown = page.locator("#statistics tbody tr:visible")
    assert 0 < shown.count() < every
    assert all("sex" in text.lower() for text in shown.all_inner_texts())
    page.locator("input[type=search]").fill("")
    assert shown.count() == every
    for order in (True, False):
        page.locator("#statistics th button").nth(2).click()
        cells = [int(text.replace(",", "")) for text in page.locator("#statistics td:nth-child(3)").all_inner_texts()]
        assert cells == sorted(cells, reverse=order)
    unfold(page, open_=False)
