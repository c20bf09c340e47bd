"""What `discreet attack` prints, line by line, for reports made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.finding import Finding
from discreet.attacks.scoring import CLASSES, score
from discreet.cli import attack_text
from discreet.cli.attack_text import MOST_STATISTICS, NAME, show
from discreet.design.attack_report import AttackReport, Outcome
from discreet.design.data_aware import Predicted
from discreet.tabulation.distinct_cells import ProgrammeSize
from tests.attacks.scenes import BELIEF, KnownTruth

if TYPE_CHECKING:
    from collections.abc import Callable

ACTUAL = np.array([0, 1, 1, 4, 30, 31, 32, 33])
ESTIMATE = np.array([0, 1, 2, 4, 30, 31, 32, 99])


def outcome(
    attack: str = "guess", *, scored: bool = True, predicted: dict[str, float] | None = None, **more: object
) -> Outcome:
    about: dict[str, Any] = {
        "subject": "counts",
        "estimate": ESTIMATE,
        "confidence": np.full(len(ESTIMATE), 0.25),
        "actual": lambda _: ACTUAL,
        "naive": np.zeros(len(ESTIMATE), dtype=np.int64),
        "assumptions": ("counts are whole",),
        **more,
    }
    finding = Finding(attack=attack, **about)
    known = {name: Predicted(share, 0.01) for name, share in (predicted or {}).items()}
    return Outcome(finding, score(finding, KnownTruth(BELIEF, {})) if scored else None, known)


def report(
    *outcomes: Outcome, mounted: tuple[str, ...] = ("guess",), truth: str | None = "out.curator/exact"
) -> AttackReport:
    size = ProgrammeSize(statistics=3, cells=20)
    return AttackReport(
        outcomes=outcomes, size=size, mounted=mounted, truth=truth, seed=0, budget=None, public_only=False, known=()
    )


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    def lines(found: AttackReport, columns: int = 120) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        show(found, "out")
        return capsys.readouterr().out.splitlines()

    return lines


def test_sentences_are_numbered_in_the_order_of_the_report(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome("first"), outcome("second", variant="best"), mounted=("first", "second")))
    assert found[0].startswith(
        "What an attacker learns from out (true counts from out.curator/exact; she knows the law"
    )
    start = next(number for number, line in enumerate(found) if line.startswith(" 1  "))
    assert found[start].startswith(f" 1  {'first':<{NAME}}5 of 7 counts above 0 are named exactly (71.4%")
    assert any(line.startswith(f" 2  {'second: best':<{NAME}}5 of 7") for line in found)


def test_attacks_that_found_nothing_to_attack_are_named(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(), mounted=("guess", "slivers")))
    assert f"    {'slivers':<{NAME}}does not apply here: it needs --overlaps." in found


def test_success_by_count_stands_beside_its_prediction(
    shown: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attack_text, "FEW", 1)
    found = shown(report(outcome(predicted={"1": 0.25, "21+": 0.5})))
    head = found.index("Right by true count, in percent: achieved (predicted)")
    assert found[head + 1].split() == list(CLASSES)
    assert found[head + 2].startswith("guess")
    cells = [found[head + 2][NAME + 13 * n : NAME + 13 * (n + 1)].strip() for n in range(len(CLASSES))]
    assert cells == ["100", "50 (25)", "-", "100", "-", "75 (50)"]


def test_a_single_estimate_has_no_shares_by_count(shown: Callable[..., list[str]]) -> None:
    one = outcome("bound", estimate=np.array([5]), confidence=np.ones(1), naive=None, actual=lambda _: np.array([5]))
    found = shown(report(one, outcome(), mounted=("bound", "guess")))
    head = found.index("Right by true count, in percent: achieved (predicted)")
    assert found[head + 2].startswith("guess")
    assert found[head + 3] == ""


def test_the_best_known_statistics_of_the_first_attack_are_listed(shown: Callable[..., list[str]]) -> None:
    listing = outcome("other", groups=tuple("ABCDEFGH"), group_of=np.arange(8))
    found = shown(report(outcome(), listing))
    start = found.index("Best known statistics (other):")
    listed = found[start + 1 : start + 1 + MOST_STATISTICS]
    assert listed[0] == " 100.0% of         1  A"
    assert all(line.startswith(" 100.0% of") for line in listed)
    assert found[start + 1 + MOST_STATISTICS] == ""


def test_without_groups_no_statistics_are_listed(shown: Callable[..., list[str]]) -> None:
    assert not any("Best known" in line for line in shown(report(outcome())))


def test_what_is_not_scored_has_no_figures_and_a_note(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(scored=False), truth=None))
    text = " ".join(" ".join(found).split())
    assert "8 counts are estimated, those of nobody among them; she expects 25.0% to be right." in text
    assert "Right by true count" not in text
    assert found[-1].startswith("Note: Not scored") or "Note: Not scored" in text


def test_assumptions_stand_once_per_attack(shown: Callable[..., list[str]]) -> None:
    one, same = (outcome(variant=name, assumptions=("keys are secret", name)) for name in ("plain", "greedy"))
    found = shown(report(one, same, outcome("other", assumptions=("totals are right",))))
    start = found.index("Assumed:")
    assert found[start + 1] == f"    {'guess':<{NAME}}keys are secret; plain; greedy."
    assert found[start + 2] == f"    {'other':<{NAME}}totals are right."


def test_what_was_cut_off_is_a_note(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(cut_off="half was left out, cut off by the time budget of 1 s")))
    assert found[-1] == "Note: guess: half was left out, cut off by the time budget of 1 s."


@pytest.mark.parametrize("columns", [60, 80, 120, 300])
def test_sentences_are_wrapped_to_the_terminal_and_never_wider_than_120(
    columns: int, shown: Callable[..., list[str]]
) -> None:
    found = shown(report(outcome(predicted=dict.fromkeys(CLASSES, 0.5)), mounted=("guess", "slivers")), columns)
    head = found.index("Right by true count, in percent: achieved (predicted)")
    # The table of shares has columns of its own.
    assert max(len(line) for line in found[:head]) <= min(columns, 120)
    if columns == 60:
        first = next(number for number, line in enumerate(found) if line.startswith(" 1  "))
        assert found[first + 1].startswith(" " * (4 + NAME))


def test_shares_of_few_cells_are_not_shown(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome()))
    head = found.index("Right by true count, in percent: achieved (predicted)")
    assert found[head + 2].split() == ["guess", *"------"]


def test_answers_have_no_shares_by_size(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(answers=True)))
    assert "Right by true count, in percent: achieved (predicted)" not in found
