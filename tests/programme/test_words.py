"""Statistics and categories in words."""

from __future__ import annotations

from discreet.programme.model import Level, Programme, Table, Topic
from discreet.programme.programme_files import load_programme
from discreet.programme.summary import all_category_words, statistic_label, topic_words
from tests.each import each

LU = load_programme("eu2021:LU")


@each(
    ("name", "words"),
    [
        ("total", "the total"),
        ("SEX", "sex"),
        ("AGE.L", "age (6 groups)"),
        ("AGE.L CAS.L:1 SEX", "age (6 groups) by current activity status (3 groups) by sex"),
        ("AGE.unknown SEX", "AGE.unknown by sex"),
    ],
)
def test_a_statistic_in_words(name: str, words: str) -> None:
    assert statistic_label(LU, name) == words


def test_a_topic_without_a_label_keeps_its_name() -> None:
    bare = Topic("COLOUR", (Level("COLOUR", "COLOUR", 3),))
    assert topic_words(bare) == "COLOUR"
    assert statistic_label(Programme("p", {"COLOUR": bare}, (Table("1", ()),)), "COLOUR") == "COLOUR"


def test_all_categories_in_words_are_labels_or_codes() -> None:
    assert all_category_words(LU.topics["SEX"])["2"] == "female"
    assert all_category_words(LU.topics["GEO"])["LU_0504"] == "LU_0504"
    assert all_category_words(Topic("COLOUR", (Level("COLOUR", "COLOUR", 3),))) == {}
