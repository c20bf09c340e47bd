"""A small story for the tests of pages, and the page made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.cli.demo import Country, Places, tell
from discreet.report.page import page

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.report.story import Story


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    places = Places(tmp_path_factory.mktemp("demo"))
    places.prepare(replace=False)
    return tell(Country(persons=3000), places, replace=False)


@pytest.fixture(scope="session")
def page_text(story: Story) -> str:
    return page(story)


@pytest.fixture(scope="session")
def page_file(page_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(page_text, encoding="utf-8")
    return path
