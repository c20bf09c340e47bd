"""The page of the paper: every number stands on it, and a browser draws it whole without the network."""

from __future__ import annotations

import csv
import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.paper.paper_page import check_folder, numbers_csv, ours, paper_page, readings, write_paper
from discreet.paper.reproduction import Paper, reproduce_paper
from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

PARTS = ("bound", "margins", "settings", "accuracy")
NARROW = 400


@pytest.fixture(scope="module")
def paper() -> Paper:
    return reproduce_paper(only=PARTS)


@pytest.fixture(scope="module")
def folder(paper: Paper, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("paper") / "out"
    write_paper(paper, out)
    return out


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


def row_of(text: str, name: str) -> str:
    found = re.search(rf'<tr id="{re.escape(name)}".*?</tr>', text, re.DOTALL)
    assert found, name
    return html.unescape(found[0])


def test_every_number_stands_on_the_page(paper: Paper, text: str) -> None:
    for each in paper.numbers:
        row = row_of(text, each.id)
        assert each.where in row
        assert f">{each.published}<" in row
        assert f">{ours(each)}<" in row
        assert each.note in row
        assert ("● agrees" in row) is each.agrees


def test_the_sentences_come_first(paper: Paper, text: str) -> None:
    plain = html.unescape(text)
    for sentence in paper.sentences():
        assert plain.index(sentence) < plain.index('id="numbers"')


def test_a_number_that_changes_changes_the_page(paper: Paper) -> None:
    first = replace(paper.numbers[0], ours=12345.5)
    changed = replace(paper, numbers=(first, *paper.numbers[1:]), figures={})
    assert ">12,345.5<" in row_of(paper_page(changed), first.id)


def test_what_does_not_agree_though_it_should_is_named(text: str) -> None:
    listed = html.unescape(text).partition("our reading of it</h3>")[2].partition("</ul>")[0]
    assert "smallest bound that is not disclosed at V = 2: published 5 to 10, ours 6. Our reading of" in listed
    assert "published 10 %, ours 11.25 %." in listed
    assert listed.count("<li>") == 4


def test_the_folder_holds_figures_with_their_data(folder: Path) -> None:
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"{name}.{ending}" for name in ("bound-map", "accuracy") for ending in ("png", "svg", "csv")
    }


def test_the_data_of_a_figure_have_the_closed_formula(folder: Path) -> None:
    with (folder / "figures" / "accuracy.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    malta = {float(error): float(epsilon) for name, error, epsilon in rows if name.startswith("Malta")}
    # log(68 / 0.32) / E.
    assert all(epsilon * error == pytest.approx(5.358942, abs=1e-5) for error, epsilon in malta.items())


def test_the_table_of_numbers_is_that_of_the_page(paper: Paper, folder: Path) -> None:
    content = (folder / "numbers.csv").read_text(encoding="utf-8")
    assert content == numbers_csv(paper.numbers)
    assert [row["id"] for row in csv.DictReader(content.splitlines())] == [each.id for each in paper.numbers]


def test_strict_and_relaxed_readings_stand_side_by_side() -> None:
    rows = {row.bound: row for row in readings(reproduce_space())}
    assert rows[5].strict == "infeasible: averaging needs V ≥ 2.88, bound disclosure allows V ≤ 1.82"
    assert rows[5].relaxed.startswith("2.23 (averaging) to 2.44")
    assert rows[7].strict.startswith("2.88 (averaging) to 4.13")


def reproduce_space() -> Paper:
    from discreet.paper.parameter_space_part import published_space

    return Paper((), (), {"parameter-space": published_space()}, ())


def test_a_folder_with_figures_is_kept(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileExistsAlreadyError, match=r"index.html exists already and was not changed"):
        check_folder(folder, replace=False)
    check_folder(folder, replace=True)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "mine.png").write_text("mine")
    with pytest.raises(FileExistsAlreadyError, match=r"figures exists already"):
        check_folder(tmp_path, replace=False)


def test_a_folder_within_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match=r"its folder does not exist"):
        check_folder(tmp_path / "missing" / "out", replace=False)
    assert not (tmp_path / "missing").exists()


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    assert not re.search(r"<(script|img|iframe|object|embed|base)\b|@import|url\((?!#)", text)
    addresses = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'\s<>]+", text)) <= addresses
    assert not re.search(r'\b(src|href)="(?!#|data:)', text)


def test_names_of_shapes_are_unique(text: str) -> None:
    assert repeated_names(text) == set()


def repeated_names(text: str) -> set[str]:
    names = re.findall(r'\bid="([^"]+)"', text)
    return {name for name in names if names.count(name) > 1}


# --- In a browser ---


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[Page]:
    chromium = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--headless"])
        yield opened(browser.new_page(), folder)
        browser.close()


def opened(page: Page, folder: Path) -> Page:
    """Open the page; the browser must report no error and send no request."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto((folder / "index.html").as_uri())
    assert complaints == []
    return page


def well_drawn(page: Page, pictures: int) -> None:
    """Check that all figures are drawn with their text inside, and that the page does not scroll sideways."""
    for width in (NARROW, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = page.eval_on_selector_all(
            "figure svg", "all => all.map(one => one.getBoundingClientRect()).map(box => [box.width, box.height])"
        )
        assert len(boxes) == pictures
        assert all(0.7 * min(width, 500) < across < width and high > 100 for across, high in boxes)
        outside = page.eval_on_selector_all(
            "figure svg text",
            """all => all.filter(one => {
                const box = one.getBoundingClientRect(), paper = one.ownerSVGElement.getBoundingClientRect()
                return box.left < paper.left - 1 || box.right > paper.right + 1
            }).map(one => one.textContent)""",
        )
        assert outside == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@pytest.mark.slow
def test_a_browser_draws_it_whole(page: Page) -> None:
    well_drawn(page, 2)


@pytest.mark.slow
def test_on_a_narrow_screen_a_number_is_a_card(page: Page) -> None:
    page.set_viewport_size({"width": NARROW, "height": 900})
    assert not page.locator(".numbers thead").first.is_visible()
    row = page.locator("#extreme-chance")
    assert row.locator("td.note").bounding_box()["width"] > 0.8 * NARROW  # type: ignore[index]


@pytest.mark.slow
def test_it_can_be_printed(page: Page) -> None:
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.slow
def test_the_whole_paper_is_drawn(page: Page, tmp_path: Path) -> None:
    paper = reproduce_paper()
    write_paper(paper, tmp_path / "out")
    assert len(paper.states) == 4 * 27
    assert repeated_names((tmp_path / "out" / "index.html").read_text(encoding="utf-8")) == set()
    browser = page.context.browser
    assert browser is not None
    another = browser.new_page()
    well_drawn(opened(another, tmp_path / "out"), 14)
    another.close()
