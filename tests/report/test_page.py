"""The page in a real browser: drawn whole, from nowhere else, on screens wide and narrow and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, Route, sync_playwright

from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NARROW, WIDE = 400, 1200
PICTURES = 4


class Opened:
    """The page in the browser, with all that the browser complained of or asked for."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked_for: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.route("**/*", self._only_files)
        page.goto(path.as_uri())

    def _only_files(self, route: Route) -> None:
        if route.request.url.startswith("file://"):
            route.continue_()
        else:
            self.asked_for.append(route.request.url)
            route.abort()

    def boxes(self, selector: str) -> list[tuple[float, float]]:
        """Return width and height of all elements."""
        found: list[tuple[float, float]] = self.page.eval_on_selector_all(
            selector, "all => all.map(one => one.getBoundingClientRect()).map(box => [box.width, box.height])"
        )
        return found

    def sideways(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        wider: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return wider


@pytest.fixture(scope="module")
def opened(page_file: Path) -> Iterator[Opened]:
    chromium = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--headless"])
        yield Opened(browser.new_page(), page_file)
        browser.close()


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_it_is_drawn_without_a_complaint_and_without_the_network(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.reload()
    assert opened.complaints == []
    assert opened.asked_for == []
    assert opened.page.locator("h1").count() == 1
    assert [text[0] for text in opened.page.locator("h2").all_inner_texts()] == list("1234567")


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_every_picture_is_drawn(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    pictures = opened.boxes("figure svg")
    assert len(pictures) == PICTURES
    for across, high in pictures:
        assert 0.7 * min(width, 500) < across < width
        assert high > 100
    for selector in ("figure svg path", "figure svg text"):
        assert sum(across > 0 or high > 0 for across, high in opened.boxes(selector)) > 10 * PICTURES


def test_words_in_pictures_stay_within_them(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": NARROW, "height": 900})
    outside = opened.page.eval_on_selector_all(
        "figure svg text",
        """all => all.filter(one => {
            const box = one.getBoundingClientRect(), paper = one.ownerSVGElement.getBoundingClientRect()
            return box.left < paper.left - 1 || box.right > paper.right + 1
        }).map(one => one.textContent)""",
    )
    assert outside == []


def test_words_in_pictures_can_be_read_on_a_narrow_screen(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": NARROW, "height": 900})
    heights = [high for _, high in opened.boxes("figure svg text:not([transform*='rotate(-90'])")]
    assert min(heights) >= 9


@pytest.mark.parametrize("width", [320, NARROW, 768, WIDE])
def test_nobody_has_to_scroll_sideways(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    assert opened.sideways() == 0
    opened.page.locator("summary").click()
    assert opened.page.locator("details table").is_visible()
    assert opened.sideways() == 0
    opened.page.locator("summary").click()


def test_links_lead_somewhere(opened: Opened) -> None:
    targets = opened.page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
    assert targets
    for target in targets:
        assert opened.page.locator(target).count() == 1


def test_pictures_are_named_for_those_who_cannot_see_them(opened: Opened) -> None:
    assert opened.page.get_by_role("img").count() == PICTURES
    for picture in opened.page.get_by_role("img").all():
        assert picture.locator("title").first.text_content()


def test_it_fits_on_paper(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 680, "height": 960})  # the width of A4 between its margins
    opened.page.emulate_media(media="print")
    assert opened.sideways() == 0
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    opened.page.emulate_media(media="screen")
