"""P-tables without random noise from protect to report: rounding is called rounding, and a shift protects nothing."""

from __future__ import annotations

import json
import re
from math import erf, sqrt
from typing import TYPE_CHECKING

import pytest

from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.ptable import PTable, PTableRow
from discreet.release.release import open_release
from discreet.risk.assessment import assess
from discreet.verdicts import Verdict
from tests.journeys.running import DATA, PROGRAMMES, discreet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


SHIFT = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (2,), (1.0,))), key_space=256)
TILTED = PTable((PTableRow(0, (0,), (1.0,)), PTableRow(1, (0, 1, 2, 3), (0.125, 0.375, 0.375, 0.125))), key_space=256)


def published(folder: Path, ptable: PTable | Path, *more: str) -> tuple[Path, str]:
    """Return a release with a p-table, its true counts kept, and what was printed."""
    if isinstance(ptable, PTable):
        write_ptable(ptable, folder / "ptable.toml")
        ptable = folder / "ptable.toml"
    keys = ("--ptable", ptable, "--key", "record_key", "--key-mode", "plain", "--keep-exact")
    out = folder / "release"
    data = ("protect", DATA / "ons/test_microdata.csv", "--programme", PROGRAMMES / "ons_tool.toml")
    return out, discreet(*data, *keys, *more, "--out", out)


def reports(out: Path) -> list[str]:
    """Return the words of both reports."""
    found = []
    for flags in ((), ("--public",)):
        page = out.parent / f"page{len(flags)}.html"
        discreet("report", out, *flags, "--out", page, *(() if flags else ("--budget", "100")))
        found.append(re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8")))
    return found


@pytest.fixture(scope="module")
def rounded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return published(tmp_path_factory.mktemp("rounded"), DATA / "ons/ptable_10_5_rule.csv.gz")


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return published(tmp_path_factory.mktemp("shifted"), SHIFT, "--allow-disclosure")


def called_random(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if "random noise" in text.replace("no random noise", "")]


def test_rounding_is_called_rounding_and_has_no_figure_of_averaging(rounded: tuple[Path, str]) -> None:
    out, printed = rounded
    told = open_release(out).description["noise"]
    assert (told["method"], told["typical_noise"]) == ("rounding", 1.4)
    assert "rounding; root mean square change 1.41" in printed
    assert "rounding rule" in printed
    shown = discreet("assess", out)
    assert "Not judged: averaging" in shown
    assert not called_random([printed, str(open_release(out)), json.dumps(told), shown])
    found = assess(out)
    averaging = found.decision.checks[0]
    assert (averaging.value, averaging.verdict) == (None, Verdict.NOT_ASSESSED)
    assert "rounded" in averaging.sentence
    names = {result.name for result in found.results}
    assert not names & {"averaging_success", "variance_needed", "projection", "bound_revealed", "forced_tuples"}
    assert {"redundancy", "delta_floor"} <= names
    assert any("Rounding is not random" in text for text in found.warnings)
    assert found.averaging() == []


def test_a_shift_protects_nothing(shifted: tuple[Path, str]) -> None:
    out, printed = shifted
    release = open_release(out)
    assert (release.record.variance, release.record.mean) == (0, 2)
    told = release.description["noise"]
    assert (told["method"], told["typical_noise"], told["mean_noise"]) == ("a fixed change of every count", 0.0, 2.0)
    assert "It does not protect" in printed
    found = {result.name: result for result in assess(out).results}
    for name in ("averaging_success", "delta_floor", "membership_advantage"):
        assert found[name].value == 1, name
    assert not called_random([printed, str(release)])


@pytest.mark.slow
def test_reports_call_rounding_rounding(rounded: tuple[Path, str]) -> None:
    pages = reports(rounded[0])
    assert all("averaging do not apply: not assessed" in page for page in pages)
    assert not called_random(pages)


@pytest.mark.slow
def test_reports_show_that_a_shift_protects_nothing(shifted: tuple[Path, str]) -> None:
    private, public = reports(shifted[0])
    assert "100.0%" in private
    assert "Anyone who knows the rule recovers every count" in public
    assert not called_random([private, public])


def test_a_biased_table_is_assessed_by_its_variance_and_told_with_its_mean(tmp_path: Path) -> None:
    out, printed = published(tmp_path, TILTED, "--allow-disclosure")
    release = open_release(out)
    variance = 0.25 * 1.5**2 + 0.75 * 0.5**2
    assert release.record.variance == pytest.approx(variance)
    found = assess(out, measures=["averaging"])
    right, needed = found.results
    ratio = float(found.case.averaging.optimal.min())
    assert right.value == pytest.approx(erf(0.5 / sqrt(2 * variance * ratio)))
    assert f"(now {variance:g})" in needed.sentence
    assert release.description["noise"]["mean_noise"] == 1.5
    # Users see noise and mean together.
    assert f"root mean square noise {sqrt(variance + 1.5**2):.2f}" in printed
