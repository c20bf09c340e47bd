"""The paper in one run: what is published is there, every difference has its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.design.paper.attackers import states
from discreet.design.paper.published import PUBLISHED
from discreet.design.paper.reproduce import ALL_PARTS, Paper, reproduce_paper
from discreet.errors import UnknownNameError

if TYPE_CHECKING:
    from discreet.design.paper.sources import Sources


@pytest.fixture(scope="module")
def paper(sources: Sources) -> Paper:
    return reproduce_paper(sources=sources, only=[part for part in ALL_PARTS if part != "attackers"])


def test_every_published_number_has_ours_or_a_reason(paper: Paper) -> None:
    assert {each.id.partition("/")[0] for each in paper.numbers} == set(PUBLISHED)


def test_every_number_has_a_name_of_its_own_and_a_place(paper: Paper) -> None:
    names = [each.id for each in paper.numbers]
    assert len(names) == len(set(names))
    assert all(each.where and each.published for each in paper.numbers)


def test_every_difference_has_a_reason(paper: Paper) -> None:
    assert paper.apart
    assert all(each.note for each in paper.apart)


def test_what_follows_from_the_paper_itself_agrees_but_for_these(paper: Paper) -> None:
    apart = {each.id for each in paper.apart if each.basis == "formula"}
    assert apart == {
        "hidden-from/Germany",
        "forced-chance",
        "us-share",
        "tail-of-laplace",
        "cidamon",
        "epsilon-large/Germany",
        "least-variance",
        "least-bound/strict",
    }


def test_the_misprint_is_noted(paper: Paper) -> None:
    misprint = next(each for each in paper.numbers if each.id == "tail-of-laplace")
    assert misprint.published == "-exp(eps E)"
    assert misprint.ours == pytest.approx(0.0183156, abs=1e-7)
    assert "misprint" in misprint.note


def test_the_sentences_count_what_is_there(paper: Paper) -> None:
    assert sum(result.value for result in paper.results) == sum(each.agrees for each in paper.numbers)
    assert str(paper).splitlines() == paper.sentences()
    assert paper.sentences()[0].startswith("Of 72 numbers that follow from a formula")


def test_a_number_that_changes_changes_the_sentences(paper: Paper) -> None:
    fewer = Paper(paper.parts, paper.numbers[1:], paper.figures, paper.states)
    assert fewer.sentences()[0] != paper.sentences()[0]


def test_parts_come_in_the_order_of_the_page() -> None:
    found = reproduce_paper(only=["accuracy", "margins"])
    assert found.parts == ("margins", "accuracy")
    assert {each.part for each in found.numbers} == {"margins", "accuracy"}
    assert list(found.figures) == ["accuracy"]


def test_a_part_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no part of the paper 'bounds'. Did you mean bound"):
        reproduce_paper(only=["bounds"])


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[str, int, int | None]] = []
    reproduce_paper(only=["margins", "settings"], progress=lambda *step: told.append(step))
    assert told == [("figuring", 1, 2), ("figuring", 2, 2)]


def test_every_member_state_stands_under_both_rules_and_attackers(sources: Sources) -> None:
    found = states(sources)
    assert [(state.rule, state.country, state.attacker) for state in found] == [
        (rule, country, attacker)
        for rule in ("flat", "levels")
        for country in ("MT", "IE")
        for attacker in ("paper", "optimal")
    ]
    for mine, hers in zip(found[::2], found[1::2], strict=True):
        assert hers.variance > mine.variance
        assert hers.epsilon < mine.epsilon
        assert hers.hidden <= mine.hidden
    # By all levels and against the best estimate nothing is left up to 10.
    assert not found[-1].feasible
