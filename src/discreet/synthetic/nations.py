"""The countries people come from: a few are common, most are rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.eu2021.census import countries
from discreet.synthetic.randomness import Draws
from discreet.synthetic.shares import FINE, Choice

if TYPE_CHECKING:
    from discreet.programme.category_tree import CategoryTree
    from discreet.programme.model import Topic
    from discreet.synthetic.randomness import Bytes, Noise

PARTS = {
    "2.1": 40, "2.2.1": 20, "2.2.2": 14, "2.2.3": 8, "2.2.4": 2, "2.2.5": 15, "2.2.6": 0.5, "3": 0.2, "4": 0.3,
}  # fmt: skip
"""Of every 100 born abroad: other EU states, rest of Europe, Africa, Caribbean with South and Central America, North
America, Asia, Oceania, elsewhere, and not stated."""
STEEPNESS = 1.1
"""Within a part of the world the country of rank r is r^-1.1 times as common as the first; the order is drawn."""
OTHER_NAMES = {"Czechia": "Czech Republic"}
"""Countries that the regulation calls otherwise."""


class Nations:
    """Countries of birth, with the citizenship that goes with each.

    Attributes:
        here: the place of the country itself among the leaves of POB.
        citizenship: for each leaf of POB the place of a leaf of COC.
    """

    def __init__(self, country: str, birth: Topic, citizenship: Topic, seed: int) -> None:
        births, births_tree = _codes(birth)
        citizens, citizens_tree = _codes(citizenship)
        name = countries()[country]["name"]
        labels = _labels(births_tree)
        own = next(code for code in births if labels[code] == OTHER_NAMES.get(name, name))
        self.here = np.uint8(births.index("1"))
        self.citizenship = _citizenships(births, births_tree, citizens, citizens_tree)
        weights = _weights(births, births_tree, own, Draws(country, seed, "nations"))
        self._choice = Choice(range(len(births)), [weights], bits=FINE)

    def draw(self, noise: Noise) -> Bytes:
        """Return one country abroad per noise, as a place among the leaves of POB."""
        return self._choice.draw(0, noise)


def _codes(topic: Topic) -> tuple[tuple[str, ...], CategoryTree]:
    codes, tree = topic.levels[-1].codes, topic.tree
    assert codes is not None  # noqa: S101 - both topics are listed in the regulation
    assert tree is not None  # noqa: S101
    return codes, tree


def _labels(tree: CategoryTree) -> dict[str, str]:
    return {category.code: category.labels["en"] for category in tree.categories}


def _weights(codes: tuple[str, ...], tree: CategoryTree, own: str, draws: Draws) -> list[float]:
    """Return how common each country is; the country itself is not abroad."""
    weights = dict.fromkeys(codes, 0.0)
    for part, percent in PARTS.items():
        inside = [code for code in codes if part in tree.path(code) and code != own]
        ranked = (1.0 + draws.order(len(inside))) ** -STEEPNESS
        weights |= dict(zip(inside, (percent * ranked / ranked.sum()).tolist(), strict=True))
    return list(weights.values())


def _citizenships(
    births: tuple[str, ...], births_tree: CategoryTree, citizens: tuple[str, ...], citizens_tree: CategoryTree
) -> Bytes:
    """Return the citizenship of each country of birth, by name; a territory without one has another of its part."""
    labels = _labels(births_tree)
    by_name = {label: citizens.index(code) for code, label in _labels(citizens_tree).items() if code in citizens}
    last_of_part = {citizens_tree.path(code)[:-1]: place for place, code in enumerate(citizens)}
    places = []
    for code in births:
        path = births_tree.path(code)
        otherwise = citizens.index(code) if len(path) == 1 else last_of_part[path[:-1]]
        places.append(by_name.get(labels[code], otherwise))
    return np.array(places, dtype=np.uint8)
