"""Statistics in words: labels of topics instead of the names of levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.programme.model import Level, Programme, Topic

LANGUAGE = "en"
TOTAL = "the total"
BY, OF = " by ", " of "


def topic_words(topic: Topic) -> str:
    """Return the label of a topic as it stands within a sentence, or its name where it has none."""
    label = topic.labels.get(LANGUAGE, "")
    return f"{label[0].lower()}{label[1:]}" if label else topic.name


def category_words(topic: Topic, code: str) -> str:
    """Return the label of a category, or its code where it has none."""
    if topic.tree is None:
        return code
    labels = next((category.labels for category in topic.tree.categories if category.code == code), {})
    return labels.get(LANGUAGE, "") or code


def all_category_words(topic: Topic) -> dict[str, str]:
    """Return the label of every category of a topic, or its code where it has none."""
    categories = topic.tree.categories if topic.tree else ()
    return {category.code: category.labels.get(LANGUAGE, "") or category.code for category in categories}


def statistic_words(programme: Programme, name: str) -> str:
    """Return a statistic in words; where a topic has several levels, with the number of categories.

    A name of no level, as the rule `flat` has them, stays as it is, and so does the population of a statistic.

    >>> from discreet.programme.load import load_programme
    >>> statistic_words(load_programme("eu2021:LU"), "AGE.L SEX")
    'age (6 groups) by sex'
    """
    name, of, population = name.partition(OF)
    if name == "total":
        return f"{TOTAL}{of}{population}"
    levels = {level.name: level for topic in programme.topics.values() for level in topic.levels}
    words = BY.join(_level(programme, levels[part]) if part in levels else part for part in name.split())
    return f"{words}{of}{population}"


def _level(programme: Programme, level: Level) -> str:
    topic = programme.topics[level.topic]
    words = topic_words(topic)
    return words if len(topic.levels) == 1 else f"{words} ({level.size} groups)"
