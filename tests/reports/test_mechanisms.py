"""A report of every mechanism: what does not apply is said, and nothing fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import ReleaseError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from discreet.reports.html_page import spaced
from discreet.reports.release_charts import charts_of
from discreet.reports.report_results import gather
from discreet.reports.sentences import section_sentences
from discreet.reports.verdicts import decision_of
from discreet.verdicts import AVERAGING, BOUND, MARGINS, SINGLETONS, Verdict
from tests.cli import town
from tests.quick import one_in
from tests.reports.test_html_page import page_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.reports.report_results import ReportResults

PTABLE, SECRET = PTable.max_entropy(variance=3, bound=5), town.SECRET.encode()
MADE: dict[str, Callable[[], Mechanism]] = {
    "cell-key": lambda: CellKey(Laplace(scale=1.2), secret=SECRET),
    "coordinates": lambda: Coordinates(PTABLE, secret=SECRET),
    "fresh": lambda: Fresh(TwoSidedGeometric(epsilon=0.8), bits=SeededBits(1)),
    "fresh, bounded": lambda: Fresh(PTABLE, bits=SeededBits(1)),
    "eps-dp": lambda: EpsDP(Budget(10.0), bits=SeededBits(1)),
    "eps-dp, uneven": lambda: EpsDP(Budget(10.0, weights={"1.*": 5, "*": 1}), bits=SeededBits(1)),
    "exact": Exact,
}
DRAWN = {
    "cell-key": None,
    "coordinates": "plane",
    "fresh": "epsilon-line",
    "fresh, bounded": None,
    "eps-dp": "epsilon-line",
    "eps-dp, uneven": "epsilon-line",
    "exact": None,
}
"""Which picture of the design has a place for the noise."""
FEW = ("coordinates", "eps-dp")
"""Of which a report is made in every run; that of cell keys has tests of its own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mechanisms")
    town.make(made)
    return made


def release_of(folder: Path, name: str, engine: Engine) -> Path:
    out = folder / name.replace(", ", "-")
    if not out.exists():
        how: dict[str, Any] = {"keep_exact": True, "engine": engine, "out": out}
        if name == "cell-key":
            how["id"] = "PERSON_ID"
        protect(folder / "town.csv", folder / "town.toml", MADE[name](), **how)
    return out


def names(found: ReportResults) -> set[str]:
    return {chart.name for each in charts_of(found).values() for chart in each}


def test_all_mechanisms_are_tried() -> None:
    assert {name.split(",")[0] for name in MADE} == set(MECHANISMS.names())


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in FEW else pytest.mark.slow) for name in MADE])
def test_the_curator_gets_a_report(folder: Path, engine: Engine, name: str) -> None:
    found = gather(release_of(folder, name, engine))
    page, decision = page_of(found), decision_of(found)
    assert decision.headline in page
    assert all(spaced(sentence) in page for sentence in section_sentences(found).values())
    assert names(found) & {"plane", "epsilon-line"} == ({DRAWN[name]} if DRAWN[name] else set())
    if DRAWN[name] is None and found.risk.design:
        assert "has no place in the plane of the design" in page
    for reason in found.absent.values():
        assert reason in page
    for check in decision.checks:
        assert check.sentence
        assert spaced(check.sentence) in page
    if name in {"cell-key", "fresh", "eps-dp"}:
        # Noise without a bound has no bound to identify, and leaves no count certain.
        known = {check.criterion: check for check in decision.checks}
        assert (known[BOUND].value, known[MARGINS].value) == (0.0, 0.0)


@pytest.mark.parametrize("name", one_in(3, [name for name in MADE if name != "exact"]))
def test_everybody_gets_one_too(folder: Path, engine: Engine, name: str) -> None:
    found = gather(release_of(folder, name, engine), public=True)
    page = page_of(found)
    assert all(spaced(sentence) in page for sentence in section_sentences(found).values())
    assert not any((found.risk.attacks, found.risk.design, found.published.record))


def test_what_cannot_be_made_again_is_not_promised(folder: Path, engine: Engine) -> None:
    fresh, shared = (gather(release_of(folder, name, engine)) for name in ("fresh", "coordinates"))
    assert fresh.commands == ("discreet verify fresh", "discreet report fresh --out report.html")
    assert "The noise of this release cannot be reproduced" in page_of(fresh)
    assert shared.commands[0] == "discreet protect --again coordinates.curator --secret-file SECRET --out again"


def test_true_counts_are_never_shown_as_safe(folder: Path, engine: Engine) -> None:
    decision = decision_of(gather(release_of(folder, "exact", engine)))
    assert decision.headline == "Do not publish yet"
    known = {check.criterion: check for check in decision.checks}
    assert known[AVERAGING].value == known[SINGLETONS].value == 1.0
    assert Verdict.MEETS not in {check.verdict for check in decision.checks[:4]}


def test_true_counts_have_no_page_for_everybody(folder: Path, engine: Engine) -> None:
    with pytest.raises(ReleaseError, match=r"exact contains true counts without noise, which must not be published\."):
        gather(release_of(folder, "exact", engine), public=True)


def test_a_budget_that_is_split_untold_lets_nothing_follow(folder: Path, engine: Engine) -> None:
    found = gather(release_of(folder, "eps-dp, uneven", engine), public=True)
    assert found.risk.assessment is None
    assert "epsilon 10" in found.absent["risk"]
    assert "unequal" in gather(release_of(folder, "eps-dp, uneven", engine)).absent["attacks"]
