"""What `discreet attack` prints, line by line, for reports made by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.attack_estimates import AttackEstimates
from discreet.attacks.attack_report import AttackOutcome, AttackReport
from discreet.attacks.expected_success import Predicted
from discreet.attacks.scoring import CLASSES, score
from discreet.cli.attack import MOST_STATISTICS, NAME, show_details
from discreet.tabulation.distinct_cells import ProgrammeSize
from tests.attacks.scenes import BELIEF, KnownTruth

if TYPE_CHECKING:
    from collections.abc import Callable

ACTUAL = np.array([0, 1, 1, 4, 30, 31, 32, 33])
ESTIMATE = np.array([0, 1, 2, 4, 30, 31, 32, 99])
HEAD = "Recall by true count, in percent: achieved (predicted); below 100 cases [95 % interval]"


def outcome(
    attack: str = "guess", *, scored: bool = True, predicted: dict[str, float] | None = None, **more: object
) -> AttackOutcome:
    about: dict[str, Any] = {
        "subject": "counts",
        "estimate": ESTIMATE,
        "confidence": np.full(len(ESTIMATE), 0.25),
        "actual": lambda _: ACTUAL,
        "naive": np.zeros(len(ESTIMATE), dtype=np.int64),
        "assumptions": ("counts are whole",),
        **more,
    }
    finding = AttackEstimates(attack=attack, **about)
    known = {name: Predicted(share, 0.01) for name, share in (predicted or {}).items()}
    return AttackOutcome(finding, score(finding, KnownTruth(BELIEF, {})) if scored else None, known)


def report(
    *outcomes: AttackOutcome, mounted: tuple[str, ...] = ("guess",), truth: str | None = "out.curator/exact"
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
        show_details(found, "out", found.decision)
        return capsys.readouterr().out.splitlines()

    return lines


def test_sentences_are_numbered_in_the_order_of_the_report(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome("first"), outcome("second", variant="best"), mounted=("first", "second")))
    opening = "Attacks on out, scored against true counts from out.curator/exact. Attacker model: "
    assert any(line.startswith(opening) for line in found)
    start = next(number for number, line in enumerate(found) if line.startswith(" 1  "))
    assert found[start].startswith(f" 1  {'first':<{NAME}}5 of 7 counts above 0 are recovered exactly (71.4% [")
    assert any(line.startswith(f" 2  {'second: best':<{NAME}}5 of 7") for line in found)


def test_attacks_that_found_nothing_to_attack_are_named(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(), mounted=("guess", "slivers")))
    assert f"    {'slivers':<{NAME}}does not apply: it needs --overlaps." in found


def test_the_best_known_statistics_of_the_first_attack_are_listed(shown: Callable[..., list[str]]) -> None:
    listing = outcome("other", groups=tuple("ABCDEFGH"), group_of=np.arange(8))
    found = shown(report(outcome(), listing))
    start = found.index("Most exposed statistics (other), exact recovery rate:")
    listed = found[start + 1 : start + 1 + MOST_STATISTICS]
    # Wilson for 1 of 1: 1 / (1 + 1.96^2).
    assert listed[0] == "  100.0 % (95 % interval 20.7 % to 100.0 %) of 1: A"
    assert all(line.startswith("  100.0 % (95 % interval 20.7 % to 100.0 %) of") for line in listed)
    assert found[start + 1 + MOST_STATISTICS] == ""


def test_without_groups_no_statistics_are_listed(shown: Callable[..., list[str]]) -> None:
    assert not any("Most exposed" in line for line in shown(report(outcome())))


def test_what_is_not_scored_has_no_figures_and_a_note(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(scored=False), truth=None))
    text = " ".join(" ".join(found).split())
    assert "8 counts are estimated, including empty cells; the attacker expects 25.0% to be correct." in text
    assert "Recall by true count" not in text
    assert found[-1].startswith("Note: Not scored") or "Note: Not scored" in text


def test_assumptions_stand_once_per_attack(shown: Callable[..., list[str]]) -> None:
    one, same = (outcome(variant=name, assumptions=("keys are secret", name)) for name in ("plain", "greedy"))
    found = shown(report(one, same, outcome("other", assumptions=("totals are right",))))
    start = found.index("Assumptions:")
    assert found[start + 1] == f"    {'guess':<{NAME}}keys are secret; plain; greedy."
    assert found[start + 2] == f"    {'other':<{NAME}}totals are right."


def test_what_was_cut_off_is_a_note(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(cut_off="half was left out")))
    assert found[-1] == "Note: guess: half was left out."


@pytest.mark.parametrize("columns", [60, 80, 120, 300])
def test_sentences_are_wrapped_to_the_terminal_and_never_wider_than_120(
    columns: int, shown: Callable[..., list[str]]
) -> None:
    found = shown(report(outcome(predicted=dict.fromkeys(CLASSES, 0.5)), mounted=("guess", "slivers")), columns)
    assert max(map(len, found)) <= min(columns, 120)
    if columns == 60:
        first = next(number for number, line in enumerate(found) if line.startswith(" 1  "))
        assert found[first + 1].startswith(" " * (4 + NAME))


def test_answers_have_no_shares_by_size(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(answers=True)))
    assert "Right by true count, in percent: achieved (predicted)" not in found


CELL = re.compile(r"\d+ \[\d+-\d+\](?: \(\d+\))?|\d+ \(\d+\)|all cells|\d+\+|\d+-\d+|\d+|-")


def columns(line: str) -> list[str]:
    return CELL.findall(line[NAME:])


def test_recall_stands_beside_its_prediction_and_few_cases_have_an_interval(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome(predicted={"1": 0.25, "21+": 0.5})))
    head = found.index(HEAD)
    assert found[head + 1].split() == list(CLASSES)
    assert found[head + 2].startswith("guess")
    # Wilson by hand: 1 of 2 is 9 to 91, 3 of 4 is 30 to 95.
    expected = ["100 [21-100]", "50 [9-91] (25)", "-", "100 [21-100]", "-", "75 [30-95] (50)"]
    assert columns(found[head + 2]) == expected


def test_precision_is_among_the_estimates_of_a_count_and_accuracy_among_all(shown: Callable[..., list[str]]) -> None:
    found = shown(report(outcome()))
    head = next(number for number, line in enumerate(found) if line.startswith("Precision by estimated count"))
    assert columns(found[head + 1]) == [*CLASSES, "all cells"]
    shares = columns(found[head + 2])
    # One estimate of 1, right; one of 2, wrong, of a count that does not occur; four of 21 and more, three right.
    assert [share.split()[0] for share in shares] == ["100", "100", "-", "100", "-", "75", "75"]


def test_many_cases_need_no_interval(shown: Callable[..., list[str]]) -> None:
    many = {name: np.repeat(values, 50) for name, values in (("estimate", ESTIMATE), ("actual", ACTUAL))}
    actual = many.pop("actual")
    found = shown(
        report(outcome(**many, actual=lambda _: actual, confidence=np.ones(len(actual)), naive=None))  # type: ignore[arg-type]
    )
    row = columns(found[found.index(HEAD) + 2])
    assert (row[1], row[5]) == ("50", "75")
    assert "[" in row[0]


def test_a_single_estimate_has_no_shares_by_count(shown: Callable[..., list[str]]) -> None:
    one = outcome("bound", estimate=np.array([5]), confidence=np.ones(1), naive=None, actual=lambda _: np.array([5]))
    found = shown(report(one, outcome(), mounted=("bound", "guess")))
    head = found.index(HEAD)
    assert found[head + 2].startswith("guess")
    assert found[head + 3] == ""
