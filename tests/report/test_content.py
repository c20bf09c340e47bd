"""What stands on the page comes from results, and text from outside is text."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from discreet.noise.ptable import PTable
from discreet.noise.ranges import published_range
from discreet.report.findings import findings
from discreet.report.page import page

if TYPE_CHECKING:
    from discreet.report.story import Story

SCRIPT = "<script>alert('x')</script>"
PICTURE = r'<figure>\s*<figcaption>(.+?)</figcaption>\s*<svg[^>]* role="img">\s*<title>(.+?)</title>'
HEADINGS = [
    "1 In short",
    "2 What was read",
    "3 What is published",
    "4 The noise",
    "5 A table before and after",
    "6 What an attacker could learn",
    "7 How to make this again",
]


class Tags(HTMLParser):
    """Collects opening tags and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    return tags


def words(text: str) -> str:
    """Return the text of the page in one line."""
    return " ".join(" ".join(read(text).text).split())


def test_every_section_is_there_in_order(page_text: str) -> None:
    assert re.findall(r"<h2>(.*?)</h2>", page_text) == HEADINGS


def test_nothing_is_loaded_from_elsewhere(page_text: str) -> None:
    for tag, attributes in read(page_text).opened:
        assert tag not in {"script", "img", "iframe", "object", "embed", "base"}
        for name in ("src", "href", "xlink:href", "srcset"):
            target = attributes.get(name) or "#"
            assert target.startswith(("#", "data:")), f"{tag} {name}={target}"
    assert not re.search(r"@import|url\((?!#)", page_text)
    addresses = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'\s<>]+", page_text)) <= addresses


def test_no_path_of_the_machine_is_told(story: Story, page_text: str) -> None:
    assert story.release.path is not None
    assert str(story.release.path.parent) not in page_text


def test_the_secret_is_not_told(story: Story, page_text: str) -> None:
    assert story.release.path is not None
    assert (story.release.path.parent / "office.secret").read_text().strip() not in page_text


def test_it_says_that_the_people_are_made_up(page_text: str) -> None:
    text = words(page_text)
    assert "A demonstration on made-up people." in text
    assert "Nobody in it is real." in text
    assert "True counts stand here only because these people are made up." in text


def test_every_result_stands_with_its_assumptions(story: Story, page_text: str) -> None:
    text = words(page_text)
    for result in (*story.assessment.results, *story.seen.results()):
        assert result.sentence in text
        for assumption in result.assumptions:
            assert assumption in text
    for finding in findings(story):
        assert finding.sentence in text


def test_every_checksum_of_the_release_is_there(story: Story, page_text: str) -> None:
    for file in story.release.description["files"]:
        assert f"<code>{file['sha256']}</code>" in page_text


def test_names_of_shapes_are_unique(page_text: str) -> None:
    names = [attributes["id"] for _, attributes in read(page_text).opened if "id" in attributes]
    assert len(names) == len(set(names))


def test_every_picture_has_words_and_a_title(page_text: str) -> None:
    pictures = re.findall(PICTURE, page_text)
    assert len(pictures) == page_text.count("<svg") == 4
    for title, alternative in pictures:
        assert title
        assert len(alternative) > 100


def test_text_from_outside_is_escaped(story: Story) -> None:
    release = replace(story.release, description={**story.release.description, "name": SCRIPT})
    case = replace(story.assessment.case, record=replace(story.assessment.case.record, programme=SCRIPT))
    result = replace(story.assessment.results[0], sentence=SCRIPT, assumptions=(SCRIPT,))
    told = replace(
        story,
        made=replace(story.made, sentence=SCRIPT),
        release=release,
        assessment=replace(story.assessment, case=case, by_measure={SCRIPT: (result,)}),
        example=replace(story.example, place=SCRIPT, rows=(SCRIPT, *story.example.rows[1:])),
        commands=(SCRIPT,),
        versions={SCRIPT: SCRIPT},
    )
    text = page(told)
    assert "<script" not in text
    assert text.count(escape(SCRIPT, quote=False).replace("'", "&#39;")) >= 9


def test_names_within_pictures_are_escaped(story: Story) -> None:
    programme = story.assessment.case.programme
    topics = {
        name: replace(topic, labels={"en": SCRIPT}) if name == "AGE" else topic
        for name, topic in programme.topics.items()
    }
    case = replace(story.assessment.case, programme=replace(programme, topics=topics))
    text = page(replace(story, assessment=replace(story.assessment, case=case)))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(("field", "value"), [("records", 123_456), ("statistics", 7_654), ("cells", 98_765_432)])
def test_what_was_read_and_made_is_that_of_the_run(story: Story, page_text: str, field: str, value: int) -> None:
    assert story.release.summary is not None
    changed: dict[str, Any] = {field: value}
    release = replace(story.release, summary=replace(story.release.summary, **changed))
    shown = f"{value:,} {field}"
    assert shown not in words(page_text).replace("different ", "")
    assert shown in words(page(replace(story, release=release))).replace("different ", "")


def test_another_noise_makes_another_page(story: Story) -> None:
    assert "A village of 12 people is published as 9 to 15 in at least 19 of 20 cases (0.959)" in page(story)
    record = replace(story.release.record, parameters={"variance": 1, "bound": 3})
    release = replace(story.release)
    release.__dict__["record"] = record  # it is read from its file once and kept
    told = page(replace(story, release=release))
    usual = published_range(PTable.max_entropy(variance=1, bound=3), 12)
    assert f"A village of 12 people is published as {usual.low} to {usual.high} in {usual.words}" in told
    assert (usual.low, usual.high) == (10, 14)


def test_another_table_makes_another_page(story: Story) -> None:
    cells = story.example.cells
    total = replace(cells[-1][-1], true=4_711, published=4_713)
    example = replace(story.example, cells=(*cells[:-1], (*cells[-1][:-1], total)))
    told = page(replace(story, example=example))
    assert "4711 people live here, and 4713 are published." in told
    assert "4711 → <span" in told


def test_a_result_that_changes_changes_the_page(story: Story, page_text: str) -> None:
    first, *others = story.assessment.by_measure["averaging"]
    found = (replace(first, value=0.123), *others)
    assessment = replace(story.assessment, by_measure={**story.assessment.by_measure, "averaging": found})
    told = page(replace(story, assessment=assessment))
    assert '<span class="value">0.123</span>' in told
    assert '<span class="value">0.123</span>' not in page_text
    assert told.count("above the limit") == page_text.count("above the limit") - 1


def test_the_same_story_makes_the_same_page(story: Story, page_text: str) -> None:
    assert page(story) == page_text
