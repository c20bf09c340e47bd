"""Pictures that can stand in a page: without a header, with words, the same whenever they are drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from matplotlib.figure import Figure

from discreet.charts.rendering import Picture, page_picture


def picture(title: str = "Two bars", label: str = "a < b & <c>") -> Picture:
    figure = Figure(figsize=(4.0, 2.0))
    axes = figure.subplots()
    axes.bar([1, 2], [3, 4])
    axes.plot([1, 2], [3, 4], "o")
    axes.annotate(label, (1, 1))
    return page_picture(figure, title, f"words for {label}")


def test_it_is_one_element_with_words() -> None:
    drawn = ET.fromstring(picture().svg)  # noqa: S314 - our own text
    assert drawn.tag.endswith("}svg")
    assert drawn.get("role") == "img"
    assert drawn[0].tag.endswith("}title")
    assert drawn[0].text == "words for a < b & <c>"
    assert "a < b & <c>" in [element.text for element in drawn.iter() if element.tag.endswith("}text")]


def test_it_brings_nothing_from_the_machine_or_the_day() -> None:
    text = picture().svg
    for unwanted in ("<?xml", "<!DOCTYPE", "<metadata", "<style", "matplotlib", "DejaVu"):
        assert unwanted not in text
    assert text == picture().svg


def test_names_of_shapes_differ_between_pictures() -> None:
    one, other = (set(re.findall(r'id="([^"]+)"', picture(title).svg)) for title in ("One", "Other"))
    assert one
    assert not one & other


def test_letters_are_those_of_the_page() -> None:
    assert "font-family: inherit" in picture().svg
