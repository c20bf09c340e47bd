"""The paper in one run: what is published is there, every difference has its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.errors import UnknownNameError
from discreet.paper.optimal_attacker_part import states
from discreet.paper.published_numbers import PUBLISHED
from discreet.paper.reproduction import ALL_PARTS, Paper, reproduce_paper

if TYPE_CHECKING:
    from discreet.paper.paper_inputs import Sources


@pytest.fixture(scope="module")
def paper(sources: Sources) -> Paper:
    return reproduce_paper(sources=sources, only=[part for part in ALL_PARTS if part != "attackers"])


@pytest.mark.slow
def test_every_published_number_has_ours_or_a_reason(paper: Paper) -> None:
    assert {each.id.partition("/")[0] for each in paper.numbers} == set(PUBLISHED)


@pytest.mark.slow
def test_every_number_has_a_name_of_its_own_and_a_place(paper: Paper) -> None:
    names = [each.id for each in paper.numbers]
    assert len(names) == len(set(names))
    assert all(each.where and each.published for each in paper.numbers)


@pytest.mark.slow
def test_every_difference_has_a_reason(paper: Paper) -> None:
    assert paper.apart
    assert all(each.note for each in paper.apart)


@pytest.mark.slow
def test_what_follows_from_the_paper_itself_agrees_but_for_these(paper: Paper) -> None:
    apart = [each for each in paper.apart if each.basis == "formula"]
    assert {each.id for each in apart if each.kind == "formula"} == {"us-share", "cidamon", "epsilon-large/Germany"}
    assert {each.id for each in apart if each.kind == "reading"} == {
        "hidden-from/Germany",
        "forced-chance",
        "tail-of-laplace",
        "least-variance",
        "least-bound/strict",
    }


@pytest.mark.slow
def test_what_the_paper_does_not_print_is_counted_apart(paper: Paper) -> None:
    kinds = {each.id: each.kind for each in paper.numbers}
    for name in (
        "records-wrong", "uniform-chance", "uniform-variance", "tuples-times-chance", "extreme-expected",
        "us-epsilon-1", "hidden-from/Malta", "variance-range", "variance-range/levels", "window-middle",
        "residents-of-blazejov",
    ):  # fmt: skip
        assert kinds[name] == "reading", name
    for name in ("window-least", "extreme-chance", "us-variance-1", "bin-expected", "example-inner-ratio"):
        assert kinds[name] == "formula", name
    read = [each for each in paper.numbers if each.kind == "reading"]
    assert all(each.note.startswith('our reading of "') for each in read)
    assert paper.sentences()[1].startswith(f"Of {len(read)} numbers inferred by us")


@pytest.mark.slow
def test_the_misprint_is_noted(paper: Paper) -> None:
    misprint = next(each for each in paper.numbers if each.id == "tail-of-laplace")
    assert misprint.published == "-exp(eps E)"
    assert misprint.ours == pytest.approx(0.0183156, abs=1e-7)
    assert "misprint" in misprint.note


@pytest.mark.slow
def test_the_sentences_count_what_is_there(paper: Paper) -> None:
    assert sum(result.value for result in paper.results) == sum(each.agrees for each in paper.numbers)
    assert str(paper).splitlines() == paper.sentences()
    assert paper.sentences()[0].startswith("Of 50 numbers printed in the paper")


@pytest.mark.slow
def test_a_number_that_changes_changes_the_sentences(paper: Paper) -> None:
    for kind, place in (("formula", 0), ("reading", 1)):
        first = next(each for each in paper.numbers if each.kind == kind)
        others = tuple(each for each in paper.numbers if each is not first)
        fewer = Paper(paper.parts, others, paper.figures, paper.states)
        assert fewer.sentences()[place] != paper.sentences()[place]


@pytest.mark.slow
def test_one_number_is_told_as_one(paper: Paper) -> None:
    one = next(each for each in paper.numbers if each.kind == "formula" and each.agrees)
    none = next(each for each in paper.numbers if each.kind == "not computed")
    first, second = Paper((), (one, none), {}, ()).sentences()
    assert first.startswith("Of 1 number printed in the paper")
    assert first.endswith("1 agrees within the published rounding.")
    assert second == "1 number is not computable from public data; the notes give the reasons."


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


@pytest.mark.slow
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
    # Under the rule levels and against the optimal estimate no bound up to 10 is feasible.
    assert not found[-1].feasible
