"""The report in a real browser: drawn whole, from nowhere else, on screens wide and narrow and on paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, Route, sync_playwright

from tests.needs import program
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

NARROW, WIDE = 400, 1200
PAPER = 680
"""Pixels of A4 between its margins."""
DRAWN = "document.querySelectorAll('.chart').length == document.querySelectorAll('.chart[data-drawn] svg').length"
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
        page = self._browser.new_page(viewport={"width": width, "height": 900})
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
    assert [text[0] for text in page.locator("h2").all_inner_texts()] == list("1234567")


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
    charts = page.locator(".chart").all()
    assert len(charts) >= 6
    for chart in charts:
        box = chart.locator("svg").first.bounding_box()
        assert box
        assert 0.8 * min(width - 40, 560) < box["width"] < width
        assert box["height"] > 60
        assert chart.locator("svg path").count() + chart.locator("svg line").count() > 5
        assert chart.locator("svg text").count() > 3


def test_charts_follow_the_window(opened: Opened) -> None:
    page = opened.at(NARROW)
    for width, follows in ((WIDE, "some(one => one > 500)"), (NARROW, "every(one => one < 400)")):
        page.set_viewport_size({"width": width, "height": 900})
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


def test_tables_that_scroll_show_it(opened: Opened) -> None:
    page = opened.at(NARROW)
    unfold(page, open_=True)
    scrolling = page.eval_on_selector_all(
        ".wide",
        """all => all.filter(one => one.scrollWidth > one.clientWidth)
        .map(one => getComputedStyle(one).backgroundAttachment)""",
    )
    assert set(scrolling) <= {"local, local, scroll, scroll"}
    assert scrolling or not page.locator(".ptable").count()
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
    charts = page.locator(".chart")
    assert page.get_by_role("img").count() >= charts.count()
    for chart in charts.all():
        assert len(chart.get_attribute("aria-label") or "") > 40


def test_a_mark_tells_its_number(opened: Opened) -> None:
    page = opened.at(WIDE)
    page.locator("[data-chart=village] .mark-rect path").nth(2).hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert re.search(r"told\s+\S+", page.locator("#vg-tooltip-element").inner_text())
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
    context = browser.new_context(java_script_enabled=False, viewport={"width": NARROW, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    drawings = page.locator("figure noscript svg, figure > svg")
    assert drawings.count() == page.locator(".chart").count()
    for drawing in drawings.all():
        box = drawing.bounding_box()
        assert box
        assert 250 < box["width"] <= NARROW
    context.close()
