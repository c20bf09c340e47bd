"""The sentences of redundancy and averaging, with their numbers and assumptions."""

from __future__ import annotations

import pytest

from discreet.equations.closed_form import success
from discreet.programme.load import load_programme
from discreet.release.record import Record
from discreet.risk.assess import assess
from discreet.risk.averaging import chebyshev, variance_needed


def test_the_worst_statistic_is_the_one_the_best_attack_knows_best() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, measures=["redundancy", "averaging"])
    redundancy, right, needed = found.results
    worst = found.averaging()[0]
    assert redundancy.value == max(row["t"] for row in found.averaging())
    assert right.worst == worst["statistic"]
    assert right.value == pytest.approx(success(3, worst["optimal"]))
    assert f"{chebyshev(3, worst['optimal']):.2f} (Chebyshev)" in right.sentence
    assert needed.value == pytest.approx(variance_needed(worst["optimal"]))
    assert any("surrogate" in assumption for assumption in right.assumptions)
    assert any("counts well above" in assumption for assumption in right.assumptions)


def test_flat_says_that_it_understates() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, rule="flat", measures=["averaging"])
    assert "understates" in found.results[0].assumptions[0]


def test_enough_noise_is_said_to_do() -> None:
    _, needed = assess("eu2021:LU", variance=30, bound=20, measures=["averaging"]).results
    assert "would do (now 30)" in needed.sentence
    _, needed = assess("eu2021:LU", variance=3, bound=5, measures=["averaging"]).results
    assert "is needed (now 3)" in needed.sentence


def test_what_is_known_is_no_discovery() -> None:
    worst = assess("eu2021:LU", variance=3, bound=5, measures=["averaging"]).results[0].worst
    found = assess("eu2021:LU", variance=3, bound=5, known=worst, measures=["averaging"])
    assert found.results[0].worst != worst


def test_plain_keys_are_not_called_independent() -> None:
    record = Record(programme="eu2021:LU", parameters={"variance": 3, "bound": 5}, key_mode="plain")
    assumptions = assess(record, measures=["averaging"]).results[0].assumptions
    assert any(text.startswith("plain keys: the noises of a total and its parts are related") for text in assumptions)
    assert not any("mixed keys" in text for text in assumptions)


def test_a_programme_can_be_given_itself() -> None:
    given = load_programme("eu2021:MT")
    noise = {"variance": 2.0, "bound": 5, "measures": ["averaging", "redundancy"]}
    mine, named = (assess(source, **noise) for source in (given, "eu2021:MT"))  # type: ignore[arg-type]
    assert [each.value for each in mine.results] == [each.value for each in named.results]
