"""The page: one HTML file that needs nothing else, filled from a story."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet.charts.averaging import averaging_picture, exposed
from discreet.charts.noise_seen import noise_seen_picture
from discreet.charts.redundancy import redundancy_picture
from discreet.charts.village import count_rows, village_picture
from discreet.programme.summary import shared_statistics
from discreet.programme.words import statistic_words
from discreet.report.findings import findings

if TYPE_CHECKING:
    from discreet.report.story import Story
    from discreet.results import Result

TEMPLATE = "page.html"
VILLAGE = 12
"""The size of the village that serves as an example."""
SMALL_COUNTS = (1, 2, 3, 5, VILLAGE)
MOST_SHARED, MOST_WORST = 8, 8
MEASURES = {
    "averaging": "By averaging",
    "redundancy": "By redundancy",
    "bound": "By finding out the bound",
    "margins": "By margins",
    "epsilon_delta": "One person, one count",
}
"""What the measures are called on the page; others are called by their names."""


def page(story: Story) -> str:
    """Return the page as HTML. It holds true counts: for made-up people, or for the curator alone."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "share": _share, "assumed": _assumed}
    template = files("discreet.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
    return environment.from_string(template).render(_content(story))


def _content(story: Story) -> dict[str, Any]:
    """Return everything that the template speaks of, by name."""
    release = story.release
    return {
        "story": story,
        "release": release,
        "noise": release.description["noise"],
        "summary": release.summary,
        "files": release.description["files"],
        "record": release.record,
        "case": story.assessment.case,
        "findings": findings(story),
        "village": VILLAGE,
        "words": lambda name: statistic_words(release.programme, name),
        "worst": exposed(story.assessment, MOST_WORST),
        "measures": {name: found for name, found in story.assessment.by_measure.items() if found},
        "called": MEASURES,
        "small_counts": story.result("small_counts"),
        **_pictures(story),
    }


def _pictures(story: Story) -> dict[str, Any]:
    programme, record = story.release.programme, story.release.record
    shared, ptable = shared_statistics(programme), record.ptable()
    return {
        "shared": shared[:MOST_SHARED],
        "repeated": redundancy_picture(shared, programme),
        "law": village_picture(ptable, VILLAGE),
        "counts": count_rows(ptable, SMALL_COUNTS),
        "zeros_stay": not ptable.perturbs_zeros,
        "seen": noise_seen_picture(story.seen, record.noise()),
        "averaging": averaging_picture(story.assessment),
    }


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _share(value: float) -> str:
    return f"{value:.1%}"


def _assumed(results: list[Result]) -> list[str]:
    """Return what the results of one measure assume, each thing once."""
    return list(dict.fromkeys(text for result in results for text in result.assumptions))
