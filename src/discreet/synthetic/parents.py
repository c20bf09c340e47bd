"""Children find parents: couples, or persons without a partner, who become lone parents by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.people import WOMAN
from discreet.synthetic.roles import ADULT, Role
from discreet.synthetic.shares import OLDEST, Choice

if TYPE_CHECKING:
    from discreet.synthetic.forming import Forming
    from discreet.synthetic.randomness import Bytes, Draws, Places

LONE_MOTHERS = 0.85
"""The share of children of lone parents who live with their mother."""

AGE_AT_BIRTH = {17: 1, 20: 4, 25: 8, 30: 7.5, 35: 3.5, 40: 0.8}
"""How often a child is born to parents of each age, from this one on and up to 44; of a couple the younger counts."""
OLDEST_AT_BIRTH = 44
WIDEST_GAP = 50
"""Where nobody of the right age is left an older parent is taken, up to this many years older than the child."""

_YEARS = range(min(AGE_AT_BIRTH), OLDEST_AT_BIRTH + 1)
_GAPS = Choice(_YEARS, [[next(AGE_AT_BIRTH[a] for a in reversed(AGE_AT_BIRTH) if a <= year) for year in _YEARS]])


def place_children(forming: Forming) -> None:
    """Give children to couples and to lone parents; who finds none is on their own, or in an institution as a minor."""
    children = forming.having(Role.CHILD_OF_COUPLE)
    left = _give(forming, children, forming.couples, forming.younger)
    forming.role[left] = Role.CHILD_OF_LONE_PARENT
    _place_with_lone_parents(forming)


def _place_with_lone_parents(forming: Forming) -> None:
    age = forming.people.age
    children = forming.having(Role.CHILD_OF_LONE_PARENT)
    single = forming.having(Role.OTHER)
    women = forming.people.sex[single] == WOMAN
    mothers, fathers = single[women], single[~women]
    with_mother = forming.draws.happens(LONE_MOTHERS, len(children))
    motherless = _give(forming, children[with_mother], mothers, age[mothers])
    fatherless = _give(forming, children[~with_mother], fathers, age[fathers])
    # Where no father has the right age there may be a mother.
    left = np.concatenate([motherless, _give(forming, fatherless, mothers, age[mothers])])
    forming.role[left] = np.where(age[left] < ADULT, Role.INSTITUTION, Role.OTHER)
    forming.role[forming.head[forming.having(Role.CHILD_OF_LONE_PARENT)]] = Role.LONE_PARENT


def _give(forming: Forming, children: Places, parents: Places, ages: Bytes) -> Places:
    """Give children to parents of fitting ages and return the children who found none."""
    found = _find(forming.people.age[children], ages, forming.draws)
    forming.head[children[found >= 0]] = parents[found[found >= 0]]
    return children[found < 0]


def _find(children: Bytes, parents: Bytes, draws: Draws) -> Places:
    """Return for each child, by age, the place of a parent of a fitting age, or -1."""
    order = np.argsort(parents, kind="stable")
    # Where the parents of each age start among the ordered ones; ages beyond all parents end the list.
    starts = np.searchsorted(parents[order], np.arange(OLDEST + OLDEST_AT_BIRTH + 2))
    wanted = children.astype(np.intp) + _GAPS.draw(0, draws.noise(len(children)))
    begin = starts[wanted]
    chosen = begin + draws.below(np.maximum(starts[wanted + 1] - begin, 1), len(children))
    if not len(parents):
        return np.full(len(children), -1)
    found = order.take(chosen, mode="clip")
    fits = (chosen < len(parents)) & (parents[found] - children.astype(np.intp) <= WIDEST_GAP)
    return np.where(fits, found, -1)
