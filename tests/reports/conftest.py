"""A release of the small town, all that its reports are made of, and the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.accuracy import release_utility
from discreet.reports.html_page import document
from discreet.reports.release_charts import charts_of
from discreet.reports.report_results import gather
from discreet.reports.verdicts import decision_of
from tests.charts.pictures import drawn_once
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.engines.engine import Engine
    from discreet.reports.report_results import ReportResults


@pytest.fixture(scope="session", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests of independence with few tables: here it matters what is shown."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 50)
        yield


@pytest.fixture(scope="module", autouse=True)
def _few_rounds() -> Iterator[None]:
    with town.few_rounds():
        yield


@pytest.fixture(scope="module", autouse=True)
def _pictures() -> Iterator[None]:
    with drawn_once():
        yield


@pytest.fixture(scope="session")
def town_folder(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    """Return a folder with a release of the town, `out`, and its true counts beside it."""
    folder = tmp_path_factory.mktemp("report-town")
    town.publish(folder, engine)
    return folder


@pytest.fixture(scope="session")
def gathered(town_folder: Path) -> ReportResults:
    """Return all that a report of the town is made of."""
    with town.few_rounds():
        return gather(town_folder / "out")


@pytest.fixture(scope="session")
def told(town_folder: Path) -> ReportResults:
    """Return what everybody may know of it."""
    with town.few_rounds():
        return gather(town_folder / "out", public=True)


@pytest.fixture(scope="session")
def curators_page(gathered: ReportResults) -> str:
    with drawn_once():
        return written(gathered)


@pytest.fixture(scope="session")
def public_page(told: ReportResults) -> str:
    with drawn_once():
        return written(told)


def written(found: ReportResults) -> str:
    """Return the page on what was gathered."""
    return document(found, decision_of(found), charts_of(found))
