"""The sentences of redundancy and averaging, with their numbers and assumptions."""

from __future__ import annotations

import pytest

from discreet.equations.closed_form import success
from discreet.programme.programme_files import load_programme
from discreet.release.record import Record
from discreet.risk.assessment import assess
from discreet.risk.averaging import variance_needed
from tests.programme.small import programme


def test_without_exact_solutions_the_closed_form_is_named_as_such() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, measures=["redundancy", "averaging"], closed_form=True)
    redundancy, right, needed = found.results
    worst = found.averaging()[0]
    assert redundancy.value == max(row["t"] for row in found.averaging())
    assert right.worst == worst["statistic"]
    assert right.value == pytest.approx(success(3, worst["optimal"]))
    assert worst["exact"] is None
    assert needed.value == pytest.approx(variance_needed(worst["optimal"]))
    assert any("closed form" in assumption for assumption in right.assumptions)
    assert any("counts well above" in assumption for assumption in right.assumptions)


def test_flat_says_that_it_understates() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, rule="flat", measures=["averaging"])
    assert "understates" in found.results[0].assumptions[0]


def test_what_is_known_is_no_discovery() -> None:
    town = programme([("A", "S")], {"A": [2, 6], "S": [2]})
    for closed_form in (True, False):
        first = assess(town, variance=3, bound=5, measures=["averaging"], closed_form=closed_form)
        worst = first.results[0].worst
        found = assess(town, variance=3, bound=5, known=worst, measures=["averaging"], closed_form=closed_form)
        assert found.results[0].worst != worst
        assert assess(town, variance=3, bound=5, known="A2 S1", measures=["averaging"]).results == ()


def test_plain_keys_are_not_called_independent() -> None:
    record = Record(programme="eu2021:LU", parameters={"variance": 3, "bound": 5}, key_mode="plain")
    assumptions = assess(record, measures=["averaging"], closed_form=True).results[0].assumptions
    assert any(text.startswith("plain keys: the noise of a total depends on that of its parts") for text in assumptions)
    assert not any("mixed keys" in text for text in assumptions)


def test_a_programme_can_be_given_itself() -> None:
    given = load_programme("eu2021:MT")
    noise = {"variance": 2.0, "bound": 5, "measures": ["averaging", "redundancy"], "closed_form": True}
    mine, named = (assess(source, **noise) for source in (given, "eu2021:MT"))  # type: ignore[arg-type]
    assert [each.value for each in mine.results] == [each.value for each in named.results]
